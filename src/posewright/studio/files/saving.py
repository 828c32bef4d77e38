"""Saving and exporting: reports conflicts and losses before anything is written."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from posewright.documents import path_exists, require_ending
from posewright.errors import LossError
from posewright.formats import FORMATS, preview_motion, write_motion, write_motion_file
from posewright.formats.motion_format import Rounding
from posewright.hazards import find_faults, find_faults_of_several
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.studio.files.load import SaveTarget, file_digest
from posewright.studio.pages import Pages
from posewright.studio.requests import View

MIN_REPORTED_ROUNDING = 1e-5
"""Smallest rounding that is reported [rad, s]."""


def save(
    pages: Pages, target: SaveTarget, *, overwrite: bool, accept_loss: bool, accept_faults: bool
) -> tuple[SaveTarget | None, View]:
    """Write pages in the format of their file, unless that needs a decision of the user.

    Nothing is written if the file has changed on disk, if the format cannot store everything, or if robots
    play the file and an edited motion could harm them; the answer then describes the `conflict`, `losses`
    or `faults`.

    Args:
        pages: the pages.
        target: the file to write, with its digest as read or written last.
        overwrite: whether a file with other content may be replaced.
        accept_loss: whether to write even if the format cannot store everything.
        accept_faults: whether to write even if `motion check` reports errors in an edited motion.

    Returns:
        The target with its new digest, None if nothing is written; and the answer to the window.

    Raises:
        FormatError, OutputError: the file cannot be written.
    """
    path = target.path
    conflict = "" if overwrite else _find_conflict(target)
    if conflict:
        return None, {"conflict": conflict}
    if FORMATS[pages.file.format].is_played_by_robots and not accept_faults:
        faults = find_faults_of_several(pages.edited.values())
        if faults:
            return None, {"faults": list(faults)}
    try:
        losses = write_motion_file(pages.as_file(), path, accept_loss=accept_loss)
    except LossError as error:
        return None, {"losses": list(error.losses)}
    return SaveTarget(path, file_digest(path)), {"saved": path.name, "lost": list(losses)}


def _find_conflict(target: SaveTarget) -> str:
    """Return a text if the target's file is not the one that was read or written last, else an empty one."""
    name = target.path.name
    if not path_exists(target.path):
        return ""
    if target.digest is None:
        return f"{name} exists already"
    return "" if file_digest(target.path) == target.digest else f"{name} was changed by somebody else"


def require_same_format(pages: Pages, path: Path) -> None:
    """Raise InputError if the name of a file does not suit the format of the pages."""
    motion_format = FORMATS[pages.file.format]
    require_ending(Path(path.name), motion_format.suffixes, motion_format.kind.title)


def format_views(robot: Robot) -> list[View]:
    """Return the formats that a motion of a robot can be written in, as plain data."""
    return [
        {
            "name": name,
            "title": motion_format.kind.title.split(" ", 1)[-1],  # without its article: "motion document"
            "suffix": motion_format.suffixes[0],
        }
        for name, motion_format in FORMATS.items()
        if motion_format.suffixes and motion_format.supports_robot(robot)
    ]


def preview(motion: Motion, path: Path, format_name: str) -> View:
    """Return losses, faults and remarks of an export, and whether the file exists; nothing is written.

    Raises:
        FormatError: the motion cannot be written in the format.
    """
    rendered = preview_motion(motion, path, format_name)
    remarks = [*rendered.remarks, *_rounding_remarks(rendered.rounding)]
    return {
        "losses": list(rendered.losses),
        "faults": list(_faults_for_robots(motion, format_name)),
        "remarks": remarks,
        "exists": path_exists(path),
    }


def _faults_for_robots(motion: Motion, format_name: str) -> tuple[str, ...]:
    """Return the errors of `motion check` in a motion, if robots play files of the format."""
    return find_faults(motion) if FORMATS[format_name].is_played_by_robots else ()


def export(
    motion: Motion,
    path: Path,
    format_name: str,
    *,
    overwrite: bool,
    accept_loss: bool,
    accept_faults: bool,
) -> View:
    """Write a motion in a format, and return the answer to the window.

    Nothing is written if the file exists, the format cannot store everything, or robots play the file and the
    motion could harm them, unless `overwrite`, `accept_loss` or `accept_faults` allow that.

    Raises:
        FormatError, OutputError: the file cannot be written.
    """
    if not overwrite and path_exists(path):
        return {"conflict": f"{path.name} exists already"}
    faults = () if accept_faults else _faults_for_robots(motion, format_name)
    if faults:
        return {"faults": list(faults)}
    try:
        losses = write_motion(motion, path, format_name, accept_loss=accept_loss)
    except LossError as error:
        return {"losses": list(error.losses)}
    return {"saved": path.name, "lost": list(losses)}


def _rounding_remarks(rounding: Rounding | None) -> Iterator[str]:
    """Yield how much angles and times are rounded, if that is noticeable; nothing for None."""
    if rounding is None:
        return
    if rounding.angle_rad > MIN_REPORTED_ROUNDING:
        yield f"angles are rounded by up to {math.degrees(rounding.angle_rad):.2g} deg"
    if rounding.time_s > MIN_REPORTED_ROUNDING:
        yield f"times are rounded by up to {rounding.time_s:.2g} s"
