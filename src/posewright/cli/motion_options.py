"""Options that the motion verbs share, and how they open a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from posewright.formats import MotionFile

MotionPath = Annotated[
    Path, typer.Argument(metavar="FILE", help="A motion file; its content tells the format.")
]
Page = Annotated[
    str | None, typer.Option("--page", "-p", metavar="P", help="Name or number of a page; default the first.")
]
OnlyPage = Annotated[
    str | None, typer.Option("--page", "-p", metavar="P", help="Name or number of a page; default all.")
]
RobotName = Annotated[
    str | None,
    typer.Option("--robot", metavar="R", help="The robot; another's motion is carried over."),
]


def open_motion_file(path: Path, robot: str | None) -> MotionFile:
    """Read a motion file, and say on stderr what is odd about it."""
    from posewright.formats import read_motion_file

    return _told(read_motion_file(path, robot=robot))


def open_for_robot(path: Path, robot: str | None) -> MotionFile:
    """Read a motion file as one of `robot`, its motions carried over should it be another's."""
    from posewright.formats import file_for_robot, read_motion_file

    return _told(file_for_robot(read_motion_file(path, robot=robot), robot))


def _told(opened: MotionFile) -> MotionFile:
    from posewright.cli.console import warn

    for warning in opened.warnings:
        warn(f"{opened.path}: {warning}")
    return opened
