"""Reading URDF and xacro files as mechanisms: links, hinges and shapes, with remarks on what is not read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from posewright.documents import open_regular_file
from posewright.documents.markup import Element, read_markup
from posewright.errors import FormatError, PosewrightError, Where
from posewright.formats.scenes import read_scene
from posewright.formats.urdf.packages import PACKAGE_SCHEME, PackageFiles
from posewright.formats.urdf.xacro import describe_oddity, expand_xacro, uses_xacro
from posewright.robots import Hinge, Link, LinkShape, Mechanism, Oddity, ShapeKind
from posewright.robots.mechanism import Quaternion, Rows, Triple, rotation_matrix, to_rows, to_triple
from posewright.rotation import quaternions_of_roll_pitch_yaw

MAX_LINKS = 500
MAX_SHAPES = 5000
MAX_MESH_BYTES = 1 << 26

_MIN_EDGE_M = 1e-4
"""Shortest edge of the box around a mesh [m]."""

MAX_DISTANCE_M = 100.0
"""Largest size of a part, and largest distance between a part and the next [m]."""

_WORLD = "world"

_HINGES = ("revolute", "continuous")
_FIXED = ("fixed", "floating")
_WELDED = ("prismatic", "planar")


_ZERO = (0.0, 0.0, 0.0)
_NO_ROTATION = (1.0, 0.0, 0.0, 0.0)
_NO_MASS: tuple[float, Triple, Rows] = 0.0, _ZERO, (_ZERO, _ZERO, _ZERO)


class UrdfReader:
    """Reads one file.

    Attributes:
        remarks: descriptions of what was left out or changed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.remarks: list[Oddity] = []
        self._n_shapes = 0
        self._files = PackageFiles(path)

    def read(self) -> Mechanism:
        """Return the mechanism.

        Raises:
            FormatError: it is not a URDF, a macro cannot be expanded, a number is invalid, or the links are
                not one tree.
            MissingExtraError: it is xacro, and simpleeval is not installed.
        """
        root = read_markup(self.path)
        if root.name != "robot":
            root.fail(f"<{root.name}> is not a URDF", "the root element must be <robot>")
        mechanism = self._read_expanded(root) if uses_xacro(root) else self._read_robot(root)
        for package in sorted(self._files.replaced_packages):
            remark = f"the package {package:.80} is not found: its files are read from the folder of this one"
            self.remarks.append(Oddity(remark))
        return mechanism

    def _read_expanded(self, root: Element) -> Mechanism:
        """Return the mechanism of a description with macros; raise as `read`."""
        expanded = expand_xacro(root, self.path, self._files)
        self.remarks += expanded.remarks
        try:
            return self._read_robot(expanded.root)
        except FormatError as error:
            if not expanded.missing_includes:
                raise
            hint = f"included files are missing: {', '.join(expanded.missing_includes):.300}"
            raise FormatError(error.message, where=error.where, hint=hint) from error

    def _read_robot(self, root: Element) -> Mechanism:
        """Return the mechanism of a description without macros; raise FormatError as `read`."""
        links = self._elements_by_name(root, "link")
        joints = self._elements_by_name(root, "joint")
        if not links:
            root.fail("the file has no links", "a robot has <link> and <joint> elements")
        if len(links) > MAX_LINKS:
            root.fail(f"{len(links)} links", f"at most {MAX_LINKS} are read")
        parent_joints: dict[str, Element] = {}
        for joint in joints.values():
            for role in ("parent", "child"):
                tag = joint.first(role) or joint.fail(f"the joint {joint.required('name')!r} has no <{role}>")
                if tag.required("link") not in links:
                    tag.fail(f"there is no link {tag.required('link')!r}", "name a link of this file")
            child = _link_of(joint, "child")
            if child in parent_joints:
                joint.fail(f"the link {child!r} has two parent joints", "the links must be a tree")
            parent_joints[child] = joint
        order = self._sort_links(root, links, parent_joints)
        robot_links = [self._read_link(links[name], parent_joints.get(name)) for name in order]
        return Mechanism(root.required("name"), tuple(robot_links))

    def _note(self, message: str, element: Element) -> None:
        """Add a remark about an element."""
        self.remarks.append(describe_oddity(message, element, self.path))

    def _elements_by_name(self, root: Element, tag: str) -> dict[str, Element]:
        """Return the elements with a tag by their names."""
        elements: dict[str, Element] = {}
        for element in root.all(tag):
            name = element.required("name")
            if name in elements:
                element.fail(f"two {tag}s are called {name!r}", "give each a name of its own")
            elements[name] = element
        return elements

    def _sort_links(
        self, root: Element, links: dict[str, Element], parent_joints: dict[str, Element]
    ) -> list[str]:
        """Return the names of the links, each after its parent.

        A world to which the robot is connected by its first joint is left out, together with the joint, which
        is removed from `parent_joints`; if the joint is fixed, a remark is added.

        Args:
            root: the <robot>, for messages.
            links: the <link> elements by name.
            parent_joints: the <joint> that connects a link to its parent, by the name of the link.

        Raises:
            FormatError: the links are not one tree, or a part of the robot is called `world`.
        """
        bases = [name for name in links if name not in parent_joints]
        if len(bases) != 1:
            names = ", ".join(repr(name) for name in bases[:5]) or "none, because they form a ring"
            root.fail(f"the links without a parent are {names}", "exactly one must be the base")
        children: dict[str, list[str]] = {}
        for child, joint in parent_joints.items():
            children.setdefault(_link_of(joint, "parent"), []).append(child)
        (base,) = bases
        order: list[str] = []
        pending = [base]
        while pending:
            link = pending.pop()
            order.append(link)
            pending += reversed(children.get(link, []))
        for name, element in links.items():
            if name not in order:
                element.fail(f"the link {name!r} is not connected to the base {base!r}")
        base_children = children.get(base, [])
        if len(base_children) == 1:
            (first_child,) = base_children
            kind = parent_joints[first_child].attributes.get("type")
            if kind == "floating" or (kind == "fixed" and base == _WORLD):
                joint = parent_joints.pop(first_child)
                order.remove(base)
                if kind == "fixed":
                    remark = f"{first_child} is fixed to the world: here it is free to move"
                    self._note(remark, joint)
        if _WORLD in order:
            hint = "rename it: the world is the ground"
            links[_WORLD].fail(f"a part of the robot is called {_WORLD!r}", hint)
        return order

    def _read_link(self, element: Element, joint: Element | None) -> Link:
        """Read a link with the joint that connects it to its parent, None for the base."""
        inertial = element.first("inertial")
        mass, centre, inertia = _NO_MASS if inertial is None else self._read_inertial(inertial)
        position, rotation = (_ZERO, _NO_ROTATION) if joint is None else _read_origin(joint)
        parts = element.all("collision") or element.all("visual")
        shapes = [shape for part in parts if (shape := self._read_shape(part)) is not None]
        return Link(
            name=element.required("name"),
            parent="" if joint is None else _link_of(joint, "parent"),
            position_m=position,
            rotation=rotation,
            hinge=None if joint is None else self._read_hinge(joint),
            mass_kg=mass,
            centre_m=centre,
            inertia=inertia,
            shapes=tuple(shapes),
            line=element.line if element.path == self.path else None,
        )

    def _read_inertial(self, element: Element) -> tuple[float, Triple, Rows]:
        """Return mass [kg], centre of mass [m], and the inertia in the link's axes [kg m2]."""
        mass = (element.first("mass") or element.fail("<inertial> has no <mass>")).attribute_number("value")
        tag = element.first("inertia") or element.fail("<inertial> has no <inertia>")
        xx, xy, xz, yy, yz, zz = (
            tag.attribute_number(f"i{key}", 0.0 if key[0] != key[1] else None)
            for key in ("xx", "xy", "xz", "yy", "yz", "zz")
        )
        centre, rotation = _read_origin(element)
        matrix = rotation_matrix(rotation)
        inertia = matrix @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ matrix.T
        return mass, centre, to_rows(inertia)

    def _read_hinge(self, joint: Element) -> Hinge | None:
        """Return the hinge of a joint; None for a joint that is fixed, or of a type that is read as fixed.

        Adds remarks on what is read otherwise than it is written, and on limits that are assumed.
        """
        kind = joint.required("type")
        name = joint.required("name")
        if kind in _FIXED:
            return None
        if kind in _WELDED:
            remark = f"{name} is {kind}: only hinges are read, so it is fixed at 0"
            self._note(remark, joint)
            return None
        if kind not in _HINGES:
            hint = f"use {', '.join((*_HINGES, *_FIXED, *_WELDED))}"
            joint.fail(f"the joint {name!r} has the type {kind!r:.40}", hint)
        if joint.first("mimic") is not None:
            remark = f"{name} follows another joint; here it has a servo of its own"
            self._note(remark, joint)
        axis_tag = joint.first("axis")
        axis = axis_tag.attribute_numbers("xyz", 3) if axis_tag is not None else (1.0, 0.0, 0.0)
        length = math.hypot(*axis)
        if length < 1e-6:
            joint.fail(f"the axis of {name!r} has length 0", "write a direction")
        limit = joint.first("limit")
        has_limits = limit is not None and bool({"lower", "upper"} & limit.attributes.keys())
        if kind == "revolute" and limit is not None and has_limits:
            lower = limit.attribute_number("lower", 0.0)
            upper = limit.attribute_number("upper", 0.0)
        else:
            lower = -math.pi
            upper = math.pi
            remark = f"{name} has no limits: half a turn either way is assumed"
            self._note(remark, joint)
        return Hinge(
            name,
            axis=to_triple([part / length for part in axis]),
            lower_rad=lower,
            upper_rad=upper,
            effort_nm=0.0 if limit is None else limit.attribute_number("effort", 0.0),
            speed_rad_s=0.0 if limit is None else limit.attribute_number("velocity", 0.0),
        )

    def _read_shape(self, part: Element) -> LinkShape | None:
        """Return the shape of a collision or visual element; None for a mesh that is left out."""
        self._n_shapes += 1
        if self._n_shapes > MAX_SHAPES:
            part.fail("too many shapes", f"at most {MAX_SHAPES} are read")
        position, rotation = _read_origin(part)
        geometry = part.first("geometry")
        shape = next(iter(geometry.children), None) if geometry is not None else None
        if shape is None:
            part.fail(
                f"<{part.name}> has no shape", "write <geometry> with <box>, <cylinder>, <sphere> or <mesh>"
            )
        if shape.name == "mesh":
            return self._read_mesh(shape, position, rotation)
        if shape.name == "box":
            kind = ShapeKind.BOX
            edges = shape.attribute_numbers("size", 3)
        elif shape.name == "sphere":
            kind = ShapeKind.SPHERE
            edges = (2.0 * shape.attribute_number("radius"),) * 3
        elif shape.name in ("cylinder", "capsule"):
            kind = ShapeKind.CYLINDER
            diameter = 2.0 * shape.attribute_number("radius")
            edges = (diameter, diameter, shape.attribute_number("length"))
        else:
            shape.fail(f"the shape <{shape.name}> is unknown", "use <box>, <cylinder>, <sphere> or <mesh>")
        if 0.0 in edges:
            self._note(f"a <{shape.name}> has the size 0: left out", shape)
            return None
        return LinkShape(kind, size_m=_sizes(shape, edges), position_m=position, rotation=rotation)

    def _read_mesh(self, shape: Element, position: Triple, rotation: Quaternion) -> LinkShape | None:
        """Return the box around a mesh, along its axes; None, with a remark, if the mesh cannot be read.

        Args:
            shape: the <mesh>.
            position: the origin of the mesh in the frame of the link [m].
            rotation: the axes of the mesh in the frame of the link (w x y z).
        """
        path = self._files.find(shape.required("filename"))
        corners = None if path is None else _mesh_bounds(path)
        if corners is None:
            name = shape.required("filename")
            remark = f"the mesh {name!r:.80} is missing, outside of the package or cannot be read: left out"
            if path is None and name.removeprefix("file://").startswith(PACKAGE_SCHEME):
                remark += "; its package is searched above the file and beside it"
            self._note(remark, shape)
            return None
        scale = shape.attribute_numbers("scale", 3, (1.0, 1.0, 1.0))
        low, high = (
            [value * factor for value, factor in zip(corner, scale, strict=True)] for corner in corners
        )
        # the sizes first: they are an error if a corner is not finite
        sizes = _sizes(shape, [max(abs(b - a), _MIN_EDGE_M) for a, b in zip(low, high, strict=True)])
        middle = rotation_matrix(rotation) @ [(a + b) / 2.0 for a, b in zip(low, high, strict=True)]
        centre = to_triple([a + b for a, b in zip(position, middle.tolist(), strict=True)])
        return LinkShape(ShapeKind.BOX, size_m=sizes, position_m=centre, rotation=rotation)


def _link_of(joint: Element, role: str) -> str:
    """Return the name of the link that is the `parent` or `child` of a joint."""
    return next(tag.required("link") for tag in joint.all(role))


def _read_origin(element: Element) -> tuple[Triple, Quaternion]:
    """Return the position [m] and the rotation (w x y z) of an element's frame in its parent's."""
    origin = element.first("origin")
    if origin is None:
        return _ZERO, _NO_ROTATION
    position = origin.attribute_numbers("xyz", 3, (0.0, 0.0, 0.0))
    largest_m = max(map(abs, position))
    if largest_m > MAX_DISTANCE_M:
        origin.fail(f"an origin {largest_m:g} m away", f"at most {MAX_DISTANCE_M:g} m: check the unit")
    angles = origin.attribute_numbers("rpy", 3, _ZERO)
    w, x, y, z = quaternions_of_roll_pitch_yaw(np.array([angles]))[0].tolist()
    return to_triple(position), (w, x, y, z)


def _sizes(shape: Element, edges: Iterable[float]) -> Triple:
    """Return the edges of a shape's bounding box [m], which must be above 0."""
    sizes = to_triple(edges)
    if not all(0.0 < edge <= MAX_DISTANCE_M for edge in sizes):
        size_text = " x ".join(f"{edge:g}" for edge in sizes)
        hint = f"write sizes above 0 and up to {MAX_DISTANCE_M:g} m"
        shape.fail(f"a <{shape.name}> of {size_text} m", hint)
    return sizes


def _mesh_bounds(path: Path) -> tuple[Triple, Triple] | None:
    """Return the smallest and largest x, y and z of a mesh; None if it cannot be read."""
    if path.suffix.lower() in (".dae", ".wrl", ".glb"):
        return _scene_bounds(path)
    if path.suffix.lower() not in (".stl", ".obj", ".ply") or path.stat().st_size > MAX_MESH_BYTES:
        return None
    try:
        return _load_bounds(path)
    except FormatError:
        return None


def _load_bounds(path: Path) -> tuple[Triple, Triple] | None:
    """Return the smallest and largest x, y and z of an STL, OBJ or PLY file; None without trimesh or points.

    Raises:
        FormatError: the file is damaged.
    """
    try:
        import trimesh
    except ImportError:
        return None
    try:
        with open_regular_file(path) as file:  # a file object, so that trimesh opens no other files
            mesh = trimesh.load(file, file_type=path.suffix[1:].lower(), force="mesh", process=False)
            bounds: Any = mesh.bounds  # an array or None; the stubs declare the array only
        return None if bounds is None else (to_triple(bounds[0]), to_triple(bounds[1]))
    except Exception as error:  # trimesh does not check files: damaged ones raise anything
        raise FormatError("the mesh is damaged", where=Where(path)) from error


def _scene_bounds(path: Path) -> tuple[Triple, Triple] | None:
    """Return the smallest and largest x, y and z of a scene's meshes [m]; None if it cannot be read."""
    try:
        scene = read_scene(path)
    except PosewrightError:
        return None
    points = [mesh.points for mesh in scene.meshes if len(mesh.points)]
    if not points:
        return None
    all_points = np.concatenate(points)
    return to_triple(all_points.min(axis=0)), to_triple(all_points.max(axis=0))


def read_urdf(path: Path) -> tuple[Mechanism, tuple[Oddity, ...]]:
    """Read a URDF or xacro file; return the mechanism, and remarks on what was left out or changed.

    A mesh (STL, OBJ, PLY, COLLADA, VRML97 or GLB) becomes the box around it.

    Raises:
        FormatError: it is not a URDF, a number is invalid, or the links are not one tree.
    """
    reader = UrdfReader(path)
    return reader.read(), tuple(reader.remarks)
