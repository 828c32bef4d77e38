"""Points that a leg cannot reach: the reasons, and the nearest reachable points (docs/kinematics.md).

The reachable space is symmetric about the rotator's axis. So the nearest point is searched for in the half
plane of `along_axis`, the distance along that axis, and `off_axis`, the distance from it. In that half plane,
for each bend, the foot lies on an arc about the shoulder, from the middle to where the elevator points
straight aside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.errors import UnreachableError
from posewright.kinematics.leg_solving import LegShape, solve

MAX_LISTED_POINTS = 3
"""Points that a message lists; it counts the others."""

N_BENDS = 129
"""Bends on the grid whose best is refined."""

N_BISECTIONS = 54
"""Enough to reach the resolution of floating-point numbers."""

CHUNK_SIZE = 1024
"""Points processed at once."""


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """Why a leg cannot reach a point.

    Attributes:
        reason: continues "the point is ", with the numbers.
        is_far: the point lies beyond the leg, and one nearer to the shoulder may be reachable.
    """

    reason: str
    is_far: bool


def build_unreachable_error(
    shape: LegShape, points: Floats, unreachable: Indices, *, knee: float
) -> UnreachableError:
    """Build the error that lists the first unreachable points, each with its reason, and counts the others.

    Args:
        shape: the leg.
        points: all points that were requested, `(n, 3)` [m].
        unreachable: indices of those that are out of reach.
        knee: sign of the leg's bend, +1 or -1.
    """
    descriptions = []
    for index in unreachable[:MAX_LISTED_POINTS].tolist():
        prefix = "the point " if len(points) == 1 else f"index {index}, "
        reason = out_of_reach(shape, points[index], knee=knee).reason
        descriptions.append(f"{prefix}{_format_point(points[index])} is {reason}")
    n_unlisted = len(unreachable) - MAX_LISTED_POINTS
    suffix = f"; and {n_unlisted} more" if n_unlisted > 0 else ""
    count = "" if len(points) == 1 else f"{len(unreachable)} of {len(points)} points cannot be reached: "
    return UnreachableError(
        f"{count}{'; '.join(descriptions)}{suffix}",
        hint="nearest=True gives the nearest point that can be reached",
    )


def _format_point(point: Floats) -> str:
    return "(" + ", ".join(f"{number:.6g}" for number in point.tolist()) + ") m"


def out_of_reach(shape: LegShape, point: Floats, *, knee: float) -> OutOfReach:
    """Return why a point `(3,)` that cannot be reached is out of reach."""
    x, y, z = point.tolist()
    distance = math.sqrt(x * x + y * y + z * z)
    r_sq = distance * distance - shape.side * shape.side
    if r_sq > shape.far_sq + shape.slack:
        farthest = math.hypot(math.sqrt(shape.far_sq), shape.side)
        reason = f"too far: {distance:.6g} m from the shoulder, at most {farthest:.6g}"
        return OutOfReach(reason, is_far=True)
    if r_sq < shape.near_sq - shape.slack:
        nearest = math.hypot(math.sqrt(shape.near_sq), shape.side)
        reason = f"too near: {distance:.6g} m from the shoulder, at least {nearest:.6g}"
        return OutOfReach(reason, is_far=False)
    along_axis = math.hypot(_depth_below_shoulder(shape, r_sq, knee), shape.side)
    if abs(y) > along_axis + math.sqrt(shape.slack):
        reason = f"too far aside: {abs(y):.6g} m, at most {along_axis:.6g} at this distance from the shoulder"
        return OutOfReach(reason, is_far=True)
    reason = "beyond the range of the rotator in the strict form: 90 degrees either way"
    return OutOfReach(reason, is_far=False)


def _depth_below_shoulder(shape: LegShape, r_sq: float, knee: float) -> float:
    """Return the depth below the shoulder of a foot at distance sqrt(r_sq) in the leg's plane [m]."""
    sine = knee * math.sqrt(max(shape.far_sq - r_sq, 0.0) * max(r_sq - shape.near_sq, 0.0))
    along = (r_sq + shape.diff_sq) * shape.inverse_double_upper
    across = sine * shape.inverse_double_upper
    return shape.cos_upper * along - shape.sin_upper * across


def nearest(shape: LegShape, points: Floats, *, knee: float, lift: float) -> Floats:
    """Return the angles `(n, 3)` [rad] of the reachable points nearest to unreachable ones, `(n, 3)` [m]."""
    if not len(points):
        return np.empty((0, 3))
    chunks = [
        _nearest_in_chunk(shape, points[start : start + CHUNK_SIZE], knee, lift)
        for start in range(0, len(points), CHUNK_SIZE)
    ]
    return np.concatenate(chunks)


def _nearest_in_chunk(shape: LegShape, points: Floats, knee: float, lift: float) -> Floats:
    """Return the joint angles whose foot is nearest to each point, `(n, 3)` [rad]; see `nearest`."""
    x, y, z = points.T
    along_axis = np.abs(y)
    off_axis = np.hypot(x, z)
    distance = np.hypot(along_axis, off_axis)
    side_sq = shape.side * shape.side
    shortest = math.sqrt(shape.near_sq + side_sq)
    longest = math.sqrt(shape.far_sq + side_sq)
    # Where the elevator's range allows, the nearest point is straight towards the shoulder or away from it.
    bend = np.where(distance > longest, 0.0, math.pi)
    radius = np.where(distance > longest, longest, shortest)
    scale = radius / np.maximum(distance, 1e-300)
    is_at_shoulder = distance < 1e-300
    radial_aside = np.where(is_at_shoulder, 0.0, along_axis * scale)
    radial_off = np.where(is_at_shoulder, radius, off_axis * scale)
    a, h = foot_in_plane(shape, bend, knee)
    is_radial = ((distance > longest) | (distance < shortest)) & (radial_off >= np.abs(a))
    # Elsewhere it has the elevator straight aside.
    bend = np.where(is_radial, bend, _nearest_bends_aside(shape, along_axis, off_axis, knee))
    a, h = foot_in_plane(shape, bend, knee)
    limit_sq = h * h + side_sq
    y_nearest = np.copysign(np.where(is_radial, radial_aside, np.sqrt(limit_sq)), y)
    below = np.sqrt(np.maximum(limit_sq - y_nearest * y_nearest, 0.0))
    b = np.copysign(np.where(is_radial, below, 0.0), lift * h)
    on_axis = off_axis == 0.0
    x = np.where(on_axis, a, x)
    z = np.where(on_axis, -b, z)
    return np.column_stack(
        [
            np.arctan2(b * x + a * z, a * x - b * z),
            np.arctan2(h * y_nearest - shape.side * b, h * b + shape.side * y_nearest),
            knee * bend + shape.knee_zero,
        ]
    )


def foot_in_plane(shape: LegShape, bend: Floats, knee: float) -> tuple[Floats, Floats]:
    """Return the foot's distances in front of and below the shoulder in the leg's plane [m]."""
    along = shape.upper + shape.lower * np.cos(bend)
    across = knee * shape.lower * np.sin(bend)
    return (
        shape.sin_upper * along + shape.cos_upper * across,
        shape.cos_upper * along - shape.sin_upper * across,
    )


def _nearest_bends_aside(shape: LegShape, along_axis: Floats, off_axis: Floats, knee: float) -> Floats:
    """Return the bends that bring the foot nearest with the elevator straight aside, `(n,)` [rad].

    The best bend on a grid is refined by bisection of the distance's slope.

    Args:
        shape: the leg.
        along_axis: distance of each point along the rotator's axis, `(n,)` [m].
        off_axis: distance of each point from that axis, `(n,)` [m].
        knee: sign of the leg's bend, +1 or -1.
    """
    bends = np.linspace(0.0, math.pi, N_BENDS)
    a, h = foot_in_plane(shape, bends, knee)
    limit = np.hypot(h, shape.side)
    distances_sq = (along_axis[:, None] - limit) ** 2 + (off_axis[:, None] - np.abs(a)) ** 2
    best = distances_sq.argmin(axis=1)
    low = bends[np.maximum(best - 1, 0)]
    high = bends[np.minimum(best + 1, N_BENDS - 1)]
    for _ in range(N_BISECTIONS):
        middle = 0.5 * (low + high)
        is_rising = _distance_slope(shape, middle, along_axis, off_axis, knee) > 0.0
        low = np.where(is_rising, low, middle)
        high = np.where(is_rising, middle, high)
    bend: Floats = 0.5 * (low + high)
    return bend


def _distance_slope(
    shape: LegShape, bend: Floats, along_axis: Floats, off_axis: Floats, knee: float
) -> Floats:
    """Return half the derivative of the squared distance to the point by the bend."""
    a, h = foot_in_plane(shape, bend, knee)
    sine = shape.lower * np.sin(bend)
    cosine = knee * shape.lower * np.cos(bend)
    a_slope = shape.cos_upper * cosine - shape.sin_upper * sine
    h_slope = -shape.sin_upper * cosine - shape.cos_upper * sine
    limit = np.maximum(np.hypot(h, shape.side), 1e-300)  # no division by 0
    slope: Floats = (
        -(along_axis - limit) * h * h_slope / limit - (off_axis - np.abs(a)) * np.sign(a) * a_slope
    )
    return slope


def nearest_strict(shape: LegShape, points: Floats) -> Floats:
    """Return as `nearest` for the strict form, whose rotator turns at most 90 degrees either way.

    Where it would have to turn further it stops there, and the foot moves on a ring about the axis of the
    elevator.
    """
    angles, unreachable = solve(shape, points, knee=1.0, lift=1.0)
    angles[unreachable] = nearest(shape, points[unreachable], knee=1.0, lift=1.0)
    is_stopped = np.abs(angles[:, 0]) > 0.5 * math.pi
    if is_stopped.any():
        x, y, z = points[is_stopped].T
        # in the leg's frame turned by the rotator, 90 degrees forward or backward
        forward, forward_distance_sq = _nearest_on_ring(shape, z, y, z=-x)
        backward, backward_distance_sq = _nearest_on_ring(shape, -z, y, z=x)
        is_forward = forward_distance_sq <= backward_distance_sq
        rotator = np.where(is_forward, 0.5 * math.pi, -0.5 * math.pi)
        angles[is_stopped] = np.column_stack([rotator, np.where(is_forward[:, None], forward, backward)])
    return angles


def _nearest_on_ring(shape: LegShape, x: Floats, y: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return elevator and knee nearest to points, `(n, 2)` [rad], and the squared distances, `(n,)` [m2].

    The rotator is at 0.

    Args:
        shape: the leg, two equal parts without offsets.
        x: the points' coordinates in the leg's frame, `(n,)` [m], as y and z.
        y: outwards.
        z: up.
    """
    q2 = np.clip(np.arctan2(y, -z), -0.5 * math.pi, 0.5 * math.pi)
    # distance from the elevator's axis; of a point above it, which the elevator cannot face, only sideways
    off_axis = np.where(z < 0.0, np.hypot(y, z), np.abs(y))
    knee_to_point = off_axis - shape.upper
    q3 = np.where(x >= 0.0, np.arctan2(x, knee_to_point), np.where(knee_to_point >= 0.0, 0.0, math.pi))
    a, h = foot_in_plane(shape, q3, knee=1.0)
    distance_sq = (x - a) ** 2 + (off_axis - h) ** 2 + np.where(z < 0.0, 0.0, z) ** 2
    return np.column_stack([q2, q3]), distance_sq
