"""A motion as poses at whole steps of time with straight ways between them: what timeline formats can say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from typing import NamedTuple

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.motions import Motion
from posewright.motions.pose import clock_of

MS_PER_S = 1000.0

_HALF = 0.5 + 1e-9  # half a step counts as a whole one, whichever way floats fell
_NO_SHIFT_S = 1e-9  # what floats do to a time is not worth a word


class Moment(NamedTuple):
    """Where the joints are at a time; between two moments they go straight.

    Attributes:
        time_ms: since the motion was started [ms].
        angles: (n_joints,) [rad]; a held or free joint is where it was, NaN before it was given an angle.
        given: (n_joints,) whether the keyframe itself gives the joint an angle.
        keyframe: of which keyframe, from 1; 0 for the pose it begins in.
        exact_s: the time before it was rounded [s].
    """

    time_ms: int
    angles: Floats
    given: Flags
    keyframe: int
    exact_s: float


@dataclass(frozen=True)
class Timeline:
    """The moments of a motion, each a step or more after the one before.

    Attributes:
        moments: in the order of time: every keyframe, and the end of every pause.
        times_s: when each keyframe of the motion is reached here [s]; None for one that is not among them.
    """

    moments: tuple[Moment, ...]
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    times_s: tuple[float | None, ...] = ()

    @property
    def end_ms(self) -> int:
        """The time of the last moment [ms]."""
        return self.moments[-1].time_ms


def timeline_of(
    motion: Motion, step_ms: int = 1, *, begins: bool = False, leaves_early: bool = True
) -> Timeline:
    """Return one pass of a motion on a timeline of whole steps.

    Times are rounded on the timeline, not way by way, so that the roundings do not add up.

    Args:
        motion: the motion.
        step_ms: length of a step [ms].
        begins: whether there must be a pose at time 0, even if it only sets out for its first keyframe then.
        leaves_early: whether a joint that jumps leaves a step early, which is little where steps are short;
            else, of keyframes within a step, the last stays.
    """
    rows: list[Moment] = []
    losses: list[str] = []
    placed: dict[int, int] = {}
    jumps = 0
    for time_ms, group in groupby(_moments(motion, step_ms, begins=begins), key=lambda each: each.time_ms):
        runs = _runs(group)
        before_ms = rows[-1].time_ms if rows else -step_ms
        early = leaves_early and len(runs) > 1 and time_ms > 0 and before_ms < time_ms - step_ms
        if early:
            rows.append(_as_one(runs[0])._replace(time_ms=time_ms - step_ms))
            jumps += 1
        if early or (len(runs) > 1 and before_ms == time_ms - step_ms and _stands(rows, runs[0][0])):
            _place(placed, runs.pop(0), rows[-1].time_ms)
        rows.append(_as_one(runs[-1]))
        _place(placed, runs[-1], time_ms)
        losses += _merged(runs, step_ms)
    remarks = [f"jumps take {step_ms} ms: {jumps} of them"] if jumps else []
    remarks += rounding_remarks(step_ms, [row.exact_s - _shown_s(row, step_ms) for row in rows])
    numbers = range(1, len(motion.keyframes) + 1)
    times = tuple(placed[n] / MS_PER_S if n in placed else None for n in numbers)
    return Timeline(tuple(rows), tuple(losses), tuple(remarks), times)


def rounding_remarks(step_ms: float, shifts_s: Sequence[float]) -> Iterator[str]:
    """Yield that times are rounded to a step [ms], and by how much at most, where any was shifted [s]."""
    off_s = max(map(abs, shifts_s), default=0.0)
    if off_s > _NO_SHIFT_S:
        yield f"times are rounded to {step_ms:g} ms, by up to {off_s * MS_PER_S:.2g} ms"


def _shown_s(row: Moment, step_ms: int) -> float:
    """Return when a moment is, were its joints not to leave a step early [s]."""
    return _steps(row.exact_s, step_ms) * step_ms / MS_PER_S


def _moments(motion: Motion, step_ms: int, *, begins: bool) -> Iterator[Moment]:
    angles = np.full(len(motion.joints), np.nan)
    if begins:
        angles = motion.resolved_poses()[0].angles
        if motion.keyframes[0].reach_s > 0.0:
            yield Moment(0, angles, ~np.isnan(angles), 0, 0.0)
    for number, keyframe, times in zip(count(1), motion.keyframes, times_of(motion), strict=False):
        given = ~np.isnan(keyframe.pose.angles)
        angles = np.where(given, keyframe.pose.angles, angles)
        for time_s in times if keyframe.pause_s else times[:1]:
            yield Moment(_steps(time_s, step_ms) * step_ms, angles, given, number, time_s)


def times_of(motion: Motion) -> Iterator[tuple[float, float]]:
    """Yield when each keyframe is reached and when its pause is over, as the motion is played [s]."""
    clock = clock_of(motion.keyframes)
    for arrives, ends in zip(clock[::2], clock[1::2], strict=True):
        yield arrives / motion.speed, ends / motion.speed


def _steps(seconds: float, step_ms: int) -> int:
    return math.floor(seconds * MS_PER_S / step_ms + _HALF)


def _runs(moments: Iterator[Moment]) -> list[list[Moment]]:
    """Return moments of one time as runs of those that ask for the same."""
    runs: list[list[Moment]] = []
    for moment in moments:
        if runs and np.array_equal(runs[-1][-1].angles, moment.angles, equal_nan=True):
            runs[-1].append(moment)
        else:
            runs.append([moment])
    return runs


def _as_one(run: list[Moment]) -> Moment:
    if len(run) == 1:
        return run[0]
    return run[-1]._replace(given=np.logical_or.reduce([moment.given for moment in run]))


def _place(placed: dict[int, int], run: list[Moment], time_ms: int) -> None:
    for moment in run:
        placed.setdefault(moment.keyframe, time_ms)


def _merged(runs: list[list[Moment]], step_ms: int) -> Iterator[str]:
    """Yield which keyframes are not seen, as the last of these runs stays."""
    last = runs[-1][-1].keyframe
    for number in dict.fromkeys(moment.keyframe for run in runs[:-1] for moment in run):
        what = f"keyframe {number}" if number else "the pose it begins in"
        yield f"{what}: within the same {_milliseconds(step_ms)} as keyframe {last}, which stays"


def _milliseconds(step_ms: int) -> str:
    return "millisecond" if step_ms == 1 else f"{step_ms} ms"


def _stands(rows: list[Moment], moment: Moment) -> bool:
    return bool(rows) and np.array_equal(rows[-1].angles, moment.angles, equal_nan=True)
