"""Motions in blocks: what MoveHead and MoveLegs share, moving joints on a straight way from where they are.

Source: seeds.md D2: when a motion starts, the start angles are read from the robot, the end angles and the
number of blocks are set; a block is 16 frames of 8 ms, and every Ready from OVirtualRobotComm advances one
block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from posewright.runtimes.openr.regions import MAX_FRAMES, MICRO, interpolated
from posewright.runtimes.openr.services import OObject
from posewright.runtimes.openr.vectors import CommandVectorSubject


@dataclass(frozen=True, slots=True)
class BlockMotion:
    """Where joints go, and in how many blocks.

    Attributes:
        ends: the end angle of each primitive that moves [micro-radians].
        n_blocks: of 128 ms each; all joints take them all, whatever their way.
    """

    ends: Mapping[int, int]
    n_blocks: int


class BlockPlayer:
    """Plays one motion at a time, a block for every Ready.

    The integers between start and end are those of the whole way, so that blocks join without a jump and the
    last frame hits the end. A motion that is started while a block is still under way waits for its end.
    As the start is where the joint is, and not where it was told to be, one that lags behind its command
    under load begins with a small step back; Safety spreads it where it is faster than the servo.

    Args:
        owner: the object that moves; it gets a subject `Move`.
        done: is called when the last block has been played.
    """

    def __init__(self, owner: OObject, done: Callable[[], None]) -> None:
        self._owner, self._done = owner, done
        self._move = CommandVectorSubject(owner, "Move", self._next)
        self._motion: BlockMotion | None = None
        self._ways: dict[int, list[int]] = {}  # of each primitive, the angles of all frames [micro-radians]
        self._n_sent = 0

    def play(self, motion: BlockMotion) -> None:
        """Start a motion, at once or when the block under way has ended."""
        self._motion, self._n_sent = motion, 0
        if self._move.is_ready:
            self._next()

    def end(self) -> str:
        """End the motion: nothing follows on the block under way. Return where that leads, for people."""
        motion, self._motion = self._motion, None
        self._move.clear_buffer()
        if motion is None or self._n_sent == 0:
            return "nothing of it was sent"
        names = self._owner.openr.robot.joint_names
        last = self._n_sent * MAX_FRAMES - 1
        where = (
            f"{names[joint]} at {math.degrees(way[last] / MICRO):.2f} deg"
            for joint, way in self._ways.items()
        )
        return f"block {self._n_sent} of {motion.n_blocks} is the last; it ends with {', '.join(where)}"

    def _next(self) -> None:
        """Send the next block of the motion, or say that there is no more."""
        motion = self._motion
        if motion is None:
            return
        if self._n_sent == motion.n_blocks:
            self._done()
            return
        if self._n_sent == 0:
            self._read_start(motion)
        begin = self._n_sent * MAX_FRAMES
        self._n_sent += 1
        self._move.send_frames({one: way[begin : begin + MAX_FRAMES] for one, way in self._ways.items()})

    def _read_start(self, motion: BlockMotion) -> None:
        n_frames = motion.n_blocks * MAX_FRAMES
        self._ways = {
            primitive: interpolated(self._owner.openr.get_joint_value(primitive), end, n_frames)
            for primitive, end in motion.ends.items()
        }
