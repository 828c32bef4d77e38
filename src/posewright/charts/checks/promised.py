"""Promises that a run breaks."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.inspection import Inspection
from posewright.charts.checks.promise_result import CheckStatus, PromiseResult
from posewright.charts.checks.proving import check_promises
from posewright.charts.checks.undecided import not_proved


class Promised:
    """Looks for runs that break a promise of the chart; of one that is proved there is nothing to say."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        if not self.inspection.chart.promises:
            return
        for result in check_promises(self.inspection.exploration):
            if result.verdict is CheckStatus.BROKEN:
                yield self.broken(result)
            elif result.verdict is CheckStatus.BOUNDED:
                yield not_proved(result.message, None, result.promise.line)

    def broken(self, result: PromiseResult) -> Finding:
        """Return what to say of a broken promise."""
        name, read = result.promise.name, set(result.promise.when.names)
        if result.promise.goal is not None:
            read |= result.promise.goal.names
        _, tick = self.inspection.last_tick(result.trace)
        place = self.inspection.one_of(result.state)
        case = self.inspection.counterexample(place, result.trace[-1], tick.env, read)
        told = name.startswith(f"{result.promise.vow.value} ") or name in result.message
        message = result.message if told else f"{name}: {result.message}"
        line = result.promise.line
        return Finding(Level.ERROR, Rule.PROMISE, message, place, case, line, result.trace)
