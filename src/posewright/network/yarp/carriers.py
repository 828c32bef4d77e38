"""How bottles are framed on the wire: headers, messages, acknowledgements, datagrams.

Eight bytes open a connection and choose its carrier. A message is a list of blocks whose cuts mean nothing:
put together they are a command to the port, and behind it the bottle. All numbers are little-endian.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass
from enum import Enum

from posewright.errors import FormatError
from posewright.network.yarp.bottle import MAX_BYTES, Bottle, TakeBytes, decode, decode_all, encode

HEADER_BYTES = 8
LONGEST_NAME = 1024
LONGEST_COMMAND = 4096
LONGEST_REQUEST = 1 << 16
"""So many bytes may be sent to a port that asked for no more."""

LARGEST_DATAGRAM = 65499
"""UDP takes eight bytes more, but a real port's buffer may not."""

GOODBYE = -1
"""The count of the datagram that ends a connection."""


class Carrier(Enum):
    """How two ports talk."""

    TEXT = "text"
    TEXT_ACK = "text_ack"
    TCP = "tcp"
    FAST_TCP = "fast_tcp"
    UDP = "udp"

    @property
    def acks(self) -> bool:
        """Whether every message is acknowledged."""
        return self in {Carrier.TCP, Carrier.TEXT_ACK}

    @property
    def header(self) -> bytes:
        """The bytes that open a connection."""
        code = CODES.get(self)
        return TEXTS[self] if code is None else numbered(code)


TEXTS = {Carrier.TEXT: b"CONNECT ", Carrier.TEXT_ACK: b"CONNACK "}
CODES = {Carrier.UDP: 7777, Carrier.FAST_TCP: 7780, Carrier.TCP: 7908}
PROTOCOL = 7777
FAMILY = 16
TCP_FAMILY = 3
ACKS = 128


def carrier_of(header: bytes) -> Carrier | None:
    """Return the carrier that a connection's first eight bytes choose, or None."""
    for carrier, text in TEXTS.items():
        if header == text:
            return carrier
    number = _number(header)
    if number is None or not 0 <= (spec := number - PROTOCOL) < 2 * ACKS:
        return None
    if spec % FAMILY == TCP_FAMILY:
        return Carrier.TCP if spec & ACKS else Carrier.FAST_TCP
    return Carrier.UDP if spec % FAMILY == 0 else None


def numbered(number: int) -> bytes:
    """Return the eight bytes that YARP sends a number in."""
    return b"YA" + struct.pack("<i", number) + b"RP"


def take_numbered(take: TakeBytes) -> int:
    """Take eight bytes and return the number in them.

    Raises:
        FormatError: there is none.
    """
    data = take(HEADER_BYTES)
    number = _number(data)
    if number is None:
        raise FormatError(f"{data.hex(' ')} is no header of YARP", hint="YA, four bytes, RP")
    return number


def _number(data: bytes) -> int | None:
    around = len(data) == HEADER_BYTES and data[:2] == b"YA" and data[6:] == b"RP"
    return int.from_bytes(data[2:6], "little", signed=True) if around else None


ACK = numbered(0)
INDEX = numbered(10)
"""What a message begins with: ten bytes about its blocks follow."""


def introduction(carrier: Carrier, sender: str) -> bytes:
    """Return what a sender opens a binary connection with."""
    name = sender.encode() + b"\0"
    return carrier.header + struct.pack("<i", len(name)) + name


def take_introduction(take: TakeBytes) -> str:
    """Take the sender's name, which follows the header.

    Raises:
        FormatError: it is none.
    """
    length = int.from_bytes(take(4), "little", signed=True)
    name = take(length) if 1 <= length <= LONGEST_NAME else b""
    if name[-1:] != b"\0":
        raise FormatError(f"a sender's name of {length} bytes", hint=f"1 to {LONGEST_NAME}, the last a NUL")
    return name[:-1].decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Envelope:
    """A stamp beside a message: its number and its time [s]."""

    count: int
    time_s: float

    def __str__(self) -> str:
        return f"{self.count} {self.time_s!r}"

    @classmethod
    def parse(cls, text: str) -> Envelope | None:
        """Read a stamp; an envelope of another kind is None."""
        count, _, time_s = text.strip().partition(" ")
        try:
            envelope = cls(int(count[:20]), float(time_s))
        except ValueError:
            return None
        return envelope if math.isfinite(envelope.time_s) else None


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent to a port.

    Attributes:
        command: `d` data that wants an answer, `D` data that wants none, `a` administration, `q` good-bye;
            a port ignores others.
        bottle: None where none goes with the command.
        envelope: of data.
    """

    command: str
    bottle: Bottle | None = None
    envelope: Envelope | None = None

    def encode(self) -> bytes:
        """Return it as it travels, in one block.

        Raises:
            InputError: a bottle cannot hold what it holds.
        """
        body = b"" if self.bottle is None else encode(self.bottle)
        if self.envelope is None and self.bottle is not None:
            head = struct.pack("<i", 0) + b"~" + self.command.encode("ascii") + b"\0\1"
        else:
            text = f"{self.command} {self.envelope}" if self.envelope else self.command
            head = struct.pack("<i", len(text) + 1) + b"~\0\0\1" + text.encode("ascii") + b"\0"
        size = len(head) + len(body)
        return INDEX + b"\1\1" + b"\xff" * 8 + struct.pack("<ii", size, 0) + head + body


def take_message(take: TakeBytes, longest: int = MAX_BYTES) -> Message:
    """Take one message, whatever blocks it was cut into.

    Args:
        take: returns the next so many bytes.
        longest: so many bytes it may have.

    Raises:
        FormatError: it is damaged, or too long.
    """
    if take(HEADER_BYTES) != INDEX:
        raise FormatError("no message begins here", hint=INDEX.hex(" "))
    blocks, replies, *filled = take(10)
    if set(filled) != {0xFF}:
        raise FormatError("the index of a message is damaged", hint="it ends in eight bytes ff")
    lengths = struct.unpack(f"<{blocks}i", take(4 * blocks))
    take(4 * replies)
    if min(lengths, default=0) < 0 or sum(lengths) > longest:
        raise FormatError("a message's blocks have no length that can be", hint=f"0 to {longest} bytes")
    return _message(take(sum(lengths)))


def _message(data: bytes) -> Message:
    if len(data) < HEADER_BYTES or data[4:5] != b"~" or data[6:8] != b"\0\1":
        raise FormatError(f"{data[:8].hex(' ')} is no command to a port", hint="a length, ~, a letter, 00 01")
    length = int.from_bytes(data[:4], "little", signed=True)
    letter = data[5]
    text = data[HEADER_BYTES : HEADER_BYTES + max(length, 0)]
    if letter == 0:
        if not 1 <= length <= LONGEST_COMMAND or len(text) != length or text[-1] != 0:
            raise FormatError("a port's command is cut off, or too long")
        command = text[:-1].decode("utf-8", "surrogateescape")
    elif length == 0:
        command = chr(letter)
    else:
        raise FormatError(f"a command of one letter has {length} letters more")
    remainder = data[HEADER_BYTES + length :]
    envelope = Envelope.parse(command[1:]) if command[:1] in {"d", "D"} else None
    return Message(command[:1], decode(remainder) if remainder else None, envelope)


def datagrams(message: bytes) -> list[bytes]:
    """Return a message in datagrams, which count from 0 within it."""
    max_size = LARGEST_DATAGRAM - HEADER_BYTES
    parts = [message[at : at + max_size] for at in range(0, len(message), max_size)]
    return [datagram(count, part) for count, part in enumerate(parts)]


def datagram(count: int, part: bytes) -> bytes:
    """Return a datagram; its checksum is of the part alone."""
    return struct.pack("<Ii", zlib.crc32(part), count) + part


@dataclass(slots=True)
class Assembly:
    """Puts datagrams together to messages; one that lacks a part, or has it twice or too early, is dropped.

    Attributes:
        longest: so many bytes a message may have.
        lost: messages that were never completed.
    """

    longest: int = MAX_BYTES
    lost: int = 0
    _partial: bytes = b""
    _next: int = 0

    def add(self, data: bytes) -> Message | None:
        """Return the message that a datagram completes, if it does.

        Raises:
            EOFError: the sender says good-bye.
            FormatError: it is damaged, or completes no message that can be; the partial message is dropped.
        """
        partial = self._partial
        expected = self._next
        self._partial = b""
        self._next = 0
        if len(data) < HEADER_BYTES or int.from_bytes(data[:4], "little") != zlib.crc32(data[HEADER_BYTES:]):
            self.lost += bool(partial)
            raise FormatError("a datagram is damaged")
        count = int.from_bytes(data[4:8], "little", signed=True)
        if count == GOODBYE:
            raise EOFError
        if count != expected:
            self.lost += bool(partial)
            partial = b""
        if count not in {0, expected}:
            raise FormatError(f"part {count} of a message comes where part {expected} should")
        partial += data[HEADER_BYTES:]
        try:
            return decode_all(partial, lambda take: take_message(take, self.longest))
        except EOFError:
            self._partial = partial
            self._next = count + 1
            return None
