"""Packets of Dynamixel's protocol 1.0: those that tell an AX-12 where to go.

Source: ROBOTIS e-Manual, "DYNAMIXEL Protocol 1.0" (instruction packet, checksum, sync write) and "AX-12A"
(control table: Goal Position at address 30, two bytes, the lower one first).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from posewright.errors import FormatError, InputError

HEADER = b"\xff\xff"
BROADCAST_ID = 0xFE
SYNC_WRITE = 0x83
GOAL_POSITION = 30
GOAL_BYTES = 2

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


def goal_positions(ids: Sequence[int], ticks: Sequence[int]) -> bytes:
    """Return the packet that sends every servo to its goal, in the order of `ids`."""
    pairs = zip(ids, ticks, strict=True)
    goals = b"".join(bytes((servo, tick & 0xFF, tick >> 8)) for servo, tick in pairs)
    return InstructionPacket(BROADCAST_ID, SYNC_WRITE, bytes((GOAL_POSITION, GOAL_BYTES)) + goals).encode()


def goals_in(packet: bytes) -> Mapping[int, int]:
    """Return the ticks by servo ID that a packet of goal positions holds.

    Raises:
        FormatError: it is damaged, or says something else.
    """
    told = InstructionPacket.decode(packet)
    head = bytes((GOAL_POSITION, GOAL_BYTES))
    goals = told.parameters[2:]
    if told.instruction != SYNC_WRITE or told.parameters[:2] != head or len(goals) % (GOAL_BYTES + 1):
        raise FormatError("the packet is no sync write of goal positions")
    return {goals[at]: goals[at + 1] | goals[at + 2] << 8 for at in range(0, len(goals), GOAL_BYTES + 1)}


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
