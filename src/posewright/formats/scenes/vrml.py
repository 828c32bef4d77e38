"""Reading VRML97 (`.wrl`, ISO/IEC 14772-1) as drawing programs write it: shapes, transforms and colours.

Prototypes are expanded, and inlined files of the same folder are read; nothing is fetched, and no script is
run. What has no counterpart here is left out and listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn, TypeAlias

import numpy as np

from posewright.arrays import Array, Floats
from posewright.documents import is_file, read_bounded
from posewright.errors import FormatError, PosewrightError, Where
from posewright.formats.scenes.mesh import (
    MAX_MESHES,
    MAX_POINTS,
    MAX_SCENE_BYTES,
    Colour,
    Omissions,
    Scene,
    SceneMesh,
    Up,
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
_MAX_EXPANDED_LEVELS = 3 * _MAX_LEVELS
"""Deepest nesting after prototypes are expanded and files inlined."""

_MAX_INLINES = 8
"""Deepest nesting of files that inline each other."""

_MIN_COUNTED_BYTES = 100_000
"""Smaller inlined files count as this large, which limits their number to some hundred."""

_VALUE_ACCESS = frozenset({"field", "exposedField"})
_EVENT_ACCESS = frozenset({"eventIn", "eventOut"})
_NAME = re.compile(r"[A-Za-z_]\w*")
_GROUPS = frozenset({"Group", "Transform", "Anchor", "Collision", "Billboard", "Switch", "LOD"})
_SHAPELESS = frozenset(
    {
        "AudioClip",
        "Background",
        "ColorInterpolator",
        "CoordinateInterpolator",
        "CylinderSensor",
        "DirectionalLight",
        "Fog",
        "MovieTexture",
        "NavigationInfo",
        "NormalInterpolator",
        "OrientationInterpolator",
        "PlaneSensor",
        "PointLight",
        "PositionInterpolator",
        "ProximitySensor",
        "ScalarInterpolator",
        "Script",
        "Sound",
        "SphereSensor",
        "SpotLight",
        "TimeSensor",
        "TouchSensor",
        "Viewpoint",
        "VisibilitySensor",
        "WorldInfo",
    }
)
"""Nodes of the standard that have no shape: nothing is lost without them."""

_JOINT_TYPE = "jointType"
"""The field by which the joints of OpenHRP3, `PROTO Joint`, differ from those of H-Anim."""

_FREE_JOINT = "free"
_SEGMENT_MASS = "mass"
_BODY_PROTOTYPES = frozenset({"Humanoid", "Joint", "Segment"})
"""The prototypes of which models of OpenHRP3 consist; the names of their nodes tell nothing about shapes."""

_GEOMETRIES_WITHOUT_BODY = frozenset({"IndexedLineSet", "PointSet"})
_BLENDER_AFFIXES = re.compile(r"^(OB|ME)_|(_ifs)?(_TRANSFORM)?$|^(coords|FACESET|SHAPE)_")
"""Prefixes and suffixes that Blender's exporters add to names."""


@dataclass(eq=False)
class _Node:
    """A node with its fields, each a list of numbers, texts, booleans, nodes and references."""

    kind: str
    where: Where
    name: str = ""
    fields: dict[str, list[_Value]] = field(default_factory=dict)
    prototype: str = ""
    """The kind of node that it was before it was expanded."""


@dataclass(frozen=True)
class RootPose:
    """Where a project of OpenHRP3 or Choreonoid places a model: the pose of its root joint.

    Attributes:
        joint: the name of that joint; None for whichever is the root.
        translation: its position `(3,)`; None for that in the model.
        rotation: its rotation matrix `(3, 3)`; None for that in the model.
    """

    joint: str | None = None
    translation: Floats | None = None
    rotation: Floats | None = None


@dataclass(frozen=True)
class ModelOfProject:
    """A body of a project, read from its VRML model.

    Attributes:
        scene: its meshes in the frame of the world; those that no group inside the body names have its name.
        joint_types: the types of its joints, such as `free` or `rotate`; empty for a model without joints.
        segment_masses: the masses of its segments [kg].
    """

    scene: Scene
    joint_types: tuple[str, ...]
    segment_masses: tuple[float, ...]

    @property
    def n_moving_joints(self) -> int:
        """The number of joints between its parts that are not fixed."""
        return sum(kind not in ("", "fixed", _FREE_JOINT) for kind in self.joint_types)

    @property
    def can_be_pushed(self) -> bool:
        """Whether it is a single part that nothing holds."""
        return self.joint_types == (_FREE_JOINT,)


@dataclass(frozen=True)
class _FieldReference:
    """The name of a prototype's field whose value a node in its body takes: `translation IS place`."""

    name: str


@dataclass(frozen=True, eq=False)
class _Prototype:
    """A kind of node that the file defines.

    Attributes:
        defaults: the values of its fields by name.
        nodes: its body; the first node is what an instance is replaced with.
    """

    defaults: dict[str, list[_Value]]
    nodes: list[_Node]


_Value: TypeAlias = "str | bool | float | _Node | _FieldReference | None"


def parse_vrml(text: str, path: Path | None = None) -> Scene:
    """Return the meshes of a VRML97 scene in its axes; primitives have points only, without faces.

    Args:
        text: the scene.
        path: its file, for messages; inlined files must be in its folder or below.

    Raises:
        FormatError: it is not VRML97, is damaged, or exceeds a limit.
    """
    collector = _MeshCollector(None if path is None else path.resolve().parent)
    nodes = collector.read_nodes(text, path)
    collector.collect(nodes, open_paths=() if path is None else (path.resolve(),))
    up = Up.Z if collector.joints else Up.AUTO
    return Scene(tuple(collector.meshes), notes=collector.omissions.notes(), up=up)


def parse_model(text: str, path: Path, name: str, poses: Sequence[RootPose]) -> ModelOfProject:
    """Return a body of a project of OpenHRP3 or Choreonoid, as its model describes it.

    Args:
        text: the model in VRML97.
        path: its file; inlined files must be in its folder or below.
        name: the name of the body.
        poses: where the project places its joints, of which only the root's can be placed.

    Raises:
        FormatError: it is not VRML97, is damaged, or exceeds a limit.
    """
    collector = _MeshCollector(path.resolve().parent, body_name=name, root_poses=list(poses))
    nodes = collector.read_nodes(text, path)
    place = _Place(names=(name,))
    if not collector.joints:
        place = replace(place, pose=collector.take_pose_of_all())
    collector.collect(nodes, open_paths=(path.resolve(),), place=place)
    for pose in collector.root_poses:
        message = f"the pose of the joint {pose.joint!s:.80} of {name:.80} is ignored: it is not the root"
        collector.omissions.add(message, None)
    scene = Scene(tuple(collector.meshes), notes=collector.omissions.notes(), up=Up.Z)
    joint_types = tuple(joint.kind for joint in collector.joints)
    return ModelOfProject(scene, joint_types, tuple(collector.segment_masses))


def _open_text(text: str, path: Path | None) -> _VrmlParser:
    """Return the parser of a VRML97 text, at its first node; raise FormatError as `parse_vrml`."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.startswith(_HEAD):
        is_older = text.startswith("#VRML V1.0")
        message = "this is VRML 1.0" if is_older else "this is not VRML97"
        hint = f"the first line must be {_HEAD!r}; export as VRML97"
        raise FormatError(message, where=Where(path, 1), hint=hint)
    return _VrmlParser(text, path)


@dataclass(frozen=True)
class _Joint:
    """A joint of a model of OpenHRP3: its type, such as `rotate`, and its place."""

    kind: str
    where: Where


class _VrmlParser:
    """Parses the text of a scene into nodes.

    Attributes:
        path: the file, for messages.
        line: the line of the last lexeme taken.
        n_nodes: number of nodes so far.
        lexemes: the lexemes after the next one, with their lines.
        next_lexeme: the next lexeme, None at the end; its line is `next_line`.
        named_nodes: the nodes defined by DEF.
        prototypes: the kinds of nodes defined by PROTO.
        omissions: what was left out of the instances of prototypes.
        joints: the joints of OpenHRP3, in whose models z points up.
        segment_masses: the masses of the segments of OpenHRP3 [kg].
    """

    def __init__(self, text: str, path: Path | None) -> None:
        self.path = path
        self.line = 1
        self.n_nodes = 0
        self.lexemes = self._tokenize(text)
        self.next_lexeme, self.next_line = next(self.lexemes, (None, 1))
        self.named_nodes: dict[str, _Node] = {}
        self.prototypes: dict[str, _Prototype] = {}
        self.omissions = Omissions()
        self.joints: list[_Joint] = []
        self.segment_masses: list[float] = []

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

    def expect(self, lexeme: str, place: str) -> None:
        """Take the next lexeme; raise FormatError if it is another one."""
        found = self.take_lexeme()
        if found != lexeme:
            self.fail(f"expected {lexeme} {place}, found {found[:40]!r}")

    def read_nodes(self, end: str | None, level: int) -> list[_Node]:
        """Return the nodes of a file or of a prototype's body; routes are skipped, prototypes stored.

        Args:
            end: the lexeme after the last node; None for the end of the file.
            level: the number of nodes around them.
        """
        nodes: list[_Node] = []
        while self.next_lexeme != end:
            if self.skip_statement(level):
                continue
            node = self.read_node(level)
            if node is not None:
                nodes.append(node)
        return nodes

    def skip_statement(self, level: int) -> bool:
        """Read a route or a prototype if one is next, and return whether one was."""
        if self.next_lexeme == "ROUTE":
            self.skip_lexemes(4)  # ROUTE output TO input
        elif self.next_lexeme == "PROTO":
            self.read_prototype(level + 1)
        elif self.next_lexeme == "EXTERNPROTO":
            self.skip_extern_prototype()
        else:
            return False
        return True

    def read_prototype(self, level: int) -> None:
        """Store a prototype: `PROTO Name [ declarations ] { nodes }`; `level` is that of its body."""
        if level > _MAX_LEVELS:
            self.fail("prototypes nested too deep", f"at most {_MAX_LEVELS} levels are read")
        self.skip_lexemes(1)  # PROTO
        name = self.take_lexeme()
        defaults: dict[str, list[_Value]] = {}
        self.expect("[", f"after PROTO {name:.40}")
        while self.next_lexeme != "]":
            access = self.take_lexeme()
            if access not in _VALUE_ACCESS | _EVENT_ACCESS:
                self.fail(
                    f"expected a declaration of {name:.40}, found {access[:40]!r}",
                    "write field TYPE NAME VALUE",
                )
            self.skip_lexemes(1)  # its type
            field_name = self.take_lexeme()
            if access in _VALUE_ACCESS:
                defaults[field_name] = self.read_values(name, level)
        self.skip_lexemes(1)  # ]
        outer_nodes = self.named_nodes
        outer_prototypes = self.prototypes
        self.named_nodes = {}  # names inside a prototype are its own
        self.prototypes = dict(outer_prototypes)
        self.expect("{", f"at the body of PROTO {name:.40}")
        nodes = self.read_nodes(end="}", level=level)
        self.skip_lexemes(1)  # }
        self.named_nodes = outer_nodes
        self.prototypes = outer_prototypes
        self.prototypes[name] = _Prototype(defaults, nodes)

    def skip_extern_prototype(self) -> None:
        """Skip `EXTERNPROTO Name [ declarations ] urls`; its instances are left out as an unknown kind."""
        self.skip_lexemes(2)  # EXTERNPROTO and its name
        self.expect("[", "after EXTERNPROTO")
        while self.take_lexeme() != "]":
            pass
        if self.next_lexeme != "[":
            self.skip_lexemes(1)
            return
        while self.take_lexeme() != "]":
            pass

    def instantiate(self, prototype: _Prototype, instance: _Node, level: int) -> _Node:
        """Return the node that replaces an instance of a prototype: the first of its body with its values."""
        for field_name in instance.fields.keys() - prototype.defaults.keys():
            message = f"{field_name:.40} of {instance.kind:.40} is ignored: its PROTO has no such field"
            self.omissions.add(message, instance.where)
        if _JOINT_TYPE in prototype.defaults:
            joint_type = (instance.fields.get(_JOINT_TYPE) or [""])[0]
            self.joints.append(_Joint(str(joint_type), instance.where))
        if _SEGMENT_MASS in prototype.defaults:
            mass = (instance.fields.get(_SEGMENT_MASS) or [0.0])[0]
            self.segment_masses.append(mass if isinstance(mass, float) else 0.0)
        if not prototype.nodes:
            return _Node("Group", instance.where, instance.name, prototype=instance.kind)
        values = prototype.defaults | instance.fields
        node = self.copy_node(prototype.nodes[0], values, copies={}, level=level)
        return replace(node, where=instance.where, name=instance.name or node.name, prototype=instance.kind)

    def copy_node(
        self, node: _Node, values: dict[str, list[_Value]], copies: dict[int, _Node], level: int
    ) -> _Node:
        """Return a copy of a node of a prototype's body.

        Args:
            node: the node.
            values: the values of the prototype's fields, which replace references to them.
            copies: the copies so far by the identity of their originals, so that a node used twice stays one.
            level: the number of nodes around it.
        """
        if id(node) in copies:
            return copies[id(node)]
        self.count_node(level)
        copy = _Node(node.kind, node.where, node.name, prototype=node.prototype)
        copies[id(node)] = copy
        for key, node_values in node.fields.items():
            new_values: list[_Value] = []
            is_given = False
            for value in node_values:
                if isinstance(value, _FieldReference):
                    is_given = is_given or value.name in values
                    new_values += values.get(value.name, [])
                    continue
                is_given = True
                if isinstance(value, _Node):
                    new_values.append(self.copy_node(value, values, copies, level + 1))
                else:
                    new_values.append(value)
            if is_given or not node_values:  # a field that is connected to an event only has its default
                copy.fields[key] = new_values
        return copy

    def count_node(self, level: int) -> None:
        """Count a node; raise FormatError if there are too many, or they are nested too deep."""
        self.n_nodes += 1
        if self.n_nodes > _MAX_NODES:
            self.fail("too many nodes", f"at most {_MAX_NODES} are read")
        if level > _MAX_EXPANDED_LEVELS:
            self.fail("nodes nested too deep", f"at most {_MAX_EXPANDED_LEVELS} levels are read")

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
        self.count_node(level)
        node = _Node(kind, Where(self.path, self.line), name)
        if not _NAME.fullmatch(kind) or self.take_lexeme() != "{":
            self.fail(f"expected a node, found {kind[:40]!r}", "write a name and { ... }")
        while self.next_lexeme != "}":
            self.read_field(node, level)
        self.take_lexeme()
        if kind in self.prototypes:
            node = self.instantiate(self.prototypes[kind], node, level)
        if name:
            self.named_nodes[name] = node  # only now, so that a node cannot contain itself
        return node

    def read_field(self, node: _Node, level: int) -> None:
        """Read a field with its values into a node; a ROUTE is skipped. `level` is that of the node."""
        if self.skip_statement(level):
            return
        name = self.take_lexeme()
        if not _NAME.fullmatch(name) or name in ("DEF", "USE", "NULL"):
            self.fail(f"expected a field of {node.kind}, found {name[:40]!r}")
        if name in _VALUE_ACCESS | _EVENT_ACCESS and node.kind == "Script":
            self.skip_lexemes(2)  # type and name of a declaration
            if name in _VALUE_ACCESS or self.next_lexeme == "IS":
                self.read_values(node.kind, level)
            return
        node.fields.setdefault(name, []).extend(self.read_values(node.kind, level))

    def read_values(self, node_kind: str, level: int) -> list[_Value]:
        """Return the values of a field.

        They are a single value, the numbers of a vector, the items of a list in [], or, after IS, a reference
        to a field of the prototype.

        Args:
            node_kind: kind of the node that has the field, for messages.
            level: the number of nodes around that node.
        """
        if self.next_lexeme == "IS":
            self.skip_lexemes(1)
            return [_FieldReference(self.take_lexeme())]
        values: list[_Value] = []
        if self.next_lexeme == "[":
            self.skip_lexemes(1)
            while self.next_lexeme != "]":
                values.append(self.read_value(node_kind, level))
            self.skip_lexemes(1)
            return values
        values.append(self.read_value(node_kind, level))
        while self.next_lexeme is not None and _is_number(self.next_lexeme):  # such as those of a vector
            values.append(self.read_value(node_kind, level))
        return values

    def read_value(self, node_kind: str, level: int) -> _Value:
        """Return the next value of a field: a text, flag, number or node.

        Args:
            node_kind: kind of the node that has the field, for the message.
            level: the number of nodes around that node.
        """
        lexeme = self.next_lexeme
        if lexeme is None or lexeme in "{}[]":
            self.fail(f"a field of {node_kind} without a value")
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


@dataclass(frozen=True, eq=False)
class _Place:
    """Where a node stands in the scene.

    Attributes:
        pose: its pose, `(4, 4)`.
        names: the names of the nodes around it and its own, the outermost first.
        level: the number of nodes around it.
    """

    pose: Floats = field(default_factory=lambda: np.eye(4))
    names: tuple[str, ...] = ()
    level: int = 0

    def inside(self, name: str) -> _Place:
        """Return the place inside a node of a name, which may be empty."""
        return replace(self, names=(*self.names, name) if name else self.names, level=self.level + 1)


@dataclass
class _MeshCollector:
    """Collects the meshes of nodes.

    Attributes:
        folder: the folder of the scene; no inlined file outside of it is opened. None for a text alone.
        meshes: the meshes so far.
        omissions: what was left out.
        n_visits: number of nodes visited, those of USE each time.
        n_points: number of points so far.
        n_inlined_bytes: total size of the inlined files, each counted as `_MIN_COUNTED_BYTES` at least.
        body_name: the name of the body of a project that is read; empty for a scene.
        root_poses: the poses that a project gives the joints of the body, without the one that was used.
        joints: the joints of OpenHRP3.
        segment_masses: the masses of the segments of OpenHRP3 [kg].
    """

    folder: Path | None
    meshes: list[SceneMesh] = field(default_factory=list)
    omissions: Omissions = field(default_factory=Omissions)
    n_visits: int = 0
    n_points: int = 0
    n_inlined_bytes: int = 0
    body_name: str = ""
    root_poses: list[RootPose] = field(default_factory=list)
    joints: list[_Joint] = field(default_factory=list)
    segment_masses: list[float] = field(default_factory=list)
    _is_root_placed: bool = False

    def read_nodes(self, text: str, path: Path | None) -> list[_Node]:
        """Return the nodes of a file, and note what is left out; raise FormatError as `parse_vrml`."""
        parser = _open_text(text, path)
        nodes = parser.read_nodes(end=None, level=0)
        self.omissions.extend(parser.omissions)
        self.joints += parser.joints
        self.segment_masses += parser.segment_masses
        for joint in parser.joints:
            is_free_body = bool(self.body_name) and joint.kind == _FREE_JOINT
            if joint.kind not in ("", "fixed") and not is_free_body:
                message = f"a joint of the type {joint.kind:.40} is ignored: parts of a field stand still"
                self.omissions.add(message, joint.where)
        return nodes

    def take_pose_of_all(self) -> Floats:
        """Return the pose `(4, 4)` of a model without joints, which the project gives as that of its root."""
        pose = np.eye(4)
        if self.root_poses:
            root_pose = self.root_poses.pop(0)
            pose[:3, 3] = np.zeros(3) if root_pose.translation is None else root_pose.translation
            pose[:3, :3] = np.eye(3) if root_pose.rotation is None else root_pose.rotation
        return pose

    def take_root_pose(self, node: _Node) -> RootPose | None:
        """Return the pose that the project gives a node, if that is the root joint and has one."""
        if node.prototype != "Joint" or self._is_root_placed:
            return None
        self._is_root_placed = True
        for number, pose in enumerate(self.root_poses):
            if pose.joint in (None, node.name):
                return self.root_poses.pop(number)
        return None

    def collect(
        self, nodes: Sequence[_Node], open_paths: tuple[Path, ...], place: _Place | None = None
    ) -> None:
        """Collect the meshes of the nodes of a file.

        Args:
            nodes: the nodes.
            open_paths: the files that inline each other up to it.
            place: where they stand in the scene; the scene itself by default.
        """
        for node in nodes:
            self.visit(node, place or _Place(), open_paths)

    def fail(self, node: _Node, message: str, hint: str | None = None) -> NoReturn:
        raise FormatError(message, where=node.where, hint=hint)

    def visit(self, node: _Node, place: _Place, open_paths: tuple[Path, ...]) -> None:
        """Collect the meshes of a node and its children.

        Args:
            node: the node; one that is neither a shape nor a group is left out.
            place: where it stands.
            open_paths: its file and the files that inline each other up to it.

        Raises:
            FormatError: the scene has too many nodes, shapes or points.
        """
        self.n_visits += 1
        if self.n_visits > _MAX_NODES or len(self.meshes) > MAX_MESHES:
            hint = f"at most {MAX_MESHES} shapes are read, counted at each USE"
            self.fail(node, "the scene is too large", hint)
        if place.level > _MAX_EXPANDED_LEVELS:
            self.fail(node, "nodes nested too deep", f"at most {_MAX_EXPANDED_LEVELS} levels are read")
        is_part_of_body = bool(self.body_name) and node.prototype in _BODY_PROTOTYPES
        place = place.inside("" if is_part_of_body else _BLENDER_AFFIXES.sub("", node.name))
        if node.kind == "Shape":
            self.add_shape(node, place)
        elif node.kind == "Inline":
            self.visit_inlined_file(node, place, open_paths)
        elif node.kind in _GROUPS:
            self.note_unset_flags(node, keys=("collide",))
            if node.kind == "Transform":
                place = replace(place, pose=place.pose @ self.read_transform(node, self.take_root_pose(node)))
            for child in self.visible_children(node):
                self.visit(child, place, open_paths)
        elif node.kind not in _SHAPELESS:
            self.omissions.add(f"{node.kind} is not read", node.where)

    def visit_inlined_file(self, node: _Node, place: _Place, open_paths: tuple[Path, ...]) -> None:
        """Collect the meshes of the first file of an Inline that can be read."""
        urls = [url for url in node.fields.get("url", []) if isinstance(url, str)]
        problem = "Inline without a url"
        for url in urls:
            try:
                path = self.find_inlined_file(url, node, open_paths)
                text = read_bounded(path, MAX_SCENE_BYTES).decode(errors="replace")
            except PosewrightError as error:
                problem = error.message
                continue
            self.collect(self.read_nodes(text, path), (*open_paths, path), place)
            return
        self.omissions.add(problem, node.where)

    def find_inlined_file(self, url: str, node: _Node, open_paths: tuple[Path, ...]) -> Path:
        """Return the path of an inlined file, and count its size.

        Raises:
            FormatError: there is no such file, it is no VRML, outside of the folder, or inlines itself.
        """
        if self.folder is None or not open_paths:
            self.fail(node, f"the inlined file {url!r:.80} is not read")
        path = (open_paths[-1].parent / url.replace("\\", "/").removeprefix("file:")).resolve()
        if not path.is_relative_to(self.folder):
            self.fail(node, f"the inlined file {url!r:.80} is outside of the folder of the scene")
        if path.suffix.lower() not in (".wrl", ".vrml") or not is_file(path):
            self.fail(node, f"the inlined file {url!r:.80} is missing or not VRML")
        if path in open_paths or len(open_paths) > _MAX_INLINES:
            self.fail(node, f"the inlined file {url!r:.80} inlines itself, or is nested too deep")
        self.n_inlined_bytes += max(path.stat().st_size, _MIN_COUNTED_BYTES)
        if self.n_inlined_bytes > MAX_SCENE_BYTES:
            self.fail(node, "too many or too large inlined files")
        return path

    def visible_children(self, group: _Node) -> list[_Node]:
        """Return the children of a group that are shown: the chosen one of a Switch, the finest of a LOD."""
        if group.kind == "LOD":
            return _nodes(group, "level")[:1]
        if group.kind == "Switch":
            choice = int(self.read_numbers(group, key="whichChoice", default=[-1.0], count=1)[0])
            return _nodes(group, "choice")[choice : choice + 1] if choice >= 0 else []  # -1 shows none
        return _nodes(group, "children")

    def read_transform(self, node: _Node, root_pose: RootPose | None = None) -> Floats:
        """Return the transform T C R SR S -SR -C of the standard, `(4, 4)`.

        These are translation, centre, rotation, scale orientation, scale, and the inverses of two of them.
        The translation and rotation of a `root_pose` come before those of the node.
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
        if root_pose is not None and root_pose.translation is not None:
            translation = root_pose.translation
        if root_pose is not None and root_pose.rotation is not None:
            rotation_matrix = root_pose.rotation
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

    def note_unset_flags(self, node: _Node, keys: Sequence[str]) -> None:
        """Note the flags of a node that are FALSE: a part of a field is closed and solid."""
        for key in keys:
            if node.fields.get(key) == [False]:
                self.omissions.add(f"{key} FALSE of {node.kind} is ignored: it is solid here", node.where)

    def read_box_size(self, node: _Node) -> Floats:
        """Return the edges of a box; one may be 0, as in the `PROTO Plane` of OpenHRP3's models."""
        size = self.read_numbers(node, key="size", default=[2.0, 2.0, 2.0], count=3)
        is_sheet = (size == 0.0).sum() == 1 and bool((size >= 0.0).all())
        return size if is_sheet else self.read_lengths(node, size=2.0, count=3)

    def add_shape(self, shape: _Node, place: _Place) -> None:
        """Add the meshes of a Shape; a geometry without a name has that of the nearest node around it."""
        for geometry in _nodes(shape, "geometry"):
            points, faces = self.read_geometry(geometry)
            if not len(points):
                continue
            self.n_points += len(points)
            if self.n_points > MAX_POINTS:
                self.fail(geometry, "too many points", f"at most {MAX_POINTS} in a scene are read")
            moved_points = points @ place.pose[:3, :3].T + place.pose[:3, 3]
            own_name = _BLENDER_AFFIXES.sub("", geometry.name)
            *group_names, name = place.names or (own_name,)
            self.meshes.append(
                SceneMesh(
                    name,
                    moved_points,
                    faces,
                    colour=self.read_colour(shape),
                    line=geometry.where.line,
                    group_names=tuple(group_names),
                )
            )

    def read_geometry(self, node: _Node) -> tuple[Floats, Array | None]:
        """Return the points of a geometry and its faces, None for a primitive, which is one body."""
        self.note_unset_flags(node, keys=("side", "top", "bottom"))
        match node.kind:
            case "Box":
                return box_points(self.read_box_size(node)), None
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
            case _:
                if node.kind not in _GEOMETRIES_WITHOUT_BODY:
                    self.omissions.add(f"geometry {node.kind} is not read; export it as faces", node.where)
                return np.empty((0, 3)), None

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
        if not len(starts):
            self.omissions.add("an IndexedFaceSet without faces is left out", node.where)
            return np.empty((0, 3)), None
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
