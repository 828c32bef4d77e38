"""The bytes of a file that a person handed in, and its kind: told by its content and never by its extension.

Source: formats.md section 0 (`.mtn` alone is used by four unrelated formats).
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.binary import head_of, is_wrapped

MAX_MOTION_BYTES = 4_000_000  # the largest honest motion file known has 2.5 MB; one of text pages has 0.2 MB
MAX_ARCHIVE_BYTES = 16_000_000
"""The largest honest archive known has 2.8 MB and 2,697 motions; five times as much is no accident."""

ARCHIVE_MARKS = (b"ODAR", b"\x1f\x8b")
"""How an archive begins, or what is in gzip."""

_TEXT_PROOF_BYTES = 4096

BOM = b"\xef\xbb\xbf"  # a byte order mark, which some editors put before a text


def read_file_bytes(path: Path | str, *, limit: int | None = None) -> bytes:
    """Return what a file holds.

    The size is looked at first, so that a huge file is refused without being read, and a pipe or a
    device, which may never end, is not opened at all.

    Args:
        path: the file.
        limit: most bytes it may have; default what is honest for an archive or for any other motion file.

    Raises:
        FormatError: there is no such file, it is no regular file, it may not be read, it is empty or
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
        raise FormatError("is not a regular file", where=Where(path=path))


def _too_large(path: Path, size: int, limit: int) -> FormatError:
    what = f"has {size:,} bytes and was not read"
    return FormatError(what, where=Where(path=path), hint=f"no motion file is larger than {limit:,} bytes")


def is_text(data: bytes) -> bool:
    """Tell whether the beginning of `data` reads as text: no NUL and hardly a control character."""
    head = data[:_TEXT_PROOF_BYTES]
    odd = sum(byte < 32 and byte not in (9, 10, 12, 13) for byte in head)
    return b"\0" not in head and odd * 50 <= len(head)


_HEAD_BYTES = 65536


@dataclass(frozen=True)
class FileContent:
    """What of a file tells its kind.

    Attributes:
        data: its bytes, at least its beginning; page files are told by the whole.
        path: where it lies; for what no content tells.
    """

    data: bytes = field(repr=False)
    path: Path | None = None

    @cached_property
    def text(self) -> bytes | None:
        """The beginning of a text file, as UTF-8 without a byte order mark; None for a binary file."""
        head = self.data[:_HEAD_BYTES]
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            head = head.decode("utf-16", "replace").encode()
        elif not is_text(head):
            return None
        return head.removeprefix(BOM)

    @cached_property
    def is_xml(self) -> bool:
        """Whether it is text that begins with a tag."""
        return self.text is not None and self.text.lstrip().startswith(b"<")

    @cached_property
    def xml_root(self) -> tuple[bytes, bytes]:
        """The name, in small letters, and the attributes of an XML file's root; empty for other files.

        No parser is asked, so nothing in the file is ever expanded.
        """
        if not self.is_xml:
            return b"", b""
        text = re.sub(rb"<!--.*?-->", b"", self.text or b"", flags=re.DOTALL)
        root = re.search(rb"<([A-Za-z_][\w.:-]*)([^>]*)", text)
        return (root.group(1).lower(), root.group(2)) if root else (b"", b"")


class Evidence(IntEnum):
    """What a kind of file is told by: that which is less likely to deceive is looked at first."""

    BEGINNING = 0
    """How every file of the kind begins, and no other file does."""
    KEY = 1
    """A key at the beginning of a line."""
    LOOSE = 2
    """Something that files of other kinds may hold too."""
    LAYOUT = 3
    """Sizes and counts that fit together."""


@dataclass(frozen=True)
class FileKind:
    """A kind of file that a person may hand in as a motion.

    Attributes:
        title: what it is called among people, with its article.
        is_motion: whether it holds motions at all (a robot model or a picture does not).
    """

    name: str
    title: str
    detects: Callable[[FileContent], bool]
    evidence: Evidence = Evidence.BEGINNING
    is_motion: bool = True


def begins(*marks: bytes) -> Callable[[FileContent], bool]:
    """Return a test whether a file begins with one of some bytes."""
    return lambda content: content.data.startswith(marks)


def begins_in_gzip(*marks: bytes) -> Callable[[FileContent], bool]:
    """Return a test whether what is in gzip begins with one of some bytes; a gzip bomb costs nothing."""
    return lambda content: is_wrapped(content.data) and head_of(content.data, 64).startswith(marks)


def says(pattern: bytes) -> Callable[[FileContent], bool]:
    r"""Return a test whether a text file that is no XML matches a pattern.

    A regular expression is meant, in which `^` is the beginning of a line and `\A` that of the file.
    """
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda content: not content.is_xml and compiled.search(content.text or b"") is not None


def has_root(*names: bytes) -> Callable[[FileContent], bool]:
    """Return a test whether an XML file's root has one of some names, in small letters."""
    return lambda content: content.xml_root[0] in names
