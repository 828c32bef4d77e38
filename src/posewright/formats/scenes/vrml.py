"""Reading VRML97 (`.wrl`, ISO/IEC 14772-1) as drawing programs write it: shapes, transforms and colours.

Other files, prototypes and scripts are errors or ignored; nothing is fetched and nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, TypeAlias

import numpy as np

from posewright.arrays import Array, Floats
from posewright.errors import FormatError, Where
from posewright.formats.scenes.mesh import (
    MAX_MESHES,
    MAX_POINTS,
    Colour,
    SceneMesh,
    ball_points,
    box_points,
    round_points,
    turn_about,
)

_HEAD = "#VRML V2.0 utf8"
_MAX_LEVELS = 100
_MAX_NODES = 100_000
_MAX_TOKENS = 1_000_000
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s,{}\[\]"#]+|#[^\n\r]*|["\n]')
_UNSUPPORTED = {
    "Inline": "other files are not read: put their nodes into this one",
    "PROTO": "prototypes are not read: export the scene without them",
    "EXTERNPROTO": "prototypes are not read: export the scene without them",
    "Extrusion": "export it as faces (IndexedFaceSet)",
    "ElevationGrid": "export it as faces (IndexedFaceSet)",
    "Text": "export it as faces (IndexedFaceSet)",
}
_NAME = re.compile(r"[A-Za-z_]\w*")
_GROUPS = frozenset({"Group", "Transform", "Anchor", "Collision", "Billboard", "Switch", "LOD"})
_BLENDER_AFFIXES = re.compile(r"^(OB|ME)_|(_ifs)?(_TRANSFORM)?$|^(coords|FACESET|SHAPE)_")
"""Prefixes and suffixes that Blender's exporters add to names."""


@dataclass(eq=False)
class _Node:
    """A node with its fields, each a list of numbers, texts, booleans and nodes."""

    kind: str
    line: int
    name: str = ""
    fields: dict[str, list[_Value]] = field(default_factory=dict)


_Value: TypeAlias = "str | bool | float | _Node | None"


def parse_vrml(text: str, path: Path | None = None) -> tuple[SceneMesh, ...]:
    """Return the meshes of a VRML97 scene in its axes; primitives have points only, without faces.

    Raises:
        FormatError: it is not VRML97, is damaged, exceeds a limit, or has a node that is not supported.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.startswith(_HEAD):
        is_older = text.startswith("#VRML V1.0")
        message = "this is VRML 1.0" if is_older else "this is not VRML97"
        hint = f"the first line must be {_HEAD!r}; export as VRML97"
        raise FormatError(message, where=Where(path, 1), hint=hint)
    return _MeshCollector(path).collect(_VrmlParser(text, path).read_nodes())


class _VrmlParser:
    """Parses the text of a scene into nodes.

    Attributes:
        path: the file, for messages.
        line: the line of the last lexeme taken.
        n_nodes: number of nodes so far.
        lexemes: the lexemes after the next one, with their lines.
        next_lexeme: the next lexeme, None at the end; its line is `next_line`.
        named_nodes: the nodes defined by DEF.
    """

    def __init__(self, text: str, path: Path | None) -> None:
        self.path = path
        self.line = 1
        self.n_nodes = 0
        self.lexemes = self._tokenize(text)
        self.next_lexeme, self.next_line = next(self.lexemes, (None, 1))
        self.named_nodes: dict[str, _Node] = {}

    def _tokenize(self, text: str) -> Iterator[tuple[str | None, int]]:
        """Yield the lexemes of a text with their lines, without comments and line ends."""
        line = 1
        for n_matches, match in enumerate(_TOKEN.finditer(text)):
            lexeme = match[0]
            if n_matches > _MAX_TOKENS + line:  # the pattern matches line ends, too
                hint = f"at most {_MAX_TOKENS:,} are read: simplify the scene"
                raise FormatError("too many numbers and words", where=Where(self.path, line), hint=hint)
            if lexeme == '"':
                hint = 'close it with "'
                raise FormatError("a text without an end", where=Where(self.path, line), hint=hint)
            if not lexeme.startswith("#") and lexeme != "\n":
                yield lexeme, line
            line += lexeme.count("\n")

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise the error at the line of the last lexeme taken."""
        raise FormatError(message, where=Where(self.path, self.line), hint=hint)

    def take_lexeme(self) -> str:
        """Return the next lexeme, and advance; raise FormatError at the end of the file."""
        if self.next_lexeme is None:
            self.fail("the file ends in the middle of a node", "it was cut off")
        lexeme = self.next_lexeme
        self.line = self.next_line
        self.next_lexeme, self.next_line = next(self.lexemes, (None, self.line))
        return lexeme

    def skip_lexemes(self, count: int) -> None:
        """Skip the next `count` lexemes."""
        for _ in range(count):
            self.take_lexeme()

    def read_nodes(self) -> list[_Node]:
        """Return the nodes of the scene; routes between them are skipped."""
        nodes: list[_Node] = []
        while self.next_lexeme is not None:
            if self.next_lexeme == "ROUTE":
                self.skip_lexemes(4)  # ROUTE output TO input
                continue
            node = self.read_node(level=0)
            if node is not None:
                nodes.append(node)
        return nodes

    def read_node(self, level: int) -> _Node | None:
        """Return the node that begins at the next lexeme: `Kind { fields }`, perhaps after `DEF name`.

        `USE name` gives the node defined before; NULL gives None. `level` is the number of nodes around it.
        """
        if level > _MAX_LEVELS:
            self.fail("nodes nested too deep", f"at most {_MAX_LEVELS} levels are read")
        kind = self.take_lexeme()
        name = ""
        if kind == "NULL":
            return None
        if kind == "USE":
            used_name = self.take_lexeme()
            if used_name not in self.named_nodes:
                self.fail(f"USE of {used_name!r}, which is not defined before", "write its DEF before it")
            return self.named_nodes[used_name]
        if kind == "DEF":
            name = self.take_lexeme()
            kind = self.take_lexeme()
        if kind in _UNSUPPORTED:
            self.fail(f"{kind} is not read", _UNSUPPORTED[kind])
        self.n_nodes += 1
        if self.n_nodes > _MAX_NODES:
            self.fail("too many nodes", f"at most {_MAX_NODES} are read")
        node = _Node(kind, self.line, name)
        if not _NAME.fullmatch(kind) or self.take_lexeme() != "{":
            self.fail(f"expected a node, found {kind[:40]!r}", "write a name and { ... }")
        while self.next_lexeme != "}":
            self.read_field(node, level)
        self.take_lexeme()
        if name:
            self.named_nodes[name] = node  # only now, so that a node cannot contain itself
        return node

    def read_field(self, node: _Node, level: int) -> None:
        """Read a field with its values into a node; a ROUTE is skipped. `level` is that of the node."""
        name = self.take_lexeme()
        if not _NAME.fullmatch(name) or name in ("DEF", "USE", "NULL"):
            self.fail(f"expected a field of {node.kind}, found {name[:40]!r}")
        if name == "ROUTE":
            self.skip_lexemes(3)  # output TO input
            return
        if name in ("field", "eventIn", "eventOut", "exposedField"):  # declarations of a Script
            self.fail(f"{node.kind} with a declaration is not read", "export the scene without scripts")
        values = node.fields.setdefault(name, [])
        if self.next_lexeme == "[":
            self.take_lexeme()
            while self.next_lexeme != "]":
                values.append(self.read_value(node, level))
            self.take_lexeme()
            return
        values.append(self.read_value(node, level))
        while self.next_lexeme is not None and _is_number(self.next_lexeme):  # such as those of a vector
            values.append(self.read_value(node, level))

    def read_value(self, node: _Node, level: int) -> _Value:
        """Return the next value of a field of `node`: a text, flag, number or node."""
        lexeme = self.next_lexeme
        if lexeme is None or lexeme in "{}[]":
            self.fail(f"a field of {node.kind} without a value")
        if lexeme[0] == '"':
            return self.take_lexeme()[1:-1]  # without the quotes
        if lexeme in ("TRUE", "FALSE"):
            return self.take_lexeme() == "TRUE"
        if _is_number(lexeme):
            return float(self.take_lexeme())
        return self.read_node(level + 1)


def _is_number(lexeme: str) -> bool:
    """Return whether a lexeme is a number."""
    if lexeme[0] not in "+-.0123456789":
        return False
    try:
        float(lexeme)
    except ValueError:
        return False
    return True


@dataclass
class _MeshCollector:
    """Collects the meshes of nodes.

    Attributes:
        path: the file, for messages.
        meshes: the meshes so far.
        n_visits: number of nodes visited, those of USE each time.
        n_points: number of points so far.
    """

    path: Path | None
    meshes: list[SceneMesh] = field(default_factory=list)
    n_visits: int = 0
    n_points: int = 0

    def collect(self, nodes: Sequence[_Node]) -> tuple[SceneMesh, ...]:
        """Return the meshes of nodes."""
        for node in nodes:
            self.visit(node, np.eye(4), name="")
        return tuple(self.meshes)

    def fail(self, node: _Node, message: str, hint: str | None = None) -> NoReturn:
        raise FormatError(message, where=Where(self.path, node.line), hint=hint)

    def visit(self, node: _Node, pose: Floats, name: str) -> None:
        """Collect the meshes of a node and its children.

        Args:
            node: the node; one that is neither a shape nor a group is left out.
            pose: its pose in the scene, `(4, 4)`.
            name: the name of the nearest node around it that has one, for meshes without a name.

        Raises:
            FormatError: the scene has too many nodes, shapes or points.
        """
        self.n_visits += 1
        if self.n_visits > _MAX_NODES or len(self.meshes) > MAX_MESHES:
            hint = f"at most {MAX_MESHES} shapes are read, counted at each USE"
            self.fail(node, "the scene is too large", hint)
        name = _BLENDER_AFFIXES.sub("", node.name) or name
        if node.kind == "Shape":
            self.add_shape(node, pose, name)
        elif node.kind in _GROUPS:
            child_pose = pose @ self.read_transform(node) if node.kind == "Transform" else pose
            for child in self.visible_children(node):
                self.visit(child, child_pose, name)

    def visible_children(self, group: _Node) -> list[_Node]:
        """Return the children of a group that are shown: the chosen one of a Switch, the finest of a LOD."""
        if group.kind == "LOD":
            return _nodes(group, "level")[:1]
        if group.kind == "Switch":
            choice = int(self.read_numbers(group, key="whichChoice", default=[-1.0], count=1)[0])
            return _nodes(group, "choice")[choice : choice + 1] if choice >= 0 else []  # -1 shows none
        return _nodes(group, "children")

    def read_transform(self, node: _Node) -> Floats:
        """Return the transform T C R SR S -SR -C of the standard, `(4, 4)`.

        These are translation, centre, rotation, scale orientation, scale, and the inverses of two of them.
        """
        translation = self.read_numbers(node, key="translation", default=[0.0, 0.0, 0.0], count=3)
        centre = self.read_numbers(node, key="center", default=[0.0, 0.0, 0.0], count=3)
        scale = self.read_numbers(node, key="scale", default=[1.0, 1.0, 1.0], count=3)
        rotation = self.read_numbers(node, key="rotation", default=[0.0, 0.0, 1.0, 0.0], count=4)
        scale_orientation = self.read_numbers(
            node, key="scaleOrientation", default=[0.0, 0.0, 1.0, 0.0], count=4
        )
        scale_axes = turn_about(scale_orientation[:3], float(scale_orientation[3]))
        rotation_matrix = turn_about(rotation[:3], float(rotation[3]))
        linear = rotation_matrix @ scale_axes @ np.diag(scale) @ scale_axes.T
        transform = np.eye(4)
        transform[:3, :3] = linear
        transform[:3, 3] = translation + centre - linear @ centre
        return transform

    def read_numbers(self, node: _Node, key: str, default: list[float], count: int = 0) -> Floats:
        """Return the numbers of a field, exactly `count` of them unless it is 0."""
        values = node.fields.get(key, default)
        if any(isinstance(value, bool) or not isinstance(value, float) for value in values):
            self.fail(node, f"{key} of {node.kind} has values that are not numbers")
        if count and len(values) != count:
            self.fail(node, f"{key} of {node.kind} has {len(values)} numbers", f"write {count}")
        array = np.array(values, dtype=np.float64)
        if not (np.isfinite(array).all() and (np.abs(array) < 1e9).all()):
            self.fail(node, f"{key} of {node.kind} has a number that is not finite or above 1e9")
        return array

    def read_lengths(self, node: _Node, count: int = 1, **defaults: float) -> Floats:
        """Return the lengths of several fields, `count` of each, one after the other."""
        lengths = np.concatenate(
            [
                self.read_numbers(node, key, default=[default] * count, count=count)
                for key, default in defaults.items()
            ]
        )
        if not (lengths > 0.0).all():
            size_text = " x ".join(f"{length:g}" for length in lengths)
            self.fail(node, f"a {node.kind} of {size_text}", "write lengths above 0")
        return lengths

    def add_shape(self, shape: _Node, pose: Floats, name: str) -> None:
        """Add the meshes of a Shape at a pose `(4, 4)`; `name` is used if the geometry has none."""
        for geometry in _nodes(shape, "geometry"):
            points, faces = self.read_geometry(geometry)
            if not len(points):
                continue
            self.n_points += len(points)
            if self.n_points > MAX_POINTS:
                self.fail(geometry, "too many points", f"at most {MAX_POINTS} in a scene are read")
            moved_points = points @ pose[:3, :3].T + pose[:3, 3]
            name = name or _BLENDER_AFFIXES.sub("", geometry.name)
            self.meshes.append(
                SceneMesh(name, moved_points, faces, colour=self.read_colour(shape), line=geometry.line)
            )

    def read_geometry(self, node: _Node) -> tuple[Floats, Array | None]:
        """Return the points of a geometry and its faces, None for a primitive, which is one body."""
        match node.kind:
            case "Box":
                return box_points(self.read_lengths(node, size=2.0, count=3)), None
            case "Sphere":
                return ball_points(float(self.read_lengths(node, radius=1.0)[0])), None
            case "Cylinder":
                radius, height = self.read_lengths(node, radius=1.0, height=2.0).tolist()
                return round_points(radius, height), None
            case "Cone":
                radius, height = self.read_lengths(node, bottomRadius=1.0, height=2.0).tolist()
                return round_points(radius, height, top=0.0), None
            case "IndexedFaceSet":
                return self.read_faces(node)
            case "IndexedLineSet" | "PointSet":
                return np.empty((0, 3)), None  # no obstacle to a robot
            case _:
                message = f"geometry {node.kind} is not read"
                hint = "export it as faces (IndexedFaceSet)"
                raise FormatError(message, where=Where(self.path, node.line), hint=hint)

    def read_faces(self, node: _Node) -> tuple[Floats, Array | None]:
        """Return the points of an IndexedFaceSet, and its faces split into fans of triangles."""
        coordinates = _nodes(node, "coord")
        numbers = self.read_numbers(coordinates[0], "point", []) if coordinates else np.empty(0)
        if len(numbers) % 3:
            self.fail(coordinates[0], f"{len(numbers)} numbers are not points", "write three per point")
        points = numbers.reshape(-1, 3)
        indices = self.read_numbers(node, "coordIndex", []).astype(np.int64)
        if len(indices) and (indices.max() >= len(points) or indices.min() < -1):
            message = f"coordIndex names point {int(indices.max())} of {len(points)}"
            self.fail(node, message, "count points from 0, and end each face with -1")
        is_corner = indices >= 0
        corners = indices[is_corner]
        face_ids = np.cumsum(indices < 0)[is_corner]
        _, first_corners, face_of_corner = np.unique(face_ids, return_index=True, return_inverse=True)
        first = first_corners[face_of_corner.reshape(-1)]  # for each corner, the first of its face
        starts = np.arange(len(corners) - 1) if len(corners) else np.arange(0)
        # each edge of a face that does not begin at its first corner makes a triangle with that corner
        is_opposite_edge = (face_ids[starts] == face_ids[starts + 1]) & (starts != first[starts])
        starts = starts[is_opposite_edge]
        return points, np.column_stack([corners[first[starts]], corners[starts], corners[starts + 1]])

    def read_colour(self, shape: _Node) -> Colour | None:
        """Return the diffuse colour of a shape, red green blue, 0..1; None if it has none."""
        for appearance in _nodes(shape, "appearance"):
            for material in _nodes(appearance, "material"):
                if "diffuseColor" not in material.fields:
                    return None
                rgb = self.read_numbers(material, key="diffuseColor", default=[0.8, 0.8, 0.8], count=3)
                red, green, blue = rgb.clip(0.0, 1.0).tolist()
                return red, green, blue
        return None


def _nodes(node: _Node, key: str) -> list[_Node]:
    """Return the nodes in a field."""
    return [value for value in node.fields.get(key, []) if isinstance(value, _Node)]
