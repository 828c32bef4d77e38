"""The report of all checks of a chart."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from time import thread_time

from posewright.charts.checks.analysis import ChartAnalysis, Check
from posewright.charts.checks.arithmetic import ArithmeticFaults
from posewright.charts.checks.data_flow import UnwrittenReads, WriteConflicts
from posewright.charts.checks.dead_logic import DeadTransitions, UnreachableStates
from posewright.charts.checks.deadlocks import Deadlocks, EndlessTicks
from posewright.charts.checks.declarations import CaseCollisions, FunctionTables, UnusedDeclarations
from posewright.charts.checks.finding import Finding, Level, Rule, not_proved
from posewright.charts.checks.guard_gaps import GuardGaps, SingleCaseGaps
from posewright.charts.checks.overlaps import GuardOverlaps
from posewright.charts.checks.promises import BrokenPromises
from posewright.charts.model import Chart
from posewright.charts.proof import require_solver
from posewright.charts.reachability import DEFAULT_LIMITS, ExplorationLimits
from posewright.display import Lines, build_line, style_level
from posewright.errors import InputError, MissingExtraError, Where

TIME_LIMIT_S = 20.0
"""Default time limit of a check [s]."""

NEW_QUESTION_SHARE = 0.9
"""Share of the time limit in which questions may begin; what remains is for those that have begun."""

_WORDS_OF_SCXML = {
    "set `final: true`": "make it a <final>",
    "write `when: true`": "leave `cond` out",
    "set `otherwise: stay`": 'set pw:otherwise="stay" on <scxml>',
    "set `priority: ordered`": 'set pw:priority="ordered" on <scxml>',
}
_WORDS_OF_FORMS = {
    ".scxml": _WORDS_OF_SCXML,
    ".xml": _WORDS_OF_SCXML,
    ".csv": {
        "set `final: true`": "write true in the column `final`",
        "write `when: true`": "leave the cell `when` empty",
        "set `otherwise: stay`": "write `# otherwise: stay` above the header",
        "set `priority: ordered`": "write `# priority: ordered` above the header",
    },
}
"""Advice of the checks for native documents, and the same for charts in other files, by their suffix."""

_LEVEL_ORDER = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}


CHECKS: tuple[type[Check], ...] = (
    GuardOverlaps,
    GuardGaps,
    SingleCaseGaps,
    ArithmeticFaults,
    UnreachableStates,
    DeadTransitions,
    UnwrittenReads,
    WriteConflicts,
    Deadlocks,
    EndlessTicks,
    BrokenPromises,
    FunctionTables,
    CaseCollisions,
    UnusedDeclarations,
)
"""All checks. Findings of the same level and line are reported in this order."""


@dataclass(frozen=True, repr=False)
class Report:
    """The result of checking a chart.

    Attributes:
        findings: errors first.
        complete: whether everything that can happen was explored and every question was decided.
        states: number of states that were reached, with distinct registers.
        cases: number of distinct ticks from all of them.
        proved: number of questions that were decided over the whole domain of the names they read.
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
        """Return the report as plain data for JSON.

        Args:
            witnesses: files of input rows that show a finding, by its index.
        """
        findings = []
        for index, finding in enumerate(self.findings):
            finding_data = finding.data()
            if witnesses and index in witnesses:
                finding_data["witness"] = str(witnesses[index])
            findings.append(finding_data)
        return {
            "chart": self.chart.name,
            "sound": self.sound,
            "proved": self.complete,
            "findings": findings,
        }

    def lines(self, witnesses: Mapping[int, Path] | None = None) -> Lines:
        """Yield the lines of the report for a terminal: the findings, then the verdict on the chart.

        Args:
            witnesses: files of input rows that show a finding, by its index.
        """
        for index, finding in enumerate(self.findings):
            location = f"{self.chart.path}:{finding.line}: " if finding.line else f"{self.chart.path}: "
            level = style_level(finding.level.value)
            yield build_line(location, level, f" {finding.rule.value}: ", finding.message)
            if witnesses and index in witnesses:
                yield f"    shown by {witnesses[index]}"
        states = self.chart.every_state
        n_transitions = sum(len(state.transitions) for state in states)
        if self.sound:
            verdict = f"sound, {'proved' if self.complete else 'as far as could be proved'}"
        else:
            verdict = "has errors"
        yield f"{self.chart.name}: {len(states)} states, {n_transitions} transitions: {verdict}"

    def __repr__(self) -> str:
        levels = Counter(finding.level.value for finding in self.findings)
        counts = ", ".join(f"{count} {level}{'s' * (count > 1)}" for level, count in levels.items())
        explored = "everything explored" if self.complete else "not everything explored"
        return f"<Report of {self.chart.name!r}: {counts or 'no findings'}, {explored}>"

    def __str__(self) -> str:
        lines = [repr(self)[1:-1]]
        for finding in self.findings:
            line = f", line {finding.line}" if finding.line else ""
            lines.append(f"{finding.level.value} {finding.rule.value}{line}: {finding.message}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the report as a table, for notebooks."""
        summary = f"<p>{escape(repr(self)[1:-1])}</p>"
        if not self.findings:
            return summary
        header = "".join(f"<th>{name}</th>" for name in ("level", "rule", "line", "finding"))
        rows = [header]
        for finding in self.findings:
            cells = (finding.level.value, finding.rule.value, str(finding.line or ""), finding.message)
            rows.append("".join(f"<td>{escape(cell)}</td>" for cell in cells))
        return f"{summary}<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def inspect_chart(
    chart: Chart, *, limits: ExplorationLimits = DEFAULT_LIMITS, within_s: float = TIME_LIMIT_S
) -> Report:
    """Check a chart and report what is wrong with it and how much was proved.

    Guards are decided over the whole domain of the types they read, by proof. What types alone do not decide,
    and everything about runs, is searched for in all reachable states, with all inputs that make a difference
    there. If either takes too long, a note reports `not_proved`.

    Args:
        chart: the chart to be checked.
        limits: the limits of the exploration, counted in states and steps: every machine reports the same.
        within_s: processor time after which the check stops [s].

    Raises:
        MissingExtraError: the solver is not installed.
    """
    require_solver("checking a chart")
    end_s = thread_time() + NEW_QUESTION_SHARE * within_s

    def is_time_over() -> bool:
        return limits.is_time_over() or thread_time() > end_s

    analysis = ChartAnalysis(chart, replace(limits, is_time_over=is_time_over))
    checks = [check(analysis) for check in CHECKS]
    for check in checks:
        check.prepare()
    analysis.explore()
    for check in checks:
        check.plan_scan()
    analysis.scan()
    findings = [finding for check in checks for finding in check.findings()]
    if analysis.limits.is_time_over():  # a single note covers all that is undecided
        findings = [finding for finding in findings if finding.rule is not Rule.NOT_PROVED]
    findings += _incompleteness_notes(analysis, within_s)
    findings.sort(key=lambda finding: (_LEVEL_ORDER[finding.level], finding.line or 0))
    return Report(
        chart,
        tuple(_in_words_of_form(finding, chart.path) for finding in findings),
        complete=analysis.has_scanned_all_ticks
        and all(finding.rule is not Rule.NOT_PROVED for finding in findings),
        states=len(analysis.exploration.graph),
        cases=sum(len(state.steps) for state in analysis.exploration.graph.distinct_abstract_states),
        proved=analysis.solver.n_decided_questions,
    )


def _in_words_of_form(finding: Finding, path: Path | None) -> Finding:
    """Return a finding whose advice is in the words of the chart's file, which may be SCXML or a table."""
    suffix = "" if path is None else path.suffix.lower()
    message = finding.message
    for native_words, words in _WORDS_OF_FORMS.get(suffix, {}).items():
        message = message.replace(native_words, words)
    return finding if message == finding.message else replace(finding, message=message)


def _incompleteness_notes(analysis: ChartAnalysis, time_limit_s: float) -> Iterator[Finding]:
    """Yield a note if the analysis as a whole is not complete."""
    if analysis.limits.is_time_over():
        yield not_proved(f"not everything was proved within {time_limit_s:g} s; give the check more time")
    elif not analysis.has_scanned_all_ticks:
        yield not_proved(f"not all runs were explored: {analysis.incomplete_reason}")


def check_chart(chart: Chart, within_s: float = TIME_LIMIT_S) -> tuple[Finding, ...]:
    """Return the findings of `inspect_chart`: errors first, each with a case and a run that shows it.

    Raises:
        MissingExtraError: the solver is not installed.
    """
    return inspect_chart(chart, within_s=within_s).findings


def require_sound(chart: Chart) -> None:
    """Raise an error unless a chart is free of errors; warn if no solver is installed to check it.

    Raises:
        InputError: the chart has an error; the message is that of the first one, with the case that shows it.
    """
    try:
        findings = check_chart(chart)
    except MissingExtraError as error:
        warnings.warn(f"chart {chart.name} is not checked: {error}", stacklevel=2)
        return
    errors = [finding for finding in findings if finding.level is Level.ERROR]
    if not errors:
        return
    first_error, *further_errors = errors
    hint = f"; `posewright chart check` shows {len(further_errors)} more" if further_errors else ""
    where = Where(chart.path, first_error.line) if chart.path or first_error.line else None
    raise InputError(f"chart {chart.name} has errors: {first_error.message}{hint}", where=where)
