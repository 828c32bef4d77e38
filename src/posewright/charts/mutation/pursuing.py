"""Pursues a difference that does not show at once, until it does."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from posewright.charts.machine import Snapshot
from posewright.charts.mutation.twins import Pair, ProductStep, Together
from posewright.charts.mutation.wandering import Wandering
from posewright.charts.reachability import Exploration
from posewright.charts.types import Value
from posewright.errors import PosewrightError

Inputs = Mapping[str, Value]
Trail = tuple[Snapshot, tuple[Inputs, ...]]
"""A state of the chart, and inputs from there on."""

MAX_PAIRS = 600
"""Pairs of states from which all ways on are followed."""

MAX_WAYS = 6_000
"""Ways of ticks that are followed in all."""

MAX_HELD = 16
"""Pairs of states from which inputs are held on for a while."""

LONGEST = 120
"""Ticks for which they are held."""

MAX_INPUTS = 8
"""Inputs that are tried so from one pair."""


MAX_WALKED = 3_000
"""Pairs of states up to which two charts are walked side by side from the start."""


def ends_alike(twins: ProductStep) -> bool:
    """Return whether two charts, walked side by side from the start, never do anything different.

    False as well where there is too much to walk, or where not all inputs were followed.
    """
    waiting = deque([twins.plain(twins.one.initial(), twins.other.initial())])
    met: set[object] = {(waiting[0][0].key, waiting[0][1].key)}
    while waiting:
        if len(met) > MAX_WALKED:
            return False
        for together in twins.step(waiting.popleft()):
            apart = twins.seen_apart(together.one, together.other)
            if apart or together.doubtful or not together.wrote_alike:
                return False
            if together.one is not None and together.other is not None:
                pair = twins.plain(together.one, together.other)
                key = pair[0].key, pair[1].key
                if key not in met:
                    met.add(key)
                    waiting.append(pair)
    return True


class Pursuit:
    """Follows pairs of states that differ where nobody sees it.

    Attributes:
        ended: whether every way on was followed to its end.
    """

    def __init__(self, exploration: Exploration, twins: ProductStep) -> None:
        self.exploration = exploration
        self.twins = twins
        self.waiting: deque[tuple[Trail, Pair]] = deque()
        self.met: set[object] = set()
        self.ended = True

    def note(self, state: Snapshot, together: Together, before: tuple[Inputs, ...] = ()) -> None:
        """Note a pair that was reached from a state by some inputs and those of a tick."""
        if together.one is None or together.other is None:
            return
        key = together.one.key, together.other.key
        if key not in self.met:
            self.met.add(key)
            self.waiting.append(((state, (*before, together.inputs)), (together.one, together.other)))

    def held(self) -> Trail | None:
        """Return what shows a difference after inputs were held on for a while, None where nothing does."""
        for trail, pair in list(self.waiting)[:MAX_HELD]:
            found = self.held_on(trail, pair)
            if found is not None:
                return found
        return None

    @property
    def beginnings(self) -> list[Snapshot]:
        """The states in which differences begin, each once."""
        return list(dict.fromkeys(state for (state, _), _ in self.waiting))

    def followed(self) -> Trail | None:
        """Follow every way on from every pair, the nearest first; return what shows a difference."""
        pairs = ways = 0
        while self.waiting:
            pairs += 1
            if pairs > MAX_PAIRS or ways > MAX_WAYS:
                self.ended = False
                return None
            (state, inputs), pair = self.waiting.popleft()
            for together in self.twins.step(pair):
                ways += 1
                self.ended = self.ended and not together.doubtful
                if self.twins.seen_apart(together.one, together.other):
                    if self.shows(state, (*inputs, together.inputs)):
                        return state, (*inputs, together.inputs)
                    self.ended = False
                elif not self.twins.same(together):
                    self.ended = self.ended and together.wrote_alike
                    self.note(state, together, inputs)
        return None

    def wandered(self, wandering: Wandering, states: Sequence[Snapshot]) -> Trail | None:
        """Run both with all sorts of inputs, from states in which they differ in something."""
        for state, rows in wandering.runs(states):
            taken = self.until_apart((state, self.twins.twin_of(state)), rows)
            if taken and self.shows(state, taken):
                return state, tuple(taken)
        return None

    def held_on(self, trail: Trail, pair: Pair) -> Trail | None:
        """Let time pass with the same inputs, for each that makes a difference to the chart now."""
        state, inputs = trail
        given = {tuple(case.inputs.items()): case.inputs for case in self.exploration.cases(pair[0])}
        for row in list(given.values())[:MAX_INPUTS]:
            rows = [*self.until_apart(pair, self.holding(row))]
            if rows and self.shows(state, (*inputs, *rows)):
                return state, (*inputs, *rows)
        return None

    def holding(self, row: Inputs) -> Iterator[Inputs]:
        """Yield inputs for a while; events come in the first tick only."""
        yield row
        quiet = {**row, **dict.fromkeys(self.exploration.chart.events, False)}
        for _ in range(LONGEST):
            yield quiet

    def until_apart(self, pair: Pair, rows: Iterable[Inputs]) -> list[Inputs]:
        """Return the rows up to the one at which a difference shows, none where it never does."""
        one, other = pair
        taken: list[Inputs] = []
        for row in rows:
            taken.append(row)
            try:
                one = self.twins.one.step(one, row)
                other = self.twins.other.step(other, row)
            except PosewrightError:
                return taken
            if self.twins.seen_apart(one, other):
                return taken
        return []

    def shows(self, state: Snapshot, inputs: Iterable[Inputs]) -> bool:
        """Return whether a difference is really there, run from the very start."""
        one, other = self.twins.one.initial(), self.twins.other.initial()
        for row in (*self.exploration.trace_to(state), *inputs):
            try:
                one = self.twins.one.step(one, row)
            except PosewrightError:
                return False
            try:
                other = self.twins.other.step(other, row)
            except PosewrightError:
                return True
            if self.twins.seen_apart(one, other):
                return True
        return False
