"""Kinds of motion files, recognized by their content and never by their suffix.

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
from typing import NamedTuple

from posewright.errors import FormatError, Where
from posewright.formats.binary import is_gzip, unpacked_head

MAX_MOTION_BYTES = 4_000_000
"""The largest motion file known has 2.5 MB, the largest with text pages 0.2 MB."""

MAX_ARCHIVE_BYTES = 16_000_000
"""The largest archive known has 2.8 MB and 2,697 motions."""

ARCHIVE_MARKS = (b"ODAR", b"\x1f\x8b")
"""First bytes of an archive, and of gzip."""

_TEXT_SAMPLE_BYTES = 4096
_UNUSUAL_IN_TEXT = bytes(set(range(ord(" "))) - set(b"\t\n\f\r"))
"""Control characters that texts rarely contain."""

BOM = b"\xef\xbb\xbf"
"""A byte order mark, which some editors write before a text."""


def read_file_bytes(path: Path | str, *, limit: int | None = None) -> bytes:
    """Return the bytes of a file.

    The size is checked first, so a huge file is not read at all; pipes and devices, which may never end, are
    not opened.

    Args:
        path: the file.
        limit: largest size in bytes; by default the limit of archives or of other motion files.

    Raises:
        FormatError: there is no such file, it is no regular file, it cannot be read, it is empty or
            larger than `limit` bytes.
    """
    path = Path(path)
    try:
        _require_regular_file(path)
        with path.open("rb") as file:
            if limit is None:
                is_archive = file.peek(4).startswith(ARCHIVE_MARKS)
                limit = MAX_ARCHIVE_BYTES if is_archive else MAX_MOTION_BYTES
            size = path.stat().st_size
            if size > limit:
                raise _too_large_error(path, size, limit)
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(f"cannot be read: {reason}", where=Where(path=path)) from error
    if len(data) > limit:
        raise _too_large_error(path, len(data), limit)
    if not data:
        raise FormatError("the file is empty", where=Where(path=path), hint="name a motion file")
    return data


def _require_regular_file(path: Path) -> None:
    """Raise a FormatError if a path is a directory, a pipe or a device."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise FormatError("is a directory", where=Where(path=path), hint="name one motion file in it")
    if not stat.S_ISREG(status.st_mode):
        raise FormatError("is not a regular file", where=Where(path=path))


def _too_large_error(path: Path, size: int, limit: int) -> FormatError:
    message = f"has {size:,} bytes and was not read"
    return FormatError(message, where=Where(path=path), hint=f"no motion file is larger than {limit:,} bytes")


def is_text(data: bytes) -> bool:
    """Return whether the first bytes of `data` are text: no NUL, and at most 2 % control characters."""
    head = data[:_TEXT_SAMPLE_BYTES]
    n_control = len(head) - len(head.translate(None, _UNUSUAL_IN_TEXT))
    return b"\0" not in head and n_control * 50 <= len(head)  # one in 50 is 2 %


_HEAD_BYTES = 65536


class XmlRoot(NamedTuple):
    """The root element of an XML file: its name in lower case, and the text of its attributes."""

    name: bytes = b""
    attributes: bytes = b""


@dataclass(frozen=True)
class FileContent:
    """The content by which a file's kind is recognized.

    Attributes:
        data: the bytes of the file, at least its first ones; page files need all of them.
        path: the path, for kinds that the content alone does not show.
    """

    data: bytes = field(repr=False)
    path: Path | None = None

    @cached_property
    def text(self) -> bytes | None:
        """The first bytes of a text file, as UTF-8 without a byte order mark; None for a binary file."""
        head = self.data[:_HEAD_BYTES]
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            head = head.decode("utf-16", "replace").encode()
        elif not is_text(head):
            return None
        return head.removeprefix(BOM)

    @cached_property
    def is_xml(self) -> bool:
        """Whether it is text that starts with a tag."""
        return self.text is not None and self.text.lstrip().startswith(b"<")

    @cached_property
    def xml_root(self) -> XmlRoot:
        """The root element of an XML file; without name and attributes for other files.

        It is found by a regular expression, so no entity is ever expanded.
        """
        if not self.is_xml:
            return XmlRoot()
        text_without_comments = re.sub(rb"<!--.*?-->", b"", self.text or b"", flags=re.DOTALL)
        match = re.search(rb"<([A-Za-z_][\w.:-]*)([^>]*)", text_without_comments)
        return XmlRoot(match[1].lower(), match[2]) if match else XmlRoot()


class Evidence(IntEnum):
    """How reliably a kind of file is recognized; kinds with lower values are tested first."""

    BEGINNING = 0
    """First bytes that all files of the kind have, and no other files."""
    KEY = 1
    """A key at the start of a line."""
    LOOSE = 2
    """Content that files of other kinds may have too."""
    LAYOUT = 3
    """Consistent sizes and counts."""


@dataclass(frozen=True)
class FileKind:
    """A kind of file that users may take for a motion file.

    Attributes:
        name: its name in programs.
        title: its name in messages, with an article.
        detects: returns whether a file is of this kind.
        evidence: how reliable `detects` is.
        is_motion: whether it holds motions (a robot model or a picture does not).
        remedy: what to do with such a file; empty if there is nothing.
        commands: what reads it, beside the commands for all motion files: commands of `posewright`, their
            verbs or their options, such as `run --layout`.
    """

    name: str
    title: str
    detects: Callable[[FileContent], bool]
    evidence: Evidence = Evidence.BEGINNING
    is_motion: bool = True
    remedy: str = ""
    commands: tuple[str, ...] = ()


def starts_with(*marks: bytes) -> Callable[[FileContent], bool]:
    """Return a test whether a file starts with one of the given bytes."""
    return lambda content: content.data.startswith(marks)


def gzip_starts_with(*marks: bytes) -> Callable[[FileContent], bool]:
    """Return a test whether the content of a gzip file starts with one of the given bytes.

    Only the first bytes are unpacked, so a gzip bomb does no harm.
    """
    return lambda content: is_gzip(content.data) and unpacked_head(content.data, 64).startswith(marks)


def text_matches(pattern: bytes) -> Callable[[FileContent], bool]:
    r"""Return a test whether a text file other than XML matches a regular expression.

    `^` matches at the start of each line, `\A` at the start of the file.
    """
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda content: not content.is_xml and compiled.search(content.text or b"") is not None


def has_xml_root(*names: bytes) -> Callable[[FileContent], bool]:
    """Return a test whether an XML file's root element has one of the names, given in lower case."""
    return lambda content: content.xml_root.name in names
