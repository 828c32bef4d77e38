"""Convex hulls: how meshes are stored in a field, for contacts, range sensors and pictures alike.

MuJoCo computes contacts with the convex hull of a mesh. A field stores only that hull, so that all see the
same shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError

MIN_HULL_POINTS = 4
"""Fewer points lie in a plane."""

MAX_HULL_POINTS = 500
"""Largest number of corners of a hull: MuJoCo goes through all of them at every contact."""

MIN_THICKNESS_M = 1e-4
"""A thinner hull counts as flat [m]."""

_TOLERANCE_M = 1e-3


def require_valid_hull(
    name: str,
    points: Sequence[Sequence[float]],
    size_m: tuple[float, float, float],
    *,
    is_round: bool,
) -> None:
    """Raise an error if the points of a shape's hull are flat or do not match its size.

    Args:
        name: the name of the shape, for errors.
        points: the points of the hull, seen from the middle of the shape's underside [m].
        size_m: edges along x, y and z [m].
        is_round: whether the shape is a cylinder, which has no hull.

    Raises:
        InputError: the hull is not valid.
    """
    if is_round:
        raise InputError(f"{name}: a round shape has points of a hull", hint="remove one of the two")
    if not MIN_HULL_POINTS <= len(points) <= MAX_HULL_POINTS:
        hint = f"expected {MIN_HULL_POINTS} to {MAX_HULL_POINTS}"
        raise InputError(f"{name}: a hull of {len(points)} points", hint=hint)
    corners = np.asarray(points, dtype=np.float64)
    if thickness(corners) < MIN_THICKNESS_M:
        raise InputError(f"{name}: the points of its hull lie in a plane", hint="write a block, or a line")
    low = corners.min(axis=0)
    high = corners.max(axis=0)
    half_x = size_m[0] / 2.0
    half_y = size_m[1] / 2.0
    expected = np.array([(-half_x, -half_y, 0.0), (half_x, half_y, size_m[2])])
    if np.abs(np.stack([low, high]) - expected).max() > _TOLERANCE_M:
        size = [round(edge, 4) for edge in (high - low).tolist()]
        hint = f"points {size} m from end to end, seen from the middle of the underside"
        raise InputError(f"{name}: size_m is not that of its hull", hint=hint)


def thickness(points: Floats) -> float:
    """Return the extent of points `(n, 3)` along their thinnest principal axis [m]."""
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    return float(np.ptp(centred @ axes.T, axis=0).min()) if len(axes) == 3 else 0.0


def hull_points(points: ArrayLike) -> Floats:
    """Return the corners of the convex hull of points `(n, 3)`, in their order [m].

    Of more than `MAX_HULL_POINTS` corners, those that reach farthest in evenly spread directions are
    returned.

    Raises:
        InputError: the points lie in a plane.
    """
    from scipy.spatial import ConvexHull

    rounded = np.unique(np.round(np.asarray(points, dtype=np.float64).reshape(-1, 3), 4), axis=0)
    if len(rounded) < MIN_HULL_POINTS or thickness(rounded) < MIN_THICKNESS_M:
        raise InputError("the points lie in a plane", hint="expected at least four points that do not")
    corners = rounded[np.sort(ConvexHull(rounded).vertices)]
    if len(corners) > MAX_HULL_POINTS:
        directions = spread_directions(
            MAX_HULL_POINTS
        )  # with the axes', so that the bounding box stays the same
        corners = corners[np.unique((corners @ directions.T).argmax(axis=0))]
    return np.asarray(corners)


def spread_directions(count: int) -> Floats:
    """Return unit vectors, `(count, 3)`: the six directions of the axes, and others spread evenly."""
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    # the others lie on a spiral from pole to pole that turns by the golden angle from one to the next
    index = np.arange(count - len(axes))
    z = 1.0 - (2.0 * index + 1.0) / len(index)
    angle = index * math.pi * (3.0 - math.sqrt(5.0))
    radius = np.sqrt(1.0 - z**2)
    spiral = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    return np.concatenate([axes, spiral])


def hull_outline(points: ArrayLike) -> Floats:
    """Return the convex outline of points `(n, 2)`, counter-clockwise, `(m, 2)` [m]."""
    from scipy.spatial import ConvexHull

    flat = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    return np.asarray(flat[ConvexHull(flat).vertices])


def place_hull(hull_m: ArrayLike, x: float, y: float, base_m: float, yaw_rad: float) -> Floats:
    """Return the points of a hull, `(n, 3)` [m], turned by a yaw and moved to a place on the field."""
    points = np.asarray(hull_m, dtype=np.float64)
    cos = math.cos(yaw_rad)
    sin = math.sin(yaw_rad)
    rotation = np.array([(cos, -sin, 0.0), (sin, cos, 0.0), (0.0, 0.0, 1.0)])
    return np.asarray(points @ rotation.T + (x, y, base_m))
