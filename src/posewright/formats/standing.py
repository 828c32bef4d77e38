"""Where joints stand that a motion never sets, for formats that need an angle of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posewright.robots import Robot

STAND = "stand"
"""The pose of a robot that stands for every joint nobody gives an angle."""

SLACK_RAD = 1e-6
"""A joint that stays this near to where the robot stands says nothing [rad]."""

Rows = NDArray[np.float64]


def standing(card: Robot) -> dict[str, float]:
    """Return where each joint stands when nobody moves it [rad]."""
    if STAND in card.poses:
        return dict(card.poses[STAND])
    return {joint.name: min(max(0.0, joint.lower_rad), joint.upper_rad) for joint in card.joints}


def filled(rows: Rows) -> Rows:
    """Return rows in which a joint that is not given an angle stays as it was, and begins as it will be.

    Args:
        rows: (n, n_joints) [rad], NaN where not given.
    """
    if not np.isnan(rows).any():
        return rows
    rows = rows.copy()
    for i in range(1, len(rows)):
        rows[i] = np.where(np.isnan(rows[i]), rows[i - 1], rows[i])
    for i in reversed(range(len(rows) - 1)):
        rows[i] = np.where(np.isnan(rows[i]), rows[i + 1], rows[i])
    return rows


def never_set(joints: Sequence[str], card: Robot) -> tuple[str, ...]:
    """Return a remark on joints that the motion never sets, if there are any."""
    if not joints:
        return ()
    where = f"as in the pose {STAND!r}" if STAND in card.poses else "at 0 degrees, or as near as they can"
    return (f"{', '.join(joints)}: never set, so they stand {where}",)
