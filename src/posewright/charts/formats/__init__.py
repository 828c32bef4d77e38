"""Native charts, `*.chart.yaml`: read with the line of everything that is wrong."""

from __future__ import annotations

from posewright.charts.formats.chart_reading import CHART_KEYS, parse_chart
from posewright.charts.formats.chart_writing import chart_data, save_chart
from posewright.charts.formats.door import MAX_BYTES, Holder, chart_in, holder_of, read_chart
from posewright.charts.formats.exchange import write_chart
from posewright.charts.formats.fields import LONGEST_S, one_or_more, text_of, written
from posewright.charts.formats.scxml.beyond import beyond_scxml
from posewright.charts.formats.scxml.python_text import python_assigned, python_guard
from posewright.charts.formats.scxml.reading import parse_scxml
from posewright.charts.formats.scxml.writing import save_scxml, scxml_text, tick_of
from posewright.charts.formats.sheet_rows import sheet_rows
from posewright.charts.formats.state_reading import STATE_KEYS
from posewright.charts.formats.table_reading import parse_table
from posewright.charts.formats.transition_reading import TRANSITION_KEYS
from posewright.charts.formats.transition_table import is_transition_table
from posewright.charts.formats.transition_table_reading import parse_transition_table
from posewright.charts.formats.transition_table_writing import save_transition_table, transition_table_text

__all__ = [
    "CHART_KEYS",
    "LONGEST_S",
    "MAX_BYTES",
    "STATE_KEYS",
    "TRANSITION_KEYS",
    "Holder",
    "beyond_scxml",
    "chart_data",
    "chart_in",
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
    "save_transition_table",
    "scxml_text",
    "sheet_rows",
    "text_of",
    "tick_of",
    "transition_table_text",
    "write_chart",
    "written",
]
