"""Times of the points of each foot, computed once for a gait so that planning a step is fast.

The times of a foot are counted from its lift-off: it is in the air first, then down until the cycle is over.
A *window* is the part of this cycle that falls into one step of the gait, from one lifting of feet to the
next. Both ends of every window are points of every foot, where one step hands over to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from posewright.arrays import Floats
from posewright.gaits.curves import weights
from posewright.gaits.quadruped.parameters import GaitParameters
from posewright.gaits.quadruped.timing import GaitTiming
from posewright.gaits.quadruped.values import QuadrupedValues

_MIN_TRANSFER_SHARE = 1e-9
"""Share of the time in the air between a corner and the middle below which the two coincide."""

_EQUAL_TIME_SHARE = 1e-6
"""Points closer than this share of a cycle are merged."""

_DIGITS = 12


@dataclass(frozen=True, slots=True, eq=False)
class AirPath:
    """Path of a foot through the air: share of its stroke, and height.

    Straight lines lead from the ground up to the rear height, over the central height to the front height and
    down again; the ascent factor sets how far forward the corners are. The same heights over half an ellipse
    make the other extreme, and the shape factor blends the two.

    Attributes:
        rear_m: height at the first corner [m].
        central_m: height in the middle [m].
        front_m: height at the second corner [m].
        ascent_share: share of the time in the air until the first corner, 0 to 1/2.
        ascent_factor: 0 a square, 1 a diamond.
        shape_factor: 0 straight, 1 an ellipse.
    """

    rear_m: float
    central_m: float
    front_m: float
    ascent_share: float
    ascent_factor: float
    shape_factor: float

    def stroke_shares_and_heights(self, phases: Floats) -> tuple[Floats, Floats]:
        """Return the share of the stroke, 0 to 1, and the height [m] of the foot, `(n,)` each.

        Args:
            phases: share of the time in the air, 0 to 1, `(n,)`.
        """
        straight_stroke, straight_height = self._straight(phases)
        elliptic_stroke, elliptic_height = self._elliptic(phases)
        elliptic_share = self.shape_factor
        straight_share = 1.0 - elliptic_share
        return (
            straight_share * straight_stroke + elliptic_share * elliptic_stroke,
            straight_share * straight_height + elliptic_share * elliptic_height,
        )

    @property
    def point_phases(self) -> Floats:
        """Phases of the foot's points in the air, as shares of the time in the air.

        They are lift-off, the corners, the middle, landing, and the midpoints between these.
        """
        corners = np.array([0.0, self.ascent_share, 0.5, 1.0 - self.ascent_share, 1.0])
        return np.unique([*corners, *((corners[1:] + corners[:-1]) / 2.0)])

    def _straight(self, phases: Floats) -> tuple[Floats, Floats]:
        """Return the shares of the stroke and the heights [m] on straight lines, `(n,)` each.

        Args:
            phases: share of the time in the air, 0 to 1, `(n,)`.
        """
        corner_stroke_share = self.ascent_factor / 2.0
        # lift-off, first corner, middle, second corner, landing
        point_phases = np.array([0.0, self.ascent_share, 0.5, 1.0 - self.ascent_share, 1.0])
        stroke_shares = np.array([0.0, corner_stroke_share, 0.5, 1.0 - corner_stroke_share, 1.0])
        heights = np.array([0.0, self.rear_m, self.central_m, self.front_m, 0.0])
        corners_are_in_middle = 0.5 - self.ascent_share < _MIN_TRANSFER_SHARE
        if corners_are_in_middle:  # interpolation needs rising phases
            without_corners = [0, 2, 4]
            point_phases = point_phases[without_corners]
            stroke_shares = stroke_shares[without_corners]
            heights = heights[without_corners]
        return np.interp(phases, point_phases, stroke_shares), np.interp(phases, point_phases, heights)

    def _elliptic(self, phases: Floats) -> tuple[Floats, Floats]:
        """Return the shares of the stroke and the heights [m] on half an ellipse, `(n,)` each."""
        stroke_shares = (1.0 - np.cos(np.pi * phases)) / 2.0
        envelope = np.interp(stroke_shares, [0.0, 0.5, 1.0], [self.rear_m, self.central_m, self.front_m])
        return stroke_shares, envelope * np.sin(np.pi * phases)


def air_path(parameters: GaitParameters, timing: GaitTiming, foot: str) -> AirPath:
    """Return the path of one foot through the air."""
    return AirPath(
        rear_m=parameters.rear_height_m.of(foot),
        central_m=parameters.central_height_m.of(foot),
        front_m=parameters.front_height_m.of(foot),
        ascent_share=timing.ascent_s / timing.air_s,
        ascent_factor=parameters.ascent_factor,
        shape_factor=parameters.shape_factor,
    )


@dataclass(frozen=True, slots=True, eq=False)
class FootWindow:
    """The points of one foot in one step of the gait; all times in [s].

    Attributes:
        lifts_at_start: whether the foot leaves the ground at the beginning.
        times: the times of its points since the beginning of the step: the first 0, the last beyond the end,
            `(n,)`.
        end_point_index: index of the point at the end of the step.
        air_points: the first points, in the air up to touch-down: share of the stroke, and height above the
            ground [m], `(n_air, 2)`; empty if the foot is down already.
        ground_times: the ground times of the next points, on the ground: since touch-down, or since the
            beginning if the foot is down already, `(n_ground,)`. Before `next_air_points` the last is that of
            lift-off.
        next_air_points: the last points, after lift-off, as `air_points`, `(n_next, 2)`.
        interpolation_weights: weights, in each frame, of the last point of the step before and of all
            points, `(n_frames, n + 1)`.
    """

    lifts_at_start: bool
    times: Floats = field(repr=False)
    end_point_index: int
    air_points: Floats = field(repr=False)
    ground_times: Floats = field(repr=False)
    next_air_points: Floats = field(repr=False)
    interpolation_weights: Floats = field(repr=False)

    @property
    def standing(self) -> FootWindow:
        """The window of a foot that has not lifted since the walk began: it is down until it does."""
        n_down = len(self.times) - len(self.next_air_points)
        return replace(self, air_points=self.air_points[:0], ground_times=self.times[:n_down])


@dataclass(frozen=True, slots=True)
class FootTimeline:
    """The windows of one foot, one for each step of the cycle; a window has the foot's points in a step."""

    windows: tuple[FootWindow, ...]


def build_timelines(gait: QuadrupedValues, timing: GaitTiming, frame_s: float) -> list[FootTimeline]:
    """Return the timeline of each foot, in the order of the phase table.

    A walk begins with the first step of the table, so that all shares of the cycle count from there.

    Args:
        gait: the gait.
        timing: how long its phases take.
        frame_s: duration of a frame [s].
    """
    first_start_share = gait.phases.starts[0]
    step_start_shares = [start_share - first_start_share for start_share in gait.phases.starts]
    timelines: list[FootTimeline] = []
    for foot, lift_share_in_table in gait.phases.offsets.items():
        lift_share = lift_share_in_table - first_start_share
        builder = _TimelineBuilder(
            gait, timing, foot, lift_share=lift_share, step_start_shares=step_start_shares
        )
        timelines.append(builder.build(frame_s))
    return timelines


class _TimelineBuilder:
    """Builds the timeline of one foot.

    Attributes:
        _step_start_shares: where the steps of a cycle begin, as shares of it.
        _step_starts_since_lift_s: the same instants since the foot's lift-off, within one cycle [s].
        _point_times_s: the times of the foot's points since its lift-off, over four cycles, rising [s].
        _tolerance_s: instants that differ by less coincide [s].
    """

    def __init__(
        self,
        gait: QuadrupedValues,
        timing: GaitTiming,
        foot: str,
        lift_share: float,
        step_start_shares: list[float],
    ) -> None:
        """Compute the times of the foot's points.

        Args:
            gait: the gait.
            timing: how long its phases take.
            foot: name of the foot.
            lift_share: when the foot lifts, as a share of the cycle.
            step_start_shares: when the steps of a cycle begin, as shares of the cycle.
        """
        self._interpolation = gait.interpolation
        self._timing = timing
        self._step_start_shares = step_start_shares
        # the second `% 1.0` makes 0 of a share that was rounded to 1
        self._step_starts_since_lift_s = [
            round((start_share - lift_share) % 1.0, _DIGITS) % 1.0 * timing.period_s
            for start_share in step_start_shares
        ]
        self._air_path: AirPath = air_path(gait.parameters, timing, foot)
        self._point_times_s = self._cycle_point_times(gait.parameters.ground_points)
        self._tolerance_s = 2.0 * _EQUAL_TIME_SHARE * timing.period_s

    def build(self, frame_s: float) -> FootTimeline:
        """Return the timeline of the foot: a window for each step, with its points and its frames.

        A frame at the instant between two steps belongs to the earlier one.
        """
        n_frames = self._timing.n_frames
        period_s = self._timing.period_s
        step_end_shares = [*self._step_start_shares[1:], 1.0]
        windows = []
        for start_since_lift_s, start_share, end_share in zip(
            self._step_starts_since_lift_s, self._step_start_shares, step_end_shares, strict=True
        ):
            first_frame = int(start_share * n_frames + _EQUAL_TIME_SHARE) + 1
            last_frame = int(end_share * n_frames + _EQUAL_TIME_SHARE)
            duration = (end_share - start_share) * period_s
            frame_times = np.arange(first_frame, last_frame + 1) * frame_s - start_share * period_s
            frame_times = np.clip(frame_times, 0.0, duration)  # no time beyond the step by rounding
            windows.append(self._build_window(start_since_lift_s, duration, frame_times))
        return FootTimeline(tuple(windows))

    def _cycle_point_times(self, ground_points: int) -> Floats:
        """Return the times of the foot's points since its lift-off, rising, `(n,)` [s].

        They cover four cycles, from the one before lift-off to the second after it, as a window may begin
        late in a cycle and needs points before its beginning and beyond its end.
        """
        timing = self._timing
        air_times = self._air_path.point_phases * timing.air_s
        ground_times = timing.air_s + timing.ground_s * np.linspace(0.0, 1.0, ground_points)
        all_times = np.concatenate([air_times, ground_times, self._step_starts_since_lift_s])
        latest_s = timing.period_s * (1.0 - _EQUAL_TIME_SHARE)  # the end is the next lift-off
        is_before_end = all_times < latest_s
        sorted_times = np.sort(all_times[is_before_end])
        is_new = np.diff(sorted_times, prepend=-np.inf) > _EQUAL_TIME_SHARE * timing.period_s
        cycle_times = sorted_times[is_new]
        return np.concatenate([cycle_times + cycle * timing.period_s for cycle in (-1.0, 0.0, 1.0, 2.0)])

    def _build_window(self, start_s: float, duration: float, frame_times: Floats) -> FootWindow:
        """Return the window of a step: the points of the foot in it, and one beyond its end.

        The points are in the air if the step begins while the foot is in the air, then on the ground, and in
        the air again if the foot lifts before the end.

        Args:
            start_s: time of its beginning since the foot's lift-off [s].
            duration: the duration of the step [s].
            frame_times: the times of its frames since its beginning, `(n_frames,)` [s].
        """
        timing = self._timing
        tolerance = self._tolerance_s
        first_point = int(np.searchsorted(self._point_times_s, start_s - tolerance))
        end_point = int(np.searchsorted(self._point_times_s, start_s + duration - tolerance))
        times_since_lift = self._point_times_s[first_point : end_point + 2]  # with one point beyond the end
        times = times_since_lift - start_s
        begins_in_air = start_s < timing.air_s - tolerance
        if begins_in_air:
            time_to_touchdown = timing.air_s - start_s
            is_in_air = times_since_lift < timing.air_s + tolerance
        else:
            time_to_touchdown = 0.0
            is_in_air = np.zeros(times_since_lift.shape, dtype=np.bool_)
        is_in_next_air = times_since_lift > timing.period_s + tolerance
        is_on_ground = ~(is_in_air | is_in_next_air)
        # a spline's slope at the first point also needs the point before it
        spline_point_times = self._point_times_s[first_point - 1 : end_point + 2] - start_s
        return FootWindow(
            lifts_at_start=start_s < tolerance,
            times=times,
            end_point_index=end_point - first_point,
            air_points=self._air_points(times_since_lift[is_in_air]),
            ground_times=times[is_on_ground] - time_to_touchdown,
            next_air_points=self._air_points(times_since_lift[is_in_next_air] - timing.period_s),
            interpolation_weights=weights(spline_point_times, frame_times, self._interpolation),
        )

    def _air_points(self, times_since_lift: Floats) -> Floats:
        """Return the share of the stroke and the height [m] at times since lift-off, `(n, 2)`."""
        phases = np.clip(times_since_lift / self._timing.air_s, 0.0, 1.0)
        return np.stack(self._air_path.stroke_shares_and_heights(phases), axis=-1)
