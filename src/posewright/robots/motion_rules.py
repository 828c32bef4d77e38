"""What a robot's motions must keep to, where that is not what any robot's must."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from posewright.documents import Node
from posewright.robots.sensor import Camera, SensorSpec

MotionRules: TypeAlias = Mapping[str, "float | int | bool | str | tuple[str, ...]"]
"""Thresholds by the names that `motions.DesignRules` has for them; what is not there is as for any robot."""

THRESHOLDS = ("near_pose_deg", "max_duration_s", "max_step_deg", "coupled_margin_deg")
CAMERA = ("sensor", "joints", "max_speed_deg_s")


def parse_motion_rules(
    node: Node, joints: Collection[str], poses: Collection[str], sensors: Collection[SensorSpec]
) -> MotionRules:
    """Read the block `motion_rules:`.

    `{near_pose: walk, near_pose_deg: 40, max_duration_s: 2, max_step_deg: 90, speed_per_frame: true, camera:
    {sensor: head_camera, joints: [head_pan, ...], max_speed_deg_s: 70, lost_frames: 0}, source: ...}`

    Raises:
        DocumentError: a threshold is not positive, or the camera has no frame rate.
        UnknownNameError: there is no such rule, pose, joint or camera.
    """
    fields = node.fields(optional=("near_pose", *THRESHOLDS, "speed_per_frame", "camera", "source"))
    rules: dict[str, Any] = {name: fields[name].number(low=0.0) for name in THRESHOLDS if name in fields}
    if "near_pose" in fields:
        rules["near_pose"] = fields["near_pose"].choice("pose", poses)
    if "speed_per_frame" in fields:
        rules["speed_per_frame"] = fields["speed_per_frame"].boolean()
    if "camera" in fields:
        cameras = {sensor.name: sensor for sensor in sensors if isinstance(sensor, Camera)}
        rules |= _camera(fields["camera"], joints, cameras)
    return rules


def _camera(node: Node, joints: Collection[str], cameras: Mapping[str, Camera]) -> dict[str, Any]:
    fields = node.fields(required=CAMERA, optional=("lost_frames", "source"))
    sensor = cameras[fields["sensor"].choice("camera", cameras)]
    if sensor.frame_rate_hz is None:
        fields["sensor"].fail(f"{sensor.name} has no frame rate", hint="say frame_rate_hz of that sensor")
    lost = fields.get("lost_frames")
    return {
        "camera_joints": tuple(entry.choice("joint", joints) for entry in fields["joints"].items()),
        "camera_rate_hz": sensor.frame_rate_hz,
        "camera_speed_deg_s": fields["max_speed_deg_s"].number(low=0.001),
        "camera_lost_frames": lost.integer(low=0) if lost else 0,
    }
