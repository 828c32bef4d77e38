"""Binary files: byte ranges for messages, sequential reading of numbers, and gzip."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

from posewright.errors import FormatError, Where


@dataclass(frozen=True)
class ByteRange:
    """A run of bytes within a file, for messages.

    Attributes:
        path: the file.
        base: the offset of the range's first byte in the file.
        inside: the part of the file that the range is, such as an entry of an archive.
        unpacked: whether offsets count bytes of the content of a gzip file.
    """

    path: Path | None = None
    base: int = 0
    inside: str = ""
    unpacked: bool = False

    def error(self, message: str, offset: int, hint: str | None = None) -> FormatError:
        """Return the error at byte `offset` of the range."""
        inside = f"{self.inside}: " if self.inside else ""
        note = ", counted after unpacking" if self.unpacked else ""
        where = Where(path=self.path, offset=self.base + offset)
        return FormatError(f"{inside}{message}{note}", where=where, hint=hint)

    def fail(self, message: str, offset: int, hint: str | None = None) -> NoReturn:
        """Raise the error at byte `offset` of the range."""
        raise self.error(message, offset, hint)

    def remark(self, message: str, offset: int) -> str:
        """Return a remark on byte `offset` of the range, for what is unusual but not wrong."""
        inside = f"{self.inside}: " if self.inside else ""
        return f"{inside}byte {self.base + offset}: {message}"

    def unpacked_range(self) -> ByteRange:
        """Return the range of the bytes unpacked from gzip here."""
        return replace(self, base=0, unpacked=True)


@dataclass
class ByteCursor:
    """Reads numbers and strings one after the other, up to an end.

    Attributes:
        data: the bytes.
        byte_range: the range they are from, for messages.
        at: the offset of the next byte.
        end: the offset at which reading must stop.
        whole: what ends there, for messages.
    """

    data: bytes
    byte_range: ByteRange
    at: int
    end: int
    whole: str = "the file"

    def __post_init__(self) -> None:
        self.begin = self.at

    def take(self, count: int, name: str) -> bytes:
        """Return the next `count` bytes; raise FormatError if fewer are left. `name` is for the message."""
        if self.left < count:
            self.byte_range.fail(
                f"{name} takes {count} bytes, but {self.whole} ends after {self.left}", self.at
            )
        raw = self.data[self.at : self.at + count]
        self.at += count
        return raw

    @property
    def left(self) -> int:
        """Number of bytes not read yet."""
        return self.end - self.at

    def u16(self, name: str) -> int:
        """Return the next two bytes as an unsigned little-endian number."""
        return int.from_bytes(self.take(2, name), "little")

    def u32(self, name: str) -> int:
        """Return the next four bytes as an unsigned little-endian number."""
        return int.from_bytes(self.take(4, name), "little")

    def string(self, name: str, hint: str | None = None) -> str:
        """Return a Latin-1 string that follows a byte with its length."""
        at = self.at
        length = self.take(1, name)[0]
        if length > self.left:
            end_text = f"{self.whole} ends {self.left} bytes further on"
            self.byte_range.fail(f"{name} has a length of {length} bytes, but {end_text}", at, hint)
        return self.take(length, name).decode("latin-1")


def u32(number: int) -> bytes:
    """Return a number as four little-endian bytes."""
    return struct.pack("<I", number)


MAGIC = b"\x1f\x8b"
_PLAIN_HEADER = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255))
"""Deflate, no name, no time, best compression, no system: the same bytes on every machine."""

_CHECKSUM, _EXTRA, _NAME, _COMMENT = 2, 4, 8, 16
_MTIME = slice(4, 8)
_MAX_MEMBERS = 100
_STEP = 4096
"""How many bytes are unpacked at a time; errors are located to this precision."""


@dataclass(frozen=True)
class GzipWrapping:
    """The gzip around some content.

    Attributes:
        header: its first bytes, with the name and the comment of its creator.
        packed: the gzip file as it was read; empty for a new one.
        unpacked: the content it had.
    """

    header: bytes = _PLAIN_HEADER
    packed: bytes = field(default=b"", repr=False)
    unpacked: bytes = field(default=b"", repr=False)

    def wrap(self, content: bytes) -> bytes:
        """Return `content` in gzip; for unchanged content, the same bytes as were read."""
        if self.packed and content == self.unpacked:
            return self.packed
        deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        body = deflate.compress(content) + deflate.flush()
        checksum = zlib.crc32(content).to_bytes(4, "little")
        size = (len(content) & 0xFFFFFFFF).to_bytes(4, "little")
        return self.header + body + checksum + size


def is_gzip(data: bytes) -> bool:
    """Return whether `data` starts like a gzip file."""
    return data[:2] == MAGIC


def unpack_gzip(data: bytes, byte_range: ByteRange, limit: int) -> tuple[GzipWrapping, tuple[str, ...]]:
    """Unpack gzip; return the wrapping with its content, and remarks on what is unusual about it.

    Args:
        data: the gzip file.
        byte_range: its range, for messages.
        limit: largest size of the content in bytes; never more is unpacked.

    Raises:
        FormatError: it is damaged or cut off, holds more, or holds gzip again.
    """
    unpacked, used = _inflate_members(data, byte_range, limit)
    if is_gzip(unpacked):
        byte_range.fail("there is gzip inside the gzip", 0, "unpack it once with gzip -d")
    remarks: tuple[str, ...] = ()
    if used < len(data):
        remarks = (byte_range.remark(f"{len(data) - used} bytes follow the gzip; they are kept", used),)
    return GzipWrapping(_portable_header(data), data, unpacked), remarks


def unpacked_head(data: bytes, count: int = 16) -> bytes:
    """Return the first bytes of `data`, or of its content if it is gzip; empty for damaged gzip."""
    if not is_gzip(data):
        return data[:count]
    try:
        return zlib.decompressobj(wbits=31).decompress(data[:_STEP], count)
    except zlib.error:
        return b""


def _inflate_members(data: bytes, byte_range: ByteRange, limit: int) -> tuple[bytes, int]:
    """Return the content and the size of a gzip file, which may consist of several members in a row."""
    contents: list[bytes] = []
    end = 0
    room = limit
    while end == 0 or is_gzip(data[end : end + 2]):
        if len(contents) == _MAX_MEMBERS:
            byte_range.fail(
                f"more than {_MAX_MEMBERS} pieces of gzip in a row", end, "unpack it with gzip -d"
            )
        content, end = _inflate_member(data, end, byte_range, limit, room)
        room -= len(content)
        contents.append(content)
    return b"".join(contents), end


def _inflate_member(
    data: bytes, start: int, byte_range: ByteRange, limit: int, room: int
) -> tuple[bytes, int]:
    """Return the content of one gzip member, and the offset of its end.

    Args:
        data: the gzip file.
        start: the offset of the member.
        byte_range: the file's range, for messages.
        limit: largest size of the whole content, for messages.
        room: largest size of this member's content.
    """
    inflate = zlib.decompressobj(wbits=31)
    parts: list[bytes] = []
    for at in range(start, len(data), _STEP):
        try:
            part = inflate.decompress(data[at : at + _STEP], room + 1)
        except zlib.error as error:
            reason = str(error).partition(": ")[2] or str(error)
            raise byte_range.error(f"the gzip is damaged near here: {reason}", at) from error
        room -= len(part)
        if room < 0:
            byte_range.fail(
                f"the gzip unpacks to more than {limit:,} bytes", at, "no known file is that large"
            )
        parts.append(part)
        if inflate.eof:
            return b"".join(parts), min(at + _STEP, len(data)) - len(inflate.unused_data)
    raise byte_range.error("the gzip is cut off", len(data))


def _portable_header(data: bytes) -> bytes:
    """Return the header of an intact gzip file without its time; a plain header if it has a checksum."""
    flags = data[3]
    end = 10
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
