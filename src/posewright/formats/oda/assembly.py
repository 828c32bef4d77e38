"""Putting an archive together: motions of any format, sounds and the rest, from files.

Names of entries become names of files, and back: what a file's name cannot hold on some system is written as
its code, `%2F` for a slash, so that the way back is exact. An entry cannot get out of the folder it is put
in.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from posewright.errors import FormatError, Where
from posewright.formats.binary import ByteRange, GzipWrapping, is_gzip, unpack_gzip
from posewright.formats.file_kind import MAX_MOTION_BYTES, read_file_bytes
from posewright.formats.motion_file import (
    PageReference,
    carry_to_robot,
    describe_carrying_losses,
    describe_unmoved_joints,
    find_page,
)
from posewright.formats.motion_format import WriteOptions
from posewright.formats.oda.archive import (
    Compression,
    EntryKind,
    OdaArchive,
    OdaEntry,
    check_name,
    checked_type,
    contents_of,
    new_entry,
)
from posewright.formats.omtn.document import PLACEHOLDER, OmtnDocument
from posewright.formats.omtn.format import FORMAT as OMTN_FORMAT
from posewright.formats.omtn.format import omtn_of
from posewright.formats.omtn.reader import read_omtn
from posewright.formats.reading import read_motion_file
from posewright.formats.registry import FORMATS
from posewright.robots import Robot

_SAFE = re.compile(rb"[A-Za-z0-9_#+,=@()\[\] .-]")
"""What every system takes within a name, and no shell or tool takes for more than a letter of it."""

_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)")
"""Names that are no files on Windows, whatever follows the point."""

_MOST = 200  # letters of a name; file systems take 255 bytes, with what it ends in
_CODE = re.compile(rb"%([0-9A-F]{2})")
_AGAIN = re.compile(r"~[0-9]+$")


def file_stem(name: str) -> str:
    """Return an entry's name as that of a file, without what it ends in.

    A name that becomes longer than a file's can be is cut, and gets a number made of all of it; only that
    cannot be turned back.
    """
    raw = name.encode("latin-1")
    last = len(raw) - 1
    stem = "".join(
        chr(byte) if _SAFE.fullmatch(raw, i, i + 1) and not _at_an_end(byte, i, last) else f"%{byte:02X}"
        for i, byte in enumerate(raw)
    )
    if _DEVICES.match(stem):
        stem = f"%{ord(stem[0]):02X}{stem[1:]}"
    if len(stem) > _MOST:
        stem = f"{stem[: _MOST - 9]}~{zlib.crc32(raw)}"[:_MOST]
    return stem or "%"


def _at_an_end(byte: int, at: int, last: int) -> bool:
    """Tell whether a letter must not stand where it does: hidden files, options, ends that Windows drops."""
    return (at == 0 and byte in b".- ") or (at == last and byte in b". ")


def entry_name(path: PurePath, suffixes: tuple[str, ...] = ()) -> str:
    """Return what the entry of a file is called: as the file, without folder and ending.

    Endings of two parts among `suffixes`, such as `.motion.yaml`, are dropped whole.
    """
    name = path.name
    ending = next((suffix for suffix in suffixes if name.lower().endswith(suffix)), path.suffix)
    stem = _AGAIN.sub("", name[: len(name) - len(ending)] if ending else name)
    if not stem.isascii() or stem == "%":
        return "" if stem == "%" else stem
    raw = _CODE.sub(lambda code: bytes((int(code[1], 16),)), stem.encode("ascii"))
    return raw.decode("latin-1")


class FileNames:
    """Gives every entry a file name of its own, on systems too that do not tell `A` from `a`."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def name(self, entry: str, suffix: str) -> str:
        """Return the name of the file for an entry; a second one called so gets `~2` behind it."""
        stem = file_stem(entry)
        key = f"{stem}{suffix}".lower()
        name = f"{stem}{suffix}"
        while name.lower() in self._taken:
            self._last[key] = self._last.get(key, 1) + 1
            name = f"{stem}~{self._last[key]}{suffix}"
        self._taken.add(name.lower())
        return name


@dataclass(frozen=True)
class Part:
    """What a file becomes in an archive."""

    name: str
    data: bytes  # its bytes, not in gzip
    type: str | None = None  # what the table says it is; None for what its bytes tell
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
    """
    path = Path(path)
    data = read_file_bytes(path)
    two_parts = tuple(end for known in FORMATS.values() for end in known.suffixes if end.count(".") > 1)
    called = entry_name(path, two_parts) if name is None else name
    check_name(called)
    if type_name is not None:
        return Part(called, data, checked_type(type_name))
    kind = contents_of(data).kind
    if kind is EntryKind.MOTION:
        return _motion_part(read_omtn(data, path), called)
    if kind is not EntryKind.UNKNOWN:
        return Part(
            called,
            unpack_gzip(data, ByteRange(path), MAX_MOTION_BYTES)[0].unpacked if is_gzip(data) else data,
        )
    return _converted(path, called, name is not None, robot)


STRAIGHT = WriteOptions(straighten=True)


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
    carried = carry_to_robot(file.motion(), robot)
    motion = OMTN_FORMAT.prepare_motion(carried.motion, STRAIGHT)  # the robot knows no curves
    document, losses, remarks, _ = omtn_of(replace(motion, name=called) if is_named else motion)
    part = _motion_part(document, called)
    losses = (*describe_carrying_losses(carried), *losses)
    remarks = (*file.warnings, *describe_unmoved_joints(carried), *remarks)
    return replace(part, losses=losses, remarks=(*remarks, *part.remarks))


def with_parts(
    archive: OdaArchive, parts: Iterable[Part], compression: Compression, *, overwrite: bool = False
) -> OdaArchive:
    """Return an archive with more in it; the bytes of its entries do not change."""
    more: dict[str, OdaEntry] = {}
    for part in parts:
        data = GzipWrapping().wrap(part.data) if compression is Compression.ENTRIES else part.data
        if part.name in more or (part.name in archive.places and not overwrite):
            what = f"there is an entry called {part.name!r} already"
            raise FormatError(what, where=Where(archive.path), hint="give another --name, or say --replace")
        if part.name in archive.places:
            archive = archive.with_data(archive.places[part.name], data, part.type)
        else:
            more[part.name] = new_entry(part.name, data, part.type)
    return archive.with_more(*more.values()) if more else archive


def without_entries(
    archive: OdaArchive, entries: Sequence[PageReference], *, keep_places: bool = False
) -> OdaArchive:
    """Return an archive without some of its entries; see `files.remove_from_archive`."""
    names = {number: entry.name for number, entry in enumerate(archive.entries, 1)}
    gone = {find_page(entry, names, last=len(names), where=Where(archive.path)) - 1 for entry in entries}
    if not keep_places:
        return archive.only(*(place for place in range(len(names)) if place not in gone))
    for place in sorted(gone):
        archive = archive.with_data(place, PLACEHOLDER)
    return archive
