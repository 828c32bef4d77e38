"""Others read our recordings: the official MCAP reader, and a ROS 2 decoder by the schemas inside."""

from __future__ import annotations

import io
import json
import math
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.records import ChunkIndex
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory
from scipy.spatial.transform import Rotation

from posewright.errors import InputError
from posewright.recordings import Recording, mcap_bytes
from posewright.recordings.messages import readings_schema

Make = Callable[..., Recording]


@pytest.fixture(scope="module")
def recording(make_recording: Make) -> Recording:
    return make_recording(rows=40, decisions=12, robots=2)


@pytest.fixture(scope="module")
def recorded(recording: Recording) -> bytes:
    return mcap_bytes(recording)


@pytest.fixture(scope="module")
def topics(recorded: bytes) -> dict[str, list[Any]]:
    reader = make_reader(io.BytesIO(recorded), validate_crcs=True)
    messages_by_topic: dict[str, list[Any]] = {}
    for schema, channel, message in reader.iter_messages():
        assert schema is not None
        if channel.message_encoding == "json":
            decoded = json.loads(message.data)
        else:
            decoder = DecoderFactory().decoder_for(channel.message_encoding, schema)
            assert decoder is not None
            decoded = decoder(message.data)
        messages_by_topic.setdefault(channel.topic, []).append(decoded)
    return messages_by_topic


def quaternion(turn: Any) -> list[float]:
    return [turn.w, turn.x, turn.y, turn.z]


def vector(value: Any) -> list[float]:
    return [value.x, value.y, value.z]


def pose(transform: Any) -> list[float]:
    return [*vector(transform.translation), *quaternion(transform.rotation)]


def frames(message: Any) -> dict[tuple[str, str], Any]:
    """Return the transforms of a message by parent and child."""
    return {
        (transform.header.frame_id, transform.child_frame_id): transform.transform
        for transform in message.transforms
    }


ROBOTS = ("robot_0", "robot_1")


@pytest.mark.parametrize("robot", ROBOTS)
def test_joint_states_commands_and_requests(
    recording: Recording, topics: dict[str, list[Any]], robot: str
) -> None:
    record = recording.robots[robot]
    states, commands, requests = (
        topics[f"/{robot}/joint_{name}"] for name in ("states", "commands", "requests")
    )
    np.testing.assert_array_equal([state.position for state in states], record.positions)
    np.testing.assert_array_equal([state.effort for state in states], record.efforts)
    np.testing.assert_array_equal([command.position for command in commands], record.commands)
    np.testing.assert_array_equal([request.position for request in requests], record.requests)
    assert {tuple(message.name) for message in states + commands + requests} == {record.header.joints}
    assert {len(message.velocity) for message in states + commands + requests} == {0}
    stamps = [message.header.stamp.sec + message.header.stamp.nanosec * 1e-9 for message in states]
    np.testing.assert_allclose(stamps, recording.times, atol=1e-9)


@pytest.mark.parametrize("robot", ROBOTS)
def test_rows_and_footprints(recording: Recording, topics: dict[str, list[Any]], robot: str) -> None:
    rows, record = topics[f"/{robot}/row"], recording.robots[robot]
    for name in ("base", "foot_contacts", "box_contacts", "free", "slips"):
        np.testing.assert_array_equal([getattr(row, name) for row in rows], getattr(record, name))
    np.testing.assert_array_equal([row.footprints for row in rows], record.footprints.reshape(40, -1))
    np.testing.assert_array_equal([row.time_s for row in topics["/rows"]], recording.times)
    np.testing.assert_array_equal([row.boxes for row in topics["/rows"]], recording.boxes.reshape(40, -1))
    (start,) = topics[f"/{robot}/start"]
    np.testing.assert_array_equal(start.positions, record.start_positions)
    polygons = [
        [vector(point) for point in message.polygon.points]
        for message in topics[f"/{robot}/footprint/foot_1"]
    ]
    np.testing.assert_array_equal(polygons, record.footprints[::2, 1].astype(np.float32))


def test_contacts(recording: Recording, topics: dict[str, list[Any]]) -> None:
    contacts, messages = recording.robot().contacts, topics["/robot_0/contacts"]
    assert contacts is not None
    np.testing.assert_array_equal([message.row for message in messages], contacts.frames)
    np.testing.assert_array_equal([message.pair for message in messages], contacts.pairs)
    np.testing.assert_array_equal([message.force for message in messages], contacts.forces)


def test_frames_move_sixteen_times_a_second(recording: Recording, topics: dict[str, list[Any]]) -> None:
    moving = [frames(message) for message in topics["/tf"]]
    assert len(moving) == 20
    boxes = [("field", f"box_{i}") for i in range(1, 7)]
    robots = [
        pair
        for name in ROBOTS
        for pair in (("field", f"{name}/base"), *((f"{name}/base", f"{name}/link_{i}") for i in range(18)))
    ]
    assert list(moving[0]) == boxes + robots
    for number, pair in enumerate(boxes):
        np.testing.assert_array_equal(
            [pose(transforms[pair]) for transforms in moving], recording.boxes[::2, number]
        )
    for name in ROBOTS:
        bases = [pose(transforms["field", f"{name}/base"]) for transforms in moving]
        np.testing.assert_array_equal(bases, recording.robots[name].base[::2])


def test_a_joint_turns_its_link(recording: Recording, topics: dict[str, list[Any]]) -> None:
    transforms = [frames(message)["robot_1/base", "robot_1/link_3"] for message in topics["/tf"]]
    assert {tuple(vector(transform.translation)) for transform in transforms} == {(0.1, 0.0, -0.2)}
    angles = recording.robots["robot_1"].positions[::2, 3]
    zero_rotation = Rotation.from_quat([0.8, 0.0, 0.6, 0.0], scalar_first=True)
    expected = zero_rotation * Rotation.from_rotvec(np.outer(angles, [0.0, 1.0, 0.0]))
    rotations = Rotation.from_quat(
        [quaternion(transform.rotation) for transform in transforms], scalar_first=True
    )
    np.testing.assert_allclose(rotations.as_matrix(), expected.as_matrix(), atol=1e-12)


def test_a_robot_that_does_not_know_its_place_stands_at_the_origin(
    make_recording: Make, changed: Make
) -> None:
    lost = make_recording(rows=2, boxes=0)
    lost = changed(lost, base=np.full((2, 7), np.nan), positions=np.full((2, 18), np.nan))
    reader = make_reader(io.BytesIO(mcap_bytes(lost)), decoder_factories=[DecoderFactory()])
    ((_, _, _, message),) = reader.iter_decoded_messages(topics=["/tf"])
    assert pose(frames(message)["field", "robot_0/base"]) == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert quaternion(frames(message)["robot_0/base", "robot_0/link_0"].rotation) == [0.8, 0.0, 0.6, 0.0]


def test_what_no_joint_moves_stands_still(topics: dict[str, list[Any]]) -> None:
    (still,) = topics["/tf_static"]
    expected = [
        (f"{name}/base", f"{name}/{child}")
        for name in ROBOTS
        for child in ("shell", "sensors/laser", "sensors/ring")
    ]
    assert list(frames(still)) == expected
    laser = frames(still)["robot_1/base", "robot_1/sensors/laser"]
    assert vector(laser.translation) == [0.1, 0.02, -0.03]
    assert quaternion(laser.rotation) == [0.8, 0.0, 0.0, 0.6]


@pytest.mark.parametrize("robot", ROBOTS)
def test_sensors(recording: Recording, topics: dict[str, list[Any]], robot: str) -> None:
    messages, decisions = topics[f"/{robot}/sensors"], recording.robots[robot].decisions
    np.testing.assert_array_equal([message.time_s for message in messages], decisions.times)
    for channel, values in decisions.sensors.items():
        read = [getattr(message, channel.replace(".", "_")) for message in messages]
        np.testing.assert_array_equal(read, values)


def test_channels_have_fields_of_their_own_whatever_they_are_called() -> None:
    text = readings_schema(("imu.a", "imu_a", "3", "", "time_s", "Ä")).text
    names = [line.split()[1] for line in text.splitlines()]
    assert names == ["time_s", "imu_a", "imu_a_2", "channel_3", "channel", "time_s_5", "channel_6"]


def test_a_scan_says_where_its_beams_point(recording: Recording, topics: dict[str, list[Any]]) -> None:
    scans, ring = topics["/robot_0/scan/ring"], recording.robot().decisions.sensors["ring"]
    np.testing.assert_array_equal([scan.ranges for scan in scans], ring.astype(np.float32))
    angles = (scans[0].angle_min, scans[0].angle_max, scans[0].angle_increment)
    np.testing.assert_allclose(angles, np.radians([-90.0, 90.0, 5.0]), rtol=1e-6)
    assert (scans[0].range_max, len(scans[0].intensities)) == (5.0, 0)
    assert scans[0].header.frame_id == "robot_0/sensors/ring"


def test_a_range_says_how_far_it_sees(recording: Recording, topics: dict[str, list[Any]]) -> None:
    ranges, laser = topics["/robot_0/range/laser"], recording.robot().decisions.sensors["laser"]
    np.testing.assert_array_equal([r.range for r in ranges], laser[:, 0].astype(np.float32))
    assert (ranges[0].radiation_type, ranges[0].max_range, ranges[0].variance) == (1, 5.0, 0.0)
    assert ranges[0].field_of_view == pytest.approx(math.radians(1.0))


def test_an_imu_turns_roll_pitch_yaw_into_a_quaternion(
    recording: Recording, topics: dict[str, list[Any]]
) -> None:
    messages, sensors = topics["/robot_0/imu/imu"], recording.robot().decisions.sensors
    turns = Rotation.from_quat([quaternion(m.orientation) for m in messages], scalar_first=True)
    right = Rotation.from_euler("xyz", sensors["imu.orientation"])
    np.testing.assert_allclose(turns.as_matrix(), right.as_matrix(), atol=1e-12)
    velocities = [vector(message.angular_velocity) for message in messages]
    np.testing.assert_array_equal(velocities, sensors["imu.angular_velocity"])
    accelerations = [vector(message.linear_acceleration) for message in messages]
    np.testing.assert_array_equal(accelerations, sensors["imu.acceleration"])


def test_decisions_and_events_are_json(recording: Recording, topics: dict[str, list[Any]]) -> None:
    messages, decisions = topics["/robot_1/decisions"], recording.robots["robot_1"].decisions
    assert [message["state"] for message in messages] == list(decisions.states)
    assert [message["inputs"] for message in messages] == list(decisions.inputs)
    assert [message["playing"] for message in messages] == list(decisions.playing)
    touch = topics["/events"][1]
    assert (touch["kind"], touch["level"], touch["timestamp"]) == (
        "touch",
        3,
        {"sec": 0, "nsec": 200_000_000},
    )
    assert touch["message"] == "touch: reason fall, x_m 1.25, yaw_deg -3.0"


def test_the_scene_shows_field_boxes_and_robots(topics: dict[str, list[Any]]) -> None:
    (scene,) = topics["/scene"]
    field, *other_entities = scene["entities"]
    assert (field["frame_id"], len(field["cubes"]), len(field["cylinders"])) == ("field", 3, 1)
    assert [cube["color"]["a"] for cube in field["cubes"]] == [1.0, 0.35, 1.0]
    boxes, robots = other_entities[:6], other_entities[6:]
    assert [box["frame_id"] for box in boxes] == [f"box_{i}" for i in range(1, 7)]
    assert boxes[0]["cubes"][0]["size"] == {"x": 0.2, "y": 0.2, "z": 0.5}
    assert [robot["frame_id"] for robot in robots[:3]] == ["robot_0/base", "robot_0/shell", "robot_0/link_0"]
    assert len(robots) == 2 * 20


def test_a_capsule_is_a_cylinder_between_two_balls(topics: dict[str, list[Any]]) -> None:
    shell = topics["/scene"][0]["entities"][-1]
    (cylinder,), balls = shell["cylinders"], shell["spheres"]
    assert cylinder["size"] == pytest.approx({"x": 0.1, "y": 0.1, "z": 0.2})
    assert [ball["pose"]["position"]["z"] for ball in balls] == pytest.approx([0.0, 0.2])
    assert {ball["size"]["x"] for ball in balls} == {0.1}


def test_an_arena_that_is_none_is_told(make_recording: Make) -> None:
    recording = make_recording()
    for arena in ({"size_m": 3}, {"shapes": [{}]}, {"boxes": [1] * 6}, {"colours": []}):
        odd = replace(recording, header=replace(recording.header, arena=arena))
        if arena == {"colours": []}:
            odd = replace(odd, header=replace(odd.header, arena={**arena, "size_m": [1, 1]}))
        with pytest.raises(InputError, match="field cannot be drawn"):
            mcap_bytes(odd)


def test_every_checksum_index_and_count_is_right(recorded: bytes) -> None:
    records = list(StreamReader(io.BytesIO(recorded), validate_crcs=True).records)
    reader = make_reader(io.BytesIO(recorded), validate_crcs=True)
    summary = reader.get_summary()
    assert summary is not None
    assert summary.statistics is not None
    messages = [message for _, _, message in reader.iter_messages()]
    inside = [record for record in records if type(record).__name__ == "Message"]
    assert summary.statistics.message_count == len(messages) == len(inside)
    times = [message.log_time for message in inside]
    assert times == sorted(times)
    for topic in ("/tf", "/robot_0/decisions"):
        picked = [message for _, _, message in reader.iter_messages(topics=topic, starting_at=500_000_000)]
        assert picked == [m for m in messages if m in picked]
        assert picked
    footer = recorded[-8 - 20 :]
    start = int.from_bytes(footer[:8], "little")
    assert int.from_bytes(footer[16:20], "little") == zlib.crc32(recorded[start:-12])
    assert all(isinstance(record, ChunkIndex) for record in summary.chunk_indexes)


def test_message_indexes_point_at_messages_in_every_chunk(make_recording: Make) -> None:
    recorded = mcap_bytes(make_recording(rows=900, decisions=40))
    reader = make_reader(io.BytesIO(recorded), validate_crcs=True)
    summary = reader.get_summary()
    assert summary is not None
    assert len(summary.chunk_indexes) > 1
    rows = [message.log_time for _, _, message in reader.iter_messages(topics="/rows", reverse=True)]
    assert rows == [round(i / 32 * 1e9) for i in range(900, 0, -1)]


def test_the_documents_and_the_header_are_in_the_file(recording: Recording, recorded: bytes) -> None:
    reader = make_reader(io.BytesIO(recorded), validate_crcs=True)
    texts = {attachment.name: attachment.data.decode() for attachment in reader.iter_attachments()}
    assert texts == dict(recording.header.documents)
    (record,) = reader.iter_metadata()
    assert record.metadata["digest"].endswith(recording.digest())
    assert json.loads(record.metadata["header"])["robots"]["robot_1"]["robot"] == "robotis_bioloid"
