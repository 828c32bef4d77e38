"""All sensors of a simulated robot; each is evaluated only when it is read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.bodies import Reading
from posewright.errors import UnknownNameError
from posewright.robots import (
    Accelerometer,
    Compass,
    Encoder,
    FlashLidar,
    FloorSensor,
    FootContact,
    Imu,
    RangeScan,
    RangeSensor,
)
from posewright.rotation import roll_pitch_yaw_of_matrix
from posewright.simulation.domain import rotate_to_vertical
from posewright.simulation.floor_paint import FloorPaint
from posewright.simulation.mounts import MountFrame, find_mount
from posewright.simulation.rays import RangeReader

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance


class SensorReader(Protocol):
    """Evaluates one sensor, or several that are cheaper together."""

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Store the reading of every channel under the channel's name."""
        ...


class TimedReader(SensorReader, Protocol):
    """Evaluates a sensor with a rate of its own; its reading does not change in between."""

    def reset(self) -> None:
        """Forget the last reading."""
        ...

    def close(self) -> None:
        """Release the graphics context; a later reading creates another."""
        ...


class SpecificForce:
    """The specific force on a mount, as an accelerometer measures it: 9.81 upwards at rest, 0 in free fall.

    It is the mean over the last frame, as after a chip's own filter: the change of velocity over the frame,
    not the acceleration of a single physics step.

    Args:
        instance: the robot.
        mount: the sensor's mount.
    """

    def __init__(self, instance: ModelInstance, mount: MountFrame) -> None:
        self._model = instance.model
        self._data = instance.data
        self._mount = mount
        self._frame_period_s = instance.robot.frame_period_s
        self.gravity: Floats = instance.model.opt.gravity  # a view, as domain parameters may tilt it
        # MuJoCo writes here the mount's angular velocity [rad/s], then its linear velocity [m/s]
        self._spatial_velocity = np.zeros(6)
        self._frame_start_velocity = np.zeros(3)  # linear, in the field frame [m/s]

    @property
    def angular_velocity(self) -> Floats:
        """Angular velocity of the mount at the last `read`, `(3,)` in the field frame [rad/s]."""
        return self._spatial_velocity[:3]

    def begin_frame(self) -> None:
        """Store the velocity at the beginning of a frame."""
        self._frame_start_velocity = self._linear_velocity()

    def read(self) -> Floats:
        """Return the specific force in the mount's frame, `(3,)` [m/s^2]."""
        change = (self._linear_velocity() - self._frame_start_velocity) / self._frame_period_s
        force: Floats = (change - self.gravity) @ self._mount.rotation
        return force

    def _linear_velocity(self) -> Floats:
        """Return the mount's velocity `(3,)` in the field frame [m/s]; updates `_velocity`."""
        mount = self._mount
        mujoco.mj_objectVelocity(self._model, self._data, mount.kind, mount.index, self._spatial_velocity, 0)
        return self._spatial_velocity[3:].copy()


class ImuReader:
    """Reads orientation, angular velocity and acceleration of a mount."""

    def __init__(self, instance: ModelInstance, sensor: Imu) -> None:
        self._name = sensor.name
        self._mount = find_mount(instance, sensor.mount)
        self.force = SpecificForce(instance, self._mount)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Store the three channels."""
        rotation = self._mount.rotation
        acceleration = self.force.read()
        orientation = rotate_to_vertical(rotation, self.force.gravity)
        readings[f"{self._name}.orientation"] = np.array(roll_pitch_yaw_of_matrix(orientation))
        readings[f"{self._name}.angular_velocity"] = self.force.angular_velocity @ rotation
        readings[f"{self._name}.acceleration"] = acceleration


class AccelerometerReader:
    """Reads the acceleration of a mount, limited to the chip's range."""

    def __init__(self, instance: ModelInstance, sensor: Accelerometer) -> None:
        self._name = sensor.name
        self._range = sensor.range_m_s2
        self.force = SpecificForce(instance, find_mount(instance, sensor.mount))

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Store the acceleration along each axis, saturated at the range [m/s^2]."""
        readings[self._name] = np.clip(self.force.read(), -self._range, self._range)


class CompassReader:
    """Reads the heading of a mount: 0 along the field's +x, positive to the left."""

    def __init__(self, instance: ModelInstance, sensor: Compass) -> None:
        self._name = sensor.name
        self._mount = find_mount(instance, sensor.mount)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Store the heading [rad]."""
        rotation = self._mount.rotation
        readings[self._name] = math.atan2(rotation[1, 0], rotation[0, 0])


class FootContactReader:
    """Reads whether a foot touches the ground."""

    def __init__(self, instance: ModelInstance, sensor: FootContact) -> None:
        feet = instance.robot.feet
        if sensor.foot not in feet:
            raise UnknownNameError.among("foot", sensor.foot, feet)
        self._name = sensor.name
        self._data = instance.data
        self._address = instance.addresses.foot_contacts.start + feet.index(sensor.foot)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Store whether the foot touches."""
        readings[self._name] = bool(self._data.sensordata[self._address] > 0.0)


class FloorReader:
    """Reads the brightness of the floor below a point of a mount."""

    def __init__(self, instance: ModelInstance, sensor: FloorSensor, paint: FloorPaint) -> None:
        self._name = sensor.name
        self._reach_m = sensor.reach_m
        self._paint = paint
        self._mount = find_mount(instance, sensor.mount)
        self._position = np.array(sensor.position_m)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Store the reflectance, 0..1; 0 if the floor is out of reach or the sensor faces away from it."""
        rotation = self._mount.rotation
        x, y, z = (self._mount.position + rotation @ self._position).tolist()
        height = z - self._paint.height_m(x, y)
        sees_floor = rotation[2, 2] > 0.0 and height <= self._reach_m
        readings[self._name] = self._paint.reflectance(x, y) if sees_floor else 0.0


class EncoderReader:
    """Reads a servo's position as the servo reports it."""

    def __init__(self, instance: ModelInstance, sensor: Encoder) -> None:
        self._name = sensor.name
        self._servo = instance.robot.servo(sensor.joint)
        self._instance = instance
        self._joint = instance.robot.index(sensor.joint)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Store the position in whole ticks, limited to the servo's travel."""
        servo = self._servo
        angle = float(self._instance.joint_positions[self._joint])
        ticks = float(round(servo.to_ticks(angle)))
        readings[self._name] = min(max(ticks, float(servo.first_tick)), float(servo.last_tick))


class SensorSuite:
    """All sensors of a robot, with optional noise.

    Args:
        instance: the robot.
        noise: standard deviation of Gaussian noise by channel, in the channel's unit.
        seed: the seed of the noise.
        timed_readers: the readers of its sensors that render images.

    Raises:
        UnknownNameError: a sensor's mount, foot or joint is not in the model, or `noise` names an unknown
            channel.
    """

    def __init__(
        self,
        instance: ModelInstance,
        *,
        noise: Mapping[str, float] | None = None,
        seed: int = 0,
        timed_readers: Sequence[TimedReader] = (),
    ) -> None:
        """Create a reader of each sensor, one for all range sensors together."""
        sensors = instance.sensors
        self._inertial: list[ImuReader | AccelerometerReader] = [
            *(ImuReader(instance, s) for s in sensors if isinstance(s, Imu)),
            *(AccelerometerReader(instance, s) for s in sensors if isinstance(s, Accelerometer)),
        ]
        range_sensors = [s for s in sensors if isinstance(s, RangeSensor | RangeScan | FlashLidar)]
        self._readers: list[SensorReader] = [
            *([RangeReader(instance, range_sensors)] if range_sensors else []),
            *self._inertial,
            *(CompassReader(instance, s) for s in sensors if isinstance(s, Compass)),
            *(FootContactReader(instance, s) for s in sensors if isinstance(s, FootContact)),
            *(
                FloorReader(instance, s, FloorPaint(instance.arena))
                for s in sensors
                if isinstance(s, FloorSensor)
            ),
            *(EncoderReader(instance, s) for s in sensors if isinstance(s, Encoder)),
            *timed_readers,
        ]
        self._timed_readers = tuple(timed_readers)
        self._noise = dict(noise or {})
        self._seed = seed
        self._random = np.random.default_rng(seed)
        channels = [channel.name for sensor in sensors for channel in sensor.channels]
        for name in self._noise:
            if name not in channels:
                raise UnknownNameError.among("sensor channel", name, channels)

    def reset(self) -> None:
        """Reset the noise, the timed readers and the beginning of the frame."""
        for reader in self._timed_readers:
            reader.reset()
        self._random = np.random.default_rng(self._seed)
        self.begin_frame()

    def close(self) -> None:
        """Release the graphics contexts of timed readers."""
        for reader in self._timed_readers:
            reader.close()

    def begin_frame(self) -> None:
        """Store the state from which sensors that average over a frame measure."""
        for reader in self._inertial:
            reader.force.begin_frame()

    def read(self) -> dict[str, Reading]:
        """Return the readings of all channels by name, with noise."""
        readings: dict[str, Reading] = {}
        for reader in self._readers:
            reader.read_into(readings)
        for name, deviation in self._noise.items():
            reading = readings[name]
            readings[name] = reading + self._random.normal(0.0, deviation, np.shape(reading))
        return readings
