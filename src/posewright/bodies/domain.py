"""One way a body differs from its model: a wearier servo, a smoother floor, a heavier shell, a slow bus."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Protocol

import numpy as np

from posewright.documents import Catalogue, FieldReader, Node, read_document, read_record
from posewright.errors import InputError

MAX_SLOPE_RAD = math.radians(45.0)
"""A ground may lean so far: nothing that walks here stands on a steeper one."""

MAX_SHIFT_M = 0.1
MAX_LATENCY_FRAMES = 1000

_SCALES = ("mass_scale", "stiffness_scale", "damping_scale", "armature_scale")


@dataclass(frozen=True, slots=True)
class DomainParameters:
    """How one body differs from the model of its robot.

    What has walked on one body only may fall on the next one: a gait is tried on many of these. Which
    numbers are sensible, `domain_randomization()` says.

    Attributes:
        friction: coefficient of sliding friction of the ground under everything; None for what the model and
            the arena say.
        mass_scale: all masses of the robot over those of its model; its inertias go with them.
        stiffness_scale: stiffness of all servos over the servos' own, or over what the frames ask for.
        damping_scale: damping of all servos over that of their torque-speed lines.
        armature_scale: inertia of all rotors over that of the model.
        latency_frames: so many frames a command waits before it takes effect; until then the pose in which
            the robot was put down is held.
        com_shift_m: how far the base's centre of mass is from where the model has it, in the base's frame,
            x y z [m].
        slope_rad: how the ground leans: roll and pitch about the field's axes [rad]. With a positive pitch
            the field falls away along +x, with a positive roll to the right.

    Raises:
        InputError: a number is not finite, or is out of its range.
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
        for name in _SCALES:
            scale = getattr(self, name)
            _expect(math.isfinite(scale) and scale > 0.0, name, scale, "a positive number; 1 changes nothing")
        friction = self.friction
        _expect(
            friction is None or (math.isfinite(friction) and friction >= 0.0),
            "friction",
            friction,
            "0 or more, or None for the model's own",
        )
        latency = self.latency_frames
        _expect(
            0 <= latency <= MAX_LATENCY_FRAMES and latency == int(latency),
            "latency_frames",
            latency,
            f"a whole number, 0..{MAX_LATENCY_FRAMES}",
        )
        _expect_all("com_shift_m", self.com_shift_m, 3, MAX_SHIFT_M)
        _expect_all("slope_rad", self.slope_rad, 2, MAX_SLOPE_RAD)

    @property
    def is_nominal(self) -> bool:
        """Whether it changes nothing."""
        return self == NOMINAL

    def __str__(self) -> str:
        values = ((entry, getattr(self, entry.name)) for entry in fields(self))
        told = (f"{entry.name} {_shown(value)}" for entry, value in values if value != entry.default)
        return ", ".join(told) or "nominal"


def _shown(value: float | tuple[float, ...]) -> str:
    return " ".join(f"{part:.4g}" for part in value) if isinstance(value, tuple) else f"{value:.4g}"


def _expect_all(name: str, values: tuple[float, ...], count: int, limit: float) -> None:
    right = len(values) == count and all(abs(value) <= limit for value in values)
    _expect(right, name, values, f"{count} numbers within {-limit:.4g}..{limit:.4g}")


def _expect(right: bool, name: str, value: object, hint: str) -> None:
    if not right:
        raise InputError(f"a body's {name} cannot be {value}", hint=hint)


NOMINAL = DomainParameters()
"""The body as its model says."""


WITHIN = 3.0
"""A normal draw farther than so many standard deviations from its mean is drawn anew."""


class Distribution(Protocol):
    """How a number is drawn."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest number that can come of it."""

    def draw(self, random: np.random.Generator) -> float:
        """Return a number within the bounds."""

    def draw_whole(self, random: np.random.Generator) -> int:
        """Return a whole number, within the bounds rounded to whole ones."""


@dataclass(frozen=True, slots=True)
class Uniform:
    """Every number between two is as likely as any other.

    Raises:
        InputError: a number is not finite, or `low` is above `high`.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise InputError(
                f"no range goes from {self.low} to {self.high}", hint="finite numbers, low first"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The two numbers."""
        return self.low, self.high

    def draw(self, random: np.random.Generator) -> float:
        """Return a number between the two."""
        drawn = float(random.uniform(self.low, self.high))
        return min(max(drawn, self.low), self.high)

    def draw_whole(self, random: np.random.Generator) -> int:
        """Return a whole number between the two, each as likely as any other."""
        low, high = round(self.low), round(self.high)  # rounding a draw would give these half as often
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
                f"no distribution has the mean {self.mean} and the deviation {self.deviation}",
                hint="finite numbers, the deviation 0 or more",
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """Three standard deviations to either side of the mean."""
        return self.mean - WITHIN * self.deviation, self.mean + WITHIN * self.deviation

    def draw(self, random: np.random.Generator) -> float:
        """Return a number within three standard deviations of the mean."""
        units = float(random.standard_normal())
        while abs(units) > WITHIN:
            units = float(random.standard_normal())
        return self.mean + self.deviation * units

    def draw_whole(self, random: np.random.Generator) -> int:
        """Return a number within three standard deviations of the mean, rounded."""
        return round(self.draw(random))


@dataclass(frozen=True, slots=True)
class DomainRandomization:
    """How far the bodies differ: how a field of `DomainParameters` is drawn, None where it is nominal."""

    friction: Annotated[Distribution | None, _drawn("friction")] = None
    mass_scale: Annotated[Distribution | None, _drawn("mass_scale")] = None
    stiffness_scale: Annotated[Distribution | None, _drawn("stiffness_scale")] = None
    damping_scale: Annotated[Distribution | None, _drawn("damping_scale")] = None
    armature_scale: Annotated[Distribution | None, _drawn("armature_scale")] = None
    latency_frames: Annotated[Distribution | None, _drawn("latency_frames")] = None
    com_shift_m: Annotated[Distribution | None, _drawn("com_shift_m")] = None
    slope_rad: Annotated[Distribution | None, _drawn("slope_rad", math.radians(1.0))] = None

    def __post_init__(self) -> None:
        # The worst that can be drawn must be a body: what is drawn later then always is one.
        for end in (0, 1):
            _parameters(
                {name: (draw.bounds[end],) * _COUNTS.get(name, 1) for name, draw in self.drawn.items()}
            )

    @property
    def drawn(self) -> dict[str, Distribution]:
        """What is drawn, by the name of its field."""
        every = {name: getattr(self, name) for name in FIELDS}
        return {name: draw for name, draw in every.items() if draw is not None}


FIELDS = tuple(entry.name for entry in fields(DomainRandomization))
"""In the order of their random streams: a further one goes to the end; old seeds keep their bodies."""

_COUNTS = {"com_shift_m": 3, "slope_rad": 2}


def draw_domain(ranges: DomainRandomization, seed: int) -> DomainParameters:
    """Return one body out of many, the same one for the same seed.

    Every field has a random stream of its own: to leave one out, or to widen it, changes no other.

    Raises:
        InputError: the seed is negative.
    """
    if seed < 0:
        raise InputError(f"the seed {seed} is negative", hint="0 or more")
    drawn: dict[str, tuple[float, ...]] = {}
    for place, name in enumerate(FIELDS):
        draw = ranges.drawn.get(name)
        if draw is not None:
            random = np.random.default_rng([seed, place])
            one = draw.draw_whole if name == "latency_frames" else draw.draw
            drawn[name] = tuple(one(random) for _ in range(_COUNTS.get(name, 1)))
    return _parameters(drawn)


def _parameters(drawn: dict[str, tuple[float, ...]]) -> DomainParameters:
    """Return the parameters with these numbers, one or several a field."""
    values: dict[str, object] = {
        name: numbers if name in _COUNTS else numbers[0] for name, numbers in drawn.items()
    }
    if "latency_frames" in drawn:
        values["latency_frames"] = round(drawn["latency_frames"][0])
    return DomainParameters(**values)  # type: ignore[arg-type]  # the fields' own numbers


CATALOGUE = Catalogue("set of bodies", ".bodies.yaml", lambda: [Path(__file__).with_name("catalogue")])


def domain_randomization(name: str | Path = "random") -> DomainRandomization:
    """Return how far bodies differ.

    Args:
        name: of ranges that ship, one of `domain_randomization_names()`, or the path of a document of one's
            own.

    Raises:
        UnknownNameError: none of that name ships.
        InputError: there is no such document.
        DocumentError: the document cannot be read.
    """
    return read_domain_randomization(CATALOGUE.find(name))


def domain_randomization_names() -> tuple[str, ...]:
    """Return the names of the ranges that ship, in alphabetical order."""
    return CATALOGUE.names()


def read_domain_randomization(path: Path) -> DomainRandomization:
    """Read a document of ranges."""
    document = read_document(path).fields(required=("bodies", "ranges"), optional=("source",))
    document["bodies"].text()
    return read_record(document["ranges"], DomainRandomization)


def _drawn(name: str, unit: float = 1.0) -> FieldReader:
    """Return what reads how a field is drawn: from `low` to `high`, or about a `mean` with deviation `sd`."""

    def read(node: Node) -> Distribution:
        given = node.fields()
        keys = ("mean", "sd") if "sd" in given or "mean" in given else ("low", "high")
        entries = node.fields(required=(*keys, "source"), optional=())
        entries["source"].text()
        one, other = (entries[key].number() * unit for key in keys)
        with node.locate_errors():
            draw: Distribution = Normal(one, other) if "sd" in keys else Uniform(one, other)
            DomainRandomization(**{name: draw})  # refuses what no body may have
        return draw

    return FieldReader(read)
