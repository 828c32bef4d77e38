"""The motions on a memory stick, with the commands that play them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from posewright.errors import FormatError
from posewright.formats import EntryKind
from posewright.formats.oda.format import document_of, motion_of
from posewright.motions import Motion
from posewright.runtimes.openr.stick.limits import postures_of
from posewright.runtimes.openr.stick.lookup import target_of
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
        archive = self.archive.archive
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
    ids: dict[tuple[Path, int], dict[int, None]] = {}
    archives: dict[Path, MonetArchive] = {}
    for setup in stick.setups:
        if setup.motions is not None:
            archives[setup.motions.path] = setup.motions
        for command in setup.commands.commands if setup.commands else ():
            for line in command.agents:
                target = target_of(line, setup)
                if command.id is not None and target is not None and target.index is not None:
                    ids.setdefault((target.archive.path, target.index), {})[command.id] = None
    motions: list[StickMotion] = []
    for path, archive in archives.items():
        for index, (entry, label) in enumerate(zip(archive.entries, archive.labels, strict=True)):
            if entry.content.kind is EntryKind.MOTION:
                name = label.name if label else entry.name
                motions.append(
                    StickMotion(
                        entry.name, name, index, ids=tuple(ids.get((path, index), ())), archive=archive
                    )
                )
    return tuple(motions)
