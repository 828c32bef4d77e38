"""Files of charts: which form one is in, told by its ending or content; read and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import NoReturn

from posewright.charts.formats.native import parse_chart
from posewright.charts.formats.native_writing import save_chart
from posewright.charts.formats.scxml.reading import parse_scxml
from posewright.charts.formats.scxml.writing import save_scxml
from posewright.charts.formats.transition_tables import (
    is_transition_table,
    may_be_transition_table,
    parse_transition_table,
    save_transition_table,
)
from posewright.charts.formats.truth_tables import parse_table, table_to_chart
from posewright.charts.model import Chart
from posewright.documents import open_regular_file
from posewright.errors import DocumentError, InputError, Where


class ChartFormat(Enum):
    """What a chart may be kept in."""

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
"""Sizes that no chart written by a person, and no table of ours, comes near; a chart is read in a second."""


DOCUMENTS, TABLES = (".yaml", ".yml"), (".csv",)
"""Endings that say what a file is, whatever stands in it."""


def read_chart(path: Path | str) -> Chart:
    """Read a chart from a `*.chart.yaml`, from SCXML, or from the CSV of a truth or transition table.

    Raises:
        InputError: this is no path but the text of a chart.
        DocumentError: the file cannot be read, is too large, or is no chart.
        FormatError: it is a table or SCXML with something wrong in it.
        ExpressionError: a guard or an action does not parse or does not type.
        UnknownNameError: something that it names does not exist.
    """
    if isinstance(path, str) and ("\n" in path or path.lstrip().startswith(("chart:", "{", "<"))):
        hint = "call pw.chart(text), or parse_chart(text)"
        raise InputError("this is the text of a chart, not the path of one", hint=hint)
    path = Path(path)
    return parse_any_chart(_text_of(path), path)


def parse_any_chart(text: str, path: Path | None = None) -> Chart:
    """Return the chart in a text, perhaps of a file that was read already; as `read_chart`."""
    holder = detect_format(text, path)
    if len(text) > MAX_BYTES[holder]:
        _refuse_size(text, path, holder)
    if holder is ChartFormat.TRUTH_TABLE:
        return replace(table_to_chart(parse_table(text, path)), path=path)
    if holder is ChartFormat.TRANSITION_TABLE:
        return parse_transition_table(text, path)
    if holder is ChartFormat.SCXML:
        return parse_scxml(text, path)
    return parse_chart(text, path)


def detect_format(text: str, path: Path | None = None) -> ChartFormat:
    """Return what a text is: the ending of its file says, or else its first line."""
    ending = path.suffix.lower() if path is not None else ""
    if ending in DOCUMENTS:
        return ChartFormat.DOCUMENT
    if ending in TABLES and text.strip():
        return ChartFormat.TRANSITION_TABLE if may_be_transition_table(text) else ChartFormat.TRUTH_TABLE
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return ChartFormat.SCXML
    if is_transition_table(text):
        return ChartFormat.TRANSITION_TABLE
    return ChartFormat.TRUTH_TABLE if _is_table(text) else ChartFormat.DOCUMENT


def _is_table(text: str) -> bool:
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return "," in line and ":" not in line and "{" not in line
    return False


def _text_of(path: Path) -> str:
    largest = max(MAX_BYTES.values())
    try:
        with open_regular_file(path) as file:
            raw = file.read(largest + 1)
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path)) from error
    if len(raw) > largest:
        text = raw.decode("utf-8-sig", errors="replace")
        _refuse_size(text, path, detect_format(text, path))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = Where(path, line=raw.count(b"\n", 0, error.start) + 1)
        message = f"not a text file: the byte {raw[error.start]:#04x}"
        raise DocumentError(message, where=where, hint="a chart is UTF-8 YAML, CSV or SCXML") from error


def _refuse_size(text: str, path: Path | None, holder: ChartFormat) -> NoReturn:
    """Refuse a file; the line is the first one that is too much."""
    limit = MAX_BYTES[holder]
    line = text.count("\n", 0, limit) + 1
    message, hint = f"larger than {limit} bytes", f"no honest {holder.value} is"
    raise DocumentError(message, where=Where(path, line), hint=hint)


WRITERS: dict[str, Callable[[Chart, Path], None]] = {
    ".yaml": save_chart,
    ".yml": save_chart,
    ".scxml": save_scxml,
    ".xml": save_scxml,
    ".csv": save_transition_table,
}
"""What writes a file of each ending."""


def write_chart(chart: Chart, path: Path | str) -> None:
    """Write a chart as a native document (.yaml), as SCXML (.scxml), or as a transition table (.csv).

    Raises:
        InputError: another ending, or the form cannot say something that the chart has.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise InputError(f"cannot write a chart into {path}", hint="the name ends in .yaml, .scxml or .csv")
    WRITERS[path.suffix.lower()](chart, path)
