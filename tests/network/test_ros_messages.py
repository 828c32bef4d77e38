"""ROS messages of a served robot and trajectories of ROS 2 nodes, checked by an independent CDR codec."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap_ros2 import _dynamic
from scipy.spatial.transform import Rotation

from posewright.bodies import BodyState, JointCommands
from posewright.errors import FormatError
from posewright.network.zenoh import ros
from posewright.recordings import messages
from posewright.robots import Compass, FootContact, Imu, RangeScan, RangeSensor

JOINTS = ("hip", "knee", "ankle")
SENSORS = (
    RangeScan("sonar", "head", 4.0, -90.0, 10.0, 19),
    RangeSensor("laser_front", "head", 2.0, fan_deg=10.0),
    Imu("imu", "base"),
    Compass("north", "base"),
    FootContact("sole", "left"),
)
STATE = BodyState(
    12.345678901,
    np.array([0.1, -0.2, 0.3]),
    np.array([1.0, 2.0, math.nan]),
    sensors={
        "sonar": np.linspace(0.0, 4.0, 19),
        "laser_front": 1.25,
        "imu.orientation": np.array([0.3, -0.4, 2.0]),
        "imu.angular_velocity": np.array([1.0, 2.0, 3.0]),
        "imu.acceleration": np.array([0.0, 0.1, 9.81]),
        "north": -0.5,
        "sole": True,
    },
)
COMMANDS = JointCommands(np.array([[0.0, 0.0, 0.0], [0.5, 0.6, 0.7]]))
SCHEMAS = {
    schema.name: schema
    for schema in vars(messages).values()
    if isinstance(schema, messages.Schema) and schema.encoding == "ros2msg"
}


def read(type_name: str, raw: bytes) -> Any:
    """Return a message as the independent implementation reads it."""
    return _dynamic.generate_dynamic(type_name, SCHEMAS[type_name].text)[type_name](raw)


def write(type_name: str, message: Mapping[str, Any]) -> bytes:
    """Return a message as the independent implementation writes it."""
    return bytes(_dynamic.serialize_dynamic(type_name, SCHEMAS[type_name].text)[type_name](message))


def messages_of(state: BodyState = STATE, commands: JointCommands = COMMANDS) -> dict[str, Any]:
    """Return all messages of a robot by topic, as the independent implementation reads them."""
    packed = {topic: topic.pack(state, commands) for topic in ros.topics("robi", JOINTS, SENSORS)}
    return {topic.path: read(topic.type_name, raw) for topic, raw in packed.items() if raw is not None}


def test_joint_states_are_read_with_names_stamp_and_every_number() -> None:
    message = messages_of()["joint_states"]
    assert list(message.name) == list(JOINTS)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (12, 345678901)
    np.testing.assert_array_equal(message.position, STATE.positions)
    np.testing.assert_array_equal(message.effort, STATE.efforts)
    assert list(message.velocity) == []


def test_velocities_are_told_by_a_body_that_measures_them() -> None:
    moving = BodyState(0.0, STATE.positions, STATE.efforts, np.array([4.0, 5.0, 6.0]))
    assert list(messages_of(moving)["joint_states"].velocity) == [4.0, 5.0, 6.0]


def test_joint_commands_are_those_of_the_last_row() -> None:
    message = messages_of()["joint_commands"]
    assert (list(message.position), list(message.effort)) == ([0.5, 0.6, 0.7], [])


def test_a_scan_has_its_angles_and_a_single_range_its_reach() -> None:
    scan, single = messages_of()["sonar/scan"], messages_of()["laser_front/range"]
    assert scan.angle_min == pytest.approx(-math.pi / 2)
    assert scan.angle_max == pytest.approx(math.pi / 2)
    assert scan.angle_increment == pytest.approx(math.radians(10.0))
    np.testing.assert_allclose(scan.ranges, STATE.sensors["sonar"], rtol=1e-6)
    assert scan.header.frame_id == "robi/sensors/sonar"
    assert (single.range, single.max_range) == (1.25, 2.0)


@given(st.tuples(*[st.floats(-math.pi, math.pi)] * 3))
def test_an_imu_is_turned_as_its_roll_pitch_and_yaw_say(angles: tuple[float, float, float]) -> None:
    state = BodyState(
        0.0, STATE.positions, STATE.efforts, sensors={**STATE.sensors, "imu.orientation": angles}
    )
    message = messages_of(state)["imu"]
    turn = message.orientation
    expected = Rotation.from_euler("xyz", angles)
    assert (Rotation.from_quat([turn.x, turn.y, turn.z, turn.w]).inv() * expected).magnitude() < 1e-6
    assert (message.linear_acceleration.z, message.angular_velocity.y) == (9.81, 2.0)


def test_other_sensors_are_plain_numbers_and_what_a_body_does_not_say_is_not_told() -> None:
    assert (messages_of()["north"].data, messages_of()["sole"].data) == (-0.5, True)
    silent = BodyState(0.0, STATE.positions, STATE.efforts)
    assert set(messages_of(silent)) == {"joint_states", "joint_commands"}
    assert set(messages_of(silent, JointCommands(np.empty((0, 3))))) == {"joint_states"}


def test_a_picture_is_read_pixel_by_pixel() -> None:
    pixels = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    message = read("sensor_msgs/msg/Image", ros.picture("robi/sensors/eye", 1.5, pixels))
    assert (message.height, message.width, message.step, message.encoding) == (4, 5, 15, "rgb8")
    assert bytes(message.data) == pixels.tobytes()


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_text_is_read_as_it_was(words: str) -> None:
    assert read("std_msgs/msg/String", ros.encode_text(words)).data == words


def test_a_bridge_is_told_of_a_topic_as_bridges_tell_each_other() -> None:
    announced = ros.bridge_token("ab12", "MP", "robi/joint_states", "sensor_msgs/msg/JointState")
    # zenoh-plugin-ros2dds 1.10.1, liveliness_mgt.rs: reliable 1, volatile 0, keep last 0, ten of them
    assert announced == "@/ab12/@ros2_lv/MP/robi§joint_states/sensor_msgs§msg§JointState/:1:0:0,10"


def point(positions: list[float], time_s: float, **more: Any) -> dict[str, Any]:
    seconds, rest = divmod(round(time_s * 1e9), 1_000_000_000)
    empty: dict[str, Any] = {"velocities": [], "accelerations": [], "effort": []}
    return {
        **empty,
        **more,
        "positions": positions,
        "time_from_start": {"sec": seconds, "nanosec": rest},
    }


def trajectory(names: list[str], *points: dict[str, Any], frame_id: str = "") -> bytes:
    header = {"stamp": {"sec": 3, "nanosec": 4}, "frame_id": frame_id}
    message = {"header": header, "joint_names": names, "points": list(points)}
    return write("trajectory_msgs/msg/JointTrajectory", message)


GOOD = trajectory(
    ["ankle", "hip"], point([0.1, 0.2], 0.5, velocities=[1.0, 2.0]), point([0.3, 0.4], 1.25), frame_id="anna"
)


def to_big_endian(raw: bytes) -> bytes:
    """Return a trajectory message in big-endian byte order."""
    out = bytearray(b"\0\0\0\0")

    def put(kind: str, *values: Any) -> None:
        size = struct.calcsize(kind)
        out.extend(bytes(-(len(out) - 4) % size))
        out.extend(struct.pack(f">{len(values)}{kind}", *values))

    def text(words: str) -> None:
        put("I", len(words) + 1)
        out.extend(words.encode() + b"\0")

    message = read("trajectory_msgs/msg/JointTrajectory", raw)
    put("i", message.header.stamp.sec, message.header.stamp.nanosec)
    text(message.header.frame_id)
    put("I", len(message.joint_names))
    for name in message.joint_names:
        text(name)
    put("I", len(message.points))
    for waypoint in message.points:
        for values in (waypoint.positions, waypoint.velocities, waypoint.accelerations, waypoint.effort):
            put("I", len(values))
            if len(values):
                put("d", *values)
        put("i", waypoint.time_from_start.sec, waypoint.time_from_start.nanosec)
    return bytes(out)


@pytest.mark.parametrize("machine", [bytes, to_big_endian], ids=["little-endian", "big-endian"])
def test_a_trajectory_of_the_peer_is_taken(machine: Callable[[bytes], bytes]) -> None:
    message = ros.read_trajectory(machine(GOOD), JOINTS)
    assert message.frame_id == "anna"
    assert message.trajectory is not None
    assert message.trajectory.joints == (2, 0)
    np.testing.assert_allclose(message.trajectory.times_s, [0.5, 1.25])
    np.testing.assert_array_equal(message.trajectory.positions, [[0.1, 0.2], [0.3, 0.4]])


@given(st.data())
def test_any_sound_trajectory_comes_as_it_was_sent(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(JOINTS), min_size=1, unique=True))
    times = sorted(data.draw(st.sets(st.integers(0, 10_000), min_size=1, max_size=5)))
    angle = st.floats(-4.0, 4.0)
    rows = [data.draw(st.lists(angle, min_size=len(names), max_size=len(names))) for _ in times]
    raw = trajectory(names, *(point(row, time / 1000) for row, time in zip(rows, times, strict=True)))
    received = ros.read_trajectory(raw, JOINTS).trajectory
    assert received is not None
    np.testing.assert_array_equal(received.positions, rows)
    np.testing.assert_allclose(received.times_s, np.array(times) / 1000)


def test_a_trajectory_without_points_says_stop() -> None:
    assert ros.read_trajectory(trajectory([]), JOINTS).trajectory is None


INVALID = {
    "nothing": (b"", "not plain CDR"),
    "text": (b"hello robot", "not plain CDR"),
    "XCDR2": (b"\0\x07" + GOOD[2:], "not plain CDR"),
    "cut": (GOOD[:-5], "ends before"),
    "more behind it": (GOOD + b"\1\2\3\4", "too many"),
    "an endless sequence": (GOOD[:4] + bytes(8) + b"\xff\xff\xff\x7f" + bytes(64), "a length of"),
    "too long": (GOOD + bytes(ros.MAX_BYTES), "at most"),
    "an unknown joint": (trajectory(["elbow"], point([0.0], 0.0)), "no joint 'elbow'"),
    "a joint twice": (trajectory(["hip", "hip"], point([0.0, 0.0], 0.0)), "twice"),
    "no number": (trajectory(["hip"], point([math.nan], 0.0)), "not finite"),
    "infinity": (trajectory(["hip"], point([math.inf], 0.0)), "not finite"),
    "too few positions": (trajectory(["hip", "knee"], point([0.0], 0.0)), "1 positions"),
    "points of no joint": (trajectory([], point([], 0.0)), "no joint"),
    "times that fall": (trajectory(["hip"], point([0.0], 2.0), point([0.0], 1.0)), "must increase"),
    "a time before it began": (trajectory(["hip"], point([0.0], -1.0)), "must increase"),
    "a date": (trajectory(["hip"], point([0.0], 1.7e9)), "must increase"),
}


@pytest.mark.parametrize("name", INVALID)
def test_what_is_wrong_is_refused_in_words(name: str) -> None:
    raw, words = INVALID[name]
    with pytest.raises(FormatError, match=words):
        ros.read_trajectory(raw, JOINTS)


@settings(max_examples=100)
@given(
    st.one_of(
        st.binary(max_size=200).map(lambda tail: b"\0\1\0\0" + tail),
        st.binary(max_size=60),
        st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=6).map(
            lambda changes: bytes(dict(changes).get(i, byte) for i, byte in enumerate(GOOD))
        ),
        st.integers(0, len(GOOD)).map(lambda n: GOOD[:n]),
    )
)
def test_garbage_is_refused_or_is_a_sound_trajectory(raw: bytes) -> None:
    try:
        received = ros.read_trajectory(raw, JOINTS).trajectory
    except FormatError:
        return
    if received is not None:
        assert np.isfinite(received.positions).all()
        assert (np.diff(received.times_s) > 0).all()
        assert set(received.joints) <= {0, 1, 2}
