"""How far bodies differ: drawing one of them, and documents `*.bodies.yaml` that say so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from posewright.bodies.domain import DomainParameters
from posewright.documents import Catalogue, Node, read_document
from posewright.errors import InputError

WITHIN = 3.0
"""A normal draw farther than so many standard deviations from its mean is drawn anew."""


class Distribution(Protocol):
    """How a number is drawn."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest number that can come of it."""
        ...

    def draw(self, random: np.random.Generator) -> float:
        """Return a number within the bounds."""
        ...

    def draw_whole(self, random: np.random.Generator) -> int:
        """Return a whole number, within the bounds rounded to whole ones."""
        ...


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
    """How far the bodies differ: how each field of a `DomainParameters` is drawn, None where it is nominal.

    Attributes:
        friction: of the ground under everything.
        mass_scale: over the model's masses.
        stiffness_scale: over the servos' own stiffness.
        damping_scale: over the damping of the servos' torque-speed lines.
        armature_scale: over the model's armatures.
        latency_frames: in whole frames.
        com_shift_m: along each axis of the base [m].
        slope_rad: about each of the field's axes [rad].

    Raises:
        InputError: something could be drawn that no body may have.
    """

    friction: Distribution | None = None
    mass_scale: Distribution | None = None
    stiffness_scale: Distribution | None = None
    damping_scale: Distribution | None = None
    armature_scale: Distribution | None = None
    latency_frames: Distribution | None = None
    com_shift_m: Distribution | None = None
    slope_rad: Distribution | None = None

    def __post_init__(self) -> None:
        # The worst that can be drawn must be a body: what is drawn later then always is one.
        for end in (0, 1):
            _parameters({name: (draw.bounds[end],) * _count(name) for name, draw in self.drawn.items()})

    @property
    def drawn(self) -> dict[str, Distribution]:
        """What is drawn, by the name of its field."""
        every = {name: getattr(self, name) for name in FIELDS}
        return {name: draw for name, draw in every.items() if draw is not None}


FIELDS = (
    "friction",
    "mass_scale",
    "stiffness_scale",
    "damping_scale",
    "armature_scale",
    "latency_frames",
    "com_shift_m",
    "slope_rad",
)
"""In the order of their random streams: a further one goes to the end; old seeds keep their bodies."""

_COUNTS = {"com_shift_m": 3, "slope_rad": 2}


def _count(name: str) -> int:
    return _COUNTS.get(name, 1)


def draw_domain(ranges: DomainRandomization, seed: int) -> DomainParameters:
    """Return one body out of many, the same one for the same seed.

    Every field has a random stream of its own: to leave one out, or to widen it, changes no other.

    Args:
        ranges: how far the bodies differ.
        seed: a whole number from 0.

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
            drawn[name] = tuple(one(random) for _ in range(_count(name)))
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

_KEYS = {
    "friction": "friction",
    "mass_scale": "mass_scale",
    "stiffness_scale": "stiffness_scale",
    "damping_scale": "damping_scale",
    "armature_scale": "armature_scale",
    "latency_frames": "latency_frames",
    "com_shift_m": "com_shift_m",
    "slope_deg": "slope_rad",
}
"""Fields of `DomainRandomization` by their keys in a document."""


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
    """Read a document of ranges.

    Raises:
        DocumentError: it cannot be read, a key is unknown or missing, or no body may have a number of it.
    """
    document = read_document(path)
    fields = document.fields(required=("bodies", "ranges"), optional=("source",))
    fields["bodies"].text()
    entries = fields["ranges"].fields(optional=_KEYS)
    draws = {_KEYS[key]: _draw(node, degrees=key.endswith("_deg")) for key, node in entries.items()}
    for name, node in ((_KEYS[key], node) for key, node in entries.items()):
        _refuse_impossible(name, draws[name], node)
    return DomainRandomization(**draws)


def _draw(node: Node, *, degrees: bool) -> Distribution:
    """Return how a number is drawn: between `low` and `high`, or about a `mean` with the deviation `sd`."""
    given = node.fields()
    keys = ("mean", "sd") if "sd" in given or "mean" in given else ("low", "high")
    fields = node.fields(required=(*keys, "source"), optional=())
    fields["source"].text()
    one, other = (fields[key].number() for key in keys)
    unit = math.radians(1.0) if degrees else 1.0
    try:
        return Normal(one * unit, other * unit) if "sd" in keys else Uniform(one * unit, other * unit)
    except InputError as error:
        node.fail(error.message, hint=error.hint)


def _refuse_impossible(name: str, draw: Distribution, node: Node) -> None:
    try:
        DomainRandomization(**{name: draw})
    except InputError as error:
        node.fail(error.message, hint=error.hint)
