"""Joins: a smooth way from where the joints are to where a motion begins."""

from __future__ import annotations

import math

import numpy as np

from posewright.arrays import Floats

PEAK_OF_MEAN = 15.0 / 8.0
"""Greatest over mean speed of a minimum-jerk course (Flash and Hogan, J. Neuroscience 5, 1985)."""

SHARE_OF_SPEED = 0.5
"""How much of a servo's no-load speed a join uses at most: a servo under load has no more to give."""

SHORTEST_JOIN_S = 0.1

TOUCHING_RAD = 1e-3
"""Poses nearer than this are one: it is a fifth of the step of a servo of 1024 ticks over 300 degrees."""


def apart(start: Floats, end: Floats) -> bool:
    """Return whether there is a way to go between two poses `(n_joints,)` [rad]."""
    return bool((np.abs(end - start) > TOUCHING_RAD).any())


def join_duration(start: Floats, end: Floats, max_speeds: Floats) -> float:
    """Return how long a join takes: what the joint with the longest way needs, at least 0.1 s [s]."""
    needed = PEAK_OF_MEAN * np.abs(end - start) / (SHARE_OF_SPEED * max_speeds)
    return max(SHORTEST_JOIN_S, float(needed.max()))


def join_frames(start: Floats, end: Floats, max_speeds: Floats, frame_period_s: float) -> Floats:
    """Return the commands that lead from one pose to another without a jerk.

    Args:
        start: the pose commanded last, `(n_joints,)` [rad]; it is not repeated.
        end: the pose to arrive at, `(n_joints,)` [rad]; it is the last row.
        max_speeds: the servos' no-load speeds, `(n_joints,)` [rad/s].
        frame_period_s: the time between two rows [s].

    Returns:
        The angles, `(n, n_joints)` [rad].
    """
    n = math.ceil(join_duration(start, end, max_speeds) / frame_period_s - 1e-9)
    s = np.arange(1, n + 1)[:, np.newaxis] / n
    rows: Floats = start + (end - start) * (s**3 * (10.0 + s * (6.0 * s - 15.0)))
    rows[-1] = end
    return rows
