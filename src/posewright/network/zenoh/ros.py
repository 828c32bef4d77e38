"""A served robot's topics under the names and in the messages that a ROS 2 user expects.

Positions are in rad and metres and frames are called as in a recording; stamps are the robot's own time,
which is 0 when it began. `bridge_token` is the liveliness token by which `zenoh-bridge-ros2dds` announces a
topic to the bridges beside it (`liveliness_mgt.rs` of zenoh-plugin-ros2dds 1.10.1).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posewright.bodies import BodyState, JointCommands, Reading
from posewright.errors import FormatError, Where
from posewright.network.transport import MOST_POINTS, Trajectory
from posewright.recordings import messages, sensor_card
from posewright.recordings.cdr import Layout
from posewright.robots import SensorSpec

MAX_BYTES = 1 << 20
"""A trajectory is not longer; the bounds below keep what is made of it small, too."""
MAX_JOINTS = 256
MAX_TEXT = 256

_LITTLE = b"\x00\x01"
_BIG = b"\x00\x00"

Pack = Callable[[BodyState, JointCommands], bytes | None]


@dataclass(frozen=True, slots=True)
class RosTopic:
    """Something that a robot tells after every frame.

    Attributes:
        path: what stands behind the robot's name: `joint_states`.
        type_name: of its messages: `sensor_msgs/msg/JointState`.
        pack: makes the message, or nothing where the body does not say it.
    """

    path: str
    type_name: str
    pack: Pack


def topics(name: str, joints: Sequence[str], sensors: Sequence[SensorSpec]) -> tuple[RosTopic, ...]:
    """Return the topics of a robot: its joints, and the sensors with a ROS message."""
    states = _joint_states(joints)
    commands = _joint_commands(joints)
    joint_topics = (
        RosTopic("joint_states", messages.JOINT_STATE.name, states),
        RosTopic("joint_commands", messages.JOINT_STATE.name, commands),
    )
    return (*joint_topics, *(topic for sensor in sensors for topic in _of_sensor(name, sensor)))


def _joint_states(joints: Sequence[str]) -> Pack:
    moving, still = (
        _Message(messages.joint_state(joints, effort=True, velocity=with_velocity))
        for with_velocity in (True, False)
    )

    def pack(state: BodyState, _commands: JointCommands) -> bytes:
        values = {"position": state.positions, "effort": state.efforts}
        if state.velocities is None:
            return still.encode(state.time_s, values)
        return moving.encode(state.time_s, {**values, "velocity": state.velocities})

    return pack


def _joint_commands(joints: Sequence[str]) -> Pack:
    message = _Message(messages.joint_state(joints, effort=False))

    def pack(state: BodyState, commands: JointCommands) -> bytes | None:
        if not len(commands):
            return None
        return message.encode(state.time_s, {"position": commands.angles[-1]})

    return pack


def _of_sensor(robot: str, sensor: SensorSpec) -> Iterator[RosTopic]:
    frame = f"{robot}/sensors/{sensor.name}"
    card = sensor_card(sensor)
    name = sensor.name
    match sensor.kind:
        case "range_scan":
            layout = messages.laser_scan(frame, card, int(card["beams"]))
            yield _reading(f"{name}/scan", messages.LASER_SCAN, layout, {"ranges": name})
        case "range":
            yield _reading(
                f"{name}/range", messages.RANGE, messages.single_range(frame, card), {"range": name}
            )
        case "imu":
            parts = ("orientation", "angular_velocity", "acceleration")
            channels = {part: f"{name}.{part}" for part in parts}
            yield _reading(name, messages.IMU, messages.imu(frame), channels)
        case "compass" | "encoder" | "floor_sensor":
            yield _reading(name, messages.FLOAT64, messages.number(), {"data": name})
        case "foot_contact":
            yield _reading(name, messages.TRUTH, messages.truth(), {"data": name})


def _reading(path: str, schema: messages.Schema, layout: Layout, channels: Mapping[str, str]) -> RosTopic:
    """Return the topic of a sensor whose channels fill the fields of a message."""
    message = _Message(layout)

    def pack(state: BodyState, _commands: JointCommands) -> bytes | None:
        values: dict[str, Reading | tuple[float, ...]] = {}
        for field, channel in channels.items():
            reading = state.sensors.get(channel)
            if reading is None:
                return None
            values[field] = _quaternion(*np.asarray(reading)) if field == "orientation" else reading
        return message.encode(state.time_s, values)

    return RosTopic(path, schema.name, pack)


def _quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """Return x y z w of turns about x, y and z [rad], in that order."""
    (x, a), (y, b), (z, c) = ((math.sin(angle / 2.0), math.cos(angle / 2.0)) for angle in (roll, pitch, yaw))
    return (
        x * b * c - a * y * z,
        a * y * c + x * b * z,
        a * b * z - x * y * c,
        a * b * c + x * y * z,
    )


class _Message:
    """A message whose numbers are set anew each time."""

    def __init__(self, layout: Layout) -> None:
        self._raw, self._numbers = layout.blank()

    def encode(self, time_s: float, values: Mapping[str, ArrayLike]) -> bytes:
        if "stamp" in self._numbers:
            self._numbers["stamp"][0] = divmod(round(max(time_s, 0.0) * 1e9), 1_000_000_000)
        for name, value in values.items():
            self._numbers[name][0] = value
        return bytes(self._raw)


def picture(frame: str, time_s: float, pixels: NDArray[np.uint8]) -> bytes:
    """Return a `sensor_msgs/Image` of a picture `(height, width, 3)` of bytes."""
    return _Message(messages.image(frame, *pixels.shape[:2])).encode(time_s, {"data": pixels})


def text(words: str) -> bytes:
    """Return a `std_msgs/String`."""
    return Layout().text(words).pack(1).tobytes()


def bridge_token(session: str, kind: str, key: str, type_name: str) -> str:
    """Return the liveliness token of a topic that a session publishes (`MP`) or subscribes to (`MS`).

    Its quality of service stands last: no key, reliable, volatile, the latest ten kept, as ROS 2 has it by
    default; with a reliable writer, readers of either kind are served.
    """
    return "/".join(
        ["@", session, "@ros2_lv", kind, key.replace("/", "§"), type_name.replace("/", "§"), ":1:0:0,10"]
    )


class _Reader:
    """Plain CDR (OMG DDS-XTypes 1.3, 7.4.3) from a stranger: no length is believed before it is checked."""

    def __init__(self, raw: bytes) -> None:
        if len(raw) > MAX_BYTES:
            raise FormatError(f"a message of {len(raw)} bytes", hint=f"at most {MAX_BYTES}")
        if raw[:2] not in {_LITTLE, _BIG} or len(raw) < 4:
            raise FormatError("no plain CDR", hint="it begins with 00 00 or 00 01 and two more bytes")
        self._order = "<" if raw[:2] == _LITTLE else ">"
        self._raw = raw[4:]
        self._at = 0

    def numbers(self, kind: str, n: int) -> tuple[Any, ...]:  # `struct` returns whatever the kind is of
        """Return n numbers of a kind of `struct`, aligned to their own size."""
        size = struct.calcsize(kind)
        begin = self._at + (-self._at % size if n else 0)
        end = begin + n * size
        if end > len(self._raw):
            self.fail(f"it ends where {n} numbers should stand")
        self._at = end
        return struct.unpack_from(f"{self._order}{n}{kind}", self._raw, begin)

    def length(self, max_length: int) -> int:
        """Return the length of what follows."""
        n: int = self.numbers("I", 1)[0]
        if n > max_length:
            self.fail(f"a length of {n}", f"at most {max_length}")
        return n

    def text(self) -> str:
        n = self.length(MAX_TEXT)
        raw = self._raw[self._at : self._at + n]
        self._at += n
        if len(raw) != n or raw[-1:] != b"\0" or 0 in raw[:-1]:
            self.fail("a text without its end", "UTF-8 and a zero, which counts")
        try:
            return raw[:-1].decode()
        except UnicodeDecodeError:
            self.fail("a text that is no UTF-8")

    def end(self) -> None:
        """Expect nothing more, but for what fills up the last four bytes."""
        left = self._raw[self._at :]
        if len(left) > 3 or any(left):
            self.fail(f"{len(left)} bytes too many")

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise a FormatError that says where."""
        raise FormatError(message, where=Where(offset=self._at + 4), hint=hint)


@dataclass(frozen=True, slots=True)
class TrajectoryMessage:
    """A `trajectory_msgs/JointTrajectory`.

    Attributes:
        frame_id: of its header; who sends it may say there who it is.
        trajectory: None where it has no points, by which a ROS user says stop.
    """

    frame_id: str
    trajectory: Trajectory | None


def read_trajectory(raw: bytes, joints: Sequence[str]) -> TrajectoryMessage:
    """Read a message for a robot with these joints.

    Velocities, accelerations and efforts of points are passed over, and so is the header's stamp: it is taken
    when it comes.

    Raises:
        FormatError: it is none, is longer than any should be, names an unknown joint or one twice, or its
            positions are not finite or its times do not rise.
    """
    reader = _Reader(raw)
    frame_id = _frame_id(reader)
    names = [reader.text() for _ in range(reader.length(MAX_JOINTS))]
    n = reader.length(MOST_POINTS)
    points = [_point(reader, len(names)) for _ in range(n)]
    reader.end()
    if unknown := [name for name in names if name not in joints]:
        raise FormatError(f"no joint {unknown[0]!r}", hint=f"there is {', '.join(joints)}")
    if not points:
        return TrajectoryMessage(frame_id, None)
    positions = np.array([point[0] for point in points], dtype=np.float64).reshape(n, len(names))
    times = np.array([point[1] for point in points], dtype=np.float64)
    trajectory = Trajectory(tuple(joints.index(name) for name in names), times, positions)
    fault = trajectory.fault(len(joints))
    if fault:
        raise FormatError(fault)
    return TrajectoryMessage(frame_id, trajectory)


def frame_id_of(raw: bytes) -> str:
    """Return what the header of a message says that may be damaged; nothing where it cannot be read."""
    try:
        return _frame_id(_Reader(raw))
    except FormatError:
        return ""


def _frame_id(reader: _Reader) -> str:
    reader.numbers("i", 2)
    return reader.text()


def _point(reader: _Reader, n_joints: int) -> tuple[tuple[float, ...], float]:
    arrays = [reader.numbers("d", reader.length(n_joints)) for _ in range(4)]
    seconds = reader.numbers("i", 1)[0]
    nanoseconds = reader.numbers("I", 1)[0]
    if len(arrays[0]) != n_joints:
        reader.fail(f"{len(arrays[0])} positions", f"one for each of {n_joints} joints")
    if nanoseconds >= 1_000_000_000:
        reader.fail(f"{nanoseconds} nanoseconds", "less than a second")
    return arrays[0], seconds + nanoseconds * 1e-9
