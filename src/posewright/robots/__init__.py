"""Robots as data: cards with joints, servos, poses and sensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.documents.catalogue import is_path as is_path
    from posewright.robots.biped import LEG_PARTS as LEG_PARTS
    from posewright.robots.biped import OUTWARDS as OUTWARDS
    from posewright.robots.biped import SIDES as SIDES
    from posewright.robots.biped import BipedGeometry as BipedGeometry
    from posewright.robots.biped import PointMasses as PointMasses
    from posewright.robots.biped_derivation import derive_biped as derive_biped
    from posewright.robots.biped_derivation import list_biped_differences as list_biped_differences
    from posewright.robots.card import Robot as Robot
    from posewright.robots.card import html_table as html_table
    from posewright.robots.card_tables import SECTIONS as SECTIONS
    from posewright.robots.card_tables import card_lines as card_lines
    from posewright.robots.catalogue import is_listed as is_listed
    from posewright.robots.catalogue import is_same_card as is_same_card
    from posewright.robots.catalogue import is_shipped as is_shipped
    from posewright.robots.catalogue import robot as robot
    from posewright.robots.catalogue import robot_folder as robot_folder
    from posewright.robots.catalogue import robot_names as robot_names
    from posewright.robots.catalogue import unlisted_robot as unlisted_robot
    from posewright.robots.coupling import CoupledLimit as CoupledLimit
    from posewright.robots.coupling import Coupling as Coupling
    from posewright.robots.coupling import RangeCondition as RangeCondition
    from posewright.robots.description import describe as describe
    from posewright.robots.description import describe_briefly as describe_briefly
    from posewright.robots.geometry import LEFT as LEFT
    from posewright.robots.geometry import RIGHT as RIGHT
    from posewright.robots.geometry import HeadGeometry as HeadGeometry
    from posewright.robots.geometry import LegGeometry as LegGeometry
    from posewright.robots.joint import Joint as Joint
    from posewright.robots.joint import MirrorPair as MirrorPair
    from posewright.robots.lights import Led as Led
    from posewright.robots.lights import Light as Light
    from posewright.robots.lights import Rgb as Rgb
    from posewright.robots.mechanism import Hinge as Hinge
    from posewright.robots.mechanism import Link as Link
    from posewright.robots.mechanism import LinkShape as LinkShape
    from posewright.robots.mechanism import Mechanism as Mechanism
    from posewright.robots.mechanism import Mount as Mount
    from posewright.robots.mechanism import Oddity as Oddity
    from posewright.robots.mechanism import ShapeKind as ShapeKind
    from posewright.robots.mechanism import find_oddities as find_oddities
    from posewright.robots.mechanism import with_card_limits as with_card_limits
    from posewright.robots.motion_rules import MotionRules as MotionRules
    from posewright.robots.reading import CARD as CARD
    from posewright.robots.reading import parse_robot as parse_robot
    from posewright.robots.reading import read_robot as read_robot
    from posewright.robots.sensors import COUNT as COUNT
    from posewright.robots.sensors import Accelerometer as Accelerometer
    from posewright.robots.sensors import AnalogTouch as AnalogTouch
    from posewright.robots.sensors import Camera as Camera
    from posewright.robots.sensors import Channel as Channel
    from posewright.robots.sensors import CodeReader as CodeReader
    from posewright.robots.sensors import Compass as Compass
    from posewright.robots.sensors import Encoder as Encoder
    from posewright.robots.sensors import FlashLidar as FlashLidar
    from posewright.robots.sensors import FloorSensor as FloorSensor
    from posewright.robots.sensors import FootContact as FootContact
    from posewright.robots.sensors import Imu as Imu
    from posewright.robots.sensors import RangeScan as RangeScan
    from posewright.robots.sensors import RangeSensor as RangeSensor
    from posewright.robots.sensors import SensorSpec as SensorSpec
    from posewright.robots.sensors import TouchSwitch as TouchSwitch
    from posewright.robots.sensors import VibrationSensor as VibrationSensor
    from posewright.robots.sensors import beam_slopes as beam_slopes
    from posewright.robots.sensors import parse_sensor as parse_sensor
    from posewright.robots.servo import PidGains as PidGains
    from posewright.robots.servo import Servo as Servo
    from posewright.robots.servo import ServoModel as ServoModel
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
