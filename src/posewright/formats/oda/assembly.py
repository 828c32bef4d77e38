"""Putting an archive together: motions of any format, sounds and the rest, from files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.file_bytes import MAX_MOTION_BYTES, read_file_bytes
from posewright.formats.for_robot import carried_to, lost_between_robots, unmoved
from posewright.formats.oda.archive import (
    Compression,
    OdaArchive,
    OdaEntry,
    check_name,
    checked_type,
    new_entry,
)
from posewright.formats.oda.contents import Kind, contents_of
from posewright.formats.oda.names import entry_name
from posewright.formats.omtn.document import PLACEHOLDER, OmtnDocument
from posewright.formats.omtn.format import FORMAT as OMTN_FORMAT
from posewright.formats.omtn.from_motion import omtn_of
from posewright.formats.omtn.reading import read_omtn
from posewright.formats.motion_file import Reference, find_page
from posewright.formats.binary import Place
from posewright.formats.reading import read_motion_file
from posewright.formats.registry import FORMATS
from posewright.formats.motion_format import WriteOptions
from posewright.formats.binary import Wrapping, is_wrapped, unwrap
from posewright.robots import Robot


@dataclass(frozen=True)
class Part:
    """What a file becomes in an archive.

    Attributes:
        name: of the entry.
        data: its bytes, not in gzip.
        type: what the table says it is; None for what its bytes tell.
        losses: what of a motion is lost, in words.
        remarks: what had to be filled in or said in another way, and what is odd, in words.
    """

    name: str
    data: bytes
    type: str | None = None
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def part_from_file(
    path: Path | str,
    *,
    name: str | None = None,
    type_name: str | None = None,
    robot: str | Robot | None = None,
) -> Part:
    """Return what a file becomes in an archive.

    An OMTN, a placeholder and a sound go in as they are, out of gzip. A motion of any other format is
    turned into an OMTN. Anything else goes in as it is if its type is said.

    Args:
        path: the file.
        name: what the entry is called, and a motion that is turned into an OMTN; default as the file,
            without folder and ending, as Sony's `oda` has it.
        type_name: one of `contents.TYPES`, to put in a file as it is.
        robot: the robot a motion is for; another's is carried over.

    Raises:
        FormatError: it is damaged or no motion, or does not fit.
    """
    path = Path(path)
    data = read_file_bytes(path)
    called = entry_name(path, _endings()) if name is None else name
    check_name(called)
    if type_name is not None:
        return Part(called, data, checked_type(type_name))
    kind = contents_of(data).kind
    if kind is Kind.MOTION:
        return _motion_part(read_omtn(data, path), called)
    if kind is not Kind.UNKNOWN:
        return Part(
            called, unwrap(data, Place(path), MAX_MOTION_BYTES)[0].unpacked if is_wrapped(data) else data
        )
    return _converted(path, called, name is not None, robot)


STRAIGHT = WriteOptions(straighten=True)


def _endings() -> tuple[str, ...]:
    """Return the endings of two parts that motion files have."""
    return tuple(ending for known in FORMATS.values() for ending in known.suffixes if ending.count(".") > 1)


def _motion_part(document: OmtnDocument, called: str) -> Part:
    remarks = list(document.remarks)
    if document.name != called:
        remarks.append(f"inside it is called {document.name!r}, and MoNet looks motions up by that name")
    return Part(called, document.plain, remarks=tuple(remarks))


def _converted(path: Path, called: str, is_named: bool, robot: str | Robot | None) -> Part:
    file = read_motion_file(path, robot=robot)
    if len(file.motions) > 1:
        hint = "take one of them out first: posewright motion convert --page"
        raise FormatError(f"there are {len(file.motions)} motions in the file", where=Where(path), hint=hint)
    carried = carried_to(file.motion(), robot)
    motion = file.motion() if carried is None else carried.motion
    motion = OMTN_FORMAT.prepared(motion, STRAIGHT)  # the robot knows no curves
    document, losses, remarks = omtn_of(replace(motion, name=called) if is_named else motion)
    part = _motion_part(document, called)
    losses = (*lost_between_robots(carried), *losses)
    remarks = (*file.warnings, *unmoved(carried), *remarks)
    return replace(part, losses=losses, remarks=(*remarks, *part.remarks))


def with_parts(
    archive: OdaArchive, parts: Iterable[Part], compression: Compression, *, overwrite: bool = False
) -> OdaArchive:
    """Return an archive with more in it; the bytes of its entries do not change.

    Args:
        archive: what is added to.
        parts: what is added at the end.
        compression: whether each part is to be in gzip.
        overwrite: whether a part takes the place of the entry called so.

    Raises:
        FormatError: an entry is called so, and is not to be replaced.
    """
    more: dict[str, OdaEntry] = {}
    for part in parts:
        data = Wrapping().around(part.data) if compression is Compression.ENTRIES else part.data
        if part.name in more or (part.name in archive.places and not overwrite):
            what = f"there is an entry called {part.name!r} already"
            raise FormatError(what, where=Where(archive.path), hint="give another --name, or say --replace")
        if part.name in archive.places:
            archive = archive.with_data(archive.places[part.name], data, part.type)
        else:
            more[part.name] = new_entry(part.name, data, part.type)
    return archive.with_more(*more.values()) if more else archive


def without_entries(
    archive: OdaArchive, entries: Sequence[Reference], *, keep_places: bool = False
) -> OdaArchive:
    """Return an archive without some of its entries; see `files.remove_from_archive`."""
    names = {number: entry.name for number, entry in enumerate(archive.entries, 1)}
    gone = {find_page(entry, names, last=len(names), where=Where(archive.path)) - 1 for entry in entries}
    if not keep_places:
        return archive.only(*(place for place in range(len(names)) if place not in gone))
    for place in sorted(gone):
        archive = archive.with_data(place, PLACEHOLDER)
    return archive
