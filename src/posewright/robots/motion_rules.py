"""What a robot's motions must keep to, where that is not what any robot's must."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated

from posewright.documents import Bounds, Node, PlainMapping, read_record
from posewright.robots.sensors import Camera, SensorSpec

Threshold = Annotated[float, Bounds(0.0)] | None

CAMERA = ("sensor", "joints", "max_speed_deg_s")
OF_CAMERA = ("camera_joints", "camera_rate_hz", "camera_speed_deg_s", "camera_lost_frames")


@dataclass(frozen=True)
class MotionRules:
    """Thresholds by the names that `motions.DesignRules` has for them; None is as for any robot."""

    near_pose: tuple[str, ...] | None = None
    near_pose_deg: Threshold = None
    max_duration_s: Threshold = None
    large_step_deg: Threshold = None
    max_step_deg: Threshold = None
    coupled_margin_deg: Threshold = None
    speed_margin_deg: Threshold = None
    speed_per_frame: bool | None = None
    camera_joints: tuple[str, ...] | None = None
    camera_rate_hz: float | None = None
    camera_speed_deg_s: float | None = None
    camera_lost_frames: int | None = None

    def __repr__(self) -> str:
        return f"MotionRules({len(self.thresholds)} of its own)"

    @property
    def thresholds(self) -> PlainMapping:
        """What the card says, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


def parse_motion_rules(
    node: Node, joints: Collection[str], poses: Collection[str], sensors: Collection[SensorSpec]
) -> MotionRules:
    """Read the block `motion_rules:`.

    `{near_pose: [walk, stand], near_pose_deg: 25, max_duration_s: 2, large_step_deg: 60, max_step_deg: 91,
    coupled_margin_deg: 5, speed_margin_deg: 35, speed_per_frame: true, camera: {sensor: head_camera,
    joints: [head_pan, ...], max_speed_deg_s: 70, lost_frames: 0}, source: ...}`, each of which may be left
    out; `near_pose` may be the name of one pose.
    """
    found = node.fields()
    besides = ("near_pose", "camera", "source")
    near = _poses(found["near_pose"], poses) if "near_pose" in found else None
    rules = read_record(node, MotionRules, extra_keys=besides, default_fields=OF_CAMERA, near_pose=near)
    most = math.inf if rules.max_step_deg is None else rules.max_step_deg
    if rules.large_step_deg is not None and rules.large_step_deg > most:
        found["large_step_deg"].fail("a large step is larger than the largest", hint="see max_step_deg")
    if "camera" not in found:
        return rules
    cameras = {sensor.name: sensor for sensor in sensors if isinstance(sensor, Camera)}
    return _with_camera(rules, found["camera"], joints, cameras)


def _poses(node: Node, known: Collection[str]) -> tuple[str, ...]:
    """Read the names of some poses, or of one."""
    entries = node.items() if isinstance(node.value, list) else [node]
    return tuple(entry.choice("pose", known) for entry in entries)


def _with_camera(
    rules: MotionRules, node: Node, joints: Collection[str], cameras: Mapping[str, Camera]
) -> MotionRules:
    found = node.fields(required=CAMERA, optional=("lost_frames", "source"))
    sensor = cameras[found["sensor"].choice("camera", cameras)]
    if sensor.frame_rate_hz is None:
        found["sensor"].fail(f"{sensor.name} has no frame rate", hint="say frame_rate_hz of that sensor")
    lost = found.get("lost_frames")
    return replace(
        rules,
        camera_joints=tuple(entry.choice("joint", joints) for entry in found["joints"].items()),
        camera_rate_hz=sensor.frame_rate_hz,
        camera_speed_deg_s=found["max_speed_deg_s"].number(low=0.001),
        camera_lost_frames=lost.integer(low=0) if lost else 0,
    )
