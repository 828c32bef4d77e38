"""Reading motion files of any format; the error for a file of another kind names the kind."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from posewright.errors import FormatError, UnknownNameError, Where
from posewright.formats.file_kind import (
    FileContent,
    FileKind,
    is_text,
    read_file_bytes,
)
from posewright.formats.motion_file import MotionFile, PageReference, mark_single_page
from posewright.formats.motion_format import MotionFormat
from posewright.formats.native.format import NATIVE, NATIVE_SUFFIX
from posewright.formats.other_kinds import OTHER_KINDS
from posewright.formats.registry import FORMATS, format_named, is_read
from posewright.motions import Motion, Pose, robot_of_motion
from posewright.robots import Robot
from posewright.robots import robot as robot_named

MAX_SHARE_BEYOND_LIMITS = 0.1
"""Share of poses beyond a robot's joint limits above which the file seems to be for another robot.

Our choice: in ROBOTIS' own files for the humanoid the share is below a hundredth.
"""

SLACK_RAD = math.radians(0.5)  # a rounding error, not a pose beyond a limit


def detect_kind(data: bytes, path: Path | None = None) -> FileKind:
    """Return the kind of a file.

    Args:
        data: the bytes of the file, at least its first ones; page files need all of them.
        path: the path for messages, and to recognize an encrypted archive.

    Raises:
        FormatError: it is empty or of no known kind.
    """
    content = FileContent(data, path)
    for kind in list_file_kinds():
        if kind.detects(content):
            return kind
    if not data:
        message = "the file is empty"
    elif is_text(data):
        message = "a text file of unknown kind"
    else:
        message = "a binary file of unknown kind"
    raise FormatError(message, where=Where(path=path, offset=0), hint=_supported_kinds())


def detect_format(data: bytes, path: Path | None = None) -> str:
    """Return the name of a file's kind.

    Args:
        data: the bytes of the file, at least its first ones; page files need all of them.
        path: the path for messages, and to recognize an encrypted archive.

    Raises:
        FormatError: it is empty or of no known kind.
    """
    return detect_kind(data, path).name


def list_file_kinds() -> list[FileKind]:
    """Return every kind of file, in the order in which they are tested."""
    kinds: list[FileKind] = []
    for motion_format in FORMATS.values():
        kinds += [motion_format.kind, *motion_format.wrapped_kinds]
    return sorted((*kinds, *OTHER_KINDS), key=lambda kind: kind.evidence)


def require_supported(kind: FileKind, path: Path | None = None) -> None:
    """Raise FormatError, with the title of the kind, if files of a kind are not read."""
    if is_read(kind.name):
        return
    where = Where(path=path, offset=0)
    if not kind.is_motion:
        raise FormatError(f"this is {kind.title}, not a motion file", where=where, hint=kind.remedy or None)
    if kind.remedy:
        raise FormatError(f"this is {kind.title}", where=where, hint=kind.remedy)
    message = f"this is {kind.title}: motions of this kind are not supported yet"
    raise FormatError(message, where=where, hint=_supported_kinds())


def raise_if_other_kind(data: bytes, path: Path, names: Collection[str], title: str) -> None:
    """Raise FormatError if the content of a file shows that it is of another kind than required.

    Args:
        data: the bytes of the file.
        path: the file.
        names: the names of the kinds that are accepted; content of no known kind is, too.
        title: the required kind with an article, for the message: `a RoboBASIC program`.
    """
    try:
        kind = detect_kind(data, path)
    except FormatError:
        return
    if kind.name not in names:
        raise FormatError(f"this is {kind.title}, not {title}", where=Where(path), hint=kind.remedy or None)


def _supported_kinds() -> str:
    titles = [motion_format.kind.title.split(" ", 1)[-1] for motion_format in FORMATS.values()]
    return f"supported kinds: {', '.join(titles)}"


def read_motion_file(path: Path | str, *, robot: str | Robot | None = None) -> MotionFile:
    """Read a motion file with all its pages; its content determines the format.

    Args:
        path: the file.
        robot: the robot, or its name, if the file names none; by default the usual one of the format.

    Raises:
        FormatError: the file cannot be read, is damaged, or is of a kind that is not read.
        UnknownNameError: there is no such robot, or it has no joint numbers for this format.
    """
    path = Path(path)
    return motion_file_in(read_file_bytes(path), path, robot=robot)


def motion_file_in(data: bytes, path: Path, *, robot: str | Robot | None = None) -> MotionFile:
    """Read the bytes of a motion file with all its pages; their content determines the format.

    Args:
        data: the bytes of the file.
        path: where the file is, for messages; files that it loads are searched beside it.
        robot: the robot, or its name, if the file names none; None for the usual one of the format.

    Raises:
        FormatError: the file is damaged, or is of a kind that is not read.
        UnknownNameError: there is no such robot, or it has no joint numbers for this format.
    """
    card = robot_named(robot) if isinstance(robot, str) else robot
    kind = detect_kind(data, path)
    require_supported(kind, path)
    motion_format = format_named(kind.name)
    file = _read_cached(motion_format, data, path, card) if motion_format.is_self_contained else None
    if file is None or _names_card_by_path(file):  # other files may have changed since
        file = motion_format.read(data, path, card)
    if card is not None or motion_format.names_robot or not file.motions:
        return file
    return replace(file, assumed_robot=_describe_assumed_robot(robot_of_motion(file.motion()), file))


def _names_card_by_path(file: MotionFile) -> bool:
    return file.format == NATIVE and file.motion().card is not None


def read_to_carry(path: Path | str, robot: str | Robot | None = None) -> MotionFile:
    """Read a motion file that may be carried over to a robot.

    If the robot has no joint numbers for the format, the file is read for the format's usual robot.

    Args:
        path: the file.
        robot: the robot, or its name, if the file names none; None for the usual one of the format.

    Raises:
        FormatError: the file cannot be read, is damaged, or is of a kind that is not read.
        UnknownNameError: there is no such robot.
    """
    card = robot_named(robot) if isinstance(robot, str) else robot
    try:
        return read_motion_file(path, robot=card)
    except UnknownNameError:
        return read_motion_file(path)


def _describe_assumed_robot(card: Robot, file: MotionFile) -> str:
    """Return a description of the robot assumed for a file, and of poses that it cannot have."""
    description = f"{card.name} ({len(card.joints)} joints): the file does not name its robot"
    poses = [keyframe.pose for motion in file.motions for keyframe in motion.keyframes]
    n_beyond = sum(_exceeds_limits(pose, card) for pose in poses)
    if n_beyond > MAX_SHARE_BEYOND_LIMITS * len(poses):
        description += f", and {n_beyond} of its {len(poses)} poses exceed the joint limits of this one"
    return description


def _exceeds_limits(pose: Pose, card: Robot) -> bool:
    """Return whether a joint of the pose is beyond the robot's hardware limits, with a slack."""
    indices = [card.index(joint) for joint in pose.joints]
    lower, upper = (limits[indices] for limits in card.hardware_limits)
    return bool(np.any((pose.angles < lower - SLACK_RAD) | (pose.angles > upper + SLACK_RAD)))


@lru_cache(maxsize=8)
def _read_cached(motion_format: MotionFormat, data: bytes, path: Path, card: Robot | None) -> MotionFile:
    """Read a file's bytes; cached, because a behaviour reads one page after the other of the same file."""
    return motion_format.read(data, path, card)


def read_motion(
    path: Path | str, page: PageReference | None = None, robot: str | Robot | None = None
) -> Motion:
    """Read one motion of a file.

    Writing the motion back writes all pages of its file. If a page was stated here, it writes only that page
    and those that it leads to.

    Args:
        path: the file.
        page: name or number of the page; by default, the first page with a motion.
        robot: the robot, or its name, if the file names none; by default the usual one of the format.

    Raises:
        FormatError: the file cannot be read, is damaged, or is of a kind that is not read; or several pages
            have the name, or the page is empty.
        UnknownNameError: there is no such page or robot.
    """
    motion = read_motion_file(path, robot=robot).motion(page)
    return motion if page is None else mark_single_page(motion)


def read_linked_motions(file: MotionFile, page: PageReference | None = None) -> dict[str, Motion]:
    """Return a motion of a file and all that its `next` and `exit` lead to, the motion itself first.

    A link of a native file is the name of a file beside it, any other a page of the same file.

    Args:
        file: the file.
        page: name or number of the motion's page; by default the first page with a motion.

    Returns:
        The motions by the names that `next` and `exit` use.

    Raises:
        FormatError: a linked file cannot be read.
    """
    if file.format != NATIVE:
        return file.reachable_pages(page)
    first_motion = file.motion(page)
    motions = {file.path.name.removesuffix(NATIVE_SUFFIX): first_motion}
    pending = [first_motion.next, first_motion.exit]
    while pending:
        link = pending.pop()
        if link is not None and link not in motions:
            motions[link] = read_motion(file.path.with_name(f"{link}{NATIVE_SUFFIX}"))
            pending += [motions[link].next, motions[link].exit]
    return motions
