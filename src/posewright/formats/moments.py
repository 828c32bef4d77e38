"""A motion as poses at whole milliseconds with straight ways between them: what timeline formats can say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, groupby
from typing import NamedTuple

import numpy as np

from posewright.motions import Motion
from posewright.motions.clock import clock_of
from posewright.motions.pose import Angles, Flags

MS_PER_S = 1000.0


class Moment(NamedTuple):
    """Where the joints are at a time; between two moments they go straight.

    Attributes:
        time_ms: since the motion was started [ms].
        angles: (n_joints,) [rad]; a held or free joint is where it was, NaN before it was given an angle.
        given: (n_joints,) whether the keyframe itself gives the joint an angle.
        keyframe: of which keyframe, from 1.
    """

    time_ms: int
    angles: Angles
    given: Flags
    keyframe: int


@dataclass(frozen=True)
class Timeline:
    """The moments of a motion, each a millisecond or more after the one before.

    Attributes:
        moments: in the order of time: every keyframe, and the end of every pause.
        losses: keyframes that are not among them, in words.
        remarks: what had to be shifted, in words.
    """

    moments: tuple[Moment, ...]
    losses: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def end_ms(self) -> int:
        """The time of the last moment [ms]."""
        return self.moments[-1].time_ms


def timeline_of(motion: Motion) -> Timeline:
    """Return one pass of a motion on a timeline of whole milliseconds.

    Times are rounded on the timeline, not way by way, so that the roundings do not add up. Where a joint
    jumps, it leaves a millisecond early.
    """
    rows: list[Moment] = []
    lost: list[int] = []
    jumps = 0
    for time_ms, group in groupby(_moments(motion), key=lambda moment: moment.time_ms):
        alike = _apart(list(group))
        first, last = alike[0], alike[-1]
        before_ms = rows[-1].time_ms if rows else -1
        leaves_early = len(alike) > 1 and before_ms < time_ms - 1 and time_ms > 0
        if leaves_early:
            rows.append(first._replace(time_ms=time_ms - 1))
            jumps += 1
        if len(alike) > 1:
            unseen = alike[1:-1] if leaves_early or _stands(rows, first) else alike[:-1]
            lost += [moment.keyframe for moment in unseen]
        rows.append(last)
    losses = tuple(f"keyframe {number}: another is reached in the same millisecond" for number in lost)
    remarks = (f"jumps take one millisecond: {jumps} of them",) if jumps else ()
    return Timeline(tuple(rows), losses, remarks)


def _moments(motion: Motion) -> Iterator[Moment]:
    angles = np.full(len(motion.joints), np.nan)
    for number, keyframe, (arrives, ends) in zip(count(1), motion.keyframes, times_of(motion), strict=False):
        given = ~np.isnan(keyframe.pose.angles)
        angles = np.where(given, keyframe.pose.angles, angles)
        yield Moment(_ms(arrives), angles, given, number)
        if keyframe.pause_s:
            yield Moment(_ms(ends), angles, given, number)


def times_of(motion: Motion) -> Iterator[tuple[float, float]]:
    """Yield when each keyframe is reached and when its pause is over, as the motion is played [s]."""
    clock = clock_of(motion.keyframes)
    for arrives, ends in zip(clock[::2], clock[1::2], strict=True):
        yield arrives / motion.speed, ends / motion.speed


def _ms(seconds: float) -> int:
    return math.floor(seconds * MS_PER_S + 0.5)


def _apart(moments: list[Moment]) -> list[Moment]:
    """Return moments of one time without those that ask for the same as the one before."""
    apart = moments[:1]
    for moment in moments[1:]:
        same = np.array_equal(apart[-1].angles, moment.angles, equal_nan=True)
        if same:
            apart[-1] = moment._replace(given=apart[-1].given | moment.given)
        else:
            apart.append(moment)
    return apart


def _stands(rows: list[Moment], moment: Moment) -> bool:
    """Tell whether the joints are there already."""
    return bool(rows) and np.array_equal(rows[-1].angles, moment.angles, equal_nan=True)
