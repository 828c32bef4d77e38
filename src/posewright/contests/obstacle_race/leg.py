"""The legs of the race: their clocks, distances and finish lines.

A line counts as crossed if the robot walks over it: in one row it has not crossed the line, in a later row it
has, and nobody touched it in between. A robot that is carried over the line has to go back and walk. The time
of a touch is when the robot is released.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from posewright.arrays import Floats
from posewright.contests.obstacle_race.rules import Rules, field_without_boxes
from posewright.units import CM_PER_M

NOT_BEGUN = "not begun"
RUNNING = "the recording ends before"
CROSSED = "line fully crossed"
TIME_OUT = "time out"
NEVER_MOVED = "the robot never moved"


@dataclass(frozen=True, slots=True)
class LegCourse:
    """The course of a leg.

    Attributes:
        forward: +1 along the field's x, -1 back.
        from_x_m: line from which the distance is measured [m].
        to_x_m: far edge of the finish line [m].
        limit_s: time limit [s].
        limit_m: greatest distance that counts [m].
    """

    forward: float
    from_x_m: float
    to_x_m: float
    limit_s: float
    limit_m: float

    @classmethod
    def from_rules(cls, rules: Rules, leg: int) -> Self:
        """Return the course of leg 1 or 2."""
        lines = field_without_boxes(rules).lines
        first_line = lines[rules.course.first_line - 1]
        second_line = lines[rules.course.second_line - 1]
        forward = 1.0 if leg == 1 else -1.0
        start_line = first_line if leg == 1 else second_line
        finish_line = second_line if leg == 1 else first_line
        return cls(
            forward=forward,
            from_x_m=start_line.x,
            to_x_m=finish_line.x + forward * finish_line.width_m / 2.0,
            limit_s=rules.scoring.time_limit_s,
            limit_m=rules.scoring.distance_limit_cm / CM_PER_M,
        )

    def rearmost(self, footprints: Floats) -> Floats:
        """Return the position along the course of the rearmost sole corner in each row, `(n,)` [m]."""
        x = footprints[..., 0]
        return np.asarray(x.min(axis=(1, 2)) if self.forward > 0.0 else -x.max(axis=(1, 2)))


class Leg:
    """The state of a leg: its clock, its distance, and how it ended.

    Args:
        course: the course of the leg.

    Attributes:
        course: the course of the leg.
        started_s: start of its clock; None before [s].
        ended_s: its end; None before [s].
        finished: whether the line was crossed.
        reason: its state, or why it ended.
        distance_m: the distance from the start line to the rearmost sole corner, within the limits [m].
    """

    def __init__(self, course: LegCourse) -> None:
        """Create the leg before its start."""
        self.course = course
        self.started_s: float | None = None
        self.ended_s: float | None = None
        self.finished = False
        self.reason = NOT_BEGUN
        self.distance_m = 0.0
        self._last_before_line_s = -math.inf  # the last time the robot had not crossed the line

    def start(self, time_s: float) -> None:
        """Start the clock."""
        self.started_s = time_s
        self.reason = RUNNING

    def end_unfinished(self, time_s: float, reason: str) -> None:
        """End the leg without a crossing."""
        self.ended_s = time_s
        self.reason = reason

    def clock_s(self, now_s: float) -> float:
        """Return the time on the clock at `now_s`; the limit if the leg ended unfinished [s]."""
        if self.started_s is None:
            return 0.0
        if self.ended_s is None:
            return max(0.0, now_s - self.started_s)
        return self.ended_s - self.started_s if self.finished else self.course.limit_s

    def advance(self, times: Floats, footprints: Floats, touches_s: Sequence[float] = ()) -> int:
        """Process further rows, and return how many of them belong to the leg; the others follow its end.

        A leg ends when the robot crosses the line, or at its time limit.

        Args:
            times: the times of the rows, `(n,)` [s].
            footprints: corners of the soles, `(n, n_feet, 4, 3)` [m].
            touches_s: times of touches by a person, in order; they may be later than the rows [s].
        """
        if self.started_s is None or self.ended_s is not None or not len(times):
            return 0
        limit_s = self.started_s + self.course.limit_s
        first_row = int(times.searchsorted(self.started_s))
        end_row = int(times.searchsorted(limit_s, side="right"))
        rearmost = self.course.rearmost(footprints[first_row:end_row])
        n_rows_before_crossing = self._find_crossing(times[first_row:end_row], rearmost, touches_s)
        if n_rows_before_crossing is not None:
            crossing_row = first_row + n_rows_before_crossing
            self.ended_s = float(times[crossing_row])
            self.finished = True
            self.reason = CROSSED
            self._update_distance(rearmost[: n_rows_before_crossing + 1])
            return crossing_row + 1
        self._update_distance(rearmost)
        if end_row < len(times):
            self.end_unfinished(limit_s, TIME_OUT)
        return end_row

    def _find_crossing(self, times: Floats, rearmost: Floats, touches_s: Sequence[float]) -> int | None:
        """Return the index of the first row in which the robot has walked over the line; None without one.

        It has walked if nobody touched it between the last row before the line and this one.

        Args:
            times: the times of further rows, `(n,)` [s].
            rearmost: position of the rearmost sole corner along the course, `(n,)` [m].
            touches_s: times of touches, in order [s].
        """
        is_over_line = rearmost > self.course.forward * self.course.to_x_m
        if not is_over_line.any():
            if len(times):
                self._last_before_line_s = float(times[-1])
            return None
        times_before_line = np.append(self._last_before_line_s, np.where(is_over_line, -np.inf, times))
        latest_before_line = np.maximum.accumulate(times_before_line)
        self._last_before_line_s = float(latest_before_line[-1])
        latest_before_line = latest_before_line[:-1]  # for each row, of the rows before it
        was_before_line = np.isfinite(latest_before_line)
        # a touch between two times shows as a difference of the numbers of touches before them
        n_touches = np.searchsorted(touches_s, times)
        n_touches_before_line = np.searchsorted(touches_s, latest_before_line)
        was_not_touched = n_touches == n_touches_before_line
        has_walked_over = is_over_line & was_not_touched & was_before_line
        return int(has_walked_over.argmax()) if has_walked_over.any() else None

    def _update_distance(self, rearmost: Floats) -> None:
        """Set the distance to that of the last row, within 0 and the greatest that counts."""
        if len(rearmost):
            distance = float(rearmost[-1]) - self.course.forward * self.course.from_x_m
            self.distance_m = min(max(distance, 0.0), self.course.limit_m)
