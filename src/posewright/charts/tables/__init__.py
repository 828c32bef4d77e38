"""Truth tables: of a chart and as a chart, minimised and written."""

from __future__ import annotations

from posewright.charts.tables.minimising import Method, best_order, minimise, minimised_chart
from posewright.charts.tables.tabulating import grouped, points, table_of, tabulate_chart

__all__ = [
    "Method",
    "best_order",
    "grouped",
    "minimise",
    "minimised_chart",
    "points",
    "table_of",
    "tabulate_chart",
]
