"""Sources: where a chart's input takes its value from.

A source answers in inner units (radians, metres, seconds). NaN means that nothing is known just now,
infinity that there is none of what was looked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from posewright.behaviours.wiring.quantity import Quantity
from posewright.behaviours.wiring.senses import Senses


class Source(Protocol):
    """Something an input can be read from."""

    @property
    def quantity(self) -> Quantity:
        """What its number measures."""
        ...

    def read(self, senses: Senses) -> float:
        """Return the value now, in inner units; a flag is 0 or 1."""
        ...


@dataclass(frozen=True)
class ChannelSource:
    """A number or flag that a sensor reads.

    Attributes:
        channel: the channel's name in a BodyState.
        quantity: what it measures.
        index: which of the channel's several numbers; None where it has one.
        nothing: what a reading that is not finite stands for: a range sensor's greatest range.
    """

    channel: str
    quantity: Quantity
    index: int | None = None
    nothing: float = math.nan

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

    quantity: Quantity = Quantity.TIME

    def read(self, senses: Senses) -> float:
        """Return the time since the first tick."""
        return senses.since_start_s


@dataclass(frozen=True)
class PlayingSource:
    """Whether a motion is being played; of no motion in particular, whether the robot stands still."""

    motion: str | None
    quantity: Quantity = Quantity.FLAG

    def read(self, senses: Senses) -> float:
        """Return 1 where it is so, else 0."""
        return float(senses.playing == self.motion)


@dataclass(frozen=True)
class ChanceSource:
    """A number drawn anew each tick from the trial's seed, 0 up to 1."""

    quantity: Quantity = Quantity.NUMBER

    def read(self, senses: Senses) -> float:
        """Return this tick's number."""
        return senses.chance
