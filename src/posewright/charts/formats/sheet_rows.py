"""Rows of CSV files, each with its line; a quote that is not closed is told where it stands."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from posewright.errors import FormatError, Where

_FIELD = re.compile(r' *(?:"(?:[^"]+|"")*(?:(?P<closed>")|\Z)[^,\r\n]*|[^,\r\n]*)(?:,|\r?\n|\r|\Z)')


def sheet_rows(text: str, path: Path | None, before: int = 0) -> Iterator[tuple[list[str], Where]]:
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
