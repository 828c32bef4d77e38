"""Mechanisms: links and hinges read from URDF, MJCF and OpenRAVE files, and checks for oddities."""

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

MIN_MOVED_MASS_KG = 1e-4
"""Least mass of a link with a hinge [kg]; MuJoCo's solver needs some mass."""

MAX_GYRATION_RATIO = 3.0
"""Greatest radius of gyration as a multiple of the farthest distance of its shapes; more is a wrong unit."""

MAX_PLAUSIBLE_M = 3.0
"""Largest plausible size of a part, and distance between a part and its parent or its centre of mass [m]; a
human-sized robot is smaller, and one in millimetres that are read as metres is much larger."""

AIR_DENSITY_KG_M3 = 1.2
"""No part is lighter than the air in its bounding box; if one is, its lengths have a wrong unit."""

_MIN_RANGE_RAD = 1e-9
"""Limits with a smaller difference do not count [rad]."""

_ROUNDING_RAD = 1e-6
"""Tolerance of a whole turn, as files round [rad]."""

_MAX_MOMENT_RATIO = 1.02
"""Greatest ratio of the largest moment of inertia to the sum of the others, above 1 as files round."""


class ShapeKind(Enum):
    """Kind of a shape."""

    BOX = "box"
    SPHERE = "sphere"
    CYLINDER = "cylinder"


@dataclass(frozen=True)
class LinkShape:
    """A shape of a link.

    Attributes:
        kind: box, sphere or cylinder.
        size_m: edges of a box; three diameters of a sphere; two diameters and the length of a cylinder, which
            lies along z [m].
        position_m: the position of its centre, in the link's frame [m].
        rotation: w x y z in the link's frame.
        colour: red, green, blue 0..1; None if not stated.
        is_solid: whether it collides with others, rather than only being visible.
    """

    kind: ShapeKind
    size_m: Triple
    position_m: Triple = (0.0, 0.0, 0.0)
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    colour: Triple | None = None
    is_solid: bool = True


@dataclass(frozen=True)
class Hinge:
    """A joint that turns a link about an axis through the link's origin.

    Attributes:
        name: the name of the joint.
        axis: the axis in the link's frame, a unit vector.
        lower_rad: limit [rad].
        upper_rad: limit [rad].
        effort_nm: greatest torque of its motor [N m]; 0 if not stated.
        speed_rad_s: greatest speed of its motor [rad/s]; 0 if not stated.
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
        name: the name of the link.
        parent: name of its parent; empty for the base.
        position_m: the position of its origin in the parent's frame, with its hinge at 0 [m].
        rotation: w x y z, in the parent's frame.
        hinge: the hinge between it and its parent; None if it is fixed.
        mass_kg: its mass [kg].
        centre_m: centre of mass in its own frame [m].
        inertia: the inertia about the centre of mass along its own axes, `(3, 3)` in rows [kg m^2].
        shapes: the shapes in its own frame.
        line: the line of its file; None if unknown.
    """

    name: str
    parent: str
    position_m: Triple = (0.0, 0.0, 0.0)
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    hinge: Hinge | None = None
    mass_kg: float = 0.0
    centre_m: Triple = (0.0, 0.0, 0.0)
    inertia: Rows = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    shapes: tuple[LinkShape, ...] = field(default=(), repr=False)
    line: int | None = None

    @property
    def moments(self) -> Floats:
        """Principal moments of inertia, the least first, `(3,)` [kg m^2]."""
        return np.asarray(np.linalg.eigvalsh(np.array(self.inertia)))


@dataclass(frozen=True)
class Mount:
    """The pose of a sensor on a link.

    Attributes:
        name: the name of the sensor.
        link: name of the link.
        position_m: the position in the link's frame [m].
        rotation: w x y z, in the link's frame.
    """

    name: str
    link: str
    position_m: Triple
    rotation: Quaternion


@dataclass(frozen=True)
class Mechanism:
    """A tree of links with sensors.

    Attributes:
        name: the name of the mechanism.
        links: the base first, and each link after its parent.
        mounts: poses of sensors.
        sensors: specifications.
    """

    name: str
    links: tuple[Link, ...]
    mounts: tuple[Mount, ...] = ()
    sensors: tuple[SensorSpec, ...] = ()

    @property
    def mass_kg(self) -> float:
        """Mass of all links [kg]."""
        return math.fsum(link.mass_kg for link in self.links)

    @property
    def hinges(self) -> tuple[Hinge, ...]:
        """The hinges, in the order of their links."""
        return tuple(link.hinge for link in self.links if link.hinge is not None)

    def lowest_heights(self) -> Mapping[str, float]:
        """Return the height of each link's lowest point above the base's origin, with hinges at 0 [m].

        Links without shapes are left out.
        """
        heights: dict[str, float] = {}
        poses: dict[str, tuple[Floats, Floats]] = {}  # rotation matrix and position in the base's frame
        for link in self.links:
            rotation = rotation_matrix(link.rotation)
            position = np.array(link.position_m)
            if link.parent:
                parent_rotation, parent_position = poses[link.parent]
                rotation = parent_rotation @ rotation
                position = parent_position + parent_rotation @ np.array(link.position_m)
            poses[link.name] = rotation, position
            if link.shapes:
                # the third row of the rotation gives heights in the base's frame
                heights[link.name] = min(
                    float(position[2] + rotation[2] @ _lowest_corner(shape, rotation))
                    for shape in link.shapes
                )
        return heights


def _lowest_corner(shape: LinkShape, link_rotation: Floats) -> Floats:
    """Return the lowest corner of a shape's bounding box, in the link's frame, `(3,)` [m]."""
    shape_rotation = rotation_matrix(shape.rotation)
    up_in_shape = link_rotation[2] @ shape_rotation  # the base's z in the shape's frame
    half_diagonal = np.sign(up_in_shape) * np.array(shape.size_m) / 2.0
    corner: Floats = np.array(shape.position_m) - shape_rotation @ half_diagonal
    return corner


def to_triple(values: Iterable[float]) -> Triple:
    """Return three numbers as a tuple of floats."""
    x, y, z = map(float, values)
    return x, y, z


def to_rows(matrix: Floats) -> Rows:
    """Return a matrix `(3, 3)` as a tuple of rows."""
    x, y, z = map(to_triple, matrix)
    return x, y, z


def rotation_matrix(quaternion: Quaternion) -> Floats:
    """Return the rotation matrix of a quaternion w x y z of any length, `(3, 3)`."""
    return rotation_matrices(np.array(quaternion) / math.hypot(*quaternion))


@dataclass(frozen=True)
class Oddity:
    """A part of a mechanism that looks wrong.

    Attributes:
        message: describes it.
        line: the line of the file; None if unknown.
    """

    message: str
    line: int | None = None

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


def find_oddities(mechanism: Mechanism) -> tuple[Oddity, ...]:
    """Return impossible or unlikely masses, lengths, inertias, limits and motors of a mechanism."""
    bodies = _rigid_bodies(mechanism)
    oddities: list[Oddity] = []
    for link in mechanism.links:
        messages = (*_check_mass(link, bodies[link.name]), *_check_link(link), *_check_lengths(link))
        oddities += [Oddity(message, link.line) for message in messages]
    return tuple(oddities)


@dataclass
class _RigidBody:
    """A link that moves on its own, with all that is fixed to it.

    Attributes:
        first_link: the link with the hinge, or the base.
        mass_kg: the mass of all its links [kg].
    """

    first_link: str
    mass_kg: float = 0.0


def _rigid_bodies(mechanism: Mechanism) -> dict[str, _RigidBody]:
    """Return by name of each link the rigid body that it is part of."""
    bodies: dict[str, _RigidBody] = {}
    for link in mechanism.links:
        is_fixed = bool(link.parent) and link.hinge is None
        body = bodies[link.parent] if is_fixed else _RigidBody(first_link=link.name)
        body.mass_kg += link.mass_kg
        bodies[link.name] = body
    return bodies


def _check_mass(link: Link, body: _RigidBody) -> Iterator[str]:
    """Yield a message if a link has an impossible mass, or none where a real one has some."""
    if link.mass_kg < 0.0:
        yield f"{link.name} weighs {link.mass_kg:g} kg"
    if link.name == body.first_link and abs(body.mass_kg) < MIN_MOVED_MASS_KG:
        mover = "it is the base" if link.hinge is None else f"{link.hinge.name} moves it"
        yield f"{link.name} weighs next to nothing, but {mover}; {MIN_MOVED_MASS_KG:g} kg are assumed"
    elif link.shapes and link.mass_kg == 0.0:
        yield f"{link.name} has a shape, but no mass: it weighs nothing here"


def _check_lengths(link: Link) -> Iterator[str]:
    """Yield a message for each length that is likely in another unit than metres."""
    hint = "are these millimetres?"
    distance_m = math.hypot(*link.position_m)
    if link.parent and distance_m > MAX_PLAUSIBLE_M:
        yield f"{link.name} is {distance_m:.3g} m away from {link.parent}; {hint}"
    reach_m = _reach_m(link)
    centre_m = math.hypot(*link.centre_m)
    if link.mass_kg > 0.0 and centre_m > MAX_PLAUSIBLE_M:
        yield f"{link.name}: its centre of mass is {centre_m:.3g} m away from its origin; {hint}"
    elif link.mass_kg > 0.0 and reach_m and centre_m > MAX_GYRATION_RATIO * reach_m:
        yield f"{link.name}: its centre of mass is {centre_m:.3g} m away, its shapes end at {reach_m:.3g} m"
    for shape in link.shapes:
        size_text = (
            f"{link.name} has a {shape.kind.value} of {' x '.join(f'{edge:.3g}' for edge in shape.size_m)} m"
        )
        if max(shape.size_m) > MAX_PLAUSIBLE_M:
            yield f'{size_text}; {hint} For a mesh, write scale="0.001 0.001 0.001"'
            return
        if MIN_MOVED_MASS_KG <= link.mass_kg < AIR_DENSITY_KG_M3 * math.prod(shape.size_m):
            yield f"{size_text} and weighs {link.mass_kg:.3g} kg, less than air; check its unit of length"
            return


def _reach_m(link: Link) -> float:
    """Return how far the shapes of a link extend from its origin at most; 0 without shapes [m]."""
    return max(
        (math.hypot(*shape.position_m) + math.hypot(*shape.size_m) / 2 for shape in link.shapes), default=0.0
    )


def with_card_limits(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism with limits that a card accepts: within a turn, and half a turn if it has none."""
    return replace(mechanism, links=tuple(_link_with_card_limits(link) for link in mechanism.links))


def _link_with_card_limits(link: Link) -> Link:
    """Return a link whose hinge has limits that a card accepts; see `with_card_limits`."""
    if link.hinge is None:
        return link
    full_turn = 2.0 * math.pi
    lower = max(link.hinge.lower_rad, -full_turn)
    upper = min(link.hinge.upper_rad, full_turn)
    has_range = lower < upper - _MIN_RANGE_RAD
    if not has_range:  # files without limits often state 0 for both
        lower = -math.pi
        upper = math.pi
    return replace(link, hinge=replace(link.hinge, lower_rad=lower, upper_rad=upper))


def _check_link(link: Link) -> Iterator[str]:
    """Yield a message for each oddity of a link's hinge and inertia."""
    name = link.name
    if link.hinge is not None:
        yield from _check_hinge(link.hinge)
    if link.mass_kg <= 0.0:
        return
    least, middle, greatest = link.moments.tolist()
    if least <= 0.0:
        moments = f"{least:.3g}, {middle:.3g}, {greatest:.3g}"
        yield f"{name} has the moments of inertia {moments}: all must be above 0"
    elif greatest > _MAX_MOMENT_RATIO * (least + middle):
        yield (
            f"{name}: no body has an inertia of {greatest:.3g} about one axis "
            f"and {least:.3g} and {middle:.3g} about the others"
        )
    extent_m = _reach_m(link)
    gyration_m = math.sqrt(max(greatest, 0.0) / link.mass_kg)
    if extent_m and gyration_m > MAX_GYRATION_RATIO * extent_m:
        ratio = gyration_m / extent_m
        yield f"{name}: its inertia is that of a body {ratio:.3g} times as large; check its unit"


def _check_hinge(hinge: Hinge) -> Iterator[str]:
    """Yield a message for each oddity of a hinge."""
    limits = f"{hinge.lower_rad:g}..{hinge.upper_rad:g} rad"
    if hinge.lower_rad >= hinge.upper_rad - _MIN_RANGE_RAD:
        yield f"{hinge.name} has the limits {limits}: replaced by half a turn each way"
    if max(abs(hinge.lower_rad), abs(hinge.upper_rad)) > 2.0 * math.pi + _ROUNDING_RAD:
        yield f"{hinge.name} has the limits {limits}: cut to a whole turn; are these degrees?"
    if hinge.effort_nm <= 0.0:
        yield f"{hinge.name} has no actuator: the torque of its motor is not stated"
    if hinge.speed_rad_s <= 0.0:
        yield f"{hinge.name}: the speed of its motor is not stated"
