"""What of a leg never changes, worked out once: the numbers that every solve needs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posewright.kinematics.arrays import check_length

EPS = 2.0**-52
"""Distance from 1 to the next number."""

SLACK = 64.0 * EPS
"""How far beyond its reach a point may be by rounding alone, as a share of the square of the reach.

Squares of distances are compared; as a distance this is half of it, 1e-15 m of a leg of 14 cm.
"""


@dataclass(frozen=True, slots=True)
class LegShape:
    """Constants of a leg. Lengths in metres, angles in radians.

    Attributes:
        upper: length of the upper leg.
        lower: length of the shank.
        side: how far outwards of the leg's plane the foot is.
        cos_upper, sin_upper: of the angle by which the upper leg is turned in the leg's plane.
        knee_zero: the knee joint's angle where upper leg and shank are in line.
        lower_angle: by how much the shank is turned where the knee joint is at 0.
        far_sq: square of the leg's length, stretched.
        near_sq: square of its length, folded.
        sum_sq: sum of the squares of both lengths.
        diff_sq: their difference.
        half: 1 / (2 upper).
        slack: what rounding may add to a square of a distance.
    """

    upper: float
    lower: float
    side: float
    cos_upper: float
    sin_upper: float
    knee_zero: float
    lower_angle: float
    far_sq: float
    near_sq: float
    sum_sq: float
    diff_sq: float
    half: float
    slack: float

    @classmethod
    def of(cls, upper: float, lower: float, upper_angle: float, lower_angle: float, side: float) -> LegShape:
        """Work the constants out, or raise InputError."""
        check_length("upper_m", upper, positive=True)
        check_length("lower_m", lower, positive=True)
        check_length("upper_angle_rad", upper_angle, positive=False)
        check_length("lower_angle_rad", lower_angle, positive=False)
        check_length("side_m", side, positive=False)
        far_sq = (upper + lower) ** 2
        return cls(
            upper=upper,
            lower=lower,
            side=side,
            cos_upper=math.cos(upper_angle),
            sin_upper=math.sin(upper_angle),
            knee_zero=upper_angle - lower_angle,
            lower_angle=lower_angle,
            far_sq=far_sq,
            near_sq=(upper - lower) ** 2,
            sum_sq=upper * upper + lower * lower,
            diff_sq=(upper - lower) * (upper + lower),
            half=0.5 / upper,
            slack=SLACK * (far_sq + side * side),
        )

    @property
    def is_plain(self) -> bool:
        """Whether it has no offsets: the leg of the document."""
        return (
            self.side == 0.0 and self.sin_upper == 0.0 and self.lower_angle == 0.0 and self.cos_upper == 1.0
        )
