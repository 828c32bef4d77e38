"""Frames of the serial line between a board and a computer, as `targets/link.h` describes them."""

from __future__ import annotations

import binascii
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

START = 0xA5
PROTOCOL = 1
ANSWER = 0x80
MAX_PAYLOAD = 4096
"""No record of a unit is longer; a header with more is damaged."""

_HEADER = struct.Struct("<BBBH")  # start, kind, sequence, length
_CHECK = struct.Struct(">H")
_HELLO = struct.Struct("<BBHHI")  # protocol, fresh, input bytes, state bytes, period [us]
FRAME_OVERHEAD = _HEADER.size + _CHECK.size
"""Bytes of a frame besides its payload."""


class FrameKind(IntEnum):
    """Kinds of frames: requests of the computer, and answers of the board."""

    HELLO = 0x01
    STEP = 0x02
    RESET = 0x03
    HELLO_ANSWER = ANSWER | HELLO
    STEP_ANSWER = ANSWER | STEP
    RESET_ANSWER = ANSWER | RESET
    REFUSED = ANSWER | 0x04


_KIND_NUMBERS = frozenset(kind.value for kind in FrameKind)


class Refusal(IntEnum):
    """Reasons for which a board rejects a request."""

    NOT_GREETED = 1
    BUSY = 2


def crc16(data: bytes) -> int:
    """Return the CRC-16/CCITT-FALSE of some bytes, 0x29B1 for `123456789`."""
    return binascii.crc_hqx(data, 0xFFFF)  # the same polynomial, 0x1021


@dataclass(frozen=True, slots=True)
class LinkFrame:
    """A request or an answer."""

    kind: FrameKind
    sequence: int
    payload: bytes = b""

    def encode(self) -> bytes:
        """Return its bytes on the line."""
        header = _HEADER.pack(START, self.kind, self.sequence, len(self.payload))
        return header + self.payload + _CHECK.pack(crc16(header[1:] + self.payload))


@dataclass(frozen=True, slots=True)
class Hello:
    """The hello of a board, which describes the unit on it.

    Attributes:
        protocol: version of the protocol of the line.
        is_fresh: whether it has taken no step since it started.
        input_bytes: size of a record of inputs.
        state_bytes: size of a record of states.
        period_s: time between two ticks [s].
        name: name of the unit.
    """

    protocol: int
    is_fresh: bool
    input_bytes: int
    state_bytes: int
    period_s: float
    name: str

    @classmethod
    def decode(cls, payload: bytes) -> Hello | None:
        """Return the hello of a payload; None where the payload is too short."""
        if len(payload) < _HELLO.size:
            return None
        protocol, fresh, inputs, states, period_us = _HELLO.unpack_from(payload)
        name = payload[_HELLO.size :].decode("ascii", "replace")
        return cls(protocol, bool(fresh), inputs, states, period_us * 1e-6, name)

    def encode(self) -> bytes:
        """Return the payload of the hello."""
        period_us = round(self.period_s * 1e6)
        header = _HELLO.pack(self.protocol, self.is_fresh, self.input_bytes, self.state_bytes, period_us)
        return header + self.name.encode("ascii")


class FrameReader:
    """Finds frames in a stream of bytes that may be damaged.

    After a wrong CRC the search continues one byte further, as a frame may begin inside the damaged one.

    Attributes:
        n_damaged_frames: number of frames with a wrong CRC.
        n_skipped_bytes: number of bytes that belong to no frame.
    """

    def __init__(self) -> None:
        self._unread_bytes = bytearray()
        self.n_damaged_frames = 0
        self.n_skipped_bytes = 0

    def feed(self, data: bytes) -> Iterator[LinkFrame]:
        """Append bytes and yield the frames that are complete with them."""
        self._unread_bytes += data
        while (frame := self._take_frame()) is not None:
            yield frame

    def flush(self) -> Iterator[LinkFrame]:
        """Give up an incomplete frame and yield the frames inside the remaining bytes."""
        while self._unread_bytes:
            self._drop_bytes(1)
            yield from self.feed(b"")

    def _take_frame(self) -> LinkFrame | None:
        """Remove the first complete frame from the bytes and return it; None where there is none yet."""
        while True:
            begin = self._unread_bytes.find(START)
            self._drop_bytes(len(self._unread_bytes) if begin < 0 else begin)
            if len(self._unread_bytes) < _HEADER.size:
                return None
            _, kind, sequence, length = _HEADER.unpack_from(self._unread_bytes)
            if length > MAX_PAYLOAD or kind not in _KIND_NUMBERS:
                self._drop_bytes(1)
                continue
            size = length + FRAME_OVERHEAD
            if len(self._unread_bytes) < size:
                return None
            if not crc16(bytes(self._unread_bytes[1:size])):  # 0 for a frame followed by its own CRC
                payload = bytes(self._unread_bytes[_HEADER.size : size - _CHECK.size])
                del self._unread_bytes[:size]
                return LinkFrame(FrameKind(kind), sequence, payload)
            self.n_damaged_frames += 1
            self._drop_bytes(1)

    def _drop_bytes(self, count: int) -> None:
        """Remove bytes from the begin that belong to no frame, and count them."""
        self.n_skipped_bytes += count
        del self._unread_bytes[:count]
