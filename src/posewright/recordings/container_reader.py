"""The bytes of an MCAP file to topics, attachments and metadata, believing nothing.

The `mcap` library's classes read the rare records; messages, of which there are thousands, are walked here
in a third of the library's time. The file is read record by record and never held as a whole. Checksums are
checked, and so is how much there is before it is unpacked: the library unpacks an lz4 chunk of any size, and
a file may hold millions of empty records.
"""

from __future__ import annotations

import io
import struct
import zlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, TypeVar

import lz4.frame  # type: ignore[import-untyped]  # shipped without type information
import zstandard
from mcap import records
from mcap.data_stream import ReadDataStream
from mcap.exceptions import EndOfFile
from mcap.opcode import Opcode

from posewright.errors import InputError
from posewright.recordings.budgets import (
    MAX_CHANNELS,
    MAX_LENGTHS,
    MAX_RARE_BYTES,
    max_records,
    max_unpacked_bytes,
)

MAGIC = b"\x89MCAP0\r\n"
_PIECE_BYTES = 1 << 20
_KNOWN = frozenset(Opcode)

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


def unpack(file: BinaryIO, wanted: Callable[[str], bool] = lambda _: True) -> Contents:
    """Return what an MCAP file holds; of its messages, those of `wanted` topics.

    Raises:
        InputError: it is damaged, cut off, or holds more than any recording.
    """
    try:
        return _unpacked(file, wanted)
    except EndOfFile as error:
        raise InputError("the recording is damaged: a record ends too early") from error
    except (zstandard.ZstdError, ValueError, LookupError, struct.error, RuntimeError, OverflowError) as error:
        raise InputError(f"the recording is damaged: {error}") from error


def _unpacked(file: BinaryIO, wanted: Callable[[str], bool]) -> Contents:
    size = file.seek(0, io.SEEK_END)
    data_end = _end_of_data(file, size)
    reading = _Reading(size, wanted)
    position, checksum = len(MAGIC), zlib.crc32(MAGIC)
    file.seek(position)
    while position < data_end:
        head = file.read(_RECORD.size)
        opcode, length = _RECORD.unpack(head)
        position += _RECORD.size
        if not length and opcode not in _KNOWN:  # a million of these are soon over
            checksum = zlib.crc32(head, checksum)
            reading.count()
            continue
        _check_length(opcode, length, position, data_end)
        body = file.read(length) if length <= MAX_RARE_BYTES else b""
        if opcode == Opcode.DATA_END and position + length == data_end:
            told = records.DataEnd.read(_stream(body)).data_section_crc
            # where it is left out, chunks' checksums, digest and seal cover all
            if told and told != checksum:
                raise ValueError("the checksum of the data is wrong")
            return reading.contents()
        checksum = zlib.crc32(body, zlib.crc32(head, checksum))
        if length > len(body):  # of a kind that is passed over
            checksum = _checksum(file, length, checksum)
        reading.take(opcode, body)
        position += length
    raise InputError("the recording is cut off", hint="its data has no end")


def _end_of_data(file: BinaryIO, size: int) -> int:
    """Return where the summary begins, which is for viewers, having checked its checksum."""
    start = size - len(MAGIC) - _FOOTER.size
    if start >= len(MAGIC):
        file.seek(start)
        footer = file.read(_FOOTER.size)
    if start < len(MAGIC) or file.read() != MAGIC:
        raise ValueError("an MCAP file begins and ends with its eight magic bytes")
    opcode, length, summary_start, _, told = _FOOTER.unpack(footer)
    if opcode != Opcode.FOOTER or length != _FOOTER.size - _RECORD.size or summary_start > start:
        raise ValueError("the footer is none")
    if summary_start:
        file.seek(summary_start)
        if told != _checksum(file, start + _FOOTER.size - 4 - summary_start):
            raise ValueError("the checksum of the summary is wrong")
    return int(summary_start or start)


def _checksum(file: BinaryIO, length: int, checksum: int = 0) -> int:
    """Return the checksum of the next bytes of a file, read piece by piece."""
    while length > 0:
        piece = file.read(min(length, _PIECE_BYTES))
        if not piece:
            raise EndOfFile
        checksum, length = zlib.crc32(piece, checksum), length - len(piece)
    return checksum


def _check_length(opcode: int, length: int, position: int, stop: int) -> None:
    if length > stop - position or (opcode == Opcode.MESSAGE and length < _MESSAGE.size):
        raise ValueError(f"the record at byte {position} claims {length} bytes")
    if length > MAX_LENGTHS.get(opcode, stop):
        kind = Opcode(opcode).name.lower()
        raise _larger(
            f"the {kind} at byte {position} has {length} bytes where {MAX_LENGTHS[opcode]} are allowed"
        )


def _larger(why: str) -> InputError:
    return InputError(f"the recording is larger than is read: {why}")


def _stream(body: bytes) -> ReadDataStream:
    return ReadDataStream(io.BytesIO(body))


class _Reading:
    """Collects records until the file is read."""

    def __init__(self, size: int, wanted: Callable[[str], bool]) -> None:
        self._found = Contents()
        self._wanted = wanted
        self._channels: dict[int, records.Channel] = {}
        self._told: set[bytes] = set()
        self._messages: dict[int, list[bytes]] = {}
        self._sequences: defaultdict[int, array[int]] = defaultdict(lambda: array("I"))
        self._bytes_left = max_unpacked_bytes(size)
        self._rare_left = MAX_RARE_BYTES
        self._max_records = self._records_left = max_records(size)

    def take(self, opcode: int, body: bytes) -> None:
        """Take one record of the file; those not needed are passed over."""
        if opcode == Opcode.CHUNK:
            self._take_chunk(records.Chunk.read(_stream(body)))
        elif opcode == Opcode.ATTACHMENT:
            self._count_rare(len(body))
            attachment = records.Attachment.read(_stream(body))
            if zlib.crc32(body[:-4]) != _CHECKSUM.unpack(body[-4:])[0]:
                raise ValueError(f"the checksum of the attachment {attachment.name!r:.80} is wrong")
            _add_new(self._found.attachments, "attachments", attachment.name, attachment.data)
        elif opcode == Opcode.METADATA:
            self._count_rare(8 * len(body))  # it may be thousands of short entries
            metadata = records.Metadata.read(_stream(body))
            _add_new(self._found.metadata, "metadata records", metadata.name, metadata.metadata)
        elif opcode == Opcode.MESSAGE:
            self._bytes_left -= len(body)
            if self._bytes_left < 0:
                raise _larger("it holds more bytes of messages than are allowed")
        self._take_inner(opcode, body, 0, len(body))

    def count(self) -> None:
        """Count a record.

        Raises:
            InputError: there are too many.
        """
        self._records_left -= 1
        if self._records_left < 0:
            raise _larger(f"it holds more than {self._max_records} records")

    def _count_rare(self, length: int) -> None:
        self._rare_left -= length
        if self._rare_left < 0:
            raise _larger(f"it has over {MAX_RARE_BYTES} bytes of attachments, metadata and channels")

    def _take_chunk(self, chunk: records.Chunk) -> None:
        body = _decompressed(chunk, self._bytes_left)
        self._bytes_left -= len(body)
        for opcode, start, end in _inside(body):
            self._take_inner(opcode, body, start, end)

    def _take_inner(self, opcode: int, data: bytes, start: int, end: int) -> None:
        """Take a record of the kinds that stand in chunks, or outside where nothing is chunked."""
        self.count()
        if opcode == Opcode.MESSAGE:
            channel, sequence, _, _ = _MESSAGE.unpack_from(data, start)
            if channel in self._messages:
                self._messages[channel].append(data[start + _MESSAGE.size : end])
                self._sequences[channel].append(sequence)
            elif channel not in self._channels:
                raise ValueError(f"a message of channel {channel}, which is told of nowhere before")
        elif opcode == Opcode.CHANNEL:
            self._add_channel(data[start:end])

    def _add_channel(self, raw: bytes) -> None:
        if raw in self._told:  # every chunk may tell its channels again
            return
        self._told.add(raw)
        self._count_rare(len(raw))
        channel = records.Channel.read(_stream(raw))
        if self._channels.setdefault(channel.id, channel) != channel:
            raise ValueError(f"there are two channels {channel.id}")
        if len(self._channels) > MAX_CHANNELS:
            raise _larger(f"it holds more than {MAX_CHANNELS} channels")
        if self._wanted(channel.topic):
            self._messages.setdefault(channel.id, [])

    def contents(self) -> Contents:
        """Return what was found, every topic's messages in their order."""
        for number, messages in self._messages.items():
            sequences = self._sequences[number]
            order = sorted(range(len(messages)), key=sequences.__getitem__)
            in_order = [messages[i] for i in order]
            _add_new(self._found.messages, "channels", self._channels[number].topic, in_order)
        return self._found


T = TypeVar("T")


def _add_new(found: dict[str, T], what: str, name: str, value: T) -> None:
    if name in found:
        raise ValueError(f"there are two {what} {name!r:.80}")
    found[name] = value


def _decompressed(chunk: records.Chunk, budget: int) -> bytes:
    size = chunk.uncompressed_size
    if size > min(budget, MAX_LENGTHS[Opcode.CHUNK]):
        allowed = min(budget, MAX_LENGTHS[Opcode.CHUNK])
        raise _larger(f"it would unpack to {size} bytes where {allowed} are allowed")
    body = _decompress(chunk)
    if len(body) != size:
        raise ValueError(f"a chunk of {size} bytes unpacked to {len(body)}")
    if zlib.crc32(body) != chunk.uncompressed_crc:
        raise ValueError("the checksum of the chunk is wrong")
    return body


def _decompress(chunk: records.Chunk) -> bytes:
    """Return a chunk's bytes, never more than it says and one."""
    limit = chunk.uncompressed_size + 1
    if chunk.compression == "zstd":
        most = MAX_LENGTHS[Opcode.CHUNK]
        with zstandard.ZstdDecompressor(max_window_size=most).stream_reader(chunk.data) as reader:
            return reader.read(limit)
    if chunk.compression == "lz4":
        return bytes(lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=limit))
    if chunk.compression == "":
        return chunk.data
    raise ValueError(f"compression {chunk.compression!r:.80} is unknown")


def _inside(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the opcode, start and end of each record of a chunk."""
    position, stop = 0, len(data)
    while position < stop:
        opcode, length = _RECORD.unpack_from(data, position)
        position += _RECORD.size
        _check_length(opcode, length, position, stop)
        yield opcode, position, position + length
        position += length
