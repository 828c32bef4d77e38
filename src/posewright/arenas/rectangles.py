"""Rectangles on the floor, turned by any angle: corners, exact distances, and what boxes cover.

Places `(n, 3)` are x [m], y [m], yaw [rad]; sizes are edges along each rectangle's own x and y, `(n, 2)`, or
`(2,)` for all alike [m].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.rotation import heading, uprightness

_LYING = 0.5
"""Below this cosine of its tilt a box lies on its side."""

_SIGNS = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) / 2.0


def corners(places: ArrayLike, sizes: ArrayLike) -> Floats:
    """Return the corners of rectangles, counter-clockwise, `(n, 4, 2)` [m]."""
    at = np.asarray(places, dtype=np.float64).reshape(-1, 3)
    own = _SIGNS * np.broadcast_to(np.asarray(sizes, dtype=np.float64), (len(at), 2))[:, None, :]
    cos, sin = np.cos(at[:, 2, None]), np.sin(at[:, 2, None])
    turned = np.stack([cos * own[..., 0] - sin * own[..., 1], sin * own[..., 0] + cos * own[..., 1]], -1)
    return np.asarray(at[:, None, :2] + turned)


def point_distances(points: ArrayLike, places: ArrayLike, sizes: ArrayLike) -> Floats:
    """Return how far each point `(..., 2)` lies outside each rectangle, `(..., n)` [m]; 0 inside."""
    at = np.asarray(places, dtype=np.float64).reshape(-1, 3)
    half = np.broadcast_to(np.asarray(sizes, dtype=np.float64), (len(at), 2)) / 2.0
    away = np.asarray(points, dtype=np.float64)[..., None, :] - at[:, :2]
    cos, sin = np.cos(at[:, 2]), np.sin(at[:, 2])
    along = np.abs(cos * away[..., 0] + sin * away[..., 1]) - half[:, 0]
    across = np.abs(cos * away[..., 1] - sin * away[..., 0]) - half[:, 1]
    return np.hypot(np.maximum(along, 0.0), np.maximum(across, 0.0))


def pair_distances(places: ArrayLike, sizes: ArrayLike) -> Floats:
    """Return the distance between every two rectangles; negative by the depth where they overlap.

    Two convex outlines that do not overlap are nearest at a corner of one of them, so that their
    distance is that of a corner to the other rectangle. Overlap is found on the four edge directions
    (separating axis theorem). It is `(n, n)` [m], symmetric; the diagonal is infinite.
    """
    at = np.asarray(places, dtype=np.float64).reshape(-1, 3)
    outlines = corners(at, sizes)
    to_other = point_distances(outlines, at, sizes).min(axis=1)
    gaps = _separations(at, outlines)
    distances = np.where(gaps < 0.0, gaps, np.minimum(to_other, to_other.T))
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances)


def _separations(at: Floats, outlines: Floats) -> Floats:
    """Return the widest gap between two rectangles along any of their edge directions `(n, n)`."""
    yaw = np.concatenate([at[:, 2], at[:, 2] + np.pi / 2.0])
    shadows = np.einsum("ncx,ax->anc", outlines, np.stack([np.cos(yaw), np.sin(yaw)], -1))
    low, high = shadows.min(axis=-1), shadows.max(axis=-1)
    gaps = np.maximum(low[:, :, None] - high[:, None, :], low[:, None, :] - high[:, :, None])
    n = len(at)
    by_own = np.maximum(gaps[:n], gaps[n:])[np.arange(n), np.arange(n)]
    return np.asarray(np.maximum(by_own, by_own.T))


def shadows(poses: Floats, size_m: ArrayLike) -> tuple[Floats, Floats]:
    """Return what boxes at x y z qw qx qy qz, `(n, 7)`, cover of the floor: places and edges.

    A box lying on its side covers its height one way and, which side it lies on being left open, its
    longer edge the other way. `size_m` are edges along its own x, y and z, `(n, 3)`, or `(3,)` for all [m].
    """
    length, width, height = np.broadcast_to(np.asarray(size_m, dtype=np.float64), (len(poses), 3)).T
    w, x, y, z = np.moveaxis(poses[:, 3:], -1, 0)
    lying = np.abs(uprightness(poses[:, 3:])) < _LYING
    fell_to = np.arctan2(2.0 * (y * z - w * x), 2.0 * (x * z + w * y))
    yaw = np.where(lying, fell_to, heading(poses[:, 3:]))
    fallen, standing = np.stack([height, np.maximum(length, width)], 1), np.stack([length, width], 1)
    sizes = np.where(lying[:, None], fallen, standing)
    return np.column_stack([poses[:, :2], yaw]), sizes
