"""Reading OpenRAVE documents; included files must be in the document's own folder or below."""

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
from posewright.formats.openrave.links import POSE_TAGS, BodyBuilder, pose_of
from posewright.formats.scenes.mesh import MAX_SCENE_BYTES, SceneMesh
from posewright.formats.scenes.reading import SCENES, connected_parts, read_scene

_MAX_INCLUDES = 8
"""Deepest nesting of documents that include each other."""

_MAX_BODY_DEPTH = 30
_MIN_COUNTED_BYTES = 100_000
"""Smaller files count as this large, which limits the number of files to some hundred."""

_MAX_NOTES = 200
_RULES = MarkupRules(lower_case=True)
_ROOTS = ("environment", "robot", "kinbody")
_UNUSED = frozenset(
    {"camtrans", "camrotaxis", "camrotationaxis", "camrotmat", "camfocal", "bkgndcolor", "plugin", "viewer"}
)


def is_openrave(root: Element) -> bool:
    """Return whether the root element of an XML file is OpenRAVE's; a URDF's is a <robot> with links."""
    if root.name == "robot":
        return not root.all("link", "joint") and bool(root.children or "file" in root.attributes)
    return root.name.lower() in _ROOTS


def read_openrave(path: Path | str) -> Environment:
    """Return the environment in an OpenRAVE document; a single robot or body is an environment of its own.

    Raises:
        FormatError: it is not an OpenRAVE document, or names a file that is missing or outside of its folder.
        MissingExtraError: trimesh, which is needed for a mesh, is not installed.
    """
    path = Path(path)
    root = read_markup(path, _RULES)
    reader = _OpenRaveReader(path.parent.resolve())
    if root.name not in _ROOTS:
        root.fail(
            f"<{root.name}> is not an OpenRAVE document",
            "the root must be <Environment>, <Robot> or <KinBody>",
        )
    if root.name != "environment":
        return Environment((reader.read_body(root, (path.resolve(),)),), notes=tuple(reader.notes))
    return reader.read_environment(root, (path.resolve(),))


@dataclass
class _OpenRaveReader:
    """Reads documents below one folder.

    Attributes:
        folder: the folder; no file outside of it is opened.
        notes: descriptions of tags that were ignored.
        n_bytes: total size of all files opened, each counted as `_MIN_COUNTED_BYTES` at least.
        depth: current nesting of bodies.
    """

    folder: Path
    notes: list[str] = field(default_factory=list)
    n_bytes: int = 0
    depth: int = 0

    def read_environment(self, root: Element, open_paths: tuple[Path, ...]) -> Environment:
        """Read an environment with the files that it includes.

        Args:
            root: its element.
            open_paths: its file and the files that include each other up to it.

        Raises:
            FormatError: two bodies have the same name, or the content is invalid.
        """
        bodies: list[KinBody] = []
        friction = None
        for tag in root.children:
            if tag.name in ("robot", "kinbody"):
                bodies.append(self.read_body(tag, open_paths))
            elif tag.name == "environment":
                inner = self.read_included(tag, open_paths, "environment")
                bodies += inner.bodies if isinstance(inner, Environment) else ()
            elif tag.name == "physicsengine":
                for part in tag.all("odeproperties"):
                    friction = part.number("friction")
            elif tag.name not in _UNUSED:
                self.note_ignored(tag)
        for name, count in Counter(body.name for body in bodies if body.name).items():
            if count > 1:
                root.fail(f"{count} bodies are called {name!r}", "give each a name of its own")
        return Environment(tuple(bodies), friction, tuple(self.notes))

    def read_included(
        self, tag: Element, open_paths: tuple[Path, ...], kind: str
    ) -> Environment | KinBody | None:
        """Return the content of the file in a tag's `file` attribute; None without such an attribute.

        Args:
            tag: the tag.
            open_paths: the file of the tag and the files that include each other up to it.
            kind: the tag that the file should have as its root: `environment`, `robot` or `kinbody`.

        Raises:
            FormatError: the file is missing, includes itself, or has another root.
        """
        name = tag.attributes.get("file")
        if name is None:
            return None
        path = self.resolve_file(tag, name)
        if path in open_paths:
            tag.fail(
                f"{name!r} includes itself", " includes ".join(file.name for file in (*open_paths, path))
            )
        if len(open_paths) >= _MAX_INCLUDES:
            tag.fail("documents include each other too deep", f"at most {_MAX_INCLUDES} levels")
        root = read_markup(path, _RULES)
        if root.name == "environment" and kind == "environment":
            return self.read_environment(root, (*open_paths, path))
        if root.name not in ("robot", "kinbody"):
            tag.fail(f"{name!r} is a <{root.name}>", f"name a file with a <{kind}>")
        return self.read_body(root, (*open_paths, path))

    def resolve_file(self, tag: Element, name: str) -> Path:
        """Return the path of a file that a document names, and count its size.

        Args:
            tag: the tag that names the file; the name is relative to its document.
            name: the file as it is named.

        Raises:
            FormatError: there is no such file, it is outside of `folder`, or the files are too large.
        """
        try:
            folder = self.folder if tag.path is None else tag.path.parent
            path = (folder / name.replace("\\", "/")).resolve()
            exists = path.is_file()
        except (OSError, ValueError):  # the name is too long, or has a NUL in it
            tag.fail(f"no file can be called {name[:80]!r}")
        if not path.is_relative_to(self.folder):
            tag.fail(f"{name[:200]!r} leads out of the folder", f"put it below {self.folder}")
        if not exists:
            tag.fail(f"there is no file {name[:200]!r}", f"it was looked for at {path}")
        self.n_bytes += max(path.stat().st_size, _MIN_COUNTED_BYTES)
        if self.n_bytes > MAX_SCENE_BYTES:
            tag.fail("too many or too large files", f"at most {MAX_SCENE_BYTES:,} bytes together are read")
        return path

    def read_meshes(self, tag: Element, name: str) -> tuple[SceneMesh, ...]:
        """Return the meshes of a file named by <data> or <render>."""
        path = self.resolve_file(tag, name)
        if path.suffix.lower() not in SCENES:
            tag.fail(f"a mesh of the kind {path.suffix!r} is not read", f"export it as {', '.join(SCENES)}")
        try:
            return read_scene(path)
        except FormatError as error:
            raise FormatError(f"{name!r} cannot be read: {error}", where=tag.where) from error

    def read_body(self, tag: Element, open_paths: tuple[Path, ...]) -> KinBody:
        """Return a body or a robot with everything that it includes."""
        if self.depth >= _MAX_BODY_DEPTH:
            tag.fail("bodies are nested too deep", f"at most {_MAX_BODY_DEPTH} levels")
        self.depth += 1
        builder = BodyBuilder(self.read_mesh, self.note_ignored)
        self.add_content(tag, builder, open_paths)
        self.depth -= 1
        name = tag.attributes.get("name", "") or builder.name
        is_robot = tag.name == "robot" or builder.is_robot
        links = builder.build_links(tag)
        return KinBody(name, is_robot, links, joints=tuple(builder.joints), sensors=tuple(builder.sensors))

    def add_content(self, tag: Element, builder: BodyBuilder, open_paths: tuple[Path, ...]) -> None:
        """Add the content of a tag, of the file that it names, and of the bodies inside it to a body."""
        prefix = tag.attributes.get("prefix", "")
        included = self.read_included(tag, open_paths, tag.name)
        if isinstance(included, KinBody):
            builder.include(included, prefix, tag)
        for child in tag.children:
            if child.name in ("kinbody", "robot"):
                builder.include(self.read_body(child, open_paths), prefix, child)
            elif child.name == "body":
                builder.add_link(child, prefix)
            elif child.name == "mass":
                builder.common_mass = child
            elif child.name == "joint":
                builder.add_joint(child, prefix)
            elif child.name == "attachedsensor":
                builder.add_sensor(child, prefix)
            elif child.name not in {*POSE_TAGS, "modelsdir", "jointvalues"}:
                self.note_ignored(child)
        builder.move(pose_of(tag), tag)

    def note_ignored(self, tag: Element) -> None:
        if len(self.notes) < _MAX_NOTES:
            self.notes.append(f"{tag.where}: <{tag.name}> is ignored")

    def read_mesh(self, tag: Element, geometry: Geometry) -> Geometry:
        """Return a mesh with the points of its files."""
        source = tag.last("data", "collision") or tag.last("render")
        if source is None:
            tag.fail("a trimesh without <data>", "write <data>file scale</data>")
        name, scale = _file_and_scale(source)
        parts = [part for mesh in self.read_meshes(source, name) for part in connected_parts(mesh)]
        return replace(geometry, parts=tuple(part * scale for part in parts))


def _file_and_scale(tag: Element) -> tuple[str, Floats]:
    """Return the file and the scale, `(3,)`, in `cup.wrl 0.01` or `my cup.wrl 1 1 2`."""
    number = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
    text = " ".join(tag.text.split())  # many blanks would make the pattern slow
    match = re.fullmatch(rf"(.*?)((?: {number}){{3}}| {number})?", text)
    if match is None or not match[1]:
        tag.fail("no file is named", f"write <{tag.name}>file.wrl 1.0</{tag.name}>")
    scale = np.array([float(factor) for factor in (match[2] or "1").split()])
    return match[1].strip(), np.broadcast_to(scale, (3,))
