"""Geometry on a ring of beams: how far a corridor is free, which course is free, how far the wall is.

A beam that met nothing reads the sensor's greatest range; a reading that is not finite or not positive
counts as the same. Distances are from the sensor, not from the robot's middle.

What a scan cannot know: between two beams lie gaps of `range * step`. With 72 beams (5 degrees) these
are 9 cm at 1 m and 17 cm at 2 m, so a box of 20 cm is always met within 2.2 m, and an edge of a corridor
is known to half a gap. Directions outside the scan's sector count as not free.
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

COURSE_STEP_RAD = math.radians(5.0)  # how far apart the courses tried by `free_course` are


ROUNDING = 1e-9
"""No rounding is to decide: a place so little ahead of the sensor [m] is beside it (beams and courses often
lie 5 degrees apart), and a beam that is so little outside of a view (in cosines) is in it."""


class Side(Enum):
    """The side a free course is looked for on; the value is the sign of its angles."""

    LEFT = 1
    RIGHT = -1


@dataclass(frozen=True, eq=False)
class Beams:
    """The directions a scan looks in.

    Attributes:
        angles: of the beams, evenly spaced, positive to the left, `(k,)` [rad].
    """

    angles: Floats

    def __post_init__(self) -> None:
        if self.angles.ndim != 1 or len(self.angles) == 0:
            raise InputError(f"beams of the shape {self.angles.shape}", hint="a scan has one beam or more")

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
        """Whether the beams go all the way round."""
        return self.span + self.step >= TURN - 1e-6

    def see(self, headings: Floats) -> Flags:
        """Return which headings `(n,)` the beams look in, to half a step beyond the outer ones."""
        if self.is_ring:
            return np.ones(headings.shape, dtype=np.bool_)
        seen: Flags = (headings - self.angles.min() + 0.5 * self.step) % TURN <= self.span + self.step
        return seen


@dataclass(frozen=True, eq=False)
class Scan:
    """What a scan read at one instant.

    Attributes:
        beams: where it looked.
        ranges: what was read, `(k,)` [m].
        max_range_m: what a beam reads that meets nothing [m].
    """

    beams: Beams
    ranges: Floats
    max_range_m: float
    _courses: dict[tuple[float, ...], Flags | None] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        return f"Scan({self.beams!r}, nearest {self.ranges.min():.3g} m)"

    @cached_property
    def met(self) -> Flags:
        """Which beams met something, `(k,)`."""
        met: Flags = (self.ranges > 0.0) & (self.ranges < self.max_range_m)  # a NaN fails both
        return met

    def points_within(self, radius_m: float) -> Floats:
        """Return the places nearer than a radius where beams ended, x ahead and y left, `(2, n)` [m]."""
        near = (self.met & (self.ranges <= radius_m)).nonzero()[0]
        points: Floats = self.beams.directions.take(near, axis=1) * self.ranges.take(near)
        return points

    def corridor(self, *, towards_rad: float, width_m: float) -> float:
        """Return the free length of a corridor that begins at the sensor.

        It is the smallest distance ahead of a place a beam ended within half the width to either side.

        Args:
            towards_rad: the corridor's direction, in the frame of the beams [rad].
            width_m: the corridor's whole width [m].

        Returns:
            The free length, at most `max_range_m` [m]; 0 where the scan does not look.
        """
        if not self.beams.is_ring and not self.beams.see(np.array([towards_rad]))[0]:
            return 0.0
        ahead, aside = _turn(towards_rad) @ self.points_within(self.max_range_m)
        inside = ahead[(np.abs(aside) <= 0.5 * width_m) & (ahead > ROUNDING)]
        return min(self.max_range_m, float(inside.min())) if len(inside) else self.max_range_m

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
        free = self._free_courses(towards_rad, width_m, length_m, step_rad, up_to_rad)
        if free is None:
            return 0.0
        middle = len(free) // 2
        outwards = free[middle:] if side is Side.LEFT else free[middle::-1]
        first = int(outwards.argmax())
        return first * step_rad if outwards[first] else None

    def _free_courses(self, *asked: float) -> Flags | None:
        """Return which courses are free, from the rightmost to the leftmost, `(2 n + 1,)`.

        None says that the direction itself is, which answers for both sides.
        Kept, because a chart asks for the left and for the right, one after the other.
        """
        if asked not in self._courses:
            self._courses[asked] = self._try_courses(*asked)
        return self._courses[asked]

    def _try_courses(
        self, towards_rad: float, width_m: float, length_m: float, step_rad: float, up_to_rad: float
    ) -> Flags | None:
        half_m = 0.5 * width_m
        near = _turn(towards_rad) @ self.points_within(math.hypot(length_m, half_m))
        if self.beams.is_ring and not _in_way(near[0], near[1], half_m, length_m).any():
            return None  # mostly nothing is in the way, and no other course need be looked at
        turns, matrix = _fan(step_rad, up_to_rad)
        # One product turns every point to every course: the distances ahead come first, then aside.
        turned = near.T @ matrix
        in_way = _in_way(turned[:, : len(turns)], turned[:, len(turns) :], half_m, length_m)
        free = np.asarray(~in_way.any(axis=0))
        if not self.beams.is_ring:
            free &= self.beams.see(towards_rad + turns)
        return free

    def farthest_along(self, *, towards_rad: float, within_rad: float) -> float:
        """Return how far away the farthest thing lies along a direction: a wall, whatever stands before it.

        It is the greatest `range * cos(angle)` over the beams within `within_rad` of the direction. A
        beam that met nothing counts with the greatest range: a leaning robot's beams pass over a far
        wall, and to take the box beside it for the wall would be worse than to see no wall for once.

        Returns:
            The distance along `towards_rad`, at most `max_range_m` [m].
        """
        off = np.cos(self.beams.angles - towards_rad)
        along = np.where(self.met, self.ranges * off, self.max_range_m)
        counted = along[off >= math.cos(within_rad) - ROUNDING]
        return float(counted.max()) if len(counted) else self.max_range_m


def _in_way(ahead: Floats, aside: Floats, half_m: float, length_m: float) -> Flags:
    """Return which places `(...)` [m] lie in a corridor that begins at the sensor."""
    in_way: Flags = np.abs(aside) <= half_m
    in_way &= ahead > ROUNDING
    in_way &= ahead < length_m
    return in_way


def _turn(towards_rad: float) -> Floats:
    """Return the matrix that gives points as seen by one who looks along `towards_rad`."""
    c, s = math.cos(towards_rad), math.sin(towards_rad)
    return np.array(((c, s), (-s, c)))


def fan(step_rad: float, up_to_rad: float) -> Floats:
    """Return the turns that `free_course` tries, right to left, `(2 n + 1,)` [rad]."""
    steps = int(up_to_rad / step_rad + 1e-9)
    turns: Floats = np.arange(-steps, steps + 1, dtype=np.float64) * step_rad
    return turns


@lru_cache(maxsize=64)
def _fan(step_rad: float, up_to_rad: float) -> tuple[Floats, Floats]:
    """Return the turns tried `(n,)` [rad], right to left, and the matrix `(2, 2 n)` that makes them all."""
    turns = fan(step_rad, up_to_rad)
    c, s = np.cos(turns), np.sin(turns)
    matrix = np.concatenate((np.stack((c, s)), np.stack((-s, c))), axis=1)
    for array in (turns, matrix):
        array.setflags(write=False)
    return turns, matrix
