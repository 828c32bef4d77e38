"""The columns of a motion's OMTN: an angle for every joint at every keyframe, in whole micro-radians."""

from __future__ import annotations

import math

import numpy as np

from posewright.errors import FormatError
from posewright.formats.omtn.document import MAX_ANGLE_URAD, URAD, Integers
from posewright.formats.unsaid import Rows, never_set, standing
from posewright.motions import Motion
from posewright.robots import Robot


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
    return micro_radians(angles), never_set(unset, card)


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
