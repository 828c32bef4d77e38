"""The attitude of a trunk, from its quaternion qw qx qy qz: how far it tilts and where it looks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def uprightness(quaternions: Floats) -> Floats:
    """Return the cosine of the tilt, `(...,)`: 1 upright, 0 lying, -1 on the head.

    Args:
        quaternions: `(..., 4)`, unit length.
    """
    return np.asarray(1.0 - 2.0 * (quaternions[..., 1] ** 2 + quaternions[..., 2] ** 2))


def roll_and_pitch(quaternion: Floats) -> tuple[float, float]:
    """Return roll and pitch [rad] of one quaternion `(4,)`, as REP-103 counts them."""
    w, x, y, z = quaternion.tolist()
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    return roll, math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))


def heading(quaternions: Floats) -> Floats:
    """Return where the body's own x points, seen from above, `(...,)` [rad].

    Args:
        quaternions: `(..., 4)`, unit length.
    """
    w, x, y, z = (quaternions[..., part] for part in range(4))
    return np.asarray(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))
