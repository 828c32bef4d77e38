"""The trajectory of a motion: where every joint is at any time of a motion, for one time or a million.

A pass of a motion is a row of *ways*: way `i` leads from row `i` to row `i + 1` of the resolved poses and
stays there for the keyframe's pause. A way owns the times after its beginning, up to and including its end,
so that a keyframe's own time shows the keyframe exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.motions.pose import (
    Curve,
    Easing,
    Keyframe,
    Pose,
    arrivals_of,
    ends_of,
    slopes_of_ways,
    smooth,
    trapezoid,
)

SNAP = 1e-12
"""Times nearer than this to a keyframe, relative to the time played, are the keyframe's own: rounding."""


@dataclass(frozen=True, eq=False)
class Resolved:
    """The poses of one pass with nothing held left to look up; row 0 is where the pass begins.

    Attributes:
        angles: (n_keyframes + 1, n_joints) [rad]; for a free joint the last angle it was given; NaN for a
            joint that nobody ever gave one.
        free: (n_keyframes + 1, n_joints).
    """

    angles: Floats = field(repr=False)
    free: Flags = field(repr=False)

    @classmethod
    def of(cls, begin_angles: Floats, begin_free: Flags, poses: Sequence[Pose]) -> Resolved:
        """Carry held joints forward from the beginning through all `poses`."""
        angles = np.stack([begin_angles, *(pose.angles for pose in poses)])
        given = ~np.isnan(angles)
        free = np.zeros(angles.shape, dtype=np.bool_)
        for row, pose in enumerate(poses, 1):
            if pose.free:
                free[row] = pose.free_mask
        rows, columns = np.arange(len(angles))[:, None], np.arange(angles.shape[1])
        said = given | free  # a pose lets a joint go, or gives it an angle; else it is as before
        free[0] = begin_free
        last_given = np.maximum.accumulate(np.where(given, rows, 0))
        last_said = np.maximum.accumulate(np.where(said, rows, 0))
        return cls(angles[last_given, columns], free[last_said, columns])


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The ways of all joints through a motion at speed 1.

    Attributes:
        first: the poses of the first pass, from wherever the motion is started.
        later: the poses of every further pass, which begins where the last one ended.
        passes: how often; infinite for ever.
    """

    keyframes: tuple[Keyframe, ...] = field(repr=False)
    first: Resolved = field(repr=False)
    later: Resolved = field(repr=False)
    passes: float

    @cached_property
    def leaves(self) -> Floats:
        """(n_keyframes,) when each way begins [s]."""
        return self._clock[:-1]

    @cached_property
    def ends(self) -> Floats:
        """(n_keyframes,) when the pause after each keyframe is over [s]."""
        return self._clock[1:]

    @cached_property
    def arrives(self) -> Floats:
        """(n_keyframes,) when each keyframe is reached [s]."""
        return arrivals_of(self.keyframes)

    @cached_property
    def _clock(self) -> Floats:
        """Zero and the partial sums of times, each rounded once: ten steps of 0.1 s make 1 s."""
        return np.append(0.0, ends_of(self.keyframes))

    @property
    def period(self) -> float:
        """Time of one pass [s]."""
        return float(self.ends[-1])

    def evaluate(self, times: Floats) -> tuple[Floats, Flags, Indices]:
        """Return where the joints are.

        Args:
            times: (n,) [s] since the motion was started; before it stands at its beginning, after in its end.

        Returns:
            Angles (n, n_joints) [rad] with NaN where free or never given, free flags (n, n_joints), and
            the index (n,) of the keyframe that is being reached or held.
        """
        passes, local = self._split(np.asarray(times, dtype=np.float64))
        way = self._way_at(local)
        reach = self.arrives[way] - self.leaves[way]
        gone = np.where(reach > 0.0, (local - self.leaves[way]) / np.where(reach > 0.0, reach, 1.0), 1.0)
        u = np.where(local == self.arrives[way], 1.0, np.clip(gone, 0.0, 1.0))
        angles, free = self.along(passes, way, u)
        waiting = (passes == 0) & (local <= 0.0) & (self.keyframes[0].reach_s > 0.0)
        angles[waiting], free[waiting] = self.first.angles[0], self.first.free[0]
        angles[free] = np.nan
        return angles, free, way

    def along(self, passes: Indices, way: Indices, u: Floats) -> tuple[Floats, Flags]:
        """Return angles and free flags, each (n, n_joints), after share `u` (n,) of the time of ways (n,).

        A free joint shows NaN from the very beginning of the way on.
        """
        lap = np.minimum(passes, 1)
        rows = np.stack([self.first.angles, self.later.angles])
        with np.errstate(invalid="ignore"):  # an infinite angle is for the design rules to find
            angles = self._ease(rows[lap, way], rows[lap, way + 1], passes, way, u[:, None])
        free = np.stack([self.first.free, self.later.free])[lap, way + 1]
        angles[free] = np.nan
        return angles, free

    def _split(self, times: Floats) -> tuple[Indices, Floats]:
        """Return the pass (n,) and the time within it (n,); a seam belongs to the pass that ends there."""
        if self.period == 0.0:
            return np.zeros(times.shape, np.intp), np.zeros(times.shape)
        times = np.clip(times, 0.0, self.passes * self.period)
        tolerance = SNAP * np.maximum(1.0, times)
        passes = np.maximum(np.ceil((times - tolerance) / self.period) - 1.0, 0.0)
        local = np.clip(times - passes * self.period, 0.0, self.period)
        for marks in (self.arrives, self.ends):
            local = _snap(local, marks, tolerance)
        return passes.astype(np.intp), local

    def _way_at(self, local: Floats) -> Indices:
        way = np.minimum(np.searchsorted(self.ends, local, side="left"), len(self.keyframes) - 1)
        # where a jump (reach_s 0) begins at this very moment, the later keyframe wins
        return np.where(local == self.ends[way], self._after_jumps[way], way)

    @cached_property
    def _after_jumps(self) -> Indices:
        after = np.arange(len(self.keyframes), dtype=np.intp)
        for i in range(len(after) - 2, -1, -1):
            if self.keyframes[i + 1].reach_s == 0.0:
                after[i] = after[i + 1]
        return after

    def _ease(self, begin: Floats, end: Floats, passes: Indices, way: Indices, u: Floats) -> Floats:
        angles = _between(begin, end, self._shares(u, way))
        curved = self._uses(Easing.PCHIP, way)
        if curved.any():
            into, out = self._slopes
            at = self._lap(passes[curved]), way[curved]
            reach = np.array([k.reach_s for k in self.keyframes])[at[1], None]
            angles[curved] = _hermite(
                begin[curved], end[curved], reach * into[at], reach * out[at], u[curved]
            )
        return angles

    def _shares(self, u: Floats, way: Indices) -> Floats:
        accel = np.array([k.accel_share for k in self.keyframes])[way, None]
        trapezoids = self._uses(Easing.TRAPEZOID, way)[:, None]
        smooths = self._uses(Easing.SMOOTH, way)[:, None]
        return np.where(smooths, smooth(u), np.where(trapezoids, trapezoid(u, accel), u))

    def _uses(self, easing: Easing, way: Indices) -> Flags:
        return np.array([k.easing is easing for k in self.keyframes])[way]

    def _lap(self, passes: Indices) -> Indices:
        """Map a pass onto the few whose curves differ: the first, one in the middle, the last."""
        if math.isinf(self.passes):
            return np.minimum(passes, 1)
        last = int(self.passes) - 1
        return np.where(passes == 0, 0, np.where(passes == last, min(last, 2), 1))

    @cached_property
    def _slopes(self) -> tuple[Floats, Floats]:
        """PCHIP's speeds at the two ends of every way, each (n_laps, n_keyframes, n_joints) [rad/s]."""
        laps = int(min(self.passes, 3))
        curves = [Curve()]
        for lap in range(laps):
            begins = lap * self.period
            rows = np.nan_to_num((self.later if lap else self.first).angles, posinf=0.0, neginf=0.0)
            for way, keyframe in enumerate(self.keyframes):
                if keyframe.reach_s == 0.0:  # a jump breaks the curve
                    curves.append(Curve())
                else:
                    curves[-1].add_way((lap, way), begins + self.leaves[way], rows[way])
                curves[-1].add_knot(begins + self.arrives[way], rows[way + 1])
                curves[-1].add_knot(begins + self.ends[way], rows[way + 1])
        shape = (laps, len(self.keyframes), self.first.angles.shape[1])
        return slopes_of_ways([curve for curve in curves if curve.ways], shape)


def _snap(times: Floats, marks: Floats, tolerance: Floats) -> Floats:
    """Return `times` (n,), put on the nearest of the rising `marks` (m,) where within `tolerance` (n,)."""
    above = np.searchsorted(marks, times)
    for index in (above - 1, above):
        mark = marks[np.clip(index, 0, len(marks) - 1)]
        times = np.where(np.abs(mark - times) <= tolerance, mark, times)
    return times


def _between(begin: Floats, end: Floats, share: Floats) -> Floats:
    """Return the point `share` of the way from `begin` to `end`, exact at both ends."""
    way = end - begin
    return np.where(share < 0.5, begin + share * way, end - (1.0 - share) * way)


def _hermite(begin: Floats, end: Floats, into: Floats, out: Floats, u: Floats) -> Floats:
    """Return the cubic over `u` in 0..1 with these ends and these slopes there [rad]."""
    rest = 1.0 - u
    return _between(begin, end, u * u * (3.0 - 2.0 * u)) + u * rest * (into * rest - out * u)
