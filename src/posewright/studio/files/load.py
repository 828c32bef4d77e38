"""Opens files, dropped data and new motions: their pages, and the file to save them to."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from posewright.documents import (
    decode_document,
    is_file,
    is_folder,
    parse_document,
    path_exists,
    read_bounded,
)
from posewright.documents.markup import read_markup
from posewright.errors import FormatError, InputError, PosewrightError, UnknownNameError
from posewright.formats import (
    NATIVE,
    MotionFile,
    describe_retargeting_losses,
    detect_format,
    motion_file_in,
    read_file_bytes,
    retarget_to_robot,
)
from posewright.motions import Motion, create_motion, file_stem, robot_of_motion
from posewright.recordings import read_mcap
from posewright.robots import Robot, is_path, robot, robot_names
from posewright.robots.reading import CARD
from posewright.runs import import_robot, name_robot_folder
from posewright.runtimes.openr.stick import StickMotion, motions_on, read_stick
from posewright.studio.document import Document
from posewright.studio.pages import Pages

MOTION_SUFFIX = ".motion.yaml"
MOTIONS_FOLDER = "motions"
"""Folder of the shipped motions beside a robot's card."""

MAX_FILE_BYTES = 16_000_000
"""The largest motion file or archive that is read."""


@dataclass(frozen=True)
class SaveTarget:
    """The file that pages are saved to.

    Attributes:
        path: its path.
        digest: digest of its bytes as read or written last; None if it does not exist yet.
    """

    path: Path
    digest: str | None


@dataclass(frozen=True)
class OpenedFile:
    """An opened file, or a new motion.

    Attributes:
        pages: its pages.
        robot: the robot of its motions.
        page: number of the page to show first.
        target: the file to save to.
        data: the bytes that were opened, if they are not in a file yet.
        recording: path of a recording to show; `pages` are then those of a new motion.
        stick: memory stick or folder that was opened, whose content is shown first.
    """

    pages: Pages
    robot: Robot
    page: int
    target: SaveTarget
    data: bytes | None = field(default=None, repr=False)
    recording: Path | None = None
    stick: Path | None = None

    def document(self, edited_pages: Pages | None = None) -> Document:
        """Return a new document of the pages, or of `edited_pages`, which are not saved yet."""
        return Document(edited_pages or self.pages, self.robot, saved_pages=self.pages)


def file_digest(path: Path) -> str | None:
    """Return the digest of a file's content; None if it cannot be read."""
    if not is_file(path):
        return None
    try:
        return hashlib.sha256(read_bounded(path, MAX_FILE_BYTES)).hexdigest()
    except FormatError:
        return None


def file_stamp(path: Path) -> tuple[int, ...]:
    """Return a value that changes when the file is written; empty if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def open_path(path: Path, robot_or_name: Robot | str | None = None, page: str | None = None) -> OpenedFile:
    """Open a motion file, a recording, a robot's model, or a folder, which may be a memory stick.

    Args:
        path: the file or folder; or, if there is no such file, the name of a shipped motion. A URDF, xacro or
            MuJoCo model is imported into a folder beside it, unless that is there already, for a new motion.
        robot_or_name: the robot, for which a motion of another robot is converted; None for the robot that
            the file names.
        page: name or number of the page to show first; None for the first page of the file.

    Raises:
        FormatError: the file cannot be read.
        InputError: there is no such page, robot or motion.
    """
    if is_folder(path):
        return _open_folder(path, robot_or_name)
    if path.suffix.lower() == ".mcap":
        return _open_recording(path, robot_or_name)
    if not path.is_absolute() and not path.suffix and not path_exists(path):
        return open_shipped(path.as_posix(), Path(), robot_or_name)
    if _is_robot_model(path):
        return _open_robot_model(path)
    data = read_file_bytes(path)
    target = SaveTarget(path.resolve(), hashlib.sha256(data).hexdigest())
    return _open_file(motion_file_in(data, path, robot=robot_or_name), target, robot_or_name, page)


def open_data(data: bytes, path: Path, robot_or_name: Robot | str | None = None) -> OpenedFile:
    """Open data that is not in a file yet, to be saved to `path`.

    Args:
        data: the content of a motion file.
        path: the file to save it to.
        robot_or_name: the robot, for which a motion of another robot is converted; None for the robot that
            the data names.

    Raises:
        FormatError: the data cannot be read.
        InputError: there is no such robot.
    """
    return _open_file(
        motion_file_in(data, path, robot=robot_or_name),
        SaveTarget(path.resolve(), digest=None),
        robot_or_name,
        data=data,
    )


def shipped_motions() -> dict[str, Path]:
    """Return the paths of the motions that ship with the robots, by `robot/motion`."""
    paths = {}
    for known in robots_with_models():
        folder = (known.folder or Path()) / MOTIONS_FOLDER
        for path in sorted(folder.glob(f"*{MOTION_SUFFIX}")):
            paths[f"{known.name}/{path.name.removesuffix(MOTION_SUFFIX)}"] = path
    return paths


def open_shipped(name: str, folder: Path, robot_or_name: Robot | str | None = None) -> OpenedFile:
    """Open a copy of a shipped motion, to be saved in a folder.

    Args:
        name: `robot/motion`, or only the name of the motion.
        folder: the folder for the copy.
        robot_or_name: the robot, for which a motion of another robot is converted; None for the motion's own.

    Raises:
        UnknownNameError: there is no such motion.
        InputError: several robots have a motion of that name.
    """
    paths = shipped_motions()
    matches = [full_name for full_name in paths if name in {full_name, full_name.partition("/")[2]}]
    if not matches:
        raise UnknownNameError.among("file or shipped motion", name, paths)
    if len(matches) > 1:
        raise InputError(f"several robots have a motion {name}", hint=f"choose one of {', '.join(matches)}")
    path = paths[matches[0]]
    return open_data(read_file_bytes(path), folder / path.name, robot_or_name)


def create_file(
    folder: Path, name: str, robot_or_name: Robot | str | None = None, pose: str | None = None
) -> OpenedFile:
    """Return a new motion, by default of the robot with the most shipped motions.

    Raises:
        InputError: there is no such robot or pose, or the name cannot be a file name.
    """
    motion_robot = robot(robot_or_name) if robot_or_name else _default_robot()
    motion = create_motion(name, motion_robot, pose)
    return new_file(motion, folder / f"{file_stem(name)}{MOTION_SUFFIX}", motion_robot)


def _default_robot() -> Robot:
    """Return the robot of the catalogue that has the most shipped motions."""
    counts = Counter(name.partition("/")[0] for name in shipped_motions())
    return max(robots_with_models(), key=lambda known: counts[known.name])


def robots_with_models() -> Iterator[Robot]:
    """Yield the robots of the catalogue that have a model and can be shown."""
    return (known for known in map(robot, robot_names()) if known.model_path is not None)


def new_file(motion: Motion, path: Path, motion_robot: Robot) -> OpenedFile:
    """Return a motion as the only page of a native file that does not exist yet."""
    pages = Pages.of(MotionFile.of_single_motion(NATIVE, path, motion))
    return OpenedFile(pages, robot=motion_robot, page=1, target=SaveTarget(path, digest=None))


def require_catalogue_robot(data: bytes, path: Path) -> None:
    """Raise InputError if a native file names its robot by a path, which may be outside the workspace."""
    if detect_format(data, path) != NATIVE:
        return
    value = parse_document(decode_document(data, path), path).value
    if isinstance(value, dict) and is_path(str(value.get("robot", ""))):
        hint = f"start it with the robot: posewright studio --robot {value['robot']}"
        raise InputError("the file names its robot by a path, which the studio does not read", hint=hint)


def stick_motions(folder: Path) -> tuple[StickMotion, ...]:
    """Return the motions of a memory stick; none if the folder is not one."""
    try:
        return motions_on(read_stick(folder))
    except PosewrightError:
        return ()


def _is_robot_model(path: Path) -> bool:
    """Return whether a file is a URDF, xacro or MuJoCo model, by its suffix and its root element."""
    if path.suffix.lower() != ".xml":
        return path.suffix.lower() in (".urdf", ".xacro")
    try:
        return read_markup(path).name == "mujoco"
    except (FormatError, OSError):  # not XML as models have it; readers of motions may read it
        return False


def _open_robot_model(path: Path) -> OpenedFile:
    """Return a new motion for a robot whose model is imported into a folder of the model's name."""
    folder = path.with_name(name_robot_folder(path))
    if not path_exists(folder / CARD):
        import_robot(path, folder)
    model_robot = robot(folder / CARD)
    return create_file(path.parent, "untitled", model_robot)


def _open_recording(path: Path, robot_or_name: Robot | str | None) -> OpenedFile:
    """Return a new motion with a recording to show; by default for its first robot that has a model."""
    if not robot_or_name:
        known_names = {known.name for known in robots_with_models()}
        recorded_names = read_mcap(path).header.robots
        robot_or_name = next((name for name in recorded_names if name in known_names), None)
    return replace(create_file(path.parent, "untitled", robot_or_name), recording=path)


def _open_folder(folder: Path, robot_or_name: Robot | str | None) -> OpenedFile:
    """Open the first motion of a memory stick; in another folder, a new motion.

    The content of the folder is shown first, except with a new motion of a stated robot.
    """
    motions = stick_motions(folder)
    if motions:
        return replace(open_path(motions[0].archive.path, robot_or_name), stick=folder.resolve())
    new_motion = create_file(folder, "untitled", robot_or_name or _robot_used_in(folder))
    return new_motion if robot_or_name else replace(new_motion, stick=folder.resolve())


def _robot_used_in(folder: Path) -> str | None:
    """Return the robot of the first native motion in a folder that can be shown; None if there is none."""
    known_names = {known.name for known in robots_with_models()}
    for path in sorted(folder.glob(f"*{MOTION_SUFFIX}")):
        try:
            motion = motion_file_in(read_file_bytes(path), path).motion()
        except PosewrightError:
            continue
        if motion.robot in known_names:
            return motion.robot
    return None


def _open_file(
    file: MotionFile,
    target: SaveTarget,
    robot_or_name: Robot | str | None,
    page: str | None = None,
    data: bytes | None = None,
) -> OpenedFile:
    """Return a file opened at a page; if its motion is for another robot, the converted motion instead.

    Args:
        file: the file.
        target: the file to save to.
        robot_or_name: the robot; None for the robot that the motion names.
        page: name or number of the page; None for the first.
        data: the file's bytes, if they are not in a file yet.
    """
    page_number = file.page_number(page)
    motion = file.motion(page_number)
    robot_of_page = robot_of_motion(motion, robot_or_name)
    if robot_of_page.name != motion.robot:
        return _convert_page(file, page_number, robot_of_page, target.path)
    return OpenedFile(Pages.of(file), robot=robot_of_page, page=page_number, target=target, data=data)


def _convert_page(file: MotionFile, page: int, new_robot: Robot, path: Path) -> OpenedFile:
    """Return a page, converted for another robot, as a new motion in the folder of `path`.

    The file itself is not changed; its warnings and the losses of the conversion become warnings.
    """
    retargeted = retarget_to_robot(file.motion(page), new_robot)
    warnings = (*file.warnings, *describe_retargeting_losses(retargeted), *retargeted.remarks)
    new_path = path.with_name(f"{file_stem(retargeted.motion.name)}_{new_robot.name}{MOTION_SUFFIX}")
    pages = Pages.of(MotionFile.of_single_motion(NATIVE, new_path, retargeted.motion, warnings))
    return OpenedFile(pages, robot=new_robot, page=1, target=SaveTarget(new_path, digest=None))
