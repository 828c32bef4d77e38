"""Reading OpenRAVE documents; included files must be in the document's own folder or below.

What cannot be read is left out and listed: meshes of unknown kinds or without their file, unknown tags and
attributes and, in a scene whose robots do not matter, bodies whose file is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from posewright.arrays import Floats
from posewright.documents import is_file
from posewright.documents.markup import Element, MarkupRules, read_markup
from posewright.errors import FormatError, Where
from posewright.formats.openrave.bodies import Environment, Geometry, GeometryKind, KinBody, RaveLink
from posewright.formats.openrave.links import POSE_TAGS, BodyBuilder, pose_of
from posewright.formats.scenes.mesh import MAX_SCENE_BYTES, Omissions, SceneMesh, Up
from posewright.formats.scenes.reading import SCENE_SUFFIXES, connected_parts, read_scene

_MAX_INCLUDES = 8
"""Deepest nesting of documents that include each other."""

_MAX_BODY_DEPTH = 30

MAX_WEIGHED = 50_000
"""Most shapes whose masses are added up in a document, which takes a second or two."""

_MIN_COUNTED_BYTES = 100_000
"""Smaller files count as this large, which limits the number of files to some hundred."""

_KNOWN_ATTRIBUTES = frozenset({"name", "file", "prefix", "type"})
_GRAVITY_SHARE = 0.9
"""Gravity points along an axis if this share of it does."""

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


class _UnreadableFileError(FormatError):
    """A document names a file that is missing, outside of its folder, or of an unknown kind."""


def read_openrave(path: Path | str, *, scenery_only: bool = False) -> Environment:
    """Return the environment in an OpenRAVE document; a single robot or body is an environment of its own.

    Args:
        path: the document.
        scenery_only: robots are left out without reading their files, and so are bodies whose file cannot be
            read.

    Raises:
        FormatError: it is not an OpenRAVE document, is damaged or, unless only the scenery is read, names a
            document that is missing or outside of its folder.
        MissingExtraError: trimesh, which is needed for a mesh, is not installed.
    """
    path = Path(path)
    root = read_markup(path, _RULES)
    reader = _OpenRaveReader(path.parent.resolve(), scenery_only)
    if root.name == "grxui":
        root.fail("this is a project of OpenHRP3", "`posewright arena import` reads it")
    if root.name not in _ROOTS:
        root.fail(
            f"<{root.name}> is not an OpenRAVE document",
            "the root must be <Environment>, <Robot> or <KinBody>",
        )
    if root.name != "environment":
        reader.add_body(root, (path.resolve(),))
    else:
        reader.add_environment(root, (path.resolve(),))
    return reader.build_environment(root)


@dataclass
class _OpenRaveReader:
    """Reads documents below one folder.

    Attributes:
        folder: the folder; no file outside of it is opened.
        scenery_only: whether robots, and bodies whose file cannot be read, are left out.
        bodies: the bodies so far.
        friction: the sliding friction; None if no document gives one.
        up: the axis against gravity; `Up.AUTO` if no document gives it.
        omissions: what was left out.
        n_bytes: total size of all files opened, each counted as `_MIN_COUNTED_BYTES` at least.
        n_weighed: number of shapes whose masses were added up.
        depth: current nesting of bodies.
        models_folder: where the current body has its meshes, relative to its document; empty for none.
    """

    folder: Path
    scenery_only: bool
    bodies: list[KinBody] = field(default_factory=list)
    friction: float | None = None
    up: Up = Up.AUTO
    omissions: Omissions = field(default_factory=Omissions)
    n_bytes: int = 0
    n_weighed: int = 0
    depth: int = 0
    models_folder: str = ""

    def build_environment(self, root: Element) -> Environment:
        """Return the environment of all bodies.

        Raises:
            FormatError: two bodies have the same name, which in scenery nothing refers to.
        """
        for name, count in Counter(body.name for body in self.bodies if body.name).items():
            if count > 1 and not self.scenery_only:
                root.fail(f"{count} bodies are called {name!r}", "give each a name of its own")
        return Environment(tuple(self.bodies), self.friction, self.omissions.notes(), self.up)

    def add_environment(self, tag: Element, open_paths: tuple[Path, ...]) -> None:
        """Add the content of an <Environment>: first that of the file it names, then its own.

        Args:
            tag: the environment.
            open_paths: its file and the files that include each other up to it.

        Raises:
            FormatError: the content is invalid.
        """
        self.note_attributes(tag)
        if len(open_paths) + self.depth > _MAX_BODY_DEPTH:
            tag.fail("environments are nested too deep", f"at most {_MAX_BODY_DEPTH} levels")
        try:
            included = self.open_included(tag, open_paths)
        except _UnreadableFileError as error:
            if not self.scenery_only:
                raise
            self.omissions.add(f"an environment is left out: {error.message}", error.where)
            included = None
        if included is not None:
            root, path = included
            self.add_root(root, (*open_paths, path), tag)
        for child in tag.children:
            if child.name in ("robot", "kinbody"):
                self.add_body(child, open_paths)
            elif child.name == "environment":
                self.depth += 1
                self.add_environment(child, open_paths)
                self.depth -= 1
            elif child.name == "physicsengine":
                for properties in child.all("odeproperties"):
                    self.add_physics(properties)
            elif child.name not in _UNUSED:
                self.note_ignored(child)

    def add_root(self, root: Element, open_paths: tuple[Path, ...], tag: Element) -> None:
        """Add the root of a file that an <Environment> includes; `tag` includes it."""
        if root.name == "environment":
            self.add_environment(root, open_paths)
        elif root.name in ("robot", "kinbody"):
            self.add_body(root, open_paths)
        else:
            tag.fail(f"the included file is a <{root.name}>", "name a file with an <Environment>")

    def add_physics(self, properties: Element) -> None:
        """Store the friction, and which axis points up, of the properties of a physics engine."""
        friction = properties.number("friction")
        self.friction = self.friction if friction is None else friction
        gravity_tag = properties.last("gravity")
        if gravity_tag is None:
            return
        gravity = np.array(gravity_tag.numbers(3))
        downwards = -gravity / max(float(np.linalg.norm(gravity)), 1e-9)
        if downwards[1] > _GRAVITY_SHARE:
            self.up = Up.Y
        elif downwards[2] > _GRAVITY_SHARE:
            self.up = Up.Z

    def add_body(self, tag: Element, open_paths: tuple[Path, ...]) -> None:
        """Add a body or a robot, or leave it out where only the scenery counts."""
        name = tag.attributes.get("name", "") or tag.attributes.get("file", "") or "without a name"
        if self.scenery_only and tag.name == "robot":
            self.omissions.add(f"the robot {name:.80} is left out: an arena has no robots", tag.where)
            return
        try:
            body = self.read_body(tag, open_paths)
        except _UnreadableFileError as error:
            if not self.scenery_only:
                raise
            self.omissions.add(f"the body {name:.80} is left out: {error.message}", error.where)
            return
        if self.scenery_only and body.is_robot:
            self.omissions.add(f"the robot {name:.80} is left out: an arena has no robots", tag.where)
            return
        self.bodies.append(body)

    def read_included(self, tag: Element, open_paths: tuple[Path, ...]) -> KinBody | None:
        """Return the body in the file of a tag's `file` attribute; None without such an attribute.

        A mesh is a body of one link.

        Args:
            tag: the tag.
            open_paths: the file of the tag and the files that include each other up to it.

        Raises:
            FormatError: the file is missing, includes itself, or has another root.
        """
        name = tag.attributes.get("file", "")
        if Path(name).suffix.lower() in SCENE_SUFFIXES:
            meshes = self.read_meshes(tag, name)
            parts = [part for mesh in meshes for part in connected_parts(mesh, self.omissions)]
            geometry = Geometry(GeometryKind.MESH, np.eye(4), parts=tuple(parts))
            link = RaveLink(
                tag.attributes.get("name", "base"), False, np.eye(4), (geometry,), where=tag.where
            )
            return KinBody("", is_robot=tag.name == "robot", links=(link,))
        included = self.open_included(tag, open_paths)
        if included is None:
            return None
        root, path = included
        if root.name not in ("robot", "kinbody"):
            tag.fail(f"{name!r} is a <{root.name}>", f"name a file with a <{tag.name}>")
        return self.read_body(root, (*open_paths, path))

    def open_included(self, tag: Element, open_paths: tuple[Path, ...]) -> tuple[Element, Path] | None:
        """Return the root element and the path of the file in a tag's `file` attribute; None without one."""
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
        if path.suffix.lower() != ".xml":
            message = f"a body of the kind {path.suffix!r} is not read"
            raise _UnreadableFileError(message, where=tag.where, hint="export it as OpenRAVE XML")
        return read_markup(path, _RULES), path

    def resolve_file(self, tag: Element, name: str) -> Path:
        """Return the path of a file that a document names, and count its size.

        Args:
            tag: the tag that names the file; the name is relative to its document, or to OpenRAVE's data
                folder, for which the folder of the first document stands, or one above it.
            name: the file as it is named.

        Raises:
            FormatError: there is no such file, it is outside of `folder`, or the files are too large.
        """
        folder = self.folder if tag.path is None else tag.path.parent
        plain_name = name.replace("\\", "/")
        try:
            path = (folder / plain_name).resolve()
            exists = path.is_file()
            models_path = (folder / self.models_folder.replace("\\", "/") / plain_name).resolve()
            if not exists and is_file(models_path):
                path = models_path
                exists = True
            if not exists:
                path = self.find_in_data_folder(plain_name) or path
                exists = is_file(path)
        except (OSError, ValueError):  # the name is too long, or has a NUL in it
            tag.fail(f"no file can be called {name[:80]!r}")
        if not path.is_relative_to(self.folder):
            message = f"{name[:200]!r} leads out of the folder"
            raise _UnreadableFileError(message, where=tag.where, hint=f"put it below {self.folder}")
        if not exists:
            message = f"there is no file {name[:200]!r}"
            raise _UnreadableFileError(message, where=tag.where, hint=f"it was looked for at {path}")
        self.n_bytes += max(path.stat().st_size, _MIN_COUNTED_BYTES)
        if self.n_bytes > MAX_SCENE_BYTES:
            tag.fail("too many or too large files", f"at most {MAX_SCENE_BYTES:,} bytes together are read")
        return path

    def find_in_data_folder(self, name: str) -> Path | None:
        """Return the path of a file that is named from the top of OpenRAVE's data folder; None without one.

        The first document lies in that folder, or in one of its folders: `data/table.kinbody.xml` is beside
        a document in `data`.
        """
        parts = Path(name).parts
        candidates = [self.folder / name]
        for number, part in enumerate(parts[:-1]):
            if part == self.folder.name:
                candidates.append(self.folder.joinpath(*parts[number + 1 :]))
        return next((path.resolve() for path in candidates if is_file(path)), None)

    def read_meshes(self, tag: Element, name: str) -> tuple[SceneMesh, ...]:
        """Return the meshes of a file named by <data> or <render>, or by a body."""
        path = self.resolve_file(tag, name)
        if path.suffix.lower() not in SCENE_SUFFIXES:
            message = f"a mesh of the kind {path.suffix!r} is not read"
            raise _UnreadableFileError(
                message, where=tag.where, hint=f"export it as {', '.join(SCENE_SUFFIXES)}"
            )
        try:
            scene = read_scene(path)
        except FormatError as error:
            raise _UnreadableFileError(f"{name!r} cannot be read: {error}", where=tag.where) from error
        for note in scene.notes:
            self.omissions.add(note, None)
        return scene.meshes

    def count_weighed(self, tag: Element, n_shapes: int) -> None:
        """Count shapes whose masses are added up; a link that is defined again and again repeats them."""
        self.n_weighed += n_shapes
        if self.n_weighed > MAX_WEIGHED:
            tag.fail("the masses of too many shapes", f"at most {MAX_WEIGHED:,} are added up in a document")

    def read_body(self, tag: Element, open_paths: tuple[Path, ...]) -> KinBody:
        """Return a body or a robot with everything that it includes."""
        if self.depth >= _MAX_BODY_DEPTH:
            tag.fail("bodies are nested too deep", f"at most {_MAX_BODY_DEPTH} levels")
        self.depth += 1
        outer_models_folder = self.models_folder
        models_tag = tag.last("modelsdir")
        self.models_folder = "" if models_tag is None else models_tag.text
        builder = BodyBuilder(self.read_mesh, self.note_ignored, self.count_weighed)
        try:
            self.add_content(tag, builder, open_paths)
        finally:
            self.depth -= 1
            self.models_folder = outer_models_folder
        name = tag.attributes.get("name", "") or builder.name
        is_robot = tag.name == "robot" or builder.is_robot
        links = builder.build_links(tag)
        return KinBody(name, is_robot, links, joints=tuple(builder.joints), sensors=tuple(builder.sensors))

    def add_content(self, tag: Element, builder: BodyBuilder, open_paths: tuple[Path, ...]) -> None:
        """Add the content of a tag, of the file that it names, and of the bodies inside it to a body."""
        prefix = tag.attributes.get("prefix", "")
        self.note_attributes(tag)
        included = self.read_included(tag, open_paths)
        if included is not None:
            builder.include(included, prefix, tag)
        for child in tag.children:
            if child.name in ("kinbody", "robot"):
                builder.include(self.read_body(child, open_paths), prefix, child)
            elif child.name == "body":
                builder.add_link(child, prefix)
            elif child.name == "mass":
                builder.common_mass = child
            elif child.name in ("joint", "attachedsensor") and self.scenery_only:
                self.omissions.add(f"<{child.name}> is ignored: parts of a field stand still", child.where)
                if child.number("initial"):
                    self.note_ignored(child, "<initial>, with which parts would stand elsewhere,")
            elif child.name == "joint":
                builder.add_joint(child, prefix)
            elif child.name == "attachedsensor":
                builder.add_sensor(child, prefix)
            elif child.name == "jointvalues":
                self.note_ignored(child, "<jointvalues>, with which parts would stand elsewhere,")
            elif child.name not in {*POSE_TAGS, "modelsdir"}:
                self.note_ignored(child)
        builder.move(pose_of(tag), tag)

    def note_ignored(self, tag: Element, description: str = "") -> None:
        """Note that a tag is ignored, as `description` if that tells more than its name."""
        self.omissions.add(f"{description or f'<{tag.name}>'} is ignored", tag.where)

    def note_attributes(self, tag: Element) -> None:
        """Note the attributes of a body or an environment that are not read."""
        for name in sorted(tag.attributes.keys() - _KNOWN_ATTRIBUTES):
            self.omissions.add(f"{name:.40} of <{tag.name}> is ignored", tag.where)

    def read_mesh(self, tag: Element, geometry: Geometry) -> Geometry | None:
        """Return a mesh with the points of its files; None, with a note, if they cannot be read."""
        problems: list[tuple[str, Where | None]] = []
        for source in (tag.last("data", "collision"), tag.last("render")):
            if source is None:
                continue
            name, scale = _file_and_scale(source)
            try:
                meshes = self.read_meshes(source, name)
                parts = [part for mesh in meshes for part in connected_parts(mesh, self.omissions)]
            except _UnreadableFileError as error:
                problems.append((error.message, error.where))
                continue
            for message, where in problems:
                self.omissions.add(f"a mesh is read from <render>: {message}", where)
            return replace(geometry, parts=tuple(part * scale for part in parts))
        if not problems:
            tag.fail("a trimesh without <data>", "write <data>file scale</data>")
        message, where = problems[0]
        self.omissions.add(f"a mesh is left out: {message}", where)
        return None


def _file_and_scale(tag: Element) -> tuple[str, Floats]:
    """Return the file and the scale, `(3,)`, in `cup.wrl 0.01` or `my cup.wrl 1 1 2`."""
    number = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
    text = " ".join(tag.text.split())  # many blanks would make the pattern slow
    match = re.fullmatch(rf"(.*?)((?: {number}){{3}}| {number})?", text)
    if match is None or not match[1]:
        tag.fail("no file is named", f"write <{tag.name}>file.wrl 1.0</{tag.name}>")
    scale = np.array([float(factor) for factor in (match[2] or "1").split()])
    return match[1].strip(), np.broadcast_to(scale, (3,))
