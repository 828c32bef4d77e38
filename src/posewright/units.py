"""Units and their factors: inside Posewright everything is in radians, seconds, metres and kilograms."""

from __future__ import annotations

import math

RAD_PER_DEG = math.pi / 180.0
DEG_PER_RAD = 180.0 / math.pi
RAD_S_PER_RPM = 2.0 * math.pi / 60.0
CM_PER_M = 100.0


def wrap_angle(angle_rad: float) -> float:
    """Return the angle in (-pi, pi] that equals `angle_rad` up to full turns."""
    wrapped = math.remainder(angle_rad, 2.0 * math.pi)
    return math.pi if wrapped == -math.pi else wrapped
