"""Tells a mutant from its chart: by inputs that show the difference, or by a proof that there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import chain

from posewright.charts.machine import Interpreter, Node, Snapshot, lower
from posewright.charts.model import expressions_in
from posewright.charts.mutation.fault import Mutant
from posewright.charts.mutation.meaning import Changes, begins_the_same, changes_between, means_the_same
from posewright.charts.mutation.pursuing import Pursuit, ends_alike
from posewright.charts.mutation.twins import ProductStep
from posewright.charts.mutation.wandering import Wandering
from posewright.charts.reachability import Exploration, TimerAbstraction
from posewright.charts.types import Value

Inputs = Mapping[str, Value]

MAX_WAYS = 3_000
"""Ways of ticks that are looked at where nothing can be proved any more."""

LIKELY_WAYS = 2_000
"""The same, where nothing is to be proved."""


class MutantStatus(Enum):
    """What was found out."""

    APART = "apart"
    ALIKE = "alike"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Told:
    """What was found out of a mutant.

    Attributes:
        before: the state in which the difference begins.
        inputs: tick by tick from there; after the last of them it shows.
    """

    verdict: MutantStatus
    before: Snapshot | None = None
    inputs: tuple[Inputs, ...] = ()


class Teller:
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
        self.wandering = Wandering(exploration)

    def tell(self, mutant: Mutant, *, prove: bool = True) -> Told:
        """Return inputs that show that a mutant does something else, or that none can.

        Args:
            mutant: of the chart.
            prove: go on where nothing was found among what is likely, to prove that there is nothing.
        """
        if means_the_same(self.exploration.machine, lower(mutant.chart)):
            return Told(MutantStatus.ALIKE)
        twins = ProductStep(self.exploration, Interpreter(mutant.chart))
        pursuit = Pursuit(self.exploration, twins)
        sure = prove and self.exploration.complete and twins.begin_alike and self.is_seen(twins)
        count = 0
        for state in self.candidates(twins):
            for together in twins.step((state, twins.twin_of(state))):
                count += 1
                sure = sure and not together.doubtful
                if twins.seen_apart(together.one, together.other):
                    if pursuit.shows(state, (together.inputs,)):
                        return Told(MutantStatus.APART, state, (together.inputs,))
                    sure = sure and not twins.count_alike  # else it was no state of the mutant
                elif not twins.same(together):
                    sure = sure and together.wrote_alike
                    pursuit.note(state, together)
            if not sure and count > (MAX_WAYS if prove else LIKELY_WAYS):
                break
        return self._pursued(pursuit, twins, sure=sure)

    def _pursued(self, pursuit: Pursuit, twins: ProductStep, *, sure: bool) -> Told:
        """Return what differences lead to that do not show at once."""
        found = pursuit.held()
        if found is None and sure and not twins.count_alike and ends_alike(twins):
            return Told(MutantStatus.ALIKE)
        found = found or pursuit.wandered(self.wandering, pursuit.beginnings) or pursuit.followed()
        if found is not None:
            return Told(MutantStatus.APART, *found)
        return Told(
            MutantStatus.ALIKE if sure and twins.count_alike and pursuit.ended else MutantStatus.UNKNOWN
        )

    def is_seen(self, twins: ProductStep) -> bool:
        """Return whether it is known at all where the two differ: from what is not seen, nothing follows."""
        one, other = self.exploration.machine, twins.other.machine
        return not begins_the_same(one, other) or bool(changes_between(one, other).nodes)

    def candidates(self, twins: ProductStep) -> Iterator[Snapshot]:
        """Yield states in which the fault may make a difference; of those that do the same, one."""
        changes = changes_between(self.exploration.machine, twins.other.machine)
        near = [state for state, touched in self.touched if touched & changes.nodes or not state.started]
        if not twins.ask_alike:
            near = list(self._finer({self.exploration.looked.split(state)[0] for state in near}, twins))
        return iter(self._likely_first(near, changes, twins))

    def _likely_first(self, states: list[Snapshot], changes: Changes, twins: ProductStep) -> list[Snapshot]:
        """Return states, those first in which a difference is most likely, and of each sort one at first.

        Of one sort are those that are alike in and below what was changed, and in all that this reads.
        """
        machine = self.exploration.machine
        below = frozenset[int]().union(*({number} | machine.nodes[number].within for number in changes.nodes))
        reads = frozenset[str]().union(*(_reads(machine.nodes[number]) for number in changes.nodes))
        places = [i for i, name in enumerate(machine.registers) if name in reads]
        turns = twins.turns
        met: dict[object, int] = {}

        def rank(state: Snapshot) -> tuple[bool, bool, int]:
            before = frozenset(state.numbers) if state.started else frozenset[int]()
            likely = bool(changes.active & before) or bool(changes.entered - before)
            held = self._classed(state)
            counts = state.values[self.exploration.looked.variables :]
            in_time = not turns or any(counts[i] in values for i, values in turns.items())
            sort = likely, in_time, state.started, before & below, tuple([held[i] for i in places])
            met[sort] = met.get(sort, -1) + 1
            return not likely, not in_time, met[sort]

        return sorted(states, key=rank)

    def _classed(self, state: Snapshot) -> tuple[object, ...]:
        """Return what the registers hold; of counted time, what a tick can tell of it."""
        looked = self.exploration.looked
        counts = state.values[looked.variables :]
        return (*state.values[: looked.variables], *looked.clocks.looks(counts))  # type: ignore[arg-type]

    def _finer(self, rests: set[int], twins: ProductStep) -> Iterator[Snapshot]:
        """Yield one state for all in which neither of the two can tell how time stands."""
        looked, other = self.exploration.looked, TimerAbstraction(twins.other.machine)
        met = set()
        for rest, counts in self.exploration.walk.places:
            if rest in rests:
                state = looked.joined(rest, counts)
                twin = twins.twin_of(state).values[twins.variables :]
                key = rest, looked.clocks.looks(counts), other.looks(twin)  # type: ignore[arg-type]
                if key not in met:
                    met.add(key)
                    yield state


def _reads(node: Node) -> frozenset[str]:
    """Return the names that a state's guards and actions read, and its counters."""
    guards = (guard for way in node.ways for guard in way.guards)
    acts = chain((way.do for way in node.ways), node.actions)
    read = chain(guards, (one for actions in acts for one in expressions_in(actions)))
    counters = frozenset(counter.name for counter in node.counters)
    return counters.union(*(expression.names for expression in read))


def _touched(exploration: Exploration, state: Snapshot) -> frozenset[int]:
    """Return every node that may be active at some moment of a tick that begins in a state."""
    nodes = exploration.machine.nodes
    if not state.started:
        return frozenset(range(len(nodes)))
    found = set(state.numbers)
    for case in exploration.cases(state):
        if case.after is not None:
            found.update(case.after.numbers)
        for goal in {goal.node for way in case.taken for goal in way.goals}:
            found.update((goal, *nodes[goal].around, *nodes[goal].within))
    return frozenset(found)
