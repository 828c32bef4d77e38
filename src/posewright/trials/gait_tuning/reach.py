"""Whether a candidate's feet come to where they are told to be, before anybody walks."""

from __future__ import annotations

import numpy as np

from posewright.errors import UnreachableError
from posewright.gaits.command import VelocityCommand
from posewright.gaits.gait import Gait
from posewright.gaits.tour import Tour
from posewright.kinematics import legs_of
from posewright.robots import Robot

NEAR_M = 0.001
"""A foot that comes so near is where it is told to be: a servo's lag is more [m]."""


def refuse_out_of_reach(gait: Gait, robot: Robot, command: VelocityCommand) -> None:
    """Raise an UnreachableError where a foot stays away from a point of its way, steady or coming to it.

    A gait goes on where a point is out of reach, with the nearest the leg can do; a search must not take
    that for a step.
    """
    coming, steady = Tour(gait, robot).go(command)
    legs = {leg.name.removesuffix("_leg"): leg for leg in legs_of(robot)}
    for foot, leg in legs.items():
        told = np.concatenate([coming.points[foot], steady.points[foot]])
        middles = told + np.array([0.0, 0.0, leg.foot_radius_m])
        away = np.linalg.norm(leg.forward(leg.inverse(middles, nearest=True)) - middles, axis=1)
        if away.max() > NEAR_M:
            raise UnreachableError(
                f"{foot} stays {away.max() * 1000.0:.1f} mm away from a point of its way",
                hint="shorter steps, or equilibrium points nearer to the shoulders",
            )
