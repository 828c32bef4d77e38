"""The parameters of a walk: explanations with units and bounds, and their values by name.

The titles are those of the lecture the walk comes from. Bounds are ours: wide enough for any
robot dog of this size, narrow enough to detect mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from posewright.errors import InputError, UnknownNameError
from posewright.gaits.explanation import Explanation, ParameterKind, find_explanation
from posewright.gaits.quadruped.phases import ENDS, FEET

Point = tuple[float, float, float]
"""x forward, y left, z up, from the middle of the trunk [m]."""


EXPLANATIONS: Mapping[str, Explanation] = MappingProxyType(
    {
        "ground_speed_m_s": Explanation(
            "ground speed", "m/s", 0.01, 1.0,
            "The speed of the body at full strokes: a foot is down for maximum displacement / ground speed, "
            "whatever the length of the stroke.",
        ),
        "ascent_pairs": Explanation(
            "ascent time", "pairs of frames", 1, 40,
            "The time to lift a foot to its rear height, and to set it down from its front height.",
            is_whole=True,
        ),
        "ground_points": Explanation(
            "number of horizontal points", "", 2, 60,
            "The number of waypoints of a foot on the ground: fewer let it stray from the straight line "
            "between them, more take longer to compute.",
            is_whole=True,
        ),
        "front_height_m": Explanation(
            "front height", "m", 0.0, 0.1,
            "The height of a foot at the front end of its path, where the descent begins.",
            ParameterKind.FORE_HIND,
        ),
        "central_height_m": Explanation(
            "central height", "m", 0.0, 0.1,
            "The height of a foot in the middle of its path through the air.",
            ParameterKind.FORE_HIND,
        ),
        "rear_height_m": Explanation(
            "rear height", "m", 0.0, 0.1,
            "The height of a foot at the rear end of its path, where the ascent ends.",
            ParameterKind.FORE_HIND,
        ),
        "shape_factor": Explanation(
            "shape factor", "", 0.0, 1.0,
            "The roundness of the path through the air: 0 is straight lines from height to height, 1 half an "
            "ellipse.",
        ),
        "ascent_factor": Explanation(
            "ascent factor", "", 0.0, 1.0,
            "How far a foot moves forward during ascent and descent: 0 is straight up and down, a square; "
            "1 is up to the middle, a diamond.",
        ),
        "turn_multiplier_rad_m": Explanation(
            "turn multiplier", "rad/m", -20.0, 20.0,
            "A turn added per metre forward, to correct a robot that pulls to one side; the travel gain of "
            "the turn applies to it too.",
        ),
        "air_ground_factor": Explanation(
            "air/ground factor", "", 0.05, 4.0,
            "The time a foot is in the air, divided by the time it is down: at 1 it is down half of the "
            "time, at 1/3 three quarters of the time.",
        ),
        "equilibrium_m": Explanation(
            "equilibrium point", "m", -0.4, 0.4,
            "Where each foot stands at rest, relative to the middle of the trunk; its strokes are centred on "
            "this point.",
            ParameterKind.POINTS,
        ),
        "maximum_displacement_m": Explanation(
            "maximum displacement", "m", 0.001, 0.3,
            "The greatest distance that the body moves while a foot is down; a command that needs more is "
            "out of range.",
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
    return find_explanation(name, EXPLANATIONS)


@dataclass(frozen=True, slots=True)
class ForeHind:
    """One value for the fore legs, one for the hind legs."""

    fore: float
    hind: float

    def __post_init__(self) -> None:
        for name in ("fore", "hind"):
            value = getattr(self, name)
            if isinstance(value, int | float):  # other types are an error of the parameter, which has a name
                object.__setattr__(self, name, float(value))

    def of(self, foot: str) -> float:
        """Return the value of a foot: `left_front`, `left_rear`, ..."""
        return self.fore if foot in ENDS["fore"] else self.hind


@dataclass(frozen=True)
class GaitParameters:
    """The parameters of a walk; `EXPLANATIONS` gives the meaning, unit and bounds of each.

    Raises:
        InputError: a value is out of its range, or there is not one point for each foot. Their consistency is
            checked by `timing_of`, which needs the duration of a frame.
    """

    ground_speed_m_s: float
    ascent_pairs: int = field(repr=False)
    ground_points: int = field(repr=False)
    front_height_m: ForeHind = field(repr=False)
    central_height_m: ForeHind = field(repr=False)
    rear_height_m: ForeHind = field(repr=False)
    shape_factor: float = field(repr=False)
    ascent_factor: float = field(repr=False)
    turn_multiplier_rad_m: float = field(repr=False)
    air_ground_factor: float
    equilibrium_m: Mapping[str, Point] = field(repr=False)
    maximum_displacement_m: float
    maximum_turn_rad: float

    def __post_init__(self) -> None:
        """Check all parameters, and store them with the types of their fields."""
        if set(self.equilibrium_m) != set(FEET):
            raise InputError(
                f"equilibrium_m has points for {', '.join(self.equilibrium_m)}",
                hint=f"one point for each of {', '.join(FEET)}",
            )
        points = {foot: _require_point(foot, self.equilibrium_m[foot]) for foot in FEET}
        object.__setattr__(self, "equilibrium_m", MappingProxyType(points))
        for name, value in self.flat.items():
            parameter = explanation(name)
            parameter.check(name, value)
            if parameter.kind is ParameterKind.SINGLE:  # a tuner gives 6.0 for 6, NumPy its own floats
                object.__setattr__(self, name, int(value) if parameter.is_whole else float(value))

    def __hash__(self) -> int:
        return hash(tuple(self.flat.items()))

    def __reduce__(self) -> tuple[Callable[[Mapping[str, float]], GaitParameters], tuple[dict[str, float]]]:
        """Support pickling, which a read-only mapping does not."""
        return GaitParameters.from_flat, (self.flat,)

    @property
    def flat(self) -> dict[str, float]:
        """All values by dotted name: `shape_factor`, `front_height_m.fore`, `equilibrium_m.left_front.x`."""
        values: dict[str, float] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, ForeHind):
                values[f"{entry.name}.fore"] = value.fore
                values[f"{entry.name}.hind"] = value.hind
            elif isinstance(value, Mapping):
                for foot, point in value.items():
                    values |= {
                        f"{entry.name}.{foot}.{axis}": coordinate
                        for axis, coordinate in zip("xyz", point, strict=True)
                    }
            else:
                values[entry.name] = value
        return values

    def with_values(self, values: Mapping[str, float]) -> GaitParameters:
        """Return the parameters with other values for some dotted names.

        `front_height_m` alone sets both its values; `equilibrium_m.fore.x` sets both fore feet, and
        `equilibrium_m.fore.y` sets how far they stand out, to the left and to the right.
        """
        value_of_dotted_name = self.flat
        for name, value in values.items():
            value_of_dotted_name |= _expand_name(name, value, value_of_dotted_name)
        return GaitParameters.from_flat(value_of_dotted_name)

    @classmethod
    def from_flat(cls, value_of_dotted_name: Mapping[str, float]) -> GaitParameters:
        """Return the parameters from their values by dotted name, with the names of `flat`."""
        return cls(
            **{
                entry.name: _parameter_from_dotted_names(entry.name, value_of_dotted_name)
                for entry in fields(cls)
            }
        )


def _parameter_from_dotted_names(name: str, value_of_dotted_name: Mapping[str, float]) -> Any:
    """Return the value of a parameter, composed of the numbers under its dotted names.

    Those are `front_height_m.fore` and `.hind`, or `equilibrium_m.left_front.x` and so on. The type is `Any`,
    as it depends on the parameter.
    """
    kind = EXPLANATIONS[name].kind
    if kind is ParameterKind.FORE_HIND:
        return ForeHind(value_of_dotted_name[f"{name}.fore"], value_of_dotted_name[f"{name}.hind"])
    if kind is ParameterKind.POINTS:
        return {foot: tuple(value_of_dotted_name[f"{name}.{foot}.{axis}"] for axis in "xyz") for foot in FEET}
    return value_of_dotted_name[name]


def _expand_name(name: str, value: float, value_of_dotted_name: Mapping[str, float]) -> dict[str, float]:
    """Return the values by dotted name that a name sets; a short name sets those of several feet."""
    if name in value_of_dotted_name:
        return {name: value}
    if f"{name}.fore" in value_of_dotted_name:
        return {f"{name}.fore": value, f"{name}.hind": value}
    base, _, suffix = name.partition(".")
    end, _, axis = suffix.partition(".")
    if base == "equilibrium_m" and end in ENDS and axis in {"x", "y", "z"}:
        left, right = ENDS[end]
        mirrored = -value if axis == "y" else value
        return {f"{base}.{left}.{axis}": value, f"{base}.{right}.{axis}": mirrored}
    raise UnknownNameError.among("gait parameter", name, value_of_dotted_name)


def _require_point(foot: str, point: Iterable[float]) -> Point:
    """Return an equilibrium point as three floats; raise an InputError unless they are finite."""
    try:
        x, y, z = (float(coordinate) for coordinate in point)
    except (TypeError, ValueError):
        raise InputError(f"the equilibrium point of {foot} is {point}", hint="x, y, z in metres") from None
    if not all(map(math.isfinite, (x, y, z))):
        raise InputError(f"the equilibrium point of {foot} is {point}", hint="finite numbers")
    return x, y, z
