"""The bytes of an MCAP file to topics, attachments and metadata, believing nothing.

The `mcap` library's classes read the rare records; messages, of which there are thousands, are walked here
in a third of the library's time. Checksums are checked, and so is how much there is before it is unpacked:
the library unpacks an lz4 chunk of any size, and a file may hold millions of empty records.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import lz4.frame  # type: ignore[import-untyped]  # shipped without type information
import zstandard
from mcap import records
from mcap.data_stream import ReadDataStream
from mcap.exceptions import EndOfFile
from mcap.opcode import Opcode

from posewright.errors import InputError

MAGIC = b"\x89MCAP0\r\n"
MAX_UNPACKED_BYTES = 1 << 29
"""A race of 100 s unpacks to some 15 MB."""

MAX_SWELLING = 64
SMALL_BYTES = 1 << 25
"""A file unpacks to at most this and `MAX_SWELLING` times its own size; a robot that stands still has 20."""

MAX_RECORDS = 1 << 20
"""A race of 100 s has 25,000; ten minutes of 128 rows a second some 600,000."""

MAX_CHANNELS = 1 << 12

_RECORD = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<HIQQ")
_CHECKSUM = struct.Struct("<I")
_FOOTER = struct.Struct("<BQQQI")


@dataclass
class Contents:
    """What an MCAP file holds: messages by topic, in the order of their sequence numbers."""

    messages: dict[str, list[bytes]] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)


def unpack(data: bytes) -> Contents:
    """Return what an MCAP file holds.

    Raises:
        InputError: it is damaged, cut off, or holds more than any recording.
    """
    reading = _Reading(len(data))
    try:
        data_end = _end_of_data(data)
        for opcode, start, end in _inside(data, len(MAGIC), data_end):
            if opcode == Opcode.DATA_END and end == data_end:
                checksum = records.DataEnd.read(_stream(data, start, end)).data_section_crc
                if checksum:  # the library leaves it out; then chunks' checksums, digest and seal cover all
                    _check_sum("data", data[: start - _RECORD.size], checksum)
                return reading.contents()
            reading.take(opcode, data, start, end)
    except EndOfFile as error:
        raise InputError("the recording is damaged: a record ends too early") from error
    except (zstandard.ZstdError, ValueError, LookupError, struct.error, RuntimeError, OverflowError) as error:
        raise InputError(f"the recording is damaged: {error}") from error
    raise InputError("the recording is cut off", hint="its data has no end")


def _end_of_data(data: bytes) -> int:
    """Return where the summary begins, which is for viewers, having checked its checksum."""
    start = len(data) - len(MAGIC) - _FOOTER.size
    if start < len(MAGIC) or not data.startswith(MAGIC) or not data.endswith(MAGIC):
        raise ValueError("an MCAP file begins and ends with its eight magic bytes")
    opcode, length, summary_start, _, checksum = _FOOTER.unpack_from(data, start)
    if opcode != Opcode.FOOTER or length != _FOOTER.size - _RECORD.size or summary_start > start:
        raise ValueError("the footer is none")
    if summary_start:
        _check_sum("summary", data[summary_start : start + _FOOTER.size - 4], checksum)
    return int(summary_start or start)


def _check_sum(what: str, data: bytes, checksum: int) -> None:
    if checksum != zlib.crc32(data):
        raise ValueError(f"the checksum of the {what} is wrong")


def _stream(data: bytes, start: int, end: int) -> ReadDataStream:
    return ReadDataStream(io.BytesIO(data[start:end]))


class _Reading:
    """Collects records until the file is read."""

    def __init__(self, size: int) -> None:
        self._found = Contents()
        self._channels: dict[int, records.Channel] = {}
        self._messages: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        self._bytes_left = min(MAX_UNPACKED_BYTES, SMALL_BYTES + MAX_SWELLING * size)
        self._records_left = MAX_RECORDS

    def take(self, opcode: int, data: bytes, start: int, end: int) -> None:
        """Take one record of the file; those not needed are passed over."""
        if opcode == Opcode.CHUNK:
            self._take_chunk(records.Chunk.read(_stream(data, start, end)))
        elif opcode == Opcode.ATTACHMENT:
            attachment = records.Attachment.read(_stream(data, start, end))
            _check_sum("attachment", data[start : end - 4], _CHECKSUM.unpack_from(data, end - 4)[0])
            _add_new(self._found.attachments, "attachments", attachment.name, attachment.data)
        elif opcode == Opcode.METADATA:
            metadata = records.Metadata.read(_stream(data, start, end))
            _add_new(self._found.metadata, "metadata records", metadata.name, metadata.metadata)
        self._take_inner(opcode, data, start, end)

    def _take_chunk(self, chunk: records.Chunk) -> None:
        body = _unpacked(chunk, self._bytes_left)
        self._bytes_left -= len(body)
        for opcode, start, end in _inside(body, 0, len(body)):
            self._take_inner(opcode, body, start, end)

    def _take_inner(self, opcode: int, data: bytes, start: int, end: int) -> None:
        """Take a record of the kinds that stand in chunks, or outside where nothing is chunked."""
        self._records_left -= 1
        if self._records_left < 0:
            raise ValueError(f"it holds more than {MAX_RECORDS} records")
        if opcode == Opcode.MESSAGE:
            channel, sequence, _, _ = _MESSAGE.unpack_from(data, start)
            self._messages[channel].append((sequence, data[start + _MESSAGE.size : end]))
        elif opcode == Opcode.CHANNEL:
            channel_record = records.Channel.read(_stream(data, start, end))
            if self._channels.setdefault(channel_record.id, channel_record) != channel_record:
                raise ValueError(f"there are two channels {channel_record.id}")
            if len(self._channels) > MAX_CHANNELS:
                raise ValueError(f"it holds more than {MAX_CHANNELS} channels")

    def contents(self) -> Contents:
        """Return what was found, every topic's messages in their order."""
        for number, channel in self._channels.items():
            numbered = sorted(self._messages[number], key=itemgetter(0))
            messages = [message for _, message in numbered]
            _add_new(self._found.messages, "channels", channel.topic, messages)
        return self._found


def _add_new(found: dict[str, Any], what: str, name: str, value: Any) -> None:
    if name in found:
        raise ValueError(f"there are two {what} {name!r}")
    found[name] = value


def _unpacked(chunk: records.Chunk, budget: int) -> bytes:
    if chunk.uncompressed_size > budget:
        raise ValueError(f"it would unpack to {chunk.uncompressed_size} bytes where {budget} are allowed")
    body = _decompress(chunk)
    if len(body) != chunk.uncompressed_size:
        raise ValueError(f"a chunk of {chunk.uncompressed_size} bytes unpacked to {len(body)}")
    _check_sum("chunk", body, chunk.uncompressed_crc)
    return body


def _decompress(chunk: records.Chunk) -> bytes:
    """Return a chunk's bytes, never more than it says and one."""
    limit = chunk.uncompressed_size + 1
    if chunk.compression == "zstd":
        with zstandard.ZstdDecompressor().stream_reader(chunk.data) as reader:
            return reader.read(limit)
    if chunk.compression == "lz4":
        return bytes(lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=limit))
    if chunk.compression == "":
        return chunk.data
    raise ValueError(f"compression {chunk.compression!r} is unknown")


def _inside(data: bytes, position: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Yield the opcode, start and end of each record from `position` to `stop`."""
    while position < stop:
        opcode, length = _RECORD.unpack_from(data, position)
        position += _RECORD.size
        if length > stop - position or (opcode == Opcode.MESSAGE and length < _MESSAGE.size):
            raise ValueError(f"the record at byte {position} claims {length} bytes")
        yield opcode, position, position + length
        position += length
