"""Units and their factors, and numbers in texts.

Inside Posewright everything is in radians, seconds, metres and kilograms.
"""

from __future__ import annotations

import math

RAD_PER_DEG = math.pi / 180.0
DEG_PER_RAD = 180.0 / math.pi
RAD_S_PER_RPM = 2.0 * math.pi / 60.0
CM_PER_M = 100.0

MAX_WHOLE_NUMBER_DIGITS = 18
"""A longer text is no quantity here, and Python refuses to convert some thousands of digits."""


def parse_whole_number(text: str) -> int | None:
    """Return the number of a text of 1 to 18 decimal digits, None for any other text."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= MAX_WHOLE_NUMBER_DIGITS
    return int(text) if is_number else None


def wrap_angle(angle_rad: float) -> float:
    """Return the angle in (-pi, pi] that equals `angle_rad` up to full turns."""
    wrapped = math.remainder(angle_rad, 2.0 * math.pi)
    return math.pi if wrapped == -math.pi else wrapped
