"""A walk that has come to its command: every cycle is the one before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posewright.errors import InputError
from posewright.gaits.arc import Floats
from posewright.gaits.command import VelocityCommand
from posewright.gaits.gait import Gait
from posewright.gaits.quadruped import QuadrupedGait
from posewright.robots import Robot

MOST_CYCLES = 12
"""A command is come to in a few steps, and a cycle later every foot has landed for it."""


class Steady(NamedTuple):
    """A walk from standing on.

    Attributes:
        standing: the pose before the first step, `(n_joints,)` [rad].
        lead_in: the frames before the steady walk, whole cycles, `(n, n_joints)` [rad].
        cycle: the frames of one steady cycle, `(n_frames, n_joints)` [rad]; its last leads on to its first.
    """

    standing: Floats
    lead_in: Floats
    cycle: Floats


def steady_walk(gait: Gait, robot: Robot, command: VelocityCommand) -> Steady:
    """Walk until a cycle repeats the one before.

    Raises:
        InputError: the command is out of the gait's range, or the gait is another robot's.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """
    walk = QuadrupedGait(gait, robot)
    walk.request(command)
    cycles = [walk.frames(walk.timing.frames)]
    while len(cycles) < MOST_CYCLES:
        cycles.append(walk.frames(walk.timing.frames))
        if np.array_equal(cycles[-1], cycles[-2]):
            return Steady(walk.standing_pose, np.concatenate(cycles[:-1]), cycles[-1])
    raise InputError(
        f"gait {gait.name} does not come to repeat itself at this command",
        hint=f"within {MOST_CYCLES} cycles",
    )
