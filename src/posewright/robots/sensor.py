"""Sensors a robot carries: what each one measures, and where it sits.

A sensor's readings come by channel: most sensors have one, named as the sensor; an IMU has three.
Angles look along the mount's frame: x forward, y left, z up; yaw is positive to the left and pitch,
about +y, positive downwards (REP-103).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from posewright.robots.channel import Channel
from posewright.robots.distance_sensor import RangeScan, RangeSensor
from posewright.robots.inertial_sensor import Accelerometer, Compass, Imu
from posewright.robots.touch_sensor import AnalogTouch, FootContact, TouchSwitch, VibrationSensor


@dataclass(frozen=True)
class Camera:
    """Takes pictures; it has no readings a chart could use.

    Attributes:
        name: the sensor's name.
        mount: site or body of the model it is fixed to; it looks along +x.
        width: picture width in pixels.
        height: picture height in pixels.
        vertical_fov_deg: opening from the bottom to the top of the picture [deg].
        frame_rate_hz: pictures a second, where known [Hz].
    """

    kind: ClassVar[str] = "camera"
    name: str
    mount: str
    width: int
    height: int
    vertical_fov_deg: float = 45.0
    frame_rate_hz: float | None = None

    @property
    def channels(self) -> tuple[Channel, ...]:
        """None."""
        return ()

    @property
    def vertical_fov_rad(self) -> float:
        """Opening from the bottom to the top of the picture [rad]."""
        return math.radians(self.vertical_fov_deg)


SensorSpec: TypeAlias = (
    RangeSensor
    | RangeScan
    | Imu
    | Compass
    | Accelerometer
    | FootContact
    | TouchSwitch
    | AnalogTouch
    | VibrationSensor
    | Camera
)
