"""Runs of scenarios, compared with what the scenarios expect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from posewright.charts.machine import STATE_SEPARATOR, Interpreter, Monitor, Snapshot
from posewright.charts.model import Chart
from posewright.charts.scenarios.rows import INSIDE, NEXT, OUTSIDE, Tick, run_rows
from posewright.charts.scenarios.scenario import Scenario, read_scenario, rows_of
from posewright.charts.types import Value
from posewright.display import Lines, build_line, style_level
from posewright.documents import PlainData
from posewright.errors import PosewrightError

MAX_FAILURES_SHOWN = 5
"""Failures of a scenario that are shown on a terminal."""

MAX_FAILURES = 100
"""Failures of one scenario that are collected; those after the first seldom add anything."""


@dataclass(frozen=True)
class FailedExpectation:
    """An expectation that was not met.

    Attributes:
        line: the line of the step in the scenario.
        tick: counted from 0, as in `chart run`.
        name: the output or local; `in` or `not in` for states; `tick` if the tick itself failed.
        expected: the expected value.
        actual: the value in the run.
    """

    line: int | None
    tick: int
    name: str
    expected: Value
    actual: Value

    def __str__(self) -> str:
        """Return the difference as one line: `line 7, tick 3: expected motion = walk, got stand`."""
        line_text = f"line {self.line}, " if self.line is not None else ""
        if self.name in (INSIDE, OUTSIDE):
            subject = self.name
            actual = f"in {self.actual}"
        else:
            subject = f"{self.name} ="
            actual = _format_as_number(self.actual)
        expected = _format_as_number(self.expected)
        return f"{line_text}tick {self.tick}: expected {subject} {expected}, got {actual}"

    def data(self) -> dict[str, PlainData]:
        """Return the failure as plain data for JSON."""
        return {
            "line": self.line,
            "tick": self.tick,
            "what": self.name,
            "expected": self.expected,
            "got": self.actual,
        }


@dataclass(frozen=True)
class ScenarioResult:
    """The result of running a scenario.

    Attributes:
        ticks: number of ticks that were run.
        failures: expectations that were not met.
        broken_promises: messages about promises of the chart that the run broke.
    """

    scenario: Scenario
    ticks: int
    failures: tuple[FailedExpectation, ...]
    broken_promises: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every expectation was met and no promise was broken."""
        return not self.failures and not self.broken_promises

    def lines(self) -> Lines:
        """Yield the lines of the result for a terminal: whether it passed, and the first failures."""
        verdict = style_level("passed" if self.passed else "failed")
        yield build_line(verdict, f" {self.scenario.name} ({self.ticks} ticks)")
        for failure in self.failures[:MAX_FAILURES_SHOWN]:
            yield f"    {self.scenario.path or ''}: {failure}"

    def data(self) -> dict[str, PlainData]:
        """Return the result as plain data for JSON."""
        return {
            "scenario": self.scenario.name,
            "path": str(self.scenario.path) if self.scenario.path else None,
            "passed": self.passed,
            "ticks": self.ticks,
            "failures": [failure.data() for failure in self.failures],
            "broken": list(self.broken_promises),
        }


def run_scenarios(chart: Chart, scenarios: Iterable[Scenario | Path | str]) -> tuple[ScenarioResult, ...]:
    """Run scenarios, some of which may be paths of their files, and return the result of each."""
    return tuple(run_scenario(chart, scenario) for scenario in scenarios)


def run_scenario(chart: Chart, scenario: Scenario | Path | str) -> ScenarioResult:
    """Run a scenario and compare the run with what it expects.

    A tick that fails, such as by a division by zero, is a failure of the scenario, and its last tick.

    Raises:
        DocumentError: the scenario cannot be read.
    """
    if not isinstance(scenario, Scenario):
        scenario = read_scenario(scenario, chart)
    rows = rows_of(scenario, chart)
    monitor = _build_monitor(chart, scenario)
    failures: list[FailedExpectation] = []
    broken_promises: list[str] = []
    n_ticks = 0  # also the index of the tick that runs
    try:
        for tick in run_rows(chart, rows):
            if len(failures) < MAX_FAILURES:
                failures += _list_failures(n_ticks, tick)
            if monitor is not None:
                broken_promises += [broken.message for broken in monitor.check_tick(tick.inputs, tick.after)]
            n_ticks += 1
    except PosewrightError as error:
        failures.append(
            FailedExpectation(
                rows[n_ticks].line, tick=n_ticks, name="tick", expected="no error", actual=error.message
            )
        )
        n_ticks += 1
    return ScenarioResult(scenario, n_ticks, failures=tuple(failures), broken_promises=tuple(broken_promises))


def _build_monitor(chart: Chart, scenario: Scenario) -> Monitor | None:
    """Return a monitor of the chart's promises for a run of a scenario, None if there are none."""
    if not chart.promises:
        return None
    start = None if scenario.start is None else Interpreter(chart).snapshot_in(scenario.start)
    return Monitor(chart, start)


def _list_failures(tick_index: int, tick: Tick) -> Iterator[FailedExpectation]:
    """Yield the expectations that a tick does not meet; `tick_index` counts from 0."""
    for name, expected in tick.unmet_expectations.items():
        actual = _actual_value(tick.after, name)
        yield FailedExpectation(tick.row.line, tick_index, name, expected, actual)


def _actual_value(after: Snapshot, name: str) -> Value:
    """Return what an expectation is compared with: the active states, or the value of a variable."""
    if name == OUTSIDE:
        return STATE_SEPARATOR.join(after.active)
    if name in (INSIDE, NEXT):
        return after.state
    return after.registers[name]


def _format_as_number(value: Value) -> str:
    """Return a value as text, with Booleans as 0 and 1."""
    return str(int(value)) if isinstance(value, bool) else str(value)
