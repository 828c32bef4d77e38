"""Convex hulls: what a mesh is on a field, for a contact, for a beam and in a picture alike.

MuJoCo lets things touch the convex hull of a mesh. A field keeps no more of a mesh than that, so that what is
seen is what is touched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError

MOST_POINTS = 500
"""Corners of one hull: MuJoCo looks through them at every contact."""

THINNEST_M = 1e-4
"""A hull that is thinner than this any way has no inside [m]."""

_SLACK_M = 1e-3


def check_hull(
    name: str,
    points: Sequence[Sequence[float]],
    size_m: tuple[float, float, float],
    *,
    is_round: bool,
) -> None:
    """Refuse points that span no body, or another than `size_m` says, as InputError."""
    if is_round:
        raise InputError(f"{name}: round, and with points of a hull", hint="a shape is the one or the other")
    if not 4 <= len(points) <= MOST_POINTS:
        raise InputError(f"{name}: a hull of {len(points)} points", hint=f"4 to {MOST_POINTS}")
    corners = np.asarray(points, dtype=np.float64)
    if thickness(corners) < THINNEST_M:
        raise InputError(f"{name}: the points of its hull lie in a plane", hint="write a block, or a line")
    low, high = corners.min(axis=0), corners.max(axis=0)
    half_x, half_y = size_m[0] / 2.0, size_m[1] / 2.0
    box = np.array([(-half_x, -half_y, 0.0), (half_x, half_y, size_m[2])])
    if np.abs(np.stack([low, high]) - box).max() > _SLACK_M:
        size = [round(edge, 4) for edge in (high - low).tolist()]
        hint = f"points {size} m from end to end, seen from the middle of the underside"
        raise InputError(f"{name}: size_m is not that of its hull", hint=hint)


def thickness(points: Floats) -> float:
    """Return how far points `(n, 3)` reach from end to end along the direction in which it is least [m]."""
    away = points - points.mean(axis=0)
    axes = np.linalg.svd(away, full_matrices=False)[2]
    return float(np.ptp(away @ axes.T, axis=0).min()) if len(axes) == 3 else 0.0


def hull_points(points: ArrayLike) -> Floats:
    """Return the corners of the convex hull of points `(n, 3)`, in their order [m].

    Raises:
        InputError: they lie in a plane, or their hull has more than `MOST_POINTS` corners.
    """
    from scipy.spatial import ConvexHull

    given = np.unique(np.round(np.asarray(points, dtype=np.float64).reshape(-1, 3), 4), axis=0)
    if len(given) < 4 or thickness(given) < THINNEST_M:
        raise InputError("the points lie in a plane", hint="a body has four points that do not")
    corners = given[np.sort(ConvexHull(given).vertices)]
    if len(corners) > MOST_POINTS:
        corners = _fewer(corners)
    return np.asarray(corners)


def _fewer(corners: Floats) -> Floats:
    """Return those corners that reach farthest, one for each of many directions spread evenly."""
    ways = all_directions(MOST_POINTS)  # among them the axes: the box around it stays the same
    return np.asarray(corners[np.unique((corners @ ways.T).argmax(axis=0))])


def all_directions(count: int) -> Floats:
    """Return unit vectors: the axes, both ways, and then others spread evenly, `(count, 3)`."""
    place = np.arange(count - 6)
    z = 1.0 - (2.0 * place + 1.0) / len(place)
    turn, across = place * math.pi * (3.0 - math.sqrt(5.0)), np.sqrt(1.0 - z**2)
    spread = np.stack([across * np.cos(turn), across * np.sin(turn), z], axis=1)
    return np.concatenate([np.eye(3), -np.eye(3), spread])


def hull_outline(points: ArrayLike) -> Floats:
    """Return the convex outline of points `(n, 2)`, counter-clockwise, `(m, 2)` [m]."""
    from scipy.spatial import ConvexHull

    flat = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    return np.asarray(flat[ConvexHull(flat).vertices])


def placed_hull(hull_m: ArrayLike, x: float, y: float, base_m: float, yaw_rad: float) -> Floats:
    """Return where the points of a hull are on the field, `(n, 3)` [m]."""
    points = np.asarray(hull_m, dtype=np.float64)
    cos, sin = math.cos(yaw_rad), math.sin(yaw_rad)
    turn = np.array([(cos, -sin, 0.0), (sin, cos, 0.0), (0.0, 0.0, 1.0)])
    return np.asarray(points @ turn.T + (x, y, base_m))
