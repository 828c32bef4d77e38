"""Does the robot stay on its feet? By the thresholds of a motion under gravity, and one of height.

A base that leans as far as one that lies on its side is down in a walk, whichever way. Contacts of other
parts than feet are not noted: a base that is neither tilted nor low is no fall, even where a knee scrapes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.evaluation.motion.thresholds import PhysicsRules
from posewright.evaluation.runs import unbroken
from posewright.evaluation.walking.track import GaitTrack
from posewright.rotation import matrices

RULES = PhysicsRules()

LOW = 0.6
"""A base lower than this share of its height at first lies: no gait bounces so far, and an AIBO's belly is
on the ground at 0.45."""


@dataclass(frozen=True, slots=True)
class GaitFall:
    """A time the robot lay.

    Attributes:
        time_s: when it was down, since it was let go [s].
        row: of the track, the first in which it was.
        side: forward, back, to the left or to the right.
        tilt_deg: how far the base leaned at most [deg].
    """

    time_s: float
    row: int
    side: str
    tilt_deg: float


def tilt_deg(track: GaitTrack) -> Floats:
    """Return how far the base leans from the vertical, `(n + 1,)` [deg]: its own z from the sky."""
    across = np.hypot(track.up[:, 0], track.up[:, 1])
    return np.degrees(np.arctan2(across, track.up[:, 2]))


def lying(base: Floats, gravity: Floats, height_m: float) -> Flags:
    """Return in which rows a robot lies, `(n,)`: its base leans far, or is low.

    Args:
        base: pose of the base x y z qw qx qy qz, `(n, 7)` [m, unit quaternion].
        gravity: in the field's frame, `(3,)` [m/s^2].
        height_m: of the base where the robot stands [m].
    """
    own = matrices(base[:, 3:])[..., 2]
    upright = own @ (-gravity / np.linalg.norm(gravity))
    leans = upright < math.cos(math.radians(RULES.side_deg))
    return np.asarray(leans | (base[:, 2] < LOW * height_m))


def lain(flags: Flags, before: int = 0) -> int:
    """Return for how many frames on end a robot has lain at the end of a block.

    Args:
        flags: in which frames of the block it lies, `(n,)`.
        before: for how many it had lain when the block began.
    """
    up = np.flatnonzero(~flags)
    return len(flags) - 1 - int(up[-1]) if up.size else before + len(flags)


def falls_of(track: GaitTrack) -> tuple[GaitFall, ...]:
    """Return when the robot fell, from the beginning on; what is over sooner than `fall_s` is a stumble."""
    flags = lying(track.base, track.gravity, float(track.base[0, 2]))
    least = RULES.fall_s / track.frame_s
    rows = unbroken(flags, bridge=int(RULES.meet_s / track.frame_s))
    tilt = tilt_deg(track)
    return tuple(
        GaitFall(float(track.times[begin]), begin, _side(track.up[begin]), float(tilt[begin:end].max()))
        for begin, end in rows
        if end == len(flags) or end - begin >= least
    )


def _side(up: Floats) -> str:
    """Return in words where a base leans to that sees the sky there."""
    x, y, _ = up.tolist()
    if abs(x) >= abs(y):
        return "back" if x > 0.0 else "forward"
    return "to the right" if y > 0.0 else "to the left"
