"""Whether a candidate's feet come to where they are told to be, before anybody walks."""

from __future__ import annotations

import numpy as np

from posewright.errors import UnreachableError
from posewright.gaits import Gait, Tour, VelocityCommand
from posewright.kinematics import legs_by_foot
from posewright.robots import Robot

NEAR_M = 0.001
"""A foot that comes so near is where it is told to be: a servo's lag is more [m]."""


def refuse_out_of_reach(gait: Gait, robot: Robot, command: VelocityCommand) -> None:
    """Raise an UnreachableError where a foot stays away from a point of its way, steady or coming to it.

    A gait goes on where a point is out of reach, with the nearest the leg can do; a search must not take
    that for a walk.
    """
    coming, steady = Tour(gait, robot).go(command)
    for foot, leg in legs_by_foot(robot).items():
        away = leg.misses(np.concatenate([coming.points[foot], steady.points[foot]])).max()
        if away > NEAR_M:
            raise UnreachableError(
                f"{foot} stays {away * 1000.0:.1f} mm away from a point of its way",
                hint="shorter strokes, or equilibrium points nearer to the shoulders",
            )
