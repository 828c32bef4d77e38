"""Sources: where a chart's input takes its value from.

A source answers in inner units (radians, metres, seconds). NaN means that nothing is known just now,
infinity that there is none of what was looked for. There are no others than those of `Source`: who
translates a behaviour into another language goes through them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, Reading
from posewright.charts import Value
from posewright.controllers.behaviours.scan import COURSE_STEP_RAD, Beams, Scan, Side
from posewright.errors import BodyError
from posewright.robots import RangeScan
from posewright.units import RAD_PER_DEG, wrap_angle


class Quantity(Enum):
    """What a number measures; the value is how a message calls it."""

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
        """The units that fit, by name, the inner one first, each with its size in inner units."""
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
class Senses:
    """One tick's view of the world and of the robot's own doing."""

    state: BodyState  # what the body says of itself
    since_start_s: float = 0.0  # time since the first tick [s]
    playing: str | None = None  # the motion the player is playing; None while the robot stands still
    outputs: Mapping[str, Value] = field(default_factory=dict)  # of the chart before this tick
    chance: float = 0.0  # a number drawn for this tick, 0 up to 1
    _scans: dict[str, Scan] = field(default_factory=dict)

    def reading(self, channel: str) -> Reading:
        """Return what a sensor's channel reads.

        Raises:
            BodyError: the body has no such channel.
        """
        try:
            return self.state.sensors[channel]
        except KeyError:
            known = ", ".join(sorted(self.state.sensors)) or "none"
            raise BodyError(f"the body reads no {channel!r}", hint=f"it reads {known}") from None

    def number(self, channel: str, index: int | None = None) -> float:
        """Return what a channel reads as a number; `index` picks one of several."""
        reading = self.reading(channel)
        if index is None:
            return float(reading)
        return float(np.asarray(reading)[index])

    def scan(self, channel: str, beams: Beams, max_range_m: float) -> Scan:
        """Return what a scanner reads; several inputs share it."""
        if channel not in self._scans:
            ranges: Floats = np.asarray(self.reading(channel), dtype=np.float64)
            if ranges.shape != beams.angles.shape:
                what = f"{channel} reads {ranges.shape} values"
                raise BodyError(what, hint=f"it has {len(beams.angles)} beams")
            self._scans[channel] = Scan(beams, ranges, max_range_m)
        return self._scans[channel]


@dataclass(frozen=True)
class ChannelSource:
    """A number or flag that a sensor reads."""

    channel: str  # the channel's name in a BodyState
    quantity: Quantity = field(repr=False)  # what it measures
    index: int | None = None  # which of the channel's several numbers; None where it has one
    nothing: float = math.nan  # what a reading that is not finite stands for: a range sensor's greatest range

    def __str__(self) -> str:
        return self.channel if self.index is None else f"{self.channel}[{self.index}]"

    def read(self, senses: Senses) -> float:
        """Return what the channel reads."""
        value = senses.number(self.channel, self.index)
        return value if math.isfinite(value) else self.nothing


@dataclass(frozen=True)
class JointSource:
    """Where one joint is [rad], or with `load` the torque on it [N m]."""

    joint: int
    load: bool = False

    @property
    def quantity(self) -> Quantity:
        """An angle or a torque."""
        return Quantity.TORQUE if self.load else Quantity.ANGLE

    def read(self, senses: Senses) -> float:
        """Return the joint's angle or load."""
        state = senses.state
        return float((state.efforts if self.load else state.positions)[self.joint])


@dataclass(frozen=True)
class ClockSource:
    """The time since the first tick [s]: a robot has a clock."""

    quantity: Quantity = field(default=Quantity.TIME, repr=False)

    def read(self, senses: Senses) -> float:
        """Return the time since the first tick."""
        return senses.since_start_s


@dataclass(frozen=True)
class PlayingSource:
    """Whether a motion is being played; of no motion in particular, whether the robot stands still."""

    motion: str | None
    quantity: Quantity = field(default=Quantity.FLAG, repr=False)

    def read(self, senses: Senses) -> float:
        """Return 1 where it is so, else 0."""
        return float(senses.playing == self.motion)


@dataclass(frozen=True)
class ChanceSource:
    """A number drawn anew each tick from the trial's seed, 0 up to 1."""

    quantity: Quantity = field(default=Quantity.NUMBER, repr=False)

    def read(self, senses: Senses) -> float:
        """Return this tick's number."""
        return senses.chance


@dataclass(frozen=True)
class Direction:
    """A direction to look in."""

    towards: float | str  # an angle [rad], or the name of a chart's output that holds one [deg]
    compass: tuple[str, int | None] | None = None  # channel and index; with one it is the field's direction

    def __repr__(self) -> str:
        towards = self.towards if isinstance(self.towards, str) else f"{self.towards / RAD_PER_DEG:g} deg"
        return f"Direction({towards} by {'the robot' if self.compass is None else self.compass[0]})"

    def seen_by(self, senses: Senses) -> float:
        """Return the direction as the robot sees it, positive to the left [rad]; NaN if not known."""
        if isinstance(self.towards, str):
            towards = float(senses.outputs[self.towards]) * RAD_PER_DEG
        else:
            towards = self.towards
        return towards if self.compass is None else towards - senses.number(*self.compass)


@dataclass(frozen=True, eq=False)
class Scanner:
    """A sensor with many beams, made ready to be asked."""

    channel: str  # its channel in a BodyState
    beams: Beams  # where it looks
    max_range_m: float  # what a beam reads that meets nothing [m]

    def __repr__(self) -> str:
        return f"Scanner({self.channel!r}, {self.beams!r})"

    @classmethod
    def of(cls, spec: RangeScan) -> Scanner:
        """Return the scanner of a sensor."""
        return cls(spec.name, Beams(np.asarray(spec.bearings_rad)), spec.max_range_m)

    def scan(self, senses: Senses) -> Scan:
        """Return what it reads."""
        return senses.scan(self.channel, self.beams, self.max_range_m)


@dataclass(frozen=True)
class CorridorSource:
    """How far a corridor is free in a direction [m]."""

    scanner: Scanner
    direction: Direction
    width_m: float
    quantity: Quantity = field(default=Quantity.LENGTH, repr=False)

    def read(self, senses: Senses) -> float:
        """Return the free length."""
        towards = self.direction.seen_by(senses)
        if not math.isfinite(towards):
            return math.nan
        return self.scanner.scan(senses).corridor(towards_rad=towards, width_m=self.width_m)


@dataclass(frozen=True)
class FreeCourseSource:
    """How far to turn to one side of a direction until a corridor is free [rad]; infinity if none is."""

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

    def read(self, senses: Senses) -> float:
        """Return the turn."""
        towards = self.direction.seen_by(senses)
        if not math.isfinite(towards):
            return math.nan
        turn = self.scanner.scan(senses).free_course(
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
    """How far the farthest thing lies along a direction [m]: the wall behind all boxes."""

    scanner: Scanner
    direction: Direction
    within_rad: float
    quantity: Quantity = field(default=Quantity.LENGTH, repr=False)

    def read(self, senses: Senses) -> float:
        """Return the distance."""
        towards = self.direction.seen_by(senses)
        if not math.isfinite(towards):
            return math.nan
        return self.scanner.scan(senses).farthest_along(towards_rad=towards, within_rad=self.within_rad)


@dataclass(frozen=True)
class BearingSource:
    """How far to the left of a direction in the field the robot looks, within half a turn [rad]."""

    direction: Direction
    quantity: Quantity = field(default=Quantity.ANGLE, repr=False)

    def read(self, senses: Senses) -> float:
        """Return the angle; NaN if the heading is not known."""
        towards = self.direction.seen_by(senses)
        return wrap_angle(-towards) if math.isfinite(towards) else math.nan


Source: TypeAlias = (
    ChannelSource
    | JointSource
    | ClockSource
    | PlayingSource
    | ChanceSource
    | BearingSource
    | CorridorSource
    | FreeCourseSource
    | FarthestSource
)
"""Everything an input can be read from; each has a `quantity` and `read(senses)`. A flag reads 0 or 1."""
