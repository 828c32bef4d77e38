"""Binary files: where in one something is, numbers read one after the other, and gzip around it."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

from posewright.errors import FormatError, Where


@dataclass(frozen=True)
class Place:
    """A run of bytes within a file."""

    path: Path | None = None
    base: int = 0
    inside: str = ""  # what of the file it is, such as an entry of an archive
    unpacked: bool = False  # whether the bytes are counted in what came out of gzip

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
    """Reads numbers and strings one after the other, and never beyond the end it was given."""

    data: bytes
    place: Place
    at: int
    end: int  # the byte before which reading must stop
    whole: str = "the file"  # what ends there, in words

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


MAGIC = b"\x1f\x8b"
_PLAIN_HEADER = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255))
"""Deflate, no name, no time, best compression, no system: the same bytes on every machine."""

_CHECKSUM, _EXTRA, _NAME, _COMMENT = 2, 4, 8, 16
_MTIME = slice(4, 8)
_MOST_PIECES = 100
_STEP = 4096  # bytes unpacked at a time, and how exactly an error is placed


@dataclass(frozen=True)
class Wrapping:
    """Gzip around something.

    Attributes:
        header: its first bytes, with the name and the comment of whoever made it.
        packed: all of it as it was read; empty for one that was not.
        unpacked: what was in it.
    """

    header: bytes = _PLAIN_HEADER
    packed: bytes = field(default=b"", repr=False)
    unpacked: bytes = field(default=b"", repr=False)

    def around(self, content: bytes) -> bytes:
        """Return `content` in gzip: the very bytes that were read if it is what was in them."""
        if self.packed and content == self.unpacked:
            return self.packed
        deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        body = deflate.compress(content) + deflate.flush()
        ends = zlib.crc32(content).to_bytes(4, "little") + (len(content) & 0xFFFFFFFF).to_bytes(4, "little")
        return self.header + body + ends


def is_wrapped(data: bytes) -> bool:
    """Tell whether `data` begins as gzip does."""
    return data[:2] == MAGIC


def unwrap(data: bytes, place: Place, limit: int) -> tuple[Wrapping, tuple[str, ...]]:
    """Take gzip off `data`, and say what is odd about it.

    No more than `limit` bytes are ever unpacked, whatever the file promises.

    Raises:
        FormatError: it is damaged or cut off, holds more, or there is gzip inside the gzip.
    """
    unpacked, used = _inflated(data, place, limit)
    if is_wrapped(unpacked):
        place.fail("there is gzip inside the gzip", 0, "unpack it once with gzip -d")
    odd: tuple[str, ...] = ()
    if used < len(data):
        odd = (place.remark(f"{len(data) - used} bytes follow the gzip; they are kept", used),)
    return Wrapping(_header(data), data, unpacked), odd


def head_of(data: bytes, count: int = 16) -> bytes:
    """Return the first bytes of `data`, of what is inside where it is gzip; none where that is damaged."""
    if not is_wrapped(data):
        return data[:count]
    try:
        return zlib.decompressobj(wbits=31).decompress(data[:_STEP], count)
    except zlib.error:
        return b""


def _inflated(data: bytes, place: Place, limit: int) -> tuple[bytes, int]:
    """Return what is inside, and how many bytes of `data` it took; gzip may be several pieces in a row."""
    parts: list[bytes] = []
    end, room = 0, limit
    while end == 0 or is_wrapped(data[end : end + 2]):
        if len(parts) == _MOST_PIECES:
            place.fail(f"more than {_MOST_PIECES} pieces of gzip in a row", end, "unpack it with gzip -d")
        piece, end = _piece(data, end, place, limit, room)
        room -= len(piece)
        parts.append(piece)
    return b"".join(parts), end


def _piece(data: bytes, start: int, place: Place, limit: int, room: int) -> tuple[bytes, int]:
    """Return what one piece of gzip holds, and where it ends."""
    inflate = zlib.decompressobj(wbits=31)
    parts: list[bytes] = []
    for at in range(start, len(data), _STEP):
        try:
            part = inflate.decompress(data[at : at + _STEP], room + 1)
        except zlib.error as error:
            what = str(error).partition(": ")[2] or str(error)
            raise place.error(f"the gzip is damaged near here: {what}", at) from error
        room -= len(part)
        if room < 0:
            place.fail(f"more than {limit:,} bytes come out of the gzip", at, "no file known holds so much")
        parts.append(part)
        if inflate.eof:
            return b"".join(parts), min(at + _STEP, len(data)) - len(inflate.unused_data)
    raise place.error("the gzip is cut off", len(data))


def _header(data: bytes) -> bytes:
    """Return the header of gzip that is whole, without its time; a plain one where it has a checksum."""
    flags, end = data[3], 10
    if flags & _CHECKSUM:
        return _PLAIN_HEADER
    if flags & _EXTRA:
        end += 2 + int.from_bytes(data[end : end + 2], "little")
    for flag in (_NAME, _COMMENT):
        if flags & flag:
            end = data.index(b"\0", end) + 1
    header = bytearray(data[:end])
    header[_MTIME] = bytes(4)
    return bytes(header)
