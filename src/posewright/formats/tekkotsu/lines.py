"""Lines, words and numbers of Tekkotsu's text files, as its C code takes them.

Source: formats.md 1.5; the words and numbers as in Tekkotsu's MotionSequenceEngine.cc, which reads them
with isspace(), strtol(word, &end, 0) and strtod().
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.text_lines import MAX_LINES, Line, show

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_WHOLE = re.compile(rb"[+-]?(?:0[xX][0-9a-fA-F]{1,8}|0[0-7]{0,11}|[1-9][0-9]{0,9})")
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")

MAX_VALUE = 1e6
"""A larger angle is a slip of the pen; no weight and no LED goes beyond 1."""


@dataclass(frozen=True)
class Word:
    """A word and where it stands in the file, from `at` up to but not including `end`."""

    text: bytes
    at: int

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.at + len(self.text)


def lines_of(data: bytes, path: Path | None = None) -> Iterator[tuple[int, Line]]:
    """Yield every line with the byte it begins at; CR, LF and CRLF end one, as in Tekkotsu.

    Raises:
        FormatError: there are more than `MAX_LINES`.
    """
    for number, found in enumerate(_LINE.finditer(data), 1):
        if number > MAX_LINES:
            where = Where(path=path, line=MAX_LINES)
            raise FormatError("more lines", where=where, hint=f"no honest file has more than {MAX_LINES:,}")
        yield found.start(), Line(found.group(), number, path)


def words_of(begin: int, line: Line, separators: bytes = b"", *, most: int) -> list[Word]:
    """Return the first `most` words of a line that begins at byte `begin` of its file.

    Args:
        begin: as `lines_of` yields it.
        line: the line.
        separators: what stands between words besides blanks.
        most: where to stop: one line may be the whole of a large file.
    """
    words = re.finditer(rb"[^\s" + re.escape(separators) + rb"]+", line.raw)
    return [Word(found.group(), begin + found.start()) for found in islice(words, most)]


def whole(word: bytes, line: Line, what: str) -> int:
    """Return a whole number as C writes it: 0x10 is sixteen and 010 is eight.

    Raises:
        FormatError: it is none, with the line.
    """
    if not _WHOLE.fullmatch(word):
        line.fail(
            f"{what} is {show(word)}",
            hint="right is a whole number of milliseconds; 010 is octal and 0x10 hexadecimal",
        )
    sign = -1 if word.startswith(b"-") else 1
    digits = word.lstrip(b"+-")
    if digits[:2].lower() == b"0x":
        return sign * int(digits, 16)
    return sign * int(digits, 8 if digits.startswith(b"0") else 10)


def decimal(word: bytes, line: Line, what: str) -> float:
    """Return a number with a decimal point or without one.

    Raises:
        FormatError: it is none, is not finite or is beyond `MAX_VALUE`; with the line.
    """
    value = float(word) if _DECIMAL.fullmatch(word) else float("nan")
    if not abs(value) <= MAX_VALUE:
        line.fail(f"{what} is {show(word)}", hint="right is a number like -1.25 or 3e-4")
    return value
