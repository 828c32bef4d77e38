"""Quantities a sensor reads, and the units a document may give them in."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from posewright.units import RAD_PER_DEG


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
