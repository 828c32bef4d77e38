"""Truth tables: of a chart and as a chart, minimised and written."""

from __future__ import annotations

from posewright.charts.tables.cubes import Cube, covers, cube_text, guard_cube, points
from posewright.charts.tables.minimising import Method, best_order, minimise, minimised_chart
from posewright.charts.tables.truth_table import (
    TableRow,
    TruthTable,
    chart_of,
    grouped,
    save_table,
    table_of,
    tabulate_chart,
)

__all__ = [
    "Cube",
    "Method",
    "TableRow",
    "TruthTable",
    "best_order",
    "chart_of",
    "covers",
    "cube_text",
    "grouped",
    "guard_cube",
    "minimise",
    "minimised_chart",
    "points",
    "save_table",
    "table_of",
    "tabulate_chart",
]
