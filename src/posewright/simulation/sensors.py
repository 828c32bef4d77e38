"""All sensors of a robot in a world, evaluated when they are read and at no other time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from posewright.bodies import Reading
from posewright.errors import UnknownNameError
from posewright.robots import Accelerometer, Compass, FootContact, Imu, RangeScan, RangeSensor
from posewright.simulation.inertial import AccelerometerReader, CompassReader, ImuReader
from posewright.simulation.rays import Rays

if TYPE_CHECKING:
    from posewright.simulation.world import World


class Reader(Protocol):
    """Evaluates one sensor, or several that are cheaper together."""

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down every channel under its name."""
        ...


class FootContactReader:
    """Whether a foot touches the floor."""

    def __init__(self, world: World, sensor: FootContact) -> None:
        feet = world.robot.feet
        if sensor.foot not in feet:
            raise UnknownNameError.among("foot", sensor.foot, feet)
        self._name = sensor.name
        self._data = world.data
        self._address = world.addresses.foot_contacts.start + feet.index(sensor.foot)

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down whether it touches."""
        readings[self._name] = bool(self._data.sensordata[self._address] > 0.0)


class Senses:
    """The sensors of a world's robot.

    Args:
        world: whose `sensors` these are.
        noise: standard deviation of Gaussian noise by channel, in the channel's unit.
        seed: of the noise.

    Raises:
        UnknownNameError: a sensor's mount or foot is not in the model, or a noisy channel is none.
    """

    def __init__(self, world: World, *, noise: Mapping[str, float] | None = None, seed: int = 0) -> None:
        sensors = world.sensors
        model, data = world.model, world.data
        period_s = world.robot.frame_period_s
        self._inertial: list[ImuReader | AccelerometerReader] = [
            *(ImuReader(model, data, s, period_s) for s in sensors if isinstance(s, Imu)),
            *(AccelerometerReader(model, data, s, period_s) for s in sensors if isinstance(s, Accelerometer)),
        ]
        rays = [s for s in sensors if isinstance(s, RangeSensor | RangeScan)]
        self._readers: list[Reader] = [
            *([Rays(world, rays)] if rays else []),
            *self._inertial,
            *(CompassReader(model, data, s) for s in sensors if isinstance(s, Compass)),
            *(FootContactReader(world, s) for s in sensors if isinstance(s, FootContact)),
        ]
        self._noise = dict(noise or {})
        self._seed = seed
        self._random = np.random.default_rng(seed)
        channels = [channel.name for sensor in sensors for channel in sensor.channels]
        for name in self._noise:
            if name not in channels:
                raise UnknownNameError.among("sensor channel", name, channels)

    def reset(self) -> None:
        """Begin the noise anew."""
        self._random = np.random.default_rng(self._seed)
        self.begin_frame()

    def begin_frame(self) -> None:
        """Let sensors that measure over a frame note its beginning."""
        for reader in self._inertial:
            reader.begin_frame()

    def read(self) -> dict[str, Reading]:
        """Return every reading by its channel."""
        readings: dict[str, Reading] = {}
        for reader in self._readers:
            reader.read_into(readings)
        for name, deviation in self._noise.items():
            reading = readings[name]
            readings[name] = reading + self._random.normal(0.0, deviation, np.shape(reading))
        return readings
