"""File formats of charts: native documents, truth tables, state-transition tables, SCXML."""

from __future__ import annotations

from posewright.charts.formats.csv_rows import read_csv_rows
from posewright.charts.formats.document_fields import (
    expression_text,
    one_or_more,
    optional_text,
    read_seconds,
)
from posewright.charts.formats.files import (
    MAX_BYTES,
    ChartFormat,
    detect_format,
    parse_any_chart,
    read_chart,
    read_scxml_partially,
    write_chart,
)
from posewright.charts.formats.native_reader import CHART_KEYS, STATE_KEYS, TRANSITION_KEYS, parse_chart
from posewright.charts.formats.native_writer import chart_data, save_chart, single_or_list, without_empty
from posewright.charts.formats.scxml.expressions import python_guard, python_value_text
from posewright.charts.formats.scxml.reader import parse_scxml
from posewright.charts.formats.scxml.writer import beyond_scxml, save_scxml, scxml_text, tick_event
from posewright.charts.formats.transition_tables import (
    is_transition_table,
    parse_transition_table,
    save_transition_table,
    transition_table_text,
)
from posewright.charts.formats.truth_tables import (
    Cube,
    RowEffect,
    TruthTable,
    TruthTableRow,
    cube_text,
    guard_cube,
    parse_table,
    save_table,
    table_to_chart,
)

__all__ = [
    "CHART_KEYS",
    "MAX_BYTES",
    "STATE_KEYS",
    "TRANSITION_KEYS",
    "ChartFormat",
    "Cube",
    "RowEffect",
    "TruthTable",
    "TruthTableRow",
    "beyond_scxml",
    "chart_data",
    "cube_text",
    "detect_format",
    "expression_text",
    "guard_cube",
    "is_transition_table",
    "one_or_more",
    "optional_text",
    "parse_any_chart",
    "parse_chart",
    "parse_scxml",
    "parse_table",
    "parse_transition_table",
    "python_guard",
    "python_value_text",
    "read_chart",
    "read_csv_rows",
    "read_scxml_partially",
    "read_seconds",
    "save_chart",
    "save_scxml",
    "save_table",
    "save_transition_table",
    "scxml_text",
    "single_or_list",
    "table_to_chart",
    "tick_event",
    "transition_table_text",
    "without_empty",
    "write_chart",
]
