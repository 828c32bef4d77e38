"""The schemas of a recording's topics: ROS 2's public message interfaces (fields only), and ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from posewright.recordings.plain import to_json


@dataclass(frozen=True)
class Schema:
    """How the messages of a topic are to be read.

    Attributes:
        name: of the message type.
        encoding: of `text`: `ros2msg` or `jsonschema`.
        text: the definition.
    """

    name: str
    encoding: str
    text: str

    @property
    def message_encoding(self) -> str:
        """How the messages themselves are written."""
        return "cdr" if self.encoding == "ros2msg" else "json"


_TIME = "int32 sec\nuint32 nanosec\n"
_HEADER = "builtin_interfaces/Time stamp\nstring frame_id\n"
_VECTOR3 = "float64 x\nfloat64 y\nfloat64 z\n"
_QUATERNION = "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n"
_STAMPED = {"builtin_interfaces/Time": _TIME, "std_msgs/Header": _HEADER}


def _ros2(name: str, fields: str, parts: Mapping[str, str]) -> Schema:
    """Return the schema with the definitions of all parts, as MCAP's registry wants them joined."""
    between = "=" * 80 + "\nMSG: "
    return Schema(name, "ros2msg", fields + "".join(f"{between}{part}\n{parts[part]}" for part in parts))


JOINT_STATE = _ros2(
    "sensor_msgs/msg/JointState",
    "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n",
    _STAMPED,
)

TF_MESSAGE = _ros2(
    "tf2_msgs/msg/TFMessage",
    "geometry_msgs/TransformStamped[] transforms\n",
    {
        "geometry_msgs/TransformStamped": (
            "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n"
        ),
        "geometry_msgs/Transform": "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n",
        "geometry_msgs/Vector3": _VECTOR3,
        "geometry_msgs/Quaternion": _QUATERNION,
        **_STAMPED,
    },
)

POLYGON_STAMPED = _ros2(
    "geometry_msgs/msg/PolygonStamped",
    "std_msgs/Header header\ngeometry_msgs/Polygon polygon\n",
    {
        "geometry_msgs/Polygon": "geometry_msgs/Point32[] points\n",
        "geometry_msgs/Point32": "float32 x\nfloat32 y\nfloat32 z\n",
        **_STAMPED,
    },
)

LASER_SCAN = _ros2(
    "sensor_msgs/msg/LaserScan",
    "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\n"
    "float32 time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\n"
    "float32[] ranges\nfloat32[] intensities\n",
    _STAMPED,
)

RANGE = _ros2(
    "sensor_msgs/msg/Range",
    "std_msgs/Header header\nuint8 ULTRASOUND=0\nuint8 INFRARED=1\nuint8 radiation_type\n"
    "float32 field_of_view\nfloat32 min_range\nfloat32 max_range\nfloat32 range\nfloat32 variance\n",
    _STAMPED,
)

IMU = _ros2(
    "sensor_msgs/msg/Imu",
    "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n"
    "geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n"
    "geometry_msgs/Vector3 linear_acceleration\nfloat64[9] linear_acceleration_covariance\n",
    {"geometry_msgs/Quaternion": _QUATERNION, "geometry_msgs/Vector3": _VECTOR3, **_STAMPED},
)

ROW = _ros2(
    "posewright_msgs/msg/Row",
    "float64 time_s\nfloat64[] footprints\nbool[] foot_contacts\nbool[] box_contacts\n",
    {},
)

READING = _ros2("posewright_msgs/msg/Reading", "float64 time_s\nfloat64[] values\n", {})


def _json(name: str, properties: Mapping[str, Any]) -> Schema:
    return Schema(name, "jsonschema", to_json({"title": name, "type": "object", "properties": properties}))


_STAMP = {"type": "object", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}
_OBJECT = {"type": "object"}
_LIST = {"type": "array", "items": _OBJECT}

CHART = _json(
    "posewright.ChartTick",
    {
        "time_s": {"type": "number"},
        "state": {"type": "string"},
        "inputs": _OBJECT,
        "outputs": _OBJECT,
        "playing": {"type": ["string", "null"]},
    },
)

EVENT = _json(
    "foxglove.Log",  # the name under which a viewer's log panel takes it; `kind` and `data` are ours
    {
        "timestamp": _STAMP,
        "level": {"type": "integer"},
        "message": {"type": "string"},
        "name": {"type": "string"},
        "file": {"type": "string"},
        "line": {"type": "integer"},
        "time_s": {"type": "number"},
        "kind": {"type": "string"},
        "data": _OBJECT,
    },
)

SCENE = _json("foxglove.SceneUpdate", {"deletions": _LIST, "entities": _LIST})
