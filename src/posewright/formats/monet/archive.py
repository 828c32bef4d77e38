"""An archive as MoNet looks things up in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from posewright.errors import FormatError
from posewright.formats.file_bytes import read_file_bytes
from posewright.formats.oda.archive import MAX_ARCHIVE_BYTES, OdaArchive, OdaEntry
from posewright.formats.oda.contents import TYPE_OF, Kind
from posewright.formats.oda.reading import parse_archive
from posewright.formats.omtn.sections import Sections
from posewright.formats.binary import Place
from posewright.formats.binary import head_of

_NAMES_AT = 28
_NAMES_END = 1024  # three strings of at most 255 letters, and what is before them


class MotionLabel(NamedTuple):
    """What a motion says of itself: its name, and which robot, or which part of it, it is for."""

    name: str
    design: str


@dataclass(frozen=True)
class MonetArchive:
    """An archive, and what its motions call themselves.

    Attributes:
        archive: the archive.
        path: where it lies.
    """

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
            (label.name if label is not None else None) if entry.type == TYPE_OF[Kind.MOTION] else entry.name
            for entry, label in zip(self.entries, self.labels, strict=True)
        ]
        return {name: place for place, name in reversed(list(enumerate(names))) if name is not None}

    @property
    def motions(self) -> Mapping[int, MotionLabel]:
        """The entries that hold a motion, by their place."""
        return {place: label for place, label in enumerate(self.labels) if label is not None}

    def holds(self, *kinds: Kind) -> bool:
        """Tell whether an entry holds something of one of these kinds."""
        return any(entry.contents.kind in kinds for entry in self.entries)

    @property
    def twice(self) -> tuple[str, ...]:
        """The names that several motions give themselves."""
        counted = Counter(label.name for label in self.labels if label is not None)
        return tuple(name for name, count in counted.items() if count > 1)


def read_monet_archive(path: Path) -> MonetArchive:
    """Read an archive of motions or sounds.

    Raises:
        FormatError: it cannot be read, is damaged or encrypted.
    """
    return MonetArchive(parse_archive(read_file_bytes(path, limit=MAX_ARCHIVE_BYTES), path), path)


def label_of(data: bytes) -> MotionLabel | None:
    """Return what a motion says of itself, looking at its first bytes only; None where that is no motion."""
    head = head_of(data, _NAMES_END)
    if not head.startswith(b"OMTN"):
        return None
    sections = Sections(head, Place())
    try:
        cursor = sections.open(1, _NAMES_AT, 8)
        name, _, design = sections.strings(cursor, ["", "", ""])
    except FormatError:
        return None
    return MotionLabel(name, design)
