"""The leg's formulas over many points, in blocks that stay in the processor's cache (docs/kinematics.md).

Inside the leg's plane the foot lies `a` ahead of the shoulder and `h` below it; seen along the way the
rotator swings it, it is `b` below. The leg's *bend* is the angle between upper leg and shank.
"""

from __future__ import annotations

import math

import numpy as np

from posewright.kinematics.arrays import Floats, Indices
from posewright.kinematics.leg_shape import LegShape

BLOCK = 4096
"""Points worked on at once: what is worked out between fits into a core's own cache."""

TINY = 1e-300
"""Keeps a quotient of two zeros from being none."""

RIGHT_ANGLE = 0.5 * math.pi + 1e-12
"""As far as the strict form turns the rotator; the rest is for rounding."""


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
