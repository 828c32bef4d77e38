"""Angles of joints that a motion never sets, for formats that need an angle of every joint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posewright.arrays import Floats
from posewright.motions import Motion
from posewright.robots import Robot

STAND = "stand"
"""The robot's pose whose angles are used for joints that have no angle."""


def standing_angles(card: Robot) -> dict[str, float]:
    """Return the angle of each joint in the robot's pose `stand`, or that nearest to 0 without one [rad]."""
    if STAND in card.poses:
        return dict(card.poses[STAND])
    return {joint.name: min(max(0.0, joint.lower_rad), joint.upper_rad) for joint in card.joints}


def fill_unset_angles(rows: Floats) -> Floats:
    """Return rows of angles without NaN: a joint keeps its last angle, and starts at its first one.

    Args:
        rows: angles `(n, n_joints)` [rad], NaN where unset. A column of NaN only stays as it is.
    """
    if not np.isnan(rows).any():
        return rows
    rows = rows.copy()
    for i in range(1, len(rows)):
        rows[i] = np.where(np.isnan(rows[i]), rows[i - 1], rows[i])
    for i in reversed(range(len(rows) - 1)):
        rows[i] = np.where(np.isnan(rows[i]), rows[i + 1], rows[i])
    return rows


def describe_unset_joints(joints: Sequence[str], card: Robot) -> tuple[str, ...]:
    """Return a remark on joints that the motion never sets; empty without such joints."""
    if not joints:
        return ()
    angles = f"as in the pose {STAND!r}" if STAND in card.poses else "at 0 degrees, or as near as they can"
    return (f"{', '.join(joints)}: never set, so they are written {angles}",)


def moved_joints(motion: Motion) -> set[str]:
    """Return the joints to which the motion ever gives an angle, in its start pose or a keyframe."""
    start = [] if motion.start is None else [motion.start.angles]
    angles = np.array([*start, *(frame.pose.angles for frame in motion.keyframes)])
    is_set = ~np.all(np.isnan(angles), axis=0)
    return {joint for joint, joint_is_set in zip(motion.joints, is_set, strict=True) if joint_is_set}
