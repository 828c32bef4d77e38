"""Interpolation between keyframes: the joint angles of a motion at any number of times.

A pass of a motion is a sequence of *segments*: segment `i` leads from row `i` to row `i + 1` of the resolved
poses and stays there for the keyframe's pause. A segment owns the times after its beginning, up to and
including its end, so that at a keyframe's own time the angles are exactly the keyframe's.
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
    keyframe_arrivals,
    pause_ends,
    segment_slopes,
    smooth,
    trapezoid,
)

RELATIVE_SNAP = 1e-12
"""Times nearer than this to a keyframe, relative to the time played, count as the keyframe's: rounding."""


@dataclass(frozen=True, eq=False)
class ResolvedPoses:
    """The poses of one pass with the angles of held joints filled in; row 0 is where the pass begins.

    Attributes:
        angles: (n_keyframes + 1, n_joints) [rad]; for a free joint the last angle it had; NaN for a joint
            that never had one.
        free: (n_keyframes + 1, n_joints) true where the torque is off.
    """

    angles: Floats = field(repr=False)
    free: Flags = field(repr=False)

    @classmethod
    def of(cls, begin_angles: Floats, begin_free: Flags, poses: Sequence[Pose]) -> ResolvedPoses:
        """Return poses with their held joints filled in, each from the last pose that sets the joint.

        Args:
            begin_angles: (n_joints,) where the pass begins [rad]; NaN for a joint without an angle.
            begin_free: (n_joints,) true where the torque is off at the beginning.
            poses: the poses of the pass.
        """
        angles = np.stack([begin_angles, *(pose.angles for pose in poses)])
        has_angle = ~np.isnan(angles)
        free = np.zeros(angles.shape, dtype=np.bool_)
        for row, pose in enumerate(poses, 1):
            if pose.free:
                free[row] = pose.free_mask
        rows = np.arange(len(angles))[:, None]
        columns = np.arange(angles.shape[1])
        is_set = has_angle | free  # a held joint stays as it was before
        free[0] = begin_free
        # for each row and joint, the index of the last row up to it that has an angle, or sets the joint
        last_with_angle = np.maximum.accumulate(np.where(has_angle, rows, 0))
        last_set = np.maximum.accumulate(np.where(is_set, rows, 0))
        return cls(angles[last_with_angle, columns], free[last_set, columns])


@dataclass(frozen=True, eq=False)
class KeyframeInterpolator:
    """Interpolates the joints of a motion at speed 1.

    Attributes:
        keyframes: the keyframes of one pass.
        first_pass: the poses of the first pass, from wherever the motion is started.
        later_passes: the poses of every further pass, which begins where the last one ended.
        n_passes: number of passes; infinite for ever.
    """

    keyframes: tuple[Keyframe, ...] = field(repr=False)
    first_pass: ResolvedPoses = field(repr=False)
    later_passes: ResolvedPoses = field(repr=False)
    n_passes: float

    @cached_property
    def starts(self) -> Floats:
        """(n_keyframes,) when each segment begins [s]."""
        return self._clock[:-1]

    @cached_property
    def pause_ends(self) -> Floats:
        """(n_keyframes,) when the pause after each keyframe is over [s]."""
        return self._clock[1:]

    @cached_property
    def arrivals(self) -> Floats:
        """(n_keyframes,) when each keyframe is reached [s]."""
        return keyframe_arrivals(self.keyframes)

    @cached_property
    def _clock(self) -> Floats:
        """Zero and the partial sums of times, each rounded once: ten steps of 0.1 s make 1 s."""
        return np.append(0.0, pause_ends(self.keyframes))

    @property
    def period(self) -> float:
        """Time of one pass [s]."""
        return float(self.pause_ends[-1])

    def evaluate(self, times: Floats) -> tuple[Floats, Flags, Indices]:
        """Return where the joints are.

        Args:
            times: (n,) [s] since the motion was started, clamped to its beginning and its end.

        Returns:
            Angles (n, n_joints) [rad] with NaN if free or never set, free flags (n, n_joints), and
            the index (n,) of the keyframe that is being reached or held.
        """
        passes, pass_times = self._split_passes(np.asarray(times, dtype=np.float64))
        segments = self._segment_at(pass_times)
        reach_s = self.arrivals[segments] - self.starts[segments]
        elapsed_s = pass_times - self.starts[segments]
        is_jump = reach_s <= 0.0
        divisor = np.where(is_jump, 1.0, reach_s)  # np.where divides for jumps too
        share = np.where(is_jump, 1.0, elapsed_s / divisor)
        # exactly 1 on arrival, whatever the division's rounding
        u = np.where(pass_times == self.arrivals[segments], 1.0, np.clip(share, 0.0, 1.0))
        angles, free = self.evaluate_segments(passes, segments, u)
        # at its very beginning the motion is still in the pose it starts from, unless it jumps at once
        not_started = (passes == 0) & (pass_times <= 0.0) & (self.keyframes[0].reach_s > 0.0)
        angles[not_started] = self.first_pass.angles[0]
        free[not_started] = self.first_pass.free[0]
        angles[free] = np.nan
        return angles, free, segments

    def evaluate_segments(self, passes: Indices, segments: Indices, u: Floats) -> tuple[Floats, Flags]:
        """Return joint angles [rad], and which joints are free, at n points of segments.

        Args:
            passes: (n,) index of the pass of each point.
            segments: (n,) index of its segment.
            u: (n,) its share of the segment's time, 0..1.

        Returns:
            Angles (n, n_joints) [rad], NaN for joints that are free; and flags of free joints
            (n, n_joints). A joint is free from the very beginning of the segment into such a keyframe.
        """
        # 0 is the first pass, 1 any later one: all of these have the same poses
        pass_kinds = np.minimum(passes, 1)
        angles_of_poses = np.stack([self.first_pass.angles, self.later_passes.angles])
        free_of_poses = np.stack([self.first_pass.free, self.later_passes.free])
        # a segment leads from the pose of its index to the next one
        begin = angles_of_poses[pass_kinds, segments]
        end = angles_of_poses[pass_kinds, segments + 1]
        is_free = free_of_poses[pass_kinds, segments + 1]
        with np.errstate(invalid="ignore"):  # infinite angles are reported by the design rules
            angles = self._interpolate(begin, end, passes, segments, u=u[:, None])
        angles[is_free] = np.nan
        return angles, is_free

    def _split_passes(self, times: Floats) -> tuple[Indices, Floats]:
        """Return the pass and the time within it for times since the motion was started, (n,) each.

        The instant between two passes belongs to the earlier one. Times that differ from those of a keyframe
        by rounding only become those of the keyframe.
        """
        if self.period == 0.0:
            return np.zeros(times.shape, np.intp), np.zeros(times.shape)
        times = np.clip(times, 0.0, self.n_passes * self.period)
        tolerance = RELATIVE_SNAP * np.maximum(1.0, times)
        passes = np.maximum(np.ceil((times - tolerance) / self.period) - 1.0, 0.0)
        pass_times = np.clip(times - passes * self.period, 0.0, self.period)
        for keyframe_times in (self.arrivals, self.pause_ends):
            pass_times = _snap(pass_times, keyframe_times, tolerance)
        return passes.astype(np.intp), pass_times

    def _segment_at(self, pass_times: Floats) -> Indices:
        """Return the segment (n,) at times within a pass (n,)."""
        last_segment = len(self.keyframes) - 1
        segments = np.minimum(np.searchsorted(self.pause_ends, pass_times, side="left"), last_segment)
        # where a jump (reach_s 0) begins at this very time, the later keyframe wins
        return np.where(pass_times == self.pause_ends[segments], self._after_jumps[segments], segments)

    @cached_property
    def _after_jumps(self) -> Indices:
        """(n_keyframes,) index of the last keyframe that is jumped to from each; its own if none."""
        last_jumped_to = np.arange(len(self.keyframes), dtype=np.intp)
        for i in range(len(last_jumped_to) - 2, -1, -1):  # from the end, so that rows of jumps add up
            if self.keyframes[i + 1].reach_s == 0.0:
                last_jumped_to[i] = last_jumped_to[i + 1]
        return last_jumped_to

    def _interpolate(
        self, begin: Floats, end: Floats, passes: Indices, segments: Indices, u: Floats
    ) -> Floats:
        """Return angles between two poses by each segment's easing, (n, n_joints) [rad].

        Args:
            begin: (n, n_joints) where the segments begin [rad].
            end: (n, n_joints) where they end [rad].
            passes: (n,) index of the pass.
            segments: (n,) index of the segment.
            u: (n, 1) share of the segment's time, 0..1.
        """
        angles = _blend(begin, end, self._blend_shares(u, segments))
        is_spline = self._uses(Easing.PCHIP, segments)
        if is_spline.any():
            begin_slopes, end_slopes = self._slopes
            slope_passes = self._slope_pass(passes[is_spline])
            spline_segments = segments[is_spline]
            reach = np.array([keyframe.reach_s for keyframe in self.keyframes])[spline_segments, None]
            angles[is_spline] = _hermite(
                begin[is_spline],
                end=end[is_spline],
                begin_slope=reach * begin_slopes[slope_passes, spline_segments],
                end_slope=reach * end_slopes[slope_passes, spline_segments],
                u=u[is_spline],
            )
        return angles

    def _blend_shares(self, u: Floats, segments: Indices) -> Floats:
        """Return the share of the distance covered after share `u` of the time, (n, 1).

        Splines, which need more than their two ends, get the linear share; `_interpolate` overwrites it.
        """
        accel = np.array([keyframe.accel_share for keyframe in self.keyframes])[segments, None]
        is_trapezoid = self._uses(Easing.TRAPEZOID, segments)[:, None]
        is_smooth = self._uses(Easing.SMOOTH, segments)[:, None]
        return np.where(is_smooth, smooth(u), np.where(is_trapezoid, trapezoid(u, accel), u))

    def _uses(self, easing: Easing, segments: Indices) -> Flags:
        """Return which segments have an easing, (n,)."""
        return np.array([keyframe.easing is easing for keyframe in self.keyframes])[segments]

    def _slope_pass(self, passes: Indices) -> Indices:
        """Map each pass to a row of `_slopes`: the first pass, any in the middle, the last."""
        if math.isinf(self.n_passes):
            return np.minimum(passes, 1)
        last_pass = int(self.n_passes) - 1
        last_row = min(last_pass, 2)
        return np.where(passes == 0, 0, np.where(passes == last_pass, last_row, 1))

    @cached_property
    def _slopes(self) -> tuple[Floats, Floats]:
        """Speeds of splines at the two ends of every segment, each (n_passes, n_keyframes, n_joints) [rad/s].

        They are the tangents of the keyframes, or else PCHIP's. Three passes are enough: those between the
        first and the last have the same slopes.
        """
        n_passes = int(min(self.n_passes, 3))
        curves = [Curve()]  # a jump ends a curve, and another one begins after it
        for pass_index in range(n_passes):
            pass_begin = pass_index * self.period
            poses = self.first_pass if pass_index == 0 else self.later_passes
            angles = np.nan_to_num(poses.angles, posinf=0.0, neginf=0.0)
            for segment, keyframe in enumerate(self.keyframes):
                if keyframe.reach_s == 0.0:
                    curves.append(Curve())
                else:
                    segment_begin = pass_begin + self.starts[segment]
                    curves[-1].add_segment(
                        pass_index, segment, begin=segment_begin, begin_row=angles[segment]
                    )
                curves[-1].add_knot(pass_begin + self.arrivals[segment], angles[segment + 1])
                curves[-1].add_knot(pass_begin + self.pause_ends[segment], angles[segment + 1])
        shape = (n_passes, len(self.keyframes), self.first_pass.angles.shape[1])
        begin_slopes, end_slopes = segment_slopes([curve for curve in curves if curve.segments], shape)
        self._set_tangents(begin_slopes, end_slopes)
        return begin_slopes, end_slopes

    def _set_tangents(self, begin_slopes: Floats, end_slopes: Floats) -> None:
        """Overwrite slopes by the tangents that keyframes state.

        Args:
            begin_slopes: at the begin of every segment, `(n_passes, n_keyframes, n_joints)` [rad/s].
            end_slopes: at the end of every segment, of the same shape [rad/s].
        """
        last_segment = len(self.keyframes) - 1
        for segment, keyframe in enumerate(self.keyframes):
            for joint, tangent in (keyframe.tangents or {}).items():
                column = keyframe.pose.joints.index(joint)
                end_slopes[:, segment, column] = tangent.arrive_rad_s
                if segment < last_segment:
                    begin_slopes[:, segment + 1, column] = tangent.leave_rad_s
                else:  # the segment that follows is the first one of the next pass
                    begin_slopes[1:, 0, column] = tangent.leave_rad_s

    def spline_tangents(self) -> tuple[Floats, Floats]:
        """Return the speeds at which joints arrive at each keyframe and leave it, on splines.

        The segment that leaves a keyframe is that of the next one. The last keyframe is left by the first
        segment of the second pass, if there is one.

        Returns:
            Speeds of arriving and of leaving, (n_keyframes, n_joints) each [rad/s]; NaN where the segment is
            no spline, or there is none.
        """
        n_joints = self.first_pass.angles.shape[1]
        arriving = np.full((len(self.keyframes), n_joints), np.nan)
        leaving = arriving.copy()
        for segment, keyframe in enumerate(self.keyframes):
            is_spline = keyframe.easing is Easing.PCHIP and keyframe.reach_s > 0.0
            if not is_spline:
                continue
            begin_slopes, end_slopes = self._slopes  # by pass and segment
            first_pass = 0
            second_pass = 1
            arriving[segment] = end_slopes[first_pass, segment]
            if segment > 0:
                leaving[segment - 1] = begin_slopes[first_pass, segment]
            elif len(begin_slopes) > second_pass:
                leaving[-1] = begin_slopes[second_pass, segment]
        return arriving, leaving


def _snap(times: Floats, marks: Floats, tolerance: Floats) -> Floats:
    """Return times, each moved to a mark that is nearer than the tolerance, if there is one, (n,).

    Args:
        times: (n,) the times.
        marks: (m,) the marks, rising.
        tolerance: (n,) the greatest distance of each time from a mark.
    """
    index_of_next_mark = np.searchsorted(marks, times)
    for index in (index_of_next_mark - 1, index_of_next_mark):
        mark = marks[np.clip(index, 0, len(marks) - 1)]
        times = np.where(np.abs(mark - times) <= tolerance, mark, times)
    return times


def _blend(begin: Floats, end: Floats, share: Floats) -> Floats:
    """Return the linear blend of `begin` and `end`, exact at both ends.

    The second half is computed from `end`, since begin + 1.0 * distance may differ from it by rounding.
    """
    distance = end - begin
    return np.where(share < 0.5, begin + share * distance, end - (1.0 - share) * distance)


def _hermite(begin: Floats, end: Floats, begin_slope: Floats, end_slope: Floats, u: Floats) -> Floats:
    """Return the cubic over `u` in 0..1 with these values and slopes at its ends [rad]."""
    v = 1.0 - u
    return _blend(begin, end, u * u * (3.0 - 2.0 * u)) + u * v * (begin_slope * v - end_slope * u)
