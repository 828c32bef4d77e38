"""The topics of a served robot, with the names and messages of ROS 2.

Positions are in radians and metres, and frames have the same names as in a recording; stamps are the robot's
own time, which starts at 0. `bridge_token` is the liveliness token with which `zenoh-bridge-ros2dds`
announces a topic to other bridges (`liveliness_mgt.rs` of zenoh-plugin-ros2dds 1.10.1).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posewright.bodies import BodyState, JointCommands, Reading
from posewright.errors import FormatError, Where
from posewright.network.transport import MAX_POINTS, Trajectory
from posewright.recordings import messages, sensor_card
from posewright.recordings.cdr import MessageLayout
from posewright.robots import SensorSpec

MAX_BYTES = 1 << 20
"""Longest message with a trajectory; the next limits bound the memory for its content."""

MAX_JOINTS = 256
MAX_TEXT = 256

HEADER_BYTES = 4
"""Length of a CDR header: byte order and options."""

MAX_PADDING_BYTES = 3

NANOSECONDS_PER_S = 1_000_000_000

_LITTLE = b"\x00\x01"
_BIG = b"\x00\x00"

Pack = Callable[[BodyState, JointCommands], bytes | None]


@dataclass(frozen=True, slots=True)
class RosTopic:
    """A topic with a message for every frame.

    Attributes:
        path: its name after the robot's name: `joint_states`.
        type_name: the type of its messages: `sensor_msgs/msg/JointState`.
        pack: returns the message of a frame; None if the body does not have its values.
    """

    path: str
    type_name: str
    pack: Pack


def topics(name: str, joints: Sequence[str], sensors: Sequence[SensorSpec]) -> tuple[RosTopic, ...]:
    """Return the topics of a robot: its joints, and the sensors with a ROS message."""
    joint_topics = (
        RosTopic("joint_states", messages.JOINT_STATE.name, _joint_state_packer(joints)),
        RosTopic("joint_commands", messages.JOINT_STATE.name, _joint_command_packer(joints)),
    )
    sensor_topics = [topic for sensor in sensors for topic in _sensor_topics(name, sensor)]
    return (*joint_topics, *sensor_topics)


def _joint_state_packer(joints: Sequence[str]) -> Pack:
    """Return a function that encodes the measured joints as a JointState."""
    with_velocity = _MessageEncoder(messages.joint_state(joints, effort=True, velocity=True))
    without_velocity = _MessageEncoder(messages.joint_state(joints, effort=True, velocity=False))

    def pack(state: BodyState, _commands: JointCommands) -> bytes:
        values = {"position": state.positions, "effort": state.efforts}
        if state.velocities is None:
            return without_velocity.encode(state.time_s, values)
        return with_velocity.encode(state.time_s, {**values, "velocity": state.velocities})

    return pack


def _joint_command_packer(joints: Sequence[str]) -> Pack:
    """Return a function that encodes commanded angles as a JointState; it returns None without commands."""
    message = _MessageEncoder(messages.joint_state(joints, effort=False))

    def pack(state: BodyState, commands: JointCommands) -> bytes | None:
        if not len(commands):
            return None
        return message.encode(state.time_s, {"position": commands.angles[-1]})

    return pack


def _sensor_topics(robot: str, sensor: SensorSpec) -> Iterator[RosTopic]:
    """Yield the topic of a sensor; nothing for sensors without a ROS message."""
    frame = f"{robot}/sensors/{sensor.name}"
    sensor_description = sensor_card(sensor)
    name = sensor.name
    match sensor.kind:
        case "range_scan":
            layout = messages.laser_scan(frame, sensor_description, int(sensor_description["beams"]))
            yield _reading_topic(f"{name}/scan", messages.LASER_SCAN, layout, channels={"ranges": name})
        case "range":
            yield _reading_topic(
                f"{name}/range",
                schema=messages.RANGE,
                layout=messages.single_range(frame, sensor_description),
                channels={"range": name},
            )
        case "imu":
            parts = ("orientation", "angular_velocity", "acceleration")
            channels = {part: f"{name}.{part}" for part in parts}
            yield _reading_topic(name, schema=messages.IMU, layout=messages.imu(frame), channels=channels)
        case "compass" | "encoder" | "floor_sensor":
            yield _reading_topic(
                name, schema=messages.FLOAT64, layout=messages.number(), channels={"data": name}
            )
        case "foot_contact":
            yield _reading_topic(
                name, schema=messages.TRUTH, layout=messages.truth(), channels={"data": name}
            )


def _reading_topic(
    path: str, schema: messages.Schema, layout: MessageLayout, channels: Mapping[str, str]
) -> RosTopic:
    """Return the topic of a sensor's readings.

    Args:
        path: the topic's name, after the robot's.
        schema: the type of its messages.
        layout: their layout.
        channels: by field of the message, the channel whose reading fills it.
    """
    message_encoder = _MessageEncoder(layout)

    def pack(state: BodyState, _commands: JointCommands) -> bytes | None:
        values: dict[str, Reading | tuple[float, ...]] = {}
        for field, channel in channels.items():
            reading = state.sensors.get(channel)
            if reading is None:
                return None
            if field == "orientation":
                roll, pitch, yaw = np.asarray(reading)
                values[field] = _quaternion_of_angles(roll, pitch, yaw)
            else:
                values[field] = reading
        return message_encoder.encode(state.time_s, values)

    return RosTopic(path, schema.name, pack)


def _quaternion_of_angles(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """Return the quaternion x y z w of rotations about x, then y, then z [rad]."""
    sin_x = math.sin(roll / 2.0)
    cos_x = math.cos(roll / 2.0)
    sin_y = math.sin(pitch / 2.0)
    cos_y = math.cos(pitch / 2.0)
    sin_z = math.sin(yaw / 2.0)
    cos_z = math.cos(yaw / 2.0)
    return (
        sin_x * cos_y * cos_z - cos_x * sin_y * sin_z,
        cos_x * sin_y * cos_z + sin_x * cos_y * sin_z,
        cos_x * cos_y * sin_z - sin_x * sin_y * cos_z,
        cos_x * cos_y * cos_z + sin_x * sin_y * sin_z,
    )


class _MessageEncoder:
    """Encodes messages with a fixed layout: one buffer, whose numbers are overwritten for each frame."""

    def __init__(self, layout: MessageLayout) -> None:
        self._raw, self._numbers = layout.blank()

    def encode(self, time_s: float, values: Mapping[str, ArrayLike]) -> bytes:
        """Return the message of a frame with a stamp, if its layout has one, and values by field."""
        if "stamp" in self._numbers:
            self._numbers["stamp"][0] = divmod(round(max(time_s, 0.0) * 1e9), NANOSECONDS_PER_S)
        for name, value in values.items():
            self._numbers[name][0] = value
        return bytes(self._raw)


def picture(frame: str, time_s: float, pixels: NDArray[np.uint8]) -> bytes:
    """Return a `sensor_msgs/Image` of pixels `(height, width, 3)`, red, green and blue."""
    return _MessageEncoder(messages.image(frame, *pixels.shape[:2])).encode(time_s, {"data": pixels})


def encode_text(text: str) -> bytes:
    """Return a `std_msgs/String`."""
    return MessageLayout().add_text(text).pack(1).tobytes()


_DEFAULT_QOS = ":1:0:0,10"
"""ROS 2's default quality of service, as a token spells it: no key, reliable, volatile, a history of ten."""


def bridge_token(session: str, kind: str, key: str, type_name: str) -> str:
    """Return the liveliness token of a topic.

    It ends in the quality of service. A reliable writer serves both reliable and best-effort readers.

    Args:
        session: the id of the Zenoh session.
        kind: `MP` if the session publishes the topic, `MS` if it subscribes to it.
        key: the topic's key.
        type_name: the type of its messages.
    """
    return "/".join(
        ["@", session, "@ros2_lv", kind, key.replace("/", "§"), type_name.replace("/", "§"), _DEFAULT_QOS]
    )


class _Reader:
    """Reads plain CDR (OMG DDS-XTypes 1.3, 7.4.3) from an untrusted sender, and checks every length."""

    def __init__(self, raw: bytes) -> None:
        """Read the header of a message, which states its byte order; raise a FormatError if it is invalid."""
        if len(raw) > MAX_BYTES:
            raise FormatError(f"the message has {len(raw)} bytes", hint=f"at most {MAX_BYTES}")
        if raw[:2] not in {_LITTLE, _BIG} or len(raw) < HEADER_BYTES:
            raise FormatError("not plain CDR", hint="it starts with 00 00 or 00 01 and two more bytes")
        self._byte_order = "<" if raw[:2] == _LITTLE else ">"
        self._raw = raw[HEADER_BYTES:]
        self._position = 0

    def numbers(self, kind: str, n: int) -> tuple[Any, ...]:  # the type depends on the kind
        """Return `n` numbers, aligned to their size.

        Args:
            kind: their format character of `struct`: `d` for float64, `i` for int32, `I` for uint32.
            n: how many.
        """
        size = struct.calcsize(kind)
        padding = -self._position % size if n else 0
        begin = self._position + padding
        end = begin + n * size
        if end > len(self._raw):
            self.fail(f"the message ends before {n} expected numbers")
        self._position = end
        return struct.unpack_from(f"{self._byte_order}{n}{kind}", self._raw, begin)

    def length(self, max_length: int) -> int:
        """Return the length of the list or text that follows; raise FormatError if it is too large."""
        length: int = self.numbers("I", 1)[0]
        if length > max_length:
            self.fail(f"a length of {length}", f"at most {max_length}")
        return length

    def text(self) -> str:
        """Return the zero-terminated text that follows; raise a FormatError if it is damaged."""
        length = self.length(MAX_TEXT)
        raw = self._raw[self._position : self._position + length]
        self._position += length
        if len(raw) != length or raw[-1:] != b"\0" or 0 in raw[:-1]:
            self.fail("a text is not terminated", "it ends in a zero byte, which is part of its length")
        try:
            return raw[:-1].decode()
        except UnicodeDecodeError:
            self.fail("a text is not UTF-8")

    def end(self) -> None:
        """Raise FormatError if more than the padding is left: up to three zero bytes."""
        remainder = self._raw[self._position :]
        if len(remainder) > MAX_PADDING_BYTES or any(remainder):
            self.fail(f"{len(remainder)} bytes too many")

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise a FormatError with the present offset."""
        raise FormatError(message, where=Where(offset=self._position + HEADER_BYTES), hint=hint)


@dataclass(frozen=True, slots=True)
class TrajectoryMessage:
    """A `trajectory_msgs/JointTrajectory`.

    Attributes:
        frame_id: the frame of its header, in which a sender may name itself.
        trajectory: the trajectory; None if it has no points, which means stop in ROS.
    """

    frame_id: str
    trajectory: Trajectory | None


def read_trajectory(raw: bytes, joints: Sequence[str]) -> TrajectoryMessage:
    """Read a message for a robot with these joints.

    Velocities, accelerations and efforts of points are ignored, and so is the header's stamp: the trajectory
    starts when it arrives.

    Raises:
        FormatError: it is no such message or too long, a joint is unknown or repeated, a position is not
            finite, or the times do not increase.
    """
    reader = _Reader(raw)
    frame_id = _frame_id(reader)
    names = [reader.text() for _ in range(reader.length(MAX_JOINTS))]
    n_points = reader.length(MAX_POINTS)
    points = [_read_point(reader, len(names)) for _ in range(n_points)]
    reader.end()
    if unknown := [name for name in names if name not in joints]:
        hint = f"the joints are {', '.join(joints)}"
        raise FormatError(f"there is no joint {unknown[0]!r}", hint=hint)
    if not points:
        return TrajectoryMessage(frame_id, trajectory=None)
    positions = np.array([point.positions for point in points], dtype=np.float64)
    times = np.array([point.time_s for point in points], dtype=np.float64)
    trajectory = Trajectory(
        tuple(joints.index(name) for name in names), times, positions.reshape(n_points, len(names))
    )
    fault = trajectory.describe_fault(len(joints))
    if fault:
        raise FormatError(fault)
    return TrajectoryMessage(frame_id, trajectory)


def frame_id_of(raw: bytes) -> str:
    """Return the frame in the header of a message that may be damaged; empty if it cannot be read."""
    try:
        return _frame_id(_Reader(raw))
    except FormatError:
        return ""


def _frame_id(reader: _Reader) -> str:
    """Return the frame of a header, after its stamp."""
    reader.numbers("i", 2)
    return reader.text()


class _Point(NamedTuple):
    """A point of a trajectory: the position of each joint, and the time [s]."""

    positions: tuple[float, ...]
    time_s: float


def _read_point(reader: _Reader, n_joints: int) -> _Point:
    """Return a point of a trajectory; its velocities, accelerations and efforts are read and ignored."""
    positions = reader.numbers("d", reader.length(n_joints))
    for _ in ("velocities", "accelerations", "effort"):
        reader.numbers("d", reader.length(n_joints))
    seconds = reader.numbers("i", 1)[0]
    nanoseconds = reader.numbers("I", 1)[0]
    if len(positions) != n_joints:
        reader.fail(f"a point has {len(positions)} positions", f"send one for each of {n_joints} joints")
    if nanoseconds >= NANOSECONDS_PER_S:
        reader.fail(f"a time has {nanoseconds} nanoseconds", "send less than a second")
    return _Point(positions, seconds + nanoseconds * 1e-9)
