"""How the base went over the ground and how it leant: true velocity, way, heading, tilt and height.

A walking base sways: its velocity at an instant says little. So the displacement of every whole cycle is
taken, seen from the base where the cycle began, and separated into the way forward, the way to the left and
the turn of the arc that leads there (`gaits.arc`). What sways within a cycle is then out of it, and a robot
that goes round a circle has its speed along the circle and not the little that it got away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.evaluation.walking.walk import Triple, Walk, mean_command, spans
from posewright.gaits import WHOLE_TURN_RAD, se2_log


@dataclass(frozen=True, kw_only=True)
class CommandStretch:
    """The time for which a command held, and how it was followed.

    No whole cycle is measured of the first after a change of command, in which the old one ends.
    """

    from_s: float
    to_s: float
    forward_m_s: float
    left_m_s: float
    turn_rad_s: float
    cycles: int
    measured: Triple | None


@dataclass(frozen=True, kw_only=True)
class Travel:
    """How the robot went over the ground: see `docs/measuring-a-gait.md`; None without a whole cycle."""

    speed_m_s: float | None
    left_m_s: float | None
    turn_rad_s: float | None
    forward_error: float | None
    left_error: float | None
    turn_error: float | None
    commanded_forward_m_s: float
    commanded_left_m_s: float
    commanded_turn_rad_s: float
    cycles: int
    measured_s: float
    distance_m: float
    path_m: float
    heading_change_deg: float
    heading_drift_deg: float
    stretches: tuple[CommandStretch, ...]


def travel_of(walk: Walk) -> Travel:
    """Return how the robot went over the ground."""
    begin, end = walk.first_measured, walk.last
    rates = cycle_rates(walk, begin, end)
    mean = _mean(rates)
    measured_s = (end - begin) * walk.frame_s
    wanted = mean_command(walk.commands, walk.frame_s, begin, end)
    change = float(walk.trajectory.yaw[end] - walk.trajectory.yaw[begin])
    speed, left, turn = mean or (None, None, None)
    return Travel(
        speed_m_s=speed,
        left_m_s=left,
        turn_rad_s=turn,
        forward_error=_error(speed, wanted[0]),
        left_error=_error(left, wanted[1]),
        turn_error=_error(turn, wanted[2]),
        commanded_forward_m_s=wanted[0],
        commanded_left_m_s=wanted[1],
        commanded_turn_rad_s=wanted[2],
        cycles=len(rates),
        measured_s=measured_s,
        distance_m=float(np.linalg.norm(walk.trajectory.base[end, :2] - walk.trajectory.base[begin, :2])),
        path_m=_path(walk, begin, end, rates),
        heading_change_deg=math.degrees(change),
        heading_drift_deg=math.degrees(change - wanted[2] * measured_s),
        stretches=_stretches(walk, begin, end),
    )


def cycle_rates(walk: Walk, begin: int, end: int) -> Floats:
    """Return forward [m/s], left [m/s] and turn [rad/s] of each whole cycle, `(n_cycles, 3)`.

    A base that spins by a whole turn in a cycle, as only one that was thrown could, has none.
    """
    frames = walk.timing.frames
    marks = np.arange(begin, end + 1, frames)
    places, yaw = walk.trajectory.base[marks, :2], walk.trajectory.yaw[marks]
    (x, y), turn = np.diff(places, axis=0).T, np.diff(yaw)
    cos, sin = np.cos(yaw[:-1]), np.sin(yaw[:-1])
    moved = np.stack([cos * x + sin * y, cos * y - sin * x, turn], axis=-1)
    rates: Floats = se2_log(moved[np.abs(turn) < WHOLE_TURN_RAD]) / (frames * walk.frame_s)
    return rates


def _mean(rates: Floats) -> Triple | None:
    if not len(rates):
        return None
    forward, left, turn = rates.mean(axis=0).tolist()
    return forward, left, turn


def _path(walk: Walk, begin: int, end: int, rates: Floats) -> float:
    """Return the way along the arcs of all cycles, and straight over what is left of the last one [m]."""
    cycle_s = walk.timing.frames * walk.frame_s
    last = end - (end - begin) % walk.timing.frames
    rest = float(np.linalg.norm(walk.trajectory.base[end, :2] - walk.trajectory.base[last, :2]))
    return float(np.hypot(rates[:, 0], rates[:, 1]).sum()) * cycle_s + rest


def _error(measured: float | None, commanded: float) -> float | None:
    return None if measured is None or commanded == 0.0 else measured / commanded - 1.0


def _stretches(walk: Walk, begin: int, end: int) -> tuple[CommandStretch, ...]:
    found = []
    for given, start, stop, command in spans(walk.commands, walk.frame_s, begin, end):
        # The first command of all ends none: what it begins with is what settling is for.
        settled = given + walk.timing.frames if given > 0 else 0
        rates = cycle_rates(walk, max(start, settled), stop)
        found.append(
            CommandStretch(
                from_s=start * walk.frame_s,
                to_s=stop * walk.frame_s,
                **command.by_name,
                cycles=len(rates),
                measured=_mean(rates),
            )
        )
    return tuple(found)


Range = tuple[float, float]
"""Least and greatest."""


@dataclass(frozen=True, kw_only=True)
class Leaning:
    """How the base leans from the vertical, which on a leaning ground is not the ground's own upright.

    Roll to the right and pitch forward are positive, least and greatest; see `docs/measuring-a-gait.md`.
    """

    max_tilt_deg: float
    mean_tilt_deg: float
    settling_tilt_deg: float | None
    roll_deg: Range
    pitch_deg: Range
    body_height_m: float
    bounce_m: float | None


def leaning_of(walk: Walk) -> Leaning:
    """Return how the base leans and how high it is carried, in the measured rows."""
    begin = walk.first_measured
    tilt, (roll, pitch) = walk.trajectory.tilt_deg, walk.trajectory.attitude_deg
    heights = walk.trajectory.base[begin:, 2]
    return Leaning(
        max_tilt_deg=float(tilt[begin:].max()),
        mean_tilt_deg=float(tilt[begin:].mean()),
        settling_tilt_deg=float(tilt[:begin].max()) if begin else None,
        roll_deg=_range(roll[begin:]),
        pitch_deg=_range(pitch[begin:]),
        body_height_m=float(heights.mean()),
        bounce_m=_bounce(heights, walk.timing.frames),
    )


def _range(values: Floats) -> Range:
    return float(values.min()), float(values.max())


def _bounce(heights: Floats, frames: int) -> float | None:
    whole = len(heights) // frames * frames
    return float(np.ptp(heights[:whole].reshape(-1, frames), axis=1).mean()) if whole else None
