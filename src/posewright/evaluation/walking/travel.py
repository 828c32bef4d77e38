"""How a robot went over the ground: true velocity, way and heading of its base.

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
from posewright.evaluation.walking.command_schedule import Triple, mean_command, spans
from posewright.evaluation.walking.track import GaitTrack
from posewright.gaits import WHOLE_TURN_RAD, se2_log


@dataclass(frozen=True, kw_only=True)
class CommandStretch:
    """The time for which a command held, and how it was followed.

    Attributes:
        from_s: when the command was given, or the measuring began, since the robot was let go [s].
        to_s: when it was over [s].
        forward_m_s: commanded [m/s].
        left_m_s: commanded [m/s].
        turn_rad_s: commanded [rad/s].
        cycles: whole cycles measured: none of the first cycle after a change of command, in which the old
            one ends.
        measured: what the robot did, forward [m/s], left [m/s] and turn [rad/s]; None without a whole cycle.
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
    """How the robot went over the ground; None where there was no whole cycle to measure.

    Attributes:
        speed_m_s: forward, seen from the base, the mean of all whole cycles [m/s].
        left_m_s: to the left, seen from the base [m/s].
        turn_rad_s: to the left [rad/s].
        forward_error: how far `speed_m_s` is from what was commanded, as a part of it; None where 0 was.
        left_error: the same of `left_m_s`.
        turn_error: the same of `turn_rad_s`.
        commanded_forward_m_s: the mean over the measured time [m/s].
        commanded_left_m_s: the same [m/s].
        commanded_turn_rad_s: the same [rad/s].
        cycles: so many whole cycles were measured.
        measured_s: so long was measured, up to the end or a fall [s].
        distance_m: from where the measuring began to where it ended, straight [m].
        path_m: way along the arcs of all cycles [m].
        heading_change_deg: by how much the base turned, to the left [deg].
        heading_drift_deg: by how much it turned farther to the left than was commanded [deg].
        stretches: how each command was followed.
    """

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


def travel_of(track: GaitTrack) -> Travel:
    """Return how the robot went over the ground."""
    begin, end = min(track.begin, len(track.base) - 1), len(track.base) - 1
    rates = cycle_rates(track, begin, end)
    mean = _mean(rates)
    measured_s = (end - begin) * track.frame_s
    wanted = mean_command(track.commands, track.frame_s, begin, end)
    change = float(track.yaw[end] - track.yaw[begin])
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
        distance_m=float(np.linalg.norm(track.base[end, :2] - track.base[begin, :2])),
        path_m=_path(track, begin, end, rates),
        heading_change_deg=math.degrees(change),
        heading_drift_deg=math.degrees(change - wanted[2] * measured_s),
        stretches=_stretches(track, begin, end),
    )


def cycle_rates(track: GaitTrack, begin: int, end: int) -> Floats:
    """Return forward [m/s], left [m/s] and turn [rad/s] of each whole cycle, `(n_cycles, 3)`.

    A base that spins by a whole turn in a cycle, as only one that was thrown could, has none.
    """
    frames = track.timing.frames
    marks = np.arange(begin, end + 1, frames)
    places, yaw = track.base[marks, :2], track.yaw[marks]
    (x, y), turn = np.diff(places, axis=0).T, np.diff(yaw)
    cos, sin = np.cos(yaw[:-1]), np.sin(yaw[:-1])
    moved = np.stack([cos * x + sin * y, cos * y - sin * x, turn], axis=-1)
    rates: Floats = se2_log(moved[np.abs(turn) < WHOLE_TURN_RAD]) / (frames * track.frame_s)
    return rates


def _mean(rates: Floats) -> Triple | None:
    if not len(rates):
        return None
    forward, left, turn = rates.mean(axis=0).tolist()
    return forward, left, turn


def _path(track: GaitTrack, begin: int, end: int, rates: Floats) -> float:
    """Return the way along the arcs of all cycles, and straight over what is left of the last one [m]."""
    cycle_s = track.timing.frames * track.frame_s
    last = end - (end - begin) % track.timing.frames
    rest = float(np.linalg.norm(track.base[end, :2] - track.base[last, :2]))
    return float(np.hypot(rates[:, 0], rates[:, 1]).sum()) * cycle_s + rest


def _error(measured: float | None, commanded: float) -> float | None:
    return None if measured is None or commanded == 0.0 else measured / commanded - 1.0


def _stretches(track: GaitTrack, begin: int, end: int) -> tuple[CommandStretch, ...]:
    found = []
    for given, start, stop, command in spans(track.commands, track.frame_s, begin, end):
        # The first command of all ends none: what it begins with is what settling is for.
        settled = given + track.timing.frames if given > 0 else 0
        rates = cycle_rates(track, max(start, settled), stop)
        found.append(
            CommandStretch(
                from_s=start * track.frame_s,
                to_s=stop * track.frame_s,
                **command.by_name,
                cycles=len(rates),
                measured=_mean(rates),
            )
        )
    return tuple(found)
