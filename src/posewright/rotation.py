"""Attitudes: how far a body is turned, from its quaternion or its rotation matrix.

Quaternions are qw qx qy qz, unit length. Angles are those of REP-103: R = Rz(yaw) Ry(pitch) Rx(roll),
x forward, y left, z up, a positive pitch leans forward.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def heading(quaternions: Floats) -> Floats:
    """Return the yaw: where the body's own x points, seen from above, `(...,)` [rad].

    Args:
        quaternions: `(..., 4)`.
    """
    w, x, y, z = (quaternions[..., part] for part in range(4))
    return np.asarray(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))


def matrices(quaternions: Floats) -> Floats:
    """Return the rotation matrices, `(..., 3, 3)`: the body's own axes as columns.

    Args:
        quaternions: `(..., 4)`.
    """
    w, x, y, z = (quaternions[..., part] for part in range(4))
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def roll_pitch_yaw(quaternions: Floats) -> Floats:
    """Return roll, pitch, yaw, `(..., 3)` [rad]; the pitch lies within a quarter turn either way.

    Args:
        quaternions: `(..., 4)`.
    """
    w, x, y, z = (quaternions[..., part] for part in range(4))
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0))
    return np.stack([roll, pitch, heading(quaternions)], axis=-1)


def uprightness(quaternions: Floats) -> Floats:
    """Return the cosine of the tilt, `(...,)`: 1 upright, 0 lying, -1 on the head.

    Args:
        quaternions: `(..., 4)`.
    """
    return np.asarray(1.0 - 2.0 * (quaternions[..., 1] ** 2 + quaternions[..., 2] ** 2))


def matrix_roll_pitch_yaw(rotation: Floats) -> tuple[float, float, float]:
    """Return roll, pitch, yaw [rad] of one rotation matrix `(3, 3)`."""
    (x_x, _, _), (x_y, _, _), (x_z, y_z, z_z) = rotation.tolist()
    pitch = math.asin(max(-1.0, min(1.0, -x_z)))
    return math.atan2(y_z, z_z), pitch, math.atan2(x_y, x_x)


def of_matrix(rotation: Floats) -> tuple[float, float, float, float]:
    """Return the quaternion of one rotation matrix `(3, 3)`."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(rotation).as_quat(canonical=True).tolist()
    return w, x, y, z


def product(one: Floats, other: Floats) -> Floats:
    """Return the product of quaternions `(..., 4)` (w x y z): `other` first, then `one`."""
    a, b, c, d = np.moveaxis(one, -1, 0)
    w, x, y, z = np.moveaxis(other, -1, 0)
    parts = [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]
    return np.stack(parts, axis=-1)


def from_roll_pitch_yaw(angles: Floats) -> Floats:
    """Return the quaternions (w x y z) of roll, pitch, yaw `(n, 3)` [rad], turned in that order."""
    half = angles / 2.0
    roll, pitch, yaw = (_about(axis, half[:, axis]) for axis in range(3))
    return product(yaw, product(pitch, roll))


def _about(axis: int, half: Floats) -> Floats:
    turns = np.zeros((len(half), 4))
    turns[:, 0], turns[:, 1 + axis] = np.cos(half), np.sin(half)
    return turns
