"""Load what a person names, drops or begins: pages, and a place to save them at."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from posewright.documents import decode_document, is_file, is_folder, parse_document, read_bounded
from posewright.errors import FormatError, InputError, PosewrightError
from posewright.formats import (
    NATIVE,
    MotionFile,
    carry_to_robot,
    describe_carrying_losses,
    detect_format,
    motion_file_in,
    read_file_bytes,
)
from posewright.motions import Motion, create_motion, file_stem, robot_of_motion
from posewright.recordings import read_mcap
from posewright.robots import Robot, is_path, robot, robot_names
from posewright.runtimes.openr.stick import StickMotion, motions_on, read_stick
from posewright.studio.document import Document
from posewright.studio.pages import Pages

ENDING = ".motion.yaml"
MOST_BYTES = 16_000_000
"""No motion file or archive that is read is larger."""


@dataclass(frozen=True)
class Place:
    """Where pages are saved.

    Attributes:
        digest: of the file's bytes as they were read or written last; None for a file that is not there yet.
    """

    path: Path
    digest: str | None


@dataclass(frozen=True)
class Opened:
    """What was opened.

    Attributes:
        page: the one that is shown first.
        data: the bytes it was read from, where they are in no file yet.
        recording: the recording that is to be shown; the pages are those of a new motion.
        stick: the memory stick that the file lies on, or a folder: what is in it is shown first.
    """

    pages: Pages
    robot: Robot
    page: int
    place: Place
    data: bytes | None = field(default=None, repr=False)
    recording: Path | None = None
    stick: Path | None = None

    def document(self) -> Document:
        """Return a document of it, with nothing to undo."""
        return Document(self.pages, self.robot)


def digest_of(path: Path) -> str | None:
    """Return a digest of what a file holds now; None where there is none that can be read."""
    if not is_file(path):
        return None
    try:
        return hashlib.sha256(read_bounded(path, MOST_BYTES)).hexdigest()
    except FormatError:
        return None


def mark_of(path: Path) -> tuple[int, ...]:
    """Return a value that changes as soon as somebody writes a file; empty where there is none."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def open_path(path: Path, robot_or_name: Robot | str | None = None, page: str | None = None) -> Opened:
    """Open a motion file, a recording, or a folder, which may be a memory stick.

    Raises:
        FormatError: it cannot be read.
        InputError: there is no such page, robot or motion.
    """
    if is_folder(path):
        return _open_folder(path, robot_or_name)
    if path.suffix.lower() == ".mcap":
        if not robot_or_name:  # the first robot of the recording that can be shown
            names = {card.name for card in shown_robots()}
            robot_or_name = next((name for name in read_mcap(path).header.robots if name in names), None)
        return replace(begin(path.parent, "untitled", robot_or_name), recording=path)
    data = read_file_bytes(path)
    place = Place(path.resolve(), hashlib.sha256(data).hexdigest())
    return _opened(motion_file_in(data, path, robot=robot_or_name), place, robot_or_name, page)


def open_data(data: bytes, path: Path, robot_or_name: Robot | str | None = None) -> Opened:
    """Open what is in no file yet, to be saved at `path`; errors as `open_path`."""
    return _opened(
        motion_file_in(data, path, robot=robot_or_name), Place(path.resolve(), None), robot_or_name, data=data
    )


def begin(
    folder: Path, name: str, robot_or_name: Robot | str | None = None, pose: str | None = None
) -> Opened:
    """Begin a motion, of the first robot of the catalogue where none is named.

    Raises:
        InputError: there is no such robot or pose, or the name fits no file.
    """
    card = robot(robot_or_name) if robot_or_name else next(shown_robots())
    motion = create_motion(name, card, pose)
    return new_file(motion, folder / f"{file_stem(name)}{ENDING}", card)


def shown_robots() -> Iterator[Robot]:
    """Yield the robots of the catalogue that have a model, without which nothing is seen."""
    return (card for card in map(robot, robot_names()) if card.model_path is not None)


def new_file(motion: Motion, path: Path, card: Robot) -> Opened:
    """Return a motion as the one page of a native file that is not there yet."""
    pages = Pages.of(MotionFile.of_single_motion(NATIVE, path, motion))
    return Opened(pages, card, 1, Place(path, None))


def require_catalogue_robot(data: bytes, path: Path) -> None:
    """Raise InputError where a native file names its robot by a path, which may lie outside the workspace."""
    if detect_format(data, path) != NATIVE:
        return
    value = parse_document(decode_document(data, path), path).value
    if isinstance(value, dict) and is_path(str(value.get("robot", ""))):
        hint = f"start it with the robot: posewright studio --robot {value['robot']}"
        raise InputError("the file names its robot by a path, which is not followed here", hint=hint)


def stick_motions(folder: Path) -> tuple[StickMotion, ...]:
    """Return the motions of a memory stick; none where a folder is no stick."""
    try:
        return motions_on(read_stick(folder))
    except PosewrightError:
        return ()


def _open_folder(folder: Path, robot_or_name: Robot | str | None) -> Opened:
    for motion in stick_motions(folder):
        opened = open_path(motion.archive.path, robot_or_name)
        return replace(opened, stick=folder.resolve())
    new = begin(folder, "untitled", robot_or_name)
    return new if robot_or_name else replace(new, stick=folder.resolve())


def _opened(
    file: MotionFile,
    place: Place,
    robot_or_name: Robot | str | None,
    page: str | None = None,
    data: bytes | None = None,
) -> Opened:
    first = file.page_number(page)
    card = robot_of_motion(file.motion(first), robot_or_name)
    if card.name != file.motion(first).robot:
        return _carried(file, first, card, place.path)
    return Opened(Pages.of(file), card, first, place, data)


def _carried(file: MotionFile, page: int, card: Robot, path: Path) -> Opened:
    """Return a page, carried over to another robot, as a new motion: the file stays the first robot's."""
    carried = carry_to_robot(file.motion(page), card)
    warnings = (*file.warnings, *describe_carrying_losses(carried), *carried.remarks)
    target = path.with_name(f"{file_stem(carried.motion.name)}_{card.name}{ENDING}")
    pages = Pages.of(MotionFile.of_single_motion(NATIVE, target, carried.motion, warnings))
    return Opened(pages, card, 1, Place(target, None))
