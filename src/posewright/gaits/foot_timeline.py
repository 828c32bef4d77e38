"""When a foot is told its points: worked out once a gait, so that a step costs little.

The times of a foot are counted from where it leaves the ground: it is in the air first, then down until the cycle is
over. A *window* is the part of this that falls into one step of the gait, from one lifting of feet to the next. Both
ends of every window are points of every foot; there one step can hand over to the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.gaits.air_path import AirPath, air_path
from posewright.gaits.arc import Floats
from posewright.gaits.curves import weights
from posewright.gaits.gait import Gait
from posewright.gaits.timing import GaitTiming

_SAME = 1e-6
"""Points closer than this part of a cycle are one."""

_DIGITS = 12


@dataclass(frozen=True, slots=True, eq=False)
class FootWindow:
    """What one foot does in one step of the gait; all times in [s].

    Attributes:
        lifts: whether the foot leaves the ground at the beginning.
        times: of its points since the beginning of the step: the first 0, the last beyond the end, `(n,)`.
        end: which of them is the end of the step.
        n_air: so many of them are in the air, or touch down, first.
        through_air: of the points in the air, first those before the ground, then those after it, which part of
            the stroke is done, and the height above the ground [m], `(n, 2)`.
        touched: when the foot came down, or comes down; negative in the past.
        leaves: when it leaves the ground next.
        weights: by how much each point, and before them the last one of the step before, counts in each frame,
            `(n_frames, n + 1)`.
    """

    lifts: bool
    times: Floats
    end: int
    n_air: int
    through_air: Floats
    touched: float
    leaves: float
    weights: Floats


@dataclass(frozen=True, slots=True)
class FootTimeline:
    """The windows of one foot, one for each step of the cycle."""

    windows: tuple[FootWindow, ...]


def timelines(gait: Gait, timing: GaitTiming, frame_s: float) -> list[FootTimeline]:
    """Return the timeline of each foot, in the order of the phase table."""
    first = gait.phases.starts[0]
    starts = [start - first for start in gait.phases.starts]  # a walk begins with the first step
    return [
        FootTimeline(tuple(_windows(gait, timing, frame_s, foot, lift - first, starts)))
        for foot, lift in gait.phases.lift.items()
    ]


def _windows(
    gait: Gait, timing: GaitTiming, frame_s: float, foot: str, lift: float, starts: list[float]
) -> list[FootWindow]:
    path = air_path(gait.parameters, timing, foot)
    told = _told(gait, timing, path, [_since(lift, start) for start in starts])
    found = []
    for start, end in zip(starts, [*starts[1:], 1.0], strict=True):
        begins = _since(lift, start) * timing.period_s
        lasts = (end - start) * timing.period_s
        frames = np.arange(int(np.floor(start * timing.frames + _SAME)) + 1, int(end * timing.frames + _SAME) + 1)
        sent = frames * frame_s - start * timing.period_s
        found.append(_window(gait, timing, path, told, begins, lasts, sent))
    return found


def _since(lift: float, start: float) -> float:
    """Return the part of a cycle from when a foot lifts to the start of a step."""
    return round((start - lift) % 1.0, _DIGITS) % 1.0


def _told(gait: Gait, timing: GaitTiming, path: AirPath, starts: list[float]) -> Floats:
    """Return all points of a cycle and of the ones before and after, rising, `(n,)` [s]."""
    air = path.instants * timing.air_s
    ground = timing.air_s + timing.ground_s * np.linspace(0.0, 1.0, gait.parameters.ground_points)
    cycle = np.concatenate([air, ground, np.array(starts) * timing.period_s])
    cycle = np.sort(cycle[cycle < timing.period_s * (1.0 - _SAME)])
    cycle = cycle[np.concatenate([[True], np.diff(cycle) > _SAME * timing.period_s])]
    return np.concatenate([cycle + lap * timing.period_s for lap in (-1.0, 0.0, 1.0, 2.0)])


def _window(
    gait: Gait, timing: GaitTiming, path: AirPath, told: Floats, begins: float, lasts: float, sent: Floats
) -> FootWindow:
    slack = 2.0 * _SAME * timing.period_s
    first = int(np.searchsorted(told, begins - slack))
    last = int(np.searchsorted(told, begins + lasts - slack))
    since_lift = told[first : last + 2]
    air_before = since_lift < timing.air_s + slack if begins < timing.air_s - slack else since_lift < 0.0
    air_after = since_lift > timing.period_s + slack
    when = np.concatenate([since_lift[air_before], since_lift[air_after] - timing.period_s]) / timing.air_s
    knots = told[first - 1 : last + 2] - begins
    return FootWindow(
        lifts=begins < slack,
        times=since_lift - begins,
        end=last - first,
        n_air=int(air_before.sum()),
        through_air=np.stack(path.at(np.clip(when, 0.0, 1.0)), axis=-1),
        touched=timing.air_s - begins,
        leaves=timing.period_s - begins,
        weights=weights(knots, np.clip(sent, 0.0, lasts), gait.interpolation),
    )
