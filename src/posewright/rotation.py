"""Rotations: roll, pitch, yaw and tilt of a body, from and to quaternions and rotation matrices.

Quaternions are unit quaternions `w, x, y, z`. Angles follow REP-103: R = Rz(yaw) Ry(pitch) Rx(roll),
x forward, y left, z up; a positive pitch leans forward.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def heading(quaternions: Floats) -> Floats:
    """Return the yaw, the direction of the body's x axis seen from above, `(...,)` [rad].

    Args:
        quaternions: `(..., 4)`.
    """
    w, x, y, z = (quaternions[..., part] for part in range(4))
    return np.asarray(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))


def rotation_matrices(quaternions: Floats) -> Floats:
    """Return the rotation matrices, `(..., 3, 3)`, whose columns are the body's axes.

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
    """Return roll, pitch, yaw, `(..., 3)` [rad]; the pitch is within [-pi/2, pi/2].

    Args:
        quaternions: `(..., 4)`.
    """
    w, x, y, z = (quaternions[..., part] for part in range(4))
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0))
    return np.stack([roll, pitch, heading(quaternions)], axis=-1)


def rotations_about_axis(axis: int, angles: Floats) -> Floats:
    """Return the rotation matrices about axis 0, 1 or 2 (x, y, z) by angles [rad], `(..., 3, 3)`."""
    cosine = np.cos(angles)
    sine = np.sin(angles)
    rotations = np.zeros((*np.shape(angles), 3, 3))
    u = (axis + 1) % 3  # the other two axes, in cyclic order
    v = (axis + 2) % 3
    rotations[..., axis, axis] = 1.0
    rotations[..., u, u] = cosine
    rotations[..., v, v] = cosine
    rotations[..., u, v] = -sine
    rotations[..., v, u] = sine
    return rotations


def uprightness(quaternions: Floats) -> Floats:
    """Return the cosine of the tilt, `(...,)`: 1 upright, 0 lying, -1 upside down.

    Args:
        quaternions: `(..., 4)`.
    """
    return np.asarray(1.0 - 2.0 * (quaternions[..., 1] ** 2 + quaternions[..., 2] ** 2))


def roll_pitch_yaw_of_matrix(rotation: Floats) -> tuple[float, float, float]:
    """Return roll, pitch, yaw [rad] of one rotation matrix `(3, 3)`."""
    (x_x, _, _), (x_y, _, _), (x_z, y_z, z_z) = rotation.tolist()
    pitch = math.asin(max(-1.0, min(1.0, -x_z)))
    return math.atan2(y_z, z_z), pitch, math.atan2(x_y, x_x)


def quaternion_of_matrix(rotation: Floats) -> tuple[float, float, float, float]:
    """Return the quaternion of one rotation matrix `(3, 3)`."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(rotation).as_quat(canonical=True).tolist()
    return w, x, y, z


def quaternion_product(left: Floats, right: Floats) -> Floats:
    """Return the Hamilton products `left * right`, `(..., 4)`: the rotation `right`, then `left`.

    Args:
        left: quaternions, `(..., 4)`.
        right: quaternions, `(..., 4)`.
    """
    a, b, c, d = np.moveaxis(left, -1, 0)
    w, x, y, z = np.moveaxis(right, -1, 0)
    parts = [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]
    return np.stack(parts, axis=-1)


def quaternions_of_roll_pitch_yaw(angles: Floats) -> Floats:
    """Return the quaternions `(n, 4)` of rotations given as roll, pitch, yaw, `(n, 3)` [rad]."""
    half_angles = angles / 2.0
    roll, pitch, yaw = (_quaternions_about_axis(axis, half_angles[:, axis]) for axis in range(3))
    return quaternion_product(yaw, quaternion_product(pitch, roll))


def _quaternions_about_axis(axis: int, half_angles: Floats) -> Floats:
    """Return the quaternions `(n, 4)` of rotations about an axis (0 x, 1 y, 2 z) by twice the half angles."""
    quaternions = np.zeros((len(half_angles), 4))
    quaternions[:, 0] = np.cos(half_angles)
    quaternions[:, 1 + axis] = np.sin(half_angles)
    return quaternions
