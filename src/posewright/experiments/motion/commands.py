"""What a motion's trial commands: the pose it begins in, and after that every frame, as a player would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.bodies import Decision, JointCommands
from posewright.control.passes import Passes
from posewright.errors import InputError
from posewright.evaluation.motion.played import HOLD, KEYFRAME, SETTLE
from posewright.motions import Motion
from posewright.robots import Robot

LOOPS_SHOWN = 3
"""Passes of a motion that repeats for ever: the first, one in the middle, and one more."""

LONGEST_PASS_S = 600.0
"""One pass is sampled as a whole; none that anybody wrote lasts as long."""


@dataclass(frozen=True, eq=False)
class Commands:
    """What is commanded from the motion's beginning on.

    Attributes:
        first: the pose the robot is put down in, `(n_joints,)` [rad].
        blocks: the frames, in pieces within which torque and stiffness do not change.
        keyframes: the number of the keyframe each frame leads to or stays in, from 1, `(n,)`.
        wanted: roll and pitch the author wants the base to have, `(n, 2)` [rad]; None where nobody says.
        is_whole: whether the motion was not cut short.
    """

    motion: str
    first: Floats
    blocks: tuple[JointCommands, ...]
    keyframes: Indices
    wanted: Floats | None
    is_whole: bool

    def script(self, settle: int, hold: int) -> list[JointCommands]:
        """Return the commands of a robot that stands for some frames, plays, and holds its last pose.

        Whatever a keyframe's frames begin with says so in its decision.
        """
        last = int(self.keyframes[-1])
        return [
            _held(JointCommands(self.first[np.newaxis]), settle, Decision(SETTLE, playing=self.motion)),
            *self._by_keyframe(),
            _held(self.blocks[-1], hold, Decision(HOLD, outputs={KEYFRAME: last}, playing=self.motion)),
        ]

    def _by_keyframe(self) -> Iterator[JointCommands]:
        """Yield all frames, those of each keyframe with a decision of their own."""
        begin = 0
        for block in self.blocks:
            numbers = self.keyframes[begin : begin + len(block)]
            cuts = np.flatnonzero(np.diff(numbers)) + 1
            for one, other in pairwise((0, *cuts.tolist(), len(block))):
                number = int(numbers[one])
                decision = Decision(f"keyframe {number}", outputs={KEYFRAME: number}, playing=self.motion)
                yield replace(block[one:other], decision=decision)
            begin += len(block)


def _held(block: JointCommands, n: int, decision: Decision) -> JointCommands:
    """Return the last frame of a block for some frames."""
    return replace(block, angles=np.repeat(block.angles[-1:], n, axis=0), decision=decision)


def commands_of(motion: Motion, robot: Robot, *, pose: str | None, longest_s: float) -> Commands:
    """Return what a player would command, within the limits of the hardware and not slowed down.

    The joints that the motion does not move are in that pose, else in the robot's `stand`, else the nearest.
    What lies later than `longest_s` is not played.

    Raises:
        InputError: the motion is another robot's, or a pass of it lasts longer than ten minutes.
        UnknownNameError: the robot has no such pose.
    """
    if motion.duration > LONGEST_PASS_S:
        length = f"a pass of {motion.name!r} lasts {motion.duration:.0f} s"
        raise InputError(length, hint=f"at most {LONGEST_PASS_S:.0f} s are played")
    first = motion.first_pose(robot, pose)
    n = max(1, int(longest_s / robot.frame_period_s))
    blocks = tuple(_within(_played(motion, robot, first), n))
    played = sum(map(len, blocks))
    asked = (motion.repeat or LOOPS_SHOWN) * motion.duration
    times: Floats = np.arange(1.0, played + 1.0) * robot.frame_period_s
    return Commands(
        motion=motion.name,
        first=first,
        blocks=tuple(_within_hardware(robot, block) for block in blocks),
        keyframes=motion.sample_at(times).keyframes + 1,
        wanted=_wanted(motion, times),
        is_whole=played + 1 >= asked / robot.frame_period_s,
    )


def _played(motion: Motion, robot: Robot, first: Floats) -> Iterator[JointCommands]:
    """Yield all frames of all passes, one after the other, on the motion's own clock."""
    passes = Passes(motion, robot)
    phase = Fraction(0)
    for lap in range(motion.repeat or LOOPS_SHOWN):
        done = passes.get(first, lap, phase)
        phase = done.phase
        for stretch in done.stretches:
            if len(stretch):
                yield JointCommands(stretch.rows, stretch.free, stretch.stiffness)


def _within(blocks: Iterator[JointCommands], n: int) -> Iterator[JointCommands]:
    """Yield the first `n` frames."""
    for block in blocks:
        yield replace(block, angles=block.angles[:n])
        n -= len(block)
        if n <= 0:
            return


def _within_hardware(robot: Robot, block: JointCommands) -> JointCommands:
    lower, upper = robot.hardware_limits
    return replace(block, angles=np.clip(block.angles, lower, upper))


def _wanted(motion: Motion, times: Floats) -> Floats | None:
    """Return roll and pitch over time, `(n, 2)` [rad]; None where all are 0 or unsaid."""
    if not any(any(frame.attitude[:2]) for frame in motion.keyframes if frame.attitude is not None):
        return None
    attitudes = motion.attitude_at(times)
    return None if attitudes is None else attitudes[:, :2]
