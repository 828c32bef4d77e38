"""Tells a mutant from its chart: by inputs that show the difference, or by a proof that there is none."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from posewright.charts.chart_state import ChartState
from posewright.charts.datatypes import Value
from posewright.charts.exploration import Exploration
from posewright.charts.exploration.clocks import Clocks
from posewright.charts.interpreter import Interpreter
from posewright.charts.machine import lower
from posewright.charts.mutation.fault import Mutant
from posewright.charts.mutation.meaning import Changes, changes_between, means_the_same
from posewright.charts.mutation.twins import Pair, Together, Twins
from posewright.errors import PosewrightError

Inputs = Mapping[str, Value]

MAX_PAIRS = 600
"""Pairs of states that are looked at where a difference does not show at once."""


class Verdict(Enum):
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

    verdict: Verdict
    before: ChartState | None = None
    inputs: tuple[Inputs, ...] = ()


class Teller:
    """Tells mutants of one chart from it.

    Args:
        exploration: of the chart; only with all its variables kept (`keep`) it proves that two are alike.
    """

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        keeps = exploration.looked.keeps.values()
        self.exact = exploration.complete and all(keep.single and not keep.drops for keep in keeps)
        self.touched = [(state, _touched(exploration, state)) for state in exploration.situations]

    def tell(self, mutant: Mutant) -> Told:
        """Return inputs that show that a mutant does something else, or that none can."""
        if means_the_same(self.exploration.machine, lower(mutant.chart)):
            return Told(Verdict.ALIKE)
        return _Telling(self, mutant).told()

    def candidates(self, twins: Twins) -> Iterator[ChartState]:
        """Yield states in which the fault may make a difference; of those that do the same, one."""
        changes = changes_between(self.exploration.machine, twins.other.machine)
        near = [state for state, touched in self.touched if touched & changes.nodes]
        if not twins.ask_alike:
            near = list(self._finer({self.exploration.looked.split(state)[0] for state in near}, twins))
        return iter(self._likely_first(near, changes))

    def _likely_first(self, states: list[ChartState], changes: Changes) -> list[ChartState]:
        """Return states, those first in which a difference is most likely, and of each sort one at first."""
        nodes = self.exploration.machine.nodes
        below = frozenset[int]().union(*({number} | nodes[number].within for number in changes.nodes))
        met: dict[object, int] = {}

        def rank(state: ChartState) -> tuple[bool, int]:
            before = frozenset(state.numbers) if state.started else frozenset[int]()
            likely = bool(changes.active & before) or bool(changes.entered - before)
            sort = likely, state.started, before & below
            met[sort] = met.get(sort, -1) + 1
            return not likely, met[sort]

        return sorted(states, key=rank)

    def _finer(self, rests: set[int], twins: Twins) -> Iterator[ChartState]:
        """Yield one state for all in which neither of the two can tell how time stands."""
        looked, other = self.exploration.looked, Clocks(twins.other.machine)
        met = set()
        for rest, counts in self.exploration.walk.places:
            if rest in rests:
                state = looked.joined(rest, counts)
                twin = twins.twin_of(state).values[twins.variables :]
                key = rest, looked.clocks.looks(counts), other.looks(twin)  # type: ignore[arg-type]
                if key not in met:
                    met.add(key)
                    yield state


class _Telling:
    def __init__(self, teller: Teller, mutant: Mutant) -> None:
        self.exploration = teller.exploration
        self.other = Interpreter(mutant.chart)
        self.twins = Twins(teller.exploration, self.other)
        self.states = teller.candidates(self.twins)
        self.sure = teller.exact and self.twins.count_alike
        self.hidden: list[tuple[ChartState, Together]] = []

    def told(self) -> Told:
        for state in self.states:
            for together in self.twins.step((state, self.twins.twin_of(state))):
                self.sure = self.sure and not together.doubtful
                if self.twins.seen_apart(together.one, together.other):
                    if self.shows(state, (together.inputs,)):
                        return Told(Verdict.APART, state, (together.inputs,))
                    self.sure = False
                elif not self.twins.same(together.one, together.other):
                    self.hidden.append((state, together))
        return self.followed() or Told(Verdict.ALIKE if self.sure else Verdict.UNKNOWN)

    def followed(self) -> Told | None:
        """Follow differences that do not show at once until they do."""
        waiting = deque[tuple[ChartState, tuple[Inputs, ...], Pair]]()
        met = set[tuple[object, object]]()
        for state, together in self.hidden:
            self.push(waiting, met, state, (together.inputs,), together)
        count = 0
        while waiting:
            count += 1
            if count > MAX_PAIRS:
                self.sure = False
                return None
            state, inputs, pair = waiting.popleft()
            for together in self.twins.step(pair):
                self.sure = self.sure and not together.doubtful
                further = (*inputs, together.inputs)
                if self.twins.seen_apart(together.one, together.other):
                    if self.shows(state, further):
                        return Told(Verdict.APART, state, further)
                    self.sure = False
                elif not self.twins.same(together.one, together.other):
                    self.push(waiting, met, state, further, together)
        return None

    def push(
        self,
        waiting: deque[tuple[ChartState, tuple[Inputs, ...], Pair]],
        met: set[tuple[object, object]],
        state: ChartState,
        inputs: tuple[Inputs, ...],
        together: Together,
    ) -> None:
        if together.one is None or together.other is None:
            return
        key = (together.one.key, together.other.key)
        if key not in met:
            met.add(key)
            waiting.append((state, inputs, (together.one, together.other)))

    def shows(self, state: ChartState, inputs: Iterable[Inputs]) -> bool:
        """Return whether the difference is really there, run from the very start."""
        one, other = self.exploration.interpreter.initial(), self.other.initial()
        for row in (*self.exploration.trace_to(state), *inputs):
            try:
                one = self.exploration.interpreter.step(one, row)
            except PosewrightError:
                return False
            try:
                other = self.other.step(other, row)
            except PosewrightError:
                return True
            if self.twins.seen_apart(one, other):
                return True
        return False


def _touched(exploration: Exploration, state: ChartState) -> frozenset[int]:
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
