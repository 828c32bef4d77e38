"""Kinds of file, and by what each is told: its content and never its extension.

Source: formats.md section 0 (`.mtn` alone is used by four unrelated formats).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from pathlib import Path

from posewright.formats.binary import head_of, is_wrapped
from posewright.formats.file_bytes import BOM, is_text

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
