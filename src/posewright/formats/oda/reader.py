"""Reading ODA archives: the table, and the first bytes of the entries."""

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

MAX_ENTRIES = 5_000  # the most known are 2697 (formats.md 1.1)
_COUNT_AT, _ROW_SIZE_AT, _RESERVED_AT = 8, 12, 16
_OFFSET_IN_ROW, _SIZE_IN_ROW = 132, 136
_SAMPLE_BYTES = 4096


def parse_archive(data: bytes, path: Path | None = None) -> OdaArchive:
    """Read an archive, in gzip or not.

    Raises:
        FormatError: it is damaged, encrypted, or no archive.
    """
    byte_range = ByteRange(path)
    wrapping: GzipWrapping | None = None
    remarks: tuple[str, ...] = ()
    if is_gzip(data):
        wrapping, remarks = unpack_gzip(data, byte_range, MAX_ARCHIVE_BYTES)
        data = wrapping.unpacked
        byte_range = byte_range.unpacked_range()
    _require_magic(data, byte_range)
    if len(data) > MAX_ARCHIVE_BYTES:
        message = f"the archive has {len(data):,} bytes"
        byte_range.fail(message, MAX_ARCHIVE_BYTES, f"at most {MAX_ARCHIVE_BYTES:,} are read")
    table = _TableReader(data, byte_range)
    entries = table.read_entries()
    remarks += table.describe_deviations(entries)
    _, major, minor, _, _, reserved = HEAD.unpack_from(data)
    return OdaArchive(
        entries,
        path,
        version=(major, minor),
        reserved=reserved,
        plain=data,
        wrapping=wrapping,
        remarks=remarks,
    )


def looks_encrypted(data: bytes, path: Path | None = None) -> bool:
    """Return whether data seems to be an encrypted archive from a memory stick's folder DATA/E.

    Such archives have no signature, so the name must end in `.oda`, and the first bytes must have about as
    many different values as random bytes.
    """
    if path is None or path.suffix.lower() != ".oda" or data[:4] == MAGIC or is_gzip(data):
        return False
    head = data[:_SAMPLE_BYTES]
    expected_values = 256.0 * -math.expm1(len(head) * math.log1p(-1.0 / 256.0))
    return len(head) >= 64 and len(set(head)) >= 0.85 * expected_values


def encrypted_error(path: Path | None = None) -> FormatError:
    """Return the error for an encrypted archive."""
    message = "this seems to be an encrypted archive: it begins with neither ODAR nor gzip, and looks random"
    hint = "only the robot can read the archives in OPEN-R/MW/DATA/E; those in DATA/P are plain"
    return FormatError(message, where=Where(path=path, offset=0), hint=hint)


def _require_magic(data: bytes, byte_range: ByteRange) -> None:
    """Raise a FormatError unless the data begin with the header of an archive."""
    if looks_encrypted(data, byte_range.path):
        raise encrypted_error(byte_range.path)
    if not data.startswith(MAGIC):
        byte_range.fail(f"an archive begins with ODAR; found {data[:4]!r}", 0)
    if len(data) < HEAD.size:
        byte_range.fail(f"the file ends within its header, after {len(data)} bytes", len(data))


@dataclass(frozen=True)
class _TableReader:
    """Reads the table of an archive and checks that it is possible."""

    data: bytes
    byte_range: ByteRange

    def read_entries(self) -> tuple[OdaEntry, ...]:
        """Return the entries after checking their offsets and sizes."""
        _, _, _, count, row_size, _ = HEAD.unpack_from(self.data)
        if row_size != ROW.size:
            message = f"the header gives {row_size} bytes per entry of the table"
            self.byte_range.fail(message, _ROW_SIZE_AT, f"it must be {ROW.size}")
        end = HEAD.size + ROW.size * count
        if count > MAX_ENTRIES:
            message = f"the header counts {count} entries"
            self.byte_range.fail(message, _COUNT_AT, f"at most {MAX_ENTRIES} are read")
        if end > len(self.data):
            message = f"a table of {count} entries ends at byte {end}, but the file ends at {len(self.data)}"
            self.byte_range.fail(message, _COUNT_AT)
        rows = list(ROW.iter_unpack(self.data[HEAD.size : end]))
        for number, (_, name, offset, size, _) in enumerate(rows):
            self._require_bounds(number, name, offset, size, end)
        self._require_no_overlaps(
            [(offset, size, number) for number, (*_, offset, size, _) in enumerate(rows)]
        )
        return tuple(self._read_entry(*row) for row in rows)

    def _read_entry(self, kind: bytes, field: bytes, offset: int, size: int, reserved: int) -> OdaEntry:
        name, after_name = _split_name(field)
        kind_name = kind.rstrip(b"\0").decode("latin-1")
        return OdaEntry(
            name,
            type=kind_name,
            data=self.data[offset : offset + size],
            after_name=after_name,
            reserved=reserved,
            offset=offset,
        )

    def _require_bounds(self, number: int, name: bytes, offset: int, size: int, table_end: int) -> None:
        """Raise a FormatError unless an entry lies after the table and within the file."""
        if offset + size <= len(self.data) and (not size or offset >= table_end):
            return
        entry_label = f"entry {number + 1}, {_split_name(name)[0]!r},"
        row_offset = HEAD.size + ROW.size * number
        if offset + size <= len(self.data):
            message = f"{entry_label} begins at byte {offset}, within the table"
            self.byte_range.fail(message, row_offset + _OFFSET_IN_ROW, f"the table ends at byte {table_end}")
        message = f"{entry_label} ends at byte {offset + size}, but the file ends at {len(self.data)}"
        field_in_row = _SIZE_IN_ROW if offset <= len(self.data) else _OFFSET_IN_ROW
        self.byte_range.fail(message, row_offset + field_in_row)

    def _require_no_overlaps(self, spans: list[tuple[int, int, int]]) -> None:
        """Raise a FormatError if entries overlap, given their offset, size and number."""
        spans = sorted(span for span in spans if span[1])
        for (offset, size, number), (next_offset, _, next_number) in pairwise(spans):
            if next_offset < offset + size:
                message = f"entry {next_number + 1} begins at byte {next_offset}, within entry {number + 1}"
                field_offset = HEAD.size + ROW.size * next_number + _OFFSET_IN_ROW
                self.byte_range.fail(message, field_offset, f"which ends at byte {offset + size}")

    def describe_deviations(self, entries: tuple[OdaEntry, ...]) -> tuple[str, ...]:
        """Return remarks on what is unusual about the archive."""
        _, major, minor, _, _, reserved = HEAD.unpack_from(self.data)
        remarks: list[str] = []
        if (major, minor) != VERSION:
            remarks.append(self.byte_range.remark(f"version {major}.{minor} is unknown; 0.3 is known", 4))
        if any(reserved):
            remark = "reserved bytes of the header are not zero; they are kept"
            remarks.append(self.byte_range.remark(remark, _RESERVED_AT))
        counts = Counter(entry.name for entry in entries)
        duplicates = [name for name, count in counts.items() if count > 1]
        if duplicates:
            subject = _count_names(duplicates, "name occurs", "names occur")
            remarks.append(f"{subject} more than once; the robot finds the first: {_list_names(duplicates)}")
        no_motions = [entry.name for entry in entries if _has_wrong_type(entry)]
        if no_motions:
            subject = _count_names(no_motions, "entry has", "entries have")
            remarks.append(f"{subject} the type of a motion but no motion: {_list_names(no_motions)}")
        extended = [entry.name for entry in entries if entry.reserved or entry.after_name]
        if extended:
            subject = _count_names(extended, "entry has", "entries have")
            remarks.append(f"{subject} data after name or size; it is kept: {_list_names(extended)}")
        unterminated = [entry.name for entry in entries if len(entry.name) > NAME_BYTES]
        if unterminated:
            subject = _count_names(unterminated, "name has", "names have")
            names = _list_names(unterminated)
            remarks.append(f"{subject} more than {NAME_BYTES} characters and no final zero: {names}")
        n_unused = len(self.data) - HEAD.size - sum(ROW.size + len(entry.data) for entry in entries)
        if n_unused:
            remarks.append(f"{n_unused} bytes belong to no entry; they are kept until the archive is changed")
        return tuple(remarks)


def _split_name(field: bytes) -> tuple[str, bytes]:
    """Return the name in a field, and the bytes after it; empty bytes if they are all zero."""
    name, _, remainder = field.partition(b"\0")
    return name.decode("latin-1"), field[len(name) :] if any(remainder) else b""


def _has_wrong_type(entry: OdaEntry) -> bool:
    is_motion = entry.content.kind in (EntryKind.MOTION, EntryKind.PLACEHOLDER)
    return entry.type == TYPE_OF[EntryKind.MOTION] and not is_motion


def _count_names(names: list[str], singular: str, plural: str) -> str:
    return f"{len(names)} {singular if len(names) == 1 else plural}"


def _list_names(names: list[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
