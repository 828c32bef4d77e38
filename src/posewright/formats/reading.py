"""Reading a motion file, whatever its format."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from posewright.formats.detect import detect_kind, refuse_unsupported
from posewright.formats.file_bytes import read_file_bytes
from posewright.formats.motion_file import MotionFile, Reference, alone
from posewright.formats.motion_format import MotionFormat
from posewright.formats.registry import format_named
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.robots import robot as robot_named


def read_motion_file(path: Path | str, *, robot: str | Robot | None = None) -> MotionFile:
    """Read a motion file with all its pages, whatever its format; the content tells.

    Args:
        path: the file.
        robot: the robot it is for, or its name, where the file does not say; default what its
            format suggests.

    Raises:
        FormatError: it cannot be read, is damaged, or is of a kind that is not read.
        UnknownNameError: there is no such robot, or it has no numbering for this format.
    """
    path = Path(path)
    card = robot_named(robot) if isinstance(robot, str) else robot
    data = read_file_bytes(path)
    kind = detect_kind(data, path)
    refuse_unsupported(kind, path)
    known = format_named(kind.name)
    return _read(known, data, path, card) if known.stands_alone else known.read(data, path, card)


@lru_cache(maxsize=8)
def _read(known: MotionFormat, data: bytes, path: Path, card: Robot | None) -> MotionFile:
    """Read a file's bytes; a behaviour reads page after page of one file, which is parsed once."""
    return known.read(data, path, card)


def read_motion(path: Path | str, page: Reference | None = None, robot: str | Robot | None = None) -> Motion:
    """Read one motion of a file.

    Args:
        path: the file.
        page: name or number of the page. Without one it is the first that holds something, and the motion
            stands for the whole file: written again, it is the file again. With one it stands alone:
            written elsewhere, it is a file of that page and of the pages it leads to.
        robot: as in `read_motion_file`.

    Raises:
        FormatError: as `read_motion_file`; or several pages are called so, or the page is empty.
        UnknownNameError: there is no such page or robot.
    """
    motion = read_motion_file(path, robot=robot).motion(page)
    return motion if page is None else alone(motion)
