"""A gait of four legs as a document: robot, parameters, phases, and what makes up for servos and paws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import numpy as np

from posewright.arrays import Floats
from posewright.documents import Bounds, FieldReader
from posewright.errors import InputError, UnknownNameError
from posewright.gaits.curves import Interpolation
from posewright.gaits.quadruped.parameters import Explanation, GaitParameters, explanation
from posewright.gaits.quadruped.phases import PhaseTable, read_phases

LEAST_GAIN, GREATEST_GAIN = 0.2, 3.0
"""Ours, as the bounds of the parameters: fitted walks need up to two, and a slip of the pen is refused."""

Gain = Annotated[float, Bounds(LEAST_GAIN, GREATEST_GAIN)]

TRIM_RANGES = {"forward_m_s": 0.1, "left_m_rad": 0.1, "turn_rad_m": 10.0}
"""So far a trim may go either way [m/s, m/rad, rad/m]: ours, five times and more what fitted walks need."""


@dataclass(frozen=True, slots=True)
class TravelGain:
    """How many times as far as the body is to go the feet are asked to go."""

    forward: Gain = 1.0
    left: Gain = 1.0
    turn: Gain = 1.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            object.__setattr__(self, name, _ranged(f"travel_gain.{name}", value, LEAST_GAIN, GREATEST_GAIN))


@dataclass(frozen=True, slots=True)
class Trim:
    """What the feet do besides, so that the body goes straight on, straight aside, or turns on the spot.

    All three keep to what a mirror demands: a walk to the left is the mirror image of one to the right.

    Attributes:
        forward_m_s: speed forward that is always added [m/s].
        left_m_rad: way to the left that is added for every radian of turn to the left [m/rad].
        turn_rad_m: turn to the left that is added for every metre to the left [rad/m].
    """

    forward_m_s: Annotated[float, Bounds(-0.1, 0.1)] = 0.0
    left_m_rad: Annotated[float, Bounds(-0.1, 0.1)] = 0.0
    turn_rad_m: Annotated[float, Bounds(-10.0, 10.0)] = 0.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            most = TRIM_RANGES[name]
            object.__setattr__(self, name, _ranged(f"trim.{name}", value, -most, most))


def _ranged(name: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise InputError(f"{name} is {value:g}", hint=f"the range is {low:g} to {high:g}")
    return float(value)


GAINS = tuple(entry.name for entry in fields(TravelGain))
TRIMS = tuple(entry.name for entry in fields(Trim))


def _trim(name: str, unit: str, sentence: str) -> Explanation:
    return Explanation("trim", unit, -TRIM_RANGES[name], TRIM_RANGES[name], sentence)


FITTED: Mapping[str, Explanation] = MappingProxyType(
    {
        **{
            f"travel_gain.{name}": Explanation(
                "travel gain", "", LEAST_GAIN, GREATEST_GAIN,
                "How many times as far as the body is to go the feet are asked to go: it makes up for servos "
                "that lag and paws that slip.",
            )
            for name in GAINS
        },
        "trim.forward_m_s": _trim("forward_m_s", "m/s", "Speed forward that is always added."),
        "trim.left_m_rad": _trim("left_m_rad", "m/rad", "Way to the left added for every radian of turn."),
        "trim.turn_rad_m": _trim("turn_rad_m", "rad/m", "Turn to the left added for every metre left."),
    }
)  # fmt: skip
"""What makes up for servos and paws, number by number, as `EXPLANATIONS` has the parameters."""


@dataclass(frozen=True, eq=False)
class Gait:
    """A periodic generator of poses from a velocity command: everything it is made of.

    Attributes:
        pose: name of the pose in which the joints are held that no leg has.
    """

    name: str
    robot: str
    parameters: GaitParameters = field(repr=False)
    phases: Annotated[PhaseTable, FieldReader(read_phases)] = field(repr=False)
    interpolation: Interpolation = field(default=Interpolation.SPLINE, repr=False)
    travel_gain: TravelGain = field(default_factory=TravelGain, repr=False)
    trim: Trim = field(default_factory=Trim, repr=False)
    pose: str = field(default="stand", repr=False)
    description: str = field(default="", repr=False)
    source: str = field(default="", repr=False)
    path: Path | None = field(default=None, repr=False)

    @property
    def flat(self) -> dict[str, float]:
        """All numbers by dotted name: of the parameters, and `travel_gain.forward`, `trim.left_m_rad`, ..."""
        gains = {f"travel_gain.{name}": getattr(self.travel_gain, name) for name in GAINS}
        trims = {f"trim.{name}": getattr(self.trim, name) for name in TRIMS}
        return {**self.parameters.flat, **gains, **trims}

    @staticmethod
    def explanation(name: str) -> Explanation:
        """Return the explanation of a number by its name in `flat`, or raise UnknownNameError."""
        return FITTED[name] if name in FITTED else explanation(name)

    def made_up_for(self, components: Floats, seconds: float) -> Floats:
        """Return the components `(3,)` [m, m, rad] that move the feet so that the body moves by these.

        The turn multiplier adds its turn; gain and trim add what servos and paws take away.
        """
        forward, left, turn = components.tolist()
        turn += self.parameters.turn_multiplier_rad_m * forward
        gain, trim = self.travel_gain, self.trim
        return np.array(
            [
                gain.forward * forward + trim.forward_m_s * seconds,
                gain.left * left + trim.left_m_rad * turn,
                gain.turn * turn + trim.turn_rad_m * left,
            ]
        )

    def changed(self, values: Mapping[str, float]) -> Gait:
        """Return the gait with other values for some numbers, by dotted name.

        Names are those of `flat`, and those that `GaitParameters.changed` takes for two at once.

        Raises:
            UnknownNameError: there is no such number.
            InputError: a value is out of its range.
        """
        others = {
            name: value for name, value in values.items() if not name.startswith(("travel_gain.", "trim."))
        }
        return replace(
            self,
            travel_gain=replace(self.travel_gain, **_within("travel_gain", values, GAINS)),
            trim=replace(self.trim, **_within("trim", values, TRIMS)),
            parameters=self.parameters.changed(others),
        )


def _within(group: str, values: Mapping[str, float], known: tuple[str, ...]) -> dict[str, float]:
    """Return the values of one group by their own names, or raise UnknownNameError."""
    prefix = f"{group}."
    found = {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
    for name in found:
        if name not in known:
            raise UnknownNameError.among(group, name, known)
    return found
