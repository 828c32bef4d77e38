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
    Kind,
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
    """Return the names of the gaits that ship for a robot, or for any, in alphabetical order."""
    return _catalogue(robot).names()


def read_gait(name: str | Path, *, robot: Robot | None = None) -> Gait:
    """Read a gait.

    Args:
        name: one of `gait_names()`, or the path of a `*.gait.yaml`.
        robot: who is to walk it; None for the robot the document names.

    Raises:
        DocumentError: the document is not what it should be, or it is for another robot.
        UnknownNameError: there is no such gait, robot, pose, phase table, ...
        InputError: gaits of several robots are called so.
    """
    return read_gait_and_robot(name, robot=robot)[0]


def read_gait_and_robot(name: str | Path, *, robot: Robot | None = None) -> tuple[Gait, Robot]:
    """Read a gait, and return it with the card of the robot that walks it; see `read_gait`."""
    path = Path(name) if is_path(name) else _catalogue(robot).find(name)
    return gait_in(read_text(path), path, robot=robot)


def robot_of(gait: Gait, who: Robot | str | None = None) -> Robot:
    """Return the robot asked for, or the one that a gait names: in its document, where it came from one.

    Raises:
        UnknownNameError: there is no such robot.
        InputError: the gait's document is no longer there, or no longer in order; or this is only a name.
    """
    if isinstance(gait, str | Path):
        raise InputError(f"{str(gait)!r} is the name of a gait, not a gait", hint="read_gait reads it")
    if isinstance(who, Robot):
        return who
    if who is not None or gait.path is None:
        return robot(who or gait.robot)
    return read_gait_and_robot(gait.path)[1]


def gait_in(text: str, path: Path | None = None, *, robot: Robot | None = None) -> tuple[Gait, Robot]:
    """Return the gait that a text tells of, with its robot's card.

    Args:
        text: a gait's document.
        path: where it comes from, for messages, and for a card it names by its path.
        robot: who is to walk it; None for the robot the document names.
    """
    document = parse_document(text, path)
    fields = document.fields(required=REQUIRED, optional=OPTIONAL)
    card = _robot(fields["robot"], robot, path)
    gait = read_record(
        document,
        Gait,
        extra_keys=("gait", "robot", "parameters", "pose"),
        degrees=False,
        name=_name(fields["gait"]),
        robot=card.name,
        parameters=_parameters(fields["parameters"], card),
        pose=_pose(fields, card),
        path=path,
    )
    return gait, card


def _catalogue(robot: Robot | str | None) -> Catalogue:
    """Return the gaits of a robot, or of every one that ships."""
    if isinstance(robot, Robot):
        folders = [] if robot.folder is None else [robot.folder]
        return Catalogue(f"gait of {robot.name}", SUFFIX, lambda: [folder / FOLDER for folder in folders])
    known = [robot_folder(name) for name in robot_names() if robot in (None, name)]
    return Catalogue("gait", SUFFIX, lambda: [folder / FOLDER for folder in known])


def _name(node: Node) -> str:
    name = node.text()
    if not name.strip() or not name.isprintable() or "/" in name or "\\" in name:
        node.fail(f"{name!r} is no name", hint="letters and digits, as in my_trot; no path")
    return name


def _robot(node: Node, card: Robot | None, path: Path | None) -> Robot:
    """Return the card that `robot:` tells of, or the one given, which must be called so; it can walk."""
    found = _card(node, card, path)
    try:
        walking_legs(found)
    except InputError as error:
        node.fail(error.message, hint=error.hint)
    return found


def _card(node: Node, card: Robot | None, path: Path | None) -> Robot:
    name = node.text()
    if card is not None and name == card.name:
        return card
    if is_path(name):
        named = robot((path.parent if path is not None else Path()) / name)
    else:
        named = robot(node.choice("robot", robot_names()))
    if card is not None and named.name != card.name:
        node.fail(f"this gait is for {named.name}", hint=f"it is to be walked by {card.name}")
    return card or named


def _parameters(node: Node, card: Robot) -> GaitParameters:
    parameters = read_parameters(node)
    try:
        timing_of(parameters, card.frame_period_s)
    except InputError as error:
        node.fields()["ascent_pairs"].fail(error.message, hint=error.hint)
    return parameters


def _pose(fields: Mapping[str, Node], card: Robot) -> str:
    if "pose" in fields:
        return fields["pose"].choice("pose", card.poses)
    if Gait.pose not in card.poses:
        fields["robot"].fail(
            f"{card.name} has no pose {Gait.pose!r}", hint=f"say `pose:`, one of {', '.join(card.poses)}"
        )
    return Gait.pose


def read_parameters(node: Node) -> GaitParameters:
    """Read the parameters of a walk, each by its name."""
    found = node.fields(required=tuple(EXPLANATIONS), optional=())
    return GaitParameters(**{name: _READERS[EXPLANATIONS[name].kind](entry) for name, entry in found.items()})


def _fore_hind(node: Node) -> ForeHind:
    explanation = _explanation_of(node)
    if not isinstance(node.value, dict):
        both = _value(node, explanation)
        return ForeHind(both, both)
    pair = node.fields(required=tuple(ENDS), optional=())
    return ForeHind(_value(pair["fore"], explanation), _value(pair["hind"], explanation))


def _read_points(node: Node) -> dict[str, Point]:
    explanation = _explanation_of(node)
    points: dict[str, Point] = {}
    for name, entry in node.fields(optional=(*ENDS, *FEET)).items():
        for foot, point in _placed(name, _point(entry, explanation)):
            if foot in points:
                entry.fail(f"{foot} stands here twice", hint=_POINTS_HINT)
            points[foot] = point
    missing = [foot for foot in FEET if foot not in points]
    if missing:
        node.fail(f"no point for {', '.join(missing)}", hint=_POINTS_HINT)
    return points


def _placed(name: str, point: Point) -> Iterator[tuple[str, Point]]:
    """Yield the feet that a name stands for, each with its point; a pair's stands left and right."""
    if name in FEET:
        yield name, point
        return
    left, right = ENDS[name]
    x, y, z = point
    yield left, (x, y, z)
    yield right, (x, -y, z)


def _point(node: Node, explanation: Explanation) -> Point:
    entries = node.items()
    if len(entries) != 3:
        node.fail(f"expected three numbers, found {len(entries)}", hint="[x, y, z] in metres")
    x, y, z = (_value(entry, explanation) for entry in entries)
    return x, y, z


def _value(node: Node, explanation: Explanation) -> float:
    """Return a number within its bounds, or fail with the range in the unit it has."""
    number = node.number()
    number = node.integer() if explanation.is_whole else number
    if not explanation.low <= number <= explanation.high:
        node.fail(f"{number:g} is out of range", hint=f"the range is {explanation.range_text}")
    return number


def _explanation_of(node: Node) -> Explanation:
    return EXPLANATIONS[node.trail.rpartition(".")[2]]


_READERS: Mapping[Kind, Callable[[Node], Any]] = {  # Any: a parameter's kind says of which type it is
    Kind.ONE: lambda node: _value(node, _explanation_of(node)),
    Kind.FORE_HIND: _fore_hind,
    Kind.POINTS: _read_points,
}
