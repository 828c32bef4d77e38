"""What a robot's motions must keep to, where that is not what any robot's must."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace

from posewright.documents import Node
from posewright.robots.sensors import Camera, SensorSpec

THRESHOLDS = ("near_pose_deg", "max_duration_s", "large_step_deg", "max_step_deg", "coupled_margin_deg")

CAMERA = ("sensor", "joints", "max_speed_deg_s")


@dataclass(frozen=True)
class MotionRules:
    """Thresholds by the names that `motions.DesignRules` has for them; None is as for any robot."""

    near_pose: tuple[str, ...] | None = None
    near_pose_deg: float | None = None
    max_duration_s: float | None = None
    large_step_deg: float | None = None
    max_step_deg: float | None = None
    coupled_margin_deg: float | None = None
    speed_per_frame: bool | None = None
    camera_joints: tuple[str, ...] | None = None
    camera_rate_hz: float | None = None
    camera_speed_deg_s: float | None = None
    camera_lost_frames: int | None = None

    def __repr__(self) -> str:
        return f"MotionRules({len(self.said)} of its own)"

    @property
    def said(self) -> dict[str, object]:
        """What the card says, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


def parse_motion_rules(
    node: Node, joints: Collection[str], poses: Collection[str], sensors: Collection[SensorSpec]
) -> MotionRules:
    """Read the block `motion_rules:`.

    `{near_pose: [walk, stand], near_pose_deg: 25, max_duration_s: 2, large_step_deg: 60, max_step_deg: 91,
    coupled_margin_deg: 5, speed_per_frame: true, camera: {sensor: head_camera, joints: [head_pan, ...],
    max_speed_deg_s: 70, lost_frames: 0}, source: ...}`, each of which may be left out; `near_pose` may be the
    name of one pose.
    """
    found = node.fields(optional=("near_pose", *THRESHOLDS, "speed_per_frame", "camera", "source"))
    numbers = {name: found[name].number(low=0.0) for name in THRESHOLDS if name in found}
    if numbers.get("large_step_deg", 0.0) > numbers.get("max_step_deg", math.inf):
        found["large_step_deg"].fail("a large step is larger than the largest", hint="see max_step_deg")
    rules = MotionRules(
        near_pose=_poses(found["near_pose"], poses) if "near_pose" in found else None,
        speed_per_frame=found["speed_per_frame"].boolean() if "speed_per_frame" in found else None,
        near_pose_deg=numbers.get("near_pose_deg"),
        max_duration_s=numbers.get("max_duration_s"),
        large_step_deg=numbers.get("large_step_deg"),
        max_step_deg=numbers.get("max_step_deg"),
        coupled_margin_deg=numbers.get("coupled_margin_deg"),
    )
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
