"""Short gaps in what is known of where robots are: a camera or a tracker loses one for a moment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.recordings import Recording, RobotRecord

LONGEST_S = 0.25
"""What a robot did in a longer gap nobody can tell: a fall takes little more [s]."""


def bridged(recording: Recording) -> Recording:
    """Return a recording in which robots that were lost for a moment moved evenly from there to here.

    Longer gaps, and those at the beginning and the end, stay.
    """
    robots = {name: _bridged(record, recording.times) for name, record in recording.robots.items()}
    if all(robots[name] is record for name, record in recording.robots.items()):
        return recording
    return replace(recording, robots=robots)


def _bridged(record: RobotRecord, times: Floats) -> RobotRecord:
    lost = np.isnan(record.base).any(axis=1)
    short = _short(lost, times)
    if not short.any():
        return record
    base = _filled(record.base, short, times)
    base[short, 3:] /= np.linalg.norm(base[short, 3:], axis=1, keepdims=True)
    return replace(record, base=base, footprints=_filled(record.footprints, short, times))


def _short(lost: Any, times: Floats) -> Flags:
    """Return the rows of gaps that are short and have a row on either side."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], lost, [False]]).astype(int))).reshape(-1, 2)
    short = np.zeros(len(lost), dtype=np.bool_)
    for begin, end in edges.tolist():
        if begin > 0 and end < len(lost) and times[end] - times[begin - 1] <= LONGEST_S:
            short[begin:end] = True
    return short


def _filled(values: Floats, gaps: Flags, times: Floats) -> Floats:
    flat = np.array(values.reshape(len(values), -1))
    for column in flat.T:
        column[gaps] = np.interp(times[gaps], times[~gaps], column[~gaps])
    return flat.reshape(values.shape)
