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
MOST_PAYLOAD = 4096
"""No record of a unit is longer: a header that says so is damaged."""

_HEADER = struct.Struct("<BBBH")  # start, kind, sequence, length
_CHECK = struct.Struct(">H")
_HELLO = struct.Struct("<BBHHI")  # protocol, fresh, input bytes, state bytes, period [us]
AROUND = _HEADER.size + _CHECK.size


class FrameKind(IntEnum):
    """What a frame says: questions of the computer, and answers of the board."""

    HELLO = 0x01
    STEP = 0x02
    RESET = 0x03
    HELLO_ANSWER = ANSWER | HELLO
    STEP_ANSWER = ANSWER | STEP
    RESET_ANSWER = ANSWER | RESET
    REFUSED = ANSWER | 0x04


class Refusal(IntEnum):
    """Why a board refuses a question."""

    NOT_GREETED = 1
    BUSY = 2


def crc16(data: bytes) -> int:
    """Return the CRC-16/CCITT-FALSE: of `123456789` it is 0x29B1."""
    return binascii.crc_hqx(data, 0xFFFF)  # the same polynomial, 0x1021


@dataclass(frozen=True, slots=True)
class Frame:
    """A question or an answer."""

    kind: FrameKind
    sequence: int
    payload: bytes = b""

    def encoded(self) -> bytes:
        """Return its bytes on the line."""
        header = _HEADER.pack(START, self.kind, self.sequence, len(self.payload))
        return header + self.payload + _CHECK.pack(crc16(header[1:] + self.payload))


@dataclass(frozen=True, slots=True)
class Hello:
    """What a board says of itself.

    Attributes:
        protocol: the line's, `PROTOCOL` here.
        is_fresh: whether it has taken no step since it started.
        input_bytes: of a record of inputs; `state_bytes` of a record of states.
        period_s: between two ticks [s].
        name: of the unit.
    """

    protocol: int
    is_fresh: bool
    input_bytes: int
    state_bytes: int
    period_s: float
    name: str

    @classmethod
    def decoded(cls, payload: bytes) -> Hello | None:
        """Return what a payload says; None where it is no hello."""
        if len(payload) < _HELLO.size:
            return None
        protocol, fresh, inputs, states, period_us = _HELLO.unpack_from(payload)
        name = payload[_HELLO.size :].decode("ascii", "replace")
        return cls(protocol, bool(fresh), inputs, states, period_us * 1e-6, name)

    def encoded(self) -> bytes:
        """Return the payload that says so."""
        period_us = round(self.period_s * 1e6)
        told = _HELLO.pack(self.protocol, self.is_fresh, self.input_bytes, self.state_bytes, period_us)
        return told + self.name.encode("ascii")


class FrameReader:
    """Finds frames among bytes that may be damaged, or be no frames at all.

    A frame that its CRC does not confirm costs one byte: the next may begin right after its start byte.

    Attributes:
        damaged: frames that the CRC did not confirm.
        skipped: bytes that belonged to no frame.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self.damaged = self.skipped = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Take bytes and yield the frames that are complete with them."""
        self._bytes += data
        while (frame := self._next()) is not None:
            yield frame

    def give_up(self) -> Iterator[Frame]:
        """Take it that what was begun will not be completed, and yield the frames that hide in it."""
        while self._bytes:
            self._skip(1)
            yield from self.feed(b"")

    def _next(self) -> Frame | None:
        while True:
            begin = self._bytes.find(START)
            self._skip(len(self._bytes) if begin < 0 else begin)
            if len(self._bytes) < _HEADER.size:
                return None
            _, kind, sequence, length = _HEADER.unpack_from(self._bytes)
            if length > MOST_PAYLOAD or kind not in FrameKind._value2member_map_:
                self._skip(1)
                continue
            size = length + AROUND
            if len(self._bytes) < size:
                return None
            if not crc16(bytes(self._bytes[1:size])):  # with itself behind, that of anything is 0
                payload = bytes(self._bytes[_HEADER.size : size - _CHECK.size])
                del self._bytes[:size]
                return Frame(FrameKind(kind), sequence, payload)
            self.damaged += 1
            self._skip(1)

    def _skip(self, count: int) -> None:
        self.skipped += count
        del self._bytes[:count]
