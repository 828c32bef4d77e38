"""Findings of the checks of MONET configuration files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from posewright.documents.plain import PlainMapping
from posewright.errors import Where
from posewright.formats import TextLine, quote_bytes
from posewright.motions import Level

COUNT_RULE = "count"
"""Rule of the findings about too few or too many lines, or results of lines."""


@dataclass(frozen=True)
class MonetFinding:
    """A finding with its place.

    Attributes:
        level: an error keeps the robot from doing what the file says, or crashes it; a warning may do so; a
            note is for information.
        rule: what was checked, in one word.
        message: the problem.
        path: the path of the file; None if there is none.
        line: counted from 1; None if the finding concerns no single line.
        hint: what would be right; may be empty.
        models: the robots that it concerns; empty for all, or if they are unknown.
    """

    level: Level
    rule: str
    message: str
    path: Path | None = None
    line: int | None = None
    hint: str = ""
    models: tuple[str, ...] = ()

    def __str__(self) -> str:
        location = f"{Where(path=self.path, line=self.line)}: " if self.path is not None else ""
        return f"{location}{self.level.value}: {self.message}" + (f" ({self.hint})" if self.hint else "")

    @property
    def text(self) -> str:
        """Place, message and hint, without the level."""
        location = "" if self.path is None else f"{Where(path=self.path, line=self.line)}: "
        return location + self.message + (f" ({self.hint})" if self.hint else "")

    def data(self) -> PlainMapping:
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
    return MonetFinding(Level.ERROR, rule, message, line.path, line=line.number, hint=hint)


def warning(rule: str, line: TextLine, message: str, hint: str = "") -> MonetFinding:
    """Return a warning at a line."""
    return MonetFinding(Level.WARNING, rule, message, line.path, line=line.number, hint=hint)


def quoted(text: str) -> str:
    """Return a word of a file in quotes, printable on one line."""
    return quote_bytes(text.encode("latin-1", "replace"))
