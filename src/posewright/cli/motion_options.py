"""Options that the motion verbs share, and how they open a file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from posewright import formats
from posewright.cli.console import print_note, print_warning
from posewright.cli.options import argument, option

MotionPath = Annotated[Path, argument("FILE", "A motion file; its content tells the format.")]
Page = Annotated[
    str | None, option("--page -p P", "Name or number of a page (one motion of the file); default the first.")
]
OnlyPage = Annotated[str | None, option("--page -p P", "Name or number of a page; default all.")]
RobotName = Annotated[
    str | None, option("--robot R", "The robot to play it; another robot's motion is carried over.")
]

Rules = Annotated[
    str,
    option(
        "--rules NAME",
        "hardware: what joints and servos can do; or a team's: eagle_knights; or a *.rules.yaml.",
    ),
]
Verbose = Annotated[bool, option("--verbose -v", "Tell every finding, however many.")]
Physics = Annotated[
    bool, option("--physics", "Play it under gravity: falls, tilt, self-contact, slip, lag, weak servos.")
]
PutDown = Annotated[
    tuple[float, float] | None,
    option(
        "--attitude ROLL PITCH",
        "How the base is turned when the robot is put down, in degrees: 0 90 on its face, 0 -90 on its "
        "back; default as the file says, else standing.",
    ),
]
Friction = Annotated[
    float | None,
    option("--friction MU", "Friction of the floor: 0.2 is polished, 1 is carpet; default the model's."),
]


def open_motion_file(path: Path, robot: str | None) -> formats.MotionFile:
    """Read a motion file, and say on stderr what is odd about it."""
    return _told(formats.read_motion_file(path, robot=robot))


def open_to_carry(path: Path, robot: str | None) -> formats.MotionFile:
    """Do the same with a file that is then carried over to `robot`, should it be another's."""
    return _told(formats.read_to_carry(path, robot))


def open_for_robot(path: Path, robot: str | None) -> formats.MotionFile:
    """Read a motion file as one of `robot`, its motions carried over should it be another's."""
    return _told(formats.carry_file_to_robot(formats.read_motion_file(path, robot=robot), robot))


def _told(opened: formats.MotionFile) -> formats.MotionFile:
    for warning in opened.warnings:
        print_warning(f"{opened.path}: {warning}")
    if opened.assumed is not None:
        print_note(f"{opened.path}: assumed {opened.assumed}; say --robot for another")
    return opened


def radians(attitude_deg: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return an attitude in radians."""
    return None if attitude_deg is None else (math.radians(attitude_deg[0]), math.radians(attitude_deg[1]))
