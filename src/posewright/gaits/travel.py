"""What the feet are asked to do more, or besides, so that the body does what it is asked to.

Servos lag behind their commands and cut strokes short, the ball of a paw rolls, paws slip, and a body whose
weight does not lie in its middle turns about another point than that. None of it is known before the robot
has walked.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

import numpy as np

from posewright.errors import InputError
from posewright.gaits.arc import Floats

LEAST_GAIN, GREATEST_GAIN = 0.2, 3.0
"""Ours, as the bounds of the parameters: fitted walks need up to two, and a slip of the pen is refused."""

TRIM_RANGES = {"forward_m_s": 0.1, "left_m_rad": 0.1, "turn_rad_m": 10.0}
"""So far a trim may go either way [m/s, m/rad, rad/m]: ours, five times and more what fitted walks need."""


@dataclass(frozen=True, slots=True)
class TravelGain:
    """How many times as far as the body is to go the feet are asked to go.

    Attributes:
        forward: of the way forward.
        left: of the way to the side.
        turn: of the turn.

    Raises:
        InputError: a gain is out of its range.
    """

    forward: float = 1.0
    left: float = 1.0
    turn: float = 1.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not LEAST_GAIN <= value <= GREATEST_GAIN:
                raise InputError(
                    f"travel_gain.{name} is {value:g}",
                    hint=f"the range is {LEAST_GAIN:g} to {GREATEST_GAIN:g}",
                )
            object.__setattr__(self, name, float(value))


@dataclass(frozen=True, slots=True)
class Trim:
    """What the feet do besides, so that the body goes straight on, straight aside, or turns on the spot.

    All three keep to what a mirror demands: a walk to the left is the mirror image of one to the right.

    Attributes:
        forward_m_s: speed forward that is always added [m/s].
        left_m_rad: way to the left that is added for every radian of turn to the left [m/rad].
        turn_rad_m: turn to the left that is added for every metre to the left [rad/m].

    Raises:
        InputError: a trim is out of its range.
    """

    forward_m_s: float = 0.0
    left_m_rad: float = 0.0
    turn_rad_m: float = 0.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            most = TRIM_RANGES[name]
            if not -most <= value <= most:
                raise InputError(f"trim.{name} is {value:g}", hint=f"the range is {-most:g} to {most:g}")
            object.__setattr__(self, name, float(value))


def feet_components(components: Floats, seconds: float, gain: TravelGain, trim: Trim) -> Floats:
    """Return the components that the feet are moved by, so that the body moves by `components`.

    Args:
        components: way forward, way left and turn, `(3,)` [m, m, rad].
        seconds: in so long [s].
        gain: of the feet over the body.
        trim: what they do besides.
    """
    forward, left, turn = components.tolist()
    return np.array(
        [
            gain.forward * forward + trim.forward_m_s * seconds,
            gain.left * left + trim.left_m_rad * turn,
            gain.turn * turn + trim.turn_rad_m * left,
        ]
    )


GAINS = tuple(entry.name for entry in fields(TravelGain))
TRIMS = tuple(entry.name for entry in fields(Trim))
