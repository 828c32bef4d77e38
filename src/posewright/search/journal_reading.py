"""Reading a tuning journal: every line is checked, and a last one that was cut off is left out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from posewright.documents import open_ordinary
from posewright.errors import FormatError, Where
from posewright.search.attempt import Attempt, Generation, generations_of
from posewright.search.journal_line import LineError, check_of, read_attempt, read_header
from posewright.search.plan import Plan

_ADVICE = "take a copy from before the damage, or begin a new journal"


@dataclass(frozen=True)
class Journal:
    """What a journal holds.

    Attributes:
        plan: what was searched, and how.
        made_with: the packages that drew the candidates, with their versions.
        attempts: all evaluations, in order: the start, then generation by generation; the last
            generation may be unfinished.
        length: how many bytes its whole lines take up; what follows was cut off.
        last_check: the check of its last whole line.
    """

    plan: Plan
    made_with: str
    attempts: tuple[Attempt, ...]
    length: int
    last_check: str

    @property
    def generations(self) -> tuple[Generation, ...]:
        """Its generations, worked out from its attempts."""
        return tuple(generations_of(self.attempts, self.plan.dimensions))


def read_journal(path: str | Path) -> Journal:
    """Read a journal, one that is being written too.

    Raises:
        FormatError: it cannot be read, is no journal, or is damaged anywhere but at the end of a last line
            that was cut off.
    """
    path = Path(path)
    try:
        with open_ordinary(path) as file:
            raw = file.read()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", where=Where(path)) from error
    return journal_in(raw, path)


def journal_in(raw: bytes, path: Path) -> Journal:
    """Return the journal that the bytes of a file are; `path` is only used in messages.

    Raises:
        FormatError: as read_journal.
    """
    length = raw.rfind(b"\n") + 1
    header, *lines = raw[:length].split(b"\n")
    number = 1
    try:
        if not length:
            raise LineError("no line of this file is whole")
        first = _text(header)
        plan, made_with = read_header(first)
        check, attempts = check_of(first), []
        for number, line in enumerate(lines[:-1], start=2):
            text = _text(line)
            attempts.append(read_attempt(text, plan, number - 2, check))
            check = check_of(text)
    except LineError as error:
        advice = _ADVICE if number > 1 else "a file that `posewright tune` wrote"
        raise FormatError(str(error), where=Where(path, line=number), hint=advice) from error
    return Journal(plan, made_with, tuple(attempts), length, check)


def _text(line: bytes) -> str:
    try:
        return line.decode("ascii")
    except UnicodeDecodeError as error:
        raise LineError(f"byte {error.start} of the line is none that a journal has") from error
