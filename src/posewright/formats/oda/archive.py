"""The document of an ODA archive, Sony's container for motions and sounds of an AIBO.

Source: formats.md 1.2 (from Sony's ODA-FFORM-E.txt and the SDK's `oda` and libODA, held against 20 archives).
The content of an entry is recognized by its own first bytes, since the type in the table can be wrong: in an
ERS-210's NEWMTN.ODA, recording slots without a motion have the type OMTN.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from posewright.display import Lines
from posewright.errors import FormatError, UnknownNameError, Where, escape_unprintable
from posewright.formats.binary import GzipWrapping, is_gzip, unpacked_head
from posewright.formats.file_kind import MAX_ARCHIVE_BYTES

ODA = "aibo-oda"

_HEAD_BYTES = 16


class EntryKind(Enum):
    """The kind of an entry's content."""

    MOTION = "motion"
    PLACEHOLDER = "placeholder"
    SOUND = "sound"
    MIDI = "midi"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class EntryContent:
    """The content of an entry: its kind, and whether it is in gzip."""

    kind: EntryKind
    is_packed: bool = False


TYPE_OF = {
    EntryKind.MOTION: "OMTN",
    EntryKind.PLACEHOLDER: "OMTN",
    EntryKind.SOUND: "WAVE",
    EntryKind.MIDI: "MIDI",
}
"""The type in the table of each kind of content."""

TYPES = ("OMTN", "WAVE", "MIDI", "LED", "SYN", "STT ", "OSND")
"""The types of Sony's tools; anything else has an empty type."""

_SUFFIX_OF_KIND = {
    EntryKind.MOTION: ".mtn",
    EntryKind.PLACEHOLDER: ".mtn",
    EntryKind.SOUND: ".wav",
    EntryKind.MIDI: ".mid",
}
_SUFFIX_OF_TYPE = {"LED": ".led", "SYN": ".syn", "STT ": ".stt", "OSND": ".osnd"}


def content_of(data: bytes) -> EntryContent:
    """Return the kind of `data` from its first bytes."""
    head = unpacked_head(data, _HEAD_BYTES)
    return EntryContent(_kind_of(head), is_gzip(data))


def suffix_of(kind: EntryKind, type_name: str) -> str:
    """Return the suffix of a file with an entry's content."""
    return _SUFFIX_OF_KIND.get(kind) or _SUFFIX_OF_TYPE.get(type_name, ".bin")


def _kind_of(head: bytes) -> EntryKind:
    """Return the kind of content that begins with these bytes."""
    if head.startswith(b"OMTN"):
        return EntryKind.MOTION
    if head.startswith(b"NotOMTN "):
        return EntryKind.PLACEHOLDER
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return EntryKind.SOUND
    return EntryKind.MIDI if head.startswith(b"MThd") else EntryKind.UNKNOWN


MAGIC = b"ODAR"
HEAD = struct.Struct("<4sHHII48s")
"""The fields of an `ArchiveHead`."""


class ArchiveHead(NamedTuple):
    """The first bytes of an archive."""

    magic: bytes
    major_version: int
    minor_version: int
    n_entries: int
    row_bytes: int  # of each entry in the table
    reserved: bytes

    @classmethod
    def unpack(cls, data: bytes) -> ArchiveHead:
        """Return the head of an archive from its bytes."""
        return cls._make(HEAD.unpack_from(data))


ROW = struct.Struct("<4s128sIII")
"""An entry of the table: type, name, offset from the start of the file, size, reserved."""

NAME_BYTES = 127
"""Longest name; the table has 128 bytes, of which the last is 0."""


class Compression(Enum):
    """The use of gzip in an archive: AIBO Mind 2 compresses the whole file, Mind 3 each entry."""

    NONE = "none"
    FILE = "file"
    ENTRIES = "entries"


_GZIP = {
    Compression.NONE: "no gzip",
    Compression.FILE: "gzip around the whole file",
    Compression.ENTRIES: "gzip around each entry",
}


def format_entry_count(count: int) -> str:
    """Return a number of entries as text: `1 entry`, `2 entries`."""
    return f"{count} {'entry' if count == 1 else 'entries'}"


def pluralize(noun: str, count: int) -> str:
    """Return a noun, a kind of entry or `file`, in the singular or plural for a count."""
    return noun if count == 1 or noun in ("midi", "unknown") else f"{noun}s"


@dataclass(frozen=True, slots=True)
class OdaEntry:
    """An entry of an archive.

    Attributes:
        name: its name.
        type: its type in the table: `OMTN`, `WAVE`, `STT `; empty for none.
        data: its bytes, with gzip if the archive has it.
        after_name: bytes after the name in the table's field for it.
        reserved: a number in the table, 0 in all known archives.
        offset: the offset of its bytes in the archive it was read from; None for a new entry.
    """

    name: str
    type: str
    data: bytes = field(repr=False)
    after_name: bytes = b""
    reserved: int = 0
    offset: int | None = None

    @property
    def content(self) -> EntryContent:
        """Its content, as recognized from its first bytes."""
        return content_of(self.data)

    def to_dict(self) -> dict[str, object]:
        """Return a description of the entry as plain data."""
        content = self.content
        return {
            "name": self.name,
            "type": self.type,
            "holds": content.kind.value,
            "gzip": content.is_packed,
            "offset": self.offset,
            "size_bytes": len(self.data),
        }

    def row(self, offset: int) -> bytes:
        """Return its row of the table, with its bytes at `offset`."""
        name = self.name.encode("latin-1") + self.after_name
        return ROW.pack(self.type.encode("latin-1"), name, offset, len(self.data), self.reserved)


@dataclass(frozen=True)
class OdaArchive:
    """An archive; unchanged, `render` returns the bytes it was read from.

    Attributes:
        entries: the entries in the order of the table; a MONETCMD.CFG may name them by their place in it.
        path: its file.
        version: major and minor version.
        reserved: the last bytes of the header.
        plain_bytes: the bytes it was read from, without gzip; empty for a changed or new archive.
        wrapping: the gzip around the file, None without.
        remarks: descriptions of what is unusual about it.
    """

    entries: tuple[OdaEntry, ...] = ()
    path: Path | None = None
    version: tuple[int, int] = (0, 3)
    reserved: bytes = b""
    plain_bytes: bytes = b""
    wrapping: GzipWrapping | None = None
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"OdaArchive({len(self.entries)} entries, {str(self.path)!r})"

    @cached_property
    def indices(self) -> Mapping[str, int]:
        """Index of each entry by its name; of several with the same name, the first, as on the robot."""
        return {entry.name: index for index, entry in reversed(list(enumerate(self.entries)))}

    @cached_property
    def compression(self) -> Compression:
        """Its use of gzip."""
        if self.wrapping is not None:
            return Compression.FILE
        has_packed_entries = any(is_gzip(entry.data) for entry in self.entries)
        return Compression.ENTRIES if has_packed_entries else Compression.NONE

    def to_dict(self, *, with_entries: bool = True) -> dict[str, object]:
        """Return a description of the archive as plain data."""
        entries = [{"number": number, **entry.to_dict()} for number, entry in enumerate(self.entries, 1)]
        return {
            "file": str(self.path),
            "format": ODA,
            "gzip": self.compression.value,
            "n_entries": len(self.entries),
            "holds": self._count_kinds(),
            "warnings": list(self.remarks),
            **({"entries": entries} if with_entries else {}),
        }

    @property
    def summary(self) -> str:
        """A description of the archive in one line."""
        counts = ", ".join(f"{count} {pluralize(kind, count)}" for kind, count in self._count_kinds().items())
        entries = format_entry_count(len(self.entries))
        return f"{self.path}: {entries} ({counts or 'empty'}), {_GZIP[self.compression]}"

    def lines(self) -> Lines:
        """Yield the summary and a line for each entry."""
        yield self.summary
        width = len(str(len(self.entries)))
        for number, entry in enumerate(self.entries, 1):
            content = entry.content
            packed = " (gzip)" if content.is_packed else ""
            size = f"{len(entry.data):>9,}"
            name = escape_unprintable(entry.name)
            yield f"  {number:>{width}}  {content.kind.value:<11}{size}{packed:<7}  {name}"

    def _count_kinds(self) -> dict[str, int]:
        return dict(Counter(entry.content.kind.value for entry in self.entries))

    def index_of(self, name: str) -> int:
        """Return the index of the first entry with a name; raise UnknownNameError if there is none."""
        if name not in self.indices:
            raise UnknownNameError.among("entry", name, self.indices, where=Where(self.path))
        return self.indices[name]

    def entry(self, name: str) -> OdaEntry:
        """Return the first entry with a name; raise UnknownNameError if there is none."""
        return self.entries[self.index_of(name)]

    def with_entry(self, name: str, data: bytes, kind: str | None = None) -> OdaArchive:
        """Return the archive with an entry, which replaces the entry of the same name or is added at the end.

        Args:
            name: its name, at most 127 characters of Latin-1.
            data: its bytes as they are in the archive, with gzip if it has it.
            kind: its type, one of `TYPES`; by default that of its content, or that of the replaced entry.

        Raises:
            FormatError: the name or the type is not possible.
        """
        if name in self.indices:
            return self.with_data(self.indices[name], data, kind)
        return self.with_entries(new_entry(name, data, kind))

    def with_entries(self, *entries: OdaEntry) -> OdaArchive:
        """Return the archive with further entries at its end."""
        return self._replace_entries((*self.entries, *entries))

    def with_data(self, index: int, data: bytes, kind: str | None = None) -> OdaArchive:
        """Return the archive with the bytes of one entry replaced.

        Args:
            index: the index of the entry, from 0.
            data: its new bytes.
            kind: its new type; None for that of its new content.

        Raises:
            FormatError: there is no such type.
        """
        old_entry = self.entries[index]
        if data == old_entry.data and kind is None:
            return self
        if kind is None:
            kind = TYPE_OF.get(content_of(data).kind, old_entry.type)
        entry = replace(old_entry, type=full_type(kind), data=data, offset=None)
        return self._replace_entries((*self.entries[:index], entry, *self.entries[index + 1 :]))

    def with_only(self, *indices: int) -> OdaArchive:
        """Return the archive with only the entries with the given indices."""
        return self._replace_entries(tuple(self.entries[index] for index in indices))

    def render(self) -> bytes:
        """Return the archive's bytes: those it was read from, or new ones without gaps."""
        plain_bytes = self.plain_bytes or self._build_bytes()
        return plain_bytes if self.wrapping is None else self.wrapping.wrap(plain_bytes)

    def _replace_entries(self, entries: tuple[OdaEntry, ...]) -> OdaArchive:
        return replace(self, entries=entries, plain_bytes=b"")

    def _build_bytes(self) -> bytes:
        """Return new bytes with the data in the table's order and no gaps, as Sony's tool lays them out."""
        n_entries = len(self.entries)
        offset = HEAD.size + ROW.size * n_entries  # of the data of the next entry
        size = offset + sum(len(entry.data) for entry in self.entries)
        if size > MAX_ARCHIVE_BYTES:
            hint = f"at most {MAX_ARCHIVE_BYTES:,}; split it in two"
            raise FormatError(f"the archive would have {size:,} bytes", where=Where(self.path), hint=hint)
        rows: list[bytes] = []
        for entry in self.entries:
            rows.append(entry.row(offset))
            offset += len(entry.data)
        major_version, minor_version = self.version
        head = ArchiveHead(MAGIC, major_version, minor_version, n_entries, ROW.size, self.reserved)
        return b"".join((HEAD.pack(*head), *rows, *(entry.data for entry in self.entries)))


def new_entry(name: str, data: bytes, kind: str | None = None) -> OdaEntry:
    """Return an entry that is not in an archive yet.

    Args:
        name: its name, at most 127 characters of Latin-1.
        data: its bytes as they will be in the archive, with gzip if it has it.
        kind: its type, one of `TYPES`; None for that of its content.

    Raises:
        FormatError: the name or the type is not possible.
    """
    require_name(name)
    if kind is None:
        kind = TYPE_OF.get(content_of(data).kind, "")
    return OdaEntry(name, full_type(kind), data)


def require_name(name: str) -> None:
    """Raise FormatError for a name that an entry cannot have."""
    hint = f"use 1 to {NAME_BYTES} characters of Latin-1, those of western Europe"
    try:
        size = len(name.encode("latin-1"))
    except UnicodeEncodeError as error:
        raise FormatError(f"an entry cannot be called {name!r}", hint=hint) from error
    if not 1 <= size <= NAME_BYTES or "\0" in name:
        raise FormatError(f"an entry cannot be called {name!r}, with {size} characters", hint=hint)


def full_type(name: str) -> str:
    """Return a type as in the table, where some end in a blank; raise FormatError for an unknown one."""
    for type_name in TYPES:
        if type_name.strip() == name.strip().upper():
            return type_name
    if name.strip():
        hint = f"use {', '.join(type_name.strip() for type_name in TYPES)}, or none"
        raise FormatError(f"an entry cannot be of type {name!r}", hint=hint)
    return ""
