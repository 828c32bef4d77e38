"""Coverage of charts: states, transitions, decisions, conditions, and MC/DC, over one or many runs."""

from posewright.charts.coverage.coverage import Coverage, CoverageRow
from posewright.charts.coverage.covering import Cover, cover_chart
from posewright.charts.coverage.decision import Decision
from posewright.charts.coverage.feasible import Feasible, feasible, with_feasible
from posewright.charts.coverage.goal import Goal, Goals, Measure, goals_of, way_name
from posewright.charts.coverage.marks import marks
from posewright.charts.coverage.measuring import coverage_of
from posewright.charts.coverage.recording import Recorder, cover_run, cover_scenarios

__all__ = [
    "Cover",
    "Coverage",
    "CoverageRow",
    "Decision",
    "Feasible",
    "Goal",
    "Goals",
    "Measure",
    "Recorder",
    "cover_chart",
    "cover_run",
    "cover_scenarios",
    "coverage_of",
    "feasible",
    "goals_of",
    "marks",
    "way_name",
    "with_feasible",
]
