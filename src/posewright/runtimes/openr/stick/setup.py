"""The MONET files of a robot: commands, transitions between postures, archives, DESIGNDB.CFG.

Source: formats.md section 1.3: DESIGNDB.CFG defines the archives of each robot model, in `[ERS-7]` sections
with lines `MONET_MOTION /MS/OPEN-R/...`.
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
from posewright.runtimes.openr.stick.limits import MOTION_ENTRY
from posewright.runtimes.openr.stick.text import MonetCommands, MonetLine, MonetTransitions

MOTIONS = "MONET_MOTION"
SOUNDS = "MONET_SOUND"

_SECTION = re.compile(rb"\[\s*([^\]]*?)\s*\]")


@dataclass(frozen=True)
class DesignEntry:
    """One line of a section."""

    model: str  # name of the section; empty before the first section, for all models
    key: str
    path: str  # on the robot, where `/MS` is the memory stick
    line: TextLine


@dataclass(frozen=True)
class DesignDb:
    """A DESIGNDB.CFG as its lines."""

    lines: tuple[TextLine, ...] = field(repr=False)
    path: Path | None = None

    @cached_property
    def entries(self) -> tuple[DesignEntry, ...]:
        """The entries, in the order of the file."""
        return tuple(self._iterate_entries())

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models with a section, in the order of the file."""
        return tuple(dict.fromkeys(name for line in self.lines if (name := _section_name(line)) is not None))

    @property
    def invalid_lines(self) -> tuple[TextLine, ...]:
        """The lines that are neither sections nor entries."""
        return tuple(line for line in self.lines if _has_content(line) and not _is_valid(line))

    def archive(self, model: str, key: str) -> DesignEntry | None:
        """Return the entry of a model with a key; otherwise the one for all models."""
        candidates = [entry for entry in self.entries if entry.key == key and entry.model in (model, "")]
        return max(candidates, key=lambda entry: entry.model == model, default=None)

    def render(self) -> bytes:
        """Return the bytes of the file."""
        return b"".join(line.raw for line in self.lines)

    def _iterate_entries(self) -> Iterator[DesignEntry]:
        """Yield the entries, each with the model of the section above it."""
        model = ""
        for line in self.lines:
            section = _section_name(line)
            if section is not None:
                model = section
            elif _has_content(line) and _is_valid(line):
                key, path = MonetLine(line).words
                yield DesignEntry(model, key, path, line)


def read_designdb(data: bytes, path: Path | None = None) -> DesignDb:
    """Read a DESIGNDB.CFG.

    Raises:
        FormatError: it is no text, as on the sticks with AIBO software that Sony sold; or far too long.
    """
    if not is_text(data):
        message = "this is not text: on the memory sticks that Sony sold, the file is encrypted"
        hint = "expected a stick made with the OPEN-R SDK, whose DESIGNDB.CFG can be read in any editor"
        raise FormatError(message, where=Where(path=path, offset=0), hint=hint)
    return DesignDb(tuple(split_lines(data, path)), path)


def _section_name(line: TextLine) -> str | None:
    """Return the model in a line such as `[ERS-7]`; None if the line begins no section."""
    match = _SECTION.fullmatch(line.text)
    return match[1].decode("latin-1") if match else None


def _has_content(line: TextLine) -> bool:
    """Return whether a line is neither blank nor a comment."""
    return bool(line.text) and not line.text.startswith(b"#")


def _is_valid(line: TextLine) -> bool:
    """Return whether a line is a section or has a key and a path."""
    return _section_name(line) is not None or len(MonetLine(line).words) == 2


@dataclass(frozen=True)
class MonetArchive:
    """An archive, with the names of its motions."""

    oda_archive: OdaArchive
    path: Path

    @property
    def entries(self) -> tuple[OdaEntry, ...]:
        """The entries in the order of their indices, from 0."""
        return self.oda_archive.entries

    @cached_property
    def labels(self) -> tuple[MotionLabel | None, ...]:
        """The label of the motion in each entry, with its own name; None if there is no readable motion."""
        return tuple(label_of(entry.data) for entry in self.entries)

    @cached_property
    def index_by_name(self) -> Mapping[str, int]:
        """Indices of the entries by the names that MoNet looks up.

        A motion has the name in its own data, its label; any other entry has the name in the archive. An
        unreadable motion has no label and cannot be looked up. The first of several equal names counts.
        """
        indices: dict[str, int] = {}
        for index, (entry, label) in enumerate(zip(self.entries, self.labels, strict=True)):
            name = entry.name
            if entry.type == MOTION_ENTRY:
                if label is None:
                    continue
                name = label.name
            indices.setdefault(name, index)
        return indices

    @property
    def motions(self) -> Mapping[int, MotionLabel]:
        """The labels of the entries with a motion, by index."""
        return {index: label for index, label in enumerate(self.labels) if label is not None}

    def holds(self, *kinds: EntryKind) -> bool:
        """Return whether an entry has one of these kinds."""
        return any(entry.content.kind in kinds for entry in self.entries)

    @property
    def duplicate_names(self) -> tuple[str, ...]:
        """The names that several motions have."""
        occurrences = Counter(label.name for label in self.labels if label is not None)
        return tuple(name for name, count in occurrences.items() if count > 1)


def read_monet_archive(path: Path) -> MonetArchive:
    """Read an archive of motions or sounds."""
    return MonetArchive(read_archive_file(path), path)


@dataclass(frozen=True)
class MonetSetup:
    """The files of one robot model, or of several that share them.

    Attributes:
        models: the models by their names in DESIGNDB.CFG; empty if they are unknown.
        commands: the MONETCMD.CFG; None if there is none, as with the others.
        transitions: the MONET.CFG.
        motions: the archive of motions.
        sounds: the archive of sounds.
        is_older_monet: whether a POSTURE.CFG lies beside them, from which an older MoNet read its postures.
    """

    models: tuple[str, ...] = ()
    commands: MonetCommands | None = None
    transitions: MonetTransitions | None = None
    motions: MonetArchive | None = None
    sounds: MonetArchive | None = None
    is_older_monet: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return plain data: each file, the IDs of the commands, and how many items the other files have.

        `ways` are the transitions of MONET.CFG.
        """
        commands = self.commands
        return {
            "models": list(self.models),
            "commands_file": None if commands is None else str(commands.path),
            "commands": None if commands is None else [command.id for command in commands.commands],
            "ways_file": None if self.transitions is None else str(self.transitions.path),
            "ways": None if self.transitions is None else len(self.transitions.agent_lines),
            "motions_file": None if self.motions is None else str(self.motions.path),
            "motions": None if self.motions is None else len(self.motions.motions),
            "sounds_file": None if self.sounds is None else str(self.sounds.path),
            "sounds": None if self.sounds is None else len(self.sounds.entries),
        }

    def __str__(self) -> str:
        """Return the models and the numbers of commands, transitions, motions and sounds."""
        counts: list[str] = []
        if self.commands is not None:
            counts.append(format_count(len(self.commands.commands), "command"))
        if self.transitions is not None:
            counts.append(format_count(len(self.transitions.agent_lines), "transition"))
        if self.motions is not None:
            counts.append(format_count(len(self.motions.motions), "motion"))
        if self.sounds is not None:
            counts.append(format_count(len(self.sounds.entries), "sound"))
        models = " and ".join(self.models) or "these files"
        return f"{models}: {', '.join(counts) or 'nothing'}"


@dataclass(frozen=True)
class MemoryStick:
    """The MONET files on a memory stick, in a folder, or among files.

    Attributes:
        setups: the files by robot models.
        designdbs: all DESIGNDB.CFG.
        findings: problems with finding and reading the files.
        root: the folder that is `/MS` on the robot; None if no file lies in an `OPEN-R` folder.
    """

    setups: tuple[MonetSetup, ...]
    designdbs: tuple[DesignDb, ...] = ()
    findings: tuple[MonetFinding, ...] = ()
    root: Path | None = None

    def setup(self, model: str) -> MonetSetup | None:
        """Return the files of a model; None if there are none."""
        return next((setup for setup in self.setups if model in setup.models), None)
