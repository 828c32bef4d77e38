"""Sensors of the body's own motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from posewright.robots.channel import Channel


@dataclass(frozen=True)
class Imu:
    """Measures orientation (roll, pitch, yaw), angular velocity and acceleration of its mount."""

    kind: ClassVar[str] = "imu"
    name: str
    mount: str

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Orientation, angular velocity and acceleration, three numbers each."""
        return (
            Channel(f"{self.name}.orientation", "rad", (3,)),
            Channel(f"{self.name}.angular_velocity", "rad/s", (3,)),
            Channel(f"{self.name}.acceleration", "m/s^2", (3,)),
        )


@dataclass(frozen=True)
class Compass:
    """Measures where its mount looks: 0 along the field's +x, positive to the left."""

    kind: ClassVar[str] = "compass"
    name: str
    mount: str

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The heading."""
        return (Channel(self.name, "rad"),)


@dataclass(frozen=True)
class Accelerometer:
    """Measures the acceleration of its mount, along the mount's axes: +9.81 upwards where it is at rest.

    Attributes:
        name: the sensor's name.
        mount: site or body of the model it is fixed to.
        range_m_s2: farthest reading either way, where it saturates [m/s^2].
    """

    kind: ClassVar[str] = "accelerometer"
    name: str
    mount: str
    range_m_s2: float

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The acceleration forward, left and up."""
        return (Channel(self.name, "m/s^2", (3,)),)
