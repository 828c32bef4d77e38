"""Builder of an OpenRAVE body: its links, joints and sensors, in the order of the document."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from posewright.arrays import Floats
from posewright.documents.markup import Element
from posewright.formats.openrave.bodies import (
    AttachedSensor,
    Geometry,
    GeometryKind,
    JointKind,
    KinBody,
    Mass,
    RaveJoint,
    RaveLink,
)
from posewright.formats.scenes.mesh import Colour, turn_about
from posewright.units import RAD_PER_DEG

_DEFAULT_DENSITY = 1.0
MAX_PARTS = 1000
"""Most links, and most joints, of one body."""

POSE_TAGS = ("translation", "rotationaxis", "rotationmat", "rotation", "quat")
"""The tags that `pose_of` reads."""

_DEFAULT_LINK_NAME = re.compile(r"link\d+")

_KINDS: dict[str, GeometryKind] = {kind.value: kind for kind in GeometryKind}


def pose_of(tag: Element) -> Floats:
    """Return the pose that a tag gives, `(4, 4)`: its rotations in order, and the sum of its translations."""
    pose = np.eye(4)
    for child in tag.children:
        if child.name == "translation":
            pose[:3, 3] += child.numbers(3)
        elif child.name == "rotationaxis":
            x, y, z, degrees = child.numbers(4)
            pose[:3, :3] = turn_about(np.array([x, y, z]), degrees * RAD_PER_DEG) @ pose[:3, :3]
        elif child.name in ("rotationmat", "rotation"):
            rotation = np.array(child.numbers(9)).reshape(3, 3)
            is_orthogonal = np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-3)
            if not is_orthogonal or np.linalg.det(rotation) < 0.0:
                child.fail("this is not a rotation matrix", "write the nine numbers of one, row by row")
            pose[:3, :3] = rotation @ pose[:3, :3]
        elif child.name == "quat":
            pose[:3, :3] = _read_quaternion(child) @ pose[:3, :3]
    return pose


def _read_quaternion(tag: Element) -> Floats:
    w, *axis = tag.numbers(4)
    length = math.sqrt(w * w + sum(part * part for part in axis))
    if length < 1e-9:
        tag.fail("a quaternion of length 0", "write w x y z")
    return turn_about(np.array(axis), 2.0 * math.atan2(math.hypot(*axis), w))


@dataclass
class BodyBuilder:
    """A body that is being read.

    Attributes:
        read_mesh: returns a mesh with its points, or None if it is left out.
        note_ignored: adds a note that a tag is not read, with a description if its name does not tell which.
        count_weighed: counts the shapes that a <Mass> adds up; raises FormatError for too many in a document.
        links: the links by name.
        joints: the joints.
        sensors: the sensors.
        common_mass: the <Mass> of all links that have none themselves.
        name: the name of the body.
        is_robot: whether it is a robot.
    """

    read_mesh: Callable[[Element, Geometry], Geometry | None]
    note_ignored: Callable[..., None]
    count_weighed: Callable[[Element, int], None]
    links: dict[str, RaveLink] = field(default_factory=dict)
    joints: list[RaveJoint] = field(default_factory=list)
    sensors: list[AttachedSensor] = field(default_factory=list)
    common_mass: Element | None = None
    name: str = ""
    is_robot: bool = False

    def include(self, body: KinBody, prefix: str, tag: Element) -> None:
        """Add the links, joints and sensors of another body, with a prefix before their names.

        The name of the body is taken over if this one has none, and so is that it is a robot. A link that has
        a default name gets another one where that is taken.

        Args:
            body: the other body.
            prefix: the prefix.
            tag: the tag that includes it, for messages.
        """
        self.require_count(len(self.links) + len(body.links), tag)
        new_names: dict[str, str] = {}
        for link in body.links:
            new_name = prefix + link.name
            if new_name in self.links and _DEFAULT_LINK_NAME.fullmatch(link.name):
                new_name = self.choose_link_name(prefix)
            elif new_name in self.links:
                tag.fail(f"there is a link {new_name!r} already", 'give it another prefix="..."')
            new_names[link.name] = new_name
            self.links[new_name] = replace(link, name=new_name)
        for joint in body.joints:
            parent = new_names[joint.parent]
            child = new_names[joint.child]
            self.joints.append(replace(joint, name=prefix + joint.name, parent=parent, child=child))
        for sensor in body.sensors:
            self.sensors.append(replace(sensor, name=prefix + sensor.name, link=new_names[sensor.link]))
        self.name = self.name or body.name
        self.is_robot = self.is_robot or body.is_robot

    def choose_link_name(self, prefix: str) -> str:
        """Return an unused name for a link without one: `link` and a number."""
        number = len(self.links)
        while f"{prefix}link{number}" in self.links:
            number += 1
        return f"{prefix}link{number}"

    def require_count(self, count: int, tag: Element) -> None:
        """Raise FormatError for more links or joints than a body may have."""
        if count > MAX_PARTS:
            tag.fail("a body of too many parts", f"at most {MAX_PARTS} links and as many joints are read")

    def move(self, pose: Floats, element: Element) -> None:
        """Move all links and joints by the pose of the whole body.

        Args:
            pose: the transformation, `(4, 4)`.
            element: the tag of the whole body, for the place of errors.
        """
        if np.array_equal(pose, np.eye(4)):
            return
        # a nameless body, only to move its parts
        body = KinBody("", is_robot=False, links=self.build_links(element), joints=tuple(self.joints))
        moved_body = body.moved(pose)
        self.links = {link.name: link for link in moved_body.links}
        self.joints = list(moved_body.joints)

    def build_links(self, tag: Element) -> tuple[RaveLink, ...]:
        """Return the links; those without a mass get the common one of the body."""
        if self.common_mass is not None:
            for name, link in self.links.items():
                if link.mass is None:
                    self.links[name] = replace(link, mass=self.read_mass(self.common_mass, link.geometries))
        if not self.links and not tag.children and "file" not in tag.attributes:
            tag.fail(f"<{tag.name}> is empty", 'write a <Body> in it, or file="..."')
        return tuple(self.links.values())

    def add_link(self, tag: Element, prefix: str) -> None:
        """Add a <Body>, or extend the link of the same name.

        Its pose is relative to the link that its <offsetfrom> names; without one, to its own pose so far if
        it is extended. Shapes are added to those it has; a mass replaces the one it has.
        """
        own_name = tag.attributes.get("name", "")
        name = prefix + own_name if own_name else self.choose_link_name(prefix)
        old_link = self.links.get(name)
        self.require_count(len(self.links) + 1, tag)
        offset = tag.last("offsetfrom")
        pose = pose_of(tag)
        if offset is not None:
            pose = self.links[self.find_link(offset, offset.text, prefix)].pose @ pose
        elif old_link is not None:
            pose = old_link.pose @ pose
        geometries = list(old_link.geometries) if old_link else []
        for child in tag.all("geom"):
            geometry = self.read_geometry(child)
            if geometry is not None:
                geometries.append(geometry)
        mass_tag = tag.last("mass")
        mass = old_link.mass if old_link else None
        if mass_tag is not None:
            mass = self.read_mass(mass_tag, tuple(geometries))
        kind = tag.attributes.get("type", "").lower()
        is_static = kind == "static" or (not kind and old_link is not None and old_link.is_static)
        self.links[name] = RaveLink(
            name, is_static, pose, geometries=tuple(geometries), mass=mass, where=tag.where
        )
        if tag.attributes.get("enable", "true").lower() in ("false", "0"):
            self.note_ignored(tag, 'enable="false" of <body>')
        for child in tag.children:
            if child.name not in {"geom", "mass", "offsetfrom", *POSE_TAGS}:
                self.note_ignored(child)

    def find_link(self, tag: Element, name: str, prefix: str = "") -> str:
        """Return the name of a link as it was defined; upper and lower case need not match."""
        candidates = (prefix + name, name)
        for candidate in candidates:
            if candidate in self.links:
                return candidate
        folded = [candidate.casefold() for candidate in candidates]
        matches = [link_name for link_name in self.links if link_name.casefold() in folded]
        if not matches:
            hint = f"bodies before this line: {', '.join(self.links)[:300] or 'none'}"
            tag.fail(f"there is no body {name[:80]!r} yet", hint)
        return matches[0]

    def add_sensor(self, tag: Element, prefix: str) -> None:
        """Add an <AttachedSensor>."""
        link_tag = tag.last("link")
        sensor_tag = tag.last("sensor")
        if link_tag is None:
            tag.fail(f"<{tag.name}> without <link>", "name the link it is attached to")
        name = prefix + tag.attributes.get("name", "")
        if any(sensor.name == name for sensor in self.sensors):
            tag.fail(f"two sensors are called {name!r:.80}", "give each a name of its own")
        kind = ""
        values: tuple[tuple[str, str], ...] = ()
        if sensor_tag is not None:
            kind = sensor_tag.attributes.get("type", "")
            values = tuple((child.name, child.text) for child in sensor_tag.children)
        link = self.find_link(link_tag, link_tag.text, prefix)
        self.sensors.append(
            AttachedSensor(name, kind, link, pose=pose_of(tag), values=values, where=tag.where)
        )

    def add_joint(self, tag: Element, prefix: str) -> None:
        """Add a <Joint> between two links."""
        kind = tag.attributes.get("type", "hinge").lower()
        if kind not in [joint_kind.value for joint_kind in JointKind]:
            tag.fail(f"a joint of the type {kind[:40]!r} is not read", "use hinge or slider")
        name = prefix + tag.attributes.get("name", f"joint{len(self.joints)}")
        self.require_count(len(self.joints) + 1, tag)
        if any(joint.name == name for joint in self.joints):
            tag.fail(f"two joints are called {name!r}", "give each a name of its own")
        link_names = [self.find_link(child, child.text, prefix) for child in tag.all("body")]
        if len(link_names) != 2 or link_names[0] == link_names[1]:
            hint = "name two <Body>, the parent first"
            tag.fail(f"a joint between {len(set(link_names))} bodies", hint)
        parent, child = link_names
        anchor, axis = self._read_anchor_and_axis(tag, prefix)
        formulas = [value for key, value in tag.attributes.items() if key.startswith("mimic_pos")]
        initial_deg = tag.number("initial") or 0.0
        self.joints.append(
            RaveJoint(
                name=name,
                kind=JointKind(kind),
                parent=parent,
                child=child,
                anchor_m=anchor,
                axis=axis,
                limits=_read_limits(tag, kind),
                is_enabled=tag.attributes.get("enable", "true").lower() != "false",
                mimic=formulas[0] if formulas else "",
                initial_rad=initial_deg * RAD_PER_DEG,
                max_velocity=_read_velocity(tag, "maxvel", "maxveldeg"),
                max_torque=tag.number("maxtorque"),
                where=tag.where,
            )
        )

    def _read_anchor_and_axis(self, tag: Element, prefix: str) -> tuple[Floats, Floats]:
        """Return a point [m] and the unit vector of a joint's axis in the frame of the environment.

        The joint gives them in the frame of the link that its <offsetfrom> names, if it has one.
        """
        frame = np.eye(4)
        offset = tag.last("offsetfrom")
        if offset is not None:
            frame = self.links[self.find_link(offset, offset.text, prefix)].pose
        anchor_tag = tag.last("anchor")
        axis_tag = tag.last("axis", "axis1")
        anchor = np.zeros(3) if anchor_tag is None else np.array(anchor_tag.numbers(3))
        axis = np.array([0.0, 0.0, 1.0]) if axis_tag is None else np.array(axis_tag.numbers(3))
        if np.linalg.norm(axis) < 1e-9:
            tag.fail("an axis of length 0", "write a direction")
        rotation = frame[:3, :3]
        translation = frame[:3, 3]
        axis = rotation @ axis
        return rotation @ anchor + translation, axis / np.linalg.norm(axis)

    def read_geometry(self, tag: Element) -> Geometry | None:
        """Return a shape; None for a plane, which is infinite, and for what is left out with a note."""
        kind = tag.attributes.get("type", "").lower()
        if kind == "plane":
            self.note_ignored(tag)
            return None
        if kind not in _KINDS:
            self.note_ignored(tag, f"<geom> of the type {kind[:40]!r}")
            return None
        size_m = _read_size(tag, _KINDS[kind])
        geometry = Geometry(_KINDS[kind], pose_of(tag), size_m, parts=(), colour=_read_colour(tag))
        return self.read_mesh(tag, geometry) if geometry.kind is GeometryKind.MESH else geometry

    def read_mass(self, tag: Element, geometries: tuple[Geometry, ...]) -> Mass | None:
        """Return the mass that a <Mass> gives a link with these shapes; None if it gives none.

        By its type it is that of the shapes (mimicgeom), of a solid box or sphere of a given size, or a given
        number (custom). A total mass scales it; <inertia> and <com> replace what was computed.
        """
        kind = tag.attributes.get("type", "box").lower()
        total = tag.number("total") or tag.number("mass")
        density = tag.number("density") or _DEFAULT_DENSITY
        if kind not in ("mimicgeom", "custom", "box", "sphere"):
            tag.fail(f"a Mass of the type {kind[:40]!r} is not read", "use mimicgeom, custom, box or sphere")
        mass: Mass | None
        if kind == "mimicgeom":
            self.count_weighed(tag, len(geometries))
            parts = [geometry.mass(density) for geometry in geometries]
            mass = Mass.of_all(part for part in parts if part is not None)
        elif kind == "box" and tag.last("extents") is not None:
            size = 2.0 * _read_positive(tag, "extents", count=3)
            mass = Mass.of_box(size.tolist(), total or density * float(np.prod(size)))
        elif kind == "sphere" and tag.last("radius") is not None:
            radius = float(_read_positive(tag, "radius", count=1)[0])
            volume = 4.0 / 3.0 * math.pi * radius**3
            mass = Mass.of_sphere(radius, total or density * volume)
        else:
            mass = None if total is None else Mass(total, np.zeros(3), np.zeros((3, 3)))
        if mass is None:
            return None
        if mass.kg < 0.0:
            tag.fail(f"a mass of {mass.kg:g} kg", "write 0 or more")
        if kind == "mimicgeom" and total and mass.kg:
            mass = replace(mass, kg=total, inertia=mass.inertia * (total / mass.kg))
        inertia_tag = tag.last("inertia")
        # OpenRAVE reads it for `custom` only; the thesis's Bioloid has it in boxes
        if inertia_tag is not None:
            mass = replace(mass, inertia=np.array(inertia_tag.numbers(9)).reshape(3, 3))
        centre_tag = tag.last("com")
        if centre_tag is not None:
            mass = replace(mass, centre_m=np.array(centre_tag.numbers(3)))
        return mass


def _read_positive(tag: Element, name: str, count: int) -> Floats:
    """Return the numbers of a child element, which must be lengths above 0 [m]."""
    child = tag.last(name)
    if child is None:
        tag.fail(f"<{tag.name}> without <{name}>", f"add <{name}>")
    values = np.array(child.numbers(count))
    if (values <= 0.0).any() or (values > 1e4).any():
        child.fail(f"<{name}> is {child.text[:60]!r}", "write metres above 0")
    return values


def _read_size(tag: Element, kind: GeometryKind) -> tuple[float, ...]:
    """Return the edges of a box, or radius and height of a round shape [m]; () for a mesh."""
    if kind is GeometryKind.MESH:
        return ()
    if kind is GeometryKind.BOX:
        if tag.last("fullextents") is not None:
            return tuple(_read_positive(tag, "fullextents", count=3).tolist())
        name = "halfextents" if tag.last("halfextents") is not None else "extents"
        return tuple((2.0 * _read_positive(tag, name, count=3)).tolist())
    names = ("radius",) if kind is GeometryKind.SPHERE else ("radius", "height")
    return tuple(float(_read_positive(tag, name, count=1)[0]) for name in names)


def _read_colour(tag: Element) -> Colour | None:
    child = tag.last("diffusecolor")
    if child is None:
        return None
    red, green, blue = np.clip(child.numbers(3, 4)[:3], 0.0, 1.0).tolist()
    return red, green, blue


def _read_limits(tag: Element, kind: str) -> tuple[float, float] | None:
    """Return the lower and upper limit of a joint; None if it has none."""
    if tag.attributes.get("circular", "").lower() in ("true", "1"):
        return None
    degree = 1.0 if kind == "slider" else RAD_PER_DEG  # a slider's limits are metres in every tag
    limits_in_degrees = tag.last("limitsdeg")
    if limits_in_degrees is not None:
        low, high = sorted(limit * degree for limit in limits_in_degrees.numbers(2))
        return low, high
    limits = tag.last("limits", "limitsrad")
    if limits is not None:
        low, high = sorted(limits.numbers(2))
        return low, high
    low_stop = tag.number("lostop")
    high_stop = tag.number("histop")
    if low_stop is not None and high_stop is not None:
        return low_stop * degree, high_stop * degree
    return None


def _read_velocity(tag: Element, name: str, name_in_degrees: str) -> float | None:
    degrees = tag.number(name_in_degrees)
    return tag.number(name) if degrees is None else degrees * RAD_PER_DEG
