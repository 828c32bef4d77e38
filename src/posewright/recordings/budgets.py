"""How much a recording may hold: what is read back, and so what is written."""

from __future__ import annotations

from collections.abc import Mapping

from mcap.opcode import Opcode

from posewright.errors import OutputError

MAX_FILE_BYTES = 1 << 29
"""A race of 100 s takes some 4 MB."""

MAX_UNPACKED_BYTES = 1 << 31
"""A race of 100 s unpacks to some 15 MB, an hour of trot with all its contacts to 1 GB."""

MAX_SWELLING = 32
SMALL_BYTES = 1 << 24
"""A file unpacks to at most this and `MAX_SWELLING` times its own size; a robot that stands still has 20."""

MAX_RECORDS = 1 << 17
BYTES_PER_RECORD = 16
"""A file holds at most this number of records, and one more for so many of its bytes; a race has 180 each.

A message alone takes as many in the index that is written, so that no file of ours holds too many.
"""

MAX_CHANNELS = 1 << 12
MAX_LENGTHS: Mapping[int, int] = {
    Opcode.CHUNK: 1 << 24,
    Opcode.MESSAGE: 1 << 24,
    Opcode.ATTACHMENT: 1 << 24,
    Opcode.METADATA: 1 << 21,
    Opcode.CHANNEL: 1 << 16,
}
"""Bytes of one record of a kind; chunks hold some 1 MB here and 4 MB elsewhere."""

MAX_RARE_BYTES = 1 << 24
"""Bytes of all attachments and channels, and of metadata eight times; a race has 150 kB of them."""

MAX_TEXT_BYTES = 1 << 20
"""Of the header, or the arena, ...: a race's header has 13 kB."""


def most_unpacked(size: int) -> int:
    """Return to how many bytes a file of that size may unpack."""
    return min(MAX_UNPACKED_BYTES, SMALL_BYTES + MAX_SWELLING * size)


def most_records(size: int) -> int:
    """Return how many records a file of that size may hold."""
    return MAX_RECORDS + size // BYTES_PER_RECORD


def refuse_larger(what: str, size: int, most: int) -> None:
    """Refuse to write what would not be read back.

    Raises:
        OutputError: `what` has more bytes than that.
    """
    if size > most:
        told = f"the recording is larger than can be read back: {what} would have {size} bytes"
        raise OutputError(told, hint=f"at most {most}: record a shorter run")
