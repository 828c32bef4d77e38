"""Tells a mutant from its chart: by inputs that show the difference, or by a proof that there is none."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain

from posewright.charts.machine import Interpreter, Machine, Snapshot, StateNode, lower
from posewright.charts.model import expressions_in
from posewright.charts.mutation.faults import Mutant
from posewright.charts.mutation.mutant_pair import MutantPair, PairStep
from posewright.charts.product import StatePair, are_alike
from posewright.charts.reachability import Exploration, Limits
from posewright.charts.types import BoolType, EnumType, FloatType, Type, Value

InputRow = Mapping[str, Value]
Continuation = tuple[Snapshot, tuple[InputRow, ...]]
"""A state of the chart, and inputs from there on."""

MAX_WAYS, LIKELY_WAYS = 3_000, 2_000
"""Ways of ticks that are looked at where nothing can be proved any more; the same, where nothing is to be."""

MAX_PAIRS, MAX_FOLLOWED = 600, 6_000
"""Pairs of states from which all ways on are followed, and ways that are followed in all."""

MAX_HELD, MAX_INPUTS, HELD_TICKS = 16, 8, 120
"""Pairs from which inputs are held for a while, inputs of each, and ticks for which they are held."""

WALKED = Limits(states=3_000, doubtful_states=0)
"""How far two charts are followed side by side from the start."""


SEED, RUNS, TICKS = 1, 40, 60
"""Runs with random inputs, the same ones every time, and ticks of each."""

CHANGES, COMES, MAX_VALUES = 0.25, 0.05, 24
"""How likely an input changes in a tick, and an event comes; values of one input that are tried."""


class RandomInputs:
    """Makes up inputs that are likely to tell two charts apart.

    They are made of the values that make a difference somewhere in the chart, and the ends of ranges.
    """

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration

    @cached_property
    def values(self) -> Mapping[str, Sequence[Value]]:
        """The values of every input that are worth trying."""
        kinds = self.exploration.chart.inputs
        seen: dict[str, dict[Value, None]] = {name: {} for name in kinds}
        for state in self.exploration.situations:
            for case in self.exploration.cases(state):
                for name, values in seen.items():
                    values[case.inputs[name]] = None
        return {name: [*_ends(kinds[name]), *values][:MAX_VALUES] for name, values in seen.items()}

    def runs(self, states: Sequence[Snapshot]) -> Iterator[tuple[Snapshot, list[InputRow]]]:
        """Yield states to begin in, and inputs from there on."""
        draw = random.Random(SEED)  # noqa: S311 -- not for secrets
        for number in range(RUNS if states else 0):
            yield states[number % len(states)], list(self.rows(draw))

    def rows(self, draw: random.Random) -> Iterator[InputRow]:
        """Yield inputs, tick by tick: most stay as they were."""
        held = {name: draw.choice(values) for name, values in self.values.items()}
        for _ in range(TICKS):
            changed = {
                name: draw.choice(values) for name, values in self.values.items() if draw.random() < CHANGES
            }
            held = {**held, **changed}
            yield {**held, **{name: draw.random() < COMES for name in self.exploration.chart.events}}


def _ends(kind: Type) -> list[Value]:
    """Return the ends of a range, or all values of a small type."""
    if isinstance(kind, BoolType):
        return [False, True]
    if isinstance(kind, EnumType):
        return list(kind.values)
    if isinstance(kind, FloatType) and kind.is_unbounded:
        return [0.0]
    return list(dict.fromkeys([kind.low, kind.high, kind.default]))


class DivergenceSearch:
    """Follows pairs of states that differ where nobody sees it.

    Attributes:
        ended: whether every way on was followed to its end.
    """

    def __init__(self, exploration: Exploration, pair: MutantPair) -> None:
        self.exploration = exploration
        self.pair = pair
        self.waiting: deque[tuple[Continuation, StatePair]] = deque()
        self.met: set[object] = set()
        self.ended = True

    def note(self, state: Snapshot, step: PairStep, before: tuple[InputRow, ...] = ()) -> None:
        """Note a pair that was reached from a state by some inputs and those of a tick."""
        if step.one is None or step.other is None:
            return
        key = step.one.key, step.other.key
        if key not in self.met:
            self.met.add(key)
            self.waiting.append(((state, (*before, step.inputs)), (step.one, step.other)))

    def by_holding_inputs(self) -> Continuation | None:
        """Return what shows a difference after inputs were held on for a while, None where nothing does.

        Each input that makes a difference to the chart now is held.
        """
        for (state, inputs), pair in list(self.waiting)[:MAX_HELD]:
            given = {tuple(case.inputs.items()): case.inputs for case in self.exploration.cases(pair[0])}
            for row in list(given.values())[:MAX_INPUTS]:
                quiet = {**row, **dict.fromkeys(self.exploration.chart.events, False)}
                prefix = self.distinguishing_prefix(state, (*inputs, row, *[quiet] * HELD_TICKS))
                if prefix:
                    return state, prefix
        return None

    def by_random_inputs(self, random_inputs: RandomInputs) -> Continuation | None:
        """Run both with all sorts of inputs, from states in which differences begin."""
        beginnings = list(dict.fromkeys(state for (state, _), _ in self.waiting))
        for state, rows in random_inputs.runs(beginnings):
            prefix = self.distinguishing_prefix(state, rows)
            if prefix:
                return state, prefix
        return None

    def by_following_pairs(self) -> Continuation | None:
        """Follow every way on from every pair, the nearest first; return what shows a difference."""
        pairs = ways = 0
        while self.waiting:
            pairs += 1
            if pairs > MAX_PAIRS or ways > MAX_FOLLOWED:
                self.ended = False
                return None
            (state, inputs), pair = self.waiting.popleft()
            for step in self.pair.steps(pair):
                ways += 1
                self.ended = self.ended and not step.doubtful
                if self.pair.shows_difference(step.one, step.other):
                    prefix = self.distinguishing_prefix(state, (*inputs, step.inputs))
                    if prefix:
                        return state, prefix
                    self.ended = False
                elif not self.pair.is_same(step):
                    self.ended = self.ended and step.set_alike
                    self.note(state, step, inputs)
        return None

    def distinguishing_prefix(self, state: Snapshot, inputs: Sequence[InputRow]) -> tuple[InputRow, ...]:
        """Return the inputs up to where a difference shows, run from the very start; none where none does."""
        pair = self.pair.one.initial(), self.pair.other.initial()
        before = self.exploration.trace_to(state)
        for count, row in enumerate((*before, *inputs), start=1 - len(before)):
            one, other = self.pair.stepped(pair, row)
            if one is None:
                return ()
            if other is None or self.pair.shows_difference(one, other):
                return tuple(inputs[: max(count, 1)])
            pair = one, other
        return ()


@dataclass(frozen=True)
class Changes:
    """The nodes that are not the same in a chart and its mutant.

    Attributes:
        active: those that differ in what they do while they are active, or when they are left.
        entered: those that differ in what they do when they are entered.
    """

    active: frozenset[int]
    entered: frozenset[int]

    @property
    def nodes(self) -> frozenset[int]:
        """All of them."""
        return self.active | self.entered


def changes_between(one: Machine, other: Machine) -> Changes:
    """Return where the machines of a chart and its mutant differ."""

    def while_active(node: StateNode) -> tuple[object, ...]:
        ways = [
            (w.events, w.wait, w.targets, w.domain, w.since_register, w.guards, w.do)
            for w in node.transitions
        ]
        return node.during, node.exit, node.counters, node.remembers, ways

    pairs = list(zip(one.nodes, other.nodes, strict=True))
    active = (node.index for node, twin in pairs if while_active(node) != while_active(twin))
    entered = (n.index for n, twin in pairs if (n.initial, n.entry) != (twin.initial, twin.entry))
    return Changes(frozenset(active), frozenset(entered))


class MutantStatus(Enum):
    """How a mutant behaves compared with its chart."""

    APART = "apart"
    ALIKE = "alike"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Distinction:
    """How a mutant behaves compared with its chart, and inputs that show it.

    Attributes:
        before: the state in which the difference begins.
        inputs: tick by tick from there; after the last of them it shows.
    """

    status: MutantStatus
    before: Snapshot | None = None
    inputs: tuple[Mapping[str, Value], ...] = ()


class Distinguisher:
    """Tells mutants of one chart from it.

    A mutant is proved to behave alike where one tick of both, from any state that the chart can be in, for
    all inputs, leaves both in the same state: then so does every tick after it. One that counts other times
    is walked side by side with the chart, from the start.

    Args:
        exploration: of the chart; the more of its variables it keeps, the more is found out.
    """

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        self.touched = [(state, _touched(exploration, state)) for state in exploration.situations]
        self.random_inputs = RandomInputs(exploration)

    def distinguish(self, mutant: Mutant, *, prove: bool = True) -> Distinction:
        """Return inputs that show that a mutant does something else, or that none can.

        Args:
            mutant: of the chart.
            prove: go on where nothing was found among what is likely, to prove that there is nothing.
        """
        machine = lower(mutant.chart)
        changes = changes_between(self.exploration.machine, machine)
        begin_the_same = mutant.chart.start_values() == self.exploration.chart.start_values()
        if (mutant.change and mutant.change.makes_no_difference) or (begin_the_same and not changes.nodes):
            return Distinction(MutantStatus.ALIKE)
        pair = MutantPair(self.exploration, Interpreter(mutant.chart, machine))
        search = DivergenceSearch(self.exploration, pair)
        sure = prove and self.exploration.complete and pair.begin_alike
        count = 0
        for state in self._candidates(pair, changes):
            for step in pair.steps((state, pair.twin_of(state))):
                count += 1
                sure = sure and not step.doubtful
                if pair.shows_difference(step.one, step.other):
                    if search.distinguishing_prefix(state, (step.inputs,)):
                        return Distinction(MutantStatus.APART, state, (step.inputs,))
                    sure = sure and not pair.count_alike  # else it was no state of the mutant
                elif not pair.is_same(step):
                    sure = sure and step.set_alike
                    search.note(state, step)
            if not sure and count > (MAX_WAYS if prove else LIKELY_WAYS):
                break
        # differences that do not show at once may lead to one that does
        divergence = search.by_holding_inputs()
        if divergence is None and sure and not pair.count_alike and are_alike(pair.one, pair.other, WALKED):
            return Distinction(MutantStatus.ALIKE)
        divergence = divergence or search.by_random_inputs(self.random_inputs) or search.by_following_pairs()
        if divergence is not None:
            return Distinction(MutantStatus.APART, *divergence)
        is_proved = sure and pair.count_alike and search.ended
        return Distinction(MutantStatus.ALIKE if is_proved else MutantStatus.UNKNOWN)

    def _candidates(self, pair: MutantPair, changes: Changes) -> list[Snapshot]:
        """Return states in which the fault may make a difference; of those that do the same, one."""
        near = [state for state, touched in self.touched if touched & changes.nodes or not state.started]
        if not pair.ask_alike:
            near = list(self._finer({self.exploration.state_space.split(state)[0] for state in near}, pair))
        return self._likely_first(near, changes)

    def _likely_first(self, states: list[Snapshot], changes: Changes) -> list[Snapshot]:
        """Return states, those first in which a difference is most likely, and of each sort one at first.

        Of one sort are those that are alike in and below what was changed, and in all that this reads.
        """
        machine = self.exploration.machine
        below = frozenset[int]().union(
            *({number} | machine.nodes[number].descendants for number in changes.nodes)
        )
        reads = frozenset[str]().union(*(_reads(machine.nodes[number]) for number in changes.nodes))
        places = [i for i, name in enumerate(machine.registers) if name in reads]
        looked = self.exploration.state_space
        met: dict[object, int] = {}

        def rank(state: Snapshot) -> tuple[bool, int]:
            before = frozenset(state.active_nodes) if state.started else frozenset[int]()
            likely = bool(changes.active & before) or bool(changes.entered - before)
            counts = state.values[looked.variables :]
            held = (*state.values[: looked.variables], *looked.clocks.looks(counts))  # type: ignore[arg-type]
            sort = likely, state.started, before & below, tuple([held[i] for i in places])
            met[sort] = met.get(sort, -1) + 1
            return not likely, met[sort]

        return sorted(states, key=rank)

    def _finer(self, rests: set[int], pair: MutantPair) -> Iterator[Snapshot]:
        """Yield one state for all in which neither of the two can tell how time stands."""
        looked = self.exploration.state_space
        other = pair.mutant_states.clocks
        met = set()
        for rest, counts in self.exploration.graph.places:
            if rest in rests:
                state = looked.joined(rest, counts)
                twin = pair.twin_of(state).values[pair.variables :]
                key = rest, looked.clocks.looks(counts), other.looks(twin)  # type: ignore[arg-type]
                if key not in met:
                    met.add(key)
                    yield state


def _reads(node: StateNode) -> frozenset[str]:
    """Return the names that a state's guards and actions read, and its counters."""
    guards = (guard for way in node.transitions for guard in way.guards)
    acts = chain((way.do for way in node.transitions), node.actions)
    read = chain(guards, (one for actions in acts for one in expressions_in(actions)))
    counters = frozenset(counter.name for counter in node.counters)
    return counters.union(*(expression.names for expression in read))


def _touched(exploration: Exploration, state: Snapshot) -> frozenset[int]:
    """Return every node that may be active at some moment of a tick that begins in a state."""
    nodes = exploration.machine.nodes
    if not state.started:
        return frozenset(range(len(nodes)))
    found = set(state.active_nodes)
    for case in exploration.cases(state):
        if case.after is not None:
            found.update(case.after.active_nodes)
        for goal in {goal.node for way in case.taken for goal in way.targets}:
            found.update((goal, *nodes[goal].ancestors, *nodes[goal].descendants))
    return frozenset(found)
