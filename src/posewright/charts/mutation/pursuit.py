"""Pursues a difference that does not show at once, until it does."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from posewright.charts.machine import Snapshot
from posewright.charts.mutation.product import Pair, Product, ProductStep
from posewright.charts.reachability import BreadthFirst, Exploration
from posewright.charts.types import BoolType, EnumType, FloatType, Type, Value

InputRow = Mapping[str, Value]
Trail = tuple[Snapshot, tuple[InputRow, ...]]
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

SEED = 1
RUNS = 40
TICKS = 60
"""Runs from states that the chart can be in, and ticks of each; the same ones every time."""

CHANGES, COMES = 0.25, 0.05
"""How likely an input changes in a tick, and an event comes."""

MAX_VALUES = 24
"""Values of one input that are tried."""


def ends_alike(product: Product) -> bool:
    """Return whether two charts, walked side by side from the start, never do anything different.

    False as well where there is too much to walk, or where not all inputs were followed.
    """
    search: BreadthFirst[Pair, None] = BreadthFirst(
        product.plain(product.one.initial(), product.other.initial())
    )
    for pair in search:
        if len(search) > MAX_WALKED:
            return False
        for step in product.steps(pair):
            if product.seen_apart(step.one, step.other) or step.doubtful or not step.set_alike:
                return False
            if step.one is not None and step.other is not None:
                search.reach(product.plain(step.one, step.other), pair, None)
    return True


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
    if isinstance(kind, FloatType) and kind.open:
        return [0.0]
    return list(dict.fromkeys([kind.low, kind.high, kind.zero]))


class Pursuit:
    """Follows pairs of states that differ where nobody sees it.

    Attributes:
        ended: whether every way on was followed to its end.
    """

    def __init__(self, exploration: Exploration, product: Product) -> None:
        self.exploration = exploration
        self.product = product
        self.waiting: deque[tuple[Trail, Pair]] = deque()
        self.met: set[object] = set()
        self.ended = True

    def note(self, state: Snapshot, step: ProductStep, before: tuple[InputRow, ...] = ()) -> None:
        """Note a pair that was reached from a state by some inputs and those of a tick."""
        if step.one is None or step.other is None:
            return
        key = step.one.key, step.other.key
        if key not in self.met:
            self.met.add(key)
            self.waiting.append(((state, (*before, step.inputs)), (step.one, step.other)))

    def held(self) -> Trail | None:
        """Return what shows a difference after inputs were held on for a while, None where nothing does.

        Each input that makes a difference to the chart now is held.
        """
        for (state, inputs), pair in list(self.waiting)[:MAX_HELD]:
            given = {tuple(case.inputs.items()): case.inputs for case in self.exploration.cases(pair[0])}
            for row in list(given.values())[:MAX_INPUTS]:
                quiet = {**row, **dict.fromkeys(self.exploration.chart.events, False)}
                rows = self.until_apart(pair, [row, *[quiet] * LONGEST])
                if rows and self.shows(state, (*inputs, *rows)):
                    return state, (*inputs, *rows)
        return None

    def wandered(self, random_inputs: RandomInputs) -> Trail | None:
        """Run both with all sorts of inputs, from states in which differences begin."""
        beginnings = list(dict.fromkeys(state for (state, _), _ in self.waiting))
        for state, rows in random_inputs.runs(beginnings):
            taken = self.until_apart((state, self.product.twin_of(state)), rows)
            if taken and self.shows(state, taken):
                return state, tuple(taken)
        return None

    def followed(self) -> Trail | None:
        """Follow every way on from every pair, the nearest first; return what shows a difference."""
        pairs = ways = 0
        while self.waiting:
            pairs += 1
            if pairs > MAX_PAIRS or ways > MAX_WAYS:
                self.ended = False
                return None
            (state, inputs), pair = self.waiting.popleft()
            for step in self.product.steps(pair):
                ways += 1
                self.ended = self.ended and not step.doubtful
                if self.product.seen_apart(step.one, step.other):
                    if self.shows(state, (*inputs, step.inputs)):
                        return state, (*inputs, step.inputs)
                    self.ended = False
                elif not self.product.same(step):
                    self.ended = self.ended and step.set_alike
                    self.note(state, step, inputs)
        return None

    def until_apart(self, pair: Pair, rows: Iterable[InputRow]) -> list[InputRow]:
        """Return the rows up to the one at which a difference shows, none where it never does."""
        taken: list[InputRow] = []
        for row in rows:
            taken.append(row)
            one, other = self.product.stepped(pair, row)
            if one is None or other is None or self.product.seen_apart(one, other):
                return taken
            pair = one, other
        return []

    def shows(self, state: Snapshot, inputs: Iterable[InputRow]) -> bool:
        """Return whether a difference is really there, run from the very start."""
        pair = self.product.one.initial(), self.product.other.initial()
        for row in (*self.exploration.trace_to(state), *inputs):
            one, other = self.product.stepped(pair, row)
            if one is None:
                return False
            if other is None or self.product.seen_apart(one, other):
                return True
            pair = one, other
        return False
