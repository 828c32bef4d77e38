"""Domain parameters of a body, such as friction and masses, and the distributions they are drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Protocol

import numpy as np

from posewright.documents import Catalogue, FieldReader, Node, read_document, read_record
from posewright.errors import InputError

MAX_SLOPE_RAD = math.radians(45.0)
"""The steepest slope of the ground that is accepted."""

MAX_SHIFT_M = 0.1
MAX_LATENCY_FRAMES = 1000

_SCALES = ("mass_scale", "stiffness_scale", "damping_scale", "armature_scale")


@dataclass(frozen=True, slots=True)
class DomainParameters:
    """How one body differs from the model of its robot.

    A gait is tried on many bodies, since one that walks on the nominal body may fall on another.
    `domain_randomization()` gives sensible ranges.

    Attributes:
        friction: coefficient of sliding friction of the ground; None for that of the model and the arena.
        mass_scale: factor of all masses and inertias of the robot.
        stiffness_scale: factor of the stiffness of all servos, be it their own or commanded.
        damping_scale: factor of the damping of all servos.
        armature_scale: factor of the inertia of all rotors.
        latency_frames: number of frames before a command takes effect; until then the robot holds its start
            pose.
        com_shift_m: offset of the base's centre of mass in the frame of the base, x y z [m].
        slope_rad: roll and pitch of the ground about the field's axes [rad]. With a positive pitch the field
            falls away along +x, with a positive roll to the right.

    Raises:
        InputError: a number is not finite or out of range.
    """

    friction: float | None = None
    mass_scale: float = 1.0
    stiffness_scale: float = 1.0
    damping_scale: float = 1.0
    armature_scale: float = 1.0
    latency_frames: int = 0
    com_shift_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    slope_rad: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        """Raise an InputError if a parameter is not finite or out of range."""
        for name in _SCALES:
            scale = getattr(self, name)
            _require(
                math.isfinite(scale) and scale > 0.0,
                name,
                value=scale,
                hint="a positive number; 1 changes nothing",
            )
        friction = self.friction
        _require(
            friction is None or (math.isfinite(friction) and friction >= 0.0),
            name="friction",
            value=friction,
            hint="0 or more, or None for the model's own",
        )
        latency = self.latency_frames
        _require(
            0 <= latency <= MAX_LATENCY_FRAMES and latency == int(latency),
            name="latency_frames",
            value=latency,
            hint=f"a whole number, 0..{MAX_LATENCY_FRAMES}",
        )
        _require_within("com_shift_m", values=self.com_shift_m, count=3, limit=MAX_SHIFT_M)
        _require_within("slope_rad", values=self.slope_rad, count=2, limit=MAX_SLOPE_RAD)

    @property
    def is_nominal(self) -> bool:
        """Whether the body is that of the model."""
        return self == NOMINAL

    def __str__(self) -> str:
        differences = []
        for entry in fields(self):
            value = getattr(self, entry.name)
            if value != entry.default:
                numbers = value if isinstance(value, tuple) else (value,)
                listed = " ".join(f"{number:.4g}" for number in numbers)
                differences.append(f"{entry.name} {listed}")
        return ", ".join(differences) or "nominal"


def _require_within(name: str, values: tuple[float, ...], count: int, limit: float) -> None:
    """Raise an InputError unless there are `count` values, none of them beyond the limit on either side."""
    is_valid = len(values) == count and all(abs(value) <= limit for value in values)
    _require(is_valid, name, value=values, hint=f"{count} numbers within {-limit:.4g}..{limit:.4g}")


def _require(is_valid: bool, name: str, value: object, hint: str) -> None:
    if not is_valid:
        raise InputError(f"a body's {name} cannot be {value}", hint=hint)


NOMINAL = DomainParameters()
"""The body of the robot's model."""


MAX_DEVIATIONS = 3.0
"""Normal distributions are cut off so many standard deviations from the mean."""


class Distribution(Protocol):
    """A distribution of numbers."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the greatest number that can be drawn."""

    def draw(self, random: np.random.Generator) -> float:
        """Return a number within the bounds."""

    def draw_integer(self, random: np.random.Generator) -> int:
        """Return an integer within the rounded bounds."""


@dataclass(frozen=True, slots=True)
class Uniform:
    """A uniform distribution.

    Raises:
        InputError: a number is not finite, or `low` is above `high`.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise InputError(
                f"a range cannot go from {self.low} to {self.high}",
                hint="write finite numbers, the lower one first",
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """`low` and `high`."""
        return self.low, self.high

    def draw(self, random: np.random.Generator) -> float:
        """Return a number from `low` to `high`."""
        sample = float(random.uniform(self.low, self.high))
        return min(max(sample, self.low), self.high)

    def draw_integer(self, random: np.random.Generator) -> int:
        """Return an integer from `low` to `high`, all with the same probability."""
        low = round(self.low)  # rounding a draw would halve the probability of both bounds
        high = round(self.high)
        return min(low + int(random.random() * (high - low + 1)), high)


@dataclass(frozen=True, slots=True)
class Normal:
    """A normal distribution, cut off at three standard deviations.

    Raises:
        InputError: a number is not finite, or the deviation is negative.
    """

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.deviation) and self.deviation >= 0.0):
            raise InputError(
                f"a normal distribution cannot have the mean {self.mean} and the deviation {self.deviation}",
                hint="finite numbers, a deviation of 0 or more",
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The mean less and plus three standard deviations."""
        return self.mean - MAX_DEVIATIONS * self.deviation, self.mean + MAX_DEVIATIONS * self.deviation

    def draw(self, random: np.random.Generator) -> float:
        """Return a number within three standard deviations of the mean."""
        n_deviations = float(random.standard_normal())
        while abs(n_deviations) > MAX_DEVIATIONS:
            n_deviations = float(random.standard_normal())
        return self.mean + self.deviation * n_deviations

    def draw_integer(self, random: np.random.Generator) -> int:
        """Return a number within three standard deviations of the mean, rounded."""
        return round(self.draw(random))


@dataclass(frozen=True, slots=True)
class DomainRandomization:
    """The distributions of the fields of `DomainParameters`; None where a field is nominal."""

    friction: Annotated[Distribution | None, _distribution_reader("friction")] = None
    mass_scale: Annotated[Distribution | None, _distribution_reader("mass_scale")] = None
    stiffness_scale: Annotated[Distribution | None, _distribution_reader("stiffness_scale")] = None
    damping_scale: Annotated[Distribution | None, _distribution_reader("damping_scale")] = None
    armature_scale: Annotated[Distribution | None, _distribution_reader("armature_scale")] = None
    latency_frames: Annotated[Distribution | None, _distribution_reader("latency_frames")] = None
    com_shift_m: Annotated[Distribution | None, _distribution_reader("com_shift_m")] = None
    slope_rad: Annotated[Distribution | None, _distribution_reader("slope_rad", math.radians(1.0))] = None

    def __post_init__(self) -> None:
        # raises unless both extremes are valid bodies; then all that is drawn is valid
        lowest: dict[str, tuple[float, ...]] = {}
        highest: dict[str, tuple[float, ...]] = {}
        for name, distribution in self.distributions.items():
            low, high = distribution.bounds
            n_numbers = _COUNTS.get(name, 1)
            lowest[name] = (low,) * n_numbers
            highest[name] = (high,) * n_numbers
        _build_parameters(lowest)
        _build_parameters(highest)

    @property
    def distributions(self) -> dict[str, Distribution]:
        """The distributions that are set, by the name of their field."""
        distributions: dict[str, Distribution] = {}
        for name in FIELDS:
            distribution: Distribution | None = getattr(self, name)
            if distribution is not None:
                distributions[name] = distribution
        return distributions


FIELDS = tuple(entry.name for entry in fields(DomainRandomization))
"""In the order of their random streams: new fields go to the end, so that old seeds keep their bodies."""

_COUNTS = {"com_shift_m": 3, "slope_rad": 2}
"""Numbers in a field that has several, which are drawn one after the other."""


def draw_domain(ranges: DomainRandomization, seed: int) -> DomainParameters:
    """Return a random body, the same one for the same seed.

    Every field has a random stream of its own, so a change of one range changes no other field.

    Raises:
        InputError: the seed is negative.
    """
    if seed < 0:
        raise InputError(f"the seed {seed} is negative", hint="0 or more")
    samples: dict[str, tuple[float, ...]] = {}
    for stream, name in enumerate(FIELDS):
        distribution = ranges.distributions.get(name)
        if distribution is None:
            continue
        random = np.random.default_rng([seed, stream])
        draw = distribution.draw_integer if name == "latency_frames" else distribution.draw
        samples[name] = tuple(draw(random) for _ in range(_COUNTS.get(name, 1)))
    return _build_parameters(samples)


def _build_parameters(samples: dict[str, tuple[float, ...]]) -> DomainParameters:
    """Return parameters with some fields set, each from its one or several numbers."""

    def number(name: str, nominal: float) -> float:
        (value,) = samples.get(name, (nominal,))
        return value

    x, y, z = samples.get("com_shift_m", NOMINAL.com_shift_m)
    roll, pitch = samples.get("slope_rad", NOMINAL.slope_rad)
    return DomainParameters(
        friction=number("friction", 0.0) if "friction" in samples else None,
        mass_scale=number("mass_scale", 1.0),
        stiffness_scale=number("stiffness_scale", 1.0),
        damping_scale=number("damping_scale", 1.0),
        armature_scale=number("armature_scale", 1.0),
        latency_frames=round(number("latency_frames", 0.0)),
        com_shift_m=(x, y, z),
        slope_rad=(roll, pitch),
    )


CATALOGUE = Catalogue("set of bodies", ".bodies.yaml", lambda: [Path(__file__).with_name("catalogue")])


def domain_randomization(name: str | Path = "random") -> DomainRandomization:
    """Read the ranges of domain parameters by name or path.

    Args:
        name: one of `domain_randomization_names()`, or the path of a document.

    Raises:
        UnknownNameError: no document of that name ships.
        InputError: there is no file of that path.
        DocumentError: the document cannot be read.
    """
    return read_domain_randomization(CATALOGUE.find(name))


def domain_randomization_names() -> tuple[str, ...]:
    """Return the names of the ranges that ship, in alphabetical order."""
    return CATALOGUE.names()


def read_domain_randomization(path: Path) -> DomainRandomization:
    """Read a document of the ranges from which the parameters of bodies are drawn.

    Raises:
        DocumentError: the document cannot be read.
    """
    document = read_document(path).fields(required=("bodies", "ranges"), optional=("source",))
    document["bodies"].text()  # the name of the document, which must be a text
    return read_record(document["ranges"], DomainRandomization)


def _distribution_reader(name: str, unit: float = 1.0) -> FieldReader:
    """Return a reader of a distribution: uniform by `low` and `high`, or normal by `mean` and `sd`.

    Args:
        name: the field of `DomainRandomization` that it is for.
        unit: size of the document's unit, in SI units.
    """

    def read(node: Node) -> Distribution:
        written_keys = node.fields()
        is_normal = "sd" in written_keys or "mean" in written_keys
        keys = ("mean", "sd") if is_normal else ("low", "high")
        entries = node.fields(required=(*keys, "source"), optional=())
        entries["source"].text()
        first, second = (entries[key].number() * unit for key in keys)  # low and high, or mean and deviation
        with node.locate_errors():
            distribution: Distribution = Normal(first, second) if is_normal else Uniform(first, second)
            # raises unless the extremes are valid bodies
            replace(DomainRandomization(), **{name: distribution})
        return distribution

    return FieldReader(read)
