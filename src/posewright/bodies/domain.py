"""Domain parameters of a body: friction, masses, pushes, plates on the floor; and their distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from posewright.bodies.distributions import Distribution, distribution_reader
from posewright.bodies.disturbances import (
    MAX_PLATES,
    MAX_PUSHES,
    ClearCircle,
    Plate,
    Push,
    RandomPlates,
    RandomPushes,
    remove_plates,
)
from posewright.documents import Catalogue, FieldReader, read_document, read_record
from posewright.documents.plain import PlainData, plain_mapping
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
        pushes: forces on its links, each for a short time.
        plates: plates on the floor.

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
    pushes: tuple[Push, ...] = ()
    plates: tuple[Plate, ...] = ()

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
        for name, count, limit in (
            ("pushes", len(self.pushes), MAX_PUSHES),
            ("plates", len(self.plates), MAX_PLATES),
        ):
            if count > limit:
                raise InputError(f"a body has {count} {name}", hint=f"at most {limit}")

    def __repr__(self) -> str:
        # Digests of tunings cover this text; journals may be older than pushes and plates.
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        shown = [
            f"{name}={value!r}" for name, value in values.items() if value or name not in {"pushes", "plates"}
        ]
        return f"DomainParameters({', '.join(shown)})"

    @property
    def is_nominal(self) -> bool:
        """Whether the body is that of the model."""
        return self == NOMINAL

    def __str__(self) -> str:
        differences = []
        for name in FIELDS:
            value = getattr(self, name)
            if value != getattr(NOMINAL, name):
                numbers = value if isinstance(value, tuple) else (value,)
                listed = " ".join(f"{number:.4g}" for number in numbers)
                differences.append(f"{name} {listed}")
        if self.pushes:
            strongest_n_s = max(push.impulse_n_s for push in self.pushes)
            differences.append(f"{len(self.pushes)} pushes of up to {strongest_n_s:.4g} N s")
        if self.plates:
            thickest_m = max(plate.thickness_m for plate in self.plates)
            differences.append(f"{len(self.plates)} plates of up to {1000.0 * thickest_m:.4g} mm")
        return ", ".join(differences) or "nominal"

    def to_dict(self) -> dict[str, PlainData]:
        """Return the parameters as plain data, without pushes and plates where there are none."""
        data = plain_mapping(self)
        for name in ("pushes", "plates"):  # older recordings have no such keys
            if not data[name]:
                del data[name]
        return data

    def summary(self) -> dict[str, PlainData]:
        """Return the parameters as plain data for a report, with the numbers of pushes and plates."""
        data = self.to_dict()
        for name in ("pushes", "plates"):
            if name in data:
                del data[name]
                data[f"n_{name}"] = len(getattr(self, name))
        return data

    def without_plates_in(self, circles: Sequence[ClearCircle]) -> DomainParameters:
        """Return these parameters without the plates that reach into a circle."""
        return replace(self, plates=remove_plates(self.plates, circles)) if self.plates else self


def _require_within(name: str, values: tuple[float, ...], count: int, limit: float) -> None:
    """Raise an InputError unless there are `count` values, none of them beyond the limit on either side."""
    is_valid = len(values) == count and all(abs(value) <= limit for value in values)
    _require(is_valid, name, value=values, hint=f"{count} numbers within {-limit:.4g}..{limit:.4g}")


def _require(is_valid: bool, name: str, value: object, hint: str) -> None:
    if not is_valid:
        raise InputError(f"a body's {name} cannot be {value}", hint=hint)


NOMINAL = DomainParameters()
"""The body of the robot's model."""


@dataclass(frozen=True, slots=True)
class DomainRandomization:
    """The distributions of the fields of `DomainParameters`; None where a field is nominal.

    Pushes and plates are not among the `ranges` of a document, but have keys of their own.
    """

    friction: Annotated[Distribution | None, _range_reader("friction")] = None
    mass_scale: Annotated[Distribution | None, _range_reader("mass_scale")] = None
    stiffness_scale: Annotated[Distribution | None, _range_reader("stiffness_scale")] = None
    damping_scale: Annotated[Distribution | None, _range_reader("damping_scale")] = None
    armature_scale: Annotated[Distribution | None, _range_reader("armature_scale")] = None
    latency_frames: Annotated[Distribution | None, _range_reader("latency_frames")] = None
    com_shift_m: Annotated[Distribution | None, _range_reader("com_shift_m")] = None
    slope_rad: Annotated[Distribution | None, _range_reader("slope_rad", math.radians(1.0))] = None
    pushes: tuple[RandomPushes, ...] = ()
    plates: RandomPlates | None = None

    def __post_init__(self) -> None:
        _require_valid_extremes(self.distributions)

    @property
    def distributions(self) -> dict[str, Distribution]:
        """The distributions that are set, by the name of their field."""
        distributions: dict[str, Distribution] = {}
        for name in FIELDS:
            distribution: Distribution | None = getattr(self, name)
            if distribution is not None:
                distributions[name] = distribution
        return distributions


_STREAMS = {entry.name: stream for stream, entry in enumerate(fields(DomainRandomization))}
"""Number of each field's random stream: new fields go to the end, so that old seeds keep their bodies."""

FIELDS = tuple(name for name in _STREAMS if name not in {"pushes", "plates"})
"""The fields that are numbers."""

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
    for name, distribution in ranges.distributions.items():
        random = np.random.default_rng([seed, _STREAMS[name]])
        draw = distribution.draw_integer if name == "latency_frames" else distribution.draw
        samples[name] = tuple(draw(random) for _ in range(_COUNTS.get(name, 1)))
    pushes: list[Push] = []
    for index, random_pushes in enumerate(ranges.pushes):
        pushes += random_pushes.draw(np.random.default_rng([seed, _STREAMS["pushes"], index]))
    plates: tuple[Plate, ...] = ()
    if ranges.plates is not None:
        plates = ranges.plates.draw(np.random.default_rng([seed, _STREAMS["plates"]]))
    return replace(
        _build_parameters(samples),
        pushes=tuple(sorted(pushes, key=lambda push: push.time_s)),
        plates=plates,
    )


def _require_valid_extremes(distributions: Mapping[str, Distribution]) -> None:
    """Raise an InputError unless both extremes are valid bodies; then all that is drawn is valid."""
    lowest: dict[str, tuple[float, ...]] = {}
    highest: dict[str, tuple[float, ...]] = {}
    for name, distribution in distributions.items():
        low, high = distribution.bounds
        n_numbers = _COUNTS.get(name, 1)
        lowest[name] = (low,) * n_numbers
        highest[name] = (high,) * n_numbers
    _build_parameters(lowest)
    _build_parameters(highest)


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

    `ranges` may be the name of a set that ships, whose ranges it then has; `pushes` and `plates` are its own.

    Raises:
        DocumentError: the document cannot be read.
    """
    document = read_document(path).fields(required=("bodies",), optional=_DOCUMENT_KEYS)
    document["bodies"].text()  # the name of the document, which must be a text
    if not any(key in document for key in ("ranges", "pushes", "plates")):
        document["bodies"].fail("nothing differs from the model", hint="add ranges, pushes or plates")
    randomization = DomainRandomization()
    if "ranges" in document and isinstance(document["ranges"].value, str):
        name = document["ranges"].choice("set of bodies", domain_randomization_names())
        randomization = replace(domain_randomization(name), pushes=(), plates=None)
    elif "ranges" in document:
        randomization = read_record(document["ranges"], DomainRandomization, pushes=(), plates=None)
    pushes: tuple[RandomPushes, ...] = ()
    if "pushes" in document:
        pushes = tuple(read_record(node, RandomPushes) for node in document["pushes"].items())
    plates = read_record(document["plates"], RandomPlates) if "plates" in document else None
    return replace(randomization, pushes=pushes, plates=plates)


_DOCUMENT_KEYS = ("source", "ranges", "pushes", "plates")
"""Keys of a document besides its name."""


def _range_reader(name: str, unit: float = 1.0) -> FieldReader:
    """Return a reader of the distribution of a field of `DomainRandomization`; the document has its source.

    Args:
        name: the field.
        unit: size of the document's unit, in SI units.
    """

    def require_valid(distribution: Distribution) -> None:
        """Raise an InputError unless the extremes are valid bodies."""
        _require_valid_extremes({name: distribution})

    return distribution_reader(unit, needs_source=True, require_valid=require_valid)
