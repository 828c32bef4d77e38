"""Where the beams of a trace's range sensors ended, seen from above."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posewright.recordings import Recording
from posewright.rotation import heading

Floats = NDArray[np.float64]

_REACH = 0.999
"""A reading nearer to the greatest range than this share hit nothing."""

_SCANS_SHOWN_HZ = 1.0
"""Scans have many beams: so many of them a second are enough to see the walls."""


def beam_hits(trace: Recording) -> Floats:
    """Return the points that range sensors and scans hit, `(n, 2)` in the field frame [m].

    The sensors' places on the robot are left out: they are within a hand's breadth of the base.
    """
    found = [np.zeros((0, 2))]
    for name, card in trace.header.sensors.items():
        if name not in trace.sensors or not len(trace.tick_times):
            continue
        if card["kind"] == "range":
            bearings = np.radians([float(card["yaw_deg"])])
            found.append(_hits(trace, trace.sensors[name], bearings, card["max_range_m"], 1))
        elif card["kind"] == "range_scan":
            bearings = np.radians(card["start_deg"] + card["step_deg"] * np.arange(card["beams"]))
            every = max(1, round(len(trace.tick_times) / (trace.duration_s * _SCANS_SHOWN_HZ + 1.0)))
            found.append(_hits(trace, trace.sensors[name], bearings, card["max_range_m"], every))
    return np.concatenate(found)


def _hits(trace: Recording, ranges: Floats, bearings: Floats, max_range_m: float, every: int) -> Floats:
    rows = np.clip(np.searchsorted(trace.times, trace.tick_times[::every]), 0, trace.n_rows - 1)
    base = trace.base[rows]
    angles = heading(base[:, 3:])[:, np.newaxis] + bearings
    reach = ranges[::every]
    points = base[:, np.newaxis, :2] + reach[..., np.newaxis] * np.stack([np.cos(angles), np.sin(angles)], -1)
    hit: Floats = points[reach < _REACH * max_range_m]
    return hit
