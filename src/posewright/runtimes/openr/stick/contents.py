"""What motions a memory stick holds, and how programs ask for each."""

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
        entry: what its archive calls it.
        name: what it calls itself, which says where it begins and ends; the entry's where it is damaged.
        place: in its archive, from 0, as MONETCMD.CFG counts.
        ids: of the commands that play it.
    """

    entry: str
    name: str
    place: int
    ids: tuple[int, ...]
    archive: MonetArchive = field(repr=False)

    @cached_property
    def motion(self) -> Motion:
        """The motion itself, read when it is first asked for; raises a FormatError where it is damaged."""
        number, held = self.place + 1, self.archive.archive
        document = document_of(self.archive.entries[self.place], number, held)
        return motion_of(document, number, held, self.archive.path)

    @property
    def postures(self) -> str:
        """From where to where it leads: `stand to sit`; empty where its name does not say."""
        begin, end = postures_of(self.name)
        return f"{begin} to {end}" if begin and end else ""

    @cached_property
    def fault(self) -> str | None:
        """Why it cannot be read; None where it can."""
        try:
            _ = self.motion
        except FormatError as error:
            return error.message
        return None

    def data(self) -> dict[str, object]:
        """Return what is to be known of it, fit for JSON."""
        return {
            "entry": self.entry,
            "name": self.name,
            "index": self.place,
            "ids": list(self.ids),
            "postures": self.postures,
            "duration_s": None if self.fault else self.motion.duration,
            "fault": self.fault,
        }

    def line(self, width: int) -> str:
        """Return name, in so many columns, length, the ids that play it, and where it leads."""
        length = "damaged" if self.fault else f"{self.motion.duration:.2f} s"
        command = f"id {', '.join(map(str, self.ids))}" if self.ids else "no command"
        details = self.fault or ", ".join(filter(None, [command, self.postures]))
        return f"{self.name:<{width}}  {length:>8}  {details}"


def motions_on(stick: MemoryStick) -> tuple[StickMotion, ...]:
    """Return the motions of all archives, in their order; those that are damaged, too."""
    ids: dict[tuple[Path, int], list[int]] = {}
    archives: dict[Path, MonetArchive] = {}
    for setup in stick.setups:
        if setup.motions is not None:
            archives[setup.motions.path] = setup.motions
        for command in setup.commands.commands if setup.commands else ():
            for target in filter(None, (target_of(line, setup) for line in command.agents)):
                if command.id is not None and target.place is not None:
                    ids.setdefault((target.archive.path, target.place), []).append(command.id)
    return tuple(
        StickMotion(
            entry.name, label.name if label else entry.name, place, tuple(dict.fromkeys(asked)), archive
        )
        for path, archive in archives.items()
        for place, (entry, label) in enumerate(zip(archive.entries, archive.labels, strict=True))
        for asked in [ids.get((path, place), ())]
        if entry.content.kind is EntryKind.MOTION
    )
