"""Reading an ODA archive: its table only, and nothing of what the entries hold but their first bytes."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.binary import ByteRange, GzipWrapping, is_gzip, unpack_gzip
from posewright.formats.file_kind import MAX_ARCHIVE_BYTES
from posewright.formats.oda.archive import (
    HEAD,
    MAGIC,
    NAME_BYTES,
    ROW,
    TYPE_OF,
    EntryKind,
    OdaArchive,
    OdaEntry,
)

VERSION = (0, 3)

MAX_ENTRIES = 5_000  # the most seen are 2697 (formats.md 1.1)
_COUNT_AT, _ROW_SIZE_AT, _RESERVED_AT = 8, 12, 16
_OFFSET_IN_ROW, _SIZE_IN_ROW = 132, 136
_PROOF_BYTES = 4096


def parse_archive(data: bytes, path: Path | None = None) -> OdaArchive:
    """Read an archive, in gzip or not.

    Raises:
        FormatError: it is damaged, encrypted, or none; it says at which byte.
    """
    place = ByteRange(path)
    wrapping: GzipWrapping | None = None
    remarks: tuple[str, ...] = ()
    if is_gzip(data):
        wrapping, remarks = unpack_gzip(data, place, MAX_ARCHIVE_BYTES)
        data, place = wrapping.unpacked, place.unpacked_range()
    _check_magic(data, place)
    if len(data) > MAX_ARCHIVE_BYTES:
        what = f"the archive has {len(data):,} bytes"
        place.fail(what, MAX_ARCHIVE_BYTES, "no honest one is half as large")
    table = _Table(data, place)
    entries = table.entries()
    remarks += table.odd_about(entries)
    _, major, minor, _, _, reserved = HEAD.unpack_from(data)
    return OdaArchive(entries, path, (major, minor), reserved, data, wrapping, remarks)


def looks_encrypted(data: bytes, path: Path | None = None) -> bool:
    """Tell whether this seems to be one of the encrypted archives of a memory stick's folder DATA/E.

    They have no mark of any kind, so their name must end in `.oda`, and their bytes must be as many
    different ones as chance would have it.
    """
    if path is None or path.suffix.lower() != ".oda" or data[:4] == MAGIC or is_gzip(data):
        return False
    head = data[:_PROOF_BYTES]
    by_chance = 256.0 * -math.expm1(len(head) * math.log1p(-1.0 / 256.0))
    return len(head) >= 64 and len(set(head)) >= 0.85 * by_chance


def encrypted(path: Path | None = None) -> FormatError:
    """Build the error for an encrypted archive."""
    what = (
        "this seems to be an encrypted archive: it begins neither as ODAR nor as gzip, and has no order in it"
    )
    hint = "only the robot can read those in OPEN-R/MW/DATA/E; the archives in DATA/P are plain"
    return FormatError(what, where=Where(path=path, offset=0), hint=hint)


def _check_magic(data: bytes, place: ByteRange) -> None:
    if looks_encrypted(data, place.path):
        raise encrypted(place.path)
    if not data.startswith(MAGIC):
        place.fail(f"an archive begins with ODAR; here stands {data[:4]!r}", 0)
    if len(data) < HEAD.size:
        place.fail(f"the file ends within its header, after {len(data)} bytes", len(data))


@dataclass(frozen=True)
class _Table:
    data: bytes
    place: ByteRange

    def entries(self) -> tuple[OdaEntry, ...]:
        """Return the entries, once it is sure that what the table says can be true."""
        _, _, _, count, row_size, _ = HEAD.unpack_from(self.data)
        if row_size != ROW.size:
            what = f"the table's entries are said to have {row_size} bytes each"
            self.place.fail(what, _ROW_SIZE_AT, f"{ROW.size} in every archive")
        end = HEAD.size + ROW.size * count
        if count > MAX_ENTRIES:
            message = f"there are {count} entries"
            self.place.fail(message, _COUNT_AT, f"no honest archive has over {MAX_ENTRIES}")
        if end > len(self.data):
            what = f"a table of {count} entries would end at byte {end}, but the file at {len(self.data)}"
            self.place.fail(what, _COUNT_AT)
        rows = list(ROW.iter_unpack(self.data[HEAD.size : end]))
        for number, (_, name, offset, size, _) in enumerate(rows):
            self._check_bounds(number, name, offset, size, end)
        self._check_overlaps([(offset, size, number) for number, (*_, offset, size, _) in enumerate(rows)])
        return tuple(self._entry(*row) for row in rows)

    def _entry(self, kind: bytes, field: bytes, offset: int, size: int, reserved: int) -> OdaEntry:
        name, rest = _split(field)
        kind_name = kind.rstrip(b"\0").decode("latin-1")
        return OdaEntry(name, kind_name, self.data[offset : offset + size], rest, reserved, offset)

    def _check_bounds(self, number: int, name: bytes, offset: int, size: int, table_end: int) -> None:
        if offset + size <= len(self.data) and (not size or offset >= table_end):
            return
        called, row = f"entry {number + 1}, {_split(name)[0]!r},", HEAD.size + ROW.size * number
        if offset + size <= len(self.data):
            what = f"{called} begins at byte {offset}, within the table"
            self.place.fail(what, row + _OFFSET_IN_ROW, f"the table ends at byte {table_end}")
        wrong = _SIZE_IN_ROW if offset <= len(self.data) else _OFFSET_IN_ROW
        what = f"{called} would end at byte {offset + size}, but the file ends at {len(self.data)}"
        self.place.fail(what, row + wrong)

    def _check_overlaps(self, spans: list[tuple[int, int, int]]) -> None:
        spans = sorted(span for span in spans if span[1])
        for (offset, size, number), (following, _, other) in pairwise(spans):
            if following < offset + size:
                what = f"entry {other + 1} begins at byte {following}, within entry {number + 1}"
                where = HEAD.size + ROW.size * other + _OFFSET_IN_ROW
                self.place.fail(what, where, f"which ends at byte {offset + size}")

    def odd_about(self, entries: tuple[OdaEntry, ...]) -> tuple[str, ...]:
        """Return what is odd, in words."""
        _, major, minor, _, _, reserved = HEAD.unpack_from(self.data)
        twice = [name for name, count in Counter(entry.name for entry in entries).items() if count > 1]
        between = len(self.data) - HEAD.size - sum(ROW.size + len(entry.data) for entry in entries)
        lying = [entry.name for entry in entries if _lies(entry)]
        behind = [entry.name for entry in entries if entry.reserved or entry.after_name]
        endless = [entry.name for entry in entries if len(entry.name) > NAME_BYTES]
        note = self.place.remark
        counted = (
            (twice, "names stand", "name stands", "more than once; the robot finds the first"),
            (lying, "entries are", "entry is", "called a motion by the table without being one"),
            (behind, "entries have", "entry has", "something behind name or size; it is kept"),
            (endless, "names have", "name has", f"more than {NAME_BYTES} letters, and no end"),
        )
        odd = (
            ((major, minor) != VERSION, note(f"version {major}.{minor} is unknown; 0.3 is known", 4)),
            (any(reserved), note("reserved bytes of the header are not zero; they are kept", _RESERVED_AT)),
            *((each[0], _counted(*each)) for each in counted),
            (between, f"{between} bytes belong to no entry; they are kept until something is changed"),
        )
        return tuple(what for is_so, what in odd if is_so)


def _split(field: bytes) -> tuple[str, bytes]:
    """Return a name, and what else stands in its room, which should be nothing."""
    name, _, rest = field.partition(b"\0")
    return name.decode("latin-1"), field[len(name) :] if any(rest) else b""


def _lies(entry: OdaEntry) -> bool:
    is_motion = entry.contents.kind in (EntryKind.MOTION, EntryKind.PLACEHOLDER)
    return entry.type == TYPE_OF[EntryKind.MOTION] and not is_motion


def _counted(names: list[str], several: str, one: str, what: str) -> str:
    told = f"{', '.join(map(repr, names[:3]))}{', ...' if len(names) > 3 else ''}"
    return f"{len(names)} {one if len(names) == 1 else several} {what}: {told}"
