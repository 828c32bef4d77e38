"""The scale of a servo: how its ticks, its own degrees and the angle of its joint relate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from posewright.units import DEG_PER_RAD, RAD_PER_DEG

Angles = TypeVar("Angles", float, npt.NDArray[np.float64])
"""One number, or an array of them; of several servos, the last axis is theirs."""

RAD_PER_URAD = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class ServoScale:
    """`joint angle = direction * (servo degrees - centre_deg)`, `servo degrees = ticks * tick_deg`.

    Each of the three is a number for one servo, or `(n_joints,)` for several side by side. Nothing rounds or
    clips. Degrees come between, as a tick is often a short binary fraction of one: whole ticks stay exact.

    Attributes:
        centre_deg: servo degrees at which the joint's angle is zero [deg].
        direction: +1 or -1: which way the joint turns when the ticks grow.
        tick_deg: size of a tick [deg].
    """

    centre_deg: Any
    direction: Any
    tick_deg: Any

    def to_servo_deg(self, angle: Angles) -> Angles:
        """Return the servo's own degrees for a joint angle [rad]."""
        servo_deg: Angles = angle * (self.direction * DEG_PER_RAD) + self.centre_deg
        return servo_deg

    def from_servo_deg(self, degrees: Angles) -> Angles:
        """Return the joint angle [rad] for the servo's own degrees."""
        angle: Angles = (degrees - self.centre_deg) * (self.direction * RAD_PER_DEG)
        return angle

    def to_ticks(self, angle: Angles) -> Angles:
        """Return the ticks for a joint angle [rad], not rounded."""
        ticks: Angles = self.to_servo_deg(angle) / self.tick_deg
        return ticks

    def from_ticks(self, ticks: Angles) -> Angles:
        """Return the joint angle [rad] for a number of ticks."""
        servo_deg: Angles = ticks * self.tick_deg
        return self.from_servo_deg(servo_deg)
