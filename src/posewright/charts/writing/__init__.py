"""Charts to native documents; over an existing document a person's comments and words survive."""

from posewright.charts.writing.chart_writing import chart_data, save_chart

__all__ = ["chart_data", "save_chart"]
