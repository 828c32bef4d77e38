"""What a flash lidar read is in a recording as a picture of depths and as points, as ROS 2 has them."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from posewright.recordings import Recording, mcap_bytes

Make = Callable[..., Recording]
CARD = {
    "kind": "flash_lidar",
    "mount": "base",
    "max_range_m": 5.0,
    "horizontal_fov_deg": 90.0,
    "vertical_fov_deg": 60.0,
    "columns": 3,
    "rows": 2,
}


@pytest.fixture(scope="module")
def topics(make_recording: Make) -> dict[str, list[Any]]:
    recording = make_recording(rows=40, decisions=8, robots=1)
    name, record = next(iter(recording.robots.items()))
    header = replace(record.header, sensors={"flash": CARD})
    distances = np.tile([1.0, 2.0, 5.0, 1.0, 2.0, 3.0], (8, 1))
    times = np.arange(8, dtype=np.float64) / 10.0
    decisions = replace(record.decisions, times=times, sensors={"flash": distances})
    changed_recording = replace(
        recording,
        header=replace(recording.header, robots={name: header}),
        robots={name: replace(record, header=header, decisions=decisions)},
    )
    messages_by_topic: dict[str, list[Any]] = {}
    for schema, channel, message in make_reader(io.BytesIO(mcap_bytes(changed_recording))).iter_messages():
        assert schema is not None
        decoder = DecoderFactory().decoder_for(channel.message_encoding, schema)
        if "flash" in channel.topic and decoder is not None:
            messages_by_topic.setdefault(channel.topic.split("/")[2], []).append(decoder(message.data))
    return messages_by_topic


def test_depths_are_along_the_middle_and_nothing_is_no_number(topics: dict[str, list[Any]]) -> None:
    image = topics["depth"][0]
    assert (image.height, image.width, image.encoding, image.step) == (2, 3, "32FC1", 12)
    depths = np.frombuffer(bytes(image.data), dtype=np.float32).reshape(2, 3)
    up = np.tan(np.radians(30.0))
    assert depths[0, 1] == pytest.approx(2.0 / np.sqrt(1.0 + up**2), abs=1e-6)
    assert np.isnan(depths[0, 2])


def test_points_are_as_far_as_the_beams_read(topics: dict[str, list[Any]]) -> None:
    cloud = topics["points"][0]
    assert [(field.name, field.offset, field.datatype) for field in cloud.fields] == [
        ("x", 0, 7),
        ("y", 4, 7),
        ("z", 8, 7),
    ]
    points = np.frombuffer(bytes(cloud.data), dtype=np.float32).reshape(2, 3, 3)
    assert np.linalg.norm(points, axis=-1)[1] == pytest.approx([1.0, 2.0, 3.0], abs=1e-6)
    assert points[0, 0, 1] > 0 > points[1, 2, 2]


def test_pictures_and_points_come_four_times_a_second(topics: dict[str, list[Any]]) -> None:
    stamps = [image.header.stamp.sec + 1e-9 * image.header.stamp.nanosec for image in topics["depth"]]
    assert stamps == pytest.approx([0.0, 0.3, 0.6])
    assert len(topics["points"]) == len(stamps)
