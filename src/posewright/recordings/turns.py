"""Orientations for the viewer: of a sole from its corners, of an IMU from its angles.

Only the standard topics use these; what a trace is rebuilt from is stored as it was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def sole_poses(corners: Floats) -> tuple[Floats, Floats]:
    """Return the centre and orientation (x y z w) of soles.

    Args:
        corners: front-left, front-right, rear-right, rear-left, `(n, 4, 3)` [m].

    Returns:
        Centres `(n, 3)` [m] and unit quaternions `(n, 4)`; no turn where the corners make no sole.
    """
    front_left, front_right, rear_right, rear_left = np.moveaxis(corners, 1, 0)
    forward = _unit(front_left + front_right - rear_left - rear_right)
    up = _unit(np.cross(forward, front_left + rear_left - front_right - rear_right))
    axes = np.stack([forward, np.cross(up, forward), up], axis=-1)
    return corners.mean(axis=1), quaternions(axes)


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return units


def quaternions(matrices: Floats) -> Floats:
    """Return the unit quaternions (x y z w) of rotation matrices `(n, 3, 3)`.

    The outer product of a quaternion with itself is linear in the matrix; its longest row is the
    best-conditioned (Shepperd, J. Guidance and Control 1(3), 1978).
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.moveaxis(matrices, 0, -1)
    ones = np.ones_like(xx)
    outer = np.stack(
        [
            [ones + xx + yy + zz, zy - yz, xz - zx, yx - xy],
            [zy - yz, ones + xx - yy - zz, xy + yx, xz + zx],
            [xz - zx, xy + yx, ones - xx + yy - zz, yz + zy],
            [yx - xy, xz + zx, yz + zy, ones - xx - yy + zz],
        ]
    )
    diagonal = np.nan_to_num(np.stack([outer[i, i] for i in range(4)]))
    longest = outer[diagonal.argmax(axis=0), :, np.arange(len(xx))]
    return _unit(longest[:, [1, 2, 3, 0]])


def from_roll_pitch_yaw(angles: Floats) -> Floats:
    """Return the quaternions (x y z w) of roll, pitch, yaw `(n, 3)` [rad], turned in that order."""
    (sr, sp, sy), (cr, cp, cy) = (np.moveaxis(f(angles / 2.0), -1, 0) for f in (np.sin, np.cos))
    x, y = sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy
    z, w = cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy
    return np.stack([x, y, z, w], axis=-1)
