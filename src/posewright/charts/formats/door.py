"""Reads whatever holds a chart: a native document, a table or SCXML, told apart by ending or content."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import NoReturn

from posewright.charts.formats.chart_reading import parse_chart
from posewright.charts.formats.transition_table import is_transition_table, may_be_transition_table
from posewright.charts.model import Chart
from posewright.documents import open_ordinary
from posewright.errors import DocumentError, InputError, Where


class Holder(Enum):
    """What a chart may be kept in."""

    DOCUMENT = "chart"
    TRUTH_TABLE = "truth table"
    TRANSITION_TABLE = "state-transition table"
    SCXML = "SCXML document"


MAX_BYTES = {
    Holder.DOCUMENT: 120_000,
    Holder.TRUTH_TABLE: 2_000_000,
    Holder.TRANSITION_TABLE: 120_000,
    Holder.SCXML: 250_000,
}
"""Sizes that no chart written by a person, and no table of ours, comes near; a chart is read in a second."""


DOCUMENTS, TABLES = (".yaml", ".yml"), (".csv",)
"""Endings that say what a file is, whatever stands in it."""


def read_chart(path: Path | str) -> Chart:
    """Read a chart from a `*.chart.yaml`, from SCXML, or from the CSV of a truth or transition table.

    Raises:
        InputError: this is no path but the text of a chart, which `parse_chart` reads.
        DocumentError: the file cannot be read, is too large, or is no chart.
        FormatError: it is a table or SCXML with something wrong in it.
        ExpressionError: a guard or an action does not parse or does not type.
        UnknownNameError: something that it names does not exist.
    """
    if isinstance(path, str) and "\n" in path:
        raise InputError("this is the text of a chart, not the path of one", hint="parse_chart reads a text")
    path = Path(path)
    return chart_in(_text_of(path), path)


def chart_in(text: str, path: Path) -> Chart:
    """Return the chart in the text of a file that was read already.

    Raises:
        DocumentError: it is too large, or no chart.
        FormatError: it is a table or SCXML with something wrong in it.
        ExpressionError: a guard or an action does not parse or does not type.
        UnknownNameError: something that it names does not exist.
    """
    holder = holder_of(text, path)
    if len(text) > MAX_BYTES[holder]:
        _refuse_size(text, path, holder)
    if holder is Holder.TRUTH_TABLE:
        from posewright.charts.formats.table_reading import parse_table
        from posewright.charts.tables import chart_of

        return replace(chart_of(parse_table(text, path)), path=path)
    if holder is Holder.TRANSITION_TABLE:
        from posewright.charts.formats.transition_table_reading import parse_transition_table

        return parse_transition_table(text, path)
    if holder is Holder.SCXML:
        from posewright.charts.formats.scxml.reading import parse_scxml

        return parse_scxml(text, path)
    return parse_chart(text, path)


def holder_of(text: str, path: Path | None = None) -> Holder:
    """Return what a text is: the ending of its file says, or else its first line."""
    ending = path.suffix.lower() if path is not None else ""
    if ending in DOCUMENTS:
        return Holder.DOCUMENT
    if ending in TABLES and text.strip():
        return Holder.TRANSITION_TABLE if may_be_transition_table(text) else Holder.TRUTH_TABLE
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return Holder.SCXML
    if is_transition_table(text):
        return Holder.TRANSITION_TABLE
    return Holder.TRUTH_TABLE if _is_table(text) else Holder.DOCUMENT


def _is_table(text: str) -> bool:
    """Return whether text is a table with commas rather than a document."""
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return "," in line and ":" not in line and "{" not in line
    return False


def _text_of(path: Path) -> str:
    largest = max(MAX_BYTES.values())
    try:
        with open_ordinary(path) as file:
            raw = file.read(largest + 1)
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path)) from error
    if len(raw) > largest:
        text = raw.decode("utf-8-sig", errors="replace")
        _refuse_size(text, path, holder_of(text, path))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = Where(path, line=raw.count(b"\n", 0, error.start) + 1)
        message = f"not a text file: the byte {raw[error.start]:#04x}"
        raise DocumentError(message, where=where, hint="a chart is UTF-8 YAML, CSV or SCXML") from error


def _refuse_size(text: str, path: Path, holder: Holder) -> NoReturn:
    """Refuse a file; the line is the first one that is too much."""
    limit = MAX_BYTES[holder]
    line = text.count("\n", 0, limit) + 1
    message, hint = f"larger than {limit} bytes", f"no honest {holder.value} is"
    raise DocumentError(message, where=Where(path, line), hint=hint)
