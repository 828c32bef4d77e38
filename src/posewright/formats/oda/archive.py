"""An ODA archive as a document: Sony's container for motions and sounds of an AIBO.

Source: formats.md 1.2 (from Sony's ODA-FFORM-E.txt and the SDK's `oda` and libODA, held against 20 archives).
What an entry holds is told by its own first bytes: the table's type can lie (an ERS-210's NEWMTN.ODA says
OMTN of recording slots that hold none).
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from pathlib import Path

from posewright.display import Lines
from posewright.errors import FormatError, UnknownNameError, Where, escape_unprintable
from posewright.formats.binary import GzipWrapping, is_gzip, unpacked_head
from posewright.formats.file_kind import MAX_ARCHIVE_BYTES

ODA = "aibo-oda"

_HEAD_BYTES = 16


class EntryKind(Enum):
    """What an entry holds, as people say it."""

    MOTION = "motion"
    PLACEHOLDER = "placeholder"
    SOUND = "sound"
    MIDI = "midi"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Contents:
    """What an entry holds."""

    kind: EntryKind
    is_packed: bool = False


TYPE_OF = {
    EntryKind.MOTION: "OMTN",
    EntryKind.PLACEHOLDER: "OMTN",
    EntryKind.SOUND: "WAVE",
    EntryKind.MIDI: "MIDI",
}
"""The type that the table gives to what is of a kind."""

TYPES = ("OMTN", "WAVE", "MIDI", "LED", "SYN", "STT ", "OSND")
"""The types that Sony's tools know; the table has an empty one for what they do not."""

_SUFFIX_OF_KIND = {
    EntryKind.MOTION: ".mtn",
    EntryKind.PLACEHOLDER: ".mtn",
    EntryKind.SOUND: ".wav",
    EntryKind.MIDI: ".mid",
}
_SUFFIX_OF_TYPE = {"LED": ".led", "SYN": ".syn", "STT ": ".stt", "OSND": ".osnd"}


def contents_of(data: bytes) -> Contents:
    """Tell what `data` is, looking at its first bytes only."""
    head = unpacked_head(data, _HEAD_BYTES)
    return Contents(_kind_of(head), is_gzip(data))


def suffix_of(kind: EntryKind, type_name: str) -> str:
    """Return how the name of a file ends that holds such an entry."""
    return _SUFFIX_OF_KIND.get(kind) or _SUFFIX_OF_TYPE.get(type_name, ".bin")


def _kind_of(head: bytes) -> EntryKind:
    if head.startswith(b"OMTN"):
        return EntryKind.MOTION
    if head.startswith(b"NotOMTN "):
        return EntryKind.PLACEHOLDER
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return EntryKind.SOUND
    return EntryKind.MIDI if head.startswith(b"MThd") else EntryKind.UNKNOWN


MAGIC = b"ODAR"
HEAD = struct.Struct("<4sHHII48s")
"""Magic, major, minor, number of entries, bytes of an entry of the table, reserved."""

ROW = struct.Struct("<4s128sIII")
"""An entry of the table: type, name, offset from the start of the file, size, reserved."""

NAME_BYTES = 127  # the table has room for 128; the last is 0


class Compression(Enum):
    """Where an archive has gzip: AIBO Mind 2 wraps the whole file, Mind 3 each entry."""

    NONE = "none"
    FILE = "file"
    ENTRIES = "entries"


_GZIP = {
    Compression.NONE: "no gzip",
    Compression.FILE: "gzip around all of it",
    Compression.ENTRIES: "gzip around each entry",
}


def entries_counted(count: int) -> str:
    """Return a number of entries in words: `1 entry`, `2 entries`."""
    return f"{count} {'entry' if count == 1 else 'entries'}"


def plural(noun: str, count: int) -> str:
    """Return the noun for so many: of a kind of entry, or `file`."""
    return noun if count == 1 or noun in ("midi", "unknown") else f"{noun}s"


@dataclass(frozen=True, slots=True)
class OdaEntry:
    """An entry of an archive.

    Attributes:
        type: what the table says it is: `OMTN`, `WAVE`, `STT `; empty where it does not say.
        data: its bytes, in gzip where they are so in the archive.
        after_name: what else stands in the table's room for the name, from the byte behind it on.
        reserved: a number in the table, 0 in every archive seen.
        offset: where its bytes were in the archive as it was read; None for one that was not.
    """

    name: str
    type: str
    data: bytes = field(repr=False)
    after_name: bytes = b""
    reserved: int = 0
    offset: int | None = None

    @property
    def contents(self) -> Contents:
        """What it really holds."""
        return contents_of(self.data)

    def to_dict(self) -> dict[str, object]:
        """Return what is to be known of it, fit for JSON."""
        contents = self.contents
        return {
            "name": self.name,
            "type": self.type,
            "holds": contents.kind.value,
            "gzip": contents.is_packed,
            "offset": self.offset,
            "size_bytes": len(self.data),
        }

    def row(self, offset: int) -> bytes:
        """Return its row of the table for its bytes at `offset`."""
        name = self.name.encode("latin-1") + self.after_name
        return ROW.pack(self.type.encode("latin-1"), name, offset, len(self.data), self.reserved)


@dataclass(frozen=True)
class OdaArchive:
    """An archive. As long as nothing is changed, `render` gives the bytes it was read from.

    Attributes:
        entries: in the order of the table; a MONETCMD.CFG may name them by their place in it.
        reserved: what follows the header's numbers.
        plain: the bytes it was read from, out of gzip; empty for one that was changed or made here.
    """

    entries: tuple[OdaEntry, ...] = ()
    path: Path | None = None
    version: tuple[int, int] = (0, 3)
    reserved: bytes = b""
    plain: bytes = b""
    wrapping: GzipWrapping | None = None
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"OdaArchive({len(self.entries)} entries, {str(self.path)!r})"

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Place of each entry by its name, from 0; of several called so, the first, as on the robot."""
        return {entry.name: place for place, entry in reversed(list(enumerate(self.entries)))}

    @cached_property
    def compression(self) -> Compression:
        """Where it has gzip."""
        if self.wrapping is not None:
            return Compression.FILE
        packed = any(is_gzip(entry.data) for entry in self.entries)
        return Compression.ENTRIES if packed else Compression.NONE

    def to_dict(self, *, with_entries: bool = True) -> dict[str, object]:
        """Return what the archive is and holds, fit for JSON."""
        entries = [{"number": number, **entry.to_dict()} for number, entry in enumerate(self.entries, 1)]
        return {
            "file": str(self.path),
            "format": ODA,
            "gzip": self.compression.value,
            "n_entries": len(self.entries),
            "holds": self._kinds(),
            "warnings": list(self.remarks),
            **({"entries": entries} if with_entries else {}),
        }

    @property
    def summary(self) -> str:
        """What the archive holds, in a line."""
        counts = ", ".join(f"{count} {plural(kind, count)}" for kind, count in self._kinds().items())
        entries = entries_counted(len(self.entries))
        return f"{self.path}: {entries} ({counts or 'empty'}), {_GZIP[self.compression]}"

    def lines(self) -> Lines:
        """Yield the summary, and a line for each entry."""
        yield self.summary
        width = len(str(len(self.entries)))
        for number, entry in enumerate(self.entries, 1):
            contents = entry.contents
            packed = " (gzip)" if contents.is_packed else ""
            size = f"{len(entry.data):>9,}"
            name = escape_unprintable(entry.name)
            yield f"  {number:>{width}}  {contents.kind.value:<11}{size}{packed:<7}  {name}"

    def _kinds(self) -> dict[str, int]:
        return dict(Counter(entry.contents.kind.value for entry in self.entries))

    def place(self, name: str) -> int:
        """Return the place of the first entry called `name`, from 0, or raise UnknownNameError."""
        if name not in self.places:
            raise UnknownNameError.among("entry", name, self.places, where=Where(self.path))
        return self.places[name]

    def entry(self, name: str) -> OdaEntry:
        """Return the first entry called `name`, or raise UnknownNameError."""
        return self.entries[self.place(name)]

    def with_entry(self, name: str, data: bytes, kind: str | None = None) -> OdaArchive:
        """Return the archive with an entry, in place of the one called so or else at the end.

        Args:
            name: at most 127 letters of Latin-1.
            data: its bytes, as they are to stand in the archive.
            kind: its type, one of `contents.TYPES`; default what its bytes tell, or what the entry
                in whose place it comes said.

        Raises:
            FormatError: it cannot be called so, or there is no such type.
        """
        if name in self.places:
            return self.with_data(self.places[name], data, kind)
        return self.with_more(new_entry(name, data, kind))

    def with_more(self, *entries: OdaEntry) -> OdaArchive:
        """Return the archive with more entries at its end."""
        return self._changed((*self.entries, *entries))

    def with_data(self, place: int, data: bytes, kind: str | None = None) -> OdaArchive:
        """Return the archive with other bytes in the entry at `place`; otherwise as `with_entry`."""
        before = self.entries[place]
        if data == before.data and kind is None:
            return self
        found = TYPE_OF.get(contents_of(data).kind, before.type)
        entry = replace(before, type=checked_type(found if kind is None else kind), data=data, offset=None)
        return self._changed((*self.entries[:place], entry, *self.entries[place + 1 :]))

    def only(self, *places: int) -> OdaArchive:
        """Return the archive with the entries at these places alone."""
        return self._changed(tuple(self.entries[place] for place in places))

    def render(self) -> bytes:
        """Return the archive's bytes: those it was read from, or a new layout without gaps."""
        plain = self.plain or self._laid_out()
        return plain if self.wrapping is None else self.wrapping.wrap(plain)

    def _changed(self, entries: tuple[OdaEntry, ...]) -> OdaArchive:
        return replace(self, entries=entries, plain=b"")

    def _laid_out(self) -> bytes:
        """Return the archive with its data in the order of the table and nothing between, as Sony's tool."""
        count = len(self.entries)
        offset = HEAD.size + ROW.size * count
        size = offset + sum(len(entry.data) for entry in self.entries)
        if size > MAX_ARCHIVE_BYTES:
            hint = f"at most {MAX_ARCHIVE_BYTES:,}; make two of it"
            raise FormatError(f"the archive would have {size:,} bytes", where=Where(self.path), hint=hint)
        rows: list[bytes] = []
        for entry in self.entries:
            rows.append(entry.row(offset))
            offset += len(entry.data)
        head = HEAD.pack(MAGIC, *self.version, count, ROW.size, self.reserved)
        return b"".join((head, *rows, *(entry.data for entry in self.entries)))


def new_entry(name: str, data: bytes, kind: str | None = None) -> OdaEntry:
    """Return an entry; arguments and errors as of `OdaArchive.with_entry`."""
    check_name(name)
    found = TYPE_OF.get(contents_of(data).kind, "")
    return OdaEntry(name, checked_type(found if kind is None else kind), data)


def check_name(name: str) -> None:
    """Refuse a name that an entry cannot have."""
    hint = f"1 to {NAME_BYTES} letters of western Europe (Latin-1)"
    try:
        size = len(name.encode("latin-1"))
    except UnicodeEncodeError as error:
        raise FormatError(f"an entry cannot be called {name!r}", hint=hint) from error
    if not 1 <= size <= NAME_BYTES or "\0" in name:
        raise FormatError(f"an entry cannot be called {name!r}, {size} letters", hint=hint)


def checked_type(name: str) -> str:
    """Return a type as the table has it, which fills some up with a blank; an empty one for none."""
    for known in TYPES:
        if known.strip() == name.strip().upper():
            return known
    if name.strip():
        hint = f"{', '.join(known.strip() for known in TYPES)}, or none"
        raise FormatError(f"an entry cannot be of type {name!r}", hint=hint)
    return ""
