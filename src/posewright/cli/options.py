"""Options that several verbs have: each is described once, and means the same everywhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from posewright.errors import InputError, OutputError, Where

AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, and nothing else, to stdout.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here instead of to stdout.")
]
Plot = Annotated[Path | None, typer.Option(help="Draw a picture (png, svg or pdf).")]
Record = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a recording (MCAP) for replay, judge and evaluate.")
]
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


def record_paths(path: Path, names: Sequence[str]) -> list[Path]:
    """Return where each of several recordings goes: `walk.mcap` is `walk.trot.mcap` and `walk.crawl.mcap`."""
    if len(names) == 1:
        return [path]
    told = [name if names.count(name) == 1 else f"{name}.{place}" for place, name in enumerate(names, 1)]
    return [path.with_name(f"{path.stem}.{name.replace('/', '_')}{path.suffix}") for name in told]


def refuse_recording(path: Path | None, *inputs: str | Path | None) -> None:
    """Say before a long run, not after it, that a recording could not be written there.

    Raises:
        InputError: the file is not called .mcap.
        OutputError: it cannot, or it is one of the `inputs`.
    """
    if path is not None:
        from posewright.documents import refuse_unwritable

        if path.suffix.lower() != ".mcap":
            raise InputError("not a kind of recording", where=Where(path), hint="end it in .mcap")
        refuse_overwriting(path, *inputs)
        refuse_unwritable(path)
