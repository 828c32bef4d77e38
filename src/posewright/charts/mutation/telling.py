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
from posewright.charts.mutation.product import Product
from posewright.charts.mutation.pursuit import Pursuit, RandomInputs, ends_alike
from posewright.charts.reachability import Exploration
from posewright.charts.types import Value

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

    status: MutantStatus
    before: Snapshot | None = None
    inputs: tuple[Mapping[str, Value], ...] = ()


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
        self.random_inputs = RandomInputs(exploration)

    def tell(self, mutant: Mutant, *, prove: bool = True) -> Told:
        """Return inputs that show that a mutant does something else, or that none can.

        Args:
            mutant: of the chart.
            prove: go on where nothing was found among what is likely, to prove that there is nothing.
        """
        machine, other = self.exploration.machine, lower(mutant.chart)
        if means_the_same(machine, other):
            return Told(MutantStatus.ALIKE)
        product = Product(self.exploration, Interpreter(mutant.chart, other))
        pursuit = Pursuit(self.exploration, product)
        changes = changes_between(machine, other)
        # from what is not seen to differ, nothing follows
        is_seen = bool(changes.nodes) or not begins_the_same(machine, other)
        sure = prove and self.exploration.complete and product.begin_alike and is_seen
        count = 0
        for state in self._candidates(product, changes):
            for step in product.steps((state, product.twin_of(state))):
                count += 1
                sure = sure and not step.doubtful
                if product.seen_apart(step.one, step.other):
                    if pursuit.shows(state, (step.inputs,)):
                        return Told(MutantStatus.APART, state, (step.inputs,))
                    sure = sure and not product.count_alike  # else it was no state of the mutant
                elif not product.same(step):
                    sure = sure and step.set_alike
                    pursuit.note(state, step)
            if not sure and count > (MAX_WAYS if prove else LIKELY_WAYS):
                break
        return self._pursued(pursuit, product, sure=sure)

    def _pursued(self, pursuit: Pursuit, product: Product, *, sure: bool) -> Told:
        """Return what differences lead to that do not show at once."""
        found = pursuit.held()
        if found is None and sure and not product.count_alike and ends_alike(product):
            return Told(MutantStatus.ALIKE)
        found = found or pursuit.wandered(self.random_inputs) or pursuit.followed()
        if found is not None:
            return Told(MutantStatus.APART, *found)
        alike = sure and product.count_alike and pursuit.ended
        return Told(MutantStatus.ALIKE if alike else MutantStatus.UNKNOWN)

    def _candidates(self, product: Product, changes: Changes) -> list[Snapshot]:
        """Return states in which the fault may make a difference; of those that do the same, one."""
        near = [state for state, touched in self.touched if touched & changes.nodes or not state.started]
        if not product.ask_alike:
            near = list(self._finer({self.exploration.looked.split(state)[0] for state in near}, product))
        return self._likely_first(near, changes, product)

    def _likely_first(self, states: list[Snapshot], changes: Changes, product: Product) -> list[Snapshot]:
        """Return states, those first in which a difference is most likely, and of each sort one at first.

        Of one sort are those that are alike in and below what was changed, and in all that this reads.
        """
        machine = self.exploration.machine
        below = frozenset[int]().union(*({number} | machine.nodes[number].within for number in changes.nodes))
        reads = frozenset[str]().union(*(_reads(machine.nodes[number]) for number in changes.nodes))
        places = [i for i, name in enumerate(machine.registers) if name in reads]
        turns, looked = product.turns, self.exploration.looked
        met: dict[object, int] = {}

        def rank(state: Snapshot) -> tuple[bool, bool, int]:
            before = frozenset(state.numbers) if state.started else frozenset[int]()
            likely = bool(changes.active & before) or bool(changes.entered - before)
            counts = state.values[looked.variables :]
            in_time = not turns or any(counts[i] in values for i, values in turns.items())
            held = (*state.values[: looked.variables], *looked.clocks.looks(counts))  # type: ignore[arg-type]
            sort = likely, in_time, state.started, before & below, tuple([held[i] for i in places])
            met[sort] = met.get(sort, -1) + 1
            return not likely, not in_time, met[sort]

        return sorted(states, key=rank)

    def _finer(self, rests: set[int], product: Product) -> Iterator[Snapshot]:
        """Yield one state for all in which neither of the two can tell how time stands."""
        looked, other = self.exploration.looked, product.timers[1]
        met = set()
        for rest, counts in self.exploration.graph.places:
            if rest in rests:
                state = looked.joined(rest, counts)
                twin = product.twin_of(state).values[product.variables :]
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
