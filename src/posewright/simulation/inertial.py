"""What an inertial unit, an accelerometer and a compass measure."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.bodies import Reading
from posewright.robots import Accelerometer, Compass, Imu
from posewright.rotation import matrix_roll_pitch_yaw
from posewright.simulation.ground import levelled
from posewright.simulation.mount import Mount, find_mount


class SpecificForce:
    """What an accelerometer on a mount feels: +9.81 upwards where it is at rest, nothing in free fall.

    It is the mean over the last frame, as a chip's own filter makes it: the change of velocity over that
    time, not the jolt of a single physics step.
    """

    def __init__(self, model: Any, data: Any, mount: Mount, frame_period_s: float) -> None:
        self._model, self._data = model, data
        self._mount = mount
        self._frame_period_s = frame_period_s
        self.gravity: Floats = model.opt.gravity  # live: the ground may come to lean
        self._velocity = np.zeros(6)
        self._before = np.zeros(3)

    @property
    def angular_velocity(self) -> Floats:
        """How the mount turned when `read` was last called, `(3,)` in the field frame [rad/s]."""
        return self._velocity[:3]

    def begin_frame(self) -> None:
        """Keep the velocity from which the frame that comes is measured."""
        self._before = self._linear_velocity()

    def read(self) -> Floats:
        """Return the specific force in the mount's frame, `(3,)` [m/s^2]."""
        change = (self._linear_velocity() - self._before) / self._frame_period_s
        force: Floats = (change - self.gravity) @ self._mount.rotation
        return force

    def _linear_velocity(self) -> Floats:
        """Return the mount's velocity `(3,)` in the field frame [m/s]; leaves both kinds in `_velocity`."""
        mount = self._mount
        mujoco.mj_objectVelocity(self._model, self._data, mount.kind, mount.index, self._velocity, 0)
        return self._velocity[3:].copy()


class ImuReader:
    """Orientation, angular velocity and acceleration of a mount."""

    def __init__(self, model: Any, data: Any, sensor: Imu, frame_period_s: float) -> None:
        self._name = sensor.name
        self._mount = find_mount(model, data, sensor.mount)
        self._force = SpecificForce(model, data, self._mount, frame_period_s)

    def begin_frame(self) -> None:
        """Let the frame that comes be measured."""
        self._force.begin_frame()

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down the three channels."""
        rotation = self._mount.rotation
        acceleration = self._force.read()
        level = levelled(rotation, self._force.gravity)
        readings[f"{self._name}.orientation"] = np.array(matrix_roll_pitch_yaw(level))
        readings[f"{self._name}.angular_velocity"] = self._force.angular_velocity @ rotation
        readings[f"{self._name}.acceleration"] = acceleration


class AccelerometerReader:
    """Acceleration of a mount, as far as the chip's range goes."""

    def __init__(self, model: Any, data: Any, sensor: Accelerometer, frame_period_s: float) -> None:
        self._name, self._range = sensor.name, sensor.range_m_s2
        self._force = SpecificForce(model, data, find_mount(model, data, sensor.mount), frame_period_s)

    def begin_frame(self) -> None:
        """Let the frame that comes be measured."""
        self._force.begin_frame()

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down the acceleration along each axis, saturated at the range."""
        readings[self._name] = np.clip(self._force.read(), -self._range, self._range)


class CompassReader:
    """The heading of a mount: 0 along the field's +x, positive to the left."""

    def __init__(self, model: Any, data: Any, sensor: Compass) -> None:
        self._name = sensor.name
        self._mount = find_mount(model, data, sensor.mount)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down the heading [rad]."""
        rotation = self._mount.rotation
        readings[self._name] = math.atan2(rotation[1, 0], rotation[0, 0])
