"""The leg's formulas, over many points and for one (docs/kinematics.md).

Many points are worked on in blocks that stay in the processor's cache; `forward_one` and `solve_one` are for
programs that ask for one point now, where to put this paw, in plain numbers, ten times as fast as an array of
one. Inside the leg's plane the foot lies `a` ahead of the shoulder and `h` below it; seen along the way the
rotator swings it, it is `b` below. The leg's *bend* is the angle between upper leg and shank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from math import atan2, copysign, cos, sin, sqrt

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.kinematics.arrays import check_length

EPS = 2.0**-52
"""Distance from 1 to the next number."""

SLACK = 64.0 * EPS
"""How far beyond its reach a point may be by rounding alone, as a share of the square of the reach.

Squares of distances are compared; as a distance this is half of it, 1e-15 m of a leg of 14 cm.
"""

BLOCK = 4096
"""Points worked on at once: what is worked out between fits into a core's own cache."""

TINY = 1e-300
"""Keeps a quotient of two zeros from being none."""

RIGHT_ANGLE = 0.5 * math.pi + 1e-12
"""As far as the strict form turns the rotator; the rest is for rounding."""

Triple = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class LegShape:
    """Constants of a leg. Lengths in metres, angles in radians.

    Attributes:
        side: how far outwards of the leg's plane the foot is.
        cos_upper, sin_upper: of the angle by which the upper leg is turned in the leg's plane.
        knee_zero: the knee joint's angle where upper leg and shank are in line.
        lower_angle: by how much the shank is turned where the knee joint is at 0.
        far_sq: square of the leg's length, stretched.
        near_sq: square of its length, folded.
        slack: what rounding may add to a square of a distance.
    """

    upper: float
    lower: float
    side: float
    cos_upper: float = field(repr=False)
    sin_upper: float = field(repr=False)
    knee_zero: float = field(repr=False)
    lower_angle: float = field(repr=False)
    far_sq: float = field(repr=False)
    near_sq: float = field(repr=False)
    sum_sq: float = field(repr=False)
    diff_sq: float = field(repr=False)
    half: float = field(repr=False)
    slack: float = field(repr=False)

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


def solve(shape: LegShape, points: Floats, *, knee: float, lift: float) -> tuple[Floats, Indices]:
    """Solve by the general form.

    Args:
        shape: the leg.
        points: `(n, 3)`, finite [m].
        knee: sign of the leg's bend, +1 or -1.
        lift: +1 for a foot below the shoulder, -1 beyond.

    Returns:
        Angles `(n, 3)` [rad], and the places of points out of reach, whose angles mean nothing.
    """
    angles = np.empty((len(points), 3))
    missed: list[Indices] = []
    for start in range(0, len(points), BLOCK):
        x, y, z = points[start : start + BLOCK].T.copy()
        y_sq = y * y
        r_sq = x * x + y_sq + z * z - shape.side * shape.side
        beyond = shape.far_sq - r_sq
        within = r_sq - shape.near_sq
        near = np.maximum(within, TINY)
        half_bend = knee * np.sqrt(np.maximum(beyond, 0.0) / near)  # its tangent
        sine = near * half_bend
        along = (r_sq + shape.diff_sq) * shape.half
        across = sine * shape.half
        a = shape.sin_upper * along + shape.cos_upper * across
        h = shape.cos_upper * along - shape.sin_upper * across
        b_sq = h * h + shape.side * shape.side - y_sq
        b = np.copysign(np.sqrt(np.maximum(b_sq, 0.0)), lift * h)
        out = angles[start : start + BLOCK]
        np.arctan2(b * x + a * z, a * x - b * z, out=out[:, 0])
        if shape.side == 0.0 and lift > 0.0:
            np.multiply(np.arctan(y / (h + b + np.copysign(TINY, h))), 2.0, out=out[:, 1])
        else:
            np.arctan2(h * y - shape.side * b, h * b + shape.side * y, out=out[:, 1])
        np.multiply(np.arctan(half_bend), 2.0, out=out[:, 2])
        out[:, 2] += shape.knee_zero
        if min(beyond.min(), within.min(), b_sq.min()) < -shape.slack:
            bad = (beyond < -shape.slack) | (within < -shape.slack) | (b_sq < -shape.slack)
            missed.append(start + np.flatnonzero(bad))
    return angles, _joined(missed)


def solve_strict(shape: LegShape, points: Floats) -> tuple[Floats, Indices]:
    """Solve by the strict form, of a leg of two equal parts without offsets; otherwise as `solve`.

    The document's `q3 = 2 acos(d / 2L)` and `q2 = asin(y / (L (1 + cos q3)))` as arc tangents,
    which lose no digits where an arc cosine is flat.
    """
    length = shape.upper
    angles = np.empty((len(points), 3))
    missed: list[Indices] = []
    for start in range(0, len(points), BLOCK):
        x, y, z = points[start : start + BLOCK].T.copy()
        d_sq = x * x + y * y + z * z
        d = np.sqrt(d_sq)
        beyond = shape.far_sq - d_sq
        chord = np.sqrt(np.maximum(beyond, 0.0))
        a = d * chord / (2.0 * length)
        h = d_sq / (2.0 * length)
        b_sq = h * h - y * y
        b = np.sqrt(np.maximum(b_sq, 0.0))
        out = angles[start : start + BLOCK]
        np.arctan2(b * x + a * z, a * x - b * z, out=out[:, 0])
        np.multiply(np.arctan(y / (h + b + TINY)), 2.0, out=out[:, 1])
        np.multiply(np.arctan2(chord, d), 2.0, out=out[:, 2])
        bad = (beyond < -shape.slack) | (b_sq < -shape.slack) | (np.abs(out[:, 0]) > RIGHT_ANGLE)
        if bad.any():
            missed.append(start + np.flatnonzero(bad))
    return angles, _joined(missed)


def _joined(missed: list[Indices]) -> Indices:
    return np.concatenate(missed) if missed else np.empty(0, dtype=np.intp)


def forward(shape: LegShape, angles: Floats) -> Floats:
    """Return where the foot is, `(n, 3)` [m], for angles `(n, 3)` [rad]."""
    points = np.empty((len(angles), 3))
    for start in range(0, len(angles), BLOCK):
        q1, q2, q3 = angles[start : start + BLOCK].T.copy()
        a, h = _in_plane(shape, q3)
        sin_1, cos_1 = np.sin(q1), np.cos(q1)
        sin_2, cos_2 = np.sin(q2), np.cos(q2)
        b = h * cos_2 - shape.side * sin_2
        out = points[start : start + BLOCK]
        np.add(cos_1 * a, sin_1 * b, out=out[:, 0])
        np.add(h * sin_2, shape.side * cos_2, out=out[:, 1])
        np.subtract(sin_1 * a, cos_1 * b, out=out[:, 2])
    return points


def _in_plane(shape: LegShape, q3: Floats) -> tuple[Floats, Floats]:
    """Return `a` and `h`, `(n,)` each [m]."""
    turned = q3 + shape.lower_angle
    a = shape.upper * shape.sin_upper + shape.lower * np.sin(turned)
    h = shape.upper * shape.cos_upper + shape.lower * np.cos(turned)
    return a, h


def jacobian(shape: LegShape, angles: Floats) -> Floats:
    """Return how the foot moves with the angles, `(n, 3, 3)` [m/rad]: x, y, z by q1, q2, q3."""
    q1, q2, q3 = angles.T
    a, h = _in_plane(shape, q3)
    sin_2, cos_2 = np.sin(q2), np.cos(q2)
    y = h * sin_2 + shape.side * cos_2
    b = h * cos_2 - shape.side * sin_2
    turned = q3 + shape.lower_angle
    ahead, up = shape.lower * np.cos(turned), shape.lower * np.sin(turned)
    none = np.zeros_like(a)
    swung = np.array([[b, none, ahead], [none, b, -up * sin_2], [a, y, up * cos_2]])
    found: Floats = np.einsum("ijn,jkn->nik", _about_y(-q1), swung)
    return found


def turns(angles: Floats) -> Floats:
    """Return how the shank is turned in the leg's frame, `(n, 3, 3)`: Ry(-q1) Rx(q2) Ry(-q3)."""
    q1, q2, q3 = angles.T
    sin_2, cos_2 = np.sin(q2), np.cos(q2)
    one, none = np.ones_like(q2), np.zeros_like(q2)
    about_x = np.array([[one, none, none], [none, cos_2, -sin_2], [none, sin_2, cos_2]])
    found: Floats = np.einsum("ijn,jkn,kln->nil", _about_y(-q1), about_x, _about_y(-q3))
    return found


def _about_y(angle: Floats) -> Floats:
    """Return turns about y, `(3, 3, n)`."""
    sine, cosine = np.sin(angle), np.cos(angle)
    one, none = np.ones_like(angle), np.zeros_like(angle)
    return np.array([[cosine, none, sine], [none, one, none], [-sine, none, cosine]])


def forward_one(shape: LegShape, q1: float, q2: float, q3: float) -> Triple:
    """Return where the foot is [m]; `leg_solving.forward` of one leg."""
    turned = q3 + shape.lower_angle
    a = shape.upper * shape.sin_upper + shape.lower * sin(turned)
    h = shape.upper * shape.cos_upper + shape.lower * cos(turned)
    sin_1, cos_1, sin_2, cos_2, side = sin(q1), cos(q1), sin(q2), cos(q2), shape.side
    b = h * cos_2 - side * sin_2
    return cos_1 * a + sin_1 * b, h * sin_2 + side * cos_2, sin_1 * a - cos_1 * b


def solve_one(shape: LegShape, x: float, y: float, z: float, *, knee: int, lift: int) -> Triple | None:
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
