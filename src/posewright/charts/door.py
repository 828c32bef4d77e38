"""Reads whatever holds a chart: a native document or a truth table, told apart by what they contain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from posewright.charts.chart import Chart
from posewright.charts.reading import parse_chart
from posewright.charts.table_reading import parse_table
from posewright.charts.truth_table import chart_of
from posewright.documents import open_ordinary
from posewright.errors import DocumentError, Where

MAX_CHART_BYTES = 200_000
MAX_TABLE_BYTES = 2_000_000
"""Sizes that no chart written by a person, and no table of ours, comes near."""


def read_chart(path: Path | str) -> Chart:
    """Read a chart from a `*.chart.yaml` or from a truth table's CSV.

    Raises:
        DocumentError: the file cannot be read, is too large, or is no chart.
        FormatError: it is a truth table with something wrong in it.
        ExpressionError: a guard or an action does not parse or does not type.
    """
    path = Path(path)
    return chart_in(_text_of(path), path)


def chart_in(text: str, path: Path) -> Chart:
    """Return the chart in the text of a file that was read already, document or truth table.

    Raises:
        DocumentError: it is too large, or no chart.
        FormatError: it is a truth table with something wrong in it.
        ExpressionError: a guard or an action does not parse or does not type.
    """
    limit = MAX_TABLE_BYTES if is_table(text) else MAX_CHART_BYTES
    if len(text) > limit:
        _refuse_size(path, limit)
    if not is_table(text):
        return parse_chart(text, path)
    return replace(chart_of(parse_table(text, path)), path=path)


def is_table(text: str) -> bool:
    """Return whether text is a table with commas rather than a document: its first line says."""
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return "," in line and ":" not in line and "{" not in line
    return False


def _text_of(path: Path) -> str:
    try:
        with open_ordinary(path) as file:
            raw = file.read(MAX_TABLE_BYTES + 1)
        if len(raw) > MAX_TABLE_BYTES:
            _refuse_size(path, MAX_TABLE_BYTES)
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path)) from error
    except UnicodeDecodeError as error:
        where = Where(path, offset=error.start)
        raise DocumentError("not a text file", where=where, hint="a chart is UTF-8 YAML or CSV") from error


def _refuse_size(path: Path, limit: int) -> NoReturn:
    raise DocumentError(f"larger than {limit} bytes", where=Where(path), hint="no honest chart is")
