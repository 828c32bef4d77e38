"""Coverage of charts: states, transitions, decisions, conditions, and MC/DC, over one or many runs."""

from __future__ import annotations

from posewright.charts.coverage.coverage import Coverage, marks
from posewright.charts.coverage.covering import Cover, cover_chart
from posewright.charts.coverage.feasible import coverage_of, feasible, with_feasible
from posewright.charts.coverage.obligation import Measure
from posewright.charts.coverage.recording import CoverageRecorder, cover_run

__all__ = [
    "Cover",
    "Coverage",
    "CoverageRecorder",
    "Measure",
    "cover_chart",
    "cover_run",
    "coverage_of",
    "feasible",
    "marks",
    "with_feasible",
]
