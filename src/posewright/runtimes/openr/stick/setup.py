"""The MONET files of a robot that belong together: commands, ways between postures, archives, DESIGNDB.CFG.

Source: formats.md section 1.3: DESIGNDB.CFG says which archives a robot model finds under which key, in
`[ERS-7]` sections with lines `MONET_MOTION /MS/OPEN-R/...`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from posewright.display import format_count
from posewright.errors import FormatError, Where
from posewright.formats import (
    EntryKind,
    MotionLabel,
    OdaArchive,
    OdaEntry,
    TextLine,
    is_text,
    label_of,
    read_archive_file,
    split_lines,
)
from posewright.runtimes.openr.stick.finding import MonetFinding
from posewright.runtimes.openr.stick.text import MonetCommands, MonetLine, MonetTransitions

MOTIONS = "MONET_MOTION"
SOUNDS = "MONET_SOUND"

_SECTION = re.compile(rb"\[\s*([^\]]*?)\s*\]")


@dataclass(frozen=True)
class DesignEntry:
    """One line of a section."""

    model: str  # the section's name; empty before the first section, where it holds for every model
    key: str
    path: str  # where it lies, as the robot sees it: `/MS` is the memory stick
    line: TextLine


@dataclass(frozen=True)
class DesignDb:
    """A DESIGNDB.CFG as its lines."""

    lines: tuple[TextLine, ...] = field(repr=False)
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
    def odd(self) -> tuple[TextLine, ...]:
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
        what = "this is not text: on the memory sticks that Sony sold it is encrypted"
        hint = "MONET is of sticks made with the OPEN-R SDK, whose DESIGNDB.CFG can be read in any editor"
        raise FormatError(what, where=Where(path=path, offset=0), hint=hint)
    return DesignDb(tuple(split_lines(data, path)), path)


def _section(line: TextLine) -> str | None:
    match = _SECTION.fullmatch(line.text)
    return match[1].decode("latin-1") if match else None


def _says_something(line: TextLine) -> bool:
    return bool(line.text) and not line.text.startswith(b"#")


def _is_understood(line: TextLine) -> bool:
    return _section(line) is not None or len(MonetLine(line).words) == 2


@dataclass(frozen=True)
class MonetArchive:
    """An archive, and what its motions call themselves."""

    archive: OdaArchive
    path: Path

    @property
    def entries(self) -> tuple[OdaEntry, ...]:
        """The entries in the order in which indices count them, from 0."""
        return self.archive.entries

    @cached_property
    def labels(self) -> tuple[MotionLabel | None, ...]:
        """What the motion in each entry says of itself; None where there is none that can be read."""
        return tuple(label_of(entry.data) for entry in self.entries)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each name leads that MoNet looks up: of motions their own names, of others the entry's."""
        names = [
            (label.name if label is not None else None) if entry.type == "OMTN" else entry.name
            for entry, label in zip(self.entries, self.labels, strict=True)
        ]
        return {name: place for place, name in reversed(list(enumerate(names))) if name is not None}

    @property
    def motions(self) -> Mapping[int, MotionLabel]:
        """The entries that hold a motion, by their place."""
        return {place: label for place, label in enumerate(self.labels) if label is not None}

    def holds(self, *kinds: EntryKind) -> bool:
        """Tell whether an entry holds something of one of these kinds."""
        return any(entry.content.kind in kinds for entry in self.entries)

    @property
    def twice(self) -> tuple[str, ...]:
        """The names that several motions give themselves."""
        counts = Counter(label.name for label in self.labels if label is not None)
        return tuple(name for name, count in counts.items() if count > 1)


def read_monet_archive(path: Path) -> MonetArchive:
    """Read an archive of motions or sounds."""
    return MonetArchive(read_archive_file(path), path)


@dataclass(frozen=True)
class MonetSetup:
    """The files of one robot model, or of several that share them.

    Attributes:
        models: as DESIGNDB.CFG calls them; empty where nothing says whose the files are.
        older: whether a POSTURE.CFG lies beside them, which an older MoNet read its postures from.
    """

    models: tuple[str, ...] = ()
    commands: MonetCommands | None = None
    transitions: MonetTransitions | None = None
    motions: MonetArchive | None = None
    sounds: MonetArchive | None = None
    older: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return which files these are and what they hold, fit for JSON."""
        commands = self.commands
        return {
            "models": list(self.models),
            "commands_file": None if commands is None else str(commands.path),
            "commands": None if commands is None else [command.id for command in commands.commands],
            "ways_file": None if self.transitions is None else str(self.transitions.path),
            "ways": None if self.transitions is None else len(self.transitions.agents),
            "motions_file": None if self.motions is None else str(self.motions.path),
            "motions": None if self.motions is None else len(self.motions.motions),
            "sounds_file": None if self.sounds is None else str(self.sounds.path),
            "sounds": None if self.sounds is None else len(self.sounds.entries),
        }

    def __str__(self) -> str:
        counts = (
            None if self.commands is None else format_count(len(self.commands.commands), "command"),
            None if self.transitions is None else format_count(len(self.transitions.agents), "way"),
            None if self.motions is None else format_count(len(self.motions.motions), "motion"),
            None if self.sounds is None else format_count(len(self.sounds.entries), "sound"),
        )
        models = " and ".join(self.models) or "these files"
        return f"{models}: {', '.join(filter(None, counts)) or 'nothing'}"


@dataclass(frozen=True)
class MemoryStick:
    """What was found on a memory stick, in a folder, or among files.

    Attributes:
        findings: what was wrong with finding and reading them.
        root: the folder that the robot calls `/MS`; None where no file lies in an `OPEN-R` folder.
    """

    setups: tuple[MonetSetup, ...]
    designdbs: tuple[DesignDb, ...] = ()
    findings: tuple[MonetFinding, ...] = ()
    root: Path | None = None

    def setup(self, model: str) -> MonetSetup | None:
        """Return the files of a model."""
        return next((setup for setup in self.setups if model in setup.models), None)
