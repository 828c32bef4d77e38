"""The parameters of a walk, as the document has them, by name and unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from posewright.errors import InputError, UnknownNameError
from posewright.gaits.explanations import EXPLANATIONS, Kind, explanation
from posewright.gaits.phases import FEET

Point = tuple[float, float, float]
"""x forward, y left, z up, from the middle of the trunk [m]."""


@dataclass(frozen=True, slots=True)
class ForeHind:
    """One value for the fore legs, one for the hind legs."""

    fore: float
    hind: float

    def __post_init__(self) -> None:
        for name in ("fore", "hind"):
            value = getattr(self, name)
            if isinstance(value, int | float):  # what is no number is refused where it has a name
                object.__setattr__(self, name, float(value))

    def of(self, foot: str) -> float:
        """Return the value of a foot: `left_front`, `left_rear`, ..."""
        return self.fore if foot.endswith("front") else self.hind


@dataclass(frozen=True)
class GaitParameters:
    """What shapes a step. Each is explained, with its bounds, in `EXPLANATIONS`.

    Attributes:
        ground_speed_m_s: the speed at which a foot goes over the ground at the largest displacement [m/s].
        ascent_pairs: time in which a foot is lifted clear of the floor, and set down again [pairs of frames].
        ground_points: points of its way that a foot is told while it is down.
        front_height_m: of a foot where it comes to its landing [m].
        central_height_m: of a foot in the middle of its way through the air [m].
        rear_height_m: of a foot where it has left the ground [m].
        shape_factor: how elliptic the way through the air is; 0 straight lines, 1 half an ellipse.
        ascent_factor: how far a foot goes forward while it is lifted; 0 a square, 1 a diamond.
        turn_multiplier_rad_m: turn added for every metre forward [rad/m].
        air_ground_factor: time in the air for a time on the ground.
        equilibrium_m: by foot, the point of the ground it stands on at rest, seen from the trunk [m].
        maximum_displacement_m: the longest way of the body while a foot is down [m].
        maximum_turn_rad: the largest turn of the body while a foot is down [rad].

    Raises:
        InputError: a value is out of its range, or they do not go together.
    """

    ground_speed_m_s: float
    ascent_pairs: int
    ground_points: int
    front_height_m: ForeHind
    central_height_m: ForeHind
    rear_height_m: ForeHind
    shape_factor: float
    ascent_factor: float
    turn_multiplier_rad_m: float
    air_ground_factor: float
    equilibrium_m: Mapping[str, Point]
    maximum_displacement_m: float
    maximum_turn_rad: float

    def __post_init__(self) -> None:
        if set(self.equilibrium_m) != set(FEET):
            raise InputError(
                f"equilibrium_m is of {', '.join(self.equilibrium_m)}",
                hint=f"a point each of {', '.join(FEET)}",
            )
        points = {foot: _point(foot, self.equilibrium_m[foot]) for foot in FEET}
        object.__setattr__(self, "equilibrium_m", MappingProxyType(points))
        for name, value in self.flat.items():
            told = explanation(name)
            told.check(name, value)
            if told.kind is Kind.ONE:  # a tuner and a command line give 6.0, NumPy gives its own floats
                object.__setattr__(self, name, int(value) if told.is_whole else float(value))

    def __hash__(self) -> int:
        return hash(tuple(self.flat.items()))

    def __reduce__(self) -> tuple[Callable[[Mapping[str, float]], GaitParameters], tuple[dict[str, float]]]:
        """Travel to another process: a read-only mapping does not do so as such."""
        return GaitParameters.from_flat, (self.flat,)

    @property
    def flat(self) -> dict[str, float]:
        """All values by dotted name: `shape_factor`, `front_height_m.fore`, `equilibrium_m.left_front.x`."""
        values: dict[str, float] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, ForeHind):
                values[f"{entry.name}.fore"], values[f"{entry.name}.hind"] = value.fore, value.hind
            elif isinstance(value, Mapping):
                for foot, point in value.items():
                    values |= {
                        f"{entry.name}.{foot}.{axis}": at for axis, at in zip("xyz", point, strict=True)
                    }
            else:
                values[entry.name] = value
        return values

    def changed(self, values: Mapping[str, float]) -> GaitParameters:
        """Return the parameters with other values for some dotted names.

        `front_height_m` alone sets both its values; `equilibrium_m.fore.x` sets both fore feet, and
        `equilibrium_m.fore.y` sets how far they stand out, to the left and to the right.

        Raises:
            UnknownNameError: there is no such parameter.
            InputError: a value is out of its range.
        """
        flat = self.flat
        for name, value in values.items():
            flat |= _spread(name, value, flat)
        return GaitParameters.from_flat(flat)

    @classmethod
    def from_flat(cls, flat: Mapping[str, float]) -> GaitParameters:
        """Return the parameters whose `flat` this is."""
        values: dict[str, Any] = {}
        for entry in fields(cls):
            kind = EXPLANATIONS[entry.name].kind
            if kind is Kind.FORE_HIND:
                values[entry.name] = ForeHind(flat[f"{entry.name}.fore"], flat[f"{entry.name}.hind"])
            elif kind is Kind.POINTS:
                values[entry.name] = {
                    foot: tuple(flat[f"{entry.name}.{foot}.{axis}"] for axis in "xyz") for foot in FEET
                }
            else:
                values[entry.name] = flat[entry.name]
        return cls(**values)


def _spread(name: str, value: float, flat: Mapping[str, float]) -> dict[str, float]:
    """Return what a name that may stand for several parameters sets."""
    if name in flat:
        return {name: value}
    if f"{name}.fore" in flat:
        return {f"{name}.fore": value, f"{name}.hind": value}
    base, _, rest = name.partition(".")
    end, _, axis = rest.partition(".")
    rows = {"fore": "front", "hind": "rear"}
    if base == "equilibrium_m" and end in rows and axis in {"x", "y", "z"}:
        right = -value if axis == "y" else value
        return {f"{base}.left_{rows[end]}.{axis}": value, f"{base}.right_{rows[end]}.{axis}": right}
    raise UnknownNameError.among("gait parameter", name, flat)


def _point(foot: str, point: Any) -> Point:
    try:
        x, y, z = (float(at) for at in point)
    except (TypeError, ValueError):
        raise InputError(f"the equilibrium point of {foot} is {point}", hint="x, y, z in metres") from None
    if not all(map(math.isfinite, (x, y, z))):
        raise InputError(f"the equilibrium point of {foot} is {point}", hint="finite numbers")
    return x, y, z
