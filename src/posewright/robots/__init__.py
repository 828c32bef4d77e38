"""Robots as data: what each one's card says of its joints, servos, poses and sensors."""

from __future__ import annotations

from posewright.robots.card import Robot
from posewright.robots.catalogue import is_path, robot, robot_names, ships
from posewright.robots.description import describe, describe_briefly
from posewright.robots.joint import Joint
from posewright.robots.mirror import MirrorPair
from posewright.robots.reading import read_robot
from posewright.robots.sensor import (
    Camera,
    Channel,
    Compass,
    FootContact,
    Imu,
    RangeScan,
    RangeSensor,
    SensorSpec,
)
from posewright.robots.sensor_reading import parse_sensor
from posewright.robots.servo import Servo
from posewright.robots.servo_model import ServoModel

__all__ = [
    "Camera",
    "Channel",
    "Compass",
    "FootContact",
    "Imu",
    "Joint",
    "MirrorPair",
    "RangeScan",
    "RangeSensor",
    "Robot",
    "SensorSpec",
    "Servo",
    "ServoModel",
    "describe",
    "describe_briefly",
    "is_path",
    "parse_sensor",
    "read_robot",
    "robot",
    "robot_names",
    "ships",
]
