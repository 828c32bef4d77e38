"""Read an MCAP file from an untrusted source into topics, attachments and metadata.

The file is read record by record and is never in memory as a whole. Checksums are checked. Sizes are checked
before anything is decompressed: the `mcap` library decompresses an lz4 chunk of any size, and a file may
contain millions of empty records.

The `mcap` library's classes read the rare records. Messages, of which there are thousands, are read here, in
a third of the library's time.
"""

from __future__ import annotations

import io
import struct
import zlib
from array import array
from collections import defaultdict
from collections.abc import Callable
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
    METADATA_WEIGHT,
    max_records,
    max_unpacked_bytes,
)

MAGIC = b"\x89MCAP0\r\n"
_MAGIC_MESSAGE = "an MCAP file begins and ends with its eight magic bytes"
_PIECE_BYTES = 1 << 20
_DEFINED_OPCODES = frozenset(Opcode)

_RECORD_HEAD = struct.Struct("<BQ")
"""Opcode and length, before the body of every record."""

_MESSAGE_HEAD = struct.Struct("<HIQQ")
"""Channel, sequence number, log time and publish time, at the beginning of a message's body."""

_CHECKSUM = struct.Struct("<I")

_FOOTER = struct.Struct("<BQQQI")
"""The whole footer record: opcode, length, starts of the summary and of its offsets, checksum."""


@dataclass
class Contents:
    """The contents of an MCAP file: messages by topic, in the order of their sequence numbers."""

    messages: dict[str, list[bytes]] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)


def unpack(file: BinaryIO, is_selected: Callable[[str], bool] = lambda _: True) -> Contents:
    """Return the contents of an MCAP file.

    Args:
        file: open for reading.
        is_selected: whether to return the messages of a topic; all are by default.

    Raises:
        InputError: the file is damaged, cut off, or exceeds one of the limits in `budgets`.
    """
    try:
        return _read_contents(file, is_selected)
    except EndOfFile as error:
        raise InputError("the recording is damaged: a record ends too early") from error
    except (zstandard.ZstdError, ValueError, LookupError, struct.error, RuntimeError, OverflowError) as error:
        raise InputError(f"the recording is damaged: {error}") from error


def _read_contents(file: BinaryIO, is_selected: Callable[[str], bool]) -> Contents:
    """Read the records of a file up to the end of its data."""
    size = file.seek(0, io.SEEK_END)
    data_end = _find_end_of_data(file, size)
    collector = _RecordCollector(size, is_selected)
    position = len(MAGIC)
    checksum = zlib.crc32(MAGIC)
    file.seek(position)
    while position < data_end:
        head = file.read(_RECORD_HEAD.size)
        opcode, length = _RECORD_HEAD.unpack(head)
        position += _RECORD_HEAD.size
        if not length and opcode not in _DEFINED_OPCODES:  # a shortcut, as a file may have a million of these
            checksum = zlib.crc32(head, checksum)
            collector.count_record()
            continue
        _require_allowed_length(opcode, length, position, data_end)
        body = file.read(length) if length <= MAX_RARE_BYTES else b""
        if opcode == Opcode.DATA_END and position + length == data_end:
            stored_checksum = records.DataEnd.read(_stream(body)).data_section_crc
            # it is optional: chunks' checksums, digest and seal cover everything without it
            if stored_checksum and stored_checksum != checksum:
                raise ValueError("the checksum of the data is wrong")
            return collector.contents()
        checksum = zlib.crc32(body, zlib.crc32(head, checksum))
        if length > len(body):  # a large record of a kind that is ignored
            checksum = _checksum(file, length, checksum)
        collector.add_record(opcode, body)
        position += length
    raise InputError("the recording is cut off", hint="its data has no end")


def _find_end_of_data(file: BinaryIO, size: int) -> int:
    """Return the position where the data ends: where the summary for viewers begins, else the footer.

    The file ends with the summary, the footer, which has the summary's position and checksum, and `MAGIC`.

    Raises:
        ValueError: magic or footer are malformed, or the checksum of the summary is wrong.
    """
    footer_start = size - len(MAGIC) - _FOOTER.size
    if footer_start < len(MAGIC):
        raise ValueError(_MAGIC_MESSAGE)
    file.seek(footer_start)
    footer = file.read(_FOOTER.size)
    trailing_magic = file.read()
    if trailing_magic != MAGIC:
        raise ValueError(_MAGIC_MESSAGE)
    opcode, length, summary_start, _, stored_checksum = _FOOTER.unpack(footer)
    has_footer_head = opcode == Opcode.FOOTER and length == _FOOTER.size - _RECORD_HEAD.size
    if not has_footer_head or summary_start > footer_start:
        raise ValueError("the footer is malformed")
    if not summary_start:  # 0 means that there is no summary
        return footer_start
    # the checksum covers the summary, and the footer up to the checksum itself
    file.seek(summary_start)
    checksum_start = footer_start + _FOOTER.size - _CHECKSUM.size
    if stored_checksum != _checksum(file, checksum_start - summary_start):
        raise ValueError("the checksum of the summary is wrong")
    return int(summary_start)


def _checksum(file: BinaryIO, length: int, checksum: int = 0) -> int:
    """Return the CRC-32 of the next bytes of a file, which are read piece by piece to save memory.

    Args:
        file: the file, at the first of these bytes.
        length: the number of bytes.
        checksum: the checksum of the bytes before, to be continued; 0 to begin.

    Raises:
        EndOfFile: the file ends before.
    """
    n_unread = length
    while n_unread > 0:
        piece = file.read(min(n_unread, _PIECE_BYTES))
        if not piece:
            raise EndOfFile
        checksum = zlib.crc32(piece, checksum)
        n_unread -= len(piece)
    return checksum


def _require_allowed_length(opcode: int, length: int, position: int, end: int) -> None:
    """Raise unless a record's body fits before `end` and is not larger than its kind may be."""
    if length > end - position or (opcode == Opcode.MESSAGE and length < _MESSAGE_HEAD.size):
        raise ValueError(f"the record at byte {position} claims {length} bytes")
    if length > MAX_LENGTHS.get(opcode, end):
        kind = Opcode(opcode).name.lower()
        raise _too_large_error(
            f"the {kind} at byte {position} has {length} bytes where {MAX_LENGTHS[opcode]} are allowed"
        )


def _too_large_error(reason: str) -> InputError:
    return InputError(f"the recording exceeds the size limits: {reason}")


def _stream(body: bytes) -> ReadDataStream:
    return ReadDataStream(io.BytesIO(body))


class _RecordCollector:
    """Collects the contents of a file record by record, within the limits of `budgets`.

    Args:
        size: the size of the file [bytes].
        is_selected: whether to collect the messages of a topic.
    """

    def __init__(self, size: int, is_selected: Callable[[str], bool]) -> None:
        """Begin with no records.

        Args:
            size: the size of the file [bytes], which limits what it may unpack to.
            is_selected: whether the messages of a topic are wanted, by the topic's name.
        """
        self._contents = Contents()
        self._is_selected = is_selected
        self._channels: dict[int, records.Channel] = {}
        self._raw_channels: set[bytes] = set()
        self._messages: dict[int, list[bytes]] = {}
        self._sequences: defaultdict[int, array[int]] = defaultdict(lambda: array("I"))
        self._bytes_left = max_unpacked_bytes(size)
        self._rare_bytes_left = MAX_RARE_BYTES
        self._max_records = max_records(size)
        self._records_left = self._max_records

    def add_record(self, opcode: int, body: bytes) -> None:
        """Add one record of the file; kinds that are not needed are only counted.

        Args:
            opcode: the kind of the record.
            body: the record without its head; empty if a kind that is not needed is too large.

        Raises:
            InputError: the file exceeds one of the limits.
            ValueError: a checksum is wrong, or two attachments or metadata records have the same name.
        """
        if opcode == Opcode.CHUNK:
            self._add_chunk(records.Chunk.read(_stream(body)))
        elif opcode == Opcode.ATTACHMENT:
            self._add_rare_bytes(len(body))
            attachment = records.Attachment.read(_stream(body))
            (stored_checksum,) = _CHECKSUM.unpack(body[-_CHECKSUM.size :])
            if zlib.crc32(body[: -_CHECKSUM.size]) != stored_checksum:
                raise ValueError(f"the checksum of the attachment {attachment.name!r:.80} is wrong")
            _add_unique(self._contents.attachments, "attachments", attachment.name, value=attachment.data)
        elif opcode == Opcode.METADATA:
            self._add_rare_bytes(METADATA_WEIGHT * len(body))
            metadata = records.Metadata.read(_stream(body))
            _add_unique(self._contents.metadata, "metadata records", metadata.name, value=metadata.metadata)
        elif opcode == Opcode.MESSAGE:
            self._bytes_left -= len(body)
            if self._bytes_left < 0:
                raise _too_large_error("it has more bytes of messages than are allowed")
        # a record of any kind is counted there
        self._add_chunkable_record(opcode, data=body, start=0, end=len(body))

    def count_record(self) -> None:
        """Count a record.

        Raises:
            InputError: there are too many.
        """
        self._records_left -= 1
        if self._records_left < 0:
            raise _too_large_error(f"it has more than {self._max_records} records")

    def _add_rare_bytes(self, length: int) -> None:
        """Count bytes of records other than messages; raise InputError if a file has too many."""
        self._rare_bytes_left -= length
        if self._rare_bytes_left < 0:
            raise _too_large_error(
                f"it has over {MAX_RARE_BYTES} bytes of attachments, metadata and channels"
            )

    def _add_chunk(self, chunk: records.Chunk) -> None:
        """Decompress a chunk, a part of the file with many records, and add its records."""
        chunk_records = _decompress_chunk(chunk, self._bytes_left)
        self._bytes_left -= len(chunk_records)
        position = 0
        while position < len(chunk_records):
            opcode, length = _RECORD_HEAD.unpack_from(chunk_records, position)
            body_start = position + _RECORD_HEAD.size
            _require_allowed_length(opcode, length, body_start, end=len(chunk_records))
            body_end = body_start + length
            self._add_chunkable_record(opcode, data=chunk_records, start=body_start, end=body_end)
            position = body_end

    def _add_chunkable_record(self, opcode: int, data: bytes, start: int, end: int) -> None:
        """Add a message or a channel, the kinds of records that chunks have; only count any other record.

        Args:
            opcode: the kind of the record.
            data: bytes that contain the record's body.
            start: where the body begins in them.
            end: where it ends.
        """
        self.count_record()
        if opcode == Opcode.MESSAGE:
            channel_id, sequence, _, _ = _MESSAGE_HEAD.unpack_from(data, start)
            if channel_id in self._messages:
                self._messages[channel_id].append(data[start + _MESSAGE_HEAD.size : end])
                self._sequences[channel_id].append(sequence)
            elif channel_id not in self._channels:
                raise ValueError(f"a message of channel {channel_id}, which is not declared before it")
        elif opcode == Opcode.CHANNEL:
            self._add_channel(data[start:end])

    def _add_channel(self, body: bytes) -> None:
        """Add the declaration of a channel, unless it repeats an earlier one."""
        if body in self._raw_channels:  # every chunk may repeat the declarations of its channels
            return
        self._raw_channels.add(body)
        self._add_rare_bytes(len(body))
        channel = records.Channel.read(_stream(body))
        if self._channels.setdefault(channel.id, channel) != channel:
            raise ValueError(f"there are two channels {channel.id}")
        if len(self._channels) > MAX_CHANNELS:
            raise _too_large_error(f"it has more than {MAX_CHANNELS} channels")
        if self._is_selected(channel.topic):
            self._messages.setdefault(channel.id, [])

    def contents(self) -> Contents:
        """Return the contents, with each topic's messages in the order of their sequence numbers.

        To be called once, after the last record.

        Raises:
            ValueError: two channels have the same topic.
        """
        for channel_id, messages in self._messages.items():
            sequences = self._sequences[channel_id]
            order = sorted(range(len(messages)), key=sequences.__getitem__)
            sorted_messages = [messages[i] for i in order]
            topic = self._channels[channel_id].topic
            _add_unique(self._contents.messages, kind="channels", name=topic, value=sorted_messages)
        return self._contents


T = TypeVar("T")


def _add_unique(mapping: dict[str, T], kind: str, name: str, value: T) -> None:
    """Add a value under a name that must be new; `kind` is a plural noun for the error message."""
    if name in mapping:
        raise ValueError(f"there are two {kind} {name!r:.80}")
    mapping[name] = value


def _decompress_chunk(chunk: records.Chunk, max_bytes: int) -> bytes:
    """Return the decompressed records of a chunk, at most `max_bytes`; check size and checksum."""
    size = chunk.uncompressed_size
    allowed = min(max_bytes, MAX_LENGTHS[Opcode.CHUNK])
    if size > allowed:
        raise _too_large_error(f"it would unpack to {size} bytes where {allowed} are allowed")
    limit = size + 1  # one more than declared, so that a longer chunk is noticed
    if chunk.compression == "zstd":
        decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_LENGTHS[Opcode.CHUNK])
        with decompressor.stream_reader(chunk.data) as reader:
            body = reader.read(limit)
    elif chunk.compression == "lz4":
        body = bytes(lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=limit))
    elif chunk.compression == "":
        body = chunk.data
    else:
        raise ValueError(f"compression {chunk.compression!r:.80} is unknown")
    if len(body) != size:
        raise ValueError(f"a chunk of {size} bytes unpacked to {len(body)}")
    if zlib.crc32(body) != chunk.uncompressed_crc:
        raise ValueError("the checksum of the chunk is wrong")
    return body
