"""A walk that has come to its command, and the same as a motion for players that know only keyframes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.gaits.command import VelocityCommand
from posewright.gaits.quadruped.gait import Gait
from posewright.gaits.quadruped.timing import refuse_out_of_range
from posewright.gaits.quadruped.walker import Walker
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import Robot

MOST_CYCLES = 10_000
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
    """Walk until every further cycle is the same.

    Raises:
        InputError: the command is out of the gait's range, the gait is another robot's, or does not come to
            repeat itself.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """
    walker = Walker(gait, robot)
    refuse_out_of_range(command, gait.parameters, walker.planner.timing)
    coming, cycle = walker.until_steady(command)
    return Steady(
        walker.planner.standing_pose,
        np.concatenate([step.rows for step in coming]),
        np.concatenate([step.rows for step in cycle]),
    )


def sample_gait(
    gait: Gait,
    robot: Robot,
    command: VelocityCommand,
    *,
    cycles: int | None = None,
    every_frames: int = 1,
    lead_in: bool = False,
) -> Motion:
    """Return the steady walk at a command as a motion of all joints, straight from keyframe to keyframe.

    Its first keyframe, at time 0, is the pose it begins in. At `every_frames=1` every frame of the gait
    follows; with fewer keyframes it has these, and its last frame, and what lies between is straight.

    Args:
        gait: what is walked.
        robot: who walks.
        command: the velocity of the trunk.
        cycles: how many are written out one after the other; None for a single one that repeats for ever.
        every_frames: one keyframe in so many frames.
        lead_in: begin in the standing pose, with the steps that come to the command, and not amid the walk.

    Raises:
        InputError: the command is out of the gait's range, a number is below 1 or too large, or there is a
            lead-in to a walk for ever, which would repeat it.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """
    _refuse("cycles", 1 if cycles is None else cycles, MOST_CYCLES)
    if lead_in and cycles is None:
        raise InputError("a walk for ever has a lead-in", hint="say how many cycles follow it")
    walk = steady_walk(gait, robot, command)
    _refuse("every_frames", every_frames, len(walk.cycle))
    begins = walk.standing if lead_in else walk.cycle[-1]
    rows = np.concatenate(
        [begins[np.newaxis], *([walk.lead_in] if lead_in else []), *[walk.cycle] * (cycles or 1)]
    )
    return Motion(
        gait.name,
        robot.name,
        robot.joint_names,
        tuple(_keyframes(rows, robot, every_frames)),
        repeat=None if cycles is None else 1,
        source=_source(gait, command),
    )


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
