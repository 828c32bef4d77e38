"""Saving and exporting: nothing is overwritten unseen, and losses are shown before anything is written."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from posewright.documents import path_exists
from posewright.errors import InputError, LossError
from posewright.formats import FORMATS, preview_motion, write_motion, write_motion_file
from posewright.formats.motion_format import Rounding
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.studio.files.load import Place, digest_of
from posewright.studio.pages import Pages
from posewright.studio.requests import View

SMALLEST = 1e-5
"""No rounding below this is mentioned, in radians and seconds."""


def save(pages: Pages, place: Place, *, over: bool, accept_loss: bool) -> tuple[Place | None, View]:
    """Write pages in the format of their file; return where they are now, and the answer to the window.

    Args:
        pages: what to write.
        place: where to, and what stands there as far as is known.
        over: whether something else that stands there may be replaced.
        accept_loss: whether what the format cannot hold may be left out.

    Raises:
        FormatError, OutputError: it cannot be written.
    """
    path = place.path
    if not over and path_exists(path) and (place.digest is None or digest_of(path) != place.digest):
        conflict = "was changed by somebody else" if place.digest else "is there already"
        return None, {"conflict": f"{path.name} {conflict}"}
    file = pages.as_file()
    try:
        losses = write_motion_file(file, path, accept_loss=accept_loss)
    except LossError as error:
        return None, {"losses": list(error.losses)}
    return Place(path, digest_of(path)), {"saved": path.name, "lost": list(losses)}


def require_same_format(pages: Pages, path: Path) -> None:
    """Raise InputError where the name of a file is one of another format than its pages have."""
    motion_format = FORMATS[pages.file.format]
    if not path.name.lower().endswith(motion_format.suffixes):
        hint = f"end it in {motion_format.suffixes[0]}, or export it"
        raise InputError(f"the file is {motion_format.kind.title}: {path.name} is no name for one", hint=hint)


def format_views(robot: Robot) -> list[View]:
    """Return the formats that a motion of a robot can be written in, as plain data."""
    return [
        {
            "name": name,
            "title": motion_format.kind.title.split(" ", 1)[-1],
            "suffix": motion_format.suffixes[0],
        }
        for name, motion_format in FORMATS.items()
        if motion_format.suffixes and motion_format.supports_robot(robot)
    ]


def preview(motion: Motion, path: Path, name: str) -> View:
    """Return what an export would lose, and remarks on it; nothing is written.

    Raises:
        FormatError: the motion does not fit the format at all.
    """
    written = preview_motion(motion, path, name)
    remarks = [*written.remarks, *_rounding_remarks(written.rounding)]
    return {"losses": list(written.losses), "remarks": remarks, "exists": path_exists(path)}


def export(motion: Motion, path: Path, name: str, *, over: bool, accept_loss: bool) -> View:
    """Write a motion in a format, and return the answer to the window; errors as `save`."""
    if not over and path_exists(path):
        return {"conflict": f"{path.name} is there already"}
    try:
        losses = write_motion(motion, path, name, accept_loss=accept_loss)
    except LossError as error:
        return {"losses": list(error.losses)}
    return {"saved": path.name, "lost": list(losses)}


def _rounding_remarks(rounding: Rounding | None) -> Iterator[str]:
    if rounding is not None and rounding.angle_rad > SMALLEST:
        yield f"angles are rounded by up to {math.degrees(rounding.angle_rad):.2g} deg"
    if rounding is not None and rounding.time_s > SMALLEST:
        yield f"times are rounded by up to {rounding.time_s:.2g} s"
