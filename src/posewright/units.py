"""Units at the border: inside, everything is radians, seconds, metres, kilograms."""

from __future__ import annotations

import math

RAD_PER_DEG = math.pi / 180.0
DEG_PER_RAD = 180.0 / math.pi
RAD_S_PER_RPM = 2.0 * math.pi / 60.0
CM_PER_M = 100.0


def wrap_angle(angle_rad: float) -> float:
    """Return the angle in (-pi, pi] that points the same way as `angle_rad`."""
    wrapped = math.remainder(angle_rad, 2.0 * math.pi)
    return math.pi if wrapped == -math.pi else wrapped
