"""Assembly of archives from files: motions of any format, sounds and others.

Names of entries are converted to names of files and back: characters that a file's name cannot hold on some
system are written as their codes, `%2F` for a slash, so the conversion is exact. An entry's file is always in
the folder it is extracted to.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from posewright.documents import is_device_name
from posewright.errors import FormatError, Where
from posewright.formats.binary import ByteRange, GzipWrapping, is_gzip, unpack_gzip
from posewright.formats.file_kind import MAX_MOTION_BYTES, read_file_bytes
from posewright.formats.motion_file import (
    PageReference,
    describe_retargeting_losses,
    describe_unmoved_joints,
    find_page,
    retarget_to_robot,
)
from posewright.formats.motion_format import WriteOptions
from posewright.formats.oda.archive import (
    Compression,
    EntryKind,
    OdaArchive,
    OdaEntry,
    content_of,
    full_type,
    new_entry,
    require_name,
)
from posewright.formats.omtn.document import PLACEHOLDER, OmtnDocument
from posewright.formats.omtn.format import FORMAT as OMTN_FORMAT
from posewright.formats.omtn.format import omtn_of
from posewright.formats.omtn.reader import read_omtn
from posewright.formats.reading import read_motion_file
from posewright.formats.registry import FORMATS
from posewright.hazards import find_faults
from posewright.robots import Robot

_SAFE = re.compile(rb"[A-Za-z0-9_#+,=@()\[\] .-]")
"""Characters that every system allows in a name and no shell or tool interprets."""

_MAX_STEM_LENGTH = 200  # file systems allow 255 bytes with the suffix
_CHECKSUM_LENGTH = 9  # room for `~` and the first digits of a checksum
_EMPTY_STEM = "%"
"""The file of an entry without a name; an escaped byte has three characters."""

_ESCAPED_BYTE = re.compile(rb"%([0-9A-F]{2})")
_COUNTER_SUFFIX = re.compile(r"~[0-9]+$")
"""What `file_stem` writes for an unsafe byte, and `FileNames` after a name that is in use."""


def file_stem(name: str) -> str:
    """Return an entry's name as that of a file, without the suffix.

    A name that is too long for a file is shortened and gets a checksum; only such a name cannot be converted
    back.
    """
    raw = name.encode("latin-1")
    characters: list[str] = []
    for i, byte in enumerate(raw):
        is_unsafe_at_start = i == 0 and byte in b".- "  # a hidden file, or an option of a command
        is_unsafe_at_end = i == len(raw) - 1 and byte in b". "  # Windows drops it
        is_safe = _SAFE.fullmatch(raw, i, i + 1) and not is_unsafe_at_start and not is_unsafe_at_end
        characters.append(chr(byte) if is_safe else f"%{byte:02X}")
    stem = "".join(characters)
    if is_device_name(stem):
        stem = f"%{ord(stem[0]):02X}{stem[1:]}"
    if len(stem) > _MAX_STEM_LENGTH:
        beginning = stem[: _MAX_STEM_LENGTH - _CHECKSUM_LENGTH]
        stem = f"{beginning}~{zlib.crc32(raw)}"[:_MAX_STEM_LENGTH]
    return stem or _EMPTY_STEM


def entry_name(path: PurePath, suffixes: tuple[str, ...] = ()) -> str:
    """Return the name of a file's entry: that of the file without folder and suffix.

    `suffixes` are suffixes of two parts, such as `.motion.yaml`, which are removed whole.
    """
    name = path.name
    file_suffix = next((suffix for suffix in suffixes if name.lower().endswith(suffix)), path.suffix)
    stem = _COUNTER_SUFFIX.sub("", name[: len(name) - len(file_suffix)])
    if stem == _EMPTY_STEM:
        return ""
    if not stem.isascii():  # not from `file_stem`, so no byte is escaped
        return stem
    raw = _ESCAPED_BYTE.sub(lambda match: bytes.fromhex(match[1].decode()), stem.encode("ascii"))
    return raw.decode("latin-1")


class FileNames:
    """Chooses a different file name for every entry, also on systems that ignore upper and lower case."""

    def __init__(self) -> None:
        self._used_names: set[str] = set()
        self._last_counters: dict[str, int] = {}

    def choose_name(self, entry: str, suffix: str) -> str:
        """Return the name of an entry's file, and reserve it; a second entry of the same name gets `~2`."""
        stem = file_stem(entry)
        name = f"{stem}{suffix}"
        key = name.lower()
        while name.lower() in self._used_names:
            self._last_counters[key] = self._last_counters.get(key, 1) + 1
            name = f"{stem}~{self._last_counters[key]}{suffix}"
        self._used_names.add(name.lower())
        return name


@dataclass(frozen=True)
class ArchivePart:
    """A file prepared for an archive.

    Attributes:
        name: the name of the entry.
        data: its bytes, without gzip.
        type: its type in the table; None for that of its content.
        losses: descriptions of what was lost in a conversion.
        remarks: descriptions of what was changed or is unusual.
        faults: errors of `motion check` in the motion.
    """

    name: str
    data: bytes
    type: str | None = None
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def part_from_file(
    path: Path | str,
    *,
    name: str | None = None,
    type_name: str | None = None,
    robot: str | Robot | None = None,
) -> ArchivePart:
    """Return a file prepared for an archive: its bytes, and the name and type of its entry.

    A motion in Sony's format OMTN, a placeholder or a sound is unpacked from gzip but not changed. A motion
    of any other format is converted to an OMTN. Any other file needs a type and is not changed.

    Args:
        path: the file.
        name: the name of the entry, and of a motion that is converted; by default that of the file without
            folder and suffix, as in Sony's `oda`.
        type_name: a type of `archive.TYPES`, for a file that is added unchanged.
        robot: the robot for which a motion is converted; default: that of the motion.
    """
    path = Path(path)
    data = read_file_bytes(path)
    if name is None:
        all_suffixes = [suffix for motion_format in FORMATS.values() for suffix in motion_format.suffixes]
        entry_label = entry_name(path, tuple(suffix for suffix in all_suffixes if suffix.count(".") > 1))
    else:
        entry_label = name
    require_name(entry_label)
    kind = content_of(data).kind
    if type_name is not None:
        faults = _find_faults_of_omtn(data, path) if kind is EntryKind.MOTION else ()
        return ArchivePart(entry_label, data, full_type(type_name), faults=faults)
    if kind is EntryKind.MOTION:
        part = _build_motion_part(read_omtn(data, path), entry_label)
        return replace(part, faults=_find_faults_of_omtn(data, path))
    if kind is not EntryKind.UNKNOWN:
        if is_gzip(data):
            data = unpack_gzip(data, ByteRange(path), MAX_MOTION_BYTES)[0].unpacked
        return ArchivePart(entry_label, data)
    return _convert_motion(path, entry_label, is_renamed=name is not None, robot=robot)


def _find_faults_of_omtn(data: bytes, path: Path) -> tuple[str, ...]:
    """Return the errors of `motion check` in an OMTN; none if it cannot be read as a motion."""
    try:
        return find_faults(OMTN_FORMAT.read(data, path, None).motion())
    except FormatError:  # an entry of any type may be damaged
        return ()


STRAIGHT = WriteOptions(straighten=True)


def _build_motion_part(document: OmtnDocument, name: str) -> ArchivePart:
    remarks = list(document.remarks)
    if document.name != name:
        remarks.append(f"the motion itself is called {document.name!r}, by which MoNet finds it")
    return ArchivePart(name, document.plain_bytes, remarks=tuple(remarks))


def _convert_motion(path: Path, name: str, *, is_renamed: bool, robot: str | Robot | None) -> ArchivePart:
    """Return a motion of any format as an OMTN, renamed if `is_renamed`."""
    file = read_motion_file(path, robot=robot)
    if len(file.motions) > 1:
        hint = "extract one of them first: posewright motion convert --page"
        raise FormatError(f"the file has {len(file.motions)} motions", where=Where(path), hint=hint)
    retargeted = retarget_to_robot(file.motion(), robot)
    motion = OMTN_FORMAT.prepare_motion(retargeted.motion, STRAIGHT)  # the robot plays straight segments only
    written_document = omtn_of(replace(motion, name=name) if is_renamed else motion)
    part = _build_motion_part(written_document.document, name)
    losses = (*describe_retargeting_losses(retargeted), *written_document.losses)
    remarks = (*file.warnings, *describe_unmoved_joints(retargeted), *written_document.remarks, *part.remarks)
    return replace(part, losses=losses, remarks=remarks, faults=find_faults(retargeted.motion))


def with_parts(
    archive: OdaArchive, parts: Iterable[ArchivePart], compression: Compression, *, overwrite: bool = False
) -> OdaArchive:
    """Return an archive with further entries; the bytes of the old entries do not change.

    Args:
        archive: the archive.
        parts: the files to add, in this order, after the old entries.
        compression: the use of gzip in the archive; `ENTRIES` packs the new entries.
        overwrite: whether a part replaces an old entry of its name, at the place of that entry.

    Raises:
        FormatError: two parts have the same name, or an old entry has it and `overwrite` is false.
    """
    new_entries: dict[str, OdaEntry] = {}
    for part in parts:
        data = GzipWrapping().wrap(part.data) if compression is Compression.ENTRIES else part.data
        if part.name in new_entries or (part.name in archive.indices and not overwrite):
            message = f"there is an entry called {part.name!r} already"
            hint = "choose another --name, or replace it with --replace"
            raise FormatError(message, where=Where(archive.path), hint=hint)
        if part.name in archive.indices:
            archive = archive.with_data(archive.indices[part.name], data, part.type)
        else:
            new_entries[part.name] = new_entry(part.name, data, part.type)
    return archive.with_entries(*new_entries.values()) if new_entries else archive


def without_entries(
    archive: OdaArchive, entries: Sequence[PageReference], *, keep_places: bool = False
) -> OdaArchive:
    """Return an archive without some entries.

    Args:
        archive: the archive.
        entries: names or numbers, from 1, of the entries to remove.
        keep_places: whether placeholders take their places, so that the other entries keep their numbers.
    """
    names = {number: entry.name for number, entry in enumerate(archive.entries, 1)}
    where = Where(archive.path)
    removed_indices = {find_page(entry, names, last=len(names), where=where) - 1 for entry in entries}
    if not keep_places:
        return archive.with_only(*(index for index in range(len(names)) if index not in removed_indices))
    for index in sorted(removed_indices):
        archive = archive.with_data(index, PLACEHOLDER)
    return archive
