"""The length of a robot's legs, by which robots of different sizes are compared."""

from __future__ import annotations

from posewright.kinematics.biped_leg import biped_legs_of
from posewright.kinematics.mounted_leg import legs_of
from posewright.robots import Robot


def leg_length_m(robot: Robot) -> float | None:
    """Return the length of a robot's stretched leg, from its hip or shoulder to the ground [m].

    Of several legs it is the longest one; it is None if the robot's card does not describe its legs.
    """
    if robot.biped is not None:
        return max(leg.reach_m - leg.sole_m[2] for leg in biped_legs_of(robot).values())
    if not robot.legs:
        return None
    return max(leg.leg.upper_m + leg.leg.lower_m + leg.foot_radius_m for leg in legs_of(robot))
