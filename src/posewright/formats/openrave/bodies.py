"""The content of an OpenRAVE document: bodies of links and joints, in metres, kilograms and radians.

Poses are matrices `(4, 4)`. Those of links, and joints' anchors and axes, are in the frame of the
environment with every joint at 0; those of geometries and masses are in the frame of their link.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from posewright.arrays import Floats
from posewright.errors import Where
from posewright.formats.scenes.mesh import Colour, Up, ball_points, box_points, round_points


class GeometryKind(Enum):
    """The shapes that are read; the axis of a cylinder is y."""

    BOX = "box"
    SPHERE = "sphere"
    CYLINDER = "cylinder"
    MESH = "trimesh"


class JointKind(Enum):
    """The joints that are read: they turn about their axis or slide along it."""

    HINGE = "hinge"
    SLIDER = "slider"


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """A shape of a link.

    Attributes:
        kind: the kind of shape.
        pose: its pose in the frame of the link.
        size_m: the edges of a box, the radius of a sphere, or radius and height of a cylinder [m].
        parts: the points of each part of a mesh, `(n, 3)`, in its own frame; empty for other shapes.
        colour: red, green, blue 0..1; None if the document gives none.
    """

    kind: GeometryKind
    pose: Floats
    size_m: tuple[float, ...] = ()
    parts: tuple[Floats, ...] = ()
    colour: Colour | None = None

    def points(self) -> tuple[Floats, ...]:
        """Return the points of each part, `(n, 3)`, in the frame of the link [m]."""
        parts = self.parts
        if self.kind is GeometryKind.BOX:
            parts = (box_points(np.array(self.size_m)),)
        elif self.kind is GeometryKind.SPHERE:
            parts = (ball_points(self.size_m[0]),)
        elif self.kind is GeometryKind.CYLINDER:
            parts = (round_points(self.size_m[0], self.size_m[1]),)
        return tuple(part @ self.pose[:3, :3].T + self.pose[:3, 3] for part in parts)

    def mass(self, density: float) -> Mass | None:
        """Return its mass at a density [kg/m^3], in the frame of the link; None for a mesh."""
        if self.kind is GeometryKind.MESH:
            return None
        if self.kind is GeometryKind.BOX:
            mass = Mass.of_box(self.size_m, density * math.prod(self.size_m))
        elif self.kind is GeometryKind.SPHERE:
            (radius,) = self.size_m
            mass = Mass.of_sphere(radius, density * 4.0 / 3.0 * math.pi * radius**3)
        else:
            radius, height = self.size_m
            kg = density * math.pi * radius**2 * height
            axial_inertia = kg * radius**2 / 2.0
            transverse_inertia = kg * (3.0 * radius**2 + height**2) / 12.0
            inertia = np.diag([transverse_inertia, axial_inertia, transverse_inertia])  # its axis is y
            mass = Mass(kg, np.zeros(3), inertia)
        rotation = self.pose[:3, :3]
        return Mass(mass.kg, self.pose[:3, 3], rotation @ mass.inertia @ rotation.T)


@dataclass(frozen=True, slots=True, eq=False)
class Mass:
    """The mass of a link.

    Attributes:
        kg: its mass.
        centre_m: its centre of mass in the frame of the link, `(3,)` [m].
        inertia: the inertia about that centre, along the link's axes, `(3, 3)` [kg m^2].
    """

    kg: float
    centre_m: Floats
    inertia: Floats

    @classmethod
    def of_box(cls, size_m: Iterable[float], kg: float) -> Mass:
        """Return the mass of a solid box about its centre."""
        x, y, z = (edge**2 for edge in size_m)
        return cls(kg, np.zeros(3), np.diag([y + z, x + z, x + y]) * (kg / 12.0))

    @classmethod
    def of_sphere(cls, radius_m: float, kg: float) -> Mass:
        """Return the mass of a solid sphere about its centre."""
        return cls(kg, np.zeros(3), np.eye(3) * (0.4 * kg * radius_m**2))

    @classmethod
    def of_all(cls, masses: Iterable[Mass]) -> Mass | None:
        """Return the sum of several masses; None if there are none above 0."""
        parts = [mass for mass in masses if mass.kg > 0.0]
        if not parts:
            return None
        kg = sum(part.kg for part in parts)
        centre = np.asarray(sum(part.kg * part.centre_m for part in parts) / kg)
        inertia = np.zeros((3, 3))
        for part in parts:  # parallel axis theorem
            offset = part.centre_m - centre
            inertia += part.inertia + part.kg * (offset @ offset * np.eye(3) - np.outer(offset, offset))
        return cls(kg, centre, inertia)


@dataclass(frozen=True, slots=True, eq=False)
class RaveLink:
    """A rigid part; OpenRAVE calls it a Body.

    Attributes:
        name: its name.
        is_static: whether it is fixed to the world.
        pose: its pose with every joint at 0.
        geometries: its shapes.
        mass: its mass; None if the document gives none.
        where: its place in the document.
    """

    name: str
    is_static: bool
    pose: Floats
    geometries: tuple[Geometry, ...] = ()
    mass: Mass | None = None
    where: Where | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RaveJoint:
    """A joint between two links.

    Attributes:
        name: its name.
        kind: whether it turns or slides.
        parent: the name of the first link.
        child: the name of the second link.
        anchor_m: a point of its axis, `(3,)` [m].
        axis: a unit vector, `(3,)`.
        limits: lower and upper limit, of a hinge [rad], of a slider [m]; None if it has none.
        is_enabled: whether it has a motor; without one it is passive, and fixed if both limits are 0.
        mimic: the formula of the joint it follows, as it is written; empty for none.
        initial_rad: its position at the start [rad].
        max_velocity: its largest velocity [rad/s] or [m/s]; None if the document gives none.
        max_torque: its largest torque [N m] or force [N]; None if the document gives none.
        where: its place in the document.
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
        name: its name.
        kind: OpenRAVE's name of its kind, `BaseLaser2D`.
        link: the name of its link.
        pose: its pose in the frame of the link.
        values: the text of each of its parameters, by the tag in lower case.
        where: its place in the document.
    """

    name: str
    kind: str
    link: str
    pose: Floats
    values: tuple[tuple[str, str], ...] = ()
    where: Where | None = None


@dataclass(frozen=True, slots=True, eq=False)
class KinBody:
    """A body of links and joints; a robot may have sensors, too."""

    name: str
    is_robot: bool
    links: tuple[RaveLink, ...] = ()
    joints: tuple[RaveJoint, ...] = ()
    sensors: tuple[AttachedSensor, ...] = ()

    def moved(self, pose: Floats) -> KinBody:
        """Return the body moved by a pose, which is applied after its own."""
        rotation = pose[:3, :3]
        translation = pose[:3, 3]
        links = tuple(replace(link, pose=pose @ link.pose) for link in self.links)
        joints = tuple(
            replace(joint, anchor_m=rotation @ joint.anchor_m + translation, axis=rotation @ joint.axis)
            for joint in self.joints
        )
        return replace(self, links=links, joints=joints)


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """A scene of bodies.

    Attributes:
        bodies: the bodies.
        friction: the sliding friction; None if the document gives none.
        notes: descriptions of what was left out, with file and line.
        up: the axis against gravity; `Up.AUTO` if the document gives none.
    """

    bodies: tuple[KinBody, ...]
    friction: float | None = None
    notes: tuple[str, ...] = field(default=())
    up: Up = Up.AUTO
