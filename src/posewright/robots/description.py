"""A robot described in plain values, in degrees, as programs outside Python read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from posewright.robots.card import Robot
from posewright.robots.sensor import SensorSpec
from posewright.robots.servo import Servo
from posewright.units import DEG_PER_RAD

DECIMALS = 6
"""Degrees are rounded to this many: far finer than a tick, and free of 59.00000000000001."""


def describe(robot: Robot) -> dict[str, Any]:
    """Return everything on the card, ready for JSON."""
    return {
        **describe_briefly(robot),
        "joints": [
            {
                "name": joint.name,
                "lower_deg": _deg(joint.lower_rad),
                "upper_deg": _deg(joint.upper_rad),
                "servo": _servo(robot.servo(joint.name)),
            }
            for joint in robot.joints
        ],
        "servo_models": {name: asdict(model) for name, model in robot.servo_models.items()},
        "numberings": {
            name: {str(number): joint for number, joint in numbering.items()}
            for name, numbering in robot.numberings.items()
        },
        "groups": {name: list(joints) for name, joints in robot.groups.items()},
        "mirror_pairs": [asdict(pair) for pair in robot.mirror_pairs],
        "poses": {name: _pose(robot, pose) for name, pose in robot.poses.items()},
        "feet": list(robot.feet),
        "sensors": [_sensor(sensor) for sensor in robot.sensors],
        "sources": dict(robot.sources),
        "model_path": str(robot.model_path) if robot.model_path else None,
    }


def describe_briefly(robot: Robot) -> dict[str, Any]:
    """Return what a list of robots shows, ready for JSON."""
    return {
        "name": robot.name,
        "maker": robot.maker,
        "title": robot.title,
        "n_joints": len(robot.joints),
        "n_sensors": len(robot.sensors),
        "pose_names": list(robot.poses),
        "frame_period_s": robot.frame_period_s,
        "has_model": robot.model_path is not None,
    }


def _deg(angle_rad: float) -> float:
    return round(math.degrees(angle_rad), DECIMALS) + 0.0


def _servo(servo: Servo) -> dict[str, Any]:
    return {
        "id": servo.id,
        "model": servo.model,
        "centre_deg": servo.centre_deg,
        "direction": servo.direction,
        "ticks": servo.ticks,
        "range_deg": servo.range_deg,
        "no_load_speed_deg_s": round(servo.no_load_speed_rad_s * DEG_PER_RAD, DECIMALS),
        "stall_torque_nm": servo.stall_torque_nm,
        "compliance_slope": servo.compliance_slope,
        "stiffness_nm_per_rad": round(servo.stiffness, DECIMALS),
    }


def _pose(robot: Robot, pose: Mapping[str, float]) -> dict[str, dict[str, float]]:
    return {
        "deg": {joint: _deg(angle) for joint, angle in pose.items()},
        "ticks": {joint: round(robot.servo(joint).to_ticks(angle)) for joint, angle in pose.items()},
    }


def _sensor(sensor: SensorSpec) -> dict[str, Any]:
    return {
        "kind": sensor.kind,
        **asdict(sensor),
        "channels": [asdict(channel) for channel in sensor.channels],
    }
