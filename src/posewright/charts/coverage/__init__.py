"""Coverage of charts: states, transitions, decisions, conditions, and MC/DC, over one or many runs."""

from __future__ import annotations

from posewright.charts.coverage.coverage import Coverage, coverage_marks
from posewright.charts.coverage.feasibility import compute_feasible_coverage, coverage_of, exclude_infeasible
from posewright.charts.coverage.obligation import Measure
from posewright.charts.coverage.recorder import CoverageRecorder, cover_run
from posewright.charts.coverage.scenario_generation import Cover, cover_chart

__all__ = [
    "Cover",
    "Coverage",
    "CoverageRecorder",
    "Measure",
    "compute_feasible_coverage",
    "cover_chart",
    "cover_run",
    "coverage_marks",
    "coverage_of",
    "exclude_infeasible",
]
