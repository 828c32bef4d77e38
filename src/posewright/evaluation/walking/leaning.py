"""How a base leans, and how high it is carried."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.evaluation.walking.falls import tilt_deg
from posewright.evaluation.walking.track import GaitTrack

Range = tuple[float, float]
"""Least and greatest."""


@dataclass(frozen=True, kw_only=True)
class Leaning:
    """How the base leans from the vertical, which on a leaning ground is not the ground's own upright.

    Attributes:
        max_tilt_deg: farthest the base's own z is from straight up [deg].
        mean_tilt_deg: on the mean [deg].
        settling_tilt_deg: farthest before the measuring began; None where it began at once [deg].
        roll_deg: least and greatest, positive to the right [deg].
        pitch_deg: least and greatest, positive forward [deg].
        body_height_m: of the middle of the base above the ground, on the mean [m].
        bounce_m: between its lowest and its highest in a cycle, on the mean; None without a whole cycle [m].
    """

    max_tilt_deg: float
    mean_tilt_deg: float
    settling_tilt_deg: float | None
    roll_deg: Range
    pitch_deg: Range
    body_height_m: float
    bounce_m: float | None


def leaning_of(track: GaitTrack) -> Leaning:
    """Return how the base leans and how high it is carried, in the measured rows."""
    begin = min(track.begin, len(track.base) - 1)
    tilt, (roll, pitch) = tilt_deg(track), attitude_deg(track)
    heights = track.base[begin:, 2]
    return Leaning(
        max_tilt_deg=float(tilt[begin:].max()),
        mean_tilt_deg=float(tilt[begin:].mean()),
        settling_tilt_deg=float(tilt[:begin].max()) if begin else None,
        roll_deg=_range(roll[begin:]),
        pitch_deg=_range(pitch[begin:]),
        body_height_m=float(heights.mean()),
        bounce_m=_bounce(heights, track.timing.frames),
    )


def attitude_deg(track: GaitTrack) -> tuple[Floats, Floats]:
    """Return roll and pitch of the base against the vertical, `(n + 1,)` each [deg]."""
    x, y, z = track.up.T
    return np.degrees(np.arctan2(y, z)), np.degrees(np.arctan2(-x, np.hypot(y, z)))


def _range(values: Floats) -> Range:
    return float(values.min()), float(values.max())


def _bounce(heights: Floats, frames: int) -> float | None:
    whole = len(heights) // frames * frames
    return float(np.ptp(heights[:whole].reshape(-1, frames), axis=1).mean()) if whole else None
