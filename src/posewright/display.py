"""Lines and tables by which a result describes itself to people.

A result has `to_dict()` for programs and `lines()` for people. What it yields there is made of strings and of
the values here; who shows it (the command line in a terminal, somebody's notebook) decides how. Nothing here
needs a terminal or a library.
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
"""Colours of the words that say how bad something is, or how it went."""


@dataclass(frozen=True)
class Styled:
    """A part of a line, or a cell of a table, in a style.

    Attributes:
        text: what it says, without any markup.
        style: a colour or a weight: `red`, `yellow`, `bold`, `dim`, `bold red`; empty for none.
    """

    text: str
    style: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Line:
    """A line of several parts, some of them in a style."""

    parts: tuple[str | Styled, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


@dataclass(frozen=True)
class Table:
    """A table; its cells are shown by `str`, a `Styled` one in its style.

    Attributes:
        columns: the heads; a line break in one is kept.
        rows: as many cells each as there are columns.
        title: stands above it, where it is not empty.
        text_columns: heads of the columns whose cells stand left; the others stand right. None lets each
            column that holds anything but numbers stand left.
        total: a last row in bold below a rule, empty for none.
        framed: whether the table is drawn with its frame.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    title: str = ""
    text_columns: frozenset[str] | None = None
    total: tuple[object, ...] = ()
    framed: bool = False


@dataclass(frozen=True)
class Paragraph:
    """A text that may be broken into lines where it is shown, set in by so many columns."""

    text: str
    indent: int = 0


Printed = str | Styled | Line | Table | Paragraph
"""What a result yields for people."""

Lines = Iterator[Printed]


def table(
    columns: Sequence[str],
    rows: Iterable[Iterable[object]],
    *,
    title: str = "",
    text_columns: Collection[str] | None = None,
) -> Table:
    """Return a table of rows that may be of any iterables."""
    return Table(
        tuple(columns),
        tuple(tuple(row) for row in rows),
        title,
        None if text_columns is None else frozenset(text_columns),
    )


def line_of(*parts: str | Styled) -> Line:
    """Return a line of these parts."""
    return Line(parts)


def level_word(word: str, width: int = 0) -> Styled:
    """Return a word that says how bad something is in its colour, with blanks up to `width` characters."""
    return Styled(f"{word:<{width}}", LEVEL_STYLES.get(word, ""))


def aligned(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield rows of texts as lines, each column as wide as its widest text; all rows are equally long."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def counted(number: int, noun: str) -> str:
    """Return how many there are, in words: `no errors`, `1 error`, `2 errors`."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
