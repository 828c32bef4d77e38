"""Steady walks: the frames of a gait from standing until its cycle repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.gaits.command import GaitStep, SteppingGenerator, VelocityCommand
from posewright.gaits.gait import ParametricGait
from posewright.robots import Robot

MAX_CYCLES = 12
"""Cycles until a walk is steady. From the greatest command to its opposite a dog takes eight steps, at worst
a cycle each; a cycle later every foot has landed for the new one, and another later lifted from there."""


@dataclass(frozen=True, slots=True, eq=False)
class SteadyWalk:
    """A walk that begins standing and becomes periodic.

    Attributes:
        standing: the pose before the first step, `(n_joints,)` [rad].
        lead_in: the frames before the steady walk, whole cycles, `(n, n_joints)` [rad].
        cycle: the frames of one steady cycle, `(n_frames, n_joints)` [rad]; its last leads on to its first.
    """

    standing: Floats = field(repr=False)
    lead_in: Floats = field(repr=False)
    cycle: Floats = field(repr=False)


def steady_walk(gait: ParametricGait, robot: Robot, command: VelocityCommand) -> SteadyWalk:
    """Walk until the cycles repeat.

    Raises:
        InputError: the command is out of range, or the cycles do not repeat.
        UnreachableError: a foot cannot reach its place.
    """
    return walk_from_standing(gait.generator(robot), command, gait.cycle(robot).n_frames)


def walk_from_standing(generator: SteppingGenerator, command: VelocityCommand, n_frames: int) -> SteadyWalk:
    """Walk from the standing pose until the cycles of steps repeat, and return the walk up to there.

    Args:
        generator: generates the frames of the gait, and has not taken a step yet.
        command: the constant velocity of the trunk.
        n_frames: number of frames of one cycle of steps.

    Raises:
        InputError: the command is out of range, or the cycles do not repeat.
        UnreachableError: a foot cannot reach its place.
    """
    generator.require_in_range(command)
    lead_in, cycle = walk_until_steady(generator, command, n_frames)
    return SteadyWalk(generator.standing_pose, joint_angles_of(lead_in), joint_angles_of(cycle))


def walk_until_steady(
    generator: SteppingGenerator, command: VelocityCommand, n_frames: int
) -> tuple[list[GaitStep], list[GaitStep]]:
    """Walk whole cycles until one ends as it began, so that it would repeat.

    Args:
        generator: the generator, which has no frames of a step left.
        command: the velocity of the trunk.
        n_frames: number of frames of a cycle.

    Returns:
        The steps before, at least a cycle of them, and those of the steady cycle.

    Raises:
        InputError: no cycle repeats within `MAX_CYCLES`.
        UnreachableError: a foot cannot reach its place.
    """
    lead_in = _take_cycle(generator, command, n_frames)
    for _ in range(MAX_CYCLES - 1):
        cycle = _take_cycle(generator, command, n_frames)
        if cycle[-1].ends_like(lead_in[-1]):
            return lead_in, cycle
        lead_in += cycle
    raise InputError("the gait does not become periodic at this command", hint=f"within {MAX_CYCLES} cycles")


def joint_angles_of(steps: Sequence[GaitStep]) -> Floats:
    """Return the joints in all frames of steps, `(n, n_joints)` [rad]."""
    return np.concatenate([step.joint_angles for step in steps])


def _take_cycle(generator: SteppingGenerator, command: VelocityCommand, n_frames: int) -> list[GaitStep]:
    """Return the steps of the next cycle."""
    steps: list[GaitStep] = []
    while sum(len(step.joint_angles) for step in steps) < n_frames:
        steps.append(generator.take_step(command))
    return steps
