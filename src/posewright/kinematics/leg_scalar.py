"""The leg's formulas for one point, in plain numbers, ten times as fast as an array of one.

It is for programs that ask for one point now, on what they have just seen: where to put this paw. Gaits know
many points at once and take those of `leg_solving`.
"""

from __future__ import annotations

from math import atan2, copysign, cos, sin, sqrt

from posewright.kinematics.leg_shape import LegShape

Triple = tuple[float, float, float]


def forward(shape: LegShape, q1: float, q2: float, q3: float) -> Triple:
    """Return where the foot is [m]; `leg_solving.forward` of one leg."""
    turned = q3 + shape.lower_angle
    a = shape.upper * shape.sin_upper + shape.lower * sin(turned)
    h = shape.upper * shape.cos_upper + shape.lower * cos(turned)
    sin_1, cos_1, sin_2, cos_2, side = sin(q1), cos(q1), sin(q2), cos(q2), shape.side
    b = h * cos_2 - side * sin_2
    return cos_1 * a + sin_1 * b, h * sin_2 + side * cos_2, sin_1 * a - cos_1 * b


def solve(shape: LegShape, x: float, y: float, z: float, *, knee: int, lift: int) -> Triple | None:
    """Return the angles [rad], or None where the point is out of reach; see `leg_solving.solve`."""
    side = shape.side
    side_sq = side * side
    y_sq = y * y
    r_sq = x * x + y_sq + z * z - side_sq
    beyond, within = shape.far_sq - r_sq, r_sq - shape.near_sq
    least = -shape.slack
    if not (beyond >= least and within >= least):
        return None
    sine = knee * sqrt(beyond * within) if beyond > 0.0 < within else 0.0
    along, across = (r_sq + shape.diff_sq) * shape.half, sine * shape.half
    a = shape.sin_upper * along + shape.cos_upper * across
    h = shape.cos_upper * along - shape.sin_upper * across
    b_sq = h * h + side_sq - y_sq
    if b_sq < least:
        return None
    b = copysign(sqrt(b_sq), lift * h) if b_sq > 0.0 else 0.0
    return (
        atan2(b * x + a * z, a * x - b * z),
        atan2(h * y - side * b, h * b + side * y),
        atan2(sine, r_sq - shape.sum_sq) + shape.knee_zero,
    )
