"""Random sensor readings for the proof of a behaviour."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from posewright.arrays import Floats
from posewright.codegen.behaviour.wires import Slot, find_slots
from posewright.codegen.unit import Records
from posewright.controllers.behaviours import Behaviour
from posewright.controllers.behaviours.sources import ChannelSource, JointSource
from posewright.robots import RangeScan, RangeSensor

MEAN_HOLD_FRAMES = 40
"""Mean number of frames for which a reading stays the same."""

SHARE_NOT_FINITE = 0.02
"""Share of readings that are NaN or infinite, as real sensors return now and then."""


def draw_readings(behaviour: Behaviour, inputs: np.dtype[np.void], n: int, seed: int) -> Records:
    """Return random records of inputs as sensors might read them, `(n,)`."""
    rng = np.random.default_rng(seed)
    records = np.zeros(n, inputs)
    thresholds = _threshold_edges(behaviour)
    range_sensors = RangeScan | RangeSensor
    max_ranges = {
        sensor.name: sensor.max_range_m for sensor in behaviour.sensors if isinstance(sensor, range_sensors)
    }
    scan_changes = rng.random(n) < 1.0 / MEAN_HOLD_FRAMES  # all beams of a scan change at once
    for slot, name in find_slots(behaviour).items():
        if slot.name in max_ranges and slot.index is not None:
            records[name] = _draw_beam(rng, scan_changes, max_ranges[slot.name])
        elif slot.kind == "chance":
            records[name] = rng.random(n)
        else:
            records[name] = _draw_number(rng, n, thresholds.get(slot, ()))
    return records


def _threshold_edges(behaviour: Behaviour) -> Mapping[Slot, tuple[float, float]]:
    """Return the two numbers at which the threshold of a slot switches, on and off."""
    edges_of = {}
    for wire in behaviour.inputs:
        threshold = wire.threshold
        if threshold is None:
            continue
        off_offset = -threshold.hysteresis if threshold.above else threshold.hysteresis
        edges = (threshold.limit, threshold.limit + off_offset)
        if isinstance(wire.source, ChannelSource):
            edges_of[Slot("channel", wire.source.channel, wire.source.index)] = edges
        elif isinstance(wire.source, JointSource):
            kind = "load" if wire.source.load else "joint"
            edges_of[Slot(kind, behaviour.robot.joint_names[wire.source.joint])] = edges
    return edges_of


def _hold(values: Floats, is_change: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """Return values that stay the same from one change to the next, `(n,)`."""
    last_change = np.maximum.accumulate(np.where(is_change, np.arange(len(values)), 0))
    held_values: Floats = values[last_change]
    return held_values


def _draw_number(rng: np.random.Generator, n: int, edges: tuple[float, ...]) -> Floats:
    """Return readings `(n,)` around the edges of a threshold, often exactly on one, some not finite.

    Without a threshold, `edges` is empty and the readings are around 0.
    """
    centres = np.array(edges or (0.0,))
    deviation = np.ptp(centres) + 0.05 if edges else math.pi
    numbers = rng.choice(centres, n)
    scales = rng.choice((0.0, 0.25, 1.0), n)  # 0: exactly on an edge
    numbers = numbers + scales * rng.normal(0.0, deviation, n)
    readings = _hold(numbers, rng.random(n) < 1.0 / MEAN_HOLD_FRAMES)
    is_not_finite = _hold(rng.random(n), rng.random(n) < 0.1) < SHARE_NOT_FINITE
    readings[is_not_finite] = rng.choice((math.nan, math.inf, -math.inf), int(is_not_finite.sum()))
    readings[0] = centres[0]  # the first reading must be a number
    return readings


def _draw_beam(
    rng: np.random.Generator, is_change: np.ndarray[tuple[int], np.dtype[np.bool_]], max_range_m: float
) -> Floats:
    """Return readings of one beam, `(n,)` [m]: often the greatest range, else something near or far."""
    n = len(is_change)
    distances = rng.choice((0.3, 0.6, max_range_m), n)
    ranges = np.where(rng.random(n) < 0.7, max_range_m, rng.random(n) * distances)
    ranges[rng.random(n) < SHARE_NOT_FINITE] = math.nan
    return _hold(ranges, is_change)
