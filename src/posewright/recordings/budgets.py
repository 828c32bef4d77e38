"""Limits of a recording's size, applied when it is read and therefore when it is written."""

from __future__ import annotations

from collections.abc import Mapping

from mcap.opcode import Opcode

from posewright.errors import OutputError

MAX_FILE_BYTES = 1 << 29
"""Greatest size of a file; a race of 100 s takes about 4 MB."""

MAX_UNPACKED_BYTES = 1 << 31
"""Greatest size unpacked; a race of 100 s has about 15 MB, an hour of trot with all its contacts 1 GB."""

MAX_EXPANSION = 32
SMALL_BYTES = 1 << 24
"""A file unpacks to at most this and `MAX_EXPANSION` times its size; 20 times for a robot standing still."""

MAX_RECORDS = 1 << 17
BYTES_PER_RECORD = 16
"""A file has at most `MAX_RECORDS` records and one more for each `BYTES_PER_RECORD` bytes; a race has one for
180.

A message takes that many bytes in the index alone, so no file that is written here has too many.
"""

MAX_CHANNELS = 1 << 12
MAX_LENGTHS: Mapping[int, int] = {
    Opcode.CHUNK: 1 << 24,
    Opcode.MESSAGE: 1 << 24,
    Opcode.ATTACHMENT: 1 << 24,
    Opcode.METADATA: 1 << 21,
    Opcode.CHANNEL: 1 << 16,
}
"""Greatest size of one record by kind; chunks have about 1 MB here and 4 MB in other writers' files."""

MAX_RARE_BYTES = 1 << 24
"""Bytes of all attachments and channels, and `METADATA_WEIGHT` times the metadata; a race has 150 kB."""
METADATA_WEIGHT = 8
"""Each byte of metadata counts as this many, as thousands of short entries take more memory as objects."""

MAX_TEXT_BYTES = 1 << 20
"""Greatest size of the header, the arena or another text; a race's header has 13 kB."""


def max_unpacked_bytes(size: int) -> int:
    """Return the greatest unpacked size of a file of a size [bytes]."""
    return min(MAX_UNPACKED_BYTES, SMALL_BYTES + MAX_EXPANSION * size)


def max_records(size: int) -> int:
    """Return the greatest number of records in a file of a size [bytes]."""
    return MAX_RECORDS + size // BYTES_PER_RECORD


def require_size(subject: str, size: int, limit: int) -> None:
    """Raise unless a part of a recording is small enough to be read back.

    Raises:
        OutputError: the subject has more bytes than the limit.
    """
    if size > limit:
        message = f"the recording is larger than can be read back: {subject} would have {size} bytes"
        raise OutputError(message, hint=f"at most {limit}: record a shorter run")
