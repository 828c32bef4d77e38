"""Motions as programs: the robot stands in the first pose, plays the motion, and holds the last pose."""

from __future__ import annotations

import math
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

SETTLE = "settle"
"""The recorded state before the motion."""

HOLD = "hold"
"""The recorded state after the motion."""

KEYFRAME = "keyframe"
"""The recorded output with the number of the keyframe."""

SETTLE_S = 1.0
"""Time for the robot to come to rest before the motion begins [s]."""

HOLD_S = 1.0
"""Time the last pose is held, to see whether the robot stays up [s]."""

LONGEST_S = 60.0
"""A motion is cut off after this time [s]."""

ENDLESS_PASSES = 3
"""Passes by default of a motion that repeats for ever: the first, one in the middle, and one more."""

LONGEST_PASS_S = 600.0
"""Longest accepted pass [s], since a pass is sampled as a whole."""


@dataclass(frozen=True)
class MotionProgram:
    """A motion as a program.

    Attributes:
        motion: the motion.
        robot: the robot.
        pose: name of the pose of joints that the motion does not move; None for `stand`.
        settle_s: how long the robot stands in the first pose before the motion [s].
        hold_s: how long it holds the last pose after the motion [s].
        longest_s: the motion is cut off after this time [s].
        endless_passes: how often a motion that repeats for ever is played; None until it is cut off.
        extras: additional data for the recording.
        warnings: what to know about the motion before it is played.
    """

    motion: Motion
    robot: Robot
    pose: str | None = None
    settle_s: float = SETTLE_S
    hold_s: float = HOLD_S
    longest_s: float = LONGEST_S
    endless_passes: int | None = ENDLESS_PASSES
    extras: Mapping[str, Any] = field(default_factory=dict)

    warnings: tuple[str, ...] = ()

    kind = "motion"

    @property
    def name(self) -> str:
        """The motion's name."""
        return self.motion.name

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """The sensors of the card; a motion reads none."""
        return self.robot.sensors

    @cached_property
    def commands(self) -> MotionCommands:
        """The commands of the motion, without settling and holding."""
        motion = self.motion
        if motion.repeat is None:
            n_passes = self.endless_passes or math.ceil(self.longest_s / motion.duration)
            motion = replace(motion, repeat=n_passes)
        return plan_motion_commands(motion, self.robot, pose=self.pose, longest_s=self.longest_s)

    @property
    def start_pose(self) -> Floats:
        """The motion's first pose, `(n_joints,)` [rad]."""
        return self.commands.first_pose

    @property
    def documents(self) -> Mapping[str, str]:
        """The motion, as a document."""
        return {f"{self.motion.name}.motion.yaml": render(self.motion).decode()}

    @property
    def duration_s(self) -> float:
        """Duration with settling and holding [s]."""
        frames = self._frames(self.settle_s) + len(self.commands.keyframes) + self._frames(self.hold_s)
        return frames * self.robot.frame_period_s

    def _frames(self, seconds: float) -> int:
        return round(seconds / self.robot.frame_period_s)

    def controller(self, seed: Seed) -> Script:  # noqa: ARG002 -- nothing is drawn by chance
        """Return a controller that plays the motion."""
        settle_frames = self._frames(self.settle_s)
        return Script(self.commands.script_blocks(settle_frames, self._frames(self.hold_s)))


@dataclass(frozen=True, eq=False)
class MotionCommands:
    """The commands of a motion, frame by frame.

    Attributes:
        motion: name of the motion.
        first_pose: the pose at the start, `(n_joints,)` [rad].
        blocks: the frames, in blocks within which torque and stiffness do not change.
        keyframes: number of the keyframe that each frame leads to or stays in, from 1, `(n,)`.
        attitudes: roll and pitch of the base as intended by the author, `(n, 2)` [rad]; None where not
            stated.
        is_complete: whether the motion was not cut off.
    """

    motion: str
    first_pose: Floats
    blocks: tuple[JointCommands, ...]
    keyframes: Indices
    attitudes: Floats | None
    is_complete: bool

    def script_blocks(self, settle_frames: int, hold_frames: int) -> list[JointCommands]:
        """Return blocks in which the robot settles in the first pose, plays, and holds the last pose.

        The first block of a keyframe carries a decision with its number.
        """
        last_keyframe = int(self.keyframes[-1])
        settle = Decision(SETTLE, playing=self.motion)
        hold = Decision(HOLD, outputs={KEYFRAME: last_keyframe}, playing=self.motion)
        return [
            _repeat_last_row(JointCommands(self.first_pose[np.newaxis]), settle_frames, settle),
            *self._blocks_by_keyframe(),
            _repeat_last_row(self.blocks[-1], hold_frames, hold),
        ]

    def _blocks_by_keyframe(self) -> Iterator[JointCommands]:
        """Yield the blocks, cut where the keyframe changes, each with a decision that names its keyframe."""
        block_begin = 0
        for block in self.blocks:
            keyframe_numbers = self.keyframes[block_begin : block_begin + len(block)]
            cuts = np.flatnonzero(np.diff(keyframe_numbers)) + 1
            for begin, end in pairwise((0, *cuts.tolist(), len(block))):
                number = int(keyframe_numbers[begin])
                decision = Decision(f"keyframe {number}", outputs={KEYFRAME: number}, playing=self.motion)
                yield replace(block[begin:end], decision=decision)
            block_begin += len(block)


def _repeat_last_row(block: JointCommands, n: int, decision: Decision) -> JointCommands:
    return replace(block, angles=np.repeat(block.angles[-1:], n, axis=0), decision=decision)


def plan_motion_commands(
    motion: Motion, robot: Robot, *, pose: str | None, longest_s: float
) -> MotionCommands:
    """Return the commands of a player, clipped to the limits of the hardware and not slowed down.

    A motion that repeats for ever is played `ENDLESS_PASSES` times.

    Args:
        motion: the motion.
        robot: the robot.
        pose: name of the pose of joints that the motion does not move; None for `stand`.
        longest_s: the motion is cut off after this time [s].

    Raises:
        InputError: the motion is for another robot, or a pass of it lasts longer than ten minutes.
        UnknownNameError: the robot has no such pose.
    """
    if motion.duration > LONGEST_PASS_S:
        raise InputError(
            f"a pass of {motion.name!r} lasts {motion.duration:.0f} s", hint=f"at most {LONGEST_PASS_S:.0f} s"
        )
    first_pose = motion.first_pose(robot, pose)
    max_frames = max(1, int(longest_s / robot.frame_period_s))
    blocks = tuple(_cut_off(_blocks_of_all_passes(motion, robot, first_pose), max_frames))
    n_frames = sum(map(len, blocks))
    duration_s = (motion.repeat or ENDLESS_PASSES) * motion.duration
    times: Floats = np.arange(1.0, n_frames + 1.0) * robot.frame_period_s
    return MotionCommands(
        motion=motion.name,
        first_pose=first_pose,
        blocks=tuple(
            replace(block, angles=np.clip(block.angles, *robot.hardware_limits)) for block in blocks
        ),
        keyframes=motion.sample_at(times).keyframes + 1,
        attitudes=_intended_attitudes(motion, times),
        # the end may lie within a frame after the last one
        is_complete=n_frames + 1 >= duration_s / robot.frame_period_s,
    )


def _blocks_of_all_passes(motion: Motion, robot: Robot, first_pose: Floats) -> Iterator[JointCommands]:
    """Yield the frames of all passes, one after the other, on the motion's own clock.

    Within a block torque, stiffness and lights do not change.
    """
    passes = Passes(motion, robot)
    phase = Fraction(0)  # time from the last frame to the start of the pass [frames]
    for pass_index in range(motion.repeat or ENDLESS_PASSES):
        sampled_pass = passes.sample(first_pose, pass_index, phase)
        phase = sampled_pass.phase
        for stretch in sampled_pass.stretches:
            if len(stretch):
                yield JointCommands(stretch.rows, stretch.free, stretch.stiffness, lights=stretch.lights)


def _cut_off(blocks: Iterator[JointCommands], max_frames: int) -> Iterator[JointCommands]:
    """Yield blocks until they have that many rows in all; the last one is cut."""
    n_remaining = max_frames
    for block in blocks:
        yield replace(block, angles=block.angles[:n_remaining])
        n_remaining -= len(block)
        if n_remaining <= 0:
            return


def _intended_attitudes(motion: Motion, times: Floats) -> Floats | None:
    """Return roll and pitch of the base by the author at times `(n,)` [s], `(n, 2)` [rad].

    None if the motion states none, or only zeros.
    """
    if not any(any(frame.attitude[:2]) for frame in motion.keyframes if frame.attitude is not None):
        return None
    attitudes = motion.attitude_at(times)
    return None if attitudes is None else attitudes[:, :2]
