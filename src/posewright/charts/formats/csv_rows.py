"""The rows of CSV files and of lists in documents, each cell with its place."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NoReturn

from posewright.charts.formats.document_fields import expression_text
from posewright.documents import Node, open_regular_file
from posewright.errors import DocumentError, FormatError, Where

WILDCARDS = frozenset({"X", "x", "-", "*"})
"""Cells that match any value."""

_CELL = re.compile(r' *(?:"(?:[^"]+|"")*(?:(?P<closed>")|\Z)[^,\r\n]*|[^,\r\n]*)(?:,|\r?\n|\r|\Z)')
"""A cell with the comma or line end behind it; the group `closed` is its closing quote, if it has one.

It matches at every position, so that the cells of a text follow each other without gaps.
"""

_LINE_END = re.compile(r"\r?\n|\r")


def read_csv_rows(text: str, path: Path | None, n_lines_before: int = 0) -> Iterator[tuple[list[str], Where]]:
    """Yield the cells of each row that is not empty, without blanks around them, and where the row ends.

    Args:
        text: the table.
        path: its file, for messages.
        n_lines_before: lines of the file before the text.

    Raises:
        FormatError: it is not CSV, or a quote is not closed.
    """
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    # a row is yielded only after the next one has been read, as the last row may end in an open quote
    previous_cells: list[str] = []
    previous_where = Where(path)
    n_lines_before_row = 0  # in the text
    n_lines_to_row_end = 0
    try:
        for cells in reader:
            if any(previous_cells):
                yield previous_cells, previous_where
            n_lines_before_row = n_lines_to_row_end
            n_lines_to_row_end = reader.line_num
            previous_cells = [cell.strip() for cell in cells]
            previous_where = Where(path, n_lines_before + n_lines_to_row_end)
    except csv.Error as error:
        _require_closed_quotes(text, n_lines_to_row_end, path, n_lines_before)
        raise FormatError(f"not CSV: {error}", where=Where(path, n_lines_before + reader.line_num)) from error
    if any(previous_cells):
        _require_closed_quotes(text, n_lines_before_row, path, n_lines_before)
        yield previous_cells, previous_where


def _require_closed_quotes(text: str, n_skipped_lines: int, path: Path | None, n_lines_before: int) -> None:
    """Raise a FormatError if a cell has an opening quote without a closing one.

    Python's reader accepts such a cell, and takes all text up to the end of the file for it.

    Args:
        text: the table.
        n_skipped_lines: number of lines of the table that are skipped; the cells behind them are checked.
        path: the file, for messages.
        n_lines_before: lines of the file before the text.
    """
    remainder = "".join(islice(io.StringIO(text, newline=""), n_skipped_lines, None))
    for cell in _CELL.finditer(remainder):
        is_quoted = cell[0].lstrip(" ").startswith('"')
        if is_quoted and cell["closed"] is None:
            n_line_ends_before_cell = len(_LINE_END.findall(remainder[: cell.start()]))
            line_in_table = n_skipped_lines + n_line_ends_before_cell + 1
            where = Where(path, n_lines_before + line_in_table)
            raise FormatError("the quote is not closed", where=where, hint='close it with "')


MAX_TABLE_BYTES = 200_000
"""Size of the file of a function's table."""

MAX_TABLE_ROWS = 4096
"""Rows of a function's table."""


@dataclass(frozen=True)
class TableCell:
    """The text of one cell, and its place."""

    text: str
    where: Where

    def fail(self, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise a DocumentError that points at this cell."""
        raise DocumentError(message, where=self.where, hint=hint)


def cells_of_list(node: Node) -> list[TableCell]:
    """Return the cells of a row that the document writes as a list."""
    items = node.items()
    if not items:
        node.fail("a row without cells", hint="write a cell for each parameter, then the value")
    return [TableCell(expression_text(item).strip(), node.where_of(i)) for i, item in enumerate(items)]


def cells_of_table(node: Node, columns: tuple[str, ...]) -> list[list[TableCell]]:
    """Return the rows of a CSV file, without its header.

    Args:
        node: the name of the file, in the folder of the chart.
        columns: the parameters in the order of their columns; one more column holds the value.

    Raises:
        DocumentError: the file cannot be read.
        FormatError: it is not CSV, is too large, or has other columns.
    """
    path = _path_beside_chart(node)
    rows: list[list[TableCell]] = []
    for cells, where in read_csv_rows(_read_table_text(path, node), path):
        rows.append([TableCell(cell, where) for cell in cells])
        if len(rows) > MAX_TABLE_ROWS + 1:
            raise FormatError("too many rows", where=where, hint=f"at most {MAX_TABLE_ROWS}")
    header = [cell.text for cell in rows[0]] if rows else []
    has_columns = tuple(header[:-1]) == columns
    if not has_columns or len(rows) < 2:
        message = "the table has no rows" if has_columns else "the columns are not the parameters"
        hint = f"the columns are {', '.join(columns)} and one more for the value"
        raise FormatError(message, where=Where(path, 1), hint=hint)
    return rows[1:]


def _path_beside_chart(node: Node) -> Path:
    """Return the path of a file named in a chart; it must be inside the folder of the chart."""
    name = node.text()
    parts = PurePosixPath(name).parts
    if not name or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
        node.fail(f"{name[:80]!r} is not beside the chart", hint="name a file in the chart's folder")
    if node.path is None:
        node.fail("this chart has no file, so no table can be beside it", hint="write `rows:`")
    return node.path.parent / name


def _read_table_text(path: Path, node: Node) -> str:
    """Return the text of a table of a function; raise an error that names the table or the node."""
    try:
        with open_regular_file(path) as file:
            content = file.read(MAX_TABLE_BYTES + 1)
        if len(content) > MAX_TABLE_BYTES:
            raise FormatError(f"larger than {MAX_TABLE_BYTES} bytes", where=Where(path, 1))
        return content.decode("utf-8-sig")
    except OSError as error:
        node.fail(f"{path}: {error.strerror or error}", hint="name a file in the chart's folder")
    except UnicodeDecodeError as error:
        raise FormatError("not a text file", where=Where(path, offset=error.start)) from error
