"""Travel and attitude of the base: velocity, path, heading, tilt and height.

The velocity of a walking base at an instant says little, because the base sways. Therefore the displacement
over each complete cycle is measured, in the frame of the base at the cycle's begin, and split into the
distances forward and to the left and the turn of the arc that leads there (`gaits.arc`). The sway within a
cycle cancels, and a robot on a circle has its speed along the circle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.evaluation.walking.walk import Velocity, Walk, command_spans, mean_command
from posewright.gaits import WHOLE_TURN_RAD, se2_log


@dataclass(frozen=True, kw_only=True)
class CommandStretch:
    """The time in which a velocity command was in effect, with the measured velocity.

    The cycle after a change of command is not measured, because the robot still executes the previous one.

    Attributes:
        from_s: begin [s].
        to_s: end [s].
        forward_m_s: the commanded speed forward [m/s].
        left_m_s: the commanded speed to the left [m/s].
        turn_rad_s: the commanded turn to the left [rad/s].
        cycles: number of complete measured cycles.
        measured: mean velocity; None without a complete cycle.
    """

    from_s: float
    to_s: float
    forward_m_s: float
    left_m_s: float
    turn_rad_s: float
    cycles: int
    measured: Velocity | None


@dataclass(frozen=True, kw_only=True)
class Travel:
    """Figures of travel, explained in `docs/measuring-a-gait.md`; None without a complete cycle."""

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


def measure_travel(walk: Walk) -> Travel:
    """Return the figures of travel in the measured time."""
    begin = walk.first_measured_row
    end = walk.last_row
    trajectory = walk.trajectory
    velocities = cycle_velocities(walk, begin, end)
    forward, left, turn = _mean_velocity(velocities) or (None, None, None)
    measured_s = (end - begin) * walk.frame_s
    commanded_forward, commanded_left, commanded_turn = mean_command(
        walk.velocity_commands, walk.frame_s, begin, end
    )
    heading_change = float(trajectory.yaw[end] - trajectory.yaw[begin])
    return Travel(
        speed_m_s=forward,
        left_m_s=left,
        turn_rad_s=turn,
        forward_error=_relative_error(forward, commanded_forward),
        left_error=_relative_error(left, commanded_left),
        turn_error=_relative_error(turn, commanded_turn),
        commanded_forward_m_s=commanded_forward,
        commanded_left_m_s=commanded_left,
        commanded_turn_rad_s=commanded_turn,
        cycles=len(velocities),
        measured_s=measured_s,
        distance_m=float(np.linalg.norm(trajectory.base[end, :2] - trajectory.base[begin, :2])),
        path_m=_path_length(walk, begin, end, velocities),
        heading_change_deg=math.degrees(heading_change),
        heading_drift_deg=math.degrees(heading_change - commanded_turn * measured_s),
        stretches=_measure_stretches(walk, begin, end),
    )


def cycle_velocities(walk: Walk, begin: int, end: int) -> Floats:
    """Return forward [m/s], left [m/s] and turn [rad/s] of each complete cycle, `(n_cycles, 3)`.

    A cycle in which the base makes a whole turn, which only a thrown robot does, is left out.

    Args:
        walk: the walk.
        begin: row in which the first cycle begins.
        end: row at which the last cycle ends at the latest.
    """
    cycle_frames = walk.cycle.n_frames
    cycle_rows = np.arange(begin, end + 1, cycle_frames)  # where one cycle ends and the next begins
    positions = walk.trajectory.base[cycle_rows, :2]
    yaw = walk.trajectory.yaw[cycle_rows]
    dx, dy = np.diff(positions, axis=0).T
    turn = np.diff(yaw)
    begin_yaw = yaw[:-1]
    cos = np.cos(begin_yaw)
    sin = np.sin(begin_yaw)
    # in the frame of the base at the cycle's begin
    displacements = np.stack([cos * dx + sin * dy, cos * dy - sin * dx, turn], axis=-1)
    is_measurable = np.abs(turn) < WHOLE_TURN_RAD
    velocities: Floats = se2_log(displacements[is_measurable]) / (cycle_frames * walk.frame_s)
    return velocities


def _mean_velocity(velocities: Floats) -> Velocity | None:
    """Return the mean of the velocities of all cycles, `(n_cycles, 3)`; None if there is no cycle."""
    if not len(velocities):
        return None
    forward, left, turn = velocities.mean(axis=0).tolist()
    return forward, left, turn


def _path_length(walk: Walk, begin: int, end: int, velocities: Floats) -> float:
    """Return the length of the arcs of all cycles, and of a straight line over the rest of the time [m].

    Args:
        walk: the walk.
        begin: row in which the first cycle begins.
        end: last row.
        velocities: the velocities of the cycles, as returned by `cycle_velocities`.
    """
    cycle_s = walk.cycle.n_frames * walk.frame_s
    last_cycle_end = end - (end - begin) % walk.cycle.n_frames
    base = walk.trajectory.base
    remaining_m = float(np.linalg.norm(base[end, :2] - base[last_cycle_end, :2]))
    return float(np.hypot(velocities[:, 0], velocities[:, 1]).sum()) * cycle_s + remaining_m


def _relative_error(measured: float | None, commanded: float) -> float | None:
    return None if measured is None or commanded == 0.0 else measured / commanded - 1.0


def _measure_stretches(walk: Walk, begin: int, end: int) -> tuple[CommandStretch, ...]:
    """Return the time and the measured velocity of each command in effect after row `begin` up to row `end`.

    The cycle after a change of command is not measured.
    """
    stretches = []
    for span in command_spans(walk.velocity_commands, walk.frame_s, begin, end):
        is_first_command = span.given_row <= 0  # it changes nothing: the settling time covers the start
        first_valid_row = 0 if is_first_command else span.given_row + walk.cycle.n_frames
        velocities = cycle_velocities(walk, max(span.start_row, first_valid_row), span.stop_row)
        stretches.append(
            CommandStretch(
                from_s=span.start_row * walk.frame_s,
                to_s=span.stop_row * walk.frame_s,
                forward_m_s=span.command.forward_m_s,
                left_m_s=span.command.left_m_s,
                turn_rad_s=span.command.turn_rad_s,
                cycles=len(velocities),
                measured=_mean_velocity(velocities),
            )
        )
    return tuple(stretches)


Range = tuple[float, float]
"""Least and greatest value."""


@dataclass(frozen=True, kw_only=True)
class Attitude:
    """Figures of the base's attitude, relative to the vertical, and height.

    They are explained in `docs/measuring-a-gait.md`. Roll to the right and pitch forward are positive.
    """

    max_tilt_deg: float
    mean_tilt_deg: float
    settling_tilt_deg: float | None
    roll_deg: Range
    pitch_deg: Range
    body_height_m: float
    bounce_m: float | None


def measure_attitude(walk: Walk) -> Attitude:
    """Return the figures of attitude and height in the measured time."""
    begin = walk.first_measured_row
    tilt_deg = walk.trajectory.tilt_deg
    roll_deg, pitch_deg = walk.trajectory.roll_pitch_deg
    heights = walk.trajectory.base[begin:, 2]
    return Attitude(
        max_tilt_deg=float(tilt_deg[begin:].max()),
        mean_tilt_deg=float(tilt_deg[begin:].mean()),
        settling_tilt_deg=float(tilt_deg[:begin].max()) if begin else None,
        roll_deg=_range(roll_deg[begin:]),
        pitch_deg=_range(pitch_deg[begin:]),
        body_height_m=float(heights.mean()),
        bounce_m=_bounce(heights, walk.cycle.n_frames),
    )


def _range(values: Floats) -> Range:
    return float(values.min()), float(values.max())


def _bounce(heights: Floats, cycle_frames: int) -> float | None:
    """Return the mean over complete cycles of greatest minus least height; None without one [m]."""
    n_cycles = len(heights) // cycle_frames
    if not n_cycles:
        return None
    heights_of_cycles = heights[: n_cycles * cycle_frames].reshape(n_cycles, cycle_frames)
    return float(np.ptp(heights_of_cycles, axis=1).mean())
