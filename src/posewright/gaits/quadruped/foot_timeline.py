"""When a foot is told its points: worked out once a gait, so that a step costs little.

The times of a foot are counted from where it leaves the ground: it is in the air first, then down until the
cycle is over. A *window* is the part of this that falls into one step of the gait, from one lifting of feet
to the next. Both ends of every window are points of every foot; there one step can hand over to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from posewright.arrays import Floats
from posewright.gaits.curves import weights
from posewright.gaits.quadruped.gait import Gait
from posewright.gaits.quadruped.parameters import GaitParameters
from posewright.gaits.quadruped.timing import GaitTiming

_LEAST_TRANSFER = 1e-9
"""Part of the time in the air between a corner and the middle; less is rounding of none."""

_SAME = 1e-6
"""Points closer than this part of a cycle are one."""

_DIGITS = 12


@dataclass(frozen=True, slots=True, eq=False)
class AirPath:
    """How far along its stroke a foot is, and how high, while it is in the air.

    Straight lines lead from the ground up to the rear height, over the central height to the front height and
    down again; the corners are as far forward as the ascent factor says. The same heights over half an
    ellipse make the other extreme, and the shape factor blends the two.

    Attributes:
        rear_m: height at the first corner [m].
        central_m: height in the middle [m].
        front_m: height at the second corner [m].
        ascent: part of the time in the air until the first corner, 0 to 1/2.
        ascent_factor: 0 a square, 1 a diamond.
        shape_factor: 0 straight, 1 an ellipse.
    """

    rear_m: float
    central_m: float
    front_m: float
    ascent: float
    ascent_factor: float
    shape_factor: float

    def at(self, when: Floats) -> tuple[Floats, Floats]:
        """Return how far along, 0 to 1, and how high [m] the foot is, `(n,)` each.

        Args:
            when: part of the time in the air, 0 to 1, `(n,)`.
        """
        straight_along, straight_height = self._straight(when)
        round_along, round_height = self._round(when)
        share = self.shape_factor
        return (
            (1.0 - share) * straight_along + share * round_along,
            (1.0 - share) * straight_height + share * round_height,
        )

    @property
    def instants(self) -> Floats:
        """The parts of the time in the air at which the foot is told where to be.

        They are lifting off, the corners, the middle, landing, and half way between any two of these.
        """
        corners = np.array([0.0, self.ascent, 0.5, 1.0 - self.ascent, 1.0])
        return np.unique([*corners, *((corners[1:] + corners[:-1]) / 2.0)])

    def _straight(self, when: Floats) -> tuple[Floats, Floats]:
        corner = self.ascent_factor / 2.0
        times = np.array([0.0, self.ascent, 0.5, 1.0 - self.ascent, 1.0])
        along = np.array([0.0, corner, 0.5, 1.0 - corner, 1.0])
        heights = np.array([0.0, self.rear_m, self.central_m, self.front_m, 0.0])
        if 0.5 - self.ascent < _LEAST_TRANSFER:  # up and down at once: the corners are the middle
            times, along, heights = times[::2], along[::2], heights[::2]
        return np.interp(when, times, along), np.interp(when, times, heights)

    def _round(self, when: Floats) -> tuple[Floats, Floats]:
        along = (1.0 - np.cos(np.pi * when)) / 2.0
        envelope = np.interp(along, [0.0, 0.5, 1.0], [self.rear_m, self.central_m, self.front_m])
        return along, envelope * np.sin(np.pi * when)


def air_path(parameters: GaitParameters, timing: GaitTiming, foot: str) -> AirPath:
    """Return the way of one foot through the air."""
    return AirPath(
        rear_m=parameters.rear_height_m.of(foot),
        central_m=parameters.central_height_m.of(foot),
        front_m=parameters.front_height_m.of(foot),
        ascent=timing.ascent_s / timing.air_s,
        ascent_factor=parameters.ascent_factor,
        shape_factor=parameters.shape_factor,
    )


@dataclass(frozen=True, slots=True, eq=False)
class FootWindow:
    """What one foot does in one step of the gait; all times in [s].

    Attributes:
        lifts: whether the foot leaves the ground at the beginning.
        times: of its points since the beginning of the step: the first 0, the last beyond the end, `(n,)`.
        end: which of them is the end of the step.
        air: of the points in the air it begins with, touching down among them, which part of the stroke is
            done, and the height above the ground [m], `(n_air, 2)`; empty where it is down already.
        ground: of the points on the ground that follow, the times since it touched down, or since the
            beginning where it is down already, `(n_ground,)`. Before `next_air` the last is that of leaving.
        next_air: as `air`, of the points after it has left the ground, `(n_next, 2)`.
        weights: by how much each point, and before them the last one of the step before, counts in each
            frame, `(n_frames, n + 1)`.
    """

    lifts: bool
    times: Floats = field(repr=False)
    end: int
    air: Floats = field(repr=False)
    ground: Floats = field(repr=False)
    next_air: Floats = field(repr=False)
    weights: Floats = field(repr=False)

    @property
    def standing(self) -> FootWindow:
        """The same of a foot that has not lifted since the walk began: it is down until it does."""
        n_down = len(self.times) - len(self.next_air)
        return replace(self, air=self.air[:0], ground=self.times[:n_down])


@dataclass(frozen=True, slots=True)
class FootTimeline:
    """The windows of one foot, one for each step of the cycle."""

    windows: tuple[FootWindow, ...]


def timelines(gait: Gait, timing: GaitTiming, frame_s: float) -> list[FootTimeline]:
    """Return the timeline of each foot, in the order of the phase table."""
    first = gait.phases.starts[0]
    starts = [start - first for start in gait.phases.starts]  # a walk begins with the first step
    return [
        _Foot(gait, timing, foot, offset - first, starts).timeline(frame_s)
        for foot, offset in gait.phases.offsets.items()
    ]


class _Foot:
    """One foot, which lifts at the part `offset` of a cycle, while its timeline is made."""

    def __init__(self, gait: Gait, timing: GaitTiming, foot: str, offset: float, starts: list[float]) -> None:
        self._interpolation = gait.interpolation
        self._timing = timing
        self._starts = starts
        self._since_lift = [
            round((start - offset) % 1.0, _DIGITS) % 1.0 * timing.period_s for start in starts
        ]
        self._path: AirPath = air_path(gait.parameters, timing, foot)
        self._told = self._instants(gait.parameters.ground_points)
        self._slack = 2.0 * _SAME * timing.period_s

    def timeline(self, frame_s: float) -> FootTimeline:
        """Return the windows of all steps of a cycle."""
        frames = self._timing.frames
        windows = []
        for since_lift, start, end in zip(
            self._since_lift, self._starts, [*self._starts[1:], 1.0], strict=True
        ):
            numbers = np.arange(int(start * frames + _SAME) + 1, int(end * frames + _SAME) + 1)
            lasts = (end - start) * self._timing.period_s
            sent = np.clip(numbers * frame_s - start * self._timing.period_s, 0.0, lasts)
            windows.append(self._window(since_lift, lasts, np.asarray(sent, dtype=np.float64)))
        return FootTimeline(tuple(windows))

    def _instants(self, ground_points: int) -> Floats:
        """Return when the foot is told a point, in a cycle and the ones around it, rising, `(n,)` [s]."""
        timing = self._timing
        air = self._path.instants * timing.air_s
        ground = timing.air_s + timing.ground_s * np.linspace(0.0, 1.0, ground_points)
        cycle = np.concatenate([air, ground, self._since_lift])
        cycle = np.sort(cycle[cycle < timing.period_s * (1.0 - _SAME)])
        cycle = cycle[np.diff(cycle, prepend=-np.inf) > _SAME * timing.period_s]
        return np.concatenate([cycle + lap * timing.period_s for lap in (-1.0, 0.0, 1.0, 2.0)])

    def _window(self, begins: float, lasts: float, sent: Floats) -> FootWindow:
        """Return what falls into the step that begins so long after the foot lifted [s]."""
        timing, slack = self._timing, self._slack
        first = int(np.searchsorted(self._told, begins - slack))
        last = int(np.searchsorted(self._told, begins + lasts - slack))
        since_lift = self._told[first : last + 2]
        times = since_lift - begins
        is_up = begins < timing.air_s - slack
        air = since_lift < (timing.air_s + slack if is_up else 0.0)
        next_air = since_lift > timing.period_s + slack
        return FootWindow(
            lifts=begins < slack,
            times=times,
            end=last - first,
            air=self._through_air(since_lift[air]),
            ground=times[~(air | next_air)] - (timing.air_s - begins if is_up else 0.0),
            next_air=self._through_air(since_lift[next_air] - timing.period_s),
            weights=weights(self._told[first - 1 : last + 2] - begins, sent, self._interpolation),
        )

    def _through_air(self, since_lift: Floats) -> Floats:
        """Return which part of the stroke is done, and the height [m], `(n, 2)`."""
        parts = np.clip(since_lift / self._timing.air_s, 0.0, 1.0)
        return np.stack(self._path.at(parts), axis=-1)
