"""DESIGNDB.CFG: which archives a robot model finds under which key.

Source: formats.md section 1.3: `[ERS-7]` sections with lines `MONET_MOTION /MS/OPEN-R/...`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.file_bytes import is_text
from posewright.formats.monet.lines import MonetLine
from posewright.formats.text_lines import Line, split_lines

MOTIONS = "MONET_MOTION"
SOUNDS = "MONET_SOUND"

_SECTION = re.compile(rb"\[\s*([^\]]*?)\s*\]")


@dataclass(frozen=True)
class DesignEntry:
    """One line of a section.

    Attributes:
        model: the section's name; empty before the first section, where it holds for every model.
        key: what a program asks for.
        path: where it lies, as the robot sees it: `/MS` is the memory stick.
        line: where this stands.
    """

    model: str
    key: str
    path: str
    line: Line


@dataclass(frozen=True)
class DesignDb:
    """A DESIGNDB.CFG as its lines.

    Attributes:
        lines: all of them.
        path: the file, where it is one.
    """

    lines: tuple[Line, ...]
    path: Path | None = None

    @cached_property
    def entries(self) -> tuple[DesignEntry, ...]:
        """What it says, in its order."""
        return tuple(self._entries())

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models that have a section, in its order."""
        return tuple(dict.fromkeys(name for line in self.lines if (name := _section(line)) is not None))

    @property
    def odd(self) -> tuple[Line, ...]:
        """The lines that say nothing that can be understood."""
        return tuple(line for line in self.lines if _says_something(line) and not _is_understood(line))

    def archive(self, model: str, key: str) -> DesignEntry | None:
        """Return what a model finds under a key; without a section of its own, what holds for all."""
        found = [entry for entry in self.entries if entry.key == key and entry.model in (model, "")]
        return max(found, key=lambda entry: entry.model == model, default=None)

    def render(self) -> bytes:
        """Return the bytes of the file."""
        return b"".join(line.raw for line in self.lines)

    def _entries(self) -> Iterator[DesignEntry]:
        model = ""
        for line in self.lines:
            section = _section(line)
            if section is not None:
                model = section
            elif _says_something(line) and _is_understood(line):
                key, path = MonetLine(line).words
                yield DesignEntry(model, key, path, line)


def read_designdb(data: bytes, path: Path | None = None) -> DesignDb:
    """Read a DESIGNDB.CFG.

    Raises:
        FormatError: it is no text, as on the sticks that AIBO software was sold on; or far too long.
    """
    if not is_text(data):
        raise FormatError(
            "this is no text: on the memory sticks that Sony sold it is encrypted",
            where=Where(path=path, offset=0),
            hint="MONET is of sticks made with the OPEN-R SDK, whose DESIGNDB.CFG can be read in any editor",
        )
    return DesignDb(tuple(split_lines(data, path)), path)


def _section(line: Line) -> str | None:
    match = _SECTION.fullmatch(line.text)
    return match[1].decode("latin-1") if match else None


def _says_something(line: Line) -> bool:
    return bool(line.text) and not line.text.startswith(b"#")


def _is_understood(line: Line) -> bool:
    return _section(line) is not None or len(MonetLine(line).words) == 2
