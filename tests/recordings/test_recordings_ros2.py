"""Others read our recordings: the official MCAP reader, and a ROS 2 decoder by the schemas inside."""

from __future__ import annotations

import io
import json
import math
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.records import ChunkIndex
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory

from posewright.recordings import Recording, mcap_bytes

MakeTrace = Callable[..., Recording]


@pytest.fixture(scope="module")
def trace(make_trace: MakeTrace) -> Recording:
    return make_trace(rows=40, ticks=12)


@pytest.fixture(scope="module")
def recording(trace: Recording) -> bytes:
    return mcap_bytes(trace)


@pytest.fixture(scope="module")
def topics(recording: bytes) -> dict[str, list[Any]]:
    reader = make_reader(io.BytesIO(recording), validate_crcs=True, decoder_factories=[DecoderFactory()])
    found: dict[str, list[Any]] = {}
    for schema, channel, message in reader.iter_messages():
        assert schema is not None
        if channel.message_encoding == "json":
            decoded = json.loads(message.data)
        else:
            decoder = DecoderFactory().decoder_for(channel.message_encoding, schema)
            assert decoder is not None
            decoded = decoder(message.data)
        found.setdefault(channel.topic, []).append(decoded)
    return found


def quaternion(turn: Any) -> list[float]:
    return [turn.w, turn.x, turn.y, turn.z]


def vector(value: Any) -> list[float]:
    return [value.x, value.y, value.z]


def pose(transform: Any) -> list[float]:
    return [*vector(transform.translation), *quaternion(transform.rotation)]


def test_joint_states_and_commands(trace: Recording, topics: dict[str, list[Any]]) -> None:
    states, commands = topics["/joint_states"], topics["/joint_commands"]
    np.testing.assert_array_equal([state.position for state in states], trace.joint_positions)
    np.testing.assert_array_equal([state.effort for state in states], trace.joint_efforts)
    np.testing.assert_array_equal([command.position for command in commands], trace.joint_commands)
    assert {tuple(message.name) for message in states + commands} == {trace.header.joints}
    assert {len(message.velocity) for message in states + commands} == {0}
    stamps = [message.header.stamp.sec + message.header.stamp.nanosec * 1e-9 for message in states]
    np.testing.assert_allclose(stamps, trace.times, atol=1e-9)


def test_transforms(trace: Recording, topics: dict[str, list[Any]]) -> None:
    messages = [message.transforms for message in topics["/tf"]]
    names = [transform.child_frame_id for transform in messages[0]]
    assert names == ["base", *(f"box_{i}" for i in range(1, 7)), "foot_0", "foot_1"]
    assert {transform.header.frame_id for transforms in messages for transform in transforms} == {"field"}
    np.testing.assert_array_equal([pose(transforms[0].transform) for transforms in messages], trace.base)
    for box in range(6):
        poses = [pose(transforms[1 + box].transform) for transforms in messages]
        np.testing.assert_array_equal(poses, trace.boxes[:, box])
    feet = [vector(transforms[7].transform.translation) for transforms in messages]
    np.testing.assert_allclose(feet, trace.footprints[:, 0].mean(axis=1))


def test_rows_and_footprints(trace: Recording, topics: dict[str, list[Any]]) -> None:
    rows = topics["/row"]
    np.testing.assert_array_equal([row.time_s for row in rows], trace.times)
    np.testing.assert_array_equal([row.footprints for row in rows], trace.footprints.reshape(40, -1))
    np.testing.assert_array_equal([row.foot_contacts for row in rows], trace.foot_contacts)
    np.testing.assert_array_equal([row.box_contacts for row in rows], trace.box_contacts)
    polygons = [
        [vector(point) for point in message.polygon.points] for message in topics["/footprint/foot_1"]
    ]
    np.testing.assert_array_equal(polygons, trace.footprints[:, 1].astype(np.float32))


def test_sensors(trace: Recording, topics: dict[str, list[Any]]) -> None:
    for channel, values in trace.sensors.items():
        readings = topics[f"/sensors/{channel}"]
        np.testing.assert_array_equal([reading.values for reading in readings], values)
        np.testing.assert_array_equal([reading.time_s for reading in readings], trace.tick_times)


def test_a_scan_says_where_its_beams_point(trace: Recording, topics: dict[str, list[Any]]) -> None:
    scans = topics["/scan/ring"]
    np.testing.assert_array_equal([scan.ranges for scan in scans], trace.sensors["ring"].astype(np.float32))
    angles = (scans[0].angle_min, scans[0].angle_max, scans[0].angle_increment)
    np.testing.assert_allclose(angles, np.radians([-90.0, 90.0, 5.0]), rtol=1e-6)
    assert (scans[0].range_max, scans[0].header.frame_id, len(scans[0].intensities)) == (5.0, "ring", 0)


def test_a_range_says_how_far_it_sees(trace: Recording, topics: dict[str, list[Any]]) -> None:
    ranges = topics["/range/laser"]
    np.testing.assert_array_equal([r.range for r in ranges], trace.sensors["laser"][:, 0].astype(np.float32))
    assert (ranges[0].radiation_type, ranges[0].max_range, ranges[0].variance) == (1, 5.0, 0.0)
    assert ranges[0].field_of_view == pytest.approx(math.radians(1.0))


def test_sensors_sit_where_their_cards_say_and_nowhere_where_those_do_not(
    topics: dict[str, list[Any]],
) -> None:
    static = topics["/tf_static"][0].transforms
    frames = [(frame.header.frame_id, frame.child_frame_id) for frame in static]
    assert frames == [("base", "laser"), ("base", "ring")]
    assert vector(static[0].transform.translation) == [0.1, 0.02, -0.03]
    assert quaternion(static[0].transform.rotation) == [0.8, 0.0, 0.0, 0.6]


def test_an_imu_turns_roll_pitch_yaw_into_a_quaternion(
    trace: Recording, topics: dict[str, list[Any]]
) -> None:
    from scipy.spatial.transform import Rotation

    messages = topics["/imu"]
    turns = Rotation.from_quat([quaternion(m.orientation) for m in messages], scalar_first=True)
    np.testing.assert_allclose(
        turns.as_matrix(),
        Rotation.from_euler("xyz", trace.sensors["imu.orientation"]).as_matrix(),
        atol=1e-12,
    )
    velocities = [vector(message.angular_velocity) for message in messages]
    np.testing.assert_array_equal(velocities, trace.sensors["imu.angular_velocity"])
    accelerations = [vector(message.linear_acceleration) for message in messages]
    np.testing.assert_array_equal(accelerations, trace.sensors["imu.acceleration"])


def test_the_chart_and_the_events_are_json(trace: Recording, topics: dict[str, list[Any]]) -> None:
    ticks = topics["/chart"]
    assert [tick["state"] for tick in ticks] == list(trace.chart_states)
    assert [tick["inputs"] for tick in ticks] == list(trace.chart_inputs)
    assert [tick["playing"] for tick in ticks] == list(trace.playing)
    touch = topics["/events"][1]
    assert (touch["kind"], touch["level"], touch["timestamp"]) == (
        "touch",
        3,
        {"sec": 0, "nsec": 200_000_000},
    )
    assert touch["message"] == "touch: reason fall, x_m 1.25, yaw_deg -3.0"


def test_the_scene_shows_field_and_boxes(topics: dict[str, list[Any]]) -> None:
    (scene,) = topics["/scene"]
    field, *boxes = scene["entities"]
    assert (field["frame_id"], len(field["cubes"])) == ("field", 1 + 4 + 2)
    assert [box["frame_id"] for box in boxes] == [f"box_{i}" for i in range(1, 7)]
    assert boxes[0]["cubes"][0]["size"] == {"x": 0.2, "y": 0.2, "z": 0.5}


def test_every_checksum_index_and_count_is_right(recording: bytes) -> None:
    records = list(StreamReader(io.BytesIO(recording), validate_crcs=True).records)
    reader = make_reader(io.BytesIO(recording), validate_crcs=True)
    summary = reader.get_summary()
    assert summary is not None
    assert summary.statistics is not None
    messages = [message for _, _, message in reader.iter_messages()]
    inside = [record for record in records if type(record).__name__ == "Message"]
    assert summary.statistics.message_count == len(messages) == len(inside)
    times = [message.log_time for message in inside]
    assert times == sorted(times)
    for topic in ("/tf", "/chart"):
        picked = [message for _, _, message in reader.iter_messages(topics=topic, starting_at=500_000_000)]
        assert picked == [m for m in messages if m in picked]
        assert picked
    footer = recording[-8 - 20 :]
    start = int.from_bytes(footer[:8], "little")
    assert int.from_bytes(footer[16:20], "little") == zlib.crc32(recording[start:-12])
    assert all(isinstance(record, ChunkIndex) for record in summary.chunk_indexes)


def test_message_indexes_point_at_messages_in_every_chunk(make_trace: MakeTrace) -> None:
    recording = mcap_bytes(make_trace(rows=900, ticks=40))
    reader = make_reader(io.BytesIO(recording), validate_crcs=True)
    summary = reader.get_summary()
    assert summary is not None
    assert len(summary.chunk_indexes) > 1
    rows = [message.log_time for _, _, message in reader.iter_messages(topics="/row", reverse=True)]
    assert rows == [round(i / 32 * 1e9) for i in range(900, 0, -1)]


def test_the_documents_and_the_header_are_in_the_file(trace: Recording, recording: bytes) -> None:
    reader = make_reader(io.BytesIO(recording), validate_crcs=True)
    texts = {attachment.name: attachment.data.decode() for attachment in reader.iter_attachments()}
    assert texts == dict(trace.header.documents)
    (about,) = reader.iter_metadata()
    assert about.metadata["digest"].endswith(trace.digest())
    assert json.loads(about.metadata["header"])["robot"] == "robotis_bioloid"
