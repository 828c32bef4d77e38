"""The framing of bottles on the wire: headers, messages, acknowledgements, datagrams.

The first eight bytes of a connection choose its carrier. A message is sent in blocks, whose boundaries have
no meaning: joined, they are a command to the port followed by the bottle. All numbers are little-endian.
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
"""Longest message to a port by default [bytes]."""

LARGEST_DATAGRAM = 65499
"""Size of a full datagram [bytes]; UDP allows eight more, but the buffer of YARP's ports may not."""

GOODBYE = -1
"""The count of the datagram that ends a connection."""


class Carrier(Enum):
    """The protocol of a connection between two ports."""

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
        return TEXTS[self] if code is None else encode_number(code)


TEXTS = {Carrier.TEXT: b"CONNECT ", Carrier.TEXT_ACK: b"CONNACK "}
CODES = {Carrier.UDP: 7777, Carrier.FAST_TCP: 7780, Carrier.TCP: 7908}
CODE_OF_UDP = 7777
"""The lowest code; those of other carriers are this plus a family and flags."""

FAMILY = 16
"""The code modulo this is the family of a carrier."""

TCP_FAMILY = 3
ACK_FLAG = 128
"""The flag in a code of a carrier that acknowledges messages."""


def carrier_of(header: bytes) -> Carrier | None:
    """Return the carrier that a connection's first eight bytes choose, or None."""
    for carrier, text in TEXTS.items():
        if header == text:
            return carrier
    number = _number(header)
    if number is None or not 0 <= number - CODE_OF_UDP < 2 * ACK_FLAG:
        return None
    family_and_flags = number - CODE_OF_UDP
    if family_and_flags % FAMILY == TCP_FAMILY:
        return Carrier.TCP if family_and_flags & ACK_FLAG else Carrier.FAST_TCP
    return Carrier.UDP if family_and_flags % FAMILY == 0 else None


def encode_number(number: int) -> bytes:
    """Return a number in the eight bytes in which YARP sends it."""
    return b"YA" + struct.pack("<i", number) + b"RP"


def take_number(take: TakeBytes) -> int:
    """Read eight bytes; return the number in them.

    Raises:
        FormatError: they have another form.
    """
    data = take(HEADER_BYTES)
    number = _number(data)
    if number is None:
        raise FormatError(f"{data.hex(' ')} is not a header of YARP", hint="it is YA, four bytes, RP")
    return number


def _number(data: bytes) -> int | None:
    """Return the number in eight bytes; None if they are not of the form YA....RP."""
    is_framed = len(data) == HEADER_BYTES and data[:2] == b"YA" and data[6:] == b"RP"
    return int.from_bytes(data[2:6], "little", signed=True) if is_framed else None


ACK = encode_number(0)
INDEX_BYTES = 10
INDEX = encode_number(INDEX_BYTES)
"""The start of a message; ten bytes follow: the numbers of blocks and of reply blocks, and filling."""

FILLING = b"\xff" * 8
INT_BYTES = 4
_COMMAND_END = b"\0\1"
"""Ends the head of a command, which is the length of a text, `~` and the letter; NUL if the text follows."""


def introduction(carrier: Carrier, sender: str) -> bytes:
    """Return the bytes with which a sender opens a binary connection."""
    name = sender.encode() + b"\0"
    return carrier.header + struct.pack("<i", len(name)) + name


def take_introduction(take: TakeBytes) -> str:
    """Read the sender's name, which follows the header.

    Raises:
        FormatError: it is empty, too long, or has no final NUL.
    """
    length = int.from_bytes(take(INT_BYTES), "little", signed=True)
    name = take(length) if 1 <= length <= LONGEST_NAME else b""
    if name[-1:] != b"\0":
        raise FormatError(
            f"a sender's name of {length} bytes", hint=f"send 1 to {LONGEST_NAME}, the last a NUL"
        )
    return name[:-1].decode("utf-8", "surrogateescape")


_MAX_COUNT_DIGITS = 20
"""How many digits of an envelope's number are read: more than 64 bits need."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The envelope of a message: its number and its time [s]."""

    count: int
    time_s: float

    def __str__(self) -> str:
        return f"{self.count} {self.time_s!r}"

    @classmethod
    def parse(cls, text: str) -> Envelope | None:
        """Parse an envelope; return None if it has another form."""
        count, _, time_s = text.strip().partition(" ")
        try:
            envelope = cls(int(count[:_MAX_COUNT_DIGITS]), float(time_s))
        except ValueError:
            return None
        return envelope if math.isfinite(envelope.time_s) else None


@dataclass(frozen=True, slots=True)
class Message:
    """A message to a port.

    Attributes:
        command: `d` for data with an answer, `D` for data without, `a` for administration, `q` to disconnect;
            ports ignore others.
        bottle: the bottle; None if the command has none.
        envelope: the envelope of data, if they have one.
    """

    command: str
    bottle: Bottle | None = None
    envelope: Envelope | None = None

    @property
    def is_data(self) -> bool:
        """Whether it carries data, with an answer or without."""
        return self.command in {"d", "D"}

    def encode(self) -> bytes:
        """Return the message as bytes, in one block.

        A command of one letter is in the head itself; one with an envelope follows the head as text.

        Raises:
            InputError: the bottle cannot be encoded.
        """
        body = b"" if self.bottle is None else encode(self.bottle)
        if self.envelope is None and self.bottle is not None:
            head = struct.pack("<i", 0) + b"~" + self.command.encode("ascii") + _COMMAND_END
        else:
            text = f"{self.command} {self.envelope}" if self.envelope else self.command
            head = struct.pack("<i", len(text) + 1) + b"~\0" + _COMMAND_END + text.encode("ascii") + b"\0"
        size = len(head) + len(body)
        # one block, whose length follows the index, and one empty block for the reply
        return INDEX + b"\1\1" + FILLING + struct.pack("<ii", size, 0) + head + body


def take_message(take: TakeBytes, max_message_bytes: int = MAX_BYTES) -> Message:
    """Read one message: an index, the lengths of its blocks, and the blocks.

    Args:
        take: returns the next bytes of the connection, as many as it is called with.
        max_message_bytes: longest message that is accepted [bytes].

    Raises:
        FormatError: the message is damaged or too long.
    """
    if take(HEADER_BYTES) != INDEX:
        raise FormatError("no message starts here", hint=f"it starts with {INDEX.hex(' ')}")
    n_blocks, n_reply_blocks, *filling = take(INDEX_BYTES)
    if bytes(filling) != FILLING:
        raise FormatError("the index of a message is damaged", hint="it ends in eight bytes ff")
    lengths = struct.unpack(f"<{n_blocks}i", take(INT_BYTES * n_blocks))
    take(INT_BYTES * n_reply_blocks)  # lengths that only a reply would use
    if min(lengths, default=0) < 0 or sum(lengths) > max_message_bytes:
        raise FormatError(
            "the blocks of the message have an invalid length", hint=f"0 to {max_message_bytes} bytes"
        )
    return _decode_message(take(sum(lengths)))


def _decode_message(data: bytes) -> Message:
    """Return a message from its joined blocks.

    They begin with the length of the command's text, `~`, and either a letter, which is the command, or 0.
    After 0 the text of the command follows, which may have an envelope. The remainder is the bottle, if there
    is one.
    """
    if len(data) < HEADER_BYTES or data[4:5] != b"~" or data[6:8] != b"\0\1":
        message = f"{data[:8].hex(' ')} is not a command to a port"
        raise FormatError(message, hint="it is a length, ~, a letter, 00 01")
    length = int.from_bytes(data[:INT_BYTES], "little", signed=True)
    letter = data[5]  # 0 if the command follows as text
    text = data[HEADER_BYTES : HEADER_BYTES + max(length, 0)]
    if letter == 0:
        if not 1 <= length <= LONGEST_COMMAND or len(text) != length or text[-1] != 0:
            raise FormatError("the command is cut off or too long")
        command = text[:-1].decode("utf-8", "surrogateescape")
    elif length == 0:
        command = chr(letter)
    else:
        raise FormatError(f"the command is one letter, but states {length} more")
    remainder = data[HEADER_BYTES + length :]
    envelope = Envelope.parse(command[1:]) if command[:1] in {"d", "D"} else None
    return Message(command[:1], decode(remainder) if remainder else None, envelope)


def datagrams(message: bytes) -> list[bytes]:
    """Return a message as datagrams, numbered from 0."""
    max_size = LARGEST_DATAGRAM - HEADER_BYTES
    parts = [message[begin : begin + max_size] for begin in range(0, len(message), max_size)]
    return [datagram(count, part) for count, part in enumerate(parts)]


def datagram(count: int, part: bytes) -> bytes:
    """Return a datagram of a part of a message; its checksum covers the part only."""
    return struct.pack("<Ii", zlib.crc32(part), count) + part


@dataclass(slots=True)
class Assembly:
    """Assembles messages from datagrams; a message with a missing, repeated or early part is dropped.

    Attributes:
        max_message_bytes: longest message that is accepted [bytes].
        n_dropped: number of messages that were dropped.
    """

    max_message_bytes: int = MAX_BYTES
    n_dropped: int = 0
    _partial: bytes = b""
    _next_count: int = 0

    def add(self, data: bytes) -> Message | None:
        """Add a datagram; return the message that it completes, if it does.

        Raises:
            EOFError: the sender disconnects.
            FormatError: the datagram is damaged or out of order, or the completed message is invalid; the
                partial message is dropped.
        """
        partial = self._partial  # the parts of the message so far
        has_partial_message = bool(partial)
        expected_count = self._next_count
        self._partial = b""
        self._next_count = 0
        part = data[HEADER_BYTES:]
        if len(data) < HEADER_BYTES or int.from_bytes(data[:INT_BYTES], "little") != zlib.crc32(part):
            self.n_dropped += has_partial_message
            raise FormatError("the datagram is damaged")
        count = int.from_bytes(data[INT_BYTES:HEADER_BYTES], "little", signed=True)
        if count == GOODBYE:
            raise EOFError
        if count != expected_count:
            self.n_dropped += has_partial_message
            partial = b""
        if count not in {0, expected_count}:
            raise FormatError(f"part {count} of a message came instead of part {expected_count}")
        partial += part
        try:
            return decode_all(partial, lambda take: take_message(take, self.max_message_bytes))
        except EOFError:  # further parts are to come
            self._partial = partial
            self._next_count = count + 1
            return None
