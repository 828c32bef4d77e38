"""MCAP files: bytes to topics, attachments and metadata, believing nothing.

The `mcap` library reads the rare records; messages, of which there are thousands, are walked here.
Checksums are checked, and nothing is unpacked beyond `MAX_UNPACKED_BYTES`.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter

import lz4.frame  # type: ignore[import-untyped]  # shipped without type information
import zstandard
from mcap import records
from mcap.data_stream import ReadDataStream
from mcap.exceptions import EndOfFile
from mcap.opcode import Opcode

from posewright.errors import InputError

MAGIC = b"\x89MCAP0\r\n"
MAX_UNPACKED_BYTES = 1 << 30
"""A race of 100 s unpacks to some 10 MB."""

_RECORD = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<HIQQ")
_FOOTER = struct.Struct("<BQQQI")


@dataclass
class Contents:
    """What an MCAP file holds.

    Attributes:
        messages: by topic, in the order of their sequence numbers.
        schemas: name of the message type by topic.
        attachments: by name.
        metadata: keys and values by name.
    """

    messages: dict[str, list[bytes]] = field(default_factory=dict)
    schemas: dict[str, str] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)


def unpack(data: bytes) -> Contents:
    """Return what an MCAP file holds.

    Raises:
        InputError: it is damaged, cut off, or unpacks to more than any trace.
    """
    reading = _Reading()
    try:
        data_end = _end_of_data(data)
        for opcode, start, end in _inside(data, len(MAGIC), data_end):
            if opcode == Opcode.DATA_END and end == data_end:
                checksum = records.DataEnd.read(_stream(data, start, end)).data_section_crc
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
    if checksum not in (0, zlib.crc32(data)):  # 0: whoever wrote it left it out
        raise ValueError(f"the checksum of the {what} is wrong")


def _stream(data: bytes, start: int, end: int) -> ReadDataStream:
    return ReadDataStream(io.BytesIO(data[start:end]))


class _Reading:
    """Collects records until the file is read."""

    def __init__(self) -> None:
        self._found = Contents()
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, records.Channel] = {}
        self._messages: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        self._budget = MAX_UNPACKED_BYTES

    def take(self, opcode: int, data: bytes, start: int, end: int) -> None:
        """Take one record of the file; those not needed are passed over."""
        if opcode == Opcode.CHUNK:
            self._take_chunk(records.Chunk.read(_stream(data, start, end)))
        elif opcode == Opcode.ATTACHMENT:
            attachment = records.Attachment.read(_stream(data, start, end))
            self._found.attachments[attachment.name] = attachment.data
        elif opcode == Opcode.METADATA:
            metadata = records.Metadata.read(_stream(data, start, end))
            self._found.metadata[metadata.name] = metadata.metadata
        else:
            self._take_inner(opcode, data, start, end)

    def _take_chunk(self, chunk: records.Chunk) -> None:
        body = _unpacked(chunk, self._budget)
        self._budget -= len(body)
        for opcode, start, end in _inside(body, 0, len(body)):
            self._take_inner(opcode, body, start, end)

    def _take_inner(self, opcode: int, data: bytes, start: int, end: int) -> None:
        """Take a record of the kinds that stand in chunks, or outside where nothing is chunked."""
        if opcode == Opcode.MESSAGE:
            channel, sequence, _, _ = _MESSAGE.unpack_from(data, start)
            self._messages[channel].append((sequence, data[start + _MESSAGE.size : end]))
        elif opcode == Opcode.SCHEMA:
            schema = records.Schema.read(_stream(data, start, end))
            self._schemas[schema.id] = schema.name
        elif opcode == Opcode.CHANNEL:
            channel_record = records.Channel.read(_stream(data, start, end))
            self._channels[channel_record.id] = channel_record

    def contents(self) -> Contents:
        """Return what was found, every topic's messages in their order."""
        for number, channel in self._channels.items():
            numbered = sorted(self._messages[number], key=itemgetter(0))
            self._found.messages[channel.topic] = [message for _, message in numbered]
            self._found.schemas[channel.topic] = self._schemas.get(channel.schema_id, "")
        return self._found


def _unpacked(chunk: records.Chunk, budget: int) -> bytes:
    if chunk.uncompressed_size > budget:
        raise ValueError(f"it would unpack to more than {MAX_UNPACKED_BYTES} bytes")
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
