"""A channel: one reading of a sensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Position: TypeAlias = tuple[float, float, float]
"""A place in the mount's frame [m]."""


@dataclass(frozen=True)
class Channel:
    """One reading of a sensor.

    Attributes:
        name: key of the reading in a body's state, `imu.orientation`.
        unit: `m`, `rad`, `rad/s`, `m/s^2`, or empty for true and false.
        shape: empty for one number.
    """

    name: str
    unit: str
    shape: tuple[int, ...] = ()
