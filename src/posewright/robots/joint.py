"""A joint: what moves."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posewright.documents import Node


@dataclass(frozen=True)
class Joint:
    """One joint of a robot and how far it may turn.

    Angles are canonical: pitch turns about +y, roll about +x, yaw about +z of the joint's own frame,
    which at angle zero stands as the robot's model draws it.

    Attributes:
        name: named by body part, `right_hip_pitch`.
        lower_rad: smallest angle [rad].
        upper_rad: largest angle [rad].
    """

    name: str
    lower_rad: float
    upper_rad: float

    def allows(self, angle_rad: float, *, slack_rad: float = 1e-9) -> bool:
        """Tell whether `angle_rad` lies within the limits."""
        return self.lower_rad - slack_rad <= angle_rad <= self.upper_rad + slack_rad


def parse_joint(name: str, node: Node) -> Joint:
    """Read `{limits_deg: [lower, upper], source: ...}`.

    Raises:
        DocumentError: the limits are missing, are not two numbers, or are the wrong way round.
    """
    limits = node.fields(required=("limits_deg",), optional=("source",))["limits_deg"]
    pair = limits.items()
    if len(pair) != 2:
        limits.fail(f"expected two limits, found {len(pair)}", hint="[lower, upper] in degrees")
    lower, upper = (limit.number(low=-360.0, high=360.0) for limit in pair)
    if lower >= upper:
        limits.fail(f"the lower limit {lower:g} is not below the upper {upper:g}", hint="[lower, upper]")
    return Joint(name, math.radians(lower), math.radians(upper))
