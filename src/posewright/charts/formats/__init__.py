"""Native charts, `*.chart.yaml`: read with the line of everything that is wrong."""

from __future__ import annotations

from posewright.charts.formats.csv_rows import sheet_rows
from posewright.charts.formats.entries import one_or_more, seconds_in, text_of, written
from posewright.charts.formats.files import MAX_BYTES, Holder, chart_in, holder_of, read_chart, write_chart
from posewright.charts.formats.native import CHART_KEYS, STATE_KEYS, TRANSITION_KEYS, parse_chart
from posewright.charts.formats.native_writing import chart_data, few, save_chart, without_gaps
from posewright.charts.formats.scxml.expressions import python_assigned, python_guard
from posewright.charts.formats.scxml.reading import parse_scxml
from posewright.charts.formats.scxml.writing import beyond_scxml, save_scxml, scxml_text, tick_of
from posewright.charts.formats.transition_tables import (
    is_transition_table,
    parse_transition_table,
    save_transition_table,
    transition_table_text,
)
from posewright.charts.formats.truth_tables import (
    Cube,
    TableRow,
    TruthTable,
    chart_of,
    cube_text,
    guard_cube,
    parse_table,
    save_table,
)

__all__ = [
    "CHART_KEYS",
    "MAX_BYTES",
    "STATE_KEYS",
    "TRANSITION_KEYS",
    "Cube",
    "Holder",
    "TableRow",
    "TruthTable",
    "beyond_scxml",
    "chart_data",
    "chart_in",
    "chart_of",
    "cube_text",
    "few",
    "guard_cube",
    "holder_of",
    "is_transition_table",
    "one_or_more",
    "parse_chart",
    "parse_scxml",
    "parse_table",
    "parse_transition_table",
    "python_assigned",
    "python_guard",
    "read_chart",
    "save_chart",
    "save_scxml",
    "save_table",
    "save_transition_table",
    "scxml_text",
    "seconds_in",
    "sheet_rows",
    "text_of",
    "tick_of",
    "transition_table_text",
    "without_gaps",
    "write_chart",
    "written",
]
