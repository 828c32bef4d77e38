"""Geometry of a range scan: the free length of a corridor, free courses, the distance of a wall.

A beam that hits nothing reads the sensor's greatest range; a reading that is not finite or not positive
counts as the same. Distances are from the sensor, not from the robot's middle.

Between two beams lie gaps of `range * step`. With 72 beams (5 degrees) these are 9 cm at 1 m and 17 cm at 2
m, so a box of 20 cm is always hit within 2.2 m, and an edge of a corridor is known to half a gap. Directions
outside the scan's sector count as not free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, lru_cache

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.errors import InputError

TURN = 2.0 * math.pi

COURSE_STEP_RAD = math.radians(5.0)
"""Angle between the courses that `free_course` tries."""


ROUNDING = 1e-9
"""Tolerance for rounding: a point this little ahead of the sensor [m] is beside it (beams and courses often
lie 5 degrees apart), and a beam this little outside of a view (in cosines) is in it."""


RING_TOLERANCE_RAD = 1e-6
"""Beams whose span lacks less than this of a turn are a ring [rad]."""


class Side(Enum):
    """The side of a free course; the value is the sign of its angles."""

    LEFT = 1
    RIGHT = -1


@dataclass(frozen=True, eq=False)
class Beams:
    """The directions of the beams of a scan.

    Attributes:
        angles: the angles of the beams, evenly spaced, positive to the left, `(k,)` [rad].
    """

    angles: Floats

    def __post_init__(self) -> None:
        if self.angles.ndim != 1 or len(self.angles) == 0:
            raise InputError(
                f"the beams have the shape {self.angles.shape}", hint="one dimension, one beam or more"
            )

    def __repr__(self) -> str:
        first, last = np.degrees(self.angles[[0, -1]]).tolist()
        return f"Beams({len(self.angles)}, {first:g} to {last:g} deg)"

    @classmethod
    def of(cls, start_deg: float, step_deg: float, beams: int) -> Beams:
        """Return `beams` directions from `start_deg`, each `step_deg` farther to the left."""
        return cls(np.radians(start_deg + step_deg * np.arange(beams)))

    @cached_property
    def directions(self) -> Floats:
        """Unit vectors, x ahead and y left, `(2, k)`."""
        return np.stack((np.cos(self.angles), np.sin(self.angles)))

    @cached_property
    def span(self) -> float:
        """The angle from the rightmost beam to the leftmost [rad]."""
        return float(np.ptp(self.angles))

    @cached_property
    def step(self) -> float:
        """The angle from one beam to the next [rad]."""
        return self.span / (len(self.angles) - 1) if len(self.angles) > 1 else 0.0

    @cached_property
    def is_ring(self) -> bool:
        """Whether the beams cover all directions."""
        return self.span + self.step >= TURN - RING_TOLERANCE_RAD

    def cover(self, headings: Floats) -> Flags:
        """Return which headings `(n,)` [rad] the beams cover, to half a step beyond the outer ones."""
        if self.is_ring:
            return np.ones(headings.shape, dtype=np.bool_)
        is_covered: Flags = (headings - self.angles.min() + 0.5 * self.step) % TURN <= self.span + self.step
        return is_covered


@dataclass(frozen=True, eq=False)
class Scan:
    """The readings of a scan at one instant.

    Attributes:
        beams: its directions.
        ranges: the readings, `(k,)` [m].
        max_range_m: the reading of a beam that hits nothing [m].
    """

    beams: Beams
    ranges: Floats
    max_range_m: float
    _courses: dict[tuple[float, ...], Flags | None] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        return f"Scan({self.beams!r}, nearest {self.ranges.min():.3g} m)"

    @cached_property
    def is_hit(self) -> Flags:
        """Which beams hit something, `(k,)`."""
        is_hit: Flags = (self.ranges > 0.0) & (self.ranges < self.max_range_m)  # False for NaN
        return is_hit

    def points_within(self, radius_m: float) -> Floats:
        """Return the points hit within a radius, x ahead and y left, `(2, n)` [m]."""
        near = np.flatnonzero(self.is_hit & (self.ranges <= radius_m))
        points: Floats = self.beams.directions.take(near, axis=1) * self.ranges.take(near)
        return points

    def corridor(self, *, towards_rad: float, width_m: float) -> float:
        """Return the free length of a corridor that begins at the sensor.

        It is the smallest distance ahead of a hit within half the width to either side.

        Args:
            towards_rad: the corridor's direction, in the frame of the beams [rad].
            width_m: the corridor's width [m].

        Returns:
            The free length, at most `max_range_m` [m]; 0 where no beam covers the direction.
        """
        if not self.beams.is_ring and not self.beams.cover(np.array([towards_rad]))[0]:
            return 0.0
        ahead, aside = _rotation_to(towards_rad) @ self.points_within(self.max_range_m)
        distances = ahead[(np.abs(aside) <= 0.5 * width_m) & (ahead > ROUNDING)]
        return min(self.max_range_m, float(distances.min())) if len(distances) else self.max_range_m

    def free_course(
        self,
        *,
        towards_rad: float,
        side: Side,
        width_m: float,
        length_m: float,
        step_rad: float = COURSE_STEP_RAD,
        up_to_rad: float = math.pi,
    ) -> float | None:
        """Return the smallest turn to one side of a direction after which a corridor is free.

        The courses tried are `towards_rad` itself and every `step_rad` from it up to `up_to_rad`.

        Returns:
            The size of the turn, 0 or more [rad]; None where no course tried is free.
        """
        is_free = self._free_courses(towards_rad, width_m, length_m, step_rad, up_to_rad)
        if is_free is None:
            return 0.0
        middle = len(is_free) // 2
        # from the direction itself outwards, to one side
        is_free_outwards = is_free[middle:] if side is Side.LEFT else is_free[middle::-1]
        n_steps = int(is_free_outwards.argmax())  # to the first free course; 0 if there is none
        return n_steps * step_rad if is_free_outwards[n_steps] else None

    def _free_courses(
        self, towards_rad: float, width_m: float, length_m: float, step_rad: float, up_to_rad: float
    ) -> Flags | None:
        """Return which of the courses that `free_course` tries are free, right to left, `(2 n + 1,)`.

        The arguments are those of `free_course`. None means that the direction itself is free, so that no
        other course need be computed. Cached, because a chart reads the left side and the right side one
        after the other.
        """
        key = (towards_rad, width_m, length_m, step_rad, up_to_rad)
        if key not in self._courses:
            self._courses[key] = self._compute_free_courses(*key)
        return self._courses[key]

    def _compute_free_courses(
        self, towards_rad: float, width_m: float, length_m: float, step_rad: float, up_to_rad: float
    ) -> Flags | None:
        """Return which courses are free, as `_free_courses` does, without its cache.

        A course is free if no point that a beam hit lies in its corridor, and beams cover its direction.
        """
        half_width_m = 0.5 * width_m
        # only these points can lie in the corridor of a course; x along the direction, y to its left
        near_points = _rotation_to(towards_rad) @ self.points_within(math.hypot(length_m, half_width_m))
        near_ahead, near_aside = near_points
        is_direction_blocked = _in_corridor(near_ahead, near_aside, half_width_m, length_m).any()
        if self.beams.is_ring and not is_direction_blocked:
            return None
        turns, rotations = _course_rotations(step_rad, up_to_rad)
        # one product rotates every point to every course: first the distances ahead, then those aside
        rotated = near_points.T @ rotations  # a row for each point
        ahead = rotated[:, : len(turns)]
        aside = rotated[:, len(turns) :]
        is_blocked = _in_corridor(ahead, aside, half_width_m, length_m).any(axis=0)
        is_free = np.asarray(~is_blocked)
        if not self.beams.is_ring:
            is_free &= self.beams.cover(towards_rad + turns)
        return is_free

    def farthest_along(self, *, towards_rad: float, within_rad: float) -> float:
        """Return the distance of the farthest object along a direction: a wall behind all boxes.

        It is the greatest `range * cos(angle)` over the beams within `within_rad` of the direction. A beam
        that hits nothing counts with the greatest range: the beams of a leaning robot pass over a far wall,
        and to take the box beside it for the wall would be worse than to miss the wall for once.

        Returns:
            The distance along `towards_rad`, at most `max_range_m` [m].
        """
        cosines = np.cos(self.beams.angles - towards_rad)
        along = np.where(self.is_hit, self.ranges * cosines, self.max_range_m)
        in_view = along[cosines >= math.cos(within_rad) - ROUNDING]
        return float(in_view.max()) if len(in_view) else self.max_range_m


def _in_corridor(ahead: Floats, aside: Floats, half_width_m: float, length_m: float) -> Flags:
    """Return which points `(...)` [m] lie in a corridor that begins at the sensor.

    Args:
        ahead: distances along the corridor, `(...)` [m].
        aside: distances to the left of its middle, `(...)` [m].
        half_width_m: half the width of the corridor [m].
        length_m: the length of the corridor [m].
    """
    is_inside: Flags = np.abs(aside) <= half_width_m
    is_inside &= ahead > ROUNDING
    is_inside &= ahead < length_m
    return is_inside


def _rotation_to(towards_rad: float) -> Floats:
    """Return the matrix that rotates points into the frame of a course, x along it, `(2, 2)`."""
    c = math.cos(towards_rad)
    s = math.sin(towards_rad)
    return np.array(((c, s), (-s, c)))


def course_turns(step_rad: float, up_to_rad: float) -> Floats:
    """Return the turns that `free_course` tries, right to left, `(2 n + 1,)` [rad]."""
    steps = int(up_to_rad / step_rad + 1e-9)
    turns: Floats = np.arange(-steps, steps + 1, dtype=np.float64) * step_rad
    return turns


@lru_cache(maxsize=64)
def _course_rotations(step_rad: float, up_to_rad: float) -> tuple[Floats, Floats]:
    """Return the turns tried, right to left, `(n,)` [rad], and the matrix that rotates to all, `(2, 2 n)`."""
    turns = course_turns(step_rad, up_to_rad)
    c = np.cos(turns)
    s = np.sin(turns)
    matrix = np.concatenate((np.stack((c, s)), np.stack((-s, c))), axis=1)
    for array in (turns, matrix):
        array.setflags(write=False)
    return turns, matrix
