"""The parameters of a walk, as the document has them, by name and unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from posewright.errors import InputError, UnknownNameError
from posewright.gaits.explanations import EXPLANATIONS, Kind, explanation
from posewright.gaits.phases import ENDS, FEET

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
        return self.fore if foot in ENDS["fore"] else self.hind


@dataclass(frozen=True)
class GaitParameters:
    """What shapes a walk. What each does, and its bounds, `EXPLANATIONS` says in a sentence.

    Attributes:
        ground_speed_m_s: [m/s].
        ascent_pairs: [pairs of frames].
        ground_points: so many.
        front_height_m: [m].
        central_height_m: [m].
        rear_height_m: [m].
        shape_factor: 0 to 1.
        ascent_factor: 0 to 1.
        turn_multiplier_rad_m: [rad/m].
        air_ground_factor: time by time.
        equilibrium_m: by foot, in the trunk's frame [m].
        maximum_displacement_m: [m].
        maximum_turn_rad: [rad].

    Raises:
        InputError: a value is out of its range, or there is not one point for each foot. Whether they go
            together is for `timing_of` to say, which knows how long a frame is.
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
    if base == "equilibrium_m" and end in ENDS and axis in {"x", "y", "z"}:
        left, right = ENDS[end]
        mirrored = -value if axis == "y" else value
        return {f"{base}.{left}.{axis}": value, f"{base}.{right}.{axis}": mirrored}
    raise UnknownNameError.among("gait parameter", name, flat)


def _point(foot: str, point: Any) -> Point:
    try:
        x, y, z = (float(at) for at in point)
    except (TypeError, ValueError):
        raise InputError(f"the equilibrium point of {foot} is {point}", hint="x, y, z in metres") from None
    if not all(map(math.isfinite, (x, y, z))):
        raise InputError(f"the equilibrium point of {foot} is {point}", hint="finite numbers")
    return x, y, z
