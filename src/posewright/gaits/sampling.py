"""Sampling of a gait at one command as a motion, with or without a beginning and an end."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.gaits.command import GaitGenerator, VelocityCommand
from posewright.gaits.gait import ParametricGait
from posewright.gaits.reading import robot_of_gait
from posewright.gaits.steady import walk_from_standing
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import Robot

MAX_CYCLES = 10_000
"""Greatest number of cycles written frame by frame: about an hour."""


POSE_SPEED_SHARE = 0.25
"""Share of its greatest speed at which the fastest joint moves between a pose and the gait's stance. Ours:
slow enough that a simulated dog, on carpet and on a polished floor, stayed on its feet from every pose."""

FRAME_ROUNDING = 1e-9
"""Tolerance of a number of frames."""

MIN_TRANSITION_S = 0.4
"""Shortest transition between a pose and the gait's stance, however near they are [s]; ours."""


def sample_gait(
    gait: ParametricGait,
    robot: Robot | str | None = None,
    *,
    command: VelocityCommand,
    cycles: int | None = None,
    every_frames: int = 1,
    lead_in: bool = False,
    from_pose: str | None = None,
    to_pose: str | None = None,
) -> Motion:
    """Return the steady walk at a command as a motion of all joints, linear from keyframe to keyframe.

    Its first keyframe, at time 0, is the pose it begins in. The last frame is always a keyframe.

    Args:
        gait: the gait.
        robot: the robot that walks, or its name; default the gait's own.
        command: the velocity of the trunk.
        cycles: number of cycles to write; None for a single one that repeats for ever.
        every_frames: one keyframe in so many frames.
        lead_in: begin in the gait's stance, with the steps up to the steady walk, instead of amid the walk.
        from_pose: begin in this pose of the robot, and go from there to the stance, by the pose through
            which the card says it gets up; implies `lead_in`.
        to_pose: slow down, stand, and go from the stance to this pose of the robot.

    Raises:
        InputError: the command is out of the gait's range, a number is out of its range, or a motion that
            repeats for ever is to have a beginning or an end.
        UnknownNameError: the robot has no such pose.
        UnreachableError: a foot cannot reach its place.
    """
    robot = robot_of_gait(gait, robot)
    last_pose = None if to_pose is None else robot.pose(to_pose)
    first_pose_names = (from_pose, robot.up_through.get(from_pose or ""))
    first_poses = [robot.pose(name) for name in first_pose_names if name is not None]
    _require_range("cycles", 1 if cycles is None else cycles, MAX_CYCLES)
    lead_in = lead_in or from_pose is not None
    if cycles is None and (lead_in or to_pose is not None):
        raise InputError(
            "a walk that repeats for ever cannot begin or end in a pose", hint="set the number of cycles"
        )
    generator = gait.generator(robot)
    walk = walk_from_standing(generator, command, gait.cycle(robot).n_frames)
    _require_range("every_frames", every_frames, len(walk.cycle))
    start_row = walk.standing if lead_in else walk.cycle[-1]
    chunks = [start_row[np.newaxis]]
    if lead_in:
        chunks.append(walk.lead_in)
    chunks += [walk.cycle] * (cycles or 1)
    if to_pose is not None:
        chunks += _halt_rows(generator)
    keyframes = tuple(_keyframes(np.concatenate(chunks), robot, every_frames))
    return Motion(
        gait.name,
        robot=robot.name,
        joints=robot.joint_names,
        keyframes=tuple(_with_transitions(keyframes, first_poses, last_pose, robot, every_frames)),
        repeat=None if cycles is None else 1,
        source=_describe_source(gait, command),
        card=robot,
    )


def _halt_rows(generator: GaitGenerator) -> Iterator[Floats]:
    """Yield the frames until a walk stands, `(1, n_joints)` each [rad]."""
    generator.halt()
    while not generator.is_standing:
        yield generator.frames(1)


def _with_transitions(
    keyframes: tuple[Keyframe, ...],
    first_poses: list[Floats],
    last_pose: Floats | None,
    robot: Robot,
    every_frames: int,
) -> Iterator[Keyframe]:
    """Yield the keyframes of a walk, with the transitions to its beginning and from its end.

    Args:
        keyframes: the walk; its first keyframe is the pose it begins in.
        first_poses: poses to go through before the walk, `(n_joints,)` each [rad]; empty for none.
        last_pose: pose to go to after the walk, `(n_joints,)` [rad]; None for none.
        robot: the robot that walks.
        every_frames: transitions last a multiple of so many frames.
    """
    start, *walk, end = keyframes
    durations_s = [0.0]
    for pose, next_pose in pairwise([*first_poses, start.pose.angles]):
        durations_s.append(_transition_s(pose, next_pose, robot, every_frames))
    for pose, duration_s in zip(first_poses, durations_s, strict=False):
        yield replace(start, pose=Pose(robot.joint_names, pose), reach_s=duration_s)
    yield replace(start, reach_s=durations_s[-1])
    yield from walk
    if last_pose is None:
        yield end
        return
    frame_s = every_frames * robot.frame_period_s  # the walk, too, ends after a multiple of this
    yield replace(end, reach_s=math.ceil(end.reach_s / frame_s - FRAME_ROUNDING) * frame_s)
    transition_s = _transition_s(end.pose.angles, last_pose, robot, every_frames)
    yield Keyframe(Pose(robot.joint_names, last_pose), transition_s)


def _transition_s(start: Floats, end: Floats, robot: Robot, every_frames: int) -> float:
    """Return the duration of a transition between two poses, a multiple of `every_frames` frames [s]."""
    fastest_s = float(np.max(np.abs(end - start) / robot.max_speeds))
    seconds = max(fastest_s / POSE_SPEED_SHARE, MIN_TRANSITION_S)
    frame_s = every_frames * robot.frame_period_s
    return math.ceil(seconds / frame_s - FRAME_ROUNDING) * frame_s


def _keyframes(rows: Floats, robot: Robot, every_frames: int) -> Iterator[Keyframe]:
    """Yield each `every_frames`-th row, and always the last row, as keyframes; rows are a frame apart."""
    previous_index = 0
    last_index = len(rows) - 1
    for index in [*range(0, last_index, every_frames), last_index]:
        reach_s = (index - previous_index) * robot.frame_period_s
        yield Keyframe(Pose(robot.joint_names, rows[index]), reach_s, easing=Easing.LINEAR)
        previous_index = index


def _describe_source(gait: ParametricGait, command: VelocityCommand) -> str:
    velocity = f"forward {command.forward_m_s:g} m/s, left {command.left_m_s:g} m/s"
    walk = f"gait {gait.name} at {velocity}, turn {command.turn_rad_s:g} rad/s"
    return f"{walk}; {gait.source}" if gait.source else walk


def _require_range(name: str, number: int, maximum: int) -> None:
    if not 1 <= number <= maximum:
        raise InputError(f"{name} is {number}", hint=f"the range is 1 to {maximum:,}")
