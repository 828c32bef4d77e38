"""Each parameter of a walk in one sentence, with its unit and its bounds.

The names in `document` are those of the lecture the walk comes from. Bounds are ours: wide enough for any
robot dog of this size, narrow enough that a slip of the pen is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from posewright.errors import InputError, UnknownNameError


class Kind(Enum):
    """How many values a parameter has."""

    ONE = "one"
    FORE_HIND = "one for the fore legs, one for the hind legs"
    POINTS = "a point for each foot"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a parameter is.

    Attributes:
        document: what the document calls it.
        unit: of the value; empty where it has none.
        low: the smallest value allowed.
        high: the largest.
        sentence: what it does.
        kind: how many values it has.
        is_whole: whether it is a whole number.
    """

    document: str
    unit: str
    low: float
    high: float
    sentence: str
    kind: Kind = Kind.ONE
    is_whole: bool = False

    @property
    def range_text(self) -> str:
        """The range with its unit."""
        return f"{self.low:g} to {self.high:g}{f' {self.unit}' if self.unit else ''}"

    def check(self, name: str, value: object) -> None:
        """Raise an InputError unless the value lies within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(f"{name} is {value}", hint=f"a number, {self.range_text}")
        if self.is_whole and value != int(value):
            raise InputError(f"{name} is {value:g}", hint=f"a whole number, {self.range_text}")
        if not self.low <= value <= self.high:
            raise InputError(f"{name} is {value:g}", hint=f"the range is {self.range_text}")


EXPLANATIONS: Mapping[str, Explanation] = MappingProxyType(
    {
        "ground_speed_m_s": Explanation(
            "ground speed", "m/s", 0.01, 1.0,
            "The speed of the body where strokes are as long as the maximum displacement: a foot is down for "
            "maximum displacement / ground speed, and in a shorter stroke as long.",
        ),
        "ascent_pairs": Explanation(
            "ascent time", "pairs of frames", 1, 40,
            "The time in which a foot is lifted to its rear height, and is set down again from its front "
            "height, as far as the shape factor leaves straight lines.",
            is_whole=True,
        ),
        "ground_points": Explanation(
            "number of horizontal points", "", 2, 60,
            "How many points of its way a foot is told while it is down: with few of them it strays from the "
            "straight line in between, with many there is more to compute.",
            is_whole=True,
        ),
        "front_height_m": Explanation(
            "front height", "m", 0.0, 0.1,
            "How high a foot is when its descent begins, at the front end of its way, as far as the shape "
            "factor leaves straight lines.",
            Kind.FORE_HIND,
        ),
        "central_height_m": Explanation(
            "central height", "m", 0.0, 0.1,
            "How high a foot is in the middle of its way through the air.",
            Kind.FORE_HIND,
        ),
        "rear_height_m": Explanation(
            "rear height", "m", 0.0, 0.1,
            "How high a foot is when its ascent ends, at the rear end of its way, as far as the shape factor "
            "leaves straight lines.",
            Kind.FORE_HIND,
        ),
        "shape_factor": Explanation(
            "shape factor", "", 0.0, 1.0,
            "How elliptic the way through the air is: 0 leads straight from height to height, 1 round like "
            "half an ellipse.",
        ),
        "ascent_factor": Explanation(
            "ascent factor", "", 0.0, 1.0,
            "How far a foot goes forward while it is lifted and set down: 0 straight up, a square; 1 all the "
            "way to the middle, a diamond.",
        ),
        "turn_multiplier_rad_m": Explanation(
            "turn multiplier", "rad/m", -20.0, 20.0,
            "A turn added for every metre forward, which makes up for a robot that pulls to one side; the "
            "travel gain of the turn multiplies it, too.",
        ),
        "air_ground_factor": Explanation(
            "air/ground factor", "", 0.05, 4.0,
            "The time a foot is in the air for the time it is down: at 1 it is down half of the time, at 1/3 "
            "three quarters of it.",
        ),
        "equilibrium_m": Explanation(
            "equilibrium point", "m", -0.4, 0.4,
            "Where each foot stands at rest, seen from the middle of the trunk; its strokes lie around this "
            "point.",
            Kind.POINTS,
        ),
        "maximum_displacement_m": Explanation(
            "maximum displacement", "m", 0.001, 0.3,
            "The longest way the body goes while a foot is down; a command that needs more is out of range.",
        ),
        "maximum_turn_rad": Explanation(
            "maximum turn", "rad", 0.0, 1.5,
            "The largest turn the body makes while a foot is down; a command that needs more is out of "
            "range.",
        ),
    }
)  # fmt: skip


def explanation(name: str) -> Explanation:
    """Return the explanation of a parameter by its dotted name, or raise UnknownNameError."""
    base = name.partition(".")[0]
    if base not in EXPLANATIONS:
        raise UnknownNameError.among("gait parameter", name, EXPLANATIONS)
    return EXPLANATIONS[base]
