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
    str | None, typer.Option("--robot", metavar="R", help="The robot, where the file does not say.")
]


def open_motion_file(path: Path, robot: str | None) -> MotionFile:
    """Read a motion file, and say on stderr what is odd about it."""
    from posewright.cli.console import warn
    from posewright.formats import read_motion_file

    opened = read_motion_file(path, robot=robot)
    for warning in opened.warnings:
        warn(f"{path}: {warning}")
    return opened
