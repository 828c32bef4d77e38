"""Links and joints of an OpenRAVE body, put together in the order of the document."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from posewright.arrays import Floats
from posewright.documents.markup import Element
from posewright.formats.openrave.bodies import (
    AttachedSensor,
    Geometry,
    GeometryKind,
    Joint,
    JointKind,
    KinBody,
    Link,
    Mass,
)
from posewright.formats.scenes.mesh import Colour, turn_about
from posewright.units import RAD_PER_DEG

_USUAL_DENSITY = 1.0
MOST_PARTS = 1000
"""Links, and joints, of one body."""

PLACES = ("translation", "rotationaxis", "rotationmat", "rotation", "quat")
"""What places a part: `pose_of` reads it."""

_SIZES: dict[str, GeometryKind] = {kind.value: kind for kind in GeometryKind}


def pose_of(tag: Element) -> Floats:
    """Return where a tag places what it describes: its turns in their order, its moves added, `(4, 4)`."""
    pose = np.eye(4)
    for child in tag.children:
        if child.name == "translation":
            pose[:3, 3] += child.numbers(3)
        elif child.name == "rotationaxis":
            x, y, z, degrees = child.numbers(4)
            pose[:3, :3] = turn_about(np.array([x, y, z]), degrees * RAD_PER_DEG) @ pose[:3, :3]
        elif child.name in ("rotationmat", "rotation"):
            turn = np.array(child.numbers(9)).reshape(3, 3)
            if not np.allclose(turn @ turn.T, np.eye(3), atol=1e-3) or np.linalg.det(turn) < 0.0:
                child.fail("this is no rotation", "nine numbers, row by row, of a matrix that only turns")
            pose[:3, :3] = turn @ pose[:3, :3]
        elif child.name == "quat":
            pose[:3, :3] = _of_quaternion(child) @ pose[:3, :3]
    return pose


def _of_quaternion(tag: Element) -> Floats:
    w, *axis = tag.numbers(4)
    length = math.sqrt(w * w + sum(part * part for part in axis))
    if length < 1e-9:
        tag.fail("a quaternion of length 0", "w x y z")
    return turn_about(np.array(axis), 2.0 * math.atan2(math.hypot(*axis), w))


@dataclass
class BodyMaker:
    """A body so far.

    Attributes:
        read_mesh: gives a mesh its points.
        pass_over: notes that a tag is not read.
        common_mass: what is said of the masses of all links.
    """

    read_mesh: Callable[[Element, Geometry], Geometry]
    pass_over: Callable[[Element], None]
    links: dict[str, Link] = field(default_factory=dict)
    joints: list[Joint] = field(default_factory=list)
    sensors: list[AttachedSensor] = field(default_factory=list)
    common_mass: Element | None = None
    name: str = ""
    is_robot: bool = False

    def include(self, body: KinBody, prefix: str, tag: Element) -> None:
        """Add the links and joints of another body, under names with a prefix."""
        self.check_count(len(self.links) + len(body.links), tag)
        for link in body.links:
            if prefix + link.name in self.links:
                tag.fail(f"there is a link {prefix + link.name!r} already", 'give it another prefix="..."')
            self.links[prefix + link.name] = replace(link, name=prefix + link.name)
        for one in body.joints:
            parent, child = prefix + one.parent, prefix + one.child
            self.joints.append(replace(one, name=prefix + one.name, parent=parent, child=child))
        self.sensors += [replace(one, name=prefix + one.name, link=prefix + one.link) for one in body.sensors]
        self.name, self.is_robot = self.name or body.name, self.is_robot or body.is_robot

    def check_count(self, count: int, tag: Element) -> None:
        """Refuse more parts than there may be."""
        if count > MOST_PARTS:
            tag.fail("a body of too many parts", f"at most {MOST_PARTS} links, and as many joints")

    def place(self, pose: Floats, tag: Element) -> None:
        """Move everything so far, as the place of a whole body does."""
        if np.array_equal(pose, np.eye(4)):
            return
        whole = KinBody("", is_robot=False, links=self.finished(tag), joints=tuple(self.joints)).moved(pose)
        self.links = {link.name: link for link in whole.links}
        self.joints = list(whole.joints)

    def finished(self, tag: Element) -> tuple[Link, ...]:
        """Return the links; those without a mass get what the body says of all of them."""
        if self.common_mass is not None:
            for name, link in self.links.items():
                if link.mass is None:
                    self.links[name] = replace(link, mass=self.mass(self.common_mass, link.geometries))
        if not self.links and not tag.children and "file" not in tag.attributes:
            tag.fail(f"<{tag.name}> is empty", 'a <Body> in it, or file="..."')
        return tuple(self.links.values())

    def add_link(self, tag: Element, prefix: str) -> None:
        """Add a <Body>, or what it says besides of one that is there."""
        name = prefix + tag.attributes.get("name", f"link{len(self.links)}")
        before = self.links.get(name)
        self.check_count(len(self.links) + 1, tag)
        offset = tag.last("offsetfrom")
        pose = pose_of(tag)
        if offset is not None:
            pose = self.links[self.known(offset, offset.text, prefix)].pose @ pose
        elif before is not None:  # a link met again gets what is said now besides
            pose = before.pose @ pose
        shapes = [self.geometry(child) for child in tag.all("geom")]
        geometries = (*(before.geometries if before else ()), *(one for one in shapes if one is not None))
        mass_tag = tag.last("mass")
        mass = before.mass if before else None
        if mass_tag is not None:
            mass = self.mass(mass_tag, geometries)
        kind = tag.attributes.get("type", "").lower()
        is_static = kind == "static" or (not kind and before is not None and before.is_static)
        self.links[name] = Link(name, is_static, pose, geometries, mass, tag.where)
        for child in tag.children:
            if child.name not in {"geom", "mass", "offsetfrom", *PLACES}:
                self.pass_over(child)

    def known(self, tag: Element, name: str, prefix: str = "") -> str:
        """Return the name of a link as it is written where it is defined: small letters or not is all one."""
        for one in (prefix + name, name):
            if one in self.links:
                return one
        near = [one for one in self.links if one.casefold() in ((prefix + name).casefold(), name.casefold())]
        if not near:
            tag.fail(
                f"there is no body {name[:80]!r} yet", f"there is {', '.join(self.links)[:300] or 'none'}"
            )
        return near[0]

    def add_sensor(self, tag: Element, prefix: str) -> None:
        """Add an <AttachedSensor> on a link that is there."""
        on, inner = tag.last("link"), tag.last("sensor")
        if on is None:
            tag.fail(f"<{tag.name}> without <link>")
        name = prefix + tag.attributes.get("name", "")
        if any(one.name == name for one in self.sensors):
            tag.fail(f"two sensors are called {name!r:.80}", "each has a name of its own")
        kind = "" if inner is None else inner.attributes.get("type", "")
        values = () if inner is None else tuple((one.name, one.text) for one in inner.children)
        link = self.known(on, on.text, prefix)
        self.sensors.append(AttachedSensor(name, kind, link, pose_of(tag), values, tag.where))

    def add_joint(self, tag: Element, prefix: str) -> None:
        """Add a <Joint> between two links that are there."""
        kind = tag.attributes.get("type", "hinge").lower()
        if kind not in (known.value for known in JointKind):
            tag.fail(f"a joint of the type {kind[:40]!r} is not read", "hinge or slider")
        name = prefix + tag.attributes.get("name", f"joint{len(self.joints)}")
        self.check_count(len(self.joints) + 1, tag)
        if any(one.name == name for one in self.joints):
            tag.fail(f"two joints are called {name!r}")
        ends = [self.known(child, child.text, prefix) for child in tag.all("body")]
        if len(ends) != 2 or ends[0] == ends[1]:
            tag.fail(f"a joint between {len(set(ends))} bodies", "two <Body>, the one that carries it first")
        frame = np.eye(4)
        if (offset := tag.last("offsetfrom")) is not None:
            frame = self.links[self.known(offset, offset.text, prefix)].pose
        anchor, axis = tag.last("anchor"), tag.last("axis", "axis1")
        place = np.zeros(3) if anchor is None else np.array(anchor.numbers(3))
        along = np.array([0.0, 0.0, 1.0]) if axis is None else np.array(axis.numbers(3))
        if np.linalg.norm(along) < 1e-9:
            tag.fail("an axis of length 0")
        along = frame[:3, :3] @ along
        formulas = [value for key, value in tag.attributes.items() if key.startswith("mimic_pos")]
        initial = tag.number("initial")
        self.joints.append(
            Joint(
                name=name,
                kind=JointKind(kind),
                parent=ends[0],
                child=ends[1],
                anchor_m=frame[:3, :3] @ place + frame[:3, 3],
                axis=along / np.linalg.norm(along),
                limits=_limits(tag, kind),
                is_enabled=tag.attributes.get("enable", "true").lower() != "false",
                mimic=formulas[0] if formulas else "",
                initial_rad=(initial or 0.0) * RAD_PER_DEG,
                max_velocity=_in_radians(tag, "maxvel", "maxveldeg"),
                max_torque=tag.number("maxtorque"),
                where=tag.where,
            )
        )

    def geometry(self, tag: Element) -> Geometry | None:
        """Return a shape; None of a plane, which has no end."""
        kind = tag.attributes.get("type", "").lower()
        if kind == "plane":
            self.pass_over(tag)
            return None
        if kind not in _SIZES:
            tag.fail(f"a Geom of the type {kind[:40]!r} is not read", f"one of {', '.join(_SIZES)}")
        made = Geometry(_SIZES[kind], pose_of(tag), _size(tag, _SIZES[kind]), (), _colour(tag))
        return self.read_mesh(tag, made) if made.kind is GeometryKind.MESH else made

    def mass(self, tag: Element, geometries: tuple[Geometry, ...]) -> Mass | None:
        """Return what a <Mass> says of a link with these shapes; None where that is nothing."""
        kind = tag.attributes.get("type", "box").lower()
        total, density = tag.number("total") or tag.number("mass"), tag.number("density")
        if kind not in ("mimicgeom", "custom", "box", "sphere"):
            tag.fail(f"a Mass of the type {kind[:40]!r} is not read", "mimicgeom, custom, box or sphere")
        told: Mass | None
        if kind == "mimicgeom":
            shapes = (one.mass(density or _USUAL_DENSITY) for one in geometries)
            told = Mass.of_all(one for one in shapes if one is not None)
        elif kind == "box" and tag.last("extents") is not None:
            size = 2.0 * _positive(tag, "extents", 3)
            told = Mass.of_box(size.tolist(), total or (density or _USUAL_DENSITY) * float(np.prod(size)))
        elif kind == "sphere" and tag.last("radius") is not None:
            radius = float(_positive(tag, "radius", 1)[0])
            volume = 4.0 / 3.0 * math.pi * radius**3
            told = Mass.of_sphere(radius, total or (density or _USUAL_DENSITY) * volume)
        else:
            told = None if total is None else Mass(total, np.zeros(3), np.zeros((3, 3)))
        if told is not None and told.kg < 0.0:
            tag.fail(f"a mass of {told.kg:g} kg", "0 or more")
        if told is None:
            return None
        if kind == "mimicgeom" and total and told.kg:
            told = replace(told, kg=total, inertia=told.inertia * (total / told.kg))
        return _corrected(tag, told)


def _corrected(tag: Element, told: Mass) -> Mass:
    """Return a mass with the centre and the inertia that are written out."""
    centre, inertia = tag.last("com"), tag.last("inertia")
    if inertia is not None:  # OpenRAVE reads it of `custom` alone; the thesis's Bioloid has it in boxes
        told = replace(told, inertia=np.array(inertia.numbers(9)).reshape(3, 3))
    return told if centre is None else replace(told, centre_m=np.array(centre.numbers(3)))


def _positive(tag: Element, name: str, count: int) -> Floats:
    child = tag.last(name)
    if child is None:
        tag.fail(f"<{tag.name}> without <{name}>")
    values = np.array(child.numbers(count))
    if (values <= 0.0).any() or (values > 1e4).any():
        child.fail(f"<{name}> of {child.text[:60]!r}", "metres above 0")
    return values


def _size(tag: Element, kind: GeometryKind) -> tuple[float, ...]:
    if kind is GeometryKind.MESH:
        return ()
    if kind is GeometryKind.BOX:
        if tag.last("fullextents") is not None:
            return tuple(_positive(tag, "fullextents", 3).tolist())
        name = "halfextents" if tag.last("halfextents") is not None else "extents"
        return tuple((2.0 * _positive(tag, name, 3)).tolist())
    names = ("radius",) if kind is GeometryKind.SPHERE else ("radius", "height")
    return tuple(float(_positive(tag, name, 1)[0]) for name in names)


def _colour(tag: Element) -> Colour | None:
    child = tag.last("diffusecolor")
    if child is None:
        return None
    red, green, blue = np.clip(child.numbers(3, 4)[:3], 0.0, 1.0).tolist()
    return red, green, blue


def _limits(tag: Element, kind: str) -> tuple[float, float] | None:
    """Return the limits of a joint, the least first; None where it has none."""
    if tag.attributes.get("circular", "").lower() in ("true", "1"):
        return None
    for names, factor in ((("limitsdeg",), RAD_PER_DEG), (("limits", "limitsrad"), 1.0)):
        child = tag.last(*names)
        if child is not None:
            unit = 1.0 if kind == "slider" else factor
            low, high = sorted(end * unit for end in child.numbers(2))
            return low, high
    low_stop, high_stop = tag.number("lostop"), tag.number("histop")
    if low_stop is not None and high_stop is not None:
        factor = 1.0 if kind == "slider" else RAD_PER_DEG
        return low_stop * factor, high_stop * factor
    return None


def _in_radians(tag: Element, name: str, in_degrees: str) -> float | None:
    told = tag.number(in_degrees)
    return tag.number(name) if told is None else told * RAD_PER_DEG
