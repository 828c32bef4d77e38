"""Everything that is looked for, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from posewright.charts.checks.arithmetic import ArithmeticFaults
from posewright.charts.checks.data_flow import Conflicts, DataFlow
from posewright.charts.checks.dead_logic import DeadTransitions, Unreachable
from posewright.charts.checks.declarations import CaseCollisions, FunctionTables, Unmentioned, Unused
from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.gaps import Gaps, PointGaps
from posewright.charts.checks.inspection import Inspection, not_proved, why
from posewright.charts.checks.overlaps import Overlaps
from posewright.charts.checks.promises import Promised
from posewright.charts.checks.stuck import Deadlocks, Endless
from posewright.charts.model import Chart
from posewright.charts.reachability import USUAL, Limits
from posewright.errors import InputError, Where

_ORDER = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}


class Check(Protocol):
    """One family of rules: made before the explored ticks are looked at, and asked after it."""

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        ...


@dataclass(frozen=True)
class Report:
    """What an inspection came to.

    Attributes:
        findings: errors first.
        complete: whether everything that can happen was explored, and nothing was left undecided.
        states: states of the chart's registers and activity that were reached.
        cases: ways in which a tick can go, over all of them.
        proved: questions that were decided over the whole domain of what they read.
    """

    chart: Chart
    findings: tuple[Finding, ...]
    complete: bool
    states: int
    cases: int
    proved: int

    @property
    def sound(self) -> bool:
        """Whether there is no error."""
        return all(finding.level is not Level.ERROR for finding in self.findings)


def inspect_chart(chart: Chart, *, limits: Limits = USUAL) -> Report:
    """Return what is wrong with a chart, and how much was looked at to say so.

    Every guard is asked about over the whole domain of the types it reads, by proof. What types alone do
    not settle, and everything that is about runs, is looked for in all states that the chart can come into,
    with all the inputs that make a difference there. Where either is too much, a note says `not_proved`.

    Args:
        chart: to be inspected.
        limits: how far what can happen is explored.
    """
    inspection = Inspection(chart, limits)
    checks: list[Check] = [make(inspection) for make in (Overlaps, Gaps, PointGaps, ArithmeticFaults)]
    checks += [
        make(inspection) for make in (Unreachable, DeadTransitions, DataFlow, Conflicts, Deadlocks, Endless)
    ]
    checks += [make(inspection) for make in (Promised, FunctionTables, CaseCollisions, Unused, Unmentioned)]
    inspection.survey()
    found = [finding for check in checks for finding in check.findings()]
    if inspection.solver.missing:  # one note says it for all
        found = [finding for finding in found if finding.rule is not Rule.NOT_PROVED]
    found += notes(inspection)
    return Report(
        chart,
        tuple(sorted(found, key=lambda one: (_ORDER[one.level], one.line or 0))),
        inspection.complete and all(finding.rule is not Rule.NOT_PROVED for finding in found),
        len(inspection.journeys.walk.places),
        sum(len(situation.cases) for situation in inspection.journeys.situations),
        inspection.solver.proved,
    )


def notes(inspection: Inspection) -> Iterator[Finding]:
    """Yield what has to be said of the inspection as a whole."""
    if inspection.solver.missing:
        yield not_proved(f"not everything was proved: {inspection.solver.missing}")
    if not inspection.complete:
        yield not_proved(f"not everything that can happen was looked at: {why(inspection)}")


def check_chart(chart: Chart) -> tuple[Finding, ...]:
    """Return what is wrong with a chart, errors first, each with a case and a run that shows it.

    As `inspect_chart`, without the numbers.
    """
    return inspect_chart(chart).findings


def require_sound(chart: Chart) -> None:
    """Refuse a chart that has an error.

    Raises:
        InputError: says the first error with the case that shows it.
    """
    errors = [finding for finding in check_chart(chart) if finding.level is Level.ERROR]
    if errors:
        more = f"; `posewright chart check` shows {len(errors) - 1} more" if len(errors) > 1 else ""
        first = errors[0]
        where = Where(chart.path, first.line) if chart.path or first.line else None
        raise InputError(f"the chart {chart.name} is refused: {first.message}{more}", where=where)
