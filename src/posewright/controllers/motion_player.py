"""A motion as a program: the robot stands in its first pose, plays it, and holds its last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.bodies import Decision, JointCommands
from posewright.control import Script, Seed
from posewright.controllers.passes import Passes
from posewright.errors import InputError
from posewright.formats.native import render
from posewright.motions import Motion
from posewright.robots import Robot, SensorSpec

SETTLE, HOLD, KEYFRAME = "settle", "hold", "keyframe"
"""What the controller of a motion says it is at: before the motion, after it, and at a keyframe."""

SETTLE_S = 1.0
"""Time the robot is given to stand still before the motion begins [s]."""

HOLD_S = 1.0
"""Time the last pose is held, to see whether the robot stays up [s]."""

LONGEST_S = 60.0
"""A motion is played no longer than this [s]."""

LOOPS_SHOWN = 3
"""Passes of a motion that repeats for ever: the first, one in the middle, and one more."""

LONGEST_PASS_S = 600.0
"""One pass is sampled as a whole; none that anybody wrote lasts as long."""


@dataclass(frozen=True)
class MotionProgram:
    """A motion as a program.

    Attributes:
        motion: what is played.
        robot: on what.
        pose: name of the pose of the joints that the motion does not move; None for `stand`.
        settle_s: how long the robot stands in the first pose before [s].
        hold_s: how long it holds the last one [s].
        longest_s: what lies later in the motion is not played [s].
        extras: what a recording says of it besides.
    """

    motion: Motion
    robot: Robot
    pose: str | None = None
    settle_s: float = SETTLE_S
    hold_s: float = HOLD_S
    longest_s: float = LONGEST_S
    extras: Mapping[str, Any] = field(default_factory=dict)

    kind = "motion"
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The motion's name."""
        return self.motion.name

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """Those of the card: a motion looks at none."""
        return self.robot.sensors

    @cached_property
    def commands(self) -> MotionCommands:
        """What a player commands from the motion's beginning on."""
        return commands_of(self.motion, self.robot, pose=self.pose, longest_s=self.longest_s)

    @property
    def start_pose(self) -> Floats:
        """The motion's first pose, `(n_joints,)` [rad]."""
        return self.commands.first

    @property
    def documents(self) -> Mapping[str, str]:
        """The motion, as a document."""
        return {f"{self.motion.name}.motion.yaml": render(self.motion).decode()}

    @property
    def duration_s(self) -> float:
        """How long it takes, settling and holding included [s]."""
        frames = self._frames(self.settle_s) + len(self.commands.keyframes) + self._frames(self.hold_s)
        return frames * self.robot.frame_period_s

    def _frames(self, seconds: float) -> int:
        return round(seconds / self.robot.frame_period_s)

    def controller(self, seed: Seed) -> Script:  # noqa: ARG002 -- nothing is drawn by chance
        """Return what plays it."""
        return Script(self.commands.script(self._frames(self.settle_s), self._frames(self.hold_s)))


@dataclass(frozen=True, eq=False)
class MotionCommands:
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
    return replace(block, angles=np.repeat(block.angles[-1:], n, axis=0), decision=decision)


def commands_of(motion: Motion, robot: Robot, *, pose: str | None, longest_s: float) -> MotionCommands:
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
    return MotionCommands(
        motion=motion.name,
        first=first,
        blocks=tuple(
            replace(block, angles=np.clip(block.angles, *robot.hardware_limits)) for block in blocks
        ),
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
                yield JointCommands(stretch.rows, stretch.free, stretch.stiffness, lights=stretch.lights)


def _within(blocks: Iterator[JointCommands], n: int) -> Iterator[JointCommands]:
    for block in blocks:
        yield replace(block, angles=block.angles[:n])
        n -= len(block)
        if n <= 0:
            return


def _wanted(motion: Motion, times: Floats) -> Floats | None:
    """Return roll and pitch over time, `(n, 2)` [rad]; None where all are 0 or unsaid."""
    if not any(any(frame.attitude[:2]) for frame in motion.keyframes if frame.attitude is not None):
        return None
    attitudes = motion.attitude_at(times)
    return None if attitudes is None else attitudes[:, :2]
