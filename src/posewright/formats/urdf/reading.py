"""URDF read as a mechanism: links, hinges and shapes. What is not read is said, with its line."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from posewright.documents import is_file, open_regular_file
from posewright.documents.markup import Element, read_markup
from posewright.robots import Form, Hinge, Kind, Link, Mechanism, Oddity
from posewright.robots.mechanism import Quaternion, Rows, Triple, rotation_matrix, rows, triple
from posewright.rotation import quaternions_of_roll_pitch_yaw

MAX_LINKS = 500
MAX_FORMS = 5000
MAX_MESH_BYTES = 1 << 26

FARTHEST_M = 100.0
"""No part of a robot is farther from another, or larger."""

_WORLD = "world"
_HINGES = ("revolute", "continuous")
_FIXED = ("fixed", "floating")
_WELDED = ("prismatic", "planar")


_ZERO = (0.0, 0.0, 0.0)
_STRAIGHT = (1.0, 0.0, 0.0, 0.0)
_NOTHING: tuple[float, Triple, Rows] = 0.0, _ZERO, (_ZERO, _ZERO, _ZERO)


class UrdfReader:
    """Reads one file.

    Attributes:
        remarks: what was left out or taken for something else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.remarks: list[Oddity] = []
        self._forms = 0

    def read(self) -> Mechanism:
        """Return the mechanism.

        Raises:
            FormatError: it is no URDF, a number is none, or links do not hang together in one tree.
        """
        root = read_markup(self.path)
        if root.name != "robot":
            root.fail(f"<{root.name}> is no URDF", "the root is <robot>")
        links = self._named(root, "link")
        joints = self._named(root, "joint")
        if len(links) > MAX_LINKS:
            root.fail(f"{len(links)} links", f"at most {MAX_LINKS}")
        above: dict[str, Element] = {}
        for joint in joints.values():
            for end in ("parent", "child"):
                place = joint.first(end) or joint.fail(f"the joint {joint.required('name')!r} has no <{end}>")
                if place.required("link") not in links:
                    place.fail(f"there is no link {place.required('link')!r}", "a link of this file")
            child = _link_of(joint, "child")
            if child in above:
                joint.fail(f"the link {child!r} hangs on two joints", "a robot is a tree")
            above[child] = joint
        order = self._order(root, links, above)
        return Mechanism(
            root.required("name"), tuple(self._link(links[name], above.get(name)) for name in order)
        )

    def _named(self, root: Element, what: str) -> dict[str, Element]:
        found: dict[str, Element] = {}
        for element in root.all(what):
            if element.required("name") in found:
                element.fail(f"the {what} {element.required('name')!r} stands here twice")
            found[element.required("name")] = element
        return found

    def _order(self, root: Element, links: dict[str, Element], above: dict[str, Element]) -> list[str]:
        """Return the names of the links, each after the one it hangs on."""
        bases = [name for name in links if name not in above]
        if len(bases) != 1:
            told = (
                ", ".join(repr(name) for name in bases[:5]) or "none: the links hang on each other in a ring"
            )
            root.fail(f"the links that hang on nothing are {told}", "exactly one is the base")
        below: dict[str, list[str]] = {}
        for child, joint in above.items():
            below.setdefault(_link_of(joint, "parent"), []).append(child)
        order: list[str] = []
        waiting = list(bases)
        while waiting:
            order.append(waiting.pop())
            waiting += reversed(below.get(order[-1], []))
        if missing := [name for name in links if name not in order]:
            links[missing[0]].fail(f"the link {missing[0]!r} does not hang on the base {bases[0]!r}")
        first = below.get(bases[0], [])
        kind = above[first[0]].attributes.get("type") if len(first) == 1 else None
        if kind == "floating" or (kind == "fixed" and bases[0] == _WORLD):
            line = above.pop(first[0]).line
            order = order[1:]  # the base is a world in which the robot floats
            if kind == "fixed":
                self.remarks.append(Oddity(f"{first[0]} is fixed to the world: here it stands free", line))
        if _WORLD in order:
            links[_WORLD].fail(
                f"a part of a robot is called {_WORLD!r}", "another name: that is the ground's"
            )
        return order

    def _link(self, element: Element, joint: Element | None) -> Link:
        inertial = element.first("inertial")
        mass, centre, inertia = _NOTHING if inertial is None else self._inertial(inertial)
        position, rotation = (_ZERO, _STRAIGHT) if joint is None else _origin(joint)
        parts = element.all("collision") or element.all("visual")
        forms = [form for part in parts if (form := self._form(part)) is not None]
        return Link(
            name=element.required("name"),
            parent="" if joint is None else _link_of(joint, "parent"),
            position_m=position,
            rotation=rotation,
            hinge=None if joint is None else self._hinge(joint),
            mass_kg=mass,
            centre_m=centre,
            inertia=inertia,
            forms=tuple(forms),
            line=element.line,
        )

    def _inertial(self, element: Element) -> tuple[float, Triple, Rows]:
        mass = (element.first("mass") or element.fail("<inertial> has no <mass>")).attribute_number("value")
        told = element.first("inertia") or element.fail("<inertial> has no <inertia>")
        xx, xy, xz, yy, yz, zz = (
            told.attribute_number(f"i{key}", 0.0 if key[0] != key[1] else None)
            for key in ("xx", "xy", "xz", "yy", "yz", "zz")
        )
        centre, rotation = _origin(element)
        turn = rotation_matrix(rotation)
        inertia = turn @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ turn.T
        return mass, centre, rows(inertia)

    def _hinge(self, joint: Element) -> Hinge | None:
        kind, name = joint.required("type"), joint.required("name")
        if kind in _FIXED:
            return None
        if kind in _WELDED:
            self.remarks.append(
                Oddity(f"{name} is {kind}: only hinges are read, so it is fixed at 0", joint.line)
            )
            return None
        if kind not in _HINGES:
            joint.fail(
                f"the joint {name!r} is {kind!r:.40}", f"one of {', '.join((*_HINGES, *_FIXED, *_WELDED))}"
            )
        if joint.first("mimic") is not None:
            self.remarks.append(
                Oddity(f"{name} follows another joint; here it has a servo of its own", joint.line)
            )
        along = joint.first("axis")
        axis = along.attribute_numbers("xyz", 3) if along is not None else (1.0, 0.0, 0.0)
        length = math.hypot(*axis)
        if length < 1e-6:
            joint.fail(f"the axis of {name!r} has no direction")
        limit = joint.first("limit")
        lower, upper = -math.pi, math.pi
        if kind == "revolute" and limit is not None and {"lower", "upper"} & limit.attributes.keys():
            lower, upper = limit.attribute_number("lower", 0.0), limit.attribute_number("upper", 0.0)
        else:
            self.remarks.append(Oddity(f"{name} has no limits: taken for half a turn either way", joint.line))
        return Hinge(
            name,
            triple([part / length for part in axis]),
            lower,
            upper,
            0.0 if limit is None else limit.attribute_number("effort", 0.0),
            0.0 if limit is None else limit.attribute_number("velocity", 0.0),
        )

    def _form(self, part: Element) -> Form | None:
        self._forms += 1
        if self._forms > MAX_FORMS:
            part.fail("too many shapes", f"at most {MAX_FORMS}")
        position, rotation = _origin(part)
        geometry = part.first("geometry")
        shape = next(iter(geometry.children), None) if geometry is not None else None
        if shape is None:
            part.fail(f"<{part.name}> has no shape", "<geometry> with <box>, <cylinder>, <sphere> or <mesh>")
        if shape.name == "box":
            return Form(Kind.BOX, _sizes(shape, shape.attribute_numbers("size", 3)), position, rotation)
        if shape.name == "sphere":
            return Form(
                Kind.SPHERE, _sizes(shape, (2.0 * shape.attribute_number("radius"),) * 3), position, rotation
            )
        if shape.name in ("cylinder", "capsule"):
            across = 2.0 * shape.attribute_number("radius")
            sizes = _sizes(shape, (across, across, shape.attribute_number("length")))
            return Form(Kind.CYLINDER, sizes, position, rotation)
        if shape.name != "mesh":
            shape.fail(f"the shape <{shape.name}> is not known", "<box>, <cylinder>, <sphere> or <mesh>")
        return self._mesh(shape, position, rotation)

    def _mesh(self, shape: Element, position: Triple, rotation: Quaternion) -> Form | None:
        """Return the box around a mesh."""
        path = self._mesh_path(shape)
        corners = None if path is None else _extent(path)
        if corners is None:
            told = shape.required("filename")
            self.remarks.append(
                Oddity(f"the mesh {told!r:.80} is not here or cannot be read: left out", shape.line)
            )
            return None
        scale = shape.attribute_numbers("scale", 3, (1.0, 1.0, 1.0))
        low, high = ([end * factor for end, factor in zip(corner, scale, strict=True)] for corner in corners)
        middle = rotation_matrix(rotation) @ [(a + b) / 2.0 for a, b in zip(low, high, strict=True)]
        edges = [max(abs(b - a), 1e-4) for a, b in zip(low, high, strict=True)]
        place = triple([a + b for a, b in zip(position, middle.tolist(), strict=True)])
        return Form(Kind.BOX, _sizes(shape, edges), place, rotation)

    def _mesh_path(self, shape: Element) -> Path | None:
        """Return where a mesh lies: beside the file, or in the package that holds it; None where it is not.

        Raises:
            FormatError: it would lie outside of the folder above the file's own.
        """
        name = shape.required("filename")
        here = self.path.resolve().parent
        top, path = here.parent, here / name.removeprefix("file://")
        if name.startswith("package://"):
            package, _, rest = name.removeprefix("package://").partition("/")
            found = next((folder for folder in here.parents if folder.name == package), None)
            if found is None:
                return None
            top, path = found, found / rest
        path = path.resolve()
        if not path.is_relative_to(top):
            shape.fail(f"the mesh {name!r:.80} lies outside of {top}", "a path inside the package")
        return path if is_file(path) else None


def _link_of(joint: Element, end: str) -> str:
    return next(one.required("link") for one in joint.all(end))


def _origin(element: Element) -> tuple[Triple, Quaternion]:
    """Return where an element's frame lies in the one around it, and w x y z of how it is turned."""
    origin = element.first("origin")
    if origin is None:
        return _ZERO, _STRAIGHT
    place = origin.attribute_numbers("xyz", 3, (0.0, 0.0, 0.0))
    if max(map(abs, place)) > FARTHEST_M:
        origin.fail(f"a place {max(map(abs, place)):g} m away", f"at most {FARTHEST_M:g} m: check the unit")
    angles = origin.attribute_numbers("rpy", 3, _ZERO)
    w, x, y, z = quaternions_of_roll_pitch_yaw(np.array([angles]))[0].tolist()
    return triple(place), (w, x, y, z)


def _sizes(shape: Element, edges: Iterable[float]) -> Triple:
    sizes = triple(edges)
    if not all(0.0 < edge <= FARTHEST_M for edge in sizes):
        shape.fail(f"a <{shape.name}> of {' x '.join(f'{edge:g}' for edge in sizes)} m", "edges above 0")
    return sizes


def _extent(path: Path) -> tuple[Triple, Triple] | None:
    """Return the least and the greatest x, y and z of a mesh; None where it cannot be read."""
    try:
        import trimesh
    except ImportError:
        return None
    if path.suffix.lower() not in (".stl", ".obj", ".ply") or path.stat().st_size > MAX_MESH_BYTES:
        return None
    try:
        with open_regular_file(path) as file:  # from a file alone: nothing that a mesh names is looked for
            found: Any = trimesh.load(
                file, file_type=path.suffix[1:].lower(), force="mesh", process=False
            ).bounds
    except (
        ValueError,
        OSError,
        LookupError,
        TypeError,
        AttributeError,
    ):  # what trimesh raises of damaged files
        return None
    return None if found is None else (triple(found[0]), triple(found[1]))


def read_urdf(path: Path) -> tuple[Mechanism, tuple[Oddity, ...]]:
    """Read a URDF file; return the mechanism, and what was left out or taken for something else.

    A mesh, of STL, OBJ or PLY, becomes the box around it.

    Raises:
        FormatError: it is no URDF, a number is none, links do not hang together in one tree, or a mesh would
            lie outside of the package.
    """
    reader = UrdfReader(path)
    return reader.read(), tuple(reader.remarks)
