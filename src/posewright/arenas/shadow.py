"""What boxes cover of the floor, standing or tipped over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posewright.rotation import heading, uprightness

Floats = NDArray[np.float64]

_LYING = 0.5
"""Below this cosine of its tilt a box lies on its side."""


def shadows(poses: Floats, size_m: Sequence[float]) -> tuple[Floats, Floats]:
    """Return what boxes cover of the floor, as rectangles.

    A box lying on its side covers its height one way and, which side it lies on being left open, its
    longer edge the other way.

    Args:
        poses: x y z qw qx qy qz, `(n, 7)`.
        size_m: edges of a box along its own x, y and z [m].

    Returns:
        Places x [m], y [m], yaw [rad] `(n, 3)`, and edges `(n, 2)` [m].
    """
    length, width, height = size_m
    w, x, y, z = np.moveaxis(poses[:, 3:], -1, 0)
    lying = np.abs(uprightness(poses[:, 3:])) < _LYING
    fell_to = np.arctan2(2.0 * (y * z - w * x), 2.0 * (x * z + w * y))
    yaw = np.where(lying, fell_to, heading(poses[:, 3:]))
    sizes = np.where(lying[:, None], (height, max(length, width)), (length, width))
    return np.column_stack([poses[:, :2], yaw]), sizes
