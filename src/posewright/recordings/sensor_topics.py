"""The sensors of a trace as topics.

`/sensors/CHANNEL` holds each channel exactly and is read back; `/scan/...`, `/range/...` and `/imu`
say the same again in the words viewers know, where the header's sensor cards tell what a channel is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.errors import InputError
from posewright.recordings import layouts, schemas
from posewright.recordings.cdr import sequence_length, stamps, to_ns
from posewright.recordings.recording import Recording
from posewright.recordings.topic import Topic
from posewright.recordings.turns import from_roll_pitch_yaw

READINGS = "/sensors/"

_IMU_CHANNELS = ("orientation", "angular_velocity", "acceleration")


def sensor_topics(trace: Recording) -> Iterator[Topic]:
    """Yield the topics that have one message a tick."""
    times_ns = to_ns(trace.tick_times)
    for channel, values in trace.sensors.items():
        layout = layouts.reading(values.shape[1])
        messages = layout.pack(len(values), time_s=trace.tick_times, values=values)
        yield Topic(READINGS + channel, schemas.READING, times_ns, messages)
        card = trace.header.sensors.get(channel, {})
        yield from _distances(channel, card, values, times_ns)
        if channel.endswith(".orientation"):
            yield from _imu(channel.removesuffix(".orientation"), trace.sensors, times_ns)


def _distances(
    channel: str, card: Mapping[str, Any], values: NDArray[np.float64], times_ns: NDArray[np.uint64]
) -> Iterator[Topic]:
    n, stamp, readings = len(values), stamps(times_ns), values.astype(np.float32)
    if card.get("kind") == "range_scan":
        scan = layouts.laser_scan(channel, card, values.shape[1])
        messages = scan.pack(n, stamp=stamp, ranges=readings)
        yield Topic(f"/scan/{channel}", schemas.LASER_SCAN, times_ns, messages)
    elif card.get("kind") == "range" and values.shape[1] == 1:
        messages = layouts.single_range(channel, card).pack(n, stamp=stamp, range=readings[:, 0])
        yield Topic(f"/range/{channel}", schemas.RANGE, times_ns, messages)


def _imu(
    name: str, sensors: Mapping[str, NDArray[np.float64]], times_ns: NDArray[np.uint64]
) -> Iterator[Topic]:
    angles, velocity, acceleration = (sensors.get(f"{name}.{part}") for part in _IMU_CHANNELS)
    if angles is None or velocity is None or acceleration is None:
        return
    if not angles.shape == velocity.shape == acceleration.shape == (len(times_ns), 3):
        return
    messages = layouts.imu(name).pack(
        len(times_ns),
        stamp=stamps(times_ns),
        orientation=from_roll_pitch_yaw(angles),
        angular_velocity=velocity,
        acceleration=acceleration,
    )
    yield Topic("/imu" if name == "imu" else f"/imu/{name}", schemas.IMU, times_ns, messages)


def read_readings(messages: Mapping[str, Sequence[bytes]]) -> dict[str, NDArray[np.float64]]:
    """Return the sensors of a Recording from all messages by topic.

    Raises:
        InputError: messages that are not readings.
    """
    sensors = {}
    for topic, readings in messages.items():
        if topic.startswith(READINGS) and readings:
            size = sequence_length(readings[0], layouts.READING_LENGTH_OFFSET)
            if not 0 <= size <= len(readings[0]) // 8:
                raise InputError(f"a reading on {topic} is damaged")
            sensors[topic.removeprefix(READINGS)] = layouts.reading(size).unpack(readings)["values"]
    return sensors
