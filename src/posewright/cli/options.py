"""Options that several verbs have: each is described once, and means the same everywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from posewright.errors import OutputError

AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, and nothing else, to stdout.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here instead of to stdout.")
]
Plot = Annotated[Path | None, typer.Option(help="Draw a picture (png, svg or pdf).")]
Video = Annotated[Path | None, typer.Option(help="Make a film (mp4, mkv or webm).")]
Camera = Annotated[
    str | None,
    typer.Option(
        help="field, top, chase, side, front, or a camera of the robot; default field, or side without one."
    ),
]


def refuse_overwriting(output: Path | None, *inputs: str | Path | None) -> None:
    """Refuse to write a result over the very file it is made from.

    Raises:
        OutputError: `output` is one of the `inputs`, under whatever name.
    """
    if output is None or not os.path.exists(output):  # noqa: PTH110 -- says no where Path raises: a long name
        return
    for given in inputs:
        if given is not None and os.path.exists(given) and output.samefile(given):  # noqa: PTH110 -- as above
            raise OutputError.at(output, "this is the file that is read; choose another name")
