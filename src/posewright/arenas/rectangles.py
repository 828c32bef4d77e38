"""Rectangles on the floor, turned by any angle: corners, exact distances, and the footprints of boxes.

Places `(n, 3)` are x [m], y [m], yaw [rad]; sizes are edges along each rectangle's own x and y, `(n, 2)`, or
`(2,)` if all are equal [m].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.rotation import heading, uprightness

_MIN_UPRIGHTNESS = 0.5
"""A box whose tilt has a smaller cosine lies on its side."""

_CORNER_SHARES = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) / 2.0
"""The corners of a rectangle around its middle, as shares of its length and width."""


def corners(poses: ArrayLike, sizes: ArrayLike) -> Floats:
    """Return the corners of rectangles, counter-clockwise, `(n, 4, 2)` [m].

    Args:
        poses: x, y [m] and yaw [rad] of their middles, `(n, 3)`.
        sizes: lengths and widths, `(n, 2)`, or `(2,)` if all are equal [m].
    """
    pose_array = np.asarray(poses, dtype=np.float64).reshape(-1, 3)
    size_array = np.broadcast_to(np.asarray(sizes, dtype=np.float64), (len(pose_array), 2))
    local = _CORNER_SHARES * size_array[:, None, :]  # in each rectangle's own frame
    cos = np.cos(pose_array[:, 2, None])
    sin = np.sin(pose_array[:, 2, None])
    x = cos * local[..., 0] - sin * local[..., 1]
    y = sin * local[..., 0] + cos * local[..., 1]
    return np.asarray(pose_array[:, None, :2] + np.stack([x, y], -1))


def point_distances(points: ArrayLike, poses: ArrayLike, sizes: ArrayLike) -> Floats:
    """Return the distance of each point `(..., 2)` from each rectangle, `(..., n)` [m]; 0 inside.

    `poses` and `sizes` are as in `corners`.
    """
    pose_array = np.asarray(poses, dtype=np.float64).reshape(-1, 3)
    half_sizes = np.broadcast_to(np.asarray(sizes, dtype=np.float64), (len(pose_array), 2)) / 2.0
    offset = np.asarray(points, dtype=np.float64)[..., None, :] - pose_array[:, :2]
    cos = np.cos(pose_array[:, 2])
    sin = np.sin(pose_array[:, 2])
    # how far a point lies beyond the edges, along the rectangle's own axes; negative inside
    along = np.abs(cos * offset[..., 0] + sin * offset[..., 1]) - half_sizes[:, 0]
    across = np.abs(cos * offset[..., 1] - sin * offset[..., 0]) - half_sizes[:, 1]
    return np.hypot(np.maximum(along, 0.0), np.maximum(across, 0.0))


def pair_distances(poses: ArrayLike, sizes: ArrayLike) -> Floats:
    """Return the distance between every two rectangles of `corners`; for overlaps the negative depth.

    Two convex outlines that do not overlap are nearest at a corner of one of them, so their distance is that
    of a corner from the other rectangle. Overlaps are found along the four edge directions (separating axis
    theorem).

    Returns:
        `(n, n)` [m], symmetric, with an infinite diagonal.
    """
    pose_array = np.asarray(poses, dtype=np.float64).reshape(-1, 3)
    outlines = corners(pose_array, sizes)
    corner_distances = point_distances(outlines, pose_array, sizes).min(axis=1)
    gaps = _separations(pose_array, outlines)
    distances = np.where(gaps < 0.0, gaps, np.minimum(corner_distances, corner_distances.T))
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances)


def _separations(pose_array: Floats, outlines: Floats) -> Floats:
    """Return the widest gap between two rectangles along any of their edge directions, `(n, n)` [m].

    Args:
        pose_array: x, y and yaw of the rectangles, `(n, 3)`.
        outlines: their corners, `(n, 4, 2)`.

    Returns:
        Negative where two rectangles overlap.
    """
    yaw = np.concatenate([pose_array[:, 2], pose_array[:, 2] + np.pi / 2.0])
    directions = np.stack([np.cos(yaw), np.sin(yaw)], -1)  # each rectangle's x, then each one's y
    projections = np.einsum("ncx,ax->anc", outlines, directions)
    low = projections.min(axis=-1)
    high = projections.max(axis=-1)
    gaps = np.maximum(low[:, :, None] - high[:, None, :], low[:, None, :] - high[:, :, None])
    n = len(pose_array)
    indices = np.arange(n)
    # for rectangle i, its gaps to all others along its own two directions
    along_own_axes = np.maximum(gaps[:n], gaps[n:])[indices, indices]
    return np.asarray(np.maximum(along_own_axes, along_own_axes.T))


def footprints(poses: Floats, size_m: ArrayLike) -> tuple[Floats, Floats]:
    """Return the rectangles of the floor that boxes cover.

    A box on its side covers its height in one direction and its longer edge in the other, since it may lie on
    either side.

    Args:
        poses: x y z qw qx qy qz, `(n, 7)`.
        size_m: edges along the box's own x, y and z, `(n, 3)`, or `(3,)` if all are equal [m].

    Returns:
        x, y [m] and yaw [rad] of their middles, `(n, 3)`, and sizes `(n, 2)` [m].
    """
    length, width, height = np.broadcast_to(np.asarray(size_m, dtype=np.float64), (len(poses), 3)).T
    w, x, y, z = np.moveaxis(poses[:, 3:], -1, 0)
    is_lying = np.abs(uprightness(poses[:, 3:])) < _MIN_UPRIGHTNESS
    fall_direction = np.arctan2(2.0 * (y * z - w * x), 2.0 * (x * z + w * y))
    yaw = np.where(is_lying, fall_direction, heading(poses[:, 3:]))
    lying_size = np.stack([height, np.maximum(length, width)], 1)
    standing_size = np.stack([length, width], 1)
    sizes = np.where(is_lying[:, None], lying_size, standing_size)
    return np.column_stack([poses[:, :2], yaw]), sizes
