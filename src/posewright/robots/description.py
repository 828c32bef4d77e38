"""A robot's card as plain data in degrees, for programs outside Python."""

from __future__ import annotations

import math
from collections.abc import Mapping

from posewright.documents import PlainData, plain_mapping, to_plain
from posewright.robots.card import Robot
from posewright.robots.coupling import CoupledLimit
from posewright.robots.sensors import SensorSpec
from posewright.robots.servo import Servo
from posewright.units import DEG_PER_RAD

DECIMALS = 6
"""Degrees are rounded to this many decimals, far finer than a tick."""


def describe(robot: Robot) -> dict[str, PlainData]:
    """Return the whole card as plain data for JSON."""
    return {
        **describe_briefly(robot),
        "joints": [
            {
                "name": joint.name,
                "lower_deg": _deg(joint.lower_rad),
                "upper_deg": _deg(joint.upper_rad),
                "hardware_lower_deg": _deg(joint.hardware_lower_rad),
                "hardware_upper_deg": _deg(joint.hardware_upper_rad),
                "two_state": joint.two_state,
                "uncertain": joint.uncertain,
                "servo": _servo_data(robot.servo(joint.name)),
            }
            for joint in robot.joints
        ],
        "coupled_limits": [_coupled_limit_data(row) for row in robot.coupled_limits],
        "servo_models": {name: to_plain(model) for name, model in robot.servo_models.items()},
        "numberings": {
            name: {str(number): joint for number, joint in numbering.items()}
            for name, numbering in robot.numberings.items()
        },
        "namings": {scheme: dict(naming) for scheme, naming in robot.namings.items()},
        "designs": {label: list(joints) for label, joints in robot.designs.items()},
        "groups": {name: list(joints) for name, joints in robot.groups.items()},
        "mirror_pairs": [to_plain(pair) for pair in robot.mirror_pairs],
        "poses": {name: _pose_data(robot, pose) for name, pose in robot.poses.items()},
        "feet": list(robot.feet),
        "link_masses_kg": dict(robot.link_masses_kg),
        "mass_kg": robot.mass_kg,
        "legs": [to_plain(leg) for leg in robot.legs],
        "biped": to_plain(robot.biped) if robot.biped else None,
        "head": to_plain(robot.head) if robot.head else None,
        "sensors": [_sensor_data(sensor) for sensor in robot.sensors],
        "leds": [to_plain(led) for led in robot.leds],
        "motion_rules": to_plain(robot.motion_rules.thresholds),
        "sources": dict(robot.sources),
        "model_path": str(robot.model_path) if robot.model_path else None,
    }


def describe_briefly(robot: Robot) -> dict[str, PlainData]:
    """Return the entries that a list of robots shows, as plain data for JSON."""
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
    """Return an angle in rounded degrees; -0.0 becomes 0.0."""
    return round(math.degrees(angle_rad), DECIMALS) + 0.0


def _coupled_limit_data(row: CoupledLimit) -> dict[str, PlainData]:
    """Return a row of a coupled limit as plain data."""
    return {
        "joint": row.joint,
        "lower_deg": _deg(row.lower_rad),
        "upper_deg": _deg(row.upper_rad),
        "given": [
            {
                "joint": condition.joint,
                "lower_deg": _deg(condition.lower_rad),
                "upper_deg": _deg(condition.upper_rad),
            }
            for condition in row.conditions
        ],
        "rounding_deg": _deg(row.rounding_rad),
    }


def _servo_data(servo: Servo) -> dict[str, PlainData]:
    """Return a servo as plain data."""
    speed = servo.no_load_speed_rad_s
    return {
        "id": servo.id,
        "model": servo.model,
        "centre_deg": servo.centre_deg,
        "direction": servo.direction,
        "ticks": servo.ticks,
        "range_deg": servo.range_deg,
        "first_tick": servo.first_tick,
        "tick_urad": servo.tick_urad,
        "no_load_speed_deg_s": round(speed * DEG_PER_RAD, DECIMALS) if math.isfinite(speed) else None,
        "stall_torque_nm": servo.stall_torque_nm,
        "compliance_slope": servo.compliance_slope,
        "stiffness_nm_per_rad": round(servo.stiffness, DECIMALS),
    }


def _pose_data(robot: Robot, pose: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return a pose as plain data, in degrees and ticks."""
    return {
        "deg": {joint: _deg(angle) for joint, angle in pose.items()},
        "ticks": {joint: round(robot.servo(joint).to_ticks(angle)) for joint, angle in pose.items()},
    }


def _sensor_data(sensor: SensorSpec) -> dict[str, PlainData]:
    """Return a sensor with its kind and channels as plain data."""
    return {
        "kind": sensor.kind,
        **plain_mapping(sensor),
        "channels": [to_plain(channel) for channel in sensor.channels],
    }
