"""A walk that has come to its command: every cycle is the one before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posewright.gaits.arc import Floats
from posewright.gaits.bounds import refuse_out_of_range
from posewright.gaits.command import VelocityCommand
from posewright.gaits.gait import Gait
from posewright.gaits.walker import Walker
from posewright.robots import Robot


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
