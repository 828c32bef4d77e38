"""Native charts, `*.chart.yaml`: read with the line of everything that is wrong."""

from posewright.charts.reading.chart_reading import parse_chart

__all__ = ["parse_chart"]
