"""Text files of other programs: their lines, remarks on them, and numbers in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from posewright.errors import FormatError, Where, escape_unprintable

_WHOLE = re.compile(rb"[0-9]{1,9}")
_DECIMAL = re.compile(rb"[0-9]{1,9}(?:[.,][0-9]{1,6})?")
_MAX_QUOTED_BYTES = 48

MAX_LINES = 50_000
"""Most lines of a file; a full RoboPlus file of the longest pages known has 6,000."""


@dataclass(frozen=True)
class TextLine:
    """A line of a text file.

    Attributes:
        raw: its bytes with the line end.
        number: its number, from 1.
        path: its file.
    """

    raw: bytes
    number: int
    path: Path | None = None

    @property
    def text(self) -> bytes:
        """The line without its line end and the blanks around it."""
        return self.raw.strip(b" \t\r\n")

    @property
    def key(self) -> bytes:
        """The text before the `=`; the whole line if it has none."""
        return self.text.partition(b"=")[0]

    @property
    def value(self) -> bytes:
        """The text after the `=` with its blanks, without the line end."""
        return self.raw.rstrip(b"\r\n").partition(b"=")[2]

    def fail(self, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise a FormatError at this line that quotes it."""
        where = Where(path=self.path, line=self.number)
        raise FormatError(f"{message}; found {quote_bytes(self.text)}", where=where, hint=hint)

    def words(self, count: int, meaning: str) -> list[bytes]:
        """Return the `count` words of the value; raise FormatError that gives their meaning otherwise."""
        words = self.value.split()
        if len(words) != count:
            key = self.key.decode("latin-1")
            self.fail(f"{key}= has {len(words)} columns, expected {count}", hint=f"they are {meaning}")
        return words

    def whole(self, word: bytes, name: str, low: int, high: int) -> int:
        """Return a word as an integer in `low`..`high`; raise FormatError if it is none."""
        if not _WHOLE.fullmatch(word) or not low <= int(word) <= high:
            self.fail(f"{name} is {quote_bytes(word)}", hint=f"write a whole number in {low}..{high}")
        return int(word)

    def decimal(self, word: bytes, name: str, low: float, high: float) -> float:
        """Return a word with a decimal point or comma as a number in `low`..`high`, or fail."""
        if not _DECIMAL.fullmatch(word) or not low <= float(word.replace(b",", b".")) <= high:
            self.fail(f"{name} is {quote_bytes(word)}", hint=f"write a number in {low:g}..{high:g}")
        return float(word.replace(b",", b"."))


def quote_bytes(raw: bytes) -> str:
    """Return bytes in quotes for a message: shortened, on one line, with unprintable bytes escaped."""
    head = raw[:_MAX_QUOTED_BYTES]
    text = escape_unprintable(head.decode("latin-1")).replace("\xa0", r"\xa0")  # 0xA0 is a byte, not a space
    ellipsis = "..." if len(raw) > _MAX_QUOTED_BYTES else ""
    return f"'{text}{ellipsis}'"


def splice_bytes(raw: bytes, edits: Iterable[tuple[int, int, bytes]]) -> bytes:
    """Return bytes with some ranges replaced.

    Args:
        raw: the bytes.
        edits: start, end and new bytes of each range, in order and without overlaps.
    """
    parts: list[bytes] = []
    last_end = 0
    for start, end, new_bytes in edits:
        parts += [raw[last_end:start], new_bytes]
        last_end = end
    return b"".join([*parts, raw[last_end:]])


def split_lines(data: bytes, path: Path | None = None, *, first: int = 1) -> list[TextLine]:
    """Return the lines of a file, split at LF only: a lone CR or a form feed is part of its line.

    Args:
        data: the bytes.
        path: the file, for messages.
        first: the number of the first line.

    Raises:
        FormatError: there are more than `MAX_LINES`.
    """
    count = data.count(b"\n")
    if count > MAX_LINES:
        where = Where(path=path, line=MAX_LINES)
        raise FormatError(f"{count:,} lines", where=where, hint=f"at most {MAX_LINES:,} lines are read")
    pieces = data.split(b"\n")
    lines = [TextLine(piece + b"\n", number, path) for number, piece in enumerate(pieces[:-1], first)]
    if pieces[-1]:
        lines.append(TextLine(pieces[-1], first + len(lines), path))
    return lines


MAX_REMARKS = 50
"""Most remarks that are listed; further ones are counted."""


@dataclass
class Remarks:
    """A list of remarks with their lines, of limited length."""

    _texts: list[str] = field(default_factory=list)
    _unique_texts: set[str] = field(default_factory=set)
    _n_omitted: int = 0

    def add(self, text: str, line: TextLine | None = None) -> None:
        """Add a remark on a line."""
        if len(self._texts) >= MAX_REMARKS:
            self._n_omitted += 1
            return
        self._texts.append(f"line {line.number}: {text}" if line is not None else text)

    def add_once(self, text: str, line: TextLine) -> None:
        """Add a remark on a line, unless the same text was added for another line."""
        if text not in self._unique_texts:
            self._unique_texts.add(text)
            self.add(text, line)

    @property
    def all(self) -> tuple[str, ...]:
        """All remarks, in the order of the file."""
        omitted = (f"{self._n_omitted} more remarks of this kind",) if self._n_omitted else ()
        return (*self._texts, *omitted)


DECIMALS = 6
QUANTUM_RAD = 10.0**-DECIMALS
"""Step to which angles are rounded [rad]."""


def format_angle(value: float) -> str:
    """Return an angle as text, with as many decimals as it needs and at most six."""
    text = repr(round(value, DECIMALS))
    if "e" in text:  # 1e-06
        text = f"{value:.{DECIMALS}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
