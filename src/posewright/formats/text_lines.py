"""Text files of others: their lines, what is odd about them, and the numbers written on them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from posewright.errors import FormatError, Where, escape_unprintable

_WHOLE = re.compile(rb"[0-9]{1,9}")
_DECIMAL = re.compile(rb"[0-9]{1,9}(?:[.,][0-9]{1,6})?")
_SHOWN_BYTES = 48

MAX_LINES = 50_000  # a full RoboPlus file of the longest pages met has 6,000 lines


@dataclass(frozen=True)
class Line:
    """A line with its line end, and where it stands."""

    raw: bytes
    number: int
    path: Path | None = None

    @property
    def text(self) -> bytes:
        """The line without its line end and the blanks around it."""
        return self.raw.strip(b" \t\r\n")

    @property
    def key(self) -> bytes:
        """What stands before the `=`; the whole line where there is none."""
        return self.text.partition(b"=")[0]

    @property
    def value(self) -> bytes:
        """What stands behind the `=`, blanks and all, without the line end."""
        return self.raw.rstrip(b"\r\n").partition(b"=")[2]

    def fail(self, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise a FormatError that points at this line and shows it."""
        where = Where(path=self.path, line=self.number)
        raise FormatError(f"{message}; found {show(self.text)}", where=where, hint=hint)

    def words(self, count: int, meaning: str) -> list[bytes]:
        """Return the `count` words of the value, or fail saying what they would have been."""
        words = self.value.split()
        if len(words) != count:
            key = self.key.decode("latin-1")
            self.fail(f"{key}= has {len(words)} columns where {count} belong", hint=f"they are {meaning}")
        return words

    def whole(self, word: bytes, what: str, low: int, high: int) -> int:
        """Return `word` as a whole number within `low`..`high`, or fail."""
        if not _WHOLE.fullmatch(word) or not low <= int(word) <= high:
            self.fail(f"{what} is {show(word)}", hint=f"right is a whole number in {low}..{high}")
        return int(word)

    def decimal(self, word: bytes, what: str, low: float, high: float) -> float:
        """Return `word`, with a decimal point or a decimal comma, within `low`..`high`, or fail."""
        if not _DECIMAL.fullmatch(word) or not low <= float(word.replace(b",", b".")) <= high:
            self.fail(f"{what} is {show(word)}", hint=f"right is a number in {low:g}..{high:g}")
        return float(word.replace(b",", b"."))


def show(raw: bytes) -> str:
    """Return bytes as they may be printed on one line: shortened, nothing unprintable."""
    cut = raw[:_SHOWN_BYTES]
    shown = escape_unprintable(cut.decode("latin-1")).replace("\xa0", r"\xa0")  # a byte, not a space
    return f"'{shown}{'...' if len(raw) > _SHOWN_BYTES else ''}'"


def spliced(raw: bytes, edits: Iterable[tuple[int, int, bytes]]) -> bytes:
    """Return bytes with others in the place of stretches: from a byte, up to but not including one, what.

    Stretches come in order and do not overlap.
    """
    kept, last = [], 0
    for at, end, text in edits:
        kept += [raw[last:at], text]
        last = end
    return b"".join([*kept, raw[last:]])


def split_lines(data: bytes, path: Path | None = None, *, first: int = 1) -> list[Line]:
    """Split at LF only: a lone CR or a form feed is part of its line."""
    count = data.count(b"\n")
    if count > MAX_LINES:
        where = Where(path=path, line=MAX_LINES)
        raise FormatError(f"{count:,} lines", where=where, hint=f"no honest file has more than {MAX_LINES:,}")
    pieces = data.split(b"\n")
    lines = [Line(piece + b"\n", number, path) for number, piece in enumerate(pieces[:-1], first)]
    if pieces[-1]:
        lines.append(Line(pieces[-1], first + len(lines), path))
    return lines


MAX_REMARKS = 50  # more than this many say nothing more to a person; the rest is only counted


@dataclass
class Remarks:
    """A list of remarks in words, each with its line, that cannot grow without end."""

    _texts: list[str] = field(default_factory=list)
    _once: set[str] = field(default_factory=set)
    _left_off: int = 0

    def add(self, text: str, line: Line | None = None) -> None:
        """Note `text`, found at `line`."""
        if len(self._texts) >= MAX_REMARKS:
            self._left_off += 1
            return
        self._texts.append(f"line {line.number}: {text}" if line is not None else text)

    def once(self, text: str, line: Line) -> None:
        """Note `text` the first time it is met in the file, and not again."""
        if text not in self._once:
            self._once.add(text)
            self.add(text, line)

    @property
    def all(self) -> tuple[str, ...]:
        """All remarks, in the order of the file."""
        more = (f"{self._left_off} more remarks of this kind",) if self._left_off else ()
        return (*self._texts, *more)


DECIMALS = 6
QUANTUM_RAD = 10.0**-DECIMALS  # what an angle is rounded to [rad]


def number(value: float) -> str:
    """Return an angle as it is written: with as many decimals as it needs, six at most."""
    text = repr(round(value, DECIMALS))
    if "e" in text:  # 1e-06
        text = f"{value:.{DECIMALS}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
