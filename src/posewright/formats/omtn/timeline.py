"""A motion on the clock of an OMTN: which pose stands at which frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.motions import Motion

_HALF = 0.5 + 1e-9  # half a frame counts as a whole one, whichever way floats fell


@dataclass(frozen=True, eq=False)
class Timeline:
    """The keyframes an OMTN gets.

    Attributes:
        frames: (n,) rising, the first 0.
        angles: (n, n_joints) in the order of the motion's joints [rad]; NaN where never given.
        attitudes: (n, 3) roll, pitch forward, yaw [rad].
        losses: what of the motion's times is lost, in words.
        remarks: what was said in another way.
    """

    frames: NDArray[np.int64]
    angles: NDArray[np.float64]
    attitudes: NDArray[np.float64]
    losses: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class _Moment:
    """That at some time a pose stands: `row` 0 is where the motion begins, the others its keyframes."""

    time_s: float
    row: int


def timeline_of(motion: Motion, step_ms: int) -> Timeline:
    """Return one pass of a motion on frames of `step_ms`.

    Every time is rounded by itself, so that errors do not add up. A pause is the same pose once more. Of
    keyframes that fall on the same frame the last stays.
    """
    poses = _filled(np.stack([pose.angles for pose in motion.resolved()]))
    attitudes = _attitudes(motion)
    moments = _moments(motion)
    frames = [int(np.floor(moment.time_s * 1000.0 / step_ms + _HALF)) for moment in moments]
    losses, remarks = _begin(motion)
    kept: list[int] = []
    for i, frame in enumerate(frames):
        if kept and frames[kept[-1]] == frame:
            before, after = moments[kept.pop()].row, moments[i].row
            if not np.array_equal(poses[before], poses[after], equal_nan=True):
                what = f"keyframe {before}" if before else "the pose it begins in"
                losses.append(f"{what}: within the same {step_ms} ms as keyframe {after}, which stays")
        kept.append(i)
    rows = [moments[i].row for i in kept]
    remarks += _rounded([moments[i].time_s for i in kept], [frames[i] for i in kept], step_ms)
    return Timeline(
        np.array([frames[i] for i in kept], dtype=np.int64),
        poses[rows],
        attitudes[rows],
        tuple(losses),
        tuple(remarks),
    )


def _moments(motion: Motion) -> list[_Moment]:
    moments = [] if motion.keyframes[0].reach_s == 0.0 else [_Moment(0.0, 0)]
    for row, (keyframe, time_s) in enumerate(zip(motion.keyframes, motion.keyframe_times, strict=True), 1):
        moments.append(_Moment(float(time_s), row))
        if keyframe.pause_s > 0.0:
            moments.append(_Moment(float(time_s) + keyframe.pause_s / motion.speed, row))
    return moments


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


def _rounded(times_s: list[float], frames: list[int], step_ms: int) -> list[str]:
    off_s = max(abs(time - frame * step_ms / 1000.0) for time, frame in zip(times_s, frames, strict=True))
    if off_s < 1e-9:
        return []
    return [f"times are rounded to {step_ms} ms, by up to {1000.0 * off_s:.1f} ms"]


def _filled(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows in which a joint that is not given an angle stays as it was, and begins as it will be."""
    if not np.isnan(angles).any():
        return angles
    filled = angles.copy()
    for i in range(1, len(filled)):
        filled[i] = np.where(np.isnan(filled[i]), filled[i - 1], filled[i])
    for i in reversed(range(len(filled) - 1)):
        filled[i] = np.where(np.isnan(filled[i]), filled[i + 1], filled[i])
    return filled


def _attitudes(motion: Motion) -> NDArray[np.float64]:
    """Return the trunk's attitude where it begins and at each keyframe; level where nobody said."""
    unsaid = (np.nan, np.nan, np.nan)
    said = [unsaid if frame.attitude is None else frame.attitude for frame in motion.keyframes]
    return np.nan_to_num(_filled(np.array([said[0], *said], dtype=np.float64)))
