"""Coverage of charts: states, transitions, decisions, conditions, and MC/DC, over one or many runs."""

from __future__ import annotations

from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.covering import Cover, cover_chart
from posewright.charts.coverage.feasible import feasible, with_feasible
from posewright.charts.coverage.goal import Measure, goals_of
from posewright.charts.coverage.marks import marks
from posewright.charts.coverage.measuring import coverage_of
from posewright.charts.coverage.recording import CoverageRecorder, cover_run, cover_scenarios

__all__ = [
    "Cover",
    "Coverage",
    "CoverageRecorder",
    "Measure",
    "cover_chart",
    "cover_run",
    "cover_scenarios",
    "coverage_of",
    "feasible",
    "goals_of",
    "marks",
    "with_feasible",
]
