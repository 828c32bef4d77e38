"""What goes over a RoboNova's line, 4800 bits a second, and the program on the board that hears it.

A pose is 255, 16 positions in the order of the servos' numbers, and a check; the answer says whether it was
whole, and what the board's AD(6) (battery) and AD(5) (tilt) read. No position is above 190, so that what
begins a packet is never taken for one. Source of ERX, ETX, AD, MOVE, DIR: RoboBASIC manual v2.10; the rest is
ours. It was tried on an interpreter of ours only, not on a board.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from posewright.errors import FormatError, InputError

BAUD = 4800
BYTE_S = 10.0 / BAUD
SERVOS = (0, 1, 2, 3, 4, 6, 7, 8, 12, 13, 14, 18, 19, 20, 21, 22)
"""Numbers of the 16 servos on the board: legs and arms of the groups G6A to G6D."""

LOW = 10
HIGH = 190
"""Least and greatest position that MOVE takes."""

POSE = 255
OFF = 254
ASK = 253
DONE = 252
DAMAGED = 251
SURE = 85
"""Follows OFF, so that no single damaged byte lets go of the robot."""

CHECKED = 241
POSE_BYTES = 2 + len(SERVOS)
ANSWER_BYTES = 4
FRAME_S = (POSE_BYTES + ANSWER_BYTES) * BYTE_S
"""What a pose and its answer take on the wire [s]."""

VOLTS = 10.0 / 256.0
"""Of a count of AD(6) (template programs: V = 10 x value / 256)."""

FALLEN = (30, 200)
"""Of AD(5): below or above, the robot lies (template programs)."""


def check(numbers: Iterable[int]) -> int:
    """Return the check of some numbers: no one that differs, and no two swapped neighbours, have the same."""
    return sum(place * number for place, number in enumerate(numbers, 1)) % CHECKED


def pose(positions: Iterable[int]) -> bytes:
    """Return the packet of a pose.

    Raises:
        InputError: these are not 16 positions that MOVE takes.
    """
    told = list(positions)
    if len(told) != len(SERVOS) or not all(LOW <= one <= HIGH for one in told):
        raise InputError(f"{told} is no pose of a RoboNova", hint=f"{len(SERVOS)} positions {LOW}..{HIGH}")
    return bytes((POSE, *told, check(told)))


@dataclass(frozen=True, slots=True)
class Answer:
    """What the board answered.

    Attributes:
        whole: whether what it heard was.
        battery_v: voltage of its battery [V].
        tilt: what its tilt sensor reads, 0..255.
    """

    whole: bool
    battery_v: float
    tilt: int

    @property
    def fallen(self) -> bool:
        """Whether the robot lies."""
        return not FALLEN[0] <= self.tilt <= FALLEN[1]

    @classmethod
    def decode(cls, data: bytes) -> Answer:
        """Read an answer.

        Raises:
            FormatError: it is none, or is damaged.
        """
        if len(data) != ANSWER_BYTES or data[0] not in (DONE, DAMAGED) or check(data[:3]) != data[3]:
            raise FormatError(f"{data.hex(' ')} is no answer of a RoboNova", hint="4 bytes, 252 or 251 first")
        return cls(data[0] == DONE, data[1] * VOLTS, data[2])


def receiver_program() -> str:
    """Return the RoboBASIC program for the board."""
    text = Path(__file__).with_name("receiver.bas").read_text(encoding="ascii")
    places = range(len(SERVOS))
    declared = "\n".join(f"DIM P{place} AS BYTE" for place in places)
    received = "\n".join(
        f"P{place}_COMES:\n    ERX {BAUD}, P{place}, P{place}_COMES\n    A = P{place}\n"
        f"    IF A > {HIGH} THEN GOTO KIND\n    M = P{place} * {place + 1}\n    S = S + M"
        for place in places
    )
    return text.replace("{DECLARE}", declared).replace("{RECEIVE}", received).replace("\n", "\r\n")
