"""A gait at one command as a motion: from a pose, or from amid the walk, to a pose, or for ever."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.gaits.command import VelocityCommand
from posewright.gaits.quadruped.gait import Gait
from posewright.gaits.quadruped.reading import robot_of
from posewright.gaits.quadruped.timing import refuse_out_of_range
from posewright.gaits.quadruped.walker import Walker
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import Robot

MOST_CYCLES_WRITTEN = 10_000
"""More would be a motion of an hour or more, written out frame by frame."""


@dataclass(frozen=True, slots=True, eq=False)
class Steady:
    """A walk from standing on.

    Attributes:
        standing: the pose before the first step, `(n_joints,)` [rad].
        lead_in: the frames before the steady walk, whole cycles, `(n, n_joints)` [rad].
        cycle: the frames of one steady cycle, `(n_frames, n_joints)` [rad]; its last leads on to its first.
    """

    standing: Floats = field(repr=False)
    lead_in: Floats = field(repr=False)
    cycle: Floats = field(repr=False)


def steady_walk(gait: Gait, robot: Robot, command: VelocityCommand) -> Steady:
    """Walk until every further cycle is the same, or raise InputError or UnreachableError."""
    return _steady(Walker(gait, robot), command)


EASY = 0.25
"""Share of its greatest speed at which the fastest joint goes from a pose to the gait's stance or back. Ours:
slow enough that a simulated dog, on carpet and on a polished floor, stayed on its feet from every pose."""

ROUNDING = 1e-9
"""Of a number of frames."""

SHORTEST_WAY_S = 0.4
"""Of a way between a pose and the gait's stance, however near they are [s]; ours."""


def sample_gait(
    gait: Gait,
    robot: Robot | str | None = None,
    *,
    command: VelocityCommand,
    cycles: int | None = None,
    every_frames: int = 1,
    lead_in: bool = False,
    from_pose: str | None = None,
    to_pose: str | None = None,
) -> Motion:
    """Return the steady walk at a command as a motion of all joints, straight from keyframe to keyframe.

    Its first keyframe, at time 0, is the pose it begins in. At `every_frames=1` every frame of the gait
    follows; with fewer keyframes it has these, and its last frame, and what lies between is straight.

    Args:
        gait: what is walked.
        robot: who walks, or the name; default the gait's own.
        command: the velocity of the trunk.
        cycles: how many are written out one after the other; None for a single one that repeats for ever.
        every_frames: one keyframe in so many frames.
        lead_in: begin in the gait's stance, with the steps that come to the command, and not amid the walk.
        from_pose: begin in this pose of the robot, and go from there to the stance, by the pose through
            which the card says it gets up; with `lead_in`.
        to_pose: slow down, stand, and go from the stance to this pose of the robot.

    Raises:
        InputError: the command is out of the gait's range, a number is below 1 or too large, or a walk for
            ever is to have a beginning or an end, which it would repeat.
        UnknownNameError: the robot has no such pose.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """
    robot = robot_of(gait, robot)
    last = None if to_pose is None else robot.pose(to_pose)
    ways_in = (from_pose, robot.up_through.get(from_pose or ""))
    first = [robot.pose(name) for name in ways_in if name is not None]
    _refuse("cycles", 1 if cycles is None else cycles, MOST_CYCLES_WRITTEN)
    lead_in = lead_in or from_pose is not None
    if cycles is None and (lead_in or to_pose is not None):
        raise InputError("a walk for ever has no beginning and no end", hint="say how many cycles it has")
    walker = Walker(gait, robot)
    walk = _steady(walker, command)
    _refuse("every_frames", every_frames, len(walk.cycle))
    rows = [
        (walk.standing if lead_in else walk.cycle[-1])[np.newaxis],
        *([walk.lead_in] if lead_in else []),
        *[walk.cycle] * (cycles or 1),
        *([] if to_pose is None else _halting(walker)),
    ]
    frames = tuple(_keyframes(np.concatenate(rows), robot, every_frames))
    return Motion(
        gait.name,
        robot.name,
        robot.joint_names,
        tuple(_led(frames, first, last, robot, every_frames)),
        repeat=None if cycles is None else 1,
        source=_source(gait, command),
    )


def _steady(walker: Walker, command: VelocityCommand) -> Steady:
    refuse_out_of_range(command, walker.gait.parameters, walker.planner.timing)
    coming, cycle = walker.until_steady(command)
    return Steady(
        walker.planner.standing_pose,
        np.concatenate([step.rows for step in coming]),
        np.concatenate([step.rows for step in cycle]),
    )


def _halting(walker: Walker) -> Iterator[Floats]:
    """Yield the frames in which a walk comes to stand, `(n, n_joints)` each [rad]."""
    while not walker.stands:
        yield walker.halt()


def _led(
    frames: tuple[Keyframe, ...], first: list[Floats], last: Floats | None, robot: Robot, every: int
) -> Iterator[Keyframe]:
    """Yield the keyframes with the way through some poses into them, and the way out to another [rad]."""
    begin, *walk, end = frames
    ways = [0.0, *(_way_s(*leg, robot, every) for leg in pairwise([*first, begin.pose.angles]))]
    for pose, way_s in zip(first, ways, strict=False):
        yield replace(begin, pose=Pose(robot.joint_names, pose), reach_s=way_s)
    yield replace(begin, reach_s=ways[-1])
    yield from walk
    if last is None:
        yield end
        return
    frame_s = every * robot.frame_period_s  # the stance is reached on a keyframe of the way
    yield replace(end, reach_s=math.ceil(end.reach_s / frame_s - ROUNDING) * frame_s)
    yield Keyframe(Pose(robot.joint_names, last), _way_s(end.pose.angles, last, robot, every))


def _way_s(begin: Floats, end: Floats, robot: Robot, every: int) -> float:
    """Return how long a way between two poses takes, whole keyframes of so many frames [s]."""
    way_s = max(float(np.max(np.abs(end - begin) / robot.max_speeds)) / EASY, SHORTEST_WAY_S)
    frame_s = every * robot.frame_period_s
    return math.ceil(way_s / frame_s - ROUNDING) * frame_s


def _keyframes(rows: Floats, robot: Robot, every: int) -> Iterator[Keyframe]:
    """Yield every so many of the rows, a frame apart, as keyframes, the first and the last among them."""
    before, last = 0, len(rows) - 1
    for place in [*range(0, last, every), last]:
        wait_s = (place - before) * robot.frame_period_s
        yield Keyframe(Pose(robot.joint_names, rows[place]), wait_s, easing=Easing.LINEAR)
        before = place


def _source(gait: Gait, command: VelocityCommand) -> str:
    way = f"forward {command.forward_m_s:g} m/s, left {command.left_m_s:g} m/s"
    walk = f"gait {gait.name} at {way}, turn {command.turn_rad_s:g} rad/s"
    return f"{walk}; {gait.source}" if gait.source else walk


def _refuse(what: str, number: int, most: int) -> None:
    if not 1 <= number <= most:
        raise InputError(f"{what} is {number}", hint=f"the range is 1 to {most:,}")
