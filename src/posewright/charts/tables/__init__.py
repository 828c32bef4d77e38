"""Tabulation of charts as truth tables, and their minimisation."""

from __future__ import annotations

from posewright.charts.tables.minimisation import Method, best_order, minimise, minimised_chart
from posewright.charts.tables.tabulation import grouped, points, table_of, tabulate_chart

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
