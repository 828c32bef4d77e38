"""Packets of Dynamixel's protocol 1.0: those that tell an AX-12 where to go.

Source: ROBOTIS e-Manual, "DYNAMIXEL Protocol 1.0" (instruction packet, checksum, sync write) and "AX-12A"
(control table: Goal Position at address 30 and Moving Speed at 32, two bytes each, the lower one first; a
speed of 1 is 0.111 turns a minute, 0 as fast as the servo can).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from posewright.buses.dynamixel.control_table import Instruction
from posewright.errors import FormatError, InputError

HEADER = b"\xff\xff"
BROADCAST_ID = 0xFE
OVERHEAD = 6
"""Bytes of a packet without parameters: header 2, ID, length, instruction or error, checksum."""

BITS_A_BYTE = 10
"""On the wire: a start bit, eight, a stop bit."""

GOAL_POSITION = 30
GOAL_BYTES = 4
GOALS_HEAD = bytes((GOAL_POSITION, GOAL_BYTES))

GENTLE_SPEED = 100
"""How fast servos go to where the robot starts, from wherever it is: 1.16 rad/s."""

FULL_SPEED = 0

SPEED_RAD_S = 0.111 * 2.0 * math.pi / 60.0
"""A speed of 1 [rad/s]."""

LONGEST_PACKET = 143
"""A controller's buffer takes no more in one packet (e-Manual, protocol 1.0, sync write)."""


@dataclass(frozen=True)
class InstructionPacket:
    """What a controller says to one servo, or to all."""

    id: int
    instruction: int
    parameters: bytes = b""

    def encode(self) -> bytes:
        """Return it as it goes over the bus."""
        body = bytes((self.id, len(self.parameters) + 2, self.instruction)) + self.parameters
        return HEADER + body + bytes((checksum(body),))

    @classmethod
    def decode(cls, packet: bytes) -> InstructionPacket:
        """Return what a packet says.

        Raises:
            FormatError: the header, the length or the checksum is not right.
        """
        if len(packet) < 6 or packet[:2] != HEADER:
            raise FormatError(f"{packet[:6].hex(' ')} is no packet of protocol 1.0", hint="it begins FF FF")
        if packet[3] != len(packet) - 4:
            raise FormatError(f"the packet says {packet[3]} bytes follow, but {len(packet) - 4} do")
        if checksum(packet[2:-1]) != packet[-1]:
            raise FormatError(f"the checksum is {packet[-1]:#04x}, not {checksum(packet[2:-1]):#04x}")
        return cls(packet[2], packet[4], packet[5:-1])


def checksum(body: bytes) -> int:
    """Return the checksum of what lies between the header and it."""
    return ~sum(body) & 0xFF


def goal_positions(ids: Sequence[int], ticks: Sequence[int], speed: int = FULL_SPEED) -> bytes:
    """Return the packet that sends every servo to its goal, in the order of `ids`."""
    pairs = zip(ids, ticks, strict=True)
    goals = b"".join(
        bytes((servo, tick & 0xFF, tick >> 8, speed & 0xFF, speed >> 8)) for servo, tick in pairs
    )
    return InstructionPacket(BROADCAST_ID, Instruction.SYNC_WRITE, GOALS_HEAD + goals).encode()


def goals_in(packet: bytes) -> Mapping[int, tuple[int, int]]:
    """Return goal [ticks] and moving speed by servo ID that a packet of goal positions holds.

    Raises:
        FormatError: it is damaged, or says something else.
    """
    told = InstructionPacket.decode(packet)
    head = told.parameters[:2]
    goals = told.parameters[2:]
    if told.instruction != Instruction.SYNC_WRITE or head != GOALS_HEAD or len(goals) % (GOAL_BYTES + 1):
        raise FormatError("the packet is no sync write of goal positions")
    return {servo: (goal, speed) for servo, goal, speed in struct.iter_unpack("<BHH", goals)}


def packet_bytes(n_servos: int) -> int:
    """Return how long a packet of goal positions is.

    Raises:
        InputError: a controller's buffer would not take it.
    """
    size = len(goal_positions(range(n_servos), [0] * n_servos))
    if size > LONGEST_PACKET:
        what = f"a packet to {n_servos} servos has {size} bytes"
        raise InputError(what, hint=f"one packet has at most {LONGEST_PACKET}")
    return size


_BEFORE_LENGTH = 3
_AROUND = 4


def packets_in(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the packets that are complete, damaged or not, and the bytes of one that has only begun."""
    found: list[bytes] = []
    while (begin := data.find(HEADER)) >= 0:
        data = data[begin:]
        end = data[_BEFORE_LENGTH] + _AROUND if len(data) > _BEFORE_LENGTH else len(data) + 1
        if end > len(data):
            return found, data
        found.append(data[:end])
        data = data[end:]
    return found, data[-1:] if data.endswith(HEADER[:1]) else b""
