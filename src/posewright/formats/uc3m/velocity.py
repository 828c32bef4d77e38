"""The velocity column of the source document's joint tables: what it says, and what would be true.

Source: seeds.md E6, errata.
"""

from __future__ import annotations

from enum import Enum
from itertools import pairwise

import numpy as np

from posewright.formats.motion_file import card_of
from posewright.motions import Motion

NUMBERING = "uc3m_thesis"
"""Name of the document's numbering on a robot's card."""

DOCUMENT_PERIOD_S = 3.0 / 128.0
"""What the document divided by for its velocity column: three frames of the controller."""

_DOCUMENT_STEP = 4


class Velocity(Enum):
    """What to write into a table's velocity column.

    TRUE: the largest speed of the joint in any of its steps. DOCUMENT: the document's own formula, to
    compare with it; nothing may be driven by it.
    """

    TRUE = "true"
    DOCUMENT = "document"


def document_velocity(motion: Motion) -> dict[int, float]:
    """Return the document's "angular velocity" column by its IDs [rad/s]. Never drive anything by it.

    The column is headed rad/s, yet it is the speed of no step. All 66 rows of the three tables are
    |initial - step 4| / (3/128 s): the way from the pose before the cycle to the cycle's last pose, a way
    that is never gone, in three frames of the controller, a time that nothing takes. Played at 1/8 s a
    step, ID 1 of the forward table reaches 3.80 rad/s where the column says 1.31, ID 16 of the left one
    2.21 where it says 5.45, and ID 8, which moves, is said to stand. IDs without a joint have 0.

    Args:
        motion: with the initial pose as `start`; the last keyframe stands for step 4 where there are fewer.
    """
    poses = motion.resolved()
    last = min(_DOCUMENT_STEP, len(poses) - 1)
    return _by_id(motion, np.abs(poses[last].angles - poses[0].angles) / DOCUMENT_PERIOD_S)


def step_speeds(motion: Motion) -> dict[int, float]:
    """Return the largest mean speed of any step, a loop's seam included, by the document's IDs [rad/s]."""
    poses = [pose.angles for pose in motion.resolved()]
    times = [frame.reach_s / motion.speed for frame in motion.keyframes]
    ways = [after - before for before, after in pairwise(poses)]
    if motion.loops:
        ways.append(poses[1] - poses[-1])
        times.append(times[0])
    speeds = np.array([np.abs(way) / time for way, time in zip(ways, times, strict=True) if time > 0.0])
    return _by_id(motion, speeds.max(axis=0) if len(speeds) else np.zeros(len(motion.joints)))


def _by_id(motion: Motion, values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> dict[int, float]:
    joints = card_of(motion).numbering(NUMBERING)
    of_joint = dict(zip(motion.joints, np.nan_to_num(values).tolist(), strict=True))
    return {i: of_joint.get(joints.get(i, ""), 0.0) for i in range(1, max(joints) + 1)}
