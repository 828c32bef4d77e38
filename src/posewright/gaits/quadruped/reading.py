"""Gaits as native documents: `*.gait.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from posewright.documents import Catalogue, Node, is_path, parse_document, read_record, read_text
from posewright.errors import InputError
from posewright.gaits.quadruped.gait import Gait
from posewright.gaits.quadruped.parameters import (
    EXPLANATIONS,
    Explanation,
    ForeHind,
    GaitParameters,
    ParameterKind,
    Point,
)
from posewright.gaits.quadruped.phases import ENDS, FEET, walking_legs
from posewright.gaits.quadruped.timing import timing_of
from posewright.robots import Robot, robot, robot_folder, robot_names

FOLDER = "gaits"
SUFFIX = ".gait.yaml"

REQUIRED = ("gait", "robot", "phases", "parameters")
OPTIONAL = ("description", "source", "interpolation", "pose", "travel_gain", "trim")

_POINTS_HINT = "{fore: [x, y, z], hind: [x, y, z]}, y outwards, or a point of each foot"


def gait_names(robot: Robot | str | None = None) -> tuple[str, ...]:
    """Return the names of the shipped gaits of a robot, or of all robots, in alphabetical order."""
    return _catalogue(robot).names()


def read_gait(name: str | Path, *, robot: Robot | None = None) -> Gait:
    """Read a gait.

    Args:
        name: one of `gait_names()`, or the path of a `*.gait.yaml`.
        robot: the robot that is to walk; default the robot the document names.

    Raises:
        DocumentError: the document is invalid, or it is for another robot.
        UnknownNameError: there is no such gait, robot, pose, phase table, ...
        InputError: gaits of several robots have this name.
    """
    gait, _ = read_gait_and_robot(name, robot=robot)
    return gait


def read_gait_and_robot(name: str | Path, *, robot: Robot | None = None) -> tuple[Gait, Robot]:
    """Read a gait, and return it with the card of the robot that walks it; see `read_gait`."""
    path = Path(name) if is_path(name) else _catalogue(robot).find(name)
    return parse_gait(read_text(path), path, robot=robot)


def robot_of_gait(gait: Gait, robot_or_name: Robot | str | None = None) -> Robot:
    """Return the given robot, or the one that a gait names, read as in the gait's document if it has one.

    Raises:
        UnknownNameError: there is no such robot.
        InputError: the gait's document is missing or invalid by now; or `gait` is only a name.
    """
    if isinstance(gait, str | Path):
        raise InputError(f"{str(gait)!r} is the name of a gait, not a gait", hint="read_gait reads it")
    if isinstance(robot_or_name, Robot):
        return robot_or_name
    if robot_or_name is not None or gait.path is None:
        return robot(robot_or_name or gait.robot)
    _, gait_robot = read_gait_and_robot(gait.path)
    return gait_robot


def parse_gait(text: str, path: Path | None = None, *, robot: Robot | None = None) -> tuple[Gait, Robot]:
    """Return the gait of a document's text, with its robot's card.

    Args:
        text: a gait's document.
        path: the path of the document, for messages, and for a card it names by its path.
        robot: the robot that is to walk; default the robot the document names.
    """
    document = parse_document(text, path)
    fields = document.fields(required=REQUIRED, optional=OPTIONAL)
    walking_robot = _read_robot(fields["robot"], robot, path)
    gait = read_record(
        document,
        Gait,
        extra_keys=("gait", "robot", "parameters", "pose"),
        degrees=False,
        name=_read_name(fields["gait"]),
        robot=walking_robot.name,
        parameters=_read_valid_parameters(fields["parameters"], walking_robot),
        pose=_read_pose(fields, walking_robot),
        path=path,
    )
    return gait, walking_robot


def _catalogue(robot: Robot | str | None) -> Catalogue:
    """Return the catalogue of the gaits of a robot, or of all shipped robots."""
    if isinstance(robot, Robot):
        folders = [] if robot.folder is None else [robot.folder]
        owner = f"of {robot.name}"
    else:
        folders = [robot_folder(name) for name in robot_names() if robot in (None, name)]
        owner = ""
    return Catalogue("gait", SUFFIX, folders=lambda: [folder / FOLDER for folder in folders], owner=owner)


def _read_name(node: Node) -> str:
    name = node.text()
    if not name.strip() or not name.isprintable() or "/" in name or "\\" in name:
        node.fail(f"{name!r} is not a valid name", hint="letters and digits, as in my_trot; no path")
    return name


def _read_robot(node: Node, requested_robot: Robot | None, path: Path | None) -> Robot:
    """Return the robot that walks, which the entry `robot:` names; it must have four legs.

    Args:
        node: the entry `robot:`, a name or the path of a card.
        requested_robot: the robot that is to walk; None for the one that the gait names.
        path: the gait's document, to whose folder the path of a card is relative.
    """
    walking_robot = _find_robot(node, requested_robot, path)
    try:
        walking_legs(walking_robot)
    except InputError as error:
        node.fail(error.message, hint=error.hint)
    return walking_robot


def _find_robot(node: Node, requested_robot: Robot | None, path: Path | None) -> Robot:
    """Return the robot that a gait names; raise an error if it is not the one that is to walk.

    Args:
        node: the entry `robot:`, a name or the path of a card.
        requested_robot: the robot that is to walk; None for the one that the gait names.
        path: the gait's document, to whose folder the path of a card is relative.
    """
    name = node.text()
    if requested_robot is not None and name == requested_robot.name:
        return requested_robot
    if is_path(name):
        named_robot = robot((path.parent if path is not None else Path()) / name)
    else:
        named_robot = robot(node.choice("robot", robot_names()))
    if requested_robot is not None and named_robot.name != requested_robot.name:
        node.fail(
            f"this gait is for {named_robot.name}", hint=f"the robot that walks is {requested_robot.name}"
        )
    return requested_robot or named_robot


def _read_valid_parameters(node: Node, walking_robot: Robot) -> GaitParameters:
    """Return the parameters, or raise a DocumentError if their times do not fit the robot's frames."""
    parameters = read_parameters(node)
    try:
        timing_of(parameters, walking_robot.frame_period_s)
    except InputError as error:
        node.fields()["ascent_pairs"].fail(error.message, hint=error.hint)
    return parameters


def _read_pose(fields: Mapping[str, Node], walking_robot: Robot) -> str:
    """Return the name of the gait's pose, or the default pose if the robot has it."""
    if "pose" in fields:
        return fields["pose"].choice("pose", walking_robot.poses)
    if Gait.pose not in walking_robot.poses:
        fields["robot"].fail(
            f"{walking_robot.name} has no pose {Gait.pose!r}",
            hint=f"add `pose:`, one of {', '.join(walking_robot.poses)}",
        )
    return Gait.pose


def read_parameters(node: Node) -> GaitParameters:
    """Read the parameters of a walk, each by its name."""
    entries = node.fields(required=tuple(EXPLANATIONS), optional=())
    return GaitParameters(
        **{name: _READERS[EXPLANATIONS[name].kind](entry) for name, entry in entries.items()}
    )


def _read_fore_hind(node: Node) -> ForeHind:
    """Return the values of fore and hind feet; a single number is the value of both."""
    explanation = _explanation_of(node)
    if not isinstance(node.value, dict):
        value = _read_value(node, explanation)
        return ForeHind(value, value)
    pair = node.fields(required=tuple(ENDS), optional=())
    return ForeHind(_read_value(pair["fore"], explanation), _read_value(pair["hind"], explanation))


def _read_points(node: Node) -> dict[str, Point]:
    """Return the equilibrium point of each foot; `fore` and `hind` represent two feet."""
    explanation = _explanation_of(node)
    points: dict[str, Point] = {}
    for name, entry in node.fields(optional=(*ENDS, *FEET)).items():
        for foot, point in _feet_with_points(name, _read_point(entry, explanation)):
            if foot in points:
                entry.fail(f"{foot} has two points", hint=_POINTS_HINT)
            points[foot] = point
    missing = [foot for foot in FEET if foot not in points]
    if missing:
        node.fail(f"no point for {', '.join(missing)}", hint=_POINTS_HINT)
    return points


def _feet_with_points(name: str, point: Point) -> Iterator[tuple[str, Point]]:
    """Yield the feet that a name represents, each with its point, mirrored for the right foot of a pair."""
    if name in FEET:
        yield name, point
        return
    left, right = ENDS[name]
    x, y, z = point
    yield left, (x, y, z)
    yield right, (x, -y, z)


def _read_point(node: Node, explanation: Explanation) -> Point:
    """Return the point of an entry `[x, y, z]`."""
    entries = node.items()
    if len(entries) != len("xyz"):
        node.fail(f"expected three numbers, found {len(entries)}", hint="[x, y, z] in metres")
    x, y, z = (_read_value(entry, explanation) for entry in entries)
    return x, y, z


def _read_value(node: Node, explanation: Explanation) -> float:
    """Return a number within the parameter's bounds, or fail."""
    number = node.number()
    number = node.integer() if explanation.is_whole else number
    if not explanation.low <= number <= explanation.high:
        node.fail(f"{number:g} is out of range", hint=f"the range is {explanation.range_text}")
    return number


def _explanation_of(node: Node) -> Explanation:
    return EXPLANATIONS[node.trail.rpartition(".")[2]]


_READERS: Mapping[
    ParameterKind, Callable[[Node], Any]
] = {  # Any: a parameter's kind says of which type it is
    ParameterKind.SINGLE: lambda node: _read_value(node, _explanation_of(node)),
    ParameterKind.FORE_HIND: _read_fore_hind,
    ParameterKind.POINTS: _read_points,
}
