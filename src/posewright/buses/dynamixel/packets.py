"""Packets of Dynamixel's protocol 1.0, among them the sync write of goal positions to AX-12 servos.

Source: ROBOTIS e-Manual, "DYNAMIXEL Protocol 1.0" (instruction packet, checksum, sync write) and "AX-12A"
(control table: Goal Position at address 30 and Moving Speed at 32, two bytes each, the lower one first; a
speed of 1 is 0.111 rpm, a speed of 0 is as fast as the servo can).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from posewright.buses.dynamixel.control_table import Instruction
from posewright.errors import FormatError, InputError

HEADER = b"\xff\xff"
BROADCAST_ID = 0xFE
OVERHEAD = 6
"""Bytes of a packet without parameters: header 2, ID, length, instruction or error, checksum."""

BITS_A_BYTE = 10
"""Bits per byte on the wire: a start bit, eight data bits, a stop bit."""

ID_INDEX = 2
LENGTH_INDEX = 3
INSTRUCTION_INDEX = 4
ERROR_INDEX = 4
PARAMETERS_INDEX = 5
"""Where a packet has its parts; an answer has its error byte in place of the instruction."""

BYTES_OUTSIDE_LENGTH = 4
"""Header, ID and the length itself are not counted by the length byte."""

GOAL_POSITION = 30
GOAL_BYTES = 4
"""Address of the goal position, and bytes of goal and moving speed together (e-Manual, AX-12A)."""

GOALS_HEAD = bytes((GOAL_POSITION, GOAL_BYTES))

GENTLE_SPEED = 100
"""Moving speed with which servos go to the start pose: 1.16 rad/s."""

FULL_SPEED = 0

SPEED_RAD_S = 0.111 * 2.0 * math.pi / 60.0
"""The moving speed that a register value of 1 means [rad/s]."""

LONGEST_PACKET = 143
"""Largest packet that a controller's buffer holds [bytes] (e-Manual, protocol 1.0, sync write)."""


@dataclass(frozen=True)
class InstructionPacket:
    """A packet from the controller to one servo, or to all."""

    id: int
    instruction: int
    parameters: bytes = b""

    def encode(self) -> bytes:
        """Return the bytes of the packet as they go over the bus."""
        body = bytes((self.id, len(self.parameters) + 2, self.instruction)) + self.parameters
        return HEADER + body + bytes((checksum(body),))

    @classmethod
    def decode(cls, packet: bytes) -> InstructionPacket:
        """Parse the bytes of a packet.

        Raises:
            FormatError: the header, the length or the checksum is wrong.
        """
        if len(packet) < OVERHEAD or not packet.startswith(HEADER):
            raise FormatError(
                f"{packet[:OVERHEAD].hex(' ')} is not a packet of protocol 1.0",
                hint="packets begin with FF FF",
            )
        stated_length = packet[LENGTH_INDEX]
        length = len(packet) - BYTES_OUTSIDE_LENGTH
        if stated_length != length:
            raise FormatError(f"the packet's length byte is {stated_length}, but {length} bytes follow")
        right_checksum = checksum(packet[ID_INDEX:-1])
        if packet[-1] != right_checksum:
            raise FormatError(f"the checksum is {packet[-1]:#04x}, not {right_checksum:#04x}")
        return cls(packet[ID_INDEX], packet[INSTRUCTION_INDEX], packet[PARAMETERS_INDEX:-1])


def checksum(body: bytes) -> int:
    """Return the checksum of the bytes between the header and the checksum."""
    return ~sum(body) & 0xFF


def goal_positions(ids: Sequence[int], ticks: Sequence[int], speed: int = FULL_SPEED) -> bytes:
    """Return the packet that sends each servo of `ids` to its goal [ticks], all at the same speed."""
    goals = b"".join(
        struct.pack("<BHH", servo_id, goal, speed) for servo_id, goal in zip(ids, ticks, strict=True)
    )
    return InstructionPacket(BROADCAST_ID, Instruction.SYNC_WRITE, GOALS_HEAD + goals).encode()


class Goal(NamedTuple):
    """Goal position [ticks] and moving speed of a servo."""

    ticks: int
    speed: int


def goals_in(packet: bytes) -> Mapping[int, Goal]:
    """Return the goals in a packet of goal positions, by servo ID.

    Raises:
        FormatError: the packet is damaged, or holds no goal positions.
    """
    instruction_packet = InstructionPacket.decode(packet)
    is_sync_write = instruction_packet.instruction == Instruction.SYNC_WRITE
    address_and_size = instruction_packet.parameters[: len(GOALS_HEAD)]
    goals = instruction_packet.parameters[len(GOALS_HEAD) :]
    if not is_sync_write or address_and_size != GOALS_HEAD or len(goals) % (GOAL_BYTES + 1):
        raise FormatError("the packet is not a sync write of goal positions")
    return {servo_id: Goal(ticks, speed) for servo_id, ticks, speed in struct.iter_unpack("<BHH", goals)}


def packet_bytes(n_servos: int) -> int:
    """Return the size of a packet of goal positions to so many servos [bytes].

    Raises:
        InputError: the packet does not fit into a controller's buffer.
    """
    size = len(goal_positions(range(n_servos), [0] * n_servos))
    if size > LONGEST_PACKET:
        message = f"a packet to {n_servos} servos has {size} bytes"
        raise InputError(message, hint=f"a packet has at most {LONGEST_PACKET} bytes")
    return size


def split_packets(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the complete packets in some bytes, damaged or not, and the bytes of an incomplete one."""
    packets: list[bytes] = []
    remaining = data
    while (begin := remaining.find(HEADER)) >= 0:
        from_header = remaining[begin:]
        if len(from_header) <= LENGTH_INDEX:
            return packets, from_header
        packet_size = from_header[LENGTH_INDEX] + BYTES_OUTSIDE_LENGTH
        if packet_size > len(from_header):
            return packets, from_header
        packets.append(from_header[:packet_size])
        remaining = from_header[packet_size:]
    half_header = HEADER[:1]  # the other half may follow
    return packets, half_header if remaining.endswith(half_header) else b""
