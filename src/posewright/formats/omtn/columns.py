"""The columns of a motion's OMTN: an angle for every joint at every keyframe, in whole micro-radians."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from posewright.errors import FormatError
from posewright.formats.omtn.document import MAX_ANGLE_URAD, URAD, Integers
from posewright.motions import Motion
from posewright.robots import Robot

STAND = "stand"
"""The pose in which joints stand that a motion never sets."""

SAME_RAD = 1e-6
"""A joint that stays nearer than this to where it stands anyway is not lost."""

Rows = NDArray[np.float64]


def columns_of(
    motion: Motion, card: Robot, joints: tuple[str, ...], rows: Rows
) -> tuple[Integers, tuple[str, ...]]:
    """Return the columns of `joints`, and a remark on those that the motion never sets.

    Args:
        motion: what is written.
        card: its robot.
        joints: one a column.
        rows: (n, n_joints) angles of the motion's own joints [rad]; NaN where never given.

    Raises:
        FormatError: an angle is more than a turn.
    """
    given = {
        joint: column for joint, column in zip(motion.joints, rows.T, strict=True) if not np.isnan(column[0])
    }
    unset = tuple(joint for joint in joints if joint not in given)
    stand = standing(card)
    angles = np.column_stack([given.get(joint, np.full(len(rows), stand[joint])) for joint in joints])
    _check(motion, joints, angles)
    if not unset:
        return micro_radians(angles), ()
    where = f"as in the pose {STAND!r}" if STAND in card.poses else "at 0 degrees, or as near as they can"
    return micro_radians(angles), (f"{', '.join(unset)}: never set, so they stand {where}",)


def left_out(motion: Motion, card: Robot, joints: tuple[str, ...], rows: Rows) -> tuple[str, ...]:
    """Return the joints that have no column, as losses; one that stands as it always does is none."""
    stand = standing(card)
    columns = zip(motion.joints, rows.T, strict=True)
    spare = {joint: column for joint, column in columns if joint not in joints and not np.isnan(column[0])}
    lost = [
        joint for joint, column in spare.items() if np.abs(column - stand.get(joint, 0.0)).max() > SAME_RAD
    ]
    return tuple(f"{joint}: Sony's files have no name for it" for joint in lost)


def standing(card: Robot) -> dict[str, float]:
    """Return where each joint stands when nobody moves it [rad]."""
    if STAND in card.poses:
        return dict(card.poses[STAND])
    return {joint.name: min(max(0.0, joint.lower_rad), joint.upper_rad) for joint in card.joints}


def micro_radians(angles: Rows) -> Integers:
    """Return angles [rad] as the nearest whole micro-radians."""
    return np.rint(angles * URAD).astype(np.int32)


def _check(motion: Motion, joints: tuple[str, ...], angles: Rows) -> None:
    within = np.abs(angles) * URAD <= MAX_ANGLE_URAD
    if within.all():
        return
    row, column = divmod(int(within.argmin()), len(joints))
    what = f"{joints[column]} of motion {motion.name!r} goes to {math.degrees(angles[row, column]):g} deg"
    raise FormatError(what, hint="an OMTN holds up to 360 either way")
