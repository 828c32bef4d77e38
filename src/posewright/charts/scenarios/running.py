"""Runs scenarios, and tells what came out otherwise than expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from posewright.charts.machine import STATE_SEPARATOR, Interpreter, Monitor, Snapshot
from posewright.charts.model import Chart
from posewright.charts.scenarios.rows import INSIDE, NEXT, OUTSIDE, Tick, run_rows
from posewright.charts.scenarios.scenario import Scenario, read_scenario, rows_of
from posewright.charts.types import Value
from posewright.display import Lines, build_line, style_level
from posewright.documents import PlainData
from posewright.errors import PosewrightError

MOST_TOLD = 5
"""So many failures of a scenario are told; more of them say no more."""

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

    def lines(self) -> Lines:
        """Yield whether it passed, and what first went wrong."""
        word = style_level("passed" if self.passed else "failed")
        yield build_line(word, f" {self.scenario.name} ({self.ticks} ticks)")
        for failure in self.failures[:MOST_TOLD]:
            yield f"    {self.scenario.path or ''}: {failure}"

    def data(self) -> dict[str, PlainData]:
        """Return the result as plain data."""
        return {
            "scenario": self.scenario.name,
            "path": str(self.scenario.path) if self.scenario.path else None,
            "passed": self.passed,
            "ticks": self.ticks,
            "failures": [asdict(failure) for failure in self.failures],
            "broken": list(self.broken),
        }


def run_scenarios(chart: Chart, scenarios: Iterable[Scenario | Path | str]) -> tuple[ScenarioResult, ...]:
    """Run scenarios, given or read from their files, and return what came of each."""
    return tuple(run_scenario(chart, scenario) for scenario in scenarios)


def run_scenario(chart: Chart, scenario: Scenario | Path | str) -> ScenarioResult:
    """Run a scenario and compare what comes of it with what it expects.

    A tick that fails (a division by zero) is a failure of the scenario, and its last tick.

    Raises:
        DocumentError: the scenario cannot be read.
    """
    if not isinstance(scenario, Scenario):
        scenario = read_scenario(scenario, chart)
    rows, monitor = rows_of(scenario, chart), _monitor(chart, scenario)
    failures, broken, count = list[Failure](), list[str](), 0
    try:
        for tick in run_rows(chart, rows):
            if len(failures) < MAX_FAILURES:
                failures += _failures(count, tick)
            if monitor is not None:
                broken += [one.message for one in monitor.check_tick(tick.inputs, tick.after)]
            count += 1
    except PosewrightError as error:
        failures.append(Failure(rows[count].line, count, "tick", "no error", error.message))
        count += 1
    return ScenarioResult(scenario, count, tuple(failures), tuple(broken))


def _monitor(chart: Chart, scenario: Scenario) -> Monitor | None:
    if not chart.promises:
        return None
    return Monitor(chart, None if scenario.start is None else Interpreter(chart).snapshot_in(scenario.start))


def _failures(number: int, tick: Tick) -> Iterator[Failure]:
    for name, wanted in tick.differs.items():
        yield Failure(tick.row.line, number, name, wanted, _got(tick.after, name))


def _got(after: Snapshot, name: str) -> Value:
    if name in (INSIDE, OUTSIDE, NEXT):
        return STATE_SEPARATOR.join(after.active) if name == OUTSIDE else after.state
    return after.registers[name]


def _shown(value: Value) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
