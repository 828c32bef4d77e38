"""The byte layout of each kind of message, shared by the writer and the reader."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from posewright.recordings.cdr import BOOL, F32, F64, U8, U32, Layout

FIELD = "field"
"""The frame everything stands in: x along the field from the start wall, y left, z up."""


def joint_state(joints: Sequence[str], *, effort: bool) -> Layout:
    """`sensor_msgs/JointState`: `stamp`, `position` and, where asked for, `effort`."""
    n = len(joints)
    layout = Layout().header("").texts(joints).sequence("position", F64, n).constant(U32, 0)
    return layout.sequence("effort", F64, n if effort else 0)


def transforms(children: Sequence[str], parent: str = FIELD) -> Layout:
    """`tf2_msgs/TFMessage`: for the i-th child `stamp_i`, `position_i` and `rotation_i` (x y z w)."""
    layout = Layout().constant(U32, len(children))
    for i, child in enumerate(children):
        layout.header(parent, f"stamp_{i}").text(child)
        layout.field(f"position_{i}", F64, 3).field(f"rotation_{i}", F64, 4)
    return layout


def row(n_feet: int, n_boxes: int) -> Layout:
    """`posewright_msgs/Row`: what no standard message holds exactly."""
    layout = Layout().field("time_s", F64).sequence("footprints", F64, n_feet * 12)
    return layout.sequence("foot_contacts", BOOL, n_feet).sequence("box_contacts", BOOL, n_boxes)


def reading(size: int) -> Layout:
    """`posewright_msgs/Reading`: one sensor channel, exactly."""
    return Layout().field("time_s", F64).sequence("values", F64, size)


READING_LENGTH_OFFSET = 4 + 8
"""Where in a `Reading` the number of values stands."""


def polygon(corners: int) -> Layout:
    """`geometry_msgs/PolygonStamped`: `stamp` and `points`, `(corners, 3)`."""
    return Layout().header(FIELD).constant(U32, corners).field("points", F32, corners, 3)


def laser_scan(frame: str, card: Mapping[str, Any], beams: int) -> Layout:
    """`sensor_msgs/LaserScan`: `stamp` and `ranges`, angles positive to the left."""
    first, step = (math.radians(float(card.get(key, 0.0))) for key in ("start_deg", "step_deg"))
    reach = float(card.get("max_range_m", math.inf))
    angles = (first, first + step * (beams - 1), step)
    layout = Layout().header(frame).constant(F32, *angles, 0.0, 0.0, 0.0, reach)
    return layout.sequence("ranges", F32, beams).constant(U32, 0)


def single_range(frame: str, card: Mapping[str, Any]) -> Layout:
    """`sensor_msgs/Range`, called infrared, the nearer of the two kinds ROS knows to a laser."""
    fan = math.radians(float(card.get("fan_deg", 0.0)))
    reach = float(card.get("max_range_m", math.inf))
    layout = Layout().header(frame).constant(U8, 1).constant(F32, fan, 0.0, reach)
    return layout.field("range", F32).constant(F32, 0.0)


def imu(frame: str) -> Layout:
    """`sensor_msgs/Imu`: `stamp`, `orientation` (x y z w), `angular_velocity`, `acceleration`."""
    unknown = (0.0,) * 9
    layout = Layout().header(frame).field("orientation", F64, 4).constant(F64, *unknown)
    layout.field("angular_velocity", F64, 3).constant(F64, *unknown)
    return layout.field("acceleration", F64, 3).constant(F64, *unknown)
