"""The legs of the race: clocks, the distance behind the robot, the line that ends a leg.

A line is crossed by walking over it: the robot was seen not to have crossed it, then to have, and nobody
touched it in between. A robot that is carried over the line has to go back and walk. The time of a touch
is when the robot is let go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from posewright.arrays import Floats
from posewright.contests.obstacle_race.rules import Rules, field_of
from posewright.units import CM_PER_M

NOT_BEGUN = "not begun"
RUNNING = "the recording ends before"
CROSSED = "line fully crossed"
TIME_OUT = "time out"
NEVER_MOVED = "the robot never moved"


@dataclass(frozen=True, slots=True)
class Way:
    """Where a leg leads: +1 along the field's x or -1 back, from which line over which far edge."""

    forward: float
    from_x_m: float
    to_x_m: float
    limit_s: float
    limit_m: float

    @classmethod
    def of(cls, rules: Rules, leg: int) -> Self:
        """Return the way of leg 1 or 2: the clock's limit and both lines as seen by the robot."""
        course, limits, lines = rules.course, rules.scoring, field_of(rules).lines
        begins, ends = lines[course.first_line - 1], lines[course.second_line - 1]
        forward = 1.0
        if leg == 2:
            begins, ends, forward = ends, begins, -1.0
        far_edge = ends.x + forward * ends.width_m / 2.0
        return cls(forward, begins.x, far_edge, limits.time_limit_s, limits.distance_limit_cm / CM_PER_M)

    def rear(self, footprints: Floats) -> Floats:
        """Return how far along the way the rearmost sole corner of each row is, `(n,)` [m]."""
        x = footprints[..., 0]
        return np.asarray(x.min(axis=(1, 2)) if self.forward > 0.0 else -x.max(axis=(1, 2)))


class Leg:
    """A leg as far as it has been seen: its clock, how it ended, and the way behind the rearmost foot."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self.started_s: float | None = None
        self.ended_s: float | None = None
        self.finished = False
        self.reason = NOT_BEGUN
        self.distance_m = 0.0
        self._short_s = -math.inf
        """When the robot was last seen not to have crossed."""

    def start(self, time_s: float) -> None:
        """Begin its clock."""
        self.started_s, self.reason = time_s, RUNNING

    def give_up(self, time_s: float, reason: str) -> None:
        """End it unfinished."""
        self.ended_s, self.reason = time_s, reason

    def clock_s(self, now_s: float) -> float:
        """Return what its clock shows at `now_s`; the limit if it is over unfinished."""
        if self.started_s is None:
            return 0.0
        if self.ended_s is None:
            return max(0.0, now_s - self.started_s)
        return self.ended_s - self.started_s if self.finished else self.way.limit_s

    def advance(self, times: Floats, footprints: Floats, touches_s: Sequence[float] = ()) -> int:
        """Look at some more rows, footprints `(n, n_feet, 4, 3)` [m]; return how many belong to the leg.

        Fewer than n do, or n, once it has ended. The touches are in order of time; later ones do no harm.
        """
        if self.started_s is None or self.ended_s is not None or not len(times):
            return 0
        first = int(times.searchsorted(self.started_s))
        inside = int(times.searchsorted(self.started_s + self.way.limit_s, side="right"))
        rear = self.way.rear(footprints[first:inside])
        crossed = self._crossing(times[first:inside], rear, touches_s)
        if crossed is not None:
            last = first + crossed
            self.ended_s, self.finished, self.reason = float(times[last]), True, CROSSED
            self._measure(rear[: crossed + 1])
            return last + 1
        self._measure(rear)
        if inside < len(times):
            self.give_up(self.started_s + self.way.limit_s, TIME_OUT)
        return inside

    def _crossing(self, times: Floats, rear: Floats, touches_s: Sequence[float]) -> int | None:
        """Return the first row in which the robot has crossed the line on its own feet, if there is one."""
        over = rear > self.way.forward * self.way.to_x_m
        if not over.any():
            self._short_s = float(times[-1]) if len(times) else self._short_s
            return None
        last_short = np.maximum.accumulate(np.append(self._short_s, np.where(over, -np.inf, times)))
        self._short_s = float(last_short[-1])
        untouched = np.searchsorted(touches_s, times) == np.searchsorted(touches_s, last_short[:-1])
        walked = over & untouched & np.isfinite(last_short[:-1])
        return int(walked.argmax()) if walked.any() else None

    def _measure(self, rear: Floats) -> None:
        if len(rear):
            behind = float(rear[-1]) - self.way.forward * self.way.from_x_m
            self.distance_m = min(max(behind, 0.0), self.way.limit_m)
