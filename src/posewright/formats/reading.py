"""Reading a motion file of whatever format; a file of a foreign kind is refused by its name."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from posewright.errors import FormatError, UnknownNameError, Where
from posewright.formats.binary import is_wrapped
from posewright.formats.file_kind import (
    Evidence,
    FileContent,
    FileKind,
    begins,
    has_root,
    is_text,
    read_file_bytes,
    says,
)
from posewright.formats.motion_file import MotionFile, Reference, alone
from posewright.formats.motion_format import MotionFormat
from posewright.formats.oda.reader import looks_encrypted
from posewright.formats.registry import FORMATS, format_named, is_read
from posewright.motions import Motion, Pose, robot_of_motion
from posewright.robots import Robot
from posewright.robots import robot as robot_named

GAIT = "posewright-gait"

MOST_BEYOND = 0.1
"""Share of poses beyond a robot's joints from which on a file seems to be another's. Ours: in ROBOTIS' own
files for the humanoid it is below a hundredth."""

SLACK_RAD = math.radians(0.5)  # so little beyond is rounding

_PAGE_BYTES = 512
_STEPS_AT = 20
_MAX_STEPS = 7


def detect_kind(data: bytes, path: Path | None = None) -> FileKind:
    """Return the kind of file that `data` is.

    Args:
        data: the file's bytes, at least its beginning; page files are told by the whole.
        path: for messages, and to tell an encrypted archive from bytes that are nothing.

    Raises:
        FormatError: it is empty or of no known kind.
    """
    content = FileContent(data, path)
    for kind in known_kinds():
        if kind.detects(content):
            return kind
    what = (
        "the file is empty" if not data else f"a {'text' if is_text(data) else 'binary'} file of unknown kind"
    )
    raise FormatError(what, where=Where(path=path, offset=0), hint=_readable())


def detect_format(data: bytes, path: Path | None = None) -> str:
    """Return the name of the kind of file that `data` is; otherwise as `detect_kind`."""
    return detect_kind(data, path).name


def known_kinds() -> list[FileKind]:
    """Return every kind of file, in the order in which they are looked for."""
    read = [kind for known in FORMATS.values() for kind in (known.kind, *known.wrapped)]
    return sorted((*read, *FOREIGN), key=lambda kind: kind.evidence)


def refuse_unsupported(kind: FileKind, path: Path | None = None) -> None:
    """Raise the error that names a foreign kind of file, if `kind` is not one that is read."""
    if is_read(kind.name):
        return
    if not kind.is_motion:
        raise FormatError(f"this is {kind.title}: no motion file", where=Where(path=path, offset=0))
    verdict = "motions of this kind are not supported yet"
    raise FormatError(f"this is {kind.title}: {verdict}", where=Where(path=path, offset=0), hint=_readable())


def _readable() -> str:
    titles = (known.kind.title.split(" ", 1)[-1] for known in FORMATS.values())
    return f"supported kinds: {', '.join(titles)}"


def _is_mtnx(content: FileContent) -> bool:
    name, attributes = content.xml_root
    return name == b"root" and b"R+Motion" in attributes


def _is_urdf(content: FileContent) -> bool:
    return content.xml_root[0] == b"robot" and b"<link" in (content.text or b"")


def _is_robi(content: FileContent) -> bool:
    roots, tags = (b"mem_w", b"mem_r", b"calc", b"medit"), rb"<mem_[wr]\b|<calc>|<medit>"
    return has_root(*roots)(content) or says(tags)(content)


def _has_page_layout(content: FileContent) -> bool:
    """Tell a binary page file: whole pages of 512 bytes, hardly one with more than seven steps.

    Page checksums do not tell: a contest team's own tool left none of 256 right. Real memory dumps hold a
    page of rubbish here and there; among random bytes one page in thirty would look right.
    """
    pages, rest = divmod(len(content.data), _PAGE_BYTES)
    if rest or not 64 <= pages <= 512:
        return False
    steps = content.data[_STEPS_AT::_PAGE_BYTES]
    honest = sum(count <= _MAX_STEPS or count == 0xFF for count in steps)
    return 4 * honest >= 3 * pages and any(content.data)


def _has_record_size(content: FileContent) -> bool:
    """Tell a CMPack motion: a count, then exactly that many records of 336 or 352 bytes."""
    if len(content.data) < 4:
        return False
    (count,) = struct.unpack_from("<I", content.data)
    return bool(count) and len(content.data) in (4 + 336 * count, 4 + 352 * count)


def _no_motion(
    name: str, title: str, detects: Callable[[FileContent], bool], evidence: Evidence = Evidence.BEGINNING
) -> FileKind:
    return FileKind(name, title, detects, evidence, is_motion=False)


def _ours(name: str, title: str) -> FileKind:
    """Return a native document that is no motion, told by its first key."""
    key = name.removeprefix("posewright-").encode()
    return _no_motion(name, title, says(rb"^" + key + rb"[ \t]*:"), Evidence.KEY)


_ROBOBASIC = rb"(?i)^[ \t]*(?:MOVE[ \t]+G\d|MOVE(?:6|8|12|16|24|32)[ \t]|DIR[ \t]+G\d|PTP[ \t]+\w)"

FOREIGN: tuple[FileKind, ...] = (
    _no_motion("aibo-placeholder", "an AIBO Mind placeholder (NotOMTN)", begins(b"NotOMTN ")),
    _no_motion("mcap", "an MCAP recording", begins(b"\x89MCAP0\r\n")),
    _no_motion("zip", "a ZIP archive", begins(b"PK\x03\x04")),
    _no_motion("pdf", "a PDF document", begins(b"%PDF-")),
    _no_motion("picture", "a picture", begins(b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8")),
    _no_motion("gzip", "a gzip archive", lambda content: is_wrapped(content.data)),
    FileKind(
        "live2d-mtn",
        "a Live2D motion, which moves a drawn figure and no robot",
        says(rb"\A#\s*Live2D Animator|^\$fps="),
    ),
    FileKind("choreonoid-pseq", "a Choreonoid pose sequence", says(rb"^type:[ \t]*PoseSeq\b")),
    FileKind("choreonoid-seq", "a Choreonoid composite sequence", says(rb"^type:[ \t]*CompositeSeq\b")),
    FileKind("rplus-mtnx", "a ROBOTIS R+ Motion 2 file (.mtnx)", _is_mtnx),
    FileKind("kondo-hth4", "a Kondo HeartToHeart4 motion", has_root(b"arrayofanytype", b"canvasdata")),
    _no_motion("mjcf", "a MuJoCo model", has_root(b"mujoco")),
    _no_motion("urdf", "a URDF robot description", _is_urdf),
    _no_motion("openrave-xml", "an OpenRAVE model", has_root(b"environment", b"kinbody", b"robot")),
    _ours("posewright-chart", "a Posewright chart"),
    _ours("posewright-behaviour", "a Posewright behaviour"),
    _ours("posewright-trial", "a Posewright trial"),
    # a tuning names a gait and bodies, and all of them a robot
    _ours("posewright-tune", "a tuning of a Posewright gait (`posewright tune` runs it)"),
    _ours(
        GAIT,
        "a Posewright gait (`posewright gait show` shows it, `posewright gait sample` makes a motion of it)",
    ),
    _ours("posewright-bodies", "a Posewright table of how far bodies differ"),
    _ours("posewright-robot", "a Posewright robot card"),
    _no_motion(
        "robi-rm4",
        "a Robi RM4 program (`posewright robi list FILE --motion MOTION` reads its poses)",
        _is_robi,
        Evidence.KEY,
    ),
    _no_motion(
        "aibo-monet",
        "a Sony AIBO MONET configuration (`posewright aibo check` reads it)",
        says(rb"^monetagent|\bMONET_MOTION\b"),
        Evidence.LOOSE,
    ),
    _no_motion(
        "robobasic",
        "a RoboBASIC program (`posewright basic motions FILE -o FOLDER` makes motions of its routines)",
        says(_ROBOBASIC),
        Evidence.LOOSE,
    ),
    _no_motion("xml", "an XML file of a kind unknown here", lambda content: content.is_xml, Evidence.LOOSE),
    FileKind(
        "robotis-pages",
        "a ROBOTIS binary page file (CM-5, CM-530, DARwIn-OP, OP2, OP3)",
        _has_page_layout,
        Evidence.LAYOUT,
    ),
    FileKind("cmpack-mot", "a CMPack binary motion", _has_record_size, Evidence.LAYOUT),
    _no_motion(
        "aibo-encrypted",
        "an encrypted Sony AIBO archive (those under DATA/E are; those under DATA/P are not)",
        lambda content: looks_encrypted(content.data, content.path),
        Evidence.LAYOUT,
    ),
)
"""Kinds of file that are known and not read."""


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
    return motion_file_in(read_file_bytes(path), path, robot=robot)


def motion_file_in(data: bytes, path: Path, *, robot: str | Robot | None = None) -> MotionFile:
    """Return the motion file that `data` is, as `read_motion_file` does; what it loads lies beside `path`."""
    card = robot_named(robot) if isinstance(robot, str) else robot
    kind = detect_kind(data, path)
    refuse_unsupported(kind, path)
    known = format_named(kind.name)
    file = _read(known, data, path, card) if known.stands_alone else known.read(data, path, card)
    if card is not None or known.names_robot or not file.motions:
        return file
    return replace(file, assumed=_assumed(robot_of_motion(file.motion()), file))


def read_to_carry(path: Path | str, robot: str | Robot | None = None) -> MotionFile:
    """Read a motion file that may be carried over to a robot: as its own one's if that one cannot have it.

    Args and errors as of `read_motion_file`, but that the robot may lack the numbering of the format.
    """
    card = robot_named(robot) if isinstance(robot, str) else robot
    try:
        return read_motion_file(path, robot=card)
    except UnknownNameError:
        return read_motion_file(path)


def _assumed(card: Robot, file: MotionFile) -> str:
    """Return for whose a file is taken, in words, and whether that can be so."""
    told = f"{card.name} ({len(card.joints)} joints): the file does not say whose it is"
    poses = [keyframe.pose for motion in file.motions for keyframe in motion.keyframes]
    beyond = sum(_goes_beyond(pose, card) for pose in poses)
    if beyond > MOST_BEYOND * len(poses):
        told += f", and {beyond} of its {len(poses)} poses are beyond the joints of this one"
    return told


def _goes_beyond(pose: Pose, card: Robot) -> bool:
    places = [card.index(joint) for joint in pose.joints]
    lower, upper = (side[places] for side in card.hardware_limits)
    return bool(np.any((pose.angles < lower - SLACK_RAD) | (pose.angles > upper + SLACK_RAD)))


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
