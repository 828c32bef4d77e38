"""A mechanism: links and hinges as files of others tell them, without a card, and what is odd about it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from posewright.arrays import Floats
from posewright.robots.sensors import SensorSpec
from posewright.rotation import rotation_matrices

Triple = tuple[float, float, float]
Rows = tuple[Triple, Triple, Triple]
Quaternion = tuple[float, float, float, float]

LIGHTEST_KG = 1e-4
"""A part that a hinge moves weighs at least this; MuJoCo's solver needs some mass."""

WIDEST_GYRATION = 3.0
"""A part's radius of gyration over half the diagonal of its shapes: more than this is an error of units."""

_NARROWEST_RAD = 1e-9
"""Limits that are nearer to each other are none."""

_TRIANGLE = 1.02
"""Files round: the largest moment of inertia may be this much more than the sum of the two others."""


class Kind(Enum):
    """What a shape is; sizes are those of the box around it, but for a sphere's and a cylinder's."""

    BOX = "box"
    SPHERE = "sphere"
    CYLINDER = "cylinder"


@dataclass(frozen=True)
class Form:
    """A solid shape of a link.

    Attributes:
        size_m: edges of a box; three diameters of a sphere; two diameters and the length of a cylinder, which
            lies along z [m].
        position_m: its middle in the link's frame [m].
        rotation: w x y z in the link's frame.
        colour: red, green, blue 0..1; None where nothing is said.
        is_solid: whether it can be touched, and is not only seen.
    """

    kind: Kind
    size_m: Triple
    position_m: Triple = (0.0, 0.0, 0.0)
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    colour: Triple | None = None
    is_solid: bool = True


@dataclass(frozen=True)
class Hinge:
    """A joint that turns a link about an axis through the link's origin.

    Attributes:
        axis: in the link's frame, a unit vector.
        lower_rad: limit [rad].
        upper_rad: limit [rad].
        effort_nm: the most that its motor gives; 0 where nothing is said [N m].
        speed_rad_s: the fastest that its motor turns; 0 where nothing is said [rad/s].
    """

    name: str
    axis: Triple
    lower_rad: float
    upper_rad: float
    effort_nm: float = 0.0
    speed_rad_s: float = 0.0


@dataclass(frozen=True)
class Link:
    """A rigid part.

    Attributes:
        parent: the link it hangs on; empty for the base.
        position_m: its origin in the parent's frame, with its hinge at 0 [m].
        rotation: w x y z, in the parent's frame.
        hinge: what turns it; None for one that is fixed to its parent.
        centre_m: centre of mass in its own frame [m].
        inertia: moments about the centre along its own axes, `(3, 3)` in rows [kg m^2].
        line: where its file tells of it.
    """

    name: str
    parent: str
    position_m: Triple = (0.0, 0.0, 0.0)
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    hinge: Hinge | None = None
    mass_kg: float = 0.0
    centre_m: Triple = (0.0, 0.0, 0.0)
    inertia: Rows = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    forms: tuple[Form, ...] = field(default=(), repr=False)
    line: int | None = None

    @property
    def moments(self) -> Floats:
        """Its principal moments of inertia, the least first, `(3,)` [kg m^2]."""
        return np.asarray(np.linalg.eigvalsh(np.array(self.inertia)))


@dataclass(frozen=True)
class Mount:
    """A place on a link to which a sensor is fixed.

    Attributes:
        position_m: in the link's frame [m].
        rotation: w x y z, in the link's frame.
    """

    name: str
    link: str
    position_m: Triple
    rotation: Quaternion


@dataclass(frozen=True)
class Mechanism:
    """Links that hang on one base, each after the one it hangs on; and what sits on them."""

    name: str
    links: tuple[Link, ...]
    mounts: tuple[Mount, ...] = ()
    sensors: tuple[SensorSpec, ...] = ()

    @property
    def mass_kg(self) -> float:
        """All links together [kg]."""
        return math.fsum(link.mass_kg for link in self.links)

    @property
    def hinges(self) -> tuple[Hinge, ...]:
        """The hinges, in the order of their links."""
        return tuple(link.hinge for link in self.links if link.hinge is not None)

    def heights(self) -> Mapping[str, float]:
        """Return how high the lowest point of each link's shapes lies over the base, hinges at 0 [m].

        Links without shapes have none.
        """
        lows: dict[str, float] = {}
        places: dict[str, tuple[Floats, Floats]] = {}
        for link in self.links:
            turn, place = rotation_matrix(link.rotation), np.array(link.position_m)
            if link.parent:
                above, there = places[link.parent]
                turn, place = above @ turn, there + above @ place
            places[link.name] = turn, place
            if link.forms:
                lows[link.name] = min(float(place[2] + turn[2] @ _lowest(form, turn)) for form in link.forms)
        return lows


def _lowest(form: Form, turn: Floats) -> Floats:
    """Return the corner of the box around a shape that lies lowest, in the link's frame, `(3,)` [m]."""
    own = rotation_matrix(form.rotation)
    down = turn[2] @ own
    lowest: Floats = np.array(form.position_m) - own @ (np.sign(down) * np.array(form.size_m) / 2.0)
    return lowest


def triple(values: Iterable[float]) -> Triple:
    """Return three numbers."""
    x, y, z = map(float, values)
    return x, y, z


def rows(matrix: Floats) -> Rows:
    """Return a matrix `(3, 3)` as rows."""
    x, y, z = map(triple, matrix)
    return x, y, z


def rotation_matrix(quaternion: Quaternion) -> Floats:
    """Return the axes of a frame turned by w x y z as columns, `(3, 3)`."""
    return rotation_matrices(np.array(quaternion) / math.hypot(*quaternion))


@dataclass(frozen=True)
class Oddity:
    """Something about a mechanism that a person should look at, and the line of its file."""

    what: str
    line: int | None = None

    def __str__(self) -> str:
        return self.what if self.line is None else f"line {self.line}: {self.what}"


def oddities(mechanism: Mechanism) -> tuple[Oddity, ...]:
    """Return what cannot be, or hardly, in the masses, inertias, limits and motors of a mechanism."""
    return tuple(Oddity(what, link.line) for link in mechanism.links for what in _odd(link))


def mended(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism with limits that a card can hold: within a turn, and half a turn where none are."""
    return replace(mechanism, links=tuple(map(_mended, mechanism.links)))


def _mended(link: Link) -> Link:
    if link.hinge is None:
        return link
    turn = 2.0 * math.pi
    lower, upper = max(link.hinge.lower_rad, -turn), min(link.hinge.upper_rad, turn)
    if lower >= upper - _NARROWEST_RAD:
        lower, upper = -math.pi, math.pi
    return replace(link, hinge=replace(link.hinge, lower_rad=lower, upper_rad=upper))


def _odd(link: Link) -> Iterator[str]:
    name = link.name
    if link.mass_kg < 0.0:
        yield f"{name} weighs {link.mass_kg:g} kg"
    if link.hinge is not None:
        if abs(link.mass_kg) < LIGHTEST_KG:
            yield f"{name} weighs next to nothing, but {link.hinge.name} moves it"
        yield from _odd_hinge(link.hinge)
    if link.mass_kg <= 0.0:
        return
    least, middle, most = link.moments.tolist()
    if least <= 0.0:
        yield f"{name} has the moments of inertia {least:.3g}, {middle:.3g}, {most:.3g}: all must be above 0"
    elif most > _TRIANGLE * (least + middle):
        rest = f"{least:.3g} and {middle:.3g}"
        yield f"{name}: no body has an inertia of {most:.3g} about one axis and {rest} about the others"
    reach = max(
        (math.hypot(*form.position_m) + math.hypot(*form.size_m) / 2 for form in link.forms), default=0
    )
    gyration = math.sqrt(max(most, 0.0) / link.mass_kg)
    if reach and gyration > WIDEST_GYRATION * reach:
        times = f"{gyration / reach:.3g} times"
        yield f"{name}: its inertia is that of something {times} as large; check its unit"


def _odd_hinge(hinge: Hinge) -> Iterator[str]:
    limits = f"{hinge.lower_rad:g}..{hinge.upper_rad:g} rad"
    if hinge.lower_rad >= hinge.upper_rad - _NARROWEST_RAD:
        yield f"{hinge.name} has the limits {limits}: taken for half a turn either way"
    if max(abs(hinge.lower_rad), abs(hinge.upper_rad)) > 2.0 * math.pi + 1e-6:
        yield f"{hinge.name} turns {limits}: taken for a turn; are these degrees?"
    if hinge.effort_nm <= 0.0:
        yield f"{hinge.name} has no actuator: nothing says how strong its motor is"
    if hinge.speed_rad_s <= 0.0:
        yield f"{hinge.name}: nothing says how fast its motor is"
