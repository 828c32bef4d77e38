"""The motions on a memory stick, with the commands that play them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from posewright.errors import FormatError
from posewright.formats import EntryKind
from posewright.formats.oda.format import document_of, motion_of
from posewright.motions import Motion
from posewright.runtimes.openr.stick.limits import postures_of
from posewright.runtimes.openr.stick.lookup import find_played_entry
from posewright.runtimes.openr.stick.setup import MemoryStick, MonetArchive


@dataclass(frozen=True)
class StickMotion:
    """A motion on a memory stick.

    Attributes:
        entry: name of the entry in its archive.
        name: its own name, which states its postures; that of the entry if it is damaged.
        index: index in its archive, from 0, as in MONETCMD.CFG.
        ids: the IDs of the commands that play it.
        archive: contains it.
    """

    entry: str
    name: str
    index: int
    ids: tuple[int, ...]
    archive: MonetArchive = field(repr=False)

    @cached_property
    def motion(self) -> Motion:
        """The motion itself, read on first use; raises a FormatError if it is damaged."""
        number = self.index + 1
        archive = self.archive.oda_archive
        document = document_of(self.archive.entries[self.index], number, archive)
        return motion_of(document, number, archive, self.archive.path)

    @property
    def postures(self) -> str:
        """Its postures: `stand to sit`; empty if its name does not state them."""
        begin, end = postures_of(self.name)
        return f"{begin} to {end}" if begin and end else ""

    @cached_property
    def fault(self) -> str | None:
        """Why it cannot be read; None if it can."""
        try:
            _ = self.motion
        except FormatError as error:
            return error.message
        return None

    def data(self) -> dict[str, object]:
        """Return its description as plain data."""
        return {
            "entry": self.entry,
            "name": self.name,
            "index": self.index,
            "ids": list(self.ids),
            "postures": self.postures,
            "duration_s": None if self.fault else self.motion.duration,
            "fault": self.fault,
        }

    def line(self, width: int) -> str:
        """Return name, padded to a width, duration, IDs and postures as a line of text."""
        length = "damaged" if self.fault else f"{self.motion.duration:.2f} s"
        command = f"id {', '.join(map(str, self.ids))}" if self.ids else "no command"
        details = self.fault or ", ".join(filter(None, [command, self.postures]))
        return f"{self.name:<{width}}  {length:>8}  {details}"


def motions_on(stick: MemoryStick) -> tuple[StickMotion, ...]:
    """Return the motions of all archives, in their order, including damaged ones."""
    archives: dict[Path, MonetArchive] = {}
    for setup in stick.setups:
        if setup.motions is not None:
            archives[setup.motions.path] = setup.motions
    command_ids = _command_ids_by_entry(stick)
    motions: list[StickMotion] = []
    for path, archive in archives.items():
        for index, (entry, label) in enumerate(zip(archive.entries, archive.labels, strict=True)):
            if entry.content.kind is not EntryKind.MOTION:
                continue
            name = label.name if label else entry.name
            ids = command_ids.get(_EntryKey(path, index), ())
            motions.append(StickMotion(entry.name, name, index, ids=tuple(ids), archive=archive))
    return tuple(motions)


class _EntryKey(NamedTuple):
    """An entry of an archive: the file of the archive, and the index in it."""

    archive_path: Path
    entry_index: int


def _command_ids_by_entry(stick: MemoryStick) -> dict[_EntryKey, list[int]]:
    """Return the IDs of the commands that play each entry, each once, in the order of the files."""
    ids: dict[_EntryKey, list[int]] = {}
    for setup in stick.setups:
        for command in setup.commands.commands if setup.commands else ():
            for line in command.agent_lines:
                target = find_played_entry(line, setup)
                if command.id is None or target is None or target.index is None:
                    continue
                entry_ids = ids.setdefault(_EntryKey(target.archive.path, target.index), [])
                if command.id not in entry_ids:
                    entry_ids.append(command.id)
    return ids
