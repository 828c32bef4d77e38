"""From a motion to every joint's own keys."""

from __future__ import annotations

import math
from collections.abc import Sequence

from posewright.formats.moments import Moment, Timeline
from posewright.formats.text_lines import DECIMALS, QUANTUM_RAD
from posewright.formats.motion_format import KeyTimes
from posewright.formats.tekkotsu.settings import Key, Track

_SLACK_RAD = QUANTUM_RAD / 2.0
"""How far a key that is left out may lie off the straight line."""


def track_of(column: int, timeline: Timeline, key_times: KeyTimes) -> Track:
    """Return the keys of a joint.

    Args:
        column: the joint's place in the motion.
        timeline: the motion's.
        key_times: `OWN` leaves a key out that lies on the straight line between its neighbours, and all
            after the last angle that the joint is given; `ALL` has every moment.

    Returns:
        Keys; empty for a joint that is never given an angle. Where it stays before it has one, a key of
        weight 0 says so: a joint without it would set out at the very start.
    """
    points = [(moment.time_ms, float(moment.angles[column])) for moment in timeline.moments]
    first = next((place for place, (_, angle) in enumerate(points) if not math.isnan(angle)), None)
    if first is None:
        return ()
    if key_times is KeyTimes.OWN:
        kept = _bends(points, first, _last(column, timeline.moments))
    else:
        kept = list(range(first, len(points)))
    waits = first > 0 and points[first - 1][0] > 0
    begun = [Key(points[first - 1][0], 0.0, 0.0)] if waits else []
    return (*begun, *(_key(*points[place]) for place in kept))


def _key(time_ms: int, angle: float) -> Key:
    return Key(time_ms, round(angle, DECIMALS) + 0.0, 1.0)


def _last(column: int, moments: Sequence[Moment]) -> int:
    """Return the place of the last moment that gives the joint an angle; the end, if nobody is given one."""
    if not moments[-1].given.any():
        return len(moments) - 1
    return max(place for place, moment in enumerate(moments) if moment.given[column])


def _bends(points: Sequence[tuple[int, float]], first: int, last: int) -> list[int]:
    """Return the places from `first` to `last` between which the points lie on straight lines, within slack.

    From a point that is kept, the range of slopes that pass every later point within the slack is narrowed
    point by point; the last point whose own slope is within the range is kept next.
    """
    if first < last and len({angle for _, angle in points[first : last + 1]}) == 1:
        return [first, last]  # a joint that stays, as most do
    kept = [first]
    while kept[-1] < last:
        kept.append(_reach(points, kept[-1], last))
    return kept


def _reach(points: Sequence[tuple[int, float]], start: int, last: int) -> int:
    begin_ms, begin = points[start]
    lowest, highest = -math.inf, math.inf
    farthest = start + 1
    for place in range(start + 1, last + 1):
        time_ms, angle = points[place]
        way = time_ms - begin_ms
        if lowest <= (angle - begin) / way <= highest:
            farthest = place
        lowest = max(lowest, (angle - begin - _SLACK_RAD) / way)
        highest = min(highest, (angle - begin + _SLACK_RAD) / way)
        if lowest > highest:
            break
    return farthest
