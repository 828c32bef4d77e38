"""The checks of a chart, a family of rules a file: each finding comes with a case and a run that shows it."""

from posewright.charts.checks.report import Report, check_chart, inspect_chart, require_sound

__all__ = ["Report", "check_chart", "inspect_chart", "require_sound"]
