"""Short gaps in what is known of where robots are: a camera or a tracker loses one for a moment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.contests.contest import NEW_TRY
from posewright.recordings import Recording, RobotRecord
from posewright.recordings.falls import runs

LONGEST_S = 0.25
"""What a robot did in a longer gap nobody can tell: a fall takes little more [s]."""


def bridged(recording: Recording) -> Recording:
    """Return a recording in which robots that were lost for a moment moved evenly from there to here.

    One that was put elsewhere meanwhile stood until then, and stands there from then on; at the beginning and
    the end a robot stands where it is seen next. Longer gaps stay.
    """
    puts_s = np.sort([event.time_s for event in recording.events_of("touch", NEW_TRY)])
    robots = {name: _bridged(record, recording.times, puts_s) for name, record in recording.robots.items()}
    if all(robots[name] is record for name, record in recording.robots.items()):
        return recording
    return replace(recording, robots=robots)


def _bridged(record: RobotRecord, times: Floats, puts_s: Floats) -> RobotRecord:
    lost = np.isnan(record.base).any(axis=1)
    short = _short(lost, times)
    if not short.any():
        return record
    nearest = _nearest(short, times.searchsorted(puts_s, side="right"))
    base = _filled(record.base, short, nearest, times)
    base[short, 3:] /= np.linalg.norm(base[short, 3:], axis=1, keepdims=True)
    return replace(record, base=base, footprints=_filled(record.footprints, short, nearest, times))


def _short(lost: Any, times: Floats) -> Flags:
    """Return the rows of gaps that are short."""
    short = np.zeros(len(lost), dtype=np.bool_)
    for begin, end in runs(lost):
        lasting_s = times[min(end, len(lost) - 1)] - times[max(begin - 1, 0)]
        short[begin:end] = end - begin < len(lost) and lasting_s <= LONGEST_S
    return short


def _nearest(gaps: Flags, puts: Indices) -> Indices:
    """Return for each row from which it is to be taken; -1 where it lies between two, `(n,)`.

    `puts` are the first rows after the robot was put elsewhere.
    """
    rows = np.arange(len(gaps))
    before = np.maximum.accumulate(np.where(gaps, -1, rows))
    after = np.minimum.accumulate(np.where(gaps, len(gaps), rows)[::-1])[::-1]
    count = np.searchsorted(puts, rows, side="right")
    is_first, is_last = before < 0, after == len(gaps)
    stands = count == count[before]
    carried = count[before] != count[np.minimum(after, len(gaps) - 1)]
    nearest = np.where(is_first | (carried & ~stands & ~is_last), after, before)
    return np.where(is_first | is_last | carried, nearest, -1)


def _filled(values: Floats, gaps: Flags, nearest: Indices, times: Floats) -> Floats:
    flat = np.array(values.reshape(len(values), -1))
    for column in flat.T:
        column[gaps] = np.interp(times[gaps], times[~gaps], column[~gaps])
    held = gaps & (nearest >= 0)
    flat[held] = flat[nearest[held]]
    return flat.reshape(values.shape)
