"""What an OpenRAVE document describes: bodies of links and joints, in metres, kilograms and radians.

Poses are matrices `(4, 4)`. Those of links, and joints' anchors and axes, are in the frame of the environment
as the document places them, with every joint at 0; those of geometries and masses are in that of their link.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from posewright.arrays import Floats
from posewright.errors import Where
from posewright.formats.scenes.mesh import Colour, ball_points, box_points, round_points


class GeometryKind(Enum):
    """The shapes that are read; a cylinder's axis is its y."""

    BOX = "box"
    SPHERE = "sphere"
    CYLINDER = "cylinder"
    MESH = "trimesh"


class JointKind(Enum):
    """The joints that are read: they turn about their axis, or slide along it."""

    HINGE = "hinge"
    SLIDER = "slider"


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """A shape of a link.

    Attributes:
        size_m: of a box its edges; of a sphere its radius; of a cylinder radius and height [m].
        pose: in the frame of the link.
        parts: of a mesh the points of each of its parts, `(n, 3)`, in its own frame; of others none.
    """

    kind: GeometryKind
    pose: Floats
    size_m: tuple[float, ...] = ()
    parts: tuple[Floats, ...] = ()
    colour: Colour | None = None

    def points(self) -> tuple[Floats, ...]:
        """Return the points of each of its parts, `(n, 3)`, in the frame of the link [m]."""
        found = self.parts
        if self.kind is GeometryKind.BOX:
            found = (box_points(np.array(self.size_m)),)
        elif self.kind is GeometryKind.SPHERE:
            found = (ball_points(self.size_m[0]),)
        elif self.kind is GeometryKind.CYLINDER:
            found = (round_points(self.size_m[0], self.size_m[1]),)
        return tuple(part @ self.pose[:3, :3].T + self.pose[:3, 3] for part in found)

    def mass(self, density: float) -> Mass | None:
        """Return what it weighs at a density [kg/m^3], in the frame of the link; None of a mesh."""
        if self.kind is GeometryKind.MESH:
            return None
        if self.kind is GeometryKind.BOX:
            one = Mass.of_box(self.size_m, density * math.prod(self.size_m))
        elif self.kind is GeometryKind.SPHERE:
            (radius,) = self.size_m
            one = Mass.of_sphere(radius, density * 4.0 / 3.0 * math.pi * radius**3)
        else:
            radius, height = self.size_m
            kg = density * math.pi * radius**2 * height
            across = kg * (3.0 * radius**2 + height**2) / 12.0
            one = Mass(kg, np.zeros(3), np.diag([across, kg * radius**2 / 2.0, across]))
        turn = self.pose[:3, :3]
        return Mass(one.kg, self.pose[:3, 3], turn @ one.inertia @ turn.T)


@dataclass(frozen=True, slots=True, eq=False)
class Mass:
    """What a link weighs.

    Attributes:
        kg: its mass.
        centre_m: its centre of mass in the frame of the link, `(3,)` [m].
        inertia: about that centre, along the link's axes, `(3, 3)` [kg m^2].
    """

    kg: float
    centre_m: Floats
    inertia: Floats

    @classmethod
    def of_box(cls, size_m: Iterable[float], kg: float) -> Mass:
        """Return the mass of a full box about its middle."""
        x, y, z = (edge**2 for edge in size_m)
        return cls(kg, np.zeros(3), np.diag([y + z, x + z, x + y]) * (kg / 12.0))

    @classmethod
    def of_sphere(cls, radius_m: float, kg: float) -> Mass:
        """Return the mass of a full sphere about its middle."""
        return cls(kg, np.zeros(3), np.eye(3) * (0.4 * kg * radius_m**2))

    @classmethod
    def of_all(cls, masses: Iterable[Mass]) -> Mass | None:
        """Return several as one; None where there is none."""
        parts = [one for one in masses if one.kg > 0.0]
        if not parts:
            return None
        kg = sum(one.kg for one in parts)
        centre = np.asarray(sum(one.kg * one.centre_m for one in parts) / kg)
        inertia = np.zeros((3, 3))
        for one in parts:
            away = one.centre_m - centre
            inertia += one.inertia + one.kg * (away @ away * np.eye(3) - np.outer(away, away))
        return cls(kg, centre, inertia)


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A rigid part; OpenRAVE calls it a Body.

    Attributes:
        pose: where it is, with every joint at 0.
        mass: None where the document tells none.
        where: where it begins.
    """

    name: str
    is_static: bool
    pose: Floats
    geometries: tuple[Geometry, ...] = ()
    mass: Mass | None = None
    where: Where | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """What lets one link move against another.

    Attributes:
        anchor_m: a point of its axis, `(3,)` [m].
        axis: a unit vector, `(3,)`.
        limits: least and most, of a hinge [rad], of a slider [m]; None where it has none.
        is_enabled: whether it is driven; one that is not is passive, and fixed where its limits are 0 and 0.
        mimic: the formula it follows, as it is written; empty where it is free.
        max_velocity: [rad/s] or [m/s]; None where it is not told.
        max_torque: [N m] or [N]; None where it is not told.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    anchor_m: Floats
    axis: Floats
    limits: tuple[float, float] | None = None
    is_enabled: bool = True
    mimic: str = ""
    initial_rad: float = 0.0
    max_velocity: float | None = None
    max_torque: float | None = None
    where: Where | None = None


@dataclass(frozen=True, slots=True, eq=False)
class AttachedSensor:
    """A sensor on a link.

    Attributes:
        kind: OpenRAVE's name of it, `BaseLaser2D`.
        pose: in the frame of the link.
        values: what is told of it, by the tag in small letters, as it is written.
    """

    name: str
    kind: str
    link: str
    pose: Floats
    values: tuple[tuple[str, str], ...] = ()
    where: Where | None = None


@dataclass(frozen=True, slots=True, eq=False)
class KinBody:
    """Links and joints; a robot, where it has sensors besides."""

    name: str
    is_robot: bool
    links: tuple[Link, ...] = ()
    joints: tuple[Joint, ...] = ()
    sensors: tuple[AttachedSensor, ...] = ()

    def moved(self, pose: Floats) -> KinBody:
        """Return the body placed by a pose before its own."""
        links = tuple(replace(link, pose=pose @ link.pose) for link in self.links)
        turn, move = pose[:3, :3], pose[:3, 3]
        joints = tuple(
            replace(one, anchor_m=turn @ one.anchor_m + move, axis=turn @ one.axis) for one in self.joints
        )
        return replace(self, links=links, joints=joints)


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """A scene of bodies.

    Attributes:
        friction: sliding friction; None where it is not told.
        notes: what was passed over, with file and line, in words.
    """

    bodies: tuple[KinBody, ...]
    friction: float | None = None
    notes: tuple[str, ...] = field(default=())
