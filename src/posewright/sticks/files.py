"""Looking for MONET files and reading them, on memory sticks and among given files.

A stick's file names have no fixed case; files of a searched folder are known by name, single ones by what
they hold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from posewright.documents import open_ordinary
from posewright.errors import FormatError, Where
from posewright.formats.binary import is_wrapped
from posewright.formats.file_bytes import is_text, read_file_bytes
from posewright.formats.oda.archive import MAGIC as ARCHIVE_MAGIC
from posewright.formats.oda.archive import EntryKind
from posewright.motions import Level
from posewright.sticks.finding import MonetFinding
from posewright.sticks.limits import POSTURE_FILE
from posewright.sticks.setup import DesignDb, MonetArchive, read_designdb, read_monet_archive
from posewright.sticks.text import (
    MonetCommands,
    MonetTransitions,
    is_command_list,
    read_commands,
    read_transitions,
)

OPEN_R = "OPEN-R"
STICK = "MS"
"""The first part of a path as the robot sees it: the memory stick."""

DESIGNDB, COMMANDS, TRANSITIONS = "DESIGNDB.CFG", "MONETCMD.CFG", "MONET.CFG"
ARCHIVE = ".ODA"

MAX_FILES = 20_000
"""A memory stick holds a few hundred files."""


@dataclass
class Found:
    """The files that were found, by what their names say; and those given by name, which content tells."""

    designdbs: list[Path] = field(default_factory=list)
    commands: list[Path] = field(default_factory=list)
    transitions: list[Path] = field(default_factory=list)
    archives: list[Path] = field(default_factory=list)
    given: list[Path] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Keep a file of a searched folder, if it is one of those looked for."""
        name = path.name.upper()
        lists = {DESIGNDB: self.designdbs, COMMANDS: self.commands, TRANSITIONS: self.transitions}
        if name in lists:
            lists[name].append(path)
        elif name.endswith(ARCHIVE):
            self.archives.append(path)


def search(paths: Iterable[Path]) -> Found:
    """Look through folders; files are kept as they are given."""
    found = Found()
    for path in paths:
        if path.is_dir():
            for file in _files_in(path):
                found.add(file)
        elif path.exists():
            found.given.append(path)
        else:
            raise FormatError("there is no such file or folder", where=Where(path=path))
    return found


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and all below it, in a fixed order; links to folders are not followed."""
    count = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        count += len(names)
        if count > MAX_FILES:
            hint = "name the memory stick, or its OPEN-R folder"
            raise FormatError(f"more than {MAX_FILES:,} files", where=Where(path=folder), hint=hint)
        yield from (Path(place) / name for name in sorted(names))


def stick_root(path: Path) -> Path | None:
    """Return the folder that the robot calls `/MS`: the one that holds the OPEN-R folder a path lies in."""
    for given in (Path(os.path.normpath(path)), plain_absolute(path)):
        for folder in (given, *given.parents):
            if folder.name.upper() == OPEN_R:
                return folder.parent
    return None


def plain_absolute(path: Path) -> Path:
    """Return a path from the root of the file system, without `..` in it; links stay as they are."""
    return Path(os.path.normpath(path.absolute()))


def stick_in(folder: Path) -> Path:
    """Return the memory stick that a person means by a folder: it, one around it, or `MS` in it."""
    for candidate in (folder, child(folder, STICK)):
        if candidate is not None and child(candidate, OPEN_R) is not None:
            return candidate
    root = stick_root(folder) if folder.is_dir() else None
    if root is not None:
        return root
    raise FormatError(
        "no memory stick: there is no OPEN-R folder here" if folder.is_dir() else "there is no such folder",
        where=Where(path=folder),
        hint="name the folder that holds OPEN-R, as on the stick",
    )


def child(folder: Path, name: str) -> Path | None:
    """Return what a folder holds under a name, as a memory stick does: whatever the case."""
    try:
        held = sorted(folder.iterdir())
    except OSError:
        return None
    exact = folder / name
    return exact if exact in held else next((one for one in held if one.name.upper() == name.upper()), None)


def on_stick(root: Path, path: str) -> Path | None:
    """Return the file that the robot calls `path`; None where there is none, or it leads off the stick."""
    first, *parts = [part for part in path.split("/") if part] or [""]
    if not path.startswith("/") or first.upper() != STICK or not parts or ".." in parts:
        return None
    place: Path | None = root
    for part in parts:
        place = child(place, part) if place is not None else None
    return place if place is not None and place.is_file() else None


def has_posture_file(folder: Path) -> bool:
    """Tell whether a POSTURE.CFG lies in a folder, as an older MoNet has it."""
    return child(folder, POSTURE_FILE) is not None


MAX_TEXT_BYTES = 1_000_000
"""Sony's own files have 1 kB."""

_Document = TypeVar("_Document")


@dataclass
class Documents:
    """The files, read; what could not be read is among the findings."""

    designdbs: list[DesignDb] = field(default_factory=list)
    commands: list[MonetCommands] = field(default_factory=list)
    transitions: list[MonetTransitions] = field(default_factory=list)
    given: list[MonetArchive] = field(default_factory=list)
    findings: list[MonetFinding] = field(default_factory=list)

    @classmethod
    def of(cls, found: Found) -> Documents:
        """Read what was found."""
        documents = cls()
        documents.designdbs += documents.each(found.designdbs, read_designdb_file)
        documents.commands += documents.each(found.commands, read_commands_file)
        documents.transitions += documents.each(found.transitions, _read_transitions_file)
        for document in documents.each(found.given, _read_by_content):
            documents._keep(document)
        return documents

    def each(self, paths: list[Path], read: Callable[[Path], _Document]) -> Iterator[_Document]:
        """Yield what can be read; what cannot becomes a finding."""
        for path in paths:
            try:
                yield read(path)
            except FormatError as fault:
                self.findings.append(_finding(fault, path))

    def archive_of(self, *kinds: EntryKind) -> MonetArchive | None:
        """Return the first of the archives named one by one that holds something of a kind."""
        return next((one for one in self.given if one.holds(*kinds)), None)

    def _keep(self, document: DesignDb | MonetCommands | MonetTransitions | MonetArchive) -> None:
        if isinstance(document, DesignDb):
            self.designdbs.append(document)
        elif isinstance(document, MonetCommands):
            self.commands.append(document)
        elif isinstance(document, MonetTransitions):
            self.transitions.append(document)
        else:
            self.given.append(document)


def text_bytes(path: Path) -> bytes:
    """Return what a text file holds, which may be nothing."""
    try:
        empty = path.is_file() and path.stat().st_size == 0
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", where=Where(path=path)) from error
    return b"" if empty else read_file_bytes(path, limit=MAX_TEXT_BYTES)


def read_designdb_file(path: Path) -> DesignDb:
    """Read a DESIGNDB.CFG from the disk; errors as `read_designdb`."""
    return read_designdb(text_bytes(path), path)


def read_commands_file(path: Path) -> MonetCommands:
    """Read a MONETCMD.CFG from the disk, or raise the FormatError that it is no text."""
    return read_commands(_readable(text_bytes(path), path), path)


def _read_transitions_file(path: Path) -> MonetTransitions:
    return read_transitions(_readable(text_bytes(path), path), path)


def _readable(data: bytes, path: Path) -> bytes:
    """Return `data` where it is text, or raise the FormatError that it is none."""
    if not is_text(data):
        hint = "those are DESIGNDB.CFG, MONETCMD.CFG, MONET.CFG and ODA archives"
        raise FormatError("this is no MONET file", where=Where(path=path, offset=0), hint=hint)
    return data


def _read_by_content(path: Path) -> DesignDb | MonetCommands | MonetTransitions | MonetArchive:
    magic = _magic(path)
    if magic == ARCHIVE_MAGIC or is_wrapped(magic) or path.suffix.upper() == ARCHIVE:
        return read_monet_archive(path)
    data = text_bytes(path)
    if path.name.upper() != DESIGNDB:
        _readable(data, path)
    return _read_text(data, path)


def _magic(path: Path) -> bytes:
    """Return the first bytes of a file, without ever waiting for a pipe or a device."""
    try:
        with open_ordinary(path) as file:
            return file.read(len(ARCHIVE_MAGIC))
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", where=Where(path=path)) from error


def _read_text(data: bytes, path: Path) -> DesignDb | MonetCommands | MonetTransitions:
    name = path.name.upper()
    commands = read_commands(data, path)
    if is_command_list(commands):
        return commands
    if commands.agents and all(line.word(0).startswith("monetagent") for line in commands.agents):
        return read_transitions(data, path)
    if name.endswith(COMMANDS):
        return commands
    return read_transitions(data, path) if name.endswith(TRANSITIONS) else read_designdb(data, path)


def _finding(fault: FormatError, path: Path) -> MonetFinding:
    where = fault.where or Where()
    at = f" (byte {where.offset})" if where.offset else ""
    return MonetFinding(Level.ERROR, "file", fault.message + at, path, where.line, fault.hint or "")
