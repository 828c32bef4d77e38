"""Options shared by the motion verbs, and the functions that open a motion file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from posewright import formats
from posewright.cli.console import print_note, print_warning
from posewright.cli.options import argument, option

MotionPath = Annotated[Path, argument("FILE", "A motion file; the format is detected from its content.")]
Page = Annotated[
    str | None,
    option("--page -p P", "Name or number of a page, which is one motion of the file. Default: the first."),
]
OnlyPage = Annotated[
    str | None,
    option("--page -p P", "Name or number of a page, which is one motion of the file. Default: all."),
]
RobotName = Annotated[
    str | None,
    option("--robot R", "The robot that plays the motion; a motion of another robot is converted for it."),
]

Rules = Annotated[
    str,
    option(
        "--rules NAME",
        "hardware: limits of joints and servos; eagle_knights: rules of a contest team; or a *.rules.yaml.",
    ),
]
Verbose = Annotated[bool, option("--verbose -v", "List all findings instead of the first few.")]
Physics = Annotated[
    bool,
    option(
        "--physics", "Also play the motion under gravity: falls, tilt, self-contact, slip, lag, weak servos."
    ),
]
Attitude = Annotated[
    tuple[float, float] | None,
    option(
        "--attitude ROLL PITCH",
        "Roll and pitch of the robot at the start, in degrees: 0 90 lies on its face, 0 -90 on its back. "
        "Default: as stated in the file, else upright.",
    ),
]
Friction = Annotated[
    float | None,
    option(
        "--friction MU", "Friction of the floor: 0.2 is polished, 1 is carpet. Default: that of the model."
    ),
]


def open_unconverted(path: Path, robot: str | None) -> formats.MotionFile:
    """Read a motion file that is later converted for `robot`; print its warnings to stderr."""
    file = formats.read_to_carry(path, robot)
    _print_warnings(file)
    return file


def open_for_robot(path: Path, robot: str | None) -> formats.MotionFile:
    """Read a motion file and convert its motions for `robot`; print its warnings to stderr."""
    file = formats.retarget_file_to_robot(formats.read_motion_file(path, robot=robot), robot)
    _print_warnings(file)
    return file


def _print_warnings(file: formats.MotionFile) -> None:
    for warning in file.warnings:
        print_warning(f"{file.path}: {warning}")
    if file.assumed_robot is not None:
        print_note(f"{file.path}: assumed {file.assumed_robot}; choose another robot with --robot")


def to_radians(attitude_deg: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return roll and pitch in radians; None for None."""
    if attitude_deg is None:
        return None
    roll_deg, pitch_deg = attitude_deg
    return math.radians(roll_deg), math.radians(pitch_deg)
