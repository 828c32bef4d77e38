"""Gaits as native documents: `*.gait.yaml`."""

from __future__ import annotations

from pathlib import Path

from posewright.documents import Catalogue, is_path, parse_document, read_text
from posewright.errors import InputError
from posewright.gaits.biped.reading import parse_biped_gait
from posewright.gaits.entries import find_walking_robot
from posewright.gaits.gait import Gait, ParametricGait
from posewright.gaits.quadruped.reading import parse_quadruped_gait
from posewright.robots import Robot, robot, robot_folder, robot_names

FOLDER = "gaits"
SUFFIX = ".gait.yaml"


def gait_names(robot: Robot | str | None = None) -> tuple[str, ...]:
    """Return the names of the shipped gaits of a robot, or of all robots, in alphabetical order."""
    return _catalogue(robot).names()


def read_gait(name: str | Path, *, robot: Robot | None = None) -> ParametricGait:
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


def read_gait_and_robot(name: str | Path, *, robot: Robot | None = None) -> tuple[ParametricGait, Robot]:
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


def parse_gait(
    text: str, path: Path | None = None, *, robot: Robot | None = None
) -> tuple[ParametricGait, Robot]:
    """Return the gait of a document's text, with its robot's card.

    Args:
        text: a gait's document.
        path: the path of the document, for messages, and for a card it names by its path.
        robot: the robot that is to walk; default the robot the document names.
    """
    document = parse_document(text, path)
    fields = document.fields(required=("gait", "robot", "parameters"))
    walking_robot = find_walking_robot(fields["robot"], robot, path)
    if walking_robot.biped is None and not walking_robot.legs:
        fields["robot"].fail(
            f"the card of {walking_robot.name} describes no legs",
            hint="two legs belong in its block `biped:`, four in its block `legs:`",
        )
    parse = parse_quadruped_gait if walking_robot.biped is None else parse_biped_gait
    return parse(document, walking_robot, path), walking_robot


def _catalogue(robot: Robot | str | None) -> Catalogue:
    """Return the catalogue of the gaits of a robot, or of all shipped robots."""
    if isinstance(robot, Robot):
        folders = [] if robot.folder is None else [robot.folder]
        owner = f"of {robot.name}"
    else:
        folders = [robot_folder(name) for name in robot_names() if robot in (None, name)]
        owner = ""
    return Catalogue("gait", SUFFIX, folders=lambda: [folder / FOLDER for folder in folders], owner=owner)
