"""Rows of CSV files and of lists, each cell with its place."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NoReturn

from posewright.charts.formats.entries import expression_text
from posewright.documents import Node, open_regular_file
from posewright.errors import DocumentError, FormatError, Where

ANY = frozenset({"X", "x", "-", "*"})
"""Cells that say that it does not matter."""

_FIELD = re.compile(r' *(?:"(?:[^"]+|"")*(?:(?P<closed>")|\Z)[^,\r\n]*|[^,\r\n]*)(?:,|\r?\n|\r|\Z)')


def read_csv_rows(text: str, path: Path | None, before: int = 0) -> Iterator[tuple[list[str], Where]]:
    """Yield the cells of each row that is not empty, blanks around them left out, and where it ends.

    Args:
        text: of the table.
        path: is only used in messages.
        before: lines of the file that stand before the text.

    Raises:
        FormatError: it is not CSV, or a quote is not closed.
    """
    lines = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    held: tuple[list[str], Where] | None = None
    begin = end = 0
    try:
        for cells in lines:
            if held is not None and any(held[0]):
                yield held
            begin, end = end, lines.line_num
            held = ([cell.strip() for cell in cells], Where(path, before + end))
    except csv.Error as error:
        _refuse_open_quote(text, end, path, before)
        raise FormatError(f"not CSV: {error}", where=Where(path, before + lines.line_num)) from error
    if held is not None and any(held[0]):
        _refuse_open_quote(text, begin, path, before)
        yield held


def _refuse_open_quote(text: str, begin: int, path: Path | None, before: int) -> None:
    """Fail where a cell of the rows from a line on begins with a quote and never ends."""
    rest, at = "".join(islice(io.StringIO(text, newline=""), begin, None)), 0
    while at < len(rest) and (match := _FIELD.match(rest, at)) is not None:
        if match[0].lstrip(" ").startswith('"') and match["closed"] is None:
            line = before + begin + len(io.StringIO(rest[: match.start()] + ".", newline="").readlines())
            raise FormatError("the quote is not closed", where=Where(path, line), hint='close it with "')
        at = match.end()


MAX_TABLE_BYTES = 200_000
MAX_TABLE_ROWS = 4096
"""Size of a function's table: more than a person can have thought through."""


@dataclass(frozen=True)
class Cell:
    """What stands in one cell, and where."""

    text: str
    where: Where

    def fail(self, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise a DocumentError that points at this cell."""
        raise DocumentError(message, where=self.where, hint=hint)


def cells_of_list(node: Node) -> list[Cell]:
    """Return the cells of a row that the document writes as a list."""
    items = node.items()
    if not items:
        node.fail("a row without cells", hint="a cell for each parameter, then what it gives")
    return [Cell(expression_text(item).strip(), node.where_of(i)) for i, item in enumerate(items)]


def cells_of_table(node: Node, columns: tuple[str, ...]) -> list[list[Cell]]:
    """Return the rows of a CSV file.

    Args:
        node: names the file, beside the chart.
        columns: the parameters, in whose order the columns stand; one more column says what it gives.
    """
    path = _beside(node)
    rows: list[list[Cell]] = []
    for cells, where in read_csv_rows(_text_of(path, node), path):
        rows.append([Cell(cell, where) for cell in cells])
        if len(rows) > MAX_TABLE_ROWS + 1:
            raise FormatError("too many rows", where=where, hint=f"at most {MAX_TABLE_ROWS}")
    header = [cell.text for cell in rows[0]] if rows else []
    if tuple(header[:-1]) != columns or len(rows) < 2:
        hint = f"the columns are {', '.join(columns)} and one more for what it gives"
        what = "the table has no rows" if tuple(header[:-1]) == columns else "other columns than parameters"
        raise FormatError(what, where=Where(path, 1), hint=hint)
    return rows[1:]


def _beside(node: Node) -> Path:
    name = node.text()
    parts = PurePosixPath(name).parts
    if not name or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
        node.fail(f"{name[:80]!r} is not beside the chart", hint="name a file in the chart's folder")
    if node.path is None:
        node.fail("this chart is in no folder where a table could be", hint="write the rows out")
    return node.path.parent / name


def _text_of(path: Path, node: Node) -> str:
    try:
        with open_regular_file(path) as file:
            raw = file.read(MAX_TABLE_BYTES + 1)
        if len(raw) > MAX_TABLE_BYTES:
            raise FormatError(f"larger than {MAX_TABLE_BYTES} bytes", where=Where(path, 1))
        return raw.decode("utf-8-sig")
    except OSError as error:
        node.fail(f"{path}: {error.strerror or error}", hint="name a file in the chart's folder")
    except UnicodeDecodeError as error:
        raise FormatError("not a text file", where=Where(path, offset=error.start)) from error
