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
        reason = explain_out_of_reach(shape, points[index], knee=knee).reason
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


def explain_out_of_reach(shape: LegShape, point: Floats, *, knee: float) -> OutOfReach:
    """Return why a point that cannot be reached is out of reach.

    Args:
        shape: the leg.
        point: relative to the shoulder, whose y axis is that of the rotator, `(3,)` [m].
        knee: sign of the leg's bend, +1 or -1.
    """
    x, y, z = point.tolist()
    distance = math.sqrt(x * x + y * y + z * z)
    # square of the distance from the shoulder in the leg's plane
    r_sq = distance * distance - shape.lateral_offset * shape.lateral_offset
    if r_sq > shape.stretched_length_sq + shape.sq_tolerance:
        farthest = math.hypot(math.sqrt(shape.stretched_length_sq), shape.lateral_offset)
        reason = f"too far: {distance:.6g} m from the shoulder, at most {farthest:.6g}"
        return OutOfReach(reason, is_far=True)
    if r_sq < shape.folded_length_sq - shape.sq_tolerance:
        nearest = math.hypot(math.sqrt(shape.folded_length_sq), shape.lateral_offset)
        reason = f"too near: {distance:.6g} m from the shoulder, at least {nearest:.6g}"
        return OutOfReach(reason, is_far=False)
    along_axis = math.hypot(_depth_below_shoulder(shape, r_sq, knee), shape.lateral_offset)
    if abs(y) > along_axis + math.sqrt(shape.sq_tolerance):
        reason = f"too far aside: {abs(y):.6g} m, at most {along_axis:.6g} at this distance from the shoulder"
        return OutOfReach(reason, is_far=True)
    reason = "beyond the range of the rotator in the strict form: 90 degrees either way"
    return OutOfReach(reason, is_far=False)


def _depth_below_shoulder(shape: LegShape, r_sq: float, knee: float) -> float:
    """Return the depth below the shoulder of a foot at distance sqrt(r_sq) in the leg's plane [m]."""
    sine = knee * math.sqrt(
        max(shape.stretched_length_sq - r_sq, 0.0) * max(r_sq - shape.folded_length_sq, 0.0)
    )
    along = (r_sq + shape.length_sq_diff) * shape.half_inverse_upper
    across = sine * shape.half_inverse_upper
    return shape.cos_upper * along - shape.sin_upper * across


def nearest(shape: LegShape, points: Floats, *, knee: float, lift: float) -> Floats:
    """Return the joint angles whose foot is nearest to each unreachable point, `(n, 3)` [rad].

    Args:
        shape: the leg.
        points: relative to the shoulder, `(n, 3)` [m].
        knee: sign of the leg's bend, +1 or -1.
        lift: +1 for a foot below the shoulder, -1 beyond.
    """
    if not len(points):
        return np.empty((0, 3))
    chunks = [
        _nearest_in_chunk(shape, points[start : start + CHUNK_SIZE], knee, lift)
        for start in range(0, len(points), CHUNK_SIZE)
    ]
    return np.concatenate(chunks)


def _nearest_in_chunk(shape: LegShape, points: Floats, knee: float, lift: float) -> Floats:
    """Return the joint angles whose foot is nearest to each unreachable point, `(n, 3)` [rad].

    `a` and `h` are the foot's distances in front of and below the shoulder in the leg's plane, and `b` is the
    depth that remains of `h` once the elevator has turned that plane.

    Args:
        shape: the leg.
        points: relative to the shoulder, `(n, 3)` [m].
        knee: sign of the leg's bend, +1 or -1.
        lift: +1 for a foot below the shoulder, -1 beyond.
    """
    x, y, z = points.T
    along_axis = np.abs(y)
    off_axis = np.hypot(x, z)
    distance = np.hypot(along_axis, off_axis)
    side_sq = shape.lateral_offset * shape.lateral_offset
    shortest = math.sqrt(shape.folded_length_sq + side_sq)
    longest = math.sqrt(shape.stretched_length_sq + side_sq)
    # Where the elevator's range allows, the nearest point is straight towards the shoulder or away from it.
    bend = np.where(distance > longest, 0.0, math.pi)  # stretched or folded
    radius = np.where(distance > longest, longest, shortest)
    scale = radius / np.maximum(distance, 1e-300)
    is_at_shoulder = distance < 1e-300
    radial_along_axis = np.where(is_at_shoulder, 0.0, along_axis * scale)
    radial_off_axis = np.where(is_at_shoulder, radius, off_axis * scale)
    a, h = foot_in_plane(shape, bend, knee)
    is_radial = ((distance > longest) | (distance < shortest)) & (radial_off_axis >= np.abs(a))
    # Elsewhere it has the elevator straight aside.
    bend = np.where(is_radial, bend, _nearest_bends_aside(shape, along_axis, off_axis, knee))
    a, h = foot_in_plane(shape, bend, knee)
    max_along_axis_sq = h * h + side_sq
    y_nearest = np.copysign(np.where(is_radial, radial_along_axis, np.sqrt(max_along_axis_sq)), y)
    below = np.sqrt(np.maximum(max_along_axis_sq - y_nearest * y_nearest, 0.0))
    b = np.copysign(np.where(is_radial, below, 0.0), lift * h)
    is_on_axis = off_axis == 0.0  # any direction is as near, so the rotator stays at 0
    x = np.where(is_on_axis, a, x)
    z = np.where(is_on_axis, -b, z)
    return np.column_stack(
        [
            np.arctan2(b * x + a * z, a * x - b * z),
            np.arctan2(h * y_nearest - shape.lateral_offset * b, h * b + shape.lateral_offset * y_nearest),
            knee * bend + shape.knee_zero,
        ]
    )


def foot_in_plane(shape: LegShape, bend: Floats, knee: float) -> tuple[Floats, Floats]:
    """Return `a` and `h`, how far the foot is in front of and below the shoulder in the leg's plane [m].

    Args:
        shape: the leg.
        bend: angle between upper leg and shank, `(n,)`; 0 for a stretched leg [rad].
        knee: sign of the leg's bend, +1 or -1.
    """
    along = shape.upper_length + shape.shank_length * np.cos(bend)
    across = knee * shape.shank_length * np.sin(bend)
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
    # the foot is at a distance `limit` along the rotator's axis, and at a distance |a| from that axis
    limit = np.hypot(h, shape.lateral_offset)
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
    """Return half the derivative of the squared distance from foot to point by the bend, `(n,)` [m^2/rad].

    The elevator points straight aside, so that the foot is at a distance `limit` along the rotator's axis and
    at a distance |a| from that axis. For the arguments see `_nearest_bends_aside`.
    """
    a, h = foot_in_plane(shape, bend, knee)
    sine = shape.shank_length * np.sin(bend)
    cosine = knee * shape.shank_length * np.cos(bend)
    a_slope = shape.cos_upper * cosine - shape.sin_upper * sine
    h_slope = -shape.sin_upper * cosine - shape.cos_upper * sine
    limit = np.maximum(np.hypot(h, shape.lateral_offset), 1e-300)  # no division by 0
    slope: Floats = (
        -(along_axis - limit) * h * h_slope / limit - (off_axis - np.abs(a)) * np.sign(a) * a_slope
    )
    return slope


def nearest_strict(shape: LegShape, points: Floats) -> Floats:
    """Return the joint angles whose foot is nearest to each point, for a leg in the strict form.

    The strict form's rotator (the first joint) turns at most 90 degrees either way. Where it would have to
    turn further it stops there, and the foot moves on a ring about the axis of the elevator (the second
    joint).

    Args:
        shape: the leg.
        points: reachable or not, `(n, 3)` [m].

    Returns:
        Angles of the three joints, `(n, 3)` [rad].
    """
    angles, unreachable = solve(shape, points, knee=1.0, lift=1.0)
    angles[unreachable] = nearest(shape, points[unreachable], knee=1.0, lift=1.0)
    is_stopped = np.abs(angles[:, 0]) > 0.5 * math.pi
    if is_stopped.any():
        x, y, z = points[is_stopped].T
        # the points in a frame that the rotator has turned by 90 degrees forward, or backward
        forward_angles, forward_distance_sq = _nearest_on_ring(shape, z, y, z=-x)
        backward_angles, backward_distance_sq = _nearest_on_ring(shape, -z, y, z=x)
        is_forward = forward_distance_sq <= backward_distance_sq
        rotator_angles = np.where(is_forward, 0.5 * math.pi, -0.5 * math.pi)
        other_angles = np.where(is_forward[:, None], forward_angles, backward_angles)
        angles[is_stopped] = np.column_stack([rotator_angles, other_angles])
    return angles


def _nearest_on_ring(shape: LegShape, x: Floats, y: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return the angles of elevator and knee whose foot is nearest to each point, with the rotator at 0.

    Returns:
        The angles `(n, 2)` [rad], and the squares of the distances that remain `(n,)` [m^2].

    Args:
        shape: the leg, two equal parts without offsets.
        x: the points' coordinates in the leg's frame, `(n,)` [m], as y and z.
        y: outwards.
        z: up.
    """
    q2 = np.clip(np.arctan2(y, -z), -0.5 * math.pi, 0.5 * math.pi)  # the elevator
    # distance from the elevator's axis; of a point above it, which the elevator cannot face, only sideways
    off_axis = np.where(z < 0.0, np.hypot(y, z), np.abs(y))
    knee_to_point = off_axis - shape.upper_length
    straight_or_folded = np.where(knee_to_point >= 0.0, 0.0, math.pi)  # as the knee cannot bend backward
    q3 = np.where(x >= 0.0, np.arctan2(x, knee_to_point), straight_or_folded)
    a, h = foot_in_plane(shape, q3, knee=1.0)
    distance_sq = (x - a) ** 2 + (off_axis - h) ** 2 + np.where(z < 0.0, 0.0, z) ** 2
    return np.column_stack([q2, q3]), distance_sq
