"""Message types of recordings: the schema of each, for viewers, and the layout of its bytes.

A function that returns a `MessageLayout` lists in its docstring the fields that vary between messages.

The schemas are those of ROS 2 Humble. They are repeated here because the package `rosbags`, which has them,
adds three more packages, two megabytes and 50 ms of import, more than packing a race takes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from posewright.documents.plain import PlainMapping
from posewright.recordings.cdr import BOOL, F32, F64, I64, U8, U32, MessageLayout
from posewright.recordings.exact_json import to_json

FIELD = "field"
"""The root frame: x along the field from the start wall, y to the left, z up."""


@dataclass(frozen=True)
class Schema:
    """The schema of a topic's messages.

    Attributes:
        name: the name of the message type.
        encoding: the encoding of the schema's text, `ros2msg` or `jsonschema`.
        text: the definition.
    """

    name: str
    encoding: str
    text: str

    @property
    def message_encoding(self) -> str:
        """Encoding of the messages themselves."""
        return "cdr" if self.encoding == "ros2msg" else "json"


_DEFINITIONS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec\n",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id\n",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/Quaternion": "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n",
    "geometry_msgs/TransformStamped": (
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n"
    ),
    "sensor_msgs/PointField": (
        "uint8 INT8=1\nuint8 UINT8=2\nuint8 INT16=3\nuint8 UINT16=4\nuint8 INT32=5\nuint8 UINT32=6\n"
        "uint8 FLOAT32=7\nuint8 FLOAT64=8\nstring name\nuint32 offset\nuint8 datatype\nuint32 count\n"
    ),
    "geometry_msgs/Point32": "float32 x\nfloat32 y\nfloat32 z\n",
    "geometry_msgs/Polygon": "geometry_msgs/Point32[] points\n",
    "builtin_interfaces/Duration": "int32 sec\nuint32 nanosec\n",
    "trajectory_msgs/JointTrajectoryPoint": (
        "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\n"
        "builtin_interfaces/Duration time_from_start\n"
    ),
}


def _ros2(name: str, text: str) -> Schema:
    """Return the schema of a ROS 2 message type.

    MCAP's registry requires that the definitions of all types that the message uses, also indirectly, are
    appended, each after a line of 80 equals signs and its name.

    Args:
        name: the name of the message type.
        text: its definition.
    """
    used_types: list[str] = []
    texts = [text]
    while texts:
        type_names = re.findall(r"^(\w+/\w+)", texts.pop(), re.MULTILINE)
        new_types = [type_name for type_name in dict.fromkeys(type_names) if type_name not in used_types]
        used_types += new_types
        texts += [_DEFINITIONS[type_name] for type_name in new_types]
    for type_name in used_types:
        text += "=" * 80 + f"\nMSG: {type_name}\n{_DEFINITIONS[type_name]}"
    return Schema(name, "ros2msg", text)


def _json(name: str, properties: PlainMapping) -> Schema:
    return Schema(name, "jsonschema", to_json({"title": name, "type": "object", "properties": properties}))


JOINT_STATE = _ros2(
    "sensor_msgs/msg/JointState",
    "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n",
)


def joint_state(joints: Sequence[str], *, effort: bool, velocity: bool = False) -> MessageLayout:
    """Return the layout of joint states.

    Varying fields: `stamp`, `position`, and `effort` and `velocity` unless they are absent.
    """
    n_joints = len(joints)
    layout = MessageLayout().add_header("").add_texts(joints).add_sequence("position", F64, n_joints)
    if velocity:
        layout.add_sequence("velocity", F64, n_joints)
    else:
        layout.add_constant(U32, 0)  # the length of an empty sequence, which has no field in `pack`
    return layout.add_sequence("effort", F64, n_joints if effort else 0)


ROW = _ros2("posewright_msgs/msg/Row", "float64 time_s\nfloat64[] boxes\n")


def row(n_boxes: int) -> MessageLayout:
    """Return the layout of a row of the recording.

    Varying fields: `time_s` and `boxes`, x y z qw qx qy qz of each.
    """
    return MessageLayout().add_field("time_s", F64).add_sequence("boxes", F64, n_boxes * 7)


ROBOT_ROW = _ros2(
    "posewright_msgs/msg/RobotRow",
    "float64[7] base\nfloat64[] footprints\nbool[] foot_contacts\nbool[] box_contacts\n"
    "bool[] free\nfloat64[] slips\n",
)


def robot_row(n_feet: int, n_boxes: int, n_free: int, n_slips: int) -> MessageLayout:
    """Return the layout of a `ROBOT_ROW` message: the sizes of its sequences.

    Args:
        n_feet: number of feet, with four corners of three coordinates each.
        n_boxes: number of boxes.
        n_free: number of joints; 0 if it was not recorded which were free.
        n_slips: number of feet; 0 if their slips were not recorded.
    """
    layout = MessageLayout().add_field("base", F64, 7).add_sequence("footprints", F64, n_feet * 12)
    layout.add_sequence("foot_contacts", BOOL, n_feet).add_sequence("box_contacts", BOOL, n_boxes)
    return layout.add_sequence("free", BOOL, n_free).add_sequence("slips", F64, n_slips)


START = _ros2("posewright_msgs/msg/Start", "float64[7] base\nfloat64[] positions\n")


def start(n_joints: int) -> MessageLayout:
    """Return the layout of a robot's start.

    Varying fields: `base` and `positions`, the pose and joint angles before the first frame.
    """
    return MessageLayout().add_field("base", F64, 7).add_sequence("positions", F64, n_joints)


CONTACT = _ros2(
    "posewright_msgs/msg/Contact", "int64 row\nint64[2] pair\nfloat64 depth\nfloat64 force\nfloat64 speed\n"
)


def contact() -> MessageLayout:
    """Return the layout of contacts.

    Varying fields: `frames`, `pairs`, `depths`, `forces` and `speeds`, as in `Contacts`.
    """
    layout = MessageLayout().add_field("frames", I64).add_field("pairs", I64, 2).add_field("depths", F64)
    return layout.add_field("forces", F64).add_field("speeds", F64)


LIGHTS = _ros2("posewright_msgs/msg/Lights", "string[] name\nfloat64[] colour\n")


def lights(names: Sequence[str]) -> MessageLayout:
    """Return the layout of lights.

    Varying fields: `colour`: red, green and blue of each light, 0..1.
    """
    return MessageLayout().add_texts(names).add_sequence("colour", F64, 3 * len(names))


def readings_schema(channels: Sequence[str]) -> Schema:
    """Return the schema of all readings of a robot, with a field for each channel."""
    names = ["time_s"]
    for channel in channels:
        name = re.sub(r"[^a-z0-9]+", "_", channel.lower()).strip("_")
        name = name if name[:1].isalpha() else f"channel_{name}".rstrip("_")
        names.append(name if name not in names else f"{name}_{len(names)}")
    return _ros2(
        "posewright_msgs/msg/Readings",
        "float64 time_s\n" + "".join(f"float64[] {name}\n" for name in names[1:]),
    )


def readings(sizes: Mapping[str, int]) -> MessageLayout:
    """Return the layout of sensor readings.

    Varying fields: `time_s`, and field `i` for the i-th channel; `sizes` has their lengths by channel.
    """
    layout = MessageLayout().add_field("time_s", F64)
    for i, size in enumerate(sizes.values()):
        layout.add_sequence(str(i), F64, size)
    return layout


TF_MESSAGE = _ros2("tf2_msgs/msg/TFMessage", "geometry_msgs/TransformStamped[] transforms\n")


def transforms(parents: Mapping[str, str], fixed: Mapping[str, Sequence[float]]) -> MessageLayout:
    """Return the layout of a message with the transforms of several frames.

    Varying fields: `stamp_i`, `rotation_i` (x y z w) and, unless fixed, `position_i` for the i-th frame.

    Args:
        parents: parent of each frame.
        fixed: positions of frames that do not move in their parents' frames.
    """
    layout = MessageLayout().add_constant(U32, len(parents))
    for i, (child, parent) in enumerate(parents.items()):
        layout.add_header(parent, f"stamp_{i}").add_text(child)
        if child in fixed:
            layout.add_constant(F64, *fixed[child])
        else:
            layout.add_field(f"position_{i}", F64, 3)
        layout.add_field(f"rotation_{i}", F64, 4)
    return layout


POLYGON_STAMPED = _ros2(
    "geometry_msgs/msg/PolygonStamped", "std_msgs/Header header\ngeometry_msgs/Polygon polygon\n"
)


def polygon(n_corners: int) -> MessageLayout:
    """Return the layout of a polygon.

    Varying fields: `stamp` and `points`, `(n_corners, 3)`.
    """
    return (
        MessageLayout().add_header(FIELD).add_constant(U32, n_corners).add_field("points", F32, n_corners, 3)
    )


LASER_SCAN = _ros2(
    "sensor_msgs/msg/LaserScan",
    "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\n"
    "float32 time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\n"
    "float32[] ranges\nfloat32[] intensities\n",
)


def laser_scan(frame: str, sensor_card: PlainMapping, n_beams: int) -> MessageLayout:
    """Return the layout of a laser scan.

    Varying fields: `stamp` and `ranges`. Angles are positive to the left.
    """
    first_rad = math.radians(float(sensor_card.get("start_deg", 0.0)))
    step_rad = math.radians(float(sensor_card.get("step_deg", 0.0)))
    max_range_m = float(sensor_card.get("max_range_m", math.inf))
    last_rad = first_rad + step_rad * (n_beams - 1)
    time_increment_s = 0.0
    scan_time_s = 0.0
    min_range_m = 0.0
    n_intensities = 0
    layout = MessageLayout().add_header(frame).add_constant(F32, first_rad, last_rad, step_rad)
    layout.add_constant(F32, time_increment_s, scan_time_s, min_range_m, max_range_m)
    return layout.add_sequence("ranges", F32, n_beams).add_constant(U32, n_intensities)


RANGE = _ros2(
    "sensor_msgs/msg/Range",
    "std_msgs/Header header\nuint8 ULTRASOUND=0\nuint8 INFRARED=1\nuint8 radiation_type\n"
    "float32 field_of_view\nfloat32 min_range\nfloat32 max_range\nfloat32 range\nfloat32 variance\n",
)


_INFRARED = 1
"""`INFRARED` of `Range`."""


def single_range(frame: str, sensor_card: PlainMapping) -> MessageLayout:
    """Return the layout of a range.

    Varying fields: `stamp` and `range`. ROS has infrared and ultrasound only; a laser is infrared.
    """
    field_of_view_rad = math.radians(float(sensor_card.get("fan_deg", 0.0)))
    max_range_m = float(sensor_card.get("max_range_m", math.inf))
    min_range_m = 0.0
    unknown_variance = 0.0
    layout = MessageLayout().add_header(frame).add_constant(U8, _INFRARED)
    layout.add_constant(F32, field_of_view_rad, min_range_m, max_range_m)
    return layout.add_field("range", F32).add_constant(F32, unknown_variance)


IMU = _ros2(
    "sensor_msgs/msg/Imu",
    "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n"
    "geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n"
    "geometry_msgs/Vector3 linear_acceleration\nfloat64[9] linear_acceleration_covariance\n",
)


def imu(frame: str) -> MessageLayout:
    """Return the layout of an IMU.

    Varying fields: `stamp`, `orientation` (x y z w), `angular_velocity` and `acceleration`.
    """
    unknown = (0.0,) * 9
    layout = MessageLayout().add_header(frame).add_field("orientation", F64, 4).add_constant(F64, *unknown)
    layout.add_field("angular_velocity", F64, 3).add_constant(F64, *unknown)
    return layout.add_field("acceleration", F64, 3).add_constant(F64, *unknown)


IMAGE = _ros2(
    "sensor_msgs/msg/Image",
    "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\n"
    "uint32 step\nuint8[] data\n",
)


_LITTLE_ENDIAN = 0
"""Value of `is_bigendian` of `Image`."""


def image(frame: str, height: int, width: int) -> MessageLayout:
    """Return the layout of an image.

    Varying fields: `stamp` and `data`, `(height, width, 3)`: red, green and blue.
    """
    row_bytes = 3 * width
    layout = (
        MessageLayout()
        .add_header(frame)
        .add_constant(U32, height, width)
        .add_text("rgb8")
        .add_constant(U8, _LITTLE_ENDIAN)
    )
    return layout.add_constant(U32, row_bytes, row_bytes * height).add_field("data", U8, height, width, 3)


COMPRESSED_IMAGE = _ros2(
    "sensor_msgs/msg/CompressedImage", "std_msgs/Header header\nstring format\nuint8[] data\n"
)


def compressed_image(frame: str, length: int) -> MessageLayout:
    """Return the layout of a compressed image.

    Varying fields: `stamp` and `data`, the bytes of a JPEG image of this length.
    """
    return MessageLayout().add_header(frame).add_text("jpeg").add_sequence("data", U8, length)


def depth_image(frame: str, height: int, width: int) -> MessageLayout:
    """Return the layout of a depth image.

    Varying fields: `stamp` and `data`, `(height, width)`: distance along the view axis [m].
    """
    row_bytes = 4 * width
    layout = (
        MessageLayout()
        .add_header(frame)
        .add_constant(U32, height, width)
        .add_text("32FC1")
        .add_constant(U8, _LITTLE_ENDIAN)
    )
    return layout.add_constant(U32, row_bytes, row_bytes * height).add_field("data", F32, height, width)


POINT_CLOUD = _ros2(
    "sensor_msgs/msg/PointCloud2",
    "std_msgs/Header header\nuint32 height\nuint32 width\nsensor_msgs/PointField[] fields\n"
    "bool is_bigendian\nuint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n",
)
_FLOAT32 = 7
"""`FLOAT32` of `PointField`."""


def point_cloud(frame: str, height: int, width: int) -> MessageLayout:
    """Return the layout of a point cloud.

    Varying fields: `stamp` and `data`, `(height, width, 3)`: x, y and z of each point [m], in the frame.
    """
    n_point_fields = 3
    point_bytes = 12
    layout = MessageLayout().add_header(frame).add_constant(U32, height, width, n_point_fields)
    for i, axis in enumerate("xyz"):  # name, offset, type and number of values of each field
        layout.add_text(axis).add_constant(U32, 4 * i).add_constant(U8, _FLOAT32).add_constant(U32, 1)
    is_big_endian = False
    layout.add_constant(BOOL, is_big_endian)
    layout.add_constant(U32, point_bytes, point_bytes * width, point_bytes * width * height)
    is_dense = False  # points may be NaN
    return layout.add_field("data", F32, height, width, 3).add_constant(BOOL, is_dense)


FLOAT64 = _ros2("std_msgs/msg/Float64", "float64 data\n")


def number() -> MessageLayout:
    """Return the layout of a number.

    Varying fields: `data`.
    """
    return MessageLayout().add_field("data", F64)


TRUTH = _ros2("std_msgs/msg/Bool", "bool data\n")


def truth() -> MessageLayout:
    """Return the layout of a truth value.

    Varying fields: `data`.
    """
    return MessageLayout().add_field("data", BOOL)


STRING = _ros2("std_msgs/msg/String", "string data\n")

JOINT_TRAJECTORY = _ros2(
    "trajectory_msgs/msg/JointTrajectory",
    "std_msgs/Header header\nstring[] joint_names\ntrajectory_msgs/JointTrajectoryPoint[] points\n",
)

_STAMP = {"type": "object", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}
_OBJECT = {"type": "object"}
_NUMBER = {"type": "number"}
_INTEGER = {"type": "integer"}
_TEXT = {"type": "string"}
_LIST = {"type": "array", "items": _OBJECT}

DECISION = _json(
    "posewright.Decision",
    {
        "time_s": _NUMBER,
        "state": _TEXT,
        "inputs": _OBJECT,
        "outputs": _OBJECT,
        "playing": {"type": ["string", "null"]},
    },
)

EVENT = _json(
    "foxglove.Log",  # the log panels of viewers require this name; `kind` and `data` are additions
    {
        "timestamp": _STAMP,
        "level": _INTEGER,
        "message": _TEXT,
        "name": _TEXT,
        "file": _TEXT,
        "line": _INTEGER,
        "time_s": _NUMBER,
        "kind": _TEXT,
        "data": _OBJECT,
    },
)

SCENE = _json("foxglove.SceneUpdate", {"deletions": _LIST, "entities": _LIST})
