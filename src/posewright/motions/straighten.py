"""Straightening: curved ways cut into straight pieces, for robots and formats that know no other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from posewright.errors import InputError
from posewright.motions.easing import Easing
from posewright.motions.keyframe import Keyframe
from posewright.motions.motion import Motion
from posewright.motions.pose import Pose

STEP_S = 0.032
"""Two frames of an AIBO's motion file: half a cosine over 0.4 s is then met within 0.4 % of its way."""

MOST_PIECES = 100_000
"""More is a slip of the pen: a curved way of an hour, cut into thirtieths of a second."""


def straightened(motion: Motion, step_s: float = STEP_S) -> Motion:
    """Return the motion with every curved way as straight pieces that meet the curve at both ends.

    A joint that is held or free stays so. A loop's curves are those of its first pass.

    Args:
        motion: what to straighten.
        step_s: longest piece, in the motion's own time [s].

    Raises:
        InputError: the step is no time, or there would be too many pieces.
    """
    if not (math.isfinite(step_s) and step_s > 0.0):
        raise InputError(f"a piece of {step_s} s", hint="a time greater than 0")
    pieces = sum(_pieces(keyframe, step_s) for keyframe in motion.keyframes)
    if pieces > MOST_PIECES:
        raise InputError(f"{pieces:,} straight pieces", hint=f"at most {MOST_PIECES:,}: a longer step")
    ways = motion.ways_begin
    frames = (
        piece
        for keyframe, begins in zip(motion.keyframes, ways.tolist(), strict=True)
        for piece in _straight(motion, keyframe, begins, step_s)
    )
    return replace(motion, keyframes=tuple(frames))


def _is_curved(keyframe: Keyframe) -> bool:
    if keyframe.reach_s == 0.0 or keyframe.easing is Easing.LINEAR:
        return False
    return keyframe.easing is not Easing.TRAPEZOID or keyframe.accel_share > 0.0


def _pieces(keyframe: Keyframe, step_s: float) -> int:
    return math.ceil(keyframe.reach_s / step_s - 1e-9) if _is_curved(keyframe) else 1


def _straight(motion: Motion, keyframe: Keyframe, begins_s: float, step_s: float) -> Iterator[Keyframe]:
    """Yield the pieces of the way into a keyframe, the last of them the keyframe itself."""
    last = replace(keyframe, easing=Easing.LINEAR)
    count = _pieces(keyframe, step_s)
    if count < 2:
        yield last
        return
    reach = keyframe.reach_s / count
    held = np.isnan(keyframe.pose.angles)
    times = (begins_s + reach * np.arange(1.0, count)) / motion.speed
    for angles in motion.sample_at(times).angles:
        pose = Pose(motion.joints, np.where(held, np.nan, angles), keyframe.pose.free)
        yield replace(last, pose=pose, reach_s=reach, pause_s=0.0, attitude=None)
    yield replace(last, reach_s=reach)
