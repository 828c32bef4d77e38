"""VRML97 (`.wrl`, ISO/IEC 14772-1), as drawing programs write it: shapes, their places, their colours.

Nothing is fetched and nothing is run: other files, prototypes and scripts are refused or passed over by name.
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
_LEVELS = 100
_NODES = 100_000
_WORDS = 1_000_000
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s,{}\[\]"#]+|#[^\n\r]*|["\n]')
_REFUSED = {
    "Inline": "another file is not fetched: put its nodes in here",
    "PROTO": "prototypes are not read: export the scene without them",
    "EXTERNPROTO": "prototypes are not read, least of all those of another file",
    "Extrusion": "export it as faces (IndexedFaceSet)",
    "ElevationGrid": "export it as faces (IndexedFaceSet)",
    "Text": "export it as faces (IndexedFaceSet)",
}
_GROUPS = frozenset({"Group", "Transform", "Anchor", "Collision", "Billboard", "Switch", "LOD"})
_BLENDERS = re.compile(r"^(OB|ME)_|(_ifs)?(_TRANSFORM)?$|^(coords|FACESET|SHAPE)_")
"""What Blender's exporters put before and behind a name."""


@dataclass(eq=False)
class _Node:
    """A node: its fields, each a list of numbers, texts, truths and nodes."""

    kind: str
    line: int
    name: str = ""
    fields: dict[str, list[_Value]] = field(default_factory=dict)


_Value: TypeAlias = "str | bool | float | _Node | None"


def parse_vrml(text: str, path: Path | None = None) -> tuple[SceneMesh, ...]:
    """Return the meshes of a VRML97 scene in its own axes; primitives come as their points, without faces.

    Raises:
        FormatError: it is no VRML97, is damaged, has too much in it, or something that is not read.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.startswith(_HEAD):
        is_older = text.startswith("#VRML V1.0")
        what = "this is VRML 1.0" if is_older else "this is no VRML97"
        raise FormatError(what, where=Where(path, 1), hint=f"the first line is {_HEAD!r}; export as VRML97")
    return _Scene(path).meshes(_Parser(text, path).nodes())


class _Parser:
    def __init__(self, text: str, path: Path | None) -> None:
        self.path, self.line, self.count = path, 1, 0
        self.words = self._read(text)
        self.next, self.next_line = next(self.words, (None, 1))
        self.known: dict[str, _Node] = {}

    def _read(self, text: str) -> Iterator[tuple[str | None, int]]:
        line = 1
        for count, found in enumerate(_TOKEN.finditer(text)):
            word = found[0]
            if count > _WORDS + line:  # the end of a line is a word, too
                hint = f"at most {_WORDS:,}: simplify it"
                raise FormatError("too many numbers and words", where=Where(self.path, line), hint=hint)
            if word == '"':
                raise FormatError(
                    "a text without an end", where=Where(self.path, line), hint='it ends with "'
                )
            if not word.startswith("#") and word != "\n":
                yield word, line
            line += word.count("\n")

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        raise FormatError(message, where=Where(self.path, self.line), hint=hint)

    def take(self) -> str:
        if self.next is None:
            self.fail("the file ends in the middle of a node", "it was cut off")
        word, self.line = self.next, self.next_line
        self.next, self.next_line = next(self.words, (None, self.line))
        return word

    def nodes(self) -> list[_Node]:
        found = []
        while self.next is not None:
            if self.next == "ROUTE":
                for _ in range(4):
                    self.take()
            elif (node := self.node(0)) is not None:
                found.append(node)
        return found

    def node(self, level: int) -> _Node | None:
        """Read a node; None for NULL."""
        if level > _LEVELS:
            self.fail("nodes nested too deep", f"at most {_LEVELS} levels")
        word, name = self.take(), ""
        if word == "NULL":
            return None
        if word == "USE":
            used = self.take()
            if used not in self.known:
                self.fail(f"USE of {used!r}, which is not defined before", "DEF stands before USE")
            return self.known[used]
        if word == "DEF":
            name, word = self.take(), self.take()
        if word in _REFUSED:
            self.fail(f"{word} is not read", _REFUSED[word])
        self.count += 1
        if self.count > _NODES:
            self.fail("too many nodes", f"at most {_NODES}")
        node = _Node(word, self.line, name)
        if not re.fullmatch(r"[A-Za-z_]\w*", word) or self.take() != "{":
            self.fail(f"expected a node, found {word[:40]!r}", "a node is a name and { ... }")
        while self.next != "}":
            self.entry(node, level)
        self.take()
        if name:
            self.known[name] = node  # when it is whole: it cannot hold itself
        return node

    def entry(self, node: _Node, level: int) -> None:
        word = self.take()
        if not re.fullmatch(r"[A-Za-z_]\w*", word) or word in ("DEF", "USE", "NULL"):
            self.fail(f"expected a field of {node.kind}, found {word[:40]!r}")
        if word == "ROUTE":
            for _ in range(3):
                self.take()
            return
        if word in ("field", "eventIn", "eventOut", "exposedField"):  # of a Script, which is never run
            self.fail(f"{node.kind} with a declaration is not read", "leave scripts out")
        values = node.fields.setdefault(word, [])
        if self.next == "[":
            self.take()
            while self.next != "]":
                values.append(self.value(node, level))
            self.take()
            return
        values.append(self.value(node, level))
        while self.next is not None and _is_number(self.next):
            values.append(self.value(node, level))

    def value(self, node: _Node, level: int) -> _Value:
        word = self.next
        if word is None or word in "{}[]":
            self.fail(f"a field of {node.kind} without a value")
        if word[0] == '"':
            return self.take()[1:-1]
        if word in ("TRUE", "FALSE"):
            return self.take() == "TRUE"
        if _is_number(word):
            return float(self.take())
        return self.node(level + 1)


def _is_number(word: str) -> bool:
    if word[0] not in "+-.0123456789":
        return False
    try:
        float(word)
    except ValueError:
        return False
    return True


@dataclass
class _Scene:
    """Walks nodes and keeps what has points; counts what USE brings again."""

    path: Path | None
    found: list[SceneMesh] = field(default_factory=list)
    steps: int = 0
    points: int = 0

    def meshes(self, nodes: Sequence[_Node]) -> tuple[SceneMesh, ...]:
        for node in nodes:
            self.walk(node, np.eye(4), "")
        return tuple(self.found)

    def fail(self, node: _Node, message: str, hint: str | None = None) -> NoReturn:
        raise FormatError(message, where=Where(self.path, node.line), hint=hint)

    def walk(self, node: _Node, at: Floats, name: str) -> None:
        self.steps += 1
        if self.steps > _NODES or len(self.found) > MAX_MESHES:
            self.fail(
                node, "the scene grows beyond bounds", f"at most {MAX_MESHES} shapes, those of USE counted"
            )
        name = _BLENDERS.sub("", node.name) or name
        if node.kind == "Shape":
            self.add(node, at, name)
        elif node.kind in _GROUPS:
            inner = at @ self.transform(node) if node.kind == "Transform" else at
            key = {"Switch": "choice", "LOD": "level"}.get(node.kind, "children")
            children = _nodes(node, key)
            if key == "level":
                children = children[:1]
            elif key == "choice":  # -1, as where nothing is said, shows none
                chosen = int(self.numbers(node, "whichChoice", [-1.0], 1)[0])
                children = children[chosen : chosen + 1] if chosen >= 0 else []
            for child in children:
                self.walk(child, inner, name)

    def transform(self, node: _Node) -> Floats:
        """Return T C R SR S -SR -C, as the standard has it, `(4, 4)`."""
        vector: list[float] = [0.0, 0.0, 0.0]
        move = self.numbers(node, "translation", vector, 3)
        centre = self.numbers(node, "center", vector, 3)
        scale = self.numbers(node, "scale", [1.0, 1.0, 1.0], 3)
        turn = self.numbers(node, "rotation", [0.0, 0.0, 1.0, 0.0], 4)
        lean = self.numbers(node, "scaleOrientation", [0.0, 0.0, 1.0, 0.0], 4)
        leaning = turn_about(lean[:3], float(lean[3]))
        linear = turn_about(turn[:3], float(turn[3])) @ leaning @ np.diag(scale) @ leaning.T
        whole = np.eye(4)
        whole[:3, :3], whole[:3, 3] = linear, move + centre - linear @ centre
        return whole

    def numbers(self, node: _Node, key: str, usual: list[float], count: int = 0) -> Floats:
        values = node.fields.get(key, usual)
        if any(isinstance(value, bool) or not isinstance(value, float) for value in values):
            self.fail(node, f"{key} of {node.kind} is not made of numbers")
        if count and len(values) != count:
            self.fail(node, f"{key} of {node.kind} has {len(values)} numbers", f"{count} of them")
        array = np.array(values, dtype=np.float64)
        if not (np.isfinite(array).all() and (np.abs(array) < 1e9).all()):
            self.fail(node, f"{key} of {node.kind} is not finite, or beyond all measure")
        return array

    def lengths(self, node: _Node, count: int = 1, **usual: float) -> Floats:
        """Return fields of so many lengths each, one behind the other."""
        told = np.concatenate([self.numbers(node, key, [one] * count, count) for key, one in usual.items()])
        if not (told > 0.0).all():
            self.fail(node, f"a {node.kind} of {' x '.join(f'{one:g}' for one in told)}", "lengths above 0")
        return told

    def add(self, shape: _Node, at: Floats, name: str) -> None:
        for geometry in _nodes(shape, "geometry"):
            points, faces = self.geometry(geometry)
            if not len(points):
                continue
            self.points += len(points)
            if self.points > MAX_POINTS:
                self.fail(geometry, "too many points", f"at most {MAX_POINTS} in a scene")
            placed = points @ at[:3, :3].T + at[:3, 3]
            name = name or _BLENDERS.sub("", geometry.name)
            self.found.append(SceneMesh(name, placed, faces, self.colour(shape), geometry.line))

    def geometry(self, node: _Node) -> tuple[Floats, Array | None]:
        """Return points, and faces where the points alone do not say what is one body."""
        match node.kind:
            case "Box":
                return box_points(self.lengths(node, size=2.0, count=3)), None
            case "Sphere":
                return ball_points(float(self.lengths(node, radius=1.0)[0])), None
            case "Cylinder":
                radius, height = self.lengths(node, radius=1.0, height=2.0).tolist()
                return round_points(radius, height), None
            case "Cone":
                radius, height = self.lengths(node, bottomRadius=1.0, height=2.0).tolist()
                return round_points(radius, height, top=0.0), None
            case "IndexedFaceSet":
                return self.faces(node)
            case "IndexedLineSet" | "PointSet":
                return np.empty((0, 3)), None  # seen by nobody who walks there
            case _:
                what, hint = f"geometry {node.kind} is not read", "export it as faces (IndexedFaceSet)"
                raise FormatError(what, where=Where(self.path, node.line), hint=hint)

    def faces(self, node: _Node) -> tuple[Floats, Array | None]:
        coordinates = _nodes(node, "coord")
        flat = self.numbers(coordinates[0], "point", []) if coordinates else np.empty(0)
        if len(flat) % 3:
            self.fail(coordinates[0], f"{len(flat)} numbers are no points", "three for each")
        points, index = flat.reshape(-1, 3), self.numbers(node, "coordIndex", []).astype(np.int64)
        if len(index) and (index.max() >= len(points) or index.min() < -1):
            what = f"coordIndex names point {int(index.max())} of {len(points)}"
            self.fail(node, what, "points are counted from 0, and -1 ends a face")
        corners, face = index[index >= 0], np.cumsum(index < 0)[index >= 0]
        _, first, of_face = np.unique(face, return_index=True, return_inverse=True)
        first = first[of_face.reshape(-1)]  # for each corner where its face begins: a fan of triangles
        place = np.arange(len(corners) - 1) if len(corners) else np.arange(0)
        place = place[(face[place] == face[place + 1]) & (place != first[place])]
        return points, np.column_stack([corners[first[place]], corners[place], corners[place + 1]])

    def colour(self, shape: _Node) -> Colour | None:
        for looks in _nodes(shape, "appearance"):
            for material in _nodes(looks, "material"):
                told = self.numbers(material, "diffuseColor", [0.8, 0.8, 0.8], 3).clip(0.0, 1.0).tolist()
                return (told[0], told[1], told[2]) if "diffuseColor" in material.fields else None
        return None


def _nodes(node: _Node, key: str) -> list[_Node]:
    return [value for value in node.fields.get(key, []) if isinstance(value, _Node)]
