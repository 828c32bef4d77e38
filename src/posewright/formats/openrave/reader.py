"""An OpenRAVE document read: what it includes is looked for in its own folder and nowhere else."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from posewright.arrays import Floats
from posewright.documents.markup import Element, MarkupRules, read_markup
from posewright.errors import FormatError
from posewright.formats.openrave.bodies import Environment, Geometry, KinBody
from posewright.formats.openrave.links import PLACES, BodyMaker, pose_of
from posewright.formats.scenes.mesh import MAX_SCENE_BYTES, SceneMesh
from posewright.formats.scenes.reading import SCENES, connected_parts, read_scene

_INCLUDES = 8
"""How deep documents may include each other: a robot in an environment, of parts."""

_BODIES = 30
_LEAST_BYTES = 100_000
"""An empty file counts as this one: so there are at most some hundred."""

_NOTES = 200
_RULES = MarkupRules(lower_case=True)
_ROOTS = ("environment", "robot", "kinbody")
_UNUSED = frozenset(
    {"camtrans", "camrotaxis", "camrotationaxis", "camrotmat", "camfocal", "bkgndcolor", "plugin", "viewer"}
)


def is_openrave(root: Element) -> bool:
    """Return whether the root of an XML file is OpenRAVE's: a URDF's is a <robot> of links."""
    if root.name == "robot":
        return not root.all("link", "joint") and bool(root.children or "file" in root.attributes)
    return root.name.lower() in _ROOTS


def read_openrave(path: Path | str) -> Environment:
    """Return what an OpenRAVE document describes; of a single robot or body an environment of that alone.

    Raises:
        FormatError: it is no OpenRAVE document, names what does not exist, or leads out of its folder.
        MissingExtraError: a mesh is in a file for which trimesh is needed.
    """
    path = Path(path)
    root = read_markup(path, _RULES)
    reader = _Reader(path.parent.resolve())
    if root.name not in _ROOTS:
        root.fail(f"<{root.name}> is no OpenRAVE document", "the root is <Environment>, <Robot> or <KinBody>")
    if root.name != "environment":
        return Environment((reader.body(root, (path.resolve(),)),), notes=tuple(reader.notes))
    return reader.environment(root, (path.resolve(),))


@dataclass
class _Reader:
    """Reads documents below one folder.

    Attributes:
        folder: no file outside it is opened.
        notes: what was passed over, in words.
        size: of all files that were opened [bytes].
        depth: how many bodies stand in each other where it reads.
    """

    folder: Path
    notes: list[str] = field(default_factory=list)
    size: int = 0
    depth: int = 0

    def environment(self, root: Element, opened: tuple[Path, ...]) -> Environment:
        bodies: list[KinBody] = []
        friction = None
        for tag in root.children:
            if tag.name in ("robot", "kinbody"):
                bodies.append(self.body(tag, opened))
            elif tag.name == "environment":
                inner = self.included(tag, opened, "environment")
                bodies += inner.bodies if isinstance(inner, Environment) else ()
            elif tag.name == "physicsengine":
                for part in tag.all("odeproperties"):
                    friction = part.number("friction")
            elif tag.name not in _UNUSED:
                self.pass_over(tag)
        for name, count in Counter(body.name for body in bodies if body.name).items():
            if count > 1:
                root.fail(f"{count} bodies are called {name!r}", "each has a name of its own")
        return Environment(tuple(bodies), friction, tuple(self.notes))

    def included(self, tag: Element, opened: tuple[Path, ...], kind: str) -> Environment | KinBody | None:
        """Return what the file of a tag's `file` attribute has; None where it has no such attribute."""
        name = tag.attributes.get("file")
        if name is None:
            return None
        path = self.find(tag, name)
        if path in opened:
            tag.fail(f"{name!r} includes itself", " includes ".join(one.name for one in (*opened, path)))
        if len(opened) >= _INCLUDES:
            tag.fail("documents include each other too deep", f"at most {_INCLUDES} levels")
        root = read_markup(path, _RULES)
        if root.name == "environment" and kind == "environment":
            return self.environment(root, (*opened, path))
        if root.name not in ("robot", "kinbody"):
            tag.fail(f"{name!r} is a <{root.name}>", f"a <{kind}> is wanted")
        return self.body(root, (*opened, path))

    def find(self, tag: Element, name: str) -> Path:
        """Return a file that a document names, beside that document; never one outside the folder."""
        try:
            folder = self.folder if tag.path is None else tag.path.parent
            path = (folder / name.replace("\\", "/")).resolve()
            is_there = path.is_file()
        except (OSError, ValueError):  # too long for any disk, or with a NUL in it
            tag.fail(f"no file can be called {name[:80]!r}")
        if not path.is_relative_to(self.folder):
            tag.fail(f"{name[:200]!r} leads out of the folder", f"put it below {self.folder}")
        if not is_there:
            tag.fail(f"there is no file {name[:200]!r}", f"it was looked for at {path}")
        self.size += max(path.stat().st_size, _LEAST_BYTES)
        if self.size > MAX_SCENE_BYTES:
            tag.fail("too much in too many files", f"at most {MAX_SCENE_BYTES:,} bytes together")
        return path

    def meshes(self, tag: Element, name: str) -> tuple[SceneMesh, ...]:
        """Return the meshes of a file that a <data> or <render> names."""
        path = self.find(tag, name)
        if path.suffix.lower() not in SCENES:
            tag.fail(f"a mesh of the kind {path.suffix!r} is not read", f"export it as {', '.join(SCENES)}")
        try:
            return read_scene(path)
        except FormatError as error:
            raise FormatError(f"{name!r} is not read: {error}", where=tag.where) from error

    def body(self, tag: Element, opened: tuple[Path, ...]) -> KinBody:
        """Return a body or a robot with all that it includes."""
        if self.depth >= _BODIES:
            tag.fail("bodies stand in each other too deep", f"at most {_BODIES} levels")
        self.depth += 1
        maker = BodyMaker(self.read_geometry, self.pass_over)
        self.fill(tag, maker, opened)
        self.depth -= 1
        named = tag.attributes.get("name", "") or maker.name
        is_robot = tag.name == "robot" or maker.is_robot
        return KinBody(named, is_robot, maker.finished(tag), tuple(maker.joints), tuple(maker.sensors))

    def fill(self, tag: Element, maker: BodyMaker, opened: tuple[Path, ...]) -> None:
        """Add to a body what a tag, the file that it names, and the bodies inside it have."""
        prefix = tag.attributes.get("prefix", "")
        found = self.included(tag, opened, tag.name)
        if isinstance(found, KinBody):
            maker.include(found, prefix, tag)
        for child in tag.children:
            if child.name in ("kinbody", "robot"):
                maker.include(self.body(child, opened), prefix, child)
            elif child.name == "body":
                maker.add_link(child, prefix)
            elif child.name == "mass":
                maker.common_mass = child
            elif child.name == "joint":
                maker.add_joint(child, prefix)
            elif child.name == "attachedsensor":
                maker.add_sensor(child, prefix)
            elif child.name not in {*PLACES, "modelsdir", "jointvalues"}:
                self.pass_over(child)
        maker.place(pose_of(tag), tag)

    def pass_over(self, tag: Element) -> None:
        if len(self.notes) < _NOTES:
            self.notes.append(f"{tag.where}: <{tag.name}> is passed over")

    def read_geometry(self, tag: Element, made: Geometry) -> Geometry:
        """Return a mesh with the points of its files."""
        source = tag.last("data", "collision") or tag.last("render")
        if source is None:
            tag.fail("a trimesh without <data>", "<data>file scale</data>")
        name, scale = _file_and_scale(source)
        parts = [part for mesh in self.meshes(source, name) for part in connected_parts(mesh)]
        return replace(made, parts=tuple(part * scale for part in parts))


def _file_and_scale(tag: Element) -> tuple[str, Floats]:
    """Return the file of `cup.wrl 0.01` or `my cup.wrl 1 1 2`, and its scale `(3,)`."""
    number = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
    told = " ".join(tag.text.split())  # so that no pattern has many blanks to choose from
    found = re.fullmatch(rf"(.*?)((?: {number}){{3}}| {number})?", told)
    if found is None or not found[1]:
        tag.fail("no file is named", f"<{tag.name}>file.wrl 1.0</{tag.name}>")
    scale = np.array([float(word) for word in (found[2] or "1").split()])
    return found[1].strip(), np.broadcast_to(scale, (3,))
