"""Documents of quadrupeds' gaits, and their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from posewright.documents import Node, read_record
from posewright.errors import InputError
from posewright.gaits.entries import read_gait_name, read_pose, read_value
from posewright.gaits.explanation import Explanation, ParameterKind
from posewright.gaits.quadruped.gait import QuadrupedGait
from posewright.gaits.quadruped.parameters import EXPLANATIONS, ForeHind, GaitParameters, Point
from posewright.gaits.quadruped.phases import ENDS, FEET, walking_legs
from posewright.gaits.quadruped.timing import timing_of
from posewright.robots import Robot

REQUIRED = ("gait", "robot", "phases", "parameters")
OPTIONAL = ("description", "source", "interpolation", "pose", "travel_gain", "trim", "feedback")

_POINTS_HINT = "{fore: [x, y, z], hind: [x, y, z]}, y outwards, or a point of each foot"


def parse_quadruped_gait(document: Node, robot: Robot, path: Path | None) -> QuadrupedGait:
    """Return the gait of a document.

    Args:
        document: the document.
        robot: the robot that walks.
        path: the path of the document; None if it has none.

    Raises:
        DocumentError: the document is invalid, or the robot has not four legs.
    """
    fields = document.fields(required=REQUIRED, optional=OPTIONAL)
    try:
        walking_legs(robot)
    except InputError as error:
        fields["robot"].fail(error.message, hint=error.hint)
    if "feedback" in fields and "foot_levelling" in fields["feedback"].fields():
        levelling = fields["feedback"].fields()["foot_levelling"]
        if levelling.number() != 0.0:
            levelling.fail("only a walk on two legs levels its feet", hint="0, or leave it out")
    return read_record(
        document,
        QuadrupedGait,
        extra_keys=("gait", "robot", "parameters", "pose"),
        degrees=False,
        name=read_gait_name(fields["gait"]),
        robot=robot.name,
        parameters=_read_valid_parameters(fields["parameters"], robot),
        pose=read_pose(fields, robot, QuadrupedGait.pose),
        path=path,
    )


def _read_valid_parameters(node: Node, walking_robot: Robot) -> GaitParameters:
    """Return the parameters, or raise a DocumentError if their times do not fit the robot's frames."""
    parameters = read_parameters(node)
    try:
        timing_of(parameters, walking_robot.frame_period_s)
    except InputError as error:
        node.fields()["ascent_pairs"].fail(error.message, hint=error.hint)
    return parameters


def read_parameters(node: Node) -> GaitParameters:
    """Read the parameters of a walk, each by its name."""
    entries = node.fields(required=tuple(EXPLANATIONS), optional=())
    return GaitParameters(
        **{name: _READERS[EXPLANATIONS[name].kind](entry) for name, entry in entries.items()}
    )


def _read_fore_hind(node: Node) -> ForeHind:
    """Return the values of a parameter for fore and hind feet; a single number is the value of both.

    Its explanation holds its unit and range, which the values are checked against.
    """
    explanation = _explanation_of(node)
    if not isinstance(node.value, dict):
        value = read_value(node, explanation)
        return ForeHind(value, value)
    pair = node.fields(required=tuple(ENDS), optional=())
    return ForeHind(read_value(pair["fore"], explanation), read_value(pair["hind"], explanation))


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
    x, y, z = (read_value(entry, explanation) for entry in entries)
    return x, y, z


def _explanation_of(node: Node) -> Explanation:
    return EXPLANATIONS[node.trail.rpartition(".")[2]]


_READERS: Mapping[
    ParameterKind, Callable[[Node], Any]
] = {  # Any: a parameter's kind says of which type it is
    ParameterKind.SINGLE: lambda node: read_value(node, _explanation_of(node)),
    ParameterKind.FORE_HIND: _read_fore_hind,
    ParameterKind.POINTS: _read_points,
}
