"""The legs of a robot that a gait moves: one for each of the four feet, by the foot's name."""

from __future__ import annotations

from posewright.errors import InputError
from posewright.gaits.phases import FEET
from posewright.kinematics import MountedLeg, legs_by_foot
from posewright.robots import Robot


def walking_legs(robot: Robot) -> dict[str, MountedLeg]:
    """Return the legs of the four feet of a gait, by foot, in the order of `FEET`.

    Raises:
        InputError: the card says nothing of its legs, or has none for some foot.
    """
    legs = legs_by_foot(robot)
    missing = [f"{foot}_leg" for foot in FEET if foot not in legs]
    if missing:
        raise InputError(
            f"the card of {robot.name} has no {', '.join(missing)}: no gait can move it",
            hint=f"it has {', '.join(leg.name for leg in legs.values())}",
        )
    return {foot: legs[foot] for foot in FEET}
