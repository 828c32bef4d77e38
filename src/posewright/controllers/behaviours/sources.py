"""Sources of the values of a chart's inputs.

A source returns SI units (radians, metres, seconds), NaN where the value is not known, and infinity where
there is none. `Source` is the union of all sources: the code generator translates each of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, Reading
from posewright.charts import Value
from posewright.controllers.behaviours.scan import COURSE_STEP_RAD, Beams, Scan, Side
from posewright.errors import BodyError
from posewright.recordings.falls import FallenSide, find_fallen_side
from posewright.robots import RangeScan
from posewright.units import RAD_PER_DEG, wrap_angle


class Quantity(Enum):
    """A physical quantity; the value is its name in messages."""

    LENGTH = "a length"
    ANGLE = "an angle"
    TURN_RATE = "a turn rate"
    ACCELERATION = "an acceleration"
    TORQUE = "a torque"
    TIME = "a time"
    NUMBER = "a plain number"
    FLAG = "true or false"

    @property
    def units(self) -> Mapping[str, float]:
        """The units of the quantity by name, the SI unit first, each with its size in SI units."""
        return _UNITS[self]


_UNITS: Mapping[Quantity, Mapping[str, float]] = {
    Quantity.LENGTH: {"m": 1.0, "cm": 0.01, "mm": 0.001},
    Quantity.ANGLE: {"rad": 1.0, "deg": RAD_PER_DEG},
    Quantity.TURN_RATE: {"rad_s": 1.0, "deg_s": RAD_PER_DEG},
    Quantity.ACCELERATION: {"m_s2": 1.0},
    Quantity.TORQUE: {"nm": 1.0},
    Quantity.TIME: {"s": 1.0, "ms": 0.001},
    Quantity.NUMBER: {"": 1.0},
    Quantity.FLAG: {},
}


@dataclass(slots=True, eq=False)
class TickContext:
    """What the sources of one tick are evaluated from."""

    state: BodyState  # the present state of the body
    since_start_s: float = 0.0  # time since the first tick [s]
    playing: str | None = None  # the motion or gait performed; None while the robot stands still
    outputs: Mapping[str, Value] = field(default_factory=dict)  # of the chart before this tick
    chance: float = 0.0  # the random number of this tick, 0 up to 1
    _scans: dict[str, Scan] = field(default_factory=dict)

    def reading(self, channel: str) -> Reading:
        """Return the reading of a sensor's channel.

        Raises:
            BodyError: the body has no such channel.
        """
        try:
            return self.state.sensors[channel]
        except KeyError:
            channels = ", ".join(sorted(self.state.sensors)) or "none"
            raise BodyError(f"the body has no channel {channel!r}", hint=f"it has {channels}") from None

    def number(self, channel: str, index: int | None = None) -> float:
        """Return the reading of a channel as a number; `index` selects one of several."""
        reading = self.reading(channel)
        if index is None:
            return float(reading)
        return float(np.asarray(reading)[index])

    def scan(self, channel: str, beams: Beams, max_range_m: float) -> Scan:
        """Return the reading of a scanner, computed once for several inputs."""
        if channel not in self._scans:
            ranges: Floats = np.asarray(self.reading(channel), dtype=np.float64)
            if ranges.shape != beams.angles.shape:
                raise BodyError(
                    f"{channel} reads {ranges.shape} values", hint=f"it has {len(beams.angles)} beams"
                )
            self._scans[channel] = Scan(beams, ranges, max_range_m)
        return self._scans[channel]


@dataclass(frozen=True)
class ChannelSource:
    """A number or flag of a sensor's channel."""

    channel: str  # name of the channel in a BodyState
    quantity: Quantity = field(repr=False)  # the quantity measured
    index: int | None = None  # selects one of several numbers; None where the channel has one
    no_reading: float = math.nan  # replaces readings that are not finite: a range sensor's greatest range

    def __str__(self) -> str:
        return self.channel if self.index is None else f"{self.channel}[{self.index}]"

    def read(self, context: TickContext) -> float:
        """Return the reading of the channel."""
        value = context.number(self.channel, self.index)
        return value if math.isfinite(value) else self.no_reading


@dataclass(frozen=True)
class JointSource:
    """The angle of a joint [rad], or with `load` its torque [N m]."""

    joint: int
    load: bool = False

    @property
    def quantity(self) -> Quantity:
        """An angle or a torque."""
        return Quantity.TORQUE if self.load else Quantity.ANGLE

    def read(self, context: TickContext) -> float:
        """Return the angle or torque of the joint."""
        state = context.state
        return float((state.efforts if self.load else state.positions)[self.joint])


@dataclass(frozen=True)
class ClockSource:
    """The time since the first tick [s]."""

    quantity: Quantity = field(default=Quantity.TIME, repr=False)

    def read(self, context: TickContext) -> float:
        """Return the time since the first tick."""
        return context.since_start_s


@dataclass(frozen=True)
class PlayingSource:
    """Whether a motion or gait is performed; with None whether the robot stands still."""

    motion: str | None
    quantity: Quantity = field(default=Quantity.FLAG, repr=False)

    def read(self, context: TickContext) -> float:
        """Return 1 if it is, else 0."""
        return float(context.playing == self.motion)


@dataclass(frozen=True)
class RandomSource:
    """A random number for each tick, 0 up to 1."""

    quantity: Quantity = field(default=Quantity.NUMBER, repr=False)

    def read(self, context: TickContext) -> float:
        """Return the number of this tick."""
        return context.chance


class HeadingChannel(NamedTuple):
    """A channel with the robot's heading, and which of its numbers it is; None if it has only one."""

    channel: str
    component: int | None


@dataclass(frozen=True)
class Direction:
    """A direction, relative to the robot or, with a compass, to the field."""

    towards: float | str  # an angle [rad], or the name of a chart's output with an angle [deg]
    compass: HeadingChannel | None = None  # the heading; None for a direction relative to the robot

    def __repr__(self) -> str:
        towards = self.towards if isinstance(self.towards, str) else f"{self.towards / RAD_PER_DEG:g} deg"
        return f"Direction({towards} by {'the robot' if self.compass is None else self.compass.channel})"

    def relative_to_robot(self, context: TickContext) -> float:
        """Return the angle relative to the robot's heading, positive to the left [rad]; NaN if not known."""
        if isinstance(self.towards, str):
            towards = float(context.outputs[self.towards]) * RAD_PER_DEG
        else:
            towards = self.towards
        if self.compass is None:
            return towards
        return towards - context.number(self.compass.channel, self.compass.component)


@dataclass(frozen=True, eq=False)
class Scanner:
    """A range sensor with many beams."""

    channel: str  # name of its channel in a BodyState
    beams: Beams  # directions of the beams
    max_range_m: float  # reading of a beam that hits nothing [m]

    def __repr__(self) -> str:
        return f"Scanner({self.channel!r}, {self.beams!r})"

    @classmethod
    def of(cls, spec: RangeScan) -> Scanner:
        """Return the scanner of a sensor."""
        return cls(spec.name, Beams(np.asarray(spec.bearings_rad)), spec.max_range_m)

    def scan(self, context: TickContext) -> Scan:
        """Return the present scan."""
        return context.scan(self.channel, self.beams, self.max_range_m)


@dataclass(frozen=True)
class CorridorSource:
    """The free length of a corridor in a direction [m]."""

    scanner: Scanner
    direction: Direction
    width_m: float
    quantity: Quantity = field(default=Quantity.LENGTH, repr=False)

    def read(self, context: TickContext) -> float:
        """Return the length of the free corridor [m]; NaN while the direction is unknown."""
        towards = self.direction.relative_to_robot(context)
        if not math.isfinite(towards):
            return math.nan
        return self.scanner.scan(context).corridor(towards_rad=towards, width_m=self.width_m)


@dataclass(frozen=True)
class FreeCourseSource:
    """The smallest turn to one side of a direction into a free corridor [rad]; infinity if none is free."""

    scanner: Scanner
    direction: Direction
    side: Side
    width_m: float
    length_m: float
    step_rad: float = COURSE_STEP_RAD
    up_to_rad: float = math.pi
    quantity: Quantity = field(default=Quantity.ANGLE, repr=False)

    def __repr__(self) -> str:
        corridor = f"{self.width_m:g} x {self.length_m:g} m"
        return f"FreeCourseSource({self.scanner!r}, {self.side.name} of {self.direction!r}, {corridor})"

    def read(self, context: TickContext) -> float:
        """Return the size of the smallest turn to the side into a free corridor [rad].

        Infinity if there is none up to `up_to_rad`; NaN while the direction is unknown.
        """
        towards = self.direction.relative_to_robot(context)
        if not math.isfinite(towards):
            return math.nan
        turn = self.scanner.scan(context).free_course(
            towards_rad=towards,
            side=self.side,
            width_m=self.width_m,
            length_m=self.length_m,
            step_rad=self.step_rad,
            up_to_rad=self.up_to_rad,
        )
        return math.inf if turn is None else turn


@dataclass(frozen=True)
class FarthestSource:
    """The distance of the farthest object along a direction [m]: the wall behind all boxes."""

    scanner: Scanner
    direction: Direction
    within_rad: float
    quantity: Quantity = field(default=Quantity.LENGTH, repr=False)

    def read(self, context: TickContext) -> float:
        """Return the distance."""
        towards = self.direction.relative_to_robot(context)
        if not math.isfinite(towards):
            return math.nan
        return self.scanner.scan(context).farthest_along(towards_rad=towards, within_rad=self.within_rad)


@dataclass(frozen=True)
class BearingSource:
    """The robot's heading relative to a direction, positive to the left, within half a turn [rad]."""

    direction: Direction
    quantity: Quantity = field(default=Quantity.ANGLE, repr=False)

    def read(self, context: TickContext) -> float:
        """Return the angle; NaN if the heading is not known."""
        towards = self.direction.relative_to_robot(context)
        return wrap_angle(-towards) if math.isfinite(towards) else math.nan


@dataclass(frozen=True)
class FallenSource:
    """Whether the robot lies, by the limits at which `evaluate` counts a fall."""

    channel: str  # the orientation of an IMU, or an acceleration
    is_orientation: bool  # whether the channel reads roll and pitch [rad], not x, y and z of an acceleration
    side: FallenSide | None  # on which it lies; None for any
    quantity: Quantity = field(default=Quantity.FLAG, repr=False)

    @property
    def n_numbers(self) -> int:
        """How many numbers of the channel are read, from the first."""
        return 2 if self.is_orientation else 3

    def read(self, context: TickContext) -> float:
        """Return 1 if the robot lies on this side, else 0; NaN if a reading is not finite."""
        numbers = [context.number(self.channel, index) for index in range(self.n_numbers)]
        if not all(map(math.isfinite, numbers)):
            return math.nan
        side = find_fallen_side(*(_vertical_in_base(*numbers) if self.is_orientation else numbers))
        return float(side is not None and self.side in (None, side))


def _vertical_in_base(roll: float, pitch: float) -> tuple[float, float, float]:
    """Return the unit vector upwards in the frame of a base with this roll and pitch [rad]."""
    return -math.sin(pitch), math.cos(pitch) * math.sin(roll), math.cos(pitch) * math.cos(roll)


Source: TypeAlias = (
    ChannelSource
    | FallenSource
    | JointSource
    | ClockSource
    | PlayingSource
    | RandomSource
    | BearingSource
    | CorridorSource
    | FreeCourseSource
    | FarthestSource
)
"""All sources of inputs; each has a `quantity` and `read(context)`. A flag reads 0 or 1."""
