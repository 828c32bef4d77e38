"""Straightening: curved ways cut into straight pieces, for robots and formats that know no other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.motions.easing import Easing
from posewright.motions.motion import Motion
from posewright.motions.pose import Attitude, Keyframe, Pose

STEP_S = 0.032
"""Two frames of an AIBO's motion file: half a cosine over 0.4 s is then met within 0.4 % of its way."""

MOST_PIECES = 100_000
"""More is a slip of the pen: a curved way of an hour, cut into thirtieths of a second."""

_SHORTEST = 0.5
"""Of a piece in steps; what is left of a step goes to the piece beside it."""

_SLACK = 1e-6
"""Of a step; so that a time in the middle between two goes the same way wherever it stands."""


def straightened(motion: Motion, step_s: float = STEP_S, grid_s: float | None = None) -> Motion:
    """Return the motion with every curved way as straight pieces that meet the curve at both ends.

    The pieces end at multiples of a step since the motion was started, whatever way they are of, so that a
    file that counts in such steps rounds none of them; the keyframes stay where they are. So a piece is half
    a step to one and a half long. A joint that is held or free stays so, and the attitude of the trunk goes
    along. A loop's curves are those of its first pass.

    Args:
        motion: what to straighten.
        step_s: length of a piece as the motion is played [s].
        grid_s: the smallest step of time of what is to be written [s]; the pieces are of the multiple of it
            that is nearest to `step_s`.

    Raises:
        InputError: the step is no time, or there would be too many pieces.
    """
    for seconds in (step_s, *(() if grid_s is None else (grid_s,))):
        if not (math.isfinite(seconds) and seconds > 0.0):
            raise InputError(f"a piece of {seconds} s", hint="a time greater than 0")
    step_s = step_s if grid_s is None else max(1, round(step_s / grid_s)) * grid_s
    curved = sum(frame.reach_s for frame in motion.keyframes if frame.is_curved) / motion.speed
    if curved / step_s > MOST_PIECES:
        raise InputError(f"{curved / step_s:,.0f} straight pieces", hint=f"at most {MOST_PIECES:,}")
    ways = zip(motion.keyframes, motion.ways_begin.tolist(), strict=True)
    frames = (piece for frame, begins in ways for piece in _straight(motion, frame, begins, step_s))
    return replace(motion, keyframes=tuple(frames))


def _straight(motion: Motion, keyframe: Keyframe, begins_s: float, step_s: float) -> Iterator[Keyframe]:
    """Yield the pieces of the way into a keyframe, the last of them itself; it `begins_s` at speed 1."""
    last = replace(keyframe, easing=Easing.LINEAR)
    ends_s = begins_s + keyframe.reach_s
    times = _cuts(begins_s / motion.speed, ends_s / motion.speed, step_s)
    if not keyframe.is_curved or not len(times):
        yield last
        return
    held = np.isnan(keyframe.pose.angles)
    *reaches, rest = np.diff([begins_s, *(times * motion.speed), ends_s]).tolist()
    rows = motion.sample_at(times).angles
    for reach, angles, attitude in zip(reaches, rows, _attitudes(motion, times), strict=True):
        pose = Pose(motion.joints, np.where(held, np.nan, angles), keyframe.pose.free)
        yield replace(last, pose=pose, reach_s=reach, pause_s=0.0, attitude=attitude)
    yield replace(last, reach_s=rest)


def _cuts(begins_s: float, ends_s: float, step_s: float) -> Floats:
    """Return the multiples of a step at which a way is cut [s]."""
    begins, ends = begins_s / step_s, ends_s / step_s
    first = math.ceil(begins + _SHORTEST - _SLACK)
    last = math.floor(ends - _SHORTEST + _SLACK)
    if last < first and ends - begins > 1.0 + _SHORTEST:  # else the one piece would be nearly two steps long
        first = last = round((begins + ends) / 2.0)
    return np.arange(first, last + 1, dtype=np.float64) * step_s


def _attitudes(motion: Motion, times: Floats) -> list[Attitude | None]:
    attitudes = motion.attitude_at(times)
    if attitudes is None:
        return [None] * len(times)
    return [(roll, pitch, yaw) for roll, pitch, yaw in attitudes.tolist()]
