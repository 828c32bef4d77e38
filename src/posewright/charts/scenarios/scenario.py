"""A scenario: inputs over time, and what a chart is expected to make of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from posewright.charts.machine import JOINT
from posewright.charts.model import Chart
from posewright.charts.scenarios.rows import INSIDE, OUTSIDE, Row
from posewright.charts.types import Value


@dataclass(frozen=True)
class Expectation:
    """What is looked at after a tick.

    Attributes:
        inside: states that are active.
        outside: states that are not.
        values: what outputs and locals hold.
    """

    inside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.inside or self.outside or self.values)

    @property
    def expected(self) -> dict[str, Value]:
        """The same, as a row expects it."""
        found = dict(self.values)
        if self.inside:
            found[INSIDE] = JOINT.join(self.inside)
        if self.outside:
            found[OUTSIDE] = JOINT.join(self.outside)
        return found

    def joined(self, other: Expectation) -> Expectation:
        """Return both together."""
        return Expectation(
            tuple(dict.fromkeys((*self.inside, *other.inside))),
            tuple(dict.fromkeys((*self.outside, *other.outside))),
            {**self.values, **other.values},
        )


NOTHING = Expectation()
"""The expectation that anything fulfils."""


@dataclass(frozen=True)
class ScenarioStep:
    """Some ticks with the same inputs.

    Attributes:
        ticks: how many.
        seconds: how long, where it was written as a time [s]; 0: it was written in ticks.
        set: inputs that change; they keep their values until they are set again.
        send: events that come in the first tick.
        expect: after the last tick.
        throughout: after every tick.
    """

    ticks: int = 1
    seconds: float = 0.0
    set: Mapping[str, Value] = field(default_factory=dict)
    send: tuple[str, ...] = ()
    expect: Expectation = NOTHING
    throughout: Expectation = NOTHING
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Scenario:
    """Inputs over time, and what they are expected to lead to.

    Attributes:
        chart: the chart's file, as written: seen from the scenario's own.
        start: the state it begins in; none: before the very first tick.
    """

    name: str
    steps: tuple[ScenarioStep, ...]
    chart: str = ""
    start: str | None = None
    description: str = field(default="", compare=False)
    path: Path | None = field(default=None, compare=False)

    @property
    def ticks(self) -> int:
        """How long it takes, in ticks."""
        return sum(step.ticks for step in self.steps)


def rows_of(scenario: Scenario, chart: Chart) -> list[Row]:
    """Return the scenario tick by tick: the inputs of a chart, and what is expected of it."""
    return list(_rows(scenario, chart))


def _rows(scenario: Scenario, chart: Chart) -> Iterator[Row]:
    held = {name: kind.zero for name, kind in chart.inputs.items()}
    start = scenario.start
    for step in scenario.steps:
        held = {**held, **step.set}
        first = {**held, **dict.fromkeys(step.send, True)}
        always = step.throughout.expected
        last = step.throughout.joined(step.expect).expected
        for tick in range(1, step.ticks + 1):
            yield Row(first if tick == 1 else held, start, last if tick == step.ticks else always, step.line)
            start = None
