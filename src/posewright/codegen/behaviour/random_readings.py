"""Random sensor readings for the proof of a behaviour."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from posewright.arrays import Floats
from posewright.codegen.behaviour.wires import SensorField, name_sensor_fields
from posewright.codegen.unit import Records
from posewright.controllers.behaviours import Behaviour
from posewright.controllers.behaviours.sources import ChannelSource, JointSource
from posewright.robots import RangeScan, RangeSensor

MEAN_HOLD_FRAMES = 40
"""Mean number of frames for which a reading stays the same."""

SHARE_NOT_FINITE = 0.02
"""Share of readings that are NaN or infinite, as real sensors return now and then."""


def draw_readings(behaviour: Behaviour, input_dtype: np.dtype[np.void], n: int, seed: int) -> Records:
    """Return random records of inputs as sensors might read them, `(n,)`, one for each servo frame.

    Args:
        behaviour: the behaviour, whose sensors and thresholds the readings are for.
        input_dtype: dtype of its records of inputs.
        n: number of records.
        seed: the seed of the readings.
    """
    rng = np.random.default_rng(seed)
    records = np.zeros(n, input_dtype)
    switching_numbers = _find_switching_numbers(behaviour)
    max_range_of_sensor = {
        sensor.name: sensor.max_range_m
        for sensor in behaviour.sensors
        if isinstance(sensor, RangeScan | RangeSensor)
    }
    is_change_of_scan = rng.random(n) < 1.0 / MEAN_HOLD_FRAMES  # all beams of a scan change at once
    for sensor_field, field_name in name_sensor_fields(behaviour).items():
        is_beam = sensor_field.name in max_range_of_sensor and sensor_field.index is not None
        if is_beam:
            max_range_m = max_range_of_sensor[sensor_field.name]
            records[field_name] = _draw_beam(rng, is_change_of_scan, max_range_m)
        elif sensor_field.kind == "chance":
            records[field_name] = rng.random(n)
        else:
            records[field_name] = _draw_number(rng, n, switching_numbers.get(sensor_field, ()))
    return records


def _find_switching_numbers(behaviour: Behaviour) -> Mapping[SensorField, tuple[float, float]]:
    """Return, for each field with a threshold, the two numbers at which it switches on and off."""
    switching_numbers = {}
    for wire in behaviour.inputs:
        threshold = wire.threshold
        if threshold is None:
            continue
        off_offset = -threshold.hysteresis if threshold.above else threshold.hysteresis
        edges = (threshold.limit, threshold.limit + off_offset)
        if isinstance(wire.source, ChannelSource):
            switching_numbers[SensorField("channel", wire.source.channel, wire.source.index)] = edges
        elif isinstance(wire.source, JointSource):
            kind = "load" if wire.source.load else "joint"
            switching_numbers[SensorField(kind, behaviour.robot.joint_names[wire.source.joint])] = edges
    return switching_numbers


def _hold_until_change(values: Floats, is_change: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """Return values `(n,)` of which only those at a change are taken; each stays until the next change."""
    index_of_last_change = np.maximum.accumulate(np.where(is_change, np.arange(len(values)), 0))
    held_values: Floats = values[index_of_last_change]
    return held_values


def _draw_number(rng: np.random.Generator, n: int, edges: tuple[float, ...]) -> Floats:
    """Return readings `(n,)` around the edges of a threshold, often exactly on one, some not finite.

    Args:
        rng: the random generator.
        n: number of readings.
        edges: the numbers at which the threshold switches; empty without a threshold, which gives readings
            around 0.
    """
    centres = np.array(edges or (0.0,))
    hysteresis = np.ptp(centres)
    deviation = hysteresis + 0.05 if edges else math.pi
    centre_of_reading = rng.choice(centres, n)
    scales = rng.choice((0.0, 0.25, 1.0), n)  # 0: exactly on an edge
    new_readings = centre_of_reading + scales * rng.normal(0.0, deviation, n)
    readings = _hold_until_change(new_readings, rng.random(n) < 1.0 / MEAN_HOLD_FRAMES)
    # a sensor that fails does so for some ten frames
    is_not_finite = _hold_until_change(rng.random(n), rng.random(n) < 0.1) < SHARE_NOT_FINITE
    readings[is_not_finite] = rng.choice((math.nan, math.inf, -math.inf), int(is_not_finite.sum()))
    readings[0] = centres[0]  # the first reading must be a number
    return readings


def _draw_beam(
    rng: np.random.Generator, is_change: np.ndarray[tuple[int], np.dtype[np.bool_]], max_range_m: float
) -> Floats:
    """Return readings of one beam of a scan, `(n,)` [m].

    Most are the greatest range; others are of an object within 0.3 m, 0.6 m or the greatest range.

    Args:
        rng: the random generator.
        is_change: at which frames the reading changes, `(n,)`.
        max_range_m: the greatest range of the scanner.
    """
    n = len(is_change)
    limits_m = rng.choice((0.3, 0.6, max_range_m), n)
    ranges = np.where(rng.random(n) < 0.7, max_range_m, rng.random(n) * limits_m)
    ranges[rng.random(n) < SHARE_NOT_FINITE] = math.nan
    return _hold_until_change(ranges, is_change)
