"""Robots as data: what each one's card says of its joints, servos, poses and sensors."""

from __future__ import annotations

from posewright.robots.card import Robot
from posewright.robots.catalogue import is_path, robot, robot_folder, robot_names, ships
from posewright.robots.coupling import CoupledLimit, Coupling, GivenRange
from posewright.robots.description import describe, describe_briefly
from posewright.robots.geometry import HeadGeometry, LegGeometry
from posewright.robots.html import html_table
from posewright.robots.joint import Joint, MirrorPair
from posewright.robots.motion_rules import MotionRules
from posewright.robots.reading import read_robot
from posewright.robots.sensor_reading import parse_sensor
from posewright.robots.sensors import (
    Accelerometer,
    AnalogTouch,
    Camera,
    Channel,
    Compass,
    FootContact,
    Imu,
    Led,
    RangeScan,
    RangeSensor,
    SensorSpec,
    TouchSwitch,
    VibrationSensor,
)
from posewright.robots.servo import Servo
from posewright.robots.servo_model import PidGains, ServoModel
from posewright.robots.unlisted import unlisted_robot

__all__ = [
    "Accelerometer",
    "AnalogTouch",
    "Camera",
    "Channel",
    "Compass",
    "CoupledLimit",
    "Coupling",
    "FootContact",
    "GivenRange",
    "HeadGeometry",
    "Imu",
    "Joint",
    "Led",
    "LegGeometry",
    "MirrorPair",
    "MotionRules",
    "PidGains",
    "RangeScan",
    "RangeSensor",
    "Robot",
    "SensorSpec",
    "Servo",
    "ServoModel",
    "TouchSwitch",
    "VibrationSensor",
    "describe",
    "describe_briefly",
    "html_table",
    "is_path",
    "parse_sensor",
    "read_robot",
    "robot",
    "robot_folder",
    "robot_names",
    "ships",
    "unlisted_robot",
]
