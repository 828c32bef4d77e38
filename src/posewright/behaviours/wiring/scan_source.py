"""Sources that look at a whole scan: corridors, free courses, walls."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posewright.behaviours.scan import COURSE_STEP_RAD, Beams, Scan, Side
from posewright.behaviours.wiring.quantity import Quantity
from posewright.behaviours.wiring.senses import Senses
from posewright.robots import RangeScan
from posewright.units import RAD_PER_DEG, wrap_angle


@dataclass(frozen=True)
class Direction:
    """A direction to look in.

    Attributes:
        towards: an angle [rad], or the name of a chart's output that holds one [deg].
        compass: the channel and index of a heading; with one the direction is the field's, else it is
            the robot's own.
    """

    towards: float | str
    compass: tuple[str, int | None] | None = None

    def seen_by(self, senses: Senses) -> float:
        """Return the direction as the robot sees it, positive to the left [rad]; NaN if not known."""
        if isinstance(self.towards, str):
            towards = float(senses.outputs[self.towards]) * RAD_PER_DEG
        else:
            towards = self.towards
        return towards if self.compass is None else towards - senses.number(*self.compass)


@dataclass(frozen=True, eq=False)
class Scanner:
    """A sensor with many beams, made ready to be asked.

    Attributes:
        channel: its channel in a BodyState.
        beams: where it looks.
        max_range_m: what a beam reads that meets nothing [m].
    """

    channel: str
    beams: Beams
    max_range_m: float

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
    quantity: Quantity = Quantity.LENGTH

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
    quantity: Quantity = Quantity.ANGLE

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
    quantity: Quantity = Quantity.LENGTH

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
    quantity: Quantity = Quantity.ANGLE

    def read(self, senses: Senses) -> float:
        """Return the angle; NaN if the heading is not known."""
        towards = self.direction.seen_by(senses)
        return wrap_angle(-towards) if math.isfinite(towards) else math.nan
