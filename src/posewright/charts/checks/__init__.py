"""Checks of a chart: one family of rules a file; findings come with a case and a run that shows it."""

from __future__ import annotations

from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule
from posewright.charts.checks.guard_gaps import find_change_points
from posewright.charts.checks.promises import CheckStatus, PromiseResult, check_promises, prove_promises
from posewright.charts.checks.report import Report, check_chart, inspect_chart, require_sound

__all__ = [
    "CheckStatus",
    "Counterexample",
    "Finding",
    "Level",
    "PromiseResult",
    "Report",
    "Rule",
    "check_chart",
    "check_promises",
    "find_change_points",
    "inspect_chart",
    "prove_promises",
    "require_sound",
]
