"""Compensation of a gait for servos that lag and feet that slip: gains and offsets of the feet's motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Annotated

import numpy as np

from posewright.arrays import Floats
from posewright.documents import Bounds
from posewright.errors import InputError, UnknownNameError
from posewright.gaits.explanation import Explanation

MIN_GAIN = 0.2
MAX_GAIN = 3.0
"""Ours: fitted walks need up to two; values beyond these bounds are taken for mistakes."""

Gain = Annotated[float, Bounds(MIN_GAIN, MAX_GAIN)]

TRIM_RANGES = {"forward_m_s": 0.1, "left_m_rad": 0.1, "turn_rad_m": 10.0}
"""Greatest magnitude of each trim [m/s, m/rad, rad/m]: ours, at least five times what fitted walks need."""


@dataclass(frozen=True, slots=True)
class TravelGain:
    """Factors by which the feet move farther than the body should."""

    forward: Gain = 1.0
    left: Gain = 1.0
    turn: Gain = 1.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            object.__setattr__(self, name, _require_range(f"travel_gain.{name}", value, MIN_GAIN, MAX_GAIN))


@dataclass(frozen=True, slots=True)
class Trim:
    """Offsets of the feet's motion, so that the body goes straight on, straight aside, or turns on the spot.

    All three preserve mirror symmetry: a walk to the left is the mirror image of one to the right.

    Attributes:
        forward_m_s: speed forward that is always added [m/s].
        left_m_rad: distance to the left that is added for every radian of turn to the left [m/rad].
        turn_rad_m: turn to the left that is added for every metre to the left [rad/m].
    """

    forward_m_s: Annotated[float, Bounds(-0.1, 0.1)] = 0.0
    left_m_rad: Annotated[float, Bounds(-0.1, 0.1)] = 0.0
    turn_rad_m: Annotated[float, Bounds(-10.0, 10.0)] = 0.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            bound = TRIM_RANGES[name]
            object.__setattr__(self, name, _require_range(f"trim.{name}", value, -bound, bound))


def _require_range(name: str, value: float, low: float, high: float) -> float:
    """Return the value as a float, or raise InputError if it is out of its range."""
    if not low <= value <= high:
        raise InputError(f"{name} is {value:g}", hint=f"the range is {low:g} to {high:g}")
    return float(value)


GAIN_NAMES = tuple(entry.name for entry in fields(TravelGain))
TRIM_NAMES = tuple(entry.name for entry in fields(Trim))


def _explain(name: str, unit: str, sentence: str) -> Explanation:
    return Explanation("trim", unit, -TRIM_RANGES[name], TRIM_RANGES[name], sentence)


FITTED: Mapping[str, Explanation] = MappingProxyType(
    {
        **{
            f"travel_gain.{name}": Explanation(
                "travel gain", "", MIN_GAIN, MAX_GAIN,
                "How many times as far as the body is to go the feet are asked to go: it makes up for servos "
                "that lag and feet that slip.",
            )
            for name in GAIN_NAMES
        },
        "trim.forward_m_s": _explain("forward_m_s", "m/s", "Speed forward that is always added."),
        "trim.left_m_rad": _explain("left_m_rad", "m/rad", "Way to the left added for every radian of turn."),
        "trim.turn_rad_m": _explain("turn_rad_m", "rad/m", "Turn to the left added for every metre left."),
    }
)  # fmt: skip
"""Explanations of travel gain and trim by name, as `EXPLANATIONS` for the parameters."""


def compensate_travel(components: Floats, seconds: float, gain: TravelGain, trim: Trim) -> Floats:
    """Return the components `(3,)` [m, m, rad] of the feet that move the body by the given ones.

    Args:
        components: the components of the body.
        seconds: duration of the motion [s].
        gain: factors of the components.
        trim: what is added to them.
    """
    forward, left, turn = components.tolist()
    return np.array(
        [
            gain.forward * forward + trim.forward_m_s * seconds,
            gain.left * left + trim.left_m_rad * turn,
            gain.turn * turn + trim.turn_rad_m * left,
        ]
    )


def travel_values(gain: TravelGain, trim: Trim) -> dict[str, float]:
    """Return the values of gain and trim by dotted name: `travel_gain.forward`, `trim.left_m_rad`, ..."""
    gains = {f"travel_gain.{name}": value for name, value in asdict(gain).items()}
    trims = {f"trim.{name}": value for name, value in asdict(trim).items()}
    return {**gains, **trims}


def with_travel_values(
    gain: TravelGain, trim: Trim, values: Mapping[str, float]
) -> tuple[TravelGain, Trim, dict[str, float]]:
    """Return gain and trim with the values named `travel_gain.*` and `trim.*`, and all other values.

    Raises:
        UnknownNameError: there is no such gain or trim.
        InputError: a value is out of its range.
    """
    others = {name: value for name, value in values.items() if not name.startswith(("travel_gain.", "trim."))}
    return (
        replace(gain, **_select_group("travel_gain", values, GAIN_NAMES)),
        replace(trim, **_select_group("trim", values, TRIM_NAMES)),
        others,
    )


def _select_group(group: str, values: Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    """Return the values of one group by their own names, or raise UnknownNameError."""
    prefix = f"{group}."
    group_values = {
        name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)
    }
    for name in group_values:
        if name not in names:
            raise UnknownNameError.among(group, name, names)
    return group_values
