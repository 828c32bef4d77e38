"""Reading MONET files: those of a searched folder are known by name, single ones by what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from posewright.documents import open_ordinary
from posewright.errors import FormatError, Where
from posewright.formats.file_bytes import is_text, read_file_bytes
from posewright.formats.monet.archive import MonetArchive, read_monet_archive
from posewright.formats.monet.designdb import DesignDb, read_designdb
from posewright.formats.monet.finding import MonetFinding
from posewright.formats.monet.search import ARCHIVE, COMMANDS, DESIGNDB, TRANSITIONS, Found
from posewright.formats.monet.text import (
    MonetCommands,
    MonetTransitions,
    is_command_list,
    read_commands,
    read_transitions,
)
from posewright.formats.oda.archive import MAGIC as ARCHIVE_MAGIC
from posewright.formats.oda.contents import Kind
from posewright.formats.wrapping import is_wrapped
from posewright.motions import Level

MAX_TEXT_BYTES = 1_000_000
"""Sony's own files have 1 kB."""

_Document = TypeVar("_Document")


@dataclass
class Documents:
    """The files, read; what could not be read is among the findings.

    Attributes:
        given: archives that were named one by one.
    """

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

    def archive_of(self, *kinds: Kind) -> MonetArchive | None:
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
    """Return what a text file holds, which may be nothing.

    Raises:
        FormatError: it cannot be read, or is far too large.
    """
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
