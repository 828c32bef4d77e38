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
    """Reads numbers and strings one after the other, up to an end; each read advances `position`.

    Attributes:
        data: the bytes.
        byte_range: the range they are from, for messages.
        position: the offset of the next byte in `data`.
        end: the offset in `data` at which reading must stop.
        description: the name of what ends there, for messages.
        start: the offset at which reading began.
    """

    data: bytes
    byte_range: ByteRange
    position: int
    end: int
    description: str = "the file"

    def __post_init__(self) -> None:
        self.start = self.position

    def take(self, count: int, name: str) -> bytes:
        """Return the next `count` bytes; raise FormatError if fewer are left. `name` is for the message."""
        if self.n_bytes_left < count:
            self.byte_range.fail(
                f"{name} takes {count} bytes, but {self.description} ends after {self.n_bytes_left}",
                self.position,
            )
        raw = self.data[self.position : self.position + count]
        self.position += count
        return raw

    @property
    def n_bytes_left(self) -> int:
        """Number of bytes not read yet."""
        return self.end - self.position

    def u16(self, name: str) -> int:
        """Return the next two bytes as an unsigned little-endian number."""
        return int.from_bytes(self.take(2, name), "little")

    def u32(self, name: str) -> int:
        """Return the next four bytes as an unsigned little-endian number."""
        return int.from_bytes(self.take(4, name), "little")

    def string(self, name: str, hint: str | None = None) -> str:
        """Return a Latin-1 string that follows a byte with its length.

        Args:
            name: the name of the string, for messages.
            hint: the hint of the error if the length is too large.
        """
        length_offset = self.position
        length = self.take(1, name)[0]
        if length > self.n_bytes_left:
            end_text = f"{self.description} ends {self.n_bytes_left} bytes further on"
            self.byte_range.fail(
                f"{name} has a length of {length} bytes, but {end_text}", length_offset, hint
            )
        return self.take(length, name).decode("latin-1")


def u32(number: int) -> bytes:
    """Return a number as four little-endian bytes."""
    return struct.pack("<I", number)


MAGIC = b"\x1f\x8b"
_PLAIN_HEADER = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255))
"""Deflate, no name, no time, best compression, no system: the same bytes on every machine."""

_FLAGS_OFFSET = 3
_MTIME = slice(4, 8)
_FIXED_HEADER_BYTES = 10
_CHECKSUM, _EXTRA, _NAME, _COMMENT = 2, 4, 8, 16
"""Layout of a gzip header (RFC 1952), and the flags of the optional fields after it."""

_GZIP_WBITS = 31
"""The value of zlib's `wbits` that reads gzip with its header and checksum."""

_MAX_MEMBERS = 100
_CHUNK_BYTES = 4096
"""How many bytes are unpacked at a time; errors are located to this precision."""


@dataclass(frozen=True)
class GzipWrapping:
    """The gzip around some content.

    Attributes:
        header: its first bytes, with the name and the comment of its creator.
        packed: the gzip file as it was read; empty for a new one.
        unpacked: the content that `packed` has.
    """

    header: bytes = _PLAIN_HEADER
    packed: bytes = field(default=b"", repr=False)
    unpacked: bytes = field(default=b"", repr=False)

    def wrap(self, content: bytes) -> bytes:
        """Return `content` in gzip; content equal to what was read gets the same bytes as were read."""
        if self.packed and content == self.unpacked:
            return self.packed
        # negative wbits: no header and checksum of zlib's, since `header` replaces them
        deflate = zlib.compressobj(zlib.Z_BEST_COMPRESSION, zlib.DEFLATED, -zlib.MAX_WBITS)
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
    unpacked, gzip_end = _inflate_members(data, byte_range, limit)
    if is_gzip(unpacked):
        byte_range.fail("there is gzip inside the gzip", 0, "unpack it once with gzip -d")
    remarks: tuple[str, ...] = ()
    if gzip_end < len(data):
        n_surplus = len(data) - gzip_end
        remarks = (byte_range.remark(f"{n_surplus} bytes follow the gzip; they are kept", gzip_end),)
    return GzipWrapping(_portable_header(data), data, unpacked), remarks


def unpacked_head(data: bytes, count: int = 16) -> bytes:
    """Return the first bytes of `data`, or of its content if it is gzip; empty for damaged gzip."""
    if not is_gzip(data):
        return data[:count]
    try:
        return zlib.decompressobj(wbits=_GZIP_WBITS).decompress(data[:_CHUNK_BYTES], count)
    except zlib.error:
        return b""


def _inflate_members(data: bytes, byte_range: ByteRange, limit: int) -> tuple[bytes, int]:
    """Return the content of a gzip file and the offset of its end in `data`.

    A gzip file may consist of several members in a row; their contents are joined. What follows the last
    member and does not start like gzip is not read. `limit` is the largest size of the whole content.
    """
    contents: list[bytes] = []
    end = 0
    n_bytes_left = limit
    while end == 0 or is_gzip(data[end : end + len(MAGIC)]):
        if len(contents) == _MAX_MEMBERS:
            byte_range.fail(
                f"more than {_MAX_MEMBERS} pieces of gzip in a row", end, "unpack it with gzip -d"
            )
        content, end = _inflate_member(data, end, byte_range, limit, n_bytes_left)
        n_bytes_left -= len(content)
        contents.append(content)
    return b"".join(contents), end


def _inflate_member(
    data: bytes, start: int, byte_range: ByteRange, limit: int, max_size: int
) -> tuple[bytes, int]:
    """Return the content of one gzip member, and the offset of its end.

    Args:
        data: the gzip file.
        start: the offset of the member.
        byte_range: the file's range, for messages.
        limit: largest size of the whole content, for messages.
        max_size: largest size of this member's content.
    """
    inflate = zlib.decompressobj(wbits=_GZIP_WBITS)
    parts: list[bytes] = []
    n_bytes_left = max_size
    for offset in range(start, len(data), _CHUNK_BYTES):
        try:
            # one byte more than allowed, which shows that the content is too large
            part = inflate.decompress(data[offset : offset + _CHUNK_BYTES], n_bytes_left + 1)
        except zlib.error as error:
            reason = str(error).partition(": ")[2] or str(error)
            raise byte_range.error(f"the gzip is damaged near here: {reason}", offset) from error
        n_bytes_left -= len(part)
        if n_bytes_left < 0:
            byte_range.fail(
                f"the gzip unpacks to more than {limit:,} bytes", offset, "no known file is that large"
            )
        parts.append(part)
        if inflate.eof:
            chunk_end = min(offset + _CHUNK_BYTES, len(data))
            return b"".join(parts), chunk_end - len(inflate.unused_data)
    raise byte_range.error("the gzip is cut off", len(data))


def _portable_header(data: bytes) -> bytes:
    """Return the header of an intact gzip file, with its optional fields, but with the time set to 0.

    A header with a checksum is replaced by a plain one, since its checksum would no longer be right.
    """
    flags = data[_FLAGS_OFFSET]
    end = _FIXED_HEADER_BYTES
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
