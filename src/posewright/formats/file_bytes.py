"""The bytes of a file that a person handed in: sized up before they are read."""

from __future__ import annotations

import stat
from pathlib import Path

from posewright.errors import FormatError, Where

MAX_MOTION_BYTES = 4_000_000
"""The largest honest motion file known has 2.5 MB; one of text pages has 0.2 MB."""

MAX_ARCHIVE_BYTES = 16_000_000
"""The largest honest archive known has 2.8 MB and 2,697 motions; five times as much is no accident."""

ARCHIVE_MARKS = (b"ODAR", b"\x1f\x8b")
"""How an archive begins, or what is in gzip."""

_TEXT_PROOF_BYTES = 4096

BOM = b"\xef\xbb\xbf"
"""A byte order mark, which some editors put before a text."""


def read_file_bytes(path: Path | str, *, limit: int | None = None) -> bytes:
    """Return what a file holds.

    The size is looked at first, so that a huge file is refused without being read, and a pipe or a
    device, which may never end, is not opened at all.

    Args:
        path: the file.
        limit: most bytes it may have; default what is honest for an archive or for any other motion file.

    Raises:
        FormatError: there is no such file, it is no ordinary file, it may not be read, it is empty or
            larger than `limit` bytes.
    """
    path = Path(path)
    try:
        _refuse_odd(path)
        with path.open("rb") as file:
            limit = _limit_for(file.peek(4)) if limit is None else limit
            _refuse_large(path, limit)
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(f"cannot be read: {reason}", where=Where(path=path)) from error
    if len(data) > limit:
        raise _too_large(path, len(data), limit)
    if not data:
        raise FormatError("the file is empty", where=Where(path=path), hint="a motion file is wanted")
    return data


def _limit_for(head: bytes) -> int:
    return MAX_ARCHIVE_BYTES if head.startswith(ARCHIVE_MARKS) else MAX_MOTION_BYTES


def _refuse_large(path: Path, limit: int) -> None:
    size = path.stat().st_size
    if size > limit:
        raise _too_large(path, size, limit)


def _refuse_odd(path: Path) -> None:
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise FormatError("is a directory", where=Where(path=path), hint="name one motion file in it")
    if not stat.S_ISREG(status.st_mode):
        raise FormatError("is not an ordinary file", where=Where(path=path))


def _too_large(path: Path, size: int, limit: int) -> FormatError:
    what = f"has {size:,} bytes and was not read"
    return FormatError(what, where=Where(path=path), hint=f"no motion file is larger than {limit:,} bytes")


def is_text(data: bytes) -> bool:
    """Tell whether the beginning of `data` reads as text: no NUL and hardly a control character."""
    head = data[:_TEXT_PROOF_BYTES]
    odd = sum(byte < 32 and byte not in (9, 10, 12, 13) for byte in head)
    return b"\0" not in head and odd * 50 <= len(head)
