"""Saving and exporting: nothing is written over what nobody has seen, and losses are told first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from posewright.documents import is_there
from posewright.errors import InputError, LossError
from posewright.formats import FORMATS, preview_motion, write_motion, write_motion_file
from posewright.formats.motion_format import Rounding
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.studio.files.reading import Place, digest_of
from posewright.studio.pages import Pages

Told = dict[str, Any]

SMALLEST = 1e-5
"""No rounding below this is told, in radians and seconds."""


def save(pages: Pages, place: Place, *, over: bool, accept_loss: bool) -> tuple[Place | None, Told]:
    """Write pages in the format of their file; return where they are now, and what a window is told.

    Args:
        pages: what to write.
        place: where to, and what stands there as far as is known.
        over: whether something else that stands there may be replaced.
        accept_loss: whether what the format cannot hold may be left out.

    Raises:
        FormatError, OutputError: it cannot be written.
    """
    path = place.path
    if not over and is_there(path) and (place.digest is None or digest_of(path) != place.digest):
        what = "was changed by somebody else" if place.digest else "is there already"
        return None, {"conflict": f"{path.name} {what}"}
    file = pages.as_file()
    try:
        lost = write_motion_file(file, path, accept_loss=accept_loss)
    except LossError as error:
        return None, {"losses": list(error.losses)}
    return Place(path, digest_of(path)), {"saved": path.name, "lost": list(lost)}


def refuse_another_format(pages: Pages, path: Path) -> None:
    """Raise the InputError that a name is one of another format than the file has."""
    known = FORMATS[pages.file.format]
    if not path.name.lower().endswith(known.suffixes):
        hint = f"end it in {known.suffixes[0]}, or export it"
        raise InputError(f"the file is {known.kind.title}: {path.name} is no name for one", hint=hint)


def format_views(robot: Robot) -> list[Told]:
    """Return the formats that a motion of a robot can be written in, as plain data."""
    return [
        {"name": name, "title": known.kind.title.split(" ", 1)[-1], "suffix": known.suffixes[0]}
        for name, known in FORMATS.items()
        if known.suffixes and known.suits(robot)
    ]


def preview(motion: Motion, path: Path, name: str) -> Told:
    """Return what an export would lose and what else is to be said of it; nothing is written.

    Raises:
        FormatError: the motion does not fit the format at all.
    """
    done = preview_motion(motion, path, name)
    remarks = [*done.remarks, *_rounding(done.rounding)]
    return {"losses": list(done.losses), "remarks": remarks, "exists": is_there(path)}


def export(motion: Motion, path: Path, name: str, *, over: bool, accept_loss: bool) -> Told:
    """Write a motion in a format, and return what a window is told; errors as `save`."""
    if not over and is_there(path):
        return {"conflict": f"{path.name} is there already"}
    try:
        lost = write_motion(motion, path, name, accept_loss=accept_loss)
    except LossError as error:
        return {"losses": list(error.losses)}
    return {"saved": path.name, "lost": list(lost)}


def _rounding(rounding: Rounding | None) -> Iterator[str]:
    if rounding is not None and rounding.angle_rad > SMALLEST:
        yield f"angles are rounded by up to {math.degrees(rounding.angle_rad):.2g} deg"
    if rounding is not None and rounding.time_s > SMALLEST:
        yield f"times are rounded by up to {rounding.time_s:.2g} s"
