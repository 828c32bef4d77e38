"""The protocol of a RoboNova's line, 4800 bits per second, and the program on the board that speaks it.

A pose is 255, 16 positions in the order of the servos' numbers, and a checksum; the answer tells whether it
was intact, and has the readings of the board's AD(6) (battery) and AD(5) (tilt). No position is above 190, so
that the first byte of a packet is never mistaken for one. Source of ERX, ETX, AD, MOVE, DIR: RoboBASIC manual
v2.10; the rest is ours. It was tried on our interpreter only, not on a board.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from posewright.errors import FormatError, InputError

BAUD = 4800
BYTE_S = 10.0 / BAUD
SERVOS = (0, 1, 2, 3, 4, 6, 7, 8, 12, 13, 14, 18, 19, 20, 21, 22)
"""Numbers of the 16 servos on the board: legs and arms in the groups G6A to G6D."""

LOW = 10
HIGH = 190
"""Smallest and largest position that MOVE accepts."""

POSE = 255
OFF = 254
ASK = 253
"""First bytes of packets to the board: a pose, motors off, and a request for an answer only."""

DONE = 252
DAMAGED = 251
"""First bytes of answers: the packet came undamaged, or damaged."""

SURE = 85
"""Follows OFF, so that no single damaged byte switches the motors off."""

CHECKSUM_MODULUS = 241
POSE_BYTES = 2 + len(SERVOS)
ANSWER_BYTES = 4
FRAME_S = (POSE_BYTES + ANSWER_BYTES) * BYTE_S
"""Time of a pose and its answer on the wire [s]."""

VOLTS_PER_COUNT = 10.0 / 256.0
"""Voltage of one count of AD(6) [V] (template programs: V = 10 x value / 256)."""

UPRIGHT_TILT = (30, 200)
"""Range of AD(5) of an upright robot; outside it has fallen (template programs)."""


def checksum(numbers: Iterable[int]) -> int:
    """Return the checksum of some numbers; it detects any single wrong number and any swap of neighbours."""
    weighted = (position * number for position, number in enumerate(numbers, 1))
    return sum(weighted) % CHECKSUM_MODULUS


def pose_packet(positions: Iterable[int]) -> bytes:
    """Return the packet of a pose.

    Raises:
        InputError: these are not 16 positions that MOVE accepts.
    """
    numbers = list(positions)
    if len(numbers) != len(SERVOS) or not all(LOW <= number <= HIGH for number in numbers):
        hint = f"a pose has {len(SERVOS)} positions of {LOW}..{HIGH}"
        raise InputError(f"{numbers} is not a pose of a RoboNova", hint=hint)
    return bytes((POSE, *numbers, checksum(numbers)))


@dataclass(frozen=True, slots=True)
class BoardAnswer:
    """An answer of the board.

    Attributes:
        is_pose_intact: whether the board received the packet undamaged.
        battery_v: voltage of its battery [V].
        tilt: reading of its tilt sensor, 0..255.
    """

    is_pose_intact: bool
    battery_v: float
    tilt: int

    @property
    def fallen(self) -> bool:
        """Whether the robot has fallen."""
        lowest, highest = UPRIGHT_TILT
        return not lowest <= self.tilt <= highest

    @classmethod
    def decode(cls, data: bytes) -> BoardAnswer:
        """Parse an answer.

        Raises:
            FormatError: the bytes are no answer, or are damaged.
        """
        is_valid = (
            len(data) == ANSWER_BYTES and data[0] in (DONE, DAMAGED) and checksum(data[:-1]) == data[-1]
        )
        if not is_valid:
            hint = "4 bytes, of which the first is 252 or 251"
            raise FormatError(f"{data.hex(' ')} is not an answer of a RoboNova", hint=hint)
        kind, battery_counts, tilt, _checksum = data
        return cls(kind == DONE, battery_counts * VOLTS_PER_COUNT, tilt)


def receiver_program() -> str:
    """Return the RoboBASIC program for the board, with CRLF line ends.

    It is `receiver.bas` with a variable and the code that receives it for each position of a pose; `ERX`
    jumps to its own line until a byte has come.
    """
    text = Path(__file__).with_name("receiver.bas").read_text(encoding="ascii")
    indices = range(len(SERVOS))
    declarations = "\n".join(f"DIM P{index} AS BYTE" for index in indices)
    receivers = "\n".join(
        f"P{index}_COMES:\n    ERX {BAUD}, P{index}, P{index}_COMES\n    A = P{index}\n"
        f"    IF A > {HIGH} THEN GOTO KIND\n    M = P{index} * {index + 1}\n    S = S + M"
        for index in indices
    )
    program = text.replace("{DECLARE}", declarations).replace("{RECEIVE}", receivers)
    return program.replace("\n", "\r\n")
