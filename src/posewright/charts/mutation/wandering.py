"""Wanders through two charts side by side with inputs that are likely to tell them apart."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from posewright.charts.machine import Snapshot
from posewright.charts.reachability import Exploration
from posewright.charts.types import BoolType, EnumType, FloatType, Type, Value

Inputs = Mapping[str, Value]

SEED = 1
RUNS = 40
TICKS = 60
"""Runs from states that the chart can be in, and ticks of each; the same ones every time."""

CHANGES, COMES = 0.25, 0.05
"""How likely an input changes in a tick, and an event comes."""

MAX_VALUES = 24
"""Values of one input that are tried."""


class Wandering:
    """Makes up inputs from the values that make a difference somewhere in a chart, and the ends of ranges."""

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration

    @cached_property
    def values(self) -> Mapping[str, Sequence[Value]]:
        """The values of every input that are worth trying."""
        seen: dict[str, dict[Value, None]] = {name: {} for name in self.exploration.chart.inputs}
        for state in self.exploration.situations:
            for case in self.exploration.cases(state):
                for name, values in seen.items():
                    values[case.inputs[name]] = None
        kinds = self.exploration.chart.inputs
        return {name: [*_ends(kinds[name]), *values][:MAX_VALUES] for name, values in seen.items()}

    def runs(self, states: Sequence[Snapshot]) -> Iterator[tuple[Snapshot, list[Inputs]]]:
        """Yield states to begin in, and inputs from there on."""
        draw = random.Random(SEED)  # noqa: S311 -- not for secrets
        for number in range(RUNS if states else 0):
            yield states[number % len(states)], list(self.rows(draw))

    def rows(self, draw: random.Random) -> Iterator[Inputs]:
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
