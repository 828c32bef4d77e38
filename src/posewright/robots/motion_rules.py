"""Thresholds for the motions of one robot that differ from the general ones."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated

from posewright.documents import Bounds, Node, PlainMapping, read_record
from posewright.robots.sensors import Camera, SensorSpec

Threshold = Annotated[float, Bounds(0.0)] | None

_CAMERA_KEYS = ("sensor", "joints", "max_speed_deg_s")

CAMERA_FIELDS = ("camera_joints", "camera_rate_hz", "camera_speed_deg_s", "camera_lost_frames")
"""Fields of `MotionRules` that are read from the block `camera:`."""


@dataclass(frozen=True)
class MotionRules:
    """Thresholds with the names of those in `motions.DesignRules`; None for the general threshold."""

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
        """Thresholds that the card states, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


def parse_motion_rules(
    node: Node, joints: Collection[str], poses: Collection[str], sensors: Collection[SensorSpec]
) -> MotionRules:
    """Read the block `motion_rules:`.

    `{near_pose: [walk, stand], near_pose_deg: 25, max_duration_s: 2, large_step_deg: 60, max_step_deg: 91,
    coupled_margin_deg: 5, speed_margin_deg: 35, speed_per_frame: true, camera: {sensor: head_camera,
    joints: [head_pan, ...], max_speed_deg_s: 70, lost_frames: 0}, source: ...}`; all keys are optional, and
    `near_pose` may be one name.
    """
    entries = node.fields()
    near_pose = _parse_pose_names(entries["near_pose"], poses) if "near_pose" in entries else None
    rules = read_record(
        node,
        MotionRules,
        extra_keys=("near_pose", "camera", "source"),
        default_fields=CAMERA_FIELDS,
        near_pose=near_pose,
    )
    max_step_deg = math.inf if rules.max_step_deg is None else rules.max_step_deg
    if rules.large_step_deg is not None and rules.large_step_deg > max_step_deg:
        entries["large_step_deg"].fail(
            "large_step_deg is larger than max_step_deg", hint=f"at most {max_step_deg:g}"
        )
    if "camera" not in entries:
        return rules
    cameras = {sensor.name: sensor for sensor in sensors if isinstance(sensor, Camera)}
    return _add_camera(rules, entries["camera"], joints, cameras)


def _parse_pose_names(node: Node, poses: Collection[str]) -> tuple[str, ...]:
    """Read a list of names of poses, or one name."""
    entries = node.items() if isinstance(node.value, list) else [node]
    return tuple(entry.choice("pose", poses) for entry in entries)


def _add_camera(
    rules: MotionRules, node: Node, joints: Collection[str], cameras: Mapping[str, Camera]
) -> MotionRules:
    """Return the rules with the fields of the block `camera:`."""
    entries = node.fields(required=_CAMERA_KEYS, optional=("lost_frames", "source"))
    sensor = cameras[entries["sensor"].choice("camera", cameras)]
    if sensor.frame_rate_hz is None:
        entries["sensor"].fail(f"{sensor.name} has no frame rate", hint="add frame_rate_hz to that sensor")
    lost_frames = entries.get("lost_frames")
    return replace(
        rules,
        camera_joints=tuple(entry.choice("joint", joints) for entry in entries["joints"].items()),
        camera_rate_hz=sensor.frame_rate_hz,
        camera_speed_deg_s=entries["max_speed_deg_s"].number(low=0.001),
        camera_lost_frames=lost_frames.integer(low=0) if lost_frames else 0,
    )
