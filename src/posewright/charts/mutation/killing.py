"""Scenarios made ready to be run again and again, on one mutant after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from posewright.charts.machine import Interpreter, Tick
from posewright.charts.model import Chart
from posewright.charts.scenarios import Given, Scenario, fits, given, rows_of
from posewright.charts.types import Value
from posewright.errors import InputError, PosewrightError

Expected = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Trial:
    """A scenario, tick by tick."""

    name: str
    start: str | None
    ticks: tuple[tuple[Given, Expected], ...]

    def fails(self, interpreter: Interpreter) -> bool:
        """Return whether a chart does something else than the scenario expects."""
        state = interpreter.initial() if self.start is None else interpreter.entered(self.start)
        for row, expected in self.ticks:
            try:
                state = Tick(interpreter.machine, state).run(*row)
            except PosewrightError:
                return True
            for name, wanted in expected:
                if not fits(state, name, wanted):
                    return True
        return False


def trial_of(chart: Chart, scenario: Scenario) -> Trial:
    """Return a scenario made ready."""
    rows = rows_of(scenario, chart)
    ticks = tuple((given(chart, row.inputs), tuple(row.expected.items())) for row in rows)
    return Trial(scenario.name, rows[0].start if rows else None, ticks)


def trials_of(chart: Chart, scenarios: Iterable[Scenario]) -> tuple[Trial, ...]:
    """Return scenarios made ready.

    Raises:
        InputError: the chart itself fails one of them.
    """
    trials = tuple(trial_of(chart, scenario) for scenario in scenarios)
    interpreter = Interpreter(chart)
    for trial in trials:
        if trial.fails(interpreter):
            message = f"{chart.name} itself fails the scenario {trial.name!r}"
            raise InputError(message, hint="see `chart test`: what fails anyway tells no fault")
    return trials
