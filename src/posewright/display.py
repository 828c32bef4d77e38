"""Lines, tables and paragraphs: what the `lines()` of a result yields for people.

A result has `to_dict()` for programs and `lines()` for people. `lines()` yields strings and the values
defined here; the command line or a notebook decides how to show them. This module needs no
terminal and no library.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

LEVEL_STYLES = {
    "error": "red",
    "warning": "yellow",
    "note": "cyan",
    "ok": "green",
    "passed": "green",
    "failed": "red",
}
"""Colours of severities and verdicts."""


@dataclass(frozen=True)
class Styled:
    """A styled part of a line, or a styled cell of a table.

    Attributes:
        text: the text, without any markup.
        style: a colour or a weight: `red`, `yellow`, `bold`, `dim`, `bold red`; empty for none.
    """

    text: str
    style: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Line:
    """A line made of plain and styled parts."""

    parts: tuple[str | Styled, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


@dataclass(frozen=True)
class Table:
    """A table; its cells are shown by `str`, `Styled` cells in their style.

    Attributes:
        columns: the column headers; line breaks in them are kept.
        rows: one cell per column each.
        title: the text above the table, empty for none.
        text_columns: headers of the left-aligned columns; all others are right-aligned. None aligns each
            column left unless it holds numbers only.
        total: a last row in bold below a rule, empty for none.
        framed: whether the table is drawn with a frame.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    title: str = ""
    text_columns: frozenset[str] | None = None
    total: tuple[object, ...] = ()
    framed: bool = False


@dataclass(frozen=True)
class Paragraph:
    """A text that is wrapped to the width of the display, indented by `indent` columns."""

    text: str
    indent: int = 0


DisplayItem = str | Styled | Line | Table | Paragraph
"""Anything that `lines()` of a result yields."""

Lines = Iterator[DisplayItem]


def table(
    columns: Sequence[str],
    rows: Iterable[Iterable[object]],
    *,
    title: str = "",
    text_columns: Collection[str] | None = None,
) -> Table:
    """Return a `Table`; its columns and rows may be any iterables."""
    return Table(
        tuple(columns),
        tuple(tuple(row) for row in rows),
        title,
        text_columns=None if text_columns is None else frozenset(text_columns),
    )


def build_line(*parts: str | Styled) -> Line:
    """Return a `Line` of the given parts."""
    return Line(parts)


def style_level(level: str, width: int = 0) -> Styled:
    """Return a severity or verdict in its colour, padded with spaces to `width` characters."""
    return Styled(f"{level:<{width}}", LEVEL_STYLES.get(level, ""))


def align_columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield one line per row of texts, with the columns aligned. All rows have the same number of texts."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun: `no errors`, `1 error`, `2 errors`."""
    plural = "" if number == 1 else "s"
    return f"{number or 'no'} {noun}{plural}"
