"""Options that several verbs have: each is described once, and means the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, and nothing else, to stdout.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here instead of to stdout.")
]
Plot = Annotated[Path | None, typer.Option(help="Draw a picture (png, svg or pdf).")]
Video = Annotated[Path | None, typer.Option(help="Make a film (mp4, mkv or webm).")]
Camera = Annotated[str, typer.Option(help="Who films: field, top, chase, side, or a camera of the robot.")]
