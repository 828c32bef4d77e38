"""Reading projects of OpenHRP3: XML with the root `<grxui>`, written by its user interface GrxUI."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posewright.documents.markup import Element, read_markup
from posewright.errors import FormatError
from posewright.formats.projects.project import MAX_BODIES, MAX_POSE_NUMBER, Project, ProjectBody
from posewright.formats.scenes.mesh import turn_about
from posewright.formats.scenes.vrml import RootPose

_ROOT = "grxui"
_MODEL_CLASS = "GrxModelItem"
_PAIR_CLASS = "GrxCollisionPairItem"
_VELOCITIES = ("velocity", "angularVelocity")
_CONTROLLER_PROPERTIES = ("controller", "rtcName")
"""Properties of a model that name the program that moves it."""


def is_openhrp_project(path: Path) -> bool:
    """Return whether an XML file is a project of OpenHRP3; raise FormatError if it is no XML."""
    return read_markup(path).name == _ROOT


def read_openhrp_project(path: Path) -> Project:
    """Return the bodies of a project, with their poses as it gives them.

    Raises:
        FormatError: it is no project of OpenHRP3, or a pose does not consist of numbers.
    """
    root = read_markup(path)
    if root.name != _ROOT:
        root.fail(f"<{root.name}> is not a project of OpenHRP3", f"the root must be <{_ROOT}>")
    project = Project(path)
    modes = root.all("mode")
    if not modes:
        root.fail("the project has no <mode>", 'its models are in <mode name="Simulation">')
    # a mode has models of its own, and the user interface shows one mode at a time
    shown_mode = next((mode for mode in modes if any(map(_is_model, mode.children))), modes[0])
    for child in root.children:
        if child.name != "mode":
            project.omissions.add(f"<{child.name:.80}> is left out", child.where)
    for mode in modes:
        if mode is not shown_mode:
            project.omissions.add(f"the mode {mode.get('name') or ''!s:.80} is left out", mode.where)
    for item in shown_mode.children:
        if _is_model(item):
            _add_model(item, project)
        elif _class_of(item) == _PAIR_CLASS:
            _add_friction(item, project)
        else:
            project.omissions.add(f"{_class_of(item):.80} is left out", item.where)
    if len(project.bodies) > MAX_BODIES:
        root.fail("too many models", f"at most {MAX_BODIES:,} are read")
    return project


def _class_of(item: Element) -> str:
    """Return the class of an item without its package, or its tag."""
    return item.attributes.get("class", item.name).rpartition(".")[2]


def _is_model(item: Element) -> bool:
    return _class_of(item) == _MODEL_CLASS


def _properties_of(item: Element) -> dict[str, Element]:
    """Return the `<property>` elements of an item by their names; the last one of a name counts."""
    return {element.required("name"): element for element in item.all("property")}


def _add_friction(pair: Element, project: Project) -> None:
    """Add the sliding friction of a pair of bodies that may touch each other."""
    friction = _properties_of(pair).get("slidingFriction")
    if friction is None:
        return
    try:
        project.frictions.add(friction.attribute_number("value"))
    except FormatError as error:
        project.omissions.add(f"a friction is not read: {error.message}", error.where)


def _add_model(item: Element, project: Project) -> None:
    """Add a body with the poses of its joints; note what is not read of it."""
    name = item.attributes.get("name", "")
    if item.get("select") == "false":
        project.omissions.add(f"the model {name:.80} is left out: it is not selected", item.where)
        return
    properties = _properties_of(item)
    translations: dict[str, Element] = {}
    rotations: dict[str, Element] = {}
    for key, element in properties.items():
        joint, _, quantity = key.rpartition(".")
        if quantity == "translation":
            translations[joint] = element
        elif quantity == "rotation":
            rotations[joint] = element
        elif quantity == "angle" and _is_moved(element):
            message = (
                f"the angles of joints of {name:.80}, with which parts would stand elsewhere, are ignored"
            )
            project.omissions.add(message, element.where)
        elif quantity in _VELOCITIES and _is_moved(element):
            project.omissions.add(f"the {quantity} of {name:.80} is ignored", element.where)
    poses: list[RootPose] = []
    for joint in translations.keys() | rotations.keys():
        pose = RootPose(joint)
        if joint in translations:
            numbers = _read_pose_numbers(translations[joint], 3)
            pose = RootPose(joint, translation=np.array(numbers))
        if joint in rotations:
            *axis, angle_rad = _read_pose_numbers(rotations[joint], 4)
            rotation = turn_about(np.array(axis), angle_rad)
            pose = RootPose(joint, translation=pose.translation, rotation=rotation)
        poses.append(pose)
    project.bodies.append(
        ProjectBody(
            name=name,
            model=item.attributes.get("url", ""),
            where=item.where,
            is_controlled=_is_controlled(properties),
            is_called_robot=_is_called_robot(properties),
            poses=tuple(sorted(poses, key=lambda pose: pose.joint or "")),
        )
    )


def _is_moved(element: Element) -> bool:
    """Return whether an angle or a velocity is something else than zeros."""
    for word in element.attributes.get("value", "").split():
        try:
            is_zero = float(word) == 0.0
        except ValueError:
            is_zero = False
        if not is_zero:
            return True
    return False


def _read_pose_numbers(element: Element, count: int) -> tuple[float, ...]:
    """Return the numbers of a translation or rotation; raise FormatError if one is too large."""
    numbers = element.attribute_numbers("value", count)
    if any(abs(number) > MAX_POSE_NUMBER for number in numbers):
        element.fail("a pose with a number that is too large", f"write numbers up to {MAX_POSE_NUMBER:g}")
    return numbers


def _is_controlled(properties: dict[str, Element]) -> bool:
    """Return whether a model has a controller."""
    return any(
        properties[key].attributes.get("value", "") for key in _CONTROLLER_PROPERTIES if key in properties
    )


def _is_called_robot(properties: dict[str, Element]) -> bool | None:
    """Return whether the project calls a model a robot; None if it does not say."""
    return properties["isRobot"].get("value") == "true" if "isRobot" in properties else None
