"""A robot's sensors as YARP ports: their name_client, and their readings as Vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import Reading
from posewright.network.yarp.axes import numbers, vector
from posewright.network.yarp.bottle import Bottle
from posewright.robots import FlashLidar, FootContact, Imu, RangeScan, RangeSensor, Robot, SensorSpec
from posewright.units import DEG_PER_RAD

NAMING = "yarp"
"""The naming on a robot's card with the names of its sensors in YARP."""

INERTIAL = 12
"""Length of YARP's inertial Vector: roll pitch yaw [deg], acceleration [m/s^2], angular velocity [deg/s], and
the magnetic field, which is not measured and always 0.
"""

FROM_INERTIAL = (0, 1, 2, 6, 7, 8, 3, 4, 5)
"""Indices in an inertial Vector of the channels of an IMU: orientation, angular velocity, acceleration."""


@dataclass(frozen=True, slots=True)
class SensorPort:
    """A port that sends the readings of one sensor as a Vector.

    Distances are in metres, angles in degrees, contacts 1 or 0.
    """

    name: str
    sensor: SensorSpec

    @property
    def count(self) -> int:
        """Number of values in its Vector."""
        if isinstance(self.sensor, Imu):
            return INERTIAL
        return sum(int(np.prod(channel.shape)) for channel in self.sensor.channels)

    def encode(self, readings: Mapping[str, Reading]) -> Bottle | None:
        """Return the Vector of some readings; None if one of the sensor's channels is missing."""
        channels = self.sensor.channels
        if any(channel.name not in readings for channel in channels):
            return None
        values = [
            np.atleast_1d(np.asarray(readings[channel.name], np.float64)) * _scale(channel.unit)
            for channel in channels
        ]
        if isinstance(self.sensor, Imu):
            orientation, angular_velocity, acceleration = values
            magnetic_field = np.zeros(3)
            values = [orientation, acceleration, angular_velocity, magnetic_field]
        return vector(np.concatenate(values))

    def readings(self, bottle: Bottle) -> Mapping[str, Reading]:
        """Return the readings in a Vector.

        Raises:
            InputError: the bottle is no Vector of this sensor.
        """
        values = numbers(bottle, self.count)
        if isinstance(self.sensor, Imu):
            values = values[list(FROM_INERTIAL)]
        readings: dict[str, Reading] = {}
        for channel in self.sensor.channels:
            size = int(np.prod(channel.shape))
            channel_values: Floats = values[:size] / _scale(channel.unit)
            values = values[size:]
            if channel.shape:
                readings[channel.name] = channel_values.reshape(channel.shape)
            elif isinstance(self.sensor, FootContact):
                readings[channel.name] = bool(channel_values[0])
            else:
                readings[channel.name] = float(channel_values[0])
        return readings


def _scale(unit: str) -> float:
    """Return the factor from a unit of a sensor to that of YARP."""
    return DEG_PER_RAD if unit in {"rad", "rad/s"} else 1.0


def sensor_ports(name: str, robot: Robot, sensors: Iterable[SensorSpec]) -> tuple[SensorPort, ...]:
    """Return the ports of sensors: distances at `NAME/SENSOR/depth:o`, others at `NAME/SENSOR:o`.

    Args:
        name: the name of the served robot's ports, NAME.
        robot: the robot; its card may give sensors other names for YARP, else SENSOR is the sensor's own.
        sensors: the sensors; those without channels have no port.
    """
    yarp_names = {sensor: yarp_name for yarp_name, sensor in robot.namings.get(NAMING, {}).items()}
    ranges = RangeSensor | RangeScan | FlashLidar
    ports: list[SensorPort] = []
    for sensor in sensors:
        if sensor.channels:
            suffix = "/depth" if isinstance(sensor, ranges) else ""
            ports.append(SensorPort(f"{name}/{yarp_names.get(sensor.name, sensor.name)}{suffix}:o", sensor))
    return tuple(ports)
