"""A motion on the clock of an OMTN: which pose stands at which frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.formats import moments
from posewright.formats.unsaid import filled
from posewright.motions import Motion


@dataclass(frozen=True, eq=False)
class Timeline:
    """The keyframes an OMTN gets.

    Attributes:
        frames: (n,) rising, the first 0.
        angles: (n, n_joints) in the order of the motion's joints [rad]; NaN where never given.
        attitudes: (n, 3) roll, pitch forward, yaw [rad].
        losses: what of the motion's times is lost, in words.
        remarks: what was said in another way.
        times_s: when each keyframe of the motion is reached here [s]; None for one that is merged away.
    """

    frames: NDArray[np.int64]
    angles: NDArray[np.float64]
    attitudes: NDArray[np.float64]
    losses: tuple[str, ...]
    remarks: tuple[str, ...]
    times_s: tuple[float | None, ...]


def timeline_of(motion: Motion, step_ms: int) -> Timeline:
    """Return one pass of a motion on frames of `step_ms`.

    A pause is the same pose once more. Of keyframes that fall on the same frame the last stays: to leave a
    frame early, as a jump may where steps are shorter, would hurry the way before it.
    """
    line = moments.timeline_of(motion, step_ms, begins=True, leaves_early=False)
    losses, remarks = _begin(motion)
    times = np.array([moment.exact_s for moment in line.moments])
    attitudes = motion.attitude_at(times)
    return Timeline(
        np.array([moment.time_ms // step_ms for moment in line.moments], dtype=np.int64),
        filled(np.stack([moment.angles for moment in line.moments])),
        np.zeros((len(times), 3)) if attitudes is None else attitudes,
        (*losses, *line.losses),
        (*remarks, *line.remarks),
        line.times_s,
    )


def _begin(motion: Motion) -> tuple[list[str], list[str]]:
    """Return what is lost of how it begins, and what is said in another way."""
    way_in = motion.keyframes[0].reach_s > 0.0
    if motion.start is not None:
        said = "the pose it is to be started from is written as its first keyframe"
        lost = "the pose it is to be started from, as it takes no time to leave it"
        return ([], [said]) if way_in else ([lost], [])
    if way_in and not motion.loops:
        wait_s = motion.keyframe_times[0]
        return [], [f"it stands in its first keyframe for the {wait_s:g} s in which it would go there"]
    if way_in:
        return [], ["it begins in its last keyframe, as one pass of many does"]
    return [], []
