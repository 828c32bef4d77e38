"""What a check of MONET configuration files found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posewright.errors import Where
from posewright.formats import TextLine, quote_bytes
from posewright.motions import Level


@dataclass(frozen=True)
class MonetFinding:
    """One thing that was found, and where.

    Attributes:
        level: an error keeps the robot from doing what the file says, or crashes it; a warning may; a note
            is only to be known.
        rule: what was looked for, in one word.
        line: counted from 1; None where it is of no one line.
        models: the robots it holds for; empty where it holds for all, or none is known.
    """

    level: Level
    rule: str
    message: str
    path: Path | None = None
    line: int | None = None
    hint: str = ""
    models: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{Where(path=self.path, line=self.line)}: " if self.path is not None else ""
        return f"{place}{self.level.value}: {self.message}" + (f" ({self.hint})" if self.hint else "")

    @property
    def text(self) -> str:
        """What was found, with its place before it and the hint behind it."""
        place = "" if self.path is None else f"{Where(path=self.path, line=self.line)}: "
        return place + self.message + (f" ({self.hint})" if self.hint else "")

    def data(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "level": self.level.value,
            "rule": self.rule,
            "message": self.message,
            "file": None if self.path is None else str(self.path),
            "line": self.line,
            "hint": self.hint or None,
            "models": list(self.models),
        }


def error(rule: str, line: TextLine, message: str, hint: str = "") -> MonetFinding:
    """Return an error at a line."""
    return MonetFinding(Level.ERROR, rule, message, line.path, line.number, hint)


def warning(rule: str, line: TextLine, message: str, hint: str = "") -> MonetFinding:
    """Return a warning at a line."""
    return MonetFinding(Level.WARNING, rule, message, line.path, line.number, hint)


def quoted(word: str) -> str:
    """Return a word of a file as it may be printed on one line."""
    return quote_bytes(word.encode("latin-1", "replace"))
