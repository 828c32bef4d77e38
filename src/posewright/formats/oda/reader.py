"""Reading ODA archives: the table, and the first bytes of the entries."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from posewright.errors import FormatError, Where
from posewright.formats.binary import ByteRange, GzipWrapping, is_gzip, unpack_gzip
from posewright.formats.file_kind import MAX_ARCHIVE_BYTES
from posewright.formats.oda.archive import (
    HEAD,
    MAGIC,
    NAME_BYTES,
    ROW,
    TYPE_OF,
    ArchiveHead,
    EntryKind,
    OdaArchive,
    OdaEntry,
)

VERSION = (0, 3)

MAX_ENTRIES = 5_000  # the most known are 2697 (formats.md 1.1)
_VERSION_OFFSET = 4
_N_ENTRIES_OFFSET = 8
_ROW_SIZE_OFFSET = 12
_RESERVED_OFFSET = 16
"""Offsets of the fields of `HEAD` in a file."""

_OFFSET_IN_ROW, _SIZE_IN_ROW = 132, 136
"""Where the fields offset and size are in a row of the table."""

_SAMPLE_BYTES = 4096
_MIN_SAMPLE_BYTES = 64
_N_BYTE_VALUES = 256.0
_MIN_SHARE_OF_RANDOM = 0.85
"""Fewest different byte values of an encrypted sample, as a share of those expected of random bytes."""


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
    _require_archive_header(data, byte_range)
    if len(data) > MAX_ARCHIVE_BYTES:
        message = f"the archive has {len(data):,} bytes"
        byte_range.fail(message, MAX_ARCHIVE_BYTES, f"at most {MAX_ARCHIVE_BYTES:,} are read")
    table = _TableReader(data, byte_range)
    entries = table.read_entries()
    remarks += table.describe_deviations(entries)
    head = ArchiveHead.unpack(data)
    return OdaArchive(
        entries,
        path,
        version=(head.major_version, head.minor_version),
        reserved=head.reserved,
        plain_bytes=data,
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
    sample = data[:_SAMPLE_BYTES]
    # n random bytes have 256 (1 - (1 - 1/256)^n) different values on average
    n_expected_values = _N_BYTE_VALUES * -math.expm1(len(sample) * math.log1p(-1.0 / _N_BYTE_VALUES))
    return len(sample) >= _MIN_SAMPLE_BYTES and len(set(sample)) >= _MIN_SHARE_OF_RANDOM * n_expected_values


def encrypted_error(path: Path | None = None) -> FormatError:
    """Return the error for an encrypted archive."""
    message = "this seems to be an encrypted archive: it begins with neither ODAR nor gzip, and looks random"
    hint = "only the robot can read the archives in OPEN-R/MW/DATA/E; those in DATA/P are plain"
    return FormatError(message, where=Where(path=path, offset=0), hint=hint)


def _require_archive_header(data: bytes, byte_range: ByteRange) -> None:
    """Raise a FormatError unless the data begin with the header of an archive."""
    if looks_encrypted(data, byte_range.path):
        raise encrypted_error(byte_range.path)
    if not data.startswith(MAGIC):
        byte_range.fail(f"an archive begins with ODAR; found {data[:4]!r}", 0)
    if len(data) < HEAD.size:
        byte_range.fail(f"the file ends within its header, after {len(data)} bytes", len(data))


class _TableRow(NamedTuple):
    """The fields of `ROW`; the field of the name may have further bytes after a zero."""

    type: bytes
    name_field: bytes
    offset: int
    size: int
    reserved: int

    @property
    def end(self) -> int:
        """The offset of the end of the data."""
        return self.offset + self.size


@dataclass(frozen=True)
class _TableReader:
    """Reads the table of an archive and checks that it is possible.

    Attributes:
        data: the bytes of the archive, without gzip.
        byte_range: the place of these bytes in the file, for messages.
    """

    data: bytes
    byte_range: ByteRange

    def read_entries(self) -> tuple[OdaEntry, ...]:
        """Return the entries after checking their offsets and sizes."""
        head = ArchiveHead.unpack(self.data)
        if head.row_bytes != ROW.size:
            message = f"the header gives {head.row_bytes} bytes per entry of the table"
            self.byte_range.fail(message, _ROW_SIZE_OFFSET, f"it must be {ROW.size}")
        table_end = HEAD.size + ROW.size * head.n_entries
        if head.n_entries > MAX_ENTRIES:
            message = f"the header counts {head.n_entries} entries"
            self.byte_range.fail(message, _N_ENTRIES_OFFSET, f"at most {MAX_ENTRIES} are read")
        if table_end > len(self.data):
            message = f"a table of {head.n_entries} entries ends at byte {table_end}"
            self.byte_range.fail(f"{message}, but the file ends at {len(self.data)}", _N_ENTRIES_OFFSET)
        rows = [_TableRow._make(row) for row in ROW.iter_unpack(self.data[HEAD.size : table_end])]
        for index, row in enumerate(rows):
            self._require_bounds(index, row, table_end)
        self._require_no_overlaps(rows)
        return tuple(self._read_entry(row) for row in rows)

    def _read_entry(self, row: _TableRow) -> OdaEntry:
        """Return the entry of a row of the table."""
        name, after_name = _split_name(row.name_field)
        return OdaEntry(
            name,
            type=row.type.rstrip(b"\0").decode("latin-1"),
            data=self.data[row.offset : row.end],
            after_name=after_name,
            reserved=row.reserved,
            offset=row.offset,
        )

    def _require_bounds(self, index: int, row: _TableRow, table_end: int) -> None:
        """Raise a FormatError unless the data of an entry are after the table and within the file.

        An entry without data may begin anywhere in the file.
        """
        name, _ = _split_name(row.name_field)
        entry_label = f"entry {index + 1}, {name!r},"
        row_offset = HEAD.size + ROW.size * index
        if row.end > len(self.data):
            message = f"{entry_label} ends at byte {row.end}, but the file ends at {len(self.data)}"
            wrong_field = _SIZE_IN_ROW if row.offset <= len(self.data) else _OFFSET_IN_ROW
            self.byte_range.fail(message, row_offset + wrong_field)
        if row.size and row.offset < table_end:
            message = f"{entry_label} begins at byte {row.offset}, within the table"
            self.byte_range.fail(message, row_offset + _OFFSET_IN_ROW, f"the table ends at byte {table_end}")

    def _require_no_overlaps(self, rows: list[_TableRow]) -> None:
        """Raise a FormatError if the data of two entries overlap; empty entries may be anywhere."""
        indices = [index for index, row in enumerate(rows) if row.size]
        indices.sort(key=lambda index: (rows[index].offset, rows[index].size))
        for index, next_index in pairwise(indices):
            end = rows[index].end
            next_offset = rows[next_index].offset
            if next_offset < end:
                message = f"entry {next_index + 1} begins at byte {next_offset}, within entry {index + 1}"
                field_offset = HEAD.size + ROW.size * next_index + _OFFSET_IN_ROW
                self.byte_range.fail(message, field_offset, f"which ends at byte {end}")

    def describe_deviations(self, entries: tuple[OdaEntry, ...]) -> tuple[str, ...]:
        """Return remarks on what is unusual about the archive."""
        head = ArchiveHead.unpack(self.data)
        remarks: list[str] = []
        if (head.major_version, head.minor_version) != VERSION:
            remark = f"version {head.major_version}.{head.minor_version} is unknown; 0.3 is known"
            remarks.append(self.byte_range.remark(remark, _VERSION_OFFSET))
        if any(head.reserved):
            remark = "reserved bytes of the header are not zero; they are kept"
            remarks.append(self.byte_range.remark(remark, _RESERVED_OFFSET))
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
