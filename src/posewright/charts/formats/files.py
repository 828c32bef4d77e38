"""Reading and writing of chart files, whose format follows from their suffix or content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import NoReturn

from posewright.charts.formats.native_reader import parse_chart
from posewright.charts.formats.native_writer import save_chart
from posewright.charts.formats.scxml.partial import PartialChart, parse_scxml_partially
from posewright.charts.formats.scxml.reader import parse_scxml
from posewright.charts.formats.scxml.writer import save_scxml
from posewright.charts.formats.transition_tables import (
    is_transition_table,
    may_be_transition_table,
    parse_transition_table,
    save_transition_table,
)
from posewright.charts.formats.truth_tables import parse_table, table_to_chart
from posewright.charts.model import Chart
from posewright.documents import open_regular_file, require_ending
from posewright.errors import DocumentError, InputError, Where


class ChartFormat(Enum):
    """The formats of chart files."""

    DOCUMENT = "chart"
    TRUTH_TABLE = "truth table"
    TRANSITION_TABLE = "state-transition table"
    SCXML = "SCXML document"


MAX_BYTES = {
    ChartFormat.DOCUMENT: 120_000,
    ChartFormat.TRUTH_TABLE: 2_000_000,
    ChartFormat.TRANSITION_TABLE: 120_000,
    ChartFormat.SCXML: 250_000,
}
"""Sizes far above those of real charts; a chart of this size is read in a second."""


DOCUMENT_SUFFIXES = (".yaml", ".yml")
TABLE_SUFFIXES = (".csv",)
"""Suffixes that decide the format, regardless of the content."""


def read_chart(path: Path | str) -> Chart:
    """Read a chart from a `*.chart.yaml`, from SCXML, or from the CSV of a truth or transition table.

    Raises:
        InputError: `path` is the text of a chart.
        DocumentError: the file cannot be read, is too large, or is not a valid chart.
        FormatError: it is an invalid table or SCXML document.
        ExpressionError: a guard or an action does not parse or type check.
        UnknownNameError: a name in it does not exist.
    """
    if isinstance(path, str) and ("\n" in path or path.lstrip().startswith(("chart:", "{", "<"))):
        hint = "call pw.chart(text), or parse_chart(text)"
        raise InputError("this is the text of a chart, not the path of one", hint=hint)
    path = Path(path)
    return parse_any_chart(_read_chart_text(path), path)


def parse_any_chart(text: str, path: Path | None = None) -> Chart:
    """Return the chart in a text of any format.

    Args:
        text: the chart.
        path: the file it was read from, for the format, messages, and tables beside it.

    Raises:
        InputError: the text is too large, or is not a valid chart in its format.
    """
    chart_format = detect_format(text, path)
    if len(text) > MAX_BYTES[chart_format]:
        _fail_too_large(text, path, chart_format)
    if chart_format is ChartFormat.TRUTH_TABLE:
        return replace(table_to_chart(parse_table(text, path)), path=path)
    if chart_format is ChartFormat.TRANSITION_TABLE:
        return parse_transition_table(text, path)
    if chart_format is ChartFormat.SCXML:
        return parse_scxml(text, path)
    return parse_chart(text, path)


def detect_format(text: str, path: Path | None = None) -> ChartFormat:
    """Return the format of a text, from the suffix of its file or from its first line."""
    suffix = path.suffix.lower() if path is not None else ""
    if suffix in DOCUMENT_SUFFIXES:
        return ChartFormat.DOCUMENT
    if suffix in TABLE_SUFFIXES and text.strip():
        return ChartFormat.TRANSITION_TABLE if may_be_transition_table(text) else ChartFormat.TRUTH_TABLE
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return ChartFormat.SCXML
    if is_transition_table(text):
        return ChartFormat.TRANSITION_TABLE
    return ChartFormat.TRUTH_TABLE if _is_truth_table(text) else ChartFormat.DOCUMENT


def _is_truth_table(text: str) -> bool:
    """Return whether the first line that is not a comment looks like the header of a CSV file."""
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return "," in line and ":" not in line and "{" not in line
    return False


def read_scxml_partially(path: Path | str) -> PartialChart:
    """Read what is supported of an SCXML document, and list the rest.

    Raises:
        DocumentError: the file cannot be read or is too large.
        FormatError: it is not SCXML, or nothing readable is left.
        InputError: the rest is no chart.
    """
    path = Path(path)
    text = _read_chart_text(path)
    if len(text) > MAX_BYTES[ChartFormat.SCXML]:
        _fail_too_large(text, path, ChartFormat.SCXML)
    return parse_scxml_partially(text, path)


def _read_chart_text(path: Path) -> str:
    """Return the text of a chart's file; raise a DocumentError if it cannot be read or is too large."""
    max_bytes = max(MAX_BYTES.values())
    try:
        with open_regular_file(path) as file:
            content = file.read(max_bytes + 1)
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path)) from error
    if len(content) > max_bytes:  # no format allows this; the message names the limit of the likely one
        text = content.decode("utf-8-sig", errors="replace")
        _fail_too_large(text, path, detect_format(text, path))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = Where(path, line=content.count(b"\n", 0, error.start) + 1)
        message = f"not a text file: the byte {content[error.start]:#04x}"
        raise DocumentError(message, where=where, hint="a chart is UTF-8 YAML, CSV or SCXML") from error


def _fail_too_large(text: str, path: Path | None, chart_format: ChartFormat) -> NoReturn:
    """Raise a DocumentError at the first line beyond the maximal size."""
    limit = MAX_BYTES[chart_format]
    line = text.count("\n", 0, limit) + 1
    hint = f"real {chart_format.value}s are much smaller"
    raise DocumentError(f"larger than {limit} bytes", where=Where(path, line), hint=hint)


WRITERS: dict[str, Callable[[Chart, Path], None]] = {
    ".yaml": save_chart,
    ".yml": save_chart,
    ".scxml": save_scxml,
    ".xml": save_scxml,
    ".csv": save_transition_table,
}
"""The function that writes a file of each suffix."""


def write_chart(chart: Chart, path: Path | str) -> None:
    """Write a chart as a native document (.yaml), as SCXML (.scxml), or as a transition table (.csv).

    Raises:
        InputError: the suffix is another one, or the format cannot represent the chart.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    require_ending(path, WRITERS, "a chart")
    WRITERS[path.suffix.lower()](chart, path)
