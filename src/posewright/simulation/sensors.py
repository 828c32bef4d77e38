"""All sensors of a robot, evaluated when they are read and at no other time."""

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
from posewright.simulation.domain import levelled
from posewright.simulation.floor_paint import FloorPaint
from posewright.simulation.mounts import Mount, find_mount
from posewright.simulation.rays import Rays

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance


class Reader(Protocol):
    """Evaluates one sensor, or several that are cheaper together."""

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down every channel under its name."""
        ...


class Watching(Reader, Protocol):
    """Evaluates a sensor that has a rhythm of its own: in between its reading stays."""

    def reset(self) -> None:
        """Begin anew."""
        ...

    def close(self) -> None:
        """Give back what the graphics driver holds; what is read later takes it again."""
        ...


class SpecificForce:
    """What an accelerometer on a mount feels: +9.81 upwards where it is at rest, nothing in free fall.

    It is the mean over the last frame, as a chip's own filter makes it: the change of velocity over that
    time, not the jolt of a single physics step.
    """

    def __init__(self, one: ModelInstance, mount: Mount) -> None:
        self._model, self._data = one.model, one.data
        self._mount = mount
        self._frame_period_s = one.robot.frame_period_s
        self.gravity: Floats = one.model.opt.gravity  # live: the ground may come to lean
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

    def __init__(self, one: ModelInstance, sensor: Imu) -> None:
        self._name = sensor.name
        self._mount = find_mount(one, sensor.mount)
        self.force = SpecificForce(one, self._mount)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down the three channels."""
        rotation = self._mount.rotation
        acceleration = self.force.read()
        level = levelled(rotation, self.force.gravity)
        readings[f"{self._name}.orientation"] = np.array(roll_pitch_yaw_of_matrix(level))
        readings[f"{self._name}.angular_velocity"] = self.force.angular_velocity @ rotation
        readings[f"{self._name}.acceleration"] = acceleration


class AccelerometerReader:
    """Acceleration of a mount, as far as the chip's range goes."""

    def __init__(self, one: ModelInstance, sensor: Accelerometer) -> None:
        self._name, self._range = sensor.name, sensor.range_m_s2
        self.force = SpecificForce(one, find_mount(one, sensor.mount))

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down the acceleration along each axis, saturated at the range."""
        readings[self._name] = np.clip(self.force.read(), -self._range, self._range)


class CompassReader:
    """The heading of a mount: 0 along the field's +x, positive to the left."""

    def __init__(self, one: ModelInstance, sensor: Compass) -> None:
        self._name = sensor.name
        self._mount = find_mount(one, sensor.mount)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down the heading [rad]."""
        rotation = self._mount.rotation
        readings[self._name] = math.atan2(rotation[1, 0], rotation[0, 0])


class FootContactReader:
    """Whether a foot touches the floor."""

    def __init__(self, one: ModelInstance, sensor: FootContact) -> None:
        feet = one.robot.feet
        if sensor.foot not in feet:
            raise UnknownNameError.among("foot", sensor.foot, feet)
        self._name = sensor.name
        self._data = one.data
        self._address = one.addresses.foot_contacts.start + feet.index(sensor.foot)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down whether it touches."""
        readings[self._name] = bool(self._data.sensordata[self._address] > 0.0)


class FloorReader:
    """How bright the floor is below a point of a mount."""

    def __init__(self, one: ModelInstance, sensor: FloorSensor, paint: FloorPaint) -> None:
        self._name, self._reach_m, self._paint = sensor.name, sensor.reach_m, paint
        self._mount = find_mount(one, sensor.mount)
        self._position = np.array(sensor.position_m)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down the reflectance, 0..1; 0 where the sensor is out of reach of the floor or looks away."""
        rotation = self._mount.rotation
        x, y, z = (self._mount.position + rotation @ self._position).tolist()
        height = z - self._paint.height_m(x, y)
        sees = rotation[2, 2] > 0.0 and height <= self._reach_m
        readings[self._name] = self._paint.reflectance(x, y) if sees else 0.0


class EncoderReader:
    """The position of a servo, as it tells it."""

    def __init__(self, one: ModelInstance, sensor: Encoder) -> None:
        self._name, self._servo = sensor.name, one.robot.servo(sensor.joint)
        self._one, self._joint = one, one.robot.index(sensor.joint)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down the ticks, whole and within the servo's travel."""
        servo, angle = self._servo, float(self._one.joint_positions[self._joint])
        ticks = float(round(servo.to_ticks(angle)))
        readings[self._name] = min(max(ticks, float(servo.first_tick)), float(servo.last_tick))


class Senses:
    """The sensors of a robot.

    Args:
        one: whose `sensors` these are.
        noise: standard deviation of Gaussian noise by channel, in the channel's unit.
        seed: of the noise.
        watching: those of its sensors that draw pictures, made ready.

    Raises:
        UnknownNameError: a sensor's mount, foot or joint is not in the model, or a noisy channel is none.
    """

    def __init__(
        self,
        one: ModelInstance,
        *,
        noise: Mapping[str, float] | None = None,
        seed: int = 0,
        watching: Sequence[Watching] = (),
    ) -> None:
        sensors = one.sensors
        self._inertial: list[ImuReader | AccelerometerReader] = [
            *(ImuReader(one, s) for s in sensors if isinstance(s, Imu)),
            *(AccelerometerReader(one, s) for s in sensors if isinstance(s, Accelerometer)),
        ]
        rays = [s for s in sensors if isinstance(s, RangeSensor | RangeScan | FlashLidar)]
        self._readers: list[Reader] = [
            *([Rays(one, rays)] if rays else []),
            *self._inertial,
            *(CompassReader(one, s) for s in sensors if isinstance(s, Compass)),
            *(FootContactReader(one, s) for s in sensors if isinstance(s, FootContact)),
            *(FloorReader(one, s, FloorPaint(one.arena)) for s in sensors if isinstance(s, FloorSensor)),
            *(EncoderReader(one, s) for s in sensors if isinstance(s, Encoder)),
            *watching,
        ]
        self._watching = tuple(watching)
        self._noise = dict(noise or {})
        self._seed = seed
        self._random = np.random.default_rng(seed)
        channels = [channel.name for sensor in sensors for channel in sensor.channels]
        for name in self._noise:
            if name not in channels:
                raise UnknownNameError.among("sensor channel", name, channels)

    def reset(self) -> None:
        """Begin the noise, and what has a rhythm of its own, anew."""
        for reader in self._watching:
            reader.reset()
        self._random = np.random.default_rng(self._seed)
        self.begin_frame()

    def close(self) -> None:
        """Give back what the graphics driver holds."""
        for reader in self._watching:
            reader.close()

    def begin_frame(self) -> None:
        """Let sensors that measure over a frame note its beginning."""
        for reader in self._inertial:
            reader.force.begin_frame()

    def read(self) -> dict[str, Reading]:
        """Return every reading by its channel."""
        readings: dict[str, Reading] = {}
        for reader in self._readers:
            reader.read_into(readings)
        for name, deviation in self._noise.items():
            reading = readings[name]
            readings[name] = reading + self._random.normal(0.0, deviation, np.shape(reading))
        return readings
