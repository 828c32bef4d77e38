"""Reading projects of Choreonoid (`.cnoid`): YAML with a tree of items."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from posewright.arrays import Floats
from posewright.documents import Node, parse_document, read_bounded
from posewright.errors import FormatError, Where
from posewright.formats.projects.project import MAX_BODIES, MAX_POSE_NUMBER, Project, ProjectBody
from posewright.formats.scenes.vrml import RootPose

MAX_PROJECT_BYTES = 4_000_000
_BODY_CLASS = "BodyItem"
_GROUP_CLASSES = frozenset({"RootItem", "WorldItem", "GroupItem", "FolderItem"})
_MODEL_KEYS = ("modelFile", "file")
"""The file of a model, in older and newer projects."""

_STATIC_KEYS = ("staticModel", "isStaticModel")
_ANGLE_KEYS = ("jointPositions", "jointDisplacements")


def read_choreonoid_project(path: Path) -> Project:
    """Return the bodies of a project, with their poses as it gives them.

    Raises:
        PosewrightError: it is no project of Choreonoid, or a pose does not consist of numbers.
    """
    text = read_bounded(path, MAX_PROJECT_BYTES).decode("utf-8-sig", errors="replace")
    document = parse_document(text, path).value
    root_item = document.get("items")
    if not isinstance(root_item, Mapping):
        hint = "its items are under `items`"
        raise FormatError("this is not a project of Choreonoid", where=Where(path), hint=hint)
    project = Project(path)
    _add_item(root_item, project)
    if "views" in document:
        project.omissions.add("the views are left out", Where(path))
    if len(project.bodies) > MAX_BODIES:
        raise FormatError("too many bodies", where=Where(path), hint=f"at most {MAX_BODIES:,} are read")
    return project


def _add_item(item: Mapping[str, object], project: Project) -> None:
    """Add an item and those inside it; note the items that are not bodies."""
    kind = str(item.get("class", ""))
    children = _children_of(item)
    if kind == _BODY_CLASS:
        _add_body(item, children, project)
        return
    if kind not in _GROUP_CLASSES:
        project.omissions.add(f"{kind or 'an item'!s:.80} is left out", _where_of(item, project.path))
    for child in children:
        _add_item(child, project)


def _where_of(item: Mapping[str, object], path: Path) -> Where:
    """Return the place of an item: its file, and the line of its class or name."""
    key = "name" if "name" in item else "class"
    return Where(path, Node(item, path).where_of(key).line)


def _children_of(item: Mapping[str, object]) -> list[Mapping[str, object]]:
    children = item.get("children")
    if not isinstance(children, list):
        return []
    return [child for child in children if isinstance(child, Mapping)]


def _add_body(item: Mapping[str, object], children: list[Mapping[str, object]], project: Project) -> None:
    """Add a body, which is a robot if there is a controller inside it; note what is not read of it."""
    name = str(item.get("name", ""))
    data = item.get("data")
    if not isinstance(data, Mapping):
        data = {}
    where = _where_of(item, project.path)
    child_classes = [str(child.get("class", "")) for child in children]
    is_controlled = any("Controller" in kind or "RTC" in kind for kind in child_classes)
    is_static = any(data.get(key) is True for key in _STATIC_KEYS)
    if any(_has_moved_joints(data.get(key)) for key in _ANGLE_KEYS):
        message = f"the angles of joints of {name:.80}, with which parts would stand elsewhere, are ignored"
        project.omissions.add(message, where)
    if not is_controlled:
        for kind in child_classes:
            project.omissions.add(f"{kind or 'an item'!s:.80} of {name:.80} is left out", where)
    translation = _read_numbers(data.get("rootPosition"), 3, f"rootPosition of {name}", where)
    attitude = _read_numbers(data.get("rootAttitude"), 9, f"rootAttitude of {name}", where)
    rotation = None if attitude is None else attitude.reshape(3, 3)
    if rotation is not None and not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-3):
        message = f"rootAttitude of {name:.80} is no rotation"
        raise FormatError(message, where=where, hint="write the rows of a rotation matrix")
    model = next((str(data[key]) for key in _MODEL_KEYS if data.get(key)), "")
    project.bodies.append(
        ProjectBody(
            name=name,
            model=model,
            where=where,
            is_controlled=is_controlled,
            is_called_robot=False if is_static else None,
            poses=(RootPose(None, translation, rotation),),
        )
    )


def _has_moved_joints(angles: object) -> bool:
    return isinstance(angles, list) and any(isinstance(angle, int | float) and angle != 0 for angle in angles)


def _read_numbers(value: object, count: int, name: str, where: Where) -> Floats | None:
    """Return the `count` numbers of a list, None without a list; raise FormatError for anything else."""
    if value is None:
        return None
    numbers = value if isinstance(value, list) else []
    are_numbers = all(
        isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= MAX_POSE_NUMBER
        for number in numbers
    )
    if len(numbers) != count or not are_numbers:
        raise FormatError(f"{name:.80} does not have {count} numbers", where=where)
    return np.array(numbers, dtype=np.float64)
