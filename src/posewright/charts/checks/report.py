"""Everything that is looked for, and what it comes to."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from time import thread_time

from posewright.charts.checks.arithmetic import ArithmeticFaults
from posewright.charts.checks.data_flow import Conflicts, DataFlow
from posewright.charts.checks.dead_logic import DeadTransitions, Unreachable
from posewright.charts.checks.declarations import CaseCollisions, FunctionTables, Unused
from posewright.charts.checks.finding import Finding, Level, Rule, not_proved
from posewright.charts.checks.gaps import Gaps, PointGaps
from posewright.charts.checks.inspection import Check, Inspection
from posewright.charts.checks.overlaps import Overlaps
from posewright.charts.checks.promises import Promised
from posewright.charts.checks.stuck import Deadlocks, Endless
from posewright.charts.model import Chart
from posewright.charts.proof import require_solver
from posewright.charts.reachability import USUAL, Limits
from posewright.display import Lines, build_line, style_level
from posewright.errors import InputError, MissingExtraError, Where

WITHIN_S = 20.0
"""Seconds that a check may take, unless somebody says otherwise."""

_ORDER = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}


CHECKS: tuple[type[Check], ...] = (
    Overlaps,
    Gaps,
    PointGaps,
    ArithmeticFaults,
    Unreachable,
    DeadTransitions,
    DataFlow,
    Conflicts,
    Deadlocks,
    Endless,
    Promised,
    FunctionTables,
    CaseCollisions,
    Unused,
)
"""All that is looked for; what is found equally bad in one line is told in this order."""


@dataclass(frozen=True, repr=False)
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

    def to_dict(self, witnesses: Mapping[int, Path] | None = None) -> dict[str, object]:
        """Return it fit for JSON; `witnesses` are files of inputs that show findings, by number from 0."""
        witnesses = witnesses or {}
        findings = [
            finding.data() | ({"witness": str(witnesses[number])} if number in witnesses else {})
            for number, finding in enumerate(self.findings)
        ]
        return {
            "chart": self.chart.name,
            "sound": self.sound,
            "proved": self.complete,
            "findings": findings,
        }

    def lines(self, witnesses: Mapping[int, Path] | None = None) -> Lines:
        """Yield the same for people."""
        for number, finding in enumerate(self.findings):
            place = f"{self.chart.path}:{finding.line}: " if finding.line else f"{self.chart.path}: "
            level = style_level(finding.level.value)
            yield build_line(place, level, f" {finding.rule.value}: ", finding.message)
            if witnesses and number in witnesses:
                yield f"    shown by {witnesses[number]}"
        verdict = f"sound, {'proved' if self.complete else 'as far as could be proved'}"
        states = self.chart.every_state
        transitions = sum(len(state.transitions) for state in states)
        counts = f"{len(states)} states, {transitions} transitions"
        yield f"{self.chart.name}: {counts}: {verdict if self.sound else 'refused'}"

    def __repr__(self) -> str:
        levels = Counter(finding.level.value for finding in self.findings)
        found = ", ".join(f"{count} {level}{'s' * (count > 1)}" for level, count in levels.items())
        explored = "everything explored" if self.complete else "not everything explored"
        return f"<Report of {self.chart.name!r}: {found or 'no findings'}, {explored}>"

    def __str__(self) -> str:
        lines = (
            f"{one.level.value} {one.rule.value}{f', line {one.line}' if one.line else ''}: {one.message}"
            for one in self.findings
        )
        return "\n".join([repr(self)[1:-1], *lines])

    def _repr_html_(self) -> str:
        rows = ["".join(f"<th>{name}</th>" for name in ("level", "rule", "line", "what was found"))]
        for one in self.findings:
            cells = (one.level.value, one.rule.value, str(one.line or ""), one.message)
            rows.append("".join(f"<td>{escape(cell)}</td>" for cell in cells))
        table = f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>" if self.findings else ""
        return f"<p>{escape(repr(self)[1:-1])}</p>{table}"


def inspect_chart(chart: Chart, *, limits: Limits = USUAL, within_s: float = WITHIN_S) -> Report:
    """Return what is wrong with a chart, and how much was looked at to say so.

    Every guard is asked about over the whole domain of the types it reads, by proof. What types alone do
    not settle, and everything that is about runs, is looked for in all states that the chart can come into,
    with all the inputs that make a difference there. Where either is too much, a note says `not_proved`.

    Args:
        chart: to be inspected.
        limits: how far what can happen is explored: counted, so that the same chart gets the same answer.
        within_s: time of the processor after which no more is looked at, whatever was counted [s].

    Raises:
        MissingExtraError: the solver is not installed.
    """
    require_solver("checking a chart")
    end = thread_time() + 0.9 * within_s  # what is under way then is brought to an end
    inspection = Inspection(chart, replace(limits, is_over=lambda: limits.is_over() or thread_time() > end))
    checks = [check(inspection) for check in CHECKS]
    for check in checks:
        check.ask()
    inspection.explore()
    for check in checks:
        check.watch()
    inspection.survey()
    found = [finding for check in checks for finding in check.findings()]
    if inspection.limits.is_over():  # one note says it for all
        found = [finding for finding in found if finding.rule is not Rule.NOT_PROVED]
    found += notes_on(inspection, within_s)
    return Report(
        chart,
        tuple(sorted(found, key=lambda one: (_ORDER[one.level], one.line or 0))),
        inspection.complete and all(finding.rule is not Rule.NOT_PROVED for finding in found),
        len(inspection.exploration.graph),
        sum(len(state.cases) for state in inspection.exploration.graph.distinct),
        inspection.solver.proved,
    )


def notes_on(inspection: Inspection, within_s: float) -> Iterator[Finding]:
    """Yield what has to be said of the inspection as a whole."""
    if inspection.limits.is_over():
        yield not_proved(f"not everything was proved within {within_s:g} s; give the check more time")
    elif not inspection.complete:
        yield not_proved(f"not everything that can happen was looked at: {inspection.why}")


def check_chart(chart: Chart, within_s: float = WITHIN_S) -> tuple[Finding, ...]:
    """Return what is wrong with a chart, errors first, each with a case and a run that shows it.

    As `inspect_chart`, without the numbers.

    Raises:
        MissingExtraError: the solver is not installed.
    """
    return inspect_chart(chart, within_s=within_s).findings


def require_sound(chart: Chart) -> None:
    """Refuse a chart that has an error; where no solver is installed to check it, warn of that.

    Raises:
        InputError: says the first error with the case that shows it.
    """
    try:
        findings = check_chart(chart)
    except MissingExtraError as error:
        warnings.warn(f"the chart {chart.name} is not checked: {error}", stacklevel=2)
        return
    errors = [finding for finding in findings if finding.level is Level.ERROR]
    if errors:
        more = f"; `posewright chart check` shows {len(errors) - 1} more" if len(errors) > 1 else ""
        first = errors[0]
        where = Where(chart.path, first.line) if chart.path or first.line else None
        raise InputError(f"the chart {chart.name} is refused: {first.message}{more}", where=where)
