"""Formulas of the three-joint leg, for arrays of points and for a single one (docs/kinematics.md).

Arrays are processed in blocks that stay in the processor's cache; `forward_scalar` and `solve_scalar` take a
single point in plain numbers, ten times as fast as an array of one. In the leg's plane the foot lies `a` in
front of the shoulder and `h` below it; in the plane of the elevator it is `b` below. The leg's *bend* is the
angle between upper leg and shank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import atan2, copysign, cos, sin, sqrt

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.kinematics.arrays import require_length

EPS = 2.0**-52
"""Distance from 1 to the next floating-point number."""

SLACK = 64.0 * EPS
"""How far beyond its reach a point may be by rounding alone, as a share of the square of the reach.

Squares of distances are compared; as a distance this is half of it, 1e-15 m of a leg of 14 cm.
"""

BLOCK = 4096
"""Points processed at once: the intermediate results fit into a core's own cache."""

TINY = 1e-300
"""Added to denominators to avoid 0 / 0."""

RIGHT_ANGLE = 0.5 * math.pi + 1e-12
"""Greatest angle of the rotator in the strict form, with a margin for rounding."""

Triple = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class LegShape:
    """Constants of a leg. Lengths in metres, angles in radians.

    Attributes:
        upper_length: length of the upper leg.
        shank_length: length of the shank.
        lateral_offset: distance of the foot outwards from the leg's plane.
        cos_upper: cosine of the rotation of the upper leg in the leg's plane.
        sin_upper: sine of it.
        knee_zero: the knee joint's angle where upper leg and shank are in line.
        lower_angle: rotation of the shank where the knee joint is at 0.
        stretched_length_sq: square of the leg's length, stretched.
        folded_length_sq: square of its length, folded.
        length_sq_sum: upper_length^2 + shank_length^2 [m^2].
        length_sq_diff: upper_length^2 - shank_length^2 [m^2].
        half_inverse_upper: 1 / (2 upper_length) [1/m].
        sq_tolerance: what rounding may add to a square of a distance.
    """

    upper_length: float
    shank_length: float
    lateral_offset: float
    cos_upper: float
    sin_upper: float
    knee_zero: float
    lower_angle: float
    stretched_length_sq: float
    folded_length_sq: float
    length_sq_sum: float
    length_sq_diff: float
    half_inverse_upper: float
    sq_tolerance: float

    def __repr__(self) -> str:
        """Return the leg's lengths; the other constants follow from them and two angles."""
        return (
            f"LegShape(upper_length={self.upper_length!r}, shank_length={self.shank_length!r}, "
            f"lateral_offset={self.lateral_offset!r})"
        )

    @classmethod
    def of(cls, upper: float, lower: float, upper_angle: float, lower_angle: float, side: float) -> LegShape:
        """Compute the constants, or raise InputError for a length or angle out of range."""
        require_length("upper_m", upper, positive=True)
        require_length("lower_m", lower, positive=True)
        require_length("upper_angle_rad", upper_angle, positive=False)
        require_length("lower_angle_rad", lower_angle, positive=False)
        require_length("side_m", side, positive=False)
        far_sq = (upper + lower) ** 2
        return cls(
            upper_length=upper,
            shank_length=lower,
            lateral_offset=side,
            cos_upper=math.cos(upper_angle),
            sin_upper=math.sin(upper_angle),
            knee_zero=upper_angle - lower_angle,
            lower_angle=lower_angle,
            stretched_length_sq=far_sq,
            folded_length_sq=(upper - lower) ** 2,
            length_sq_sum=upper * upper + lower * lower,
            length_sq_diff=(upper - lower) * (upper + lower),
            half_inverse_upper=0.5 / upper,
            sq_tolerance=SLACK * (far_sq + side * side),
        )

    @property
    def has_no_offsets(self) -> bool:
        """Whether it has no offsets."""
        return (
            self.lateral_offset == 0.0
            and self.sin_upper == 0.0
            and self.lower_angle == 0.0
            and self.cos_upper == 1.0
        )


def solve(shape: LegShape, points: Floats, *, knee: float, lift: float) -> tuple[Floats, Indices]:
    """Solve the inverse kinematics by the general form.

    As in docs/kinematics.md, `a` is how far the foot is ahead of the shoulder in the leg's plane, `h` how far
    below it in that plane, and `b` how far below it once the elevator has turned that plane by q2. `r_sq` is
    the square of the distance between shoulder and foot in the leg's plane; `along` and `across` are the
    foot's coordinates along the upper leg and across it.

    Args:
        shape: the leg.
        points: `(n, 3)`, finite [m].
        knee: sign of the leg's bend, +1 or -1.
        lift: +1 for a foot below the shoulder, -1 beyond.

    Returns:
        Angles `(n, 3)` [rad], and the indices of points out of reach, whose angles are meaningless.
    """
    angles = np.empty((len(points), 3))
    unreachable: list[Indices] = []
    for start in range(0, len(points), BLOCK):
        x, y, z = points[start : start + BLOCK].T.copy()
        y_sq = y * y
        r_sq = x * x + y_sq + z * z - shape.lateral_offset * shape.lateral_offset
        # squares of the margins to the farthest and the nearest point in reach; negative out of reach
        far_margin = shape.stretched_length_sq - r_sq
        near_margin = r_sq - shape.folded_length_sq
        near = np.maximum(near_margin, TINY)
        tan_half_bend = knee * np.sqrt(np.maximum(far_margin, 0.0) / near)
        sine = near * tan_half_bend
        along = (r_sq + shape.length_sq_diff) * shape.half_inverse_upper
        across = sine * shape.half_inverse_upper
        a = shape.sin_upper * along + shape.cos_upper * across
        h = shape.cos_upper * along - shape.sin_upper * across
        b_sq = h * h + shape.lateral_offset * shape.lateral_offset - y_sq
        b = np.copysign(np.sqrt(np.maximum(b_sq, 0.0)), lift * h)
        out = angles[start : start + BLOCK]  # columns q1, q2, q3
        np.arctan2(b * x + a * z, a * x - b * z, out=out[:, 0])
        if shape.lateral_offset == 0.0 and lift > 0.0:  # the tangent of half the angle is faster
            np.multiply(np.arctan(y / (h + b + np.copysign(TINY, h))), 2.0, out=out[:, 1])
        else:
            np.arctan2(h * y - shape.lateral_offset * b, h * b + shape.lateral_offset * y, out=out[:, 1])
        np.multiply(np.arctan(tan_half_bend), 2.0, out=out[:, 2])
        out[:, 2] += shape.knee_zero
        if min(far_margin.min(), near_margin.min(), b_sq.min()) < -shape.sq_tolerance:
            is_unreachable = (
                (far_margin < -shape.sq_tolerance)
                | (near_margin < -shape.sq_tolerance)
                | (b_sq < -shape.sq_tolerance)
            )
            unreachable.append(start + np.flatnonzero(is_unreachable))
    return angles, _concatenate_indices(unreachable)


def solve_strict(shape: LegShape, points: Floats) -> tuple[Floats, Indices]:
    """Solve the inverse kinematics by the strict form, for a leg of two equal parts without offsets.

    The joints from the shoulder on are the rotator q1, the elevator q2 and the knee q3. `a` is how far the
    foot is ahead of the shoulder in the leg's plane, `h` how far below it in that plane, `b` how far below it
    once the elevator has turned that plane by q2. `d` is the distance between shoulder and foot, `d_sq` its
    square, and `chord` the square root of what its square lacks to that of the stretched leg.

    The rotator turns at most 90 degrees either way. The lecture's `q3 = 2 acos(d / 2L)` and
    `q2 = asin(y / (L (1 + cos q3)))`, where L is the length of a part, are computed as arc tangents, which
    lose no digits where an arc cosine is flat.

    Args:
        shape: the leg; upper leg and shank have the same length.
        points: the foot relative to the shoulder, `(n, 3)`, finite: x along the leg's swing, y outwards,
            z up [m].

    Returns:
        Angles q1, q2, q3, `(n, 3)` [rad], and the indices of points out of reach, whose angles are
        meaningless.
    """
    length = shape.upper_length
    angles = np.empty((len(points), 3))
    unreachable: list[Indices] = []
    for start in range(0, len(points), BLOCK):
        x, y, z = points[start : start + BLOCK].T.copy()
        d_sq = x * x + y * y + z * z
        d = np.sqrt(d_sq)
        far_margin = shape.stretched_length_sq - d_sq  # negative out of reach
        chord = np.sqrt(np.maximum(far_margin, 0.0))
        a = d * chord / (2.0 * length)
        h = d_sq / (2.0 * length)
        b_sq = h * h - y * y
        b = np.sqrt(np.maximum(b_sq, 0.0))
        out = angles[start : start + BLOCK]  # columns q1, q2, q3
        np.arctan2(b * x + a * z, a * x - b * z, out=out[:, 0])
        np.multiply(np.arctan(y / (h + b + TINY)), 2.0, out=out[:, 1])
        np.multiply(np.arctan2(chord, d), 2.0, out=out[:, 2])
        is_beyond_rotator = np.abs(out[:, 0]) > RIGHT_ANGLE
        is_unreachable = (far_margin < -shape.sq_tolerance) | (b_sq < -shape.sq_tolerance) | is_beyond_rotator
        if is_unreachable.any():
            unreachable.append(start + np.flatnonzero(is_unreachable))
    return angles, _concatenate_indices(unreachable)


def _concatenate_indices(parts: list[Indices]) -> Indices:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)


def forward(shape: LegShape, angles: Floats) -> Floats:
    """Return the position of the foot, `(n, 3)` [m], for angles `(n, 3)` [rad].

    `a` is how far the foot is ahead of the shoulder in the leg's plane, `h` how far below it in that plane,
    and `b` how far below it once the elevator has turned that plane by q2.
    """
    points = np.empty((len(angles), 3))
    for start in range(0, len(angles), BLOCK):
        q1, q2, q3 = angles[start : start + BLOCK].T.copy()
        a, h = _foot_in_plane(shape, q3)
        sin_1 = np.sin(q1)
        cos_1 = np.cos(q1)
        sin_2 = np.sin(q2)
        cos_2 = np.cos(q2)
        b = h * cos_2 - shape.lateral_offset * sin_2
        out = points[start : start + BLOCK]
        np.add(cos_1 * a, sin_1 * b, out=out[:, 0])
        np.add(h * sin_2, shape.lateral_offset * cos_2, out=out[:, 1])
        np.subtract(sin_1 * a, cos_1 * b, out=out[:, 2])
    return points


def _foot_in_plane(shape: LegShape, q3: Floats) -> tuple[Floats, Floats]:
    """Return the foot in the plane of the elevator: `a` ahead and `h` below its axis, `(n,)` each [m]."""
    shank_angle = q3 + shape.lower_angle
    a = shape.upper_length * shape.sin_upper + shape.shank_length * np.sin(shank_angle)
    h = shape.upper_length * shape.cos_upper + shape.shank_length * np.cos(shank_angle)
    return a, h


def jacobian(shape: LegShape, angles: Floats) -> Floats:
    """Return the Jacobian of the foot's position, `(n, 3, 3)` [m/rad]: x, y, z by q1, q2, q3.

    `a` is how far the foot is ahead of the shoulder in the leg's plane, `h` how far below it in that plane,
    and `b` how far below it once the elevator has turned that plane by q2.
    """
    q1, q2, q3 = angles.T
    a, h = _foot_in_plane(shape, q3)
    sin_2 = np.sin(q2)
    cos_2 = np.cos(q2)
    y = h * sin_2 + shape.lateral_offset * cos_2
    b = h * cos_2 - shape.lateral_offset * sin_2
    shank_angle = q3 + shape.lower_angle
    # derivatives of the foot's position in the leg's plane by q3
    ahead_by_q3 = shape.shank_length * np.cos(shank_angle)
    up_by_q3 = shape.shank_length * np.sin(shank_angle)
    zeros = np.zeros_like(a)
    # in the frame that the rotator turns
    rotator_jacobians = np.array(
        [[b, zeros, ahead_by_q3], [zeros, b, -up_by_q3 * sin_2], [a, y, up_by_q3 * cos_2]]
    )
    jacobians: Floats = np.einsum("ijn,jkn->nik", _rotations_about_y(-q1), rotator_jacobians)
    return jacobians


def shank_rotations(angles: Floats) -> Floats:
    """Return the rotation of the shank in the leg's frame, `(n, 3, 3)`: Ry(-q1) Rx(q2) Ry(-q3)."""
    q1, q2, q3 = angles.T
    sin_2 = np.sin(q2)
    cos_2 = np.cos(q2)
    ones = np.ones_like(q2)
    zeros = np.zeros_like(q2)
    about_x = np.array([[ones, zeros, zeros], [zeros, cos_2, -sin_2], [zeros, sin_2, cos_2]])
    rotations: Floats = np.einsum(
        "ijn,jkn,kln->nil", _rotations_about_y(-q1), about_x, _rotations_about_y(-q3)
    )
    return rotations


def _rotations_about_y(angle: Floats) -> Floats:
    """Return rotations about y, `(3, 3, n)`."""
    sine = np.sin(angle)
    cosine = np.cos(angle)
    ones = np.ones_like(angle)
    zeros = np.zeros_like(angle)
    return np.array([[cosine, zeros, sine], [zeros, ones, zeros], [-sine, zeros, cosine]])


def forward_scalar(shape: LegShape, q1: float, q2: float, q3: float) -> Triple:
    """Return the position of the foot [m]: `forward`, with its letters, for one triple of angles [rad]."""
    shank_angle = q3 + shape.lower_angle
    a = shape.upper_length * shape.sin_upper + shape.shank_length * sin(shank_angle)
    h = shape.upper_length * shape.cos_upper + shape.shank_length * cos(shank_angle)
    sin_1 = sin(q1)
    cos_1 = cos(q1)
    sin_2 = sin(q2)
    cos_2 = cos(q2)
    side = shape.lateral_offset
    b = h * cos_2 - side * sin_2
    return cos_1 * a + sin_1 * b, h * sin_2 + side * cos_2, sin_1 * a - cos_1 * b


def solve_scalar(shape: LegShape, x: float, y: float, z: float, *, knee: int, lift: int) -> Triple | None:
    """Return the angles [rad] for one point, or None if it is out of reach.

    The formulas are those of `solve`, in plain numbers. A NaN among the coordinates counts as out of reach.

    Args:
        shape: the leg.
        x: of the foot relative to the shoulder, along the leg's swing [m].
        y: outwards [m].
        z: up [m].
        knee: sign of the leg's bend, +1 or -1.
        lift: +1 for a foot below the shoulder, -1 beyond.
    """
    side = shape.lateral_offset
    side_sq = side * side
    y_sq = y * y
    r_sq = x * x + y_sq + z * z - side_sq
    far_margin = shape.stretched_length_sq - r_sq
    near_margin = r_sq - shape.folded_length_sq
    minimum = -shape.sq_tolerance
    if not (far_margin >= minimum and near_margin >= minimum):
        return None
    sine = knee * sqrt(far_margin * near_margin) if far_margin > 0.0 < near_margin else 0.0
    along = (r_sq + shape.length_sq_diff) * shape.half_inverse_upper
    across = sine * shape.half_inverse_upper
    a = shape.sin_upper * along + shape.cos_upper * across
    h = shape.cos_upper * along - shape.sin_upper * across
    b_sq = h * h + side_sq - y_sq
    if b_sq < minimum:
        return None
    b = copysign(sqrt(b_sq), lift * h) if b_sq > 0.0 else 0.0
    return (
        atan2(b * x + a * z, a * x - b * z),
        atan2(h * y - side * b, h * b + side * y),
        atan2(sine, r_sq - shape.length_sq_sum) + shape.knee_zero,
    )
