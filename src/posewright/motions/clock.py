"""The clock of a motion: when each way and each pause is over, without rounding adding up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posewright.motions.keyframe import Keyframe

Seconds = NDArray[np.float64]


def ends_of(keyframes: Sequence[Keyframe]) -> Seconds:
    """Return when the pause after each keyframe is over, `(n_keyframes,)` [s]."""
    return np.array(clock_of(keyframes)[1::2])


def arrivals_of(keyframes: Sequence[Keyframe]) -> Seconds:
    """Return when each keyframe is reached, `(n_keyframes,)` [s]."""
    ends = ends_of(keyframes)
    leaves = np.append(0.0, ends[:-1])
    reaches = np.array([keyframe.reach_s for keyframe in keyframes])
    pauses = np.array([keyframe.pause_s for keyframe in keyframes])
    return np.where(pauses > 0.0, leaves + reaches, ends)


def clock_of(keyframes: Sequence[Keyframe]) -> list[float]:
    """Return when each keyframe is reached and when its pause is over, by turns, `2 * n_keyframes` [s].

    Every sum is rounded once (Kahan and Neumaier's summation): ten ways of 0.1 s make 1 s.
    """
    sums, total, lost = [], 0.0, 0.0
    for keyframe in keyframes:
        for seconds in (keyframe.reach_s, keyframe.pause_s):
            longer = total + seconds
            lost += _rounded_off(total, seconds, longer)
            total = longer
            sums.append(total + lost)
    return sums


def _rounded_off(a: float, b: float, total: float) -> float:
    """Return what `total = a + b` has lost to rounding, exactly (Knuth's two-sum)."""
    part = total - a
    return (a - (total - part)) + (b - part)
