"""What motions a memory stick holds, and how programs ask for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from posewright.errors import FormatError
from posewright.formats import EntryKind
from posewright.formats.oda.format import document_of, motion_of
from posewright.motions import Motion
from posewright.sticks.limits import postures_of
from posewright.sticks.lookup import target_of
from posewright.sticks.setup import MemoryStick, MonetArchive, MonetSetup


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

    def data(self) -> dict[str, Any]:
        """Return what is to be known of it, fit for JSON."""
        told = {"entry": self.entry, "name": self.name, "index": self.place, "ids": list(self.ids)}
        try:
            motion = self.motion
        except FormatError as error:
            return {**told, "postures": self.postures, "duration_s": None, "fault": error.message}
        return {**told, "postures": self.postures, "duration_s": motion.duration, "fault": None}


def motions_on(stick: MemoryStick) -> tuple[StickMotion, ...]:
    """Return the motions of all archives, in their order; those that are damaged, too."""
    ids: dict[tuple[str, int], list[int]] = {}
    for setup in stick.setups:
        for number, archive, place in _asked_for(setup):
            ids.setdefault((str(archive.path), place), []).append(number)
    archives = {str(one.motions.path): one.motions for one in stick.setups if one.motions is not None}
    return tuple(
        StickMotion(
            entry.name, label.name if label else entry.name, place, _once(ids.get((path, place))), archive
        )
        for path, archive in archives.items()
        for place, (entry, label) in enumerate(zip(archive.entries, archive.labels, strict=True))
        if entry.contents.kind is EntryKind.MOTION
    )


def _asked_for(setup: MonetSetup) -> Iterator[tuple[int, MonetArchive, int]]:
    for command in setup.commands.commands if setup.commands else ():
        for line in command.agents:
            target = target_of(line, setup)
            if command.id is not None and target is not None and target.place is not None:
                yield command.id, target.archive, target.place


def _once(ids: list[int] | None) -> tuple[int, ...]:
    return tuple(dict.fromkeys(ids or ()))
