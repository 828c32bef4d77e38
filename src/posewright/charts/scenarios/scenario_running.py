"""Runs scenarios, and tells what came out otherwise than expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posewright.charts.machine import JOINT, Interpreter, Snapshot
from posewright.charts.model import Chart
from posewright.charts.scenarios.rows import INSIDE, NEXT, OUTSIDE, Row, Tick
from posewright.charts.scenarios.scenario import Scenario, rows_of
from posewright.charts.scenarios.scenario_reading import read_scenario
from posewright.charts.types import Value
from posewright.errors import PosewrightError

if TYPE_CHECKING:
    from posewright.charts.machine import Monitor

MAX_FAILURES = 100
"""Failures of one scenario that are listed: after the first the others seldom tell more."""


@dataclass(frozen=True)
class Failure:
    """Something that came out otherwise than expected.

    Attributes:
        line: of the step in the scenario.
        tick: counted from 0, as in `chart run`.
        what: the output or local, `in` or `not in` for states, or `tick` where the tick itself failed.
    """

    line: int | None
    tick: int
    what: str
    expected: Value
    got: Value

    def __str__(self) -> str:
        place = f"line {self.line}, " if self.line is not None else ""
        word = self.what if self.what in (INSIDE, OUTSIDE) else f"{self.what} ="
        got = f"in {self.got}" if self.what in (INSIDE, OUTSIDE) else str(_shown(self.got))
        return f"{place}tick {self.tick}: expected {word} {_shown(self.expected)}, got {got}"

    def data(self) -> dict[str, Any]:
        """Return the failure as plain data."""
        return {
            "line": self.line,
            "tick": self.tick,
            "what": self.what,
            "expected": self.expected,
            "got": self.got,
        }


@dataclass(frozen=True)
class ScenarioResult:
    """What came of a scenario.

    Attributes:
        ticks: how many were run.
        failures: what came out otherwise than expected.
        broken: promises of the chart that the run broke, in words.
    """

    scenario: Scenario
    ticks: int
    failures: tuple[Failure, ...]
    broken: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether all came out as expected, and no promise was broken."""
        return not self.failures and not self.broken

    def data(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "scenario": self.scenario.name,
            "path": str(self.scenario.path) if self.scenario.path else None,
            "passed": self.passed,
            "ticks": self.ticks,
            "failures": [failure.data() for failure in self.failures],
            "broken": list(self.broken),
        }


def run_scenario(chart: Chart, scenario: Scenario | Path | str) -> ScenarioResult:
    """Run a scenario and compare what comes of it with what it expects.

    A tick that fails (a division by zero) is a failure of the scenario, and its last tick.

    Raises:
        DocumentError: the scenario cannot be read.
    """
    if not isinstance(scenario, Scenario):
        scenario = read_scenario(scenario, chart)
    return _Run(chart, scenario).result()


def run_scenarios(chart: Chart, scenarios: Iterable[Scenario | Path | str]) -> tuple[ScenarioResult, ...]:
    """Run scenarios, given or read from their files, and return what came of each."""
    return tuple(run_scenario(chart, scenario) for scenario in scenarios)


class _Run:
    def __init__(self, chart: Chart, scenario: Scenario) -> None:
        self.scenario = scenario
        self.rows = rows_of(scenario, chart)
        self.interpreter = Interpreter(chart)
        start = scenario.start
        self.state = self.interpreter.initial() if start is None else self.interpreter.entered(start)
        self.watch = _watch(chart, None if start is None else self.state)
        self.failures: list[Failure] = []
        self.broken: list[str] = []

    def result(self) -> ScenarioResult:
        """Run to the end, or to the tick that fails."""
        count = 0
        for count, row in enumerate(self.rows, start=1):
            try:
                self.take(row, count - 1)
            except PosewrightError as error:
                self.failures.append(Failure(row.line, count - 1, "tick", "no error", error.message))
                break
        return ScenarioResult(self.scenario, count, tuple(self.failures), tuple(self.broken))

    def take(self, row: Row, number: int) -> None:
        """Take one tick and note what is not as it should be."""
        after = self.interpreter.step(self.state, row.inputs)
        tick = Tick(row, self.state.state, after)
        self.state = after
        if len(self.failures) < MAX_FAILURES:
            self.failures += _failures(number, tick)
        if self.watch is not None:
            self.broken += [broken.message for broken in self.watch.see(row.inputs, after)]


def _watch(chart: Chart, start: Snapshot | None) -> Monitor | None:
    """Return who watches the promises of a chart, None where there are none."""
    if not chart.promises:
        return None
    from posewright.charts.machine import Monitor  # brings the whole exploration along

    return Monitor(chart, start)


def _failures(number: int, tick: Tick) -> Iterator[Failure]:
    for name, wanted in tick.differs.items():
        yield Failure(tick.row.line, number, name, wanted, _got(tick.after, name))


def _got(after: Snapshot, name: str) -> Value:
    if name in (INSIDE, OUTSIDE, NEXT):
        return JOINT.join(after.active) if name == OUTSIDE else after.state
    return after.registers[name]


def _shown(value: Value) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
