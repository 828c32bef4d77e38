"""Where in a binary file something is: for messages that say at which byte, and what was wrong there."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from posewright.errors import FormatError, Where


@dataclass(frozen=True)
class Place:
    """A run of bytes within a file.

    Attributes:
        path: the file.
        base: where the run begins in it.
        inside: what of the file it is, such as an entry of an archive.
        unpacked: whether the bytes are counted in what came out of gzip.
    """

    path: Path | None = None
    base: int = 0
    inside: str = ""
    unpacked: bool = False

    def error(self, message: str, offset: int, hint: str | None = None) -> FormatError:
        """Build the error for what is wrong at byte `offset` of the run."""
        inside = f"{self.inside}: " if self.inside else ""
        counted = ", counted after unpacking" if self.unpacked else ""
        where = Where(path=self.path, offset=self.base + offset)
        return FormatError(f"{inside}{message}{counted}", where=where, hint=hint)

    def fail(self, message: str, offset: int, hint: str | None = None) -> NoReturn:
        """Raise the error for what is wrong at byte `offset` of the run."""
        raise self.error(message, offset, hint)

    def remark(self, message: str, offset: int) -> str:
        """Return a sentence about byte `offset` of the run, for what is odd but not wrong."""
        inside = f"{self.inside}: " if self.inside else ""
        return f"{inside}byte {self.base + offset}: {message}"

    def unwrapped(self) -> Place:
        """Return the place of the bytes that came out of gzip here."""
        return replace(self, base=0, unpacked=True)


@dataclass
class ByteCursor:
    """Reads numbers and strings one after the other, and never beyond the end it was given.

    Attributes:
        data: all the bytes.
        place: where they are, for messages.
        at: the next byte to be read.
        end: the byte before which reading must stop.
        whole: what ends there, in words.
        begin: where it began to read.
    """

    data: bytes
    place: Place
    at: int
    end: int
    whole: str = "the file"

    def __post_init__(self) -> None:
        self.begin = self.at

    def take(self, count: int, what: str) -> bytes:
        """Return the next `count` bytes, or raise the FormatError that `what` is cut off."""
        if self.left < count:
            self.place.fail(f"{what} takes {count} bytes, but {self.whole} ends after {self.left}", self.at)
        taken = self.data[self.at : self.at + count]
        self.at += count
        return taken

    @property
    def left(self) -> int:
        """Bytes not read yet."""
        return self.end - self.at

    def u16(self, what: str) -> int:
        """Return the next two bytes as an unsigned number, the low one first."""
        return int.from_bytes(self.take(2, what), "little")

    def u32(self, what: str) -> int:
        """Return the next four bytes as an unsigned number, the lowest first."""
        return int.from_bytes(self.take(4, what), "little")

    def string(self, what: str, hint: str | None = None) -> str:
        """Return a string: a byte that says how long it is, and so many bytes, read as Latin-1."""
        at = self.at
        length = self.take(1, what)[0]
        if length > self.left:
            after = f"{self.whole} ends {self.left} bytes further on"
            self.place.fail(f"{what} says it is {length} bytes long, but {after}", at, hint)
        return self.take(length, what).decode("latin-1")


def u32(number: int) -> bytes:
    """Return a number as four bytes, the lowest first."""
    return struct.pack("<I", number)
