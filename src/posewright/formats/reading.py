"""Reading motion files of any format; the error for a file of another kind names the kind."""

from __future__ import annotations

import codecs
import math
import struct
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from posewright.errors import FormatError, UnknownNameError, Where
from posewright.formats.binary import is_gzip
from posewright.formats.file_kind import (
    Evidence,
    FileContent,
    FileKind,
    has_xml_root,
    is_text,
    read_file_bytes,
    starts_with,
    text_matches,
)
from posewright.formats.motion_file import MotionFile, PageReference, mark_single_page
from posewright.formats.motion_format import MotionFormat
from posewright.formats.native.format import NATIVE
from posewright.formats.oda.reader import looks_encrypted
from posewright.formats.registry import FORMATS, format_named, is_read
from posewright.motions import Motion, Pose, robot_of_motion
from posewright.robots import Robot
from posewright.robots import robot as robot_named

GAIT = "posewright-gait"

MAX_SHARE_BEYOND_LIMITS = 0.1
"""Share of poses beyond a robot's joint limits above which the file seems to be for another robot.

Our choice: in ROBOTIS' own files for the humanoid the share is below a hundredth.
"""

SLACK_RAD = math.radians(0.5)  # a rounding error, not a pose beyond a limit

_PAGE_BYTES = 512
_STEP_COUNT_OFFSET = 20
_MAX_STEPS = 7
_EMPTY_STEP_COUNT = 0xFF
_MIN_PAGES = 64
_MAX_PAGES = 512
"""A binary page file: the bytes of a page, where it has its number of steps, and how many pages there are."""

_CMPACK_RECORD_BYTES = (336, 352)
_UTF16_SAMPLE_BYTES = 1024


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
    """Return the name of a file's kind; arguments and errors as in `detect_kind`."""
    return detect_kind(data, path).name


def list_file_kinds() -> list[FileKind]:
    """Return every kind of file, in the order in which they are tested."""
    kinds: list[FileKind] = []
    for motion_format in FORMATS.values():
        kinds += [motion_format.kind, *motion_format.wrapped_kinds]
    return sorted((*kinds, *UNSUPPORTED), key=lambda kind: kind.evidence)


def require_supported(kind: FileKind, path: Path | None = None) -> None:
    """Raise FormatError, with the title of the kind, if files of a kind are not read."""
    if is_read(kind.name):
        return
    where = Where(path=path, offset=0)
    if kind.remedy:
        raise FormatError(f"this is {kind.title}", where=where, hint=kind.remedy)
    if not kind.is_motion:
        raise FormatError(f"this is {kind.title}, not a motion file", where=where)
    message = f"this is {kind.title}: motions of this kind are not supported yet"
    raise FormatError(message, where=where, hint=_supported_kinds())


def _supported_kinds() -> str:
    titles = [motion_format.kind.title.split(" ", 1)[-1] for motion_format in FORMATS.values()]
    return f"supported kinds: {', '.join(titles)}"


def _is_mtnx(content: FileContent) -> bool:
    root = content.xml_root
    return root.name == b"root" and b"R+Motion" in root.attributes


def _is_urdf(content: FileContent) -> bool:
    return content.xml_root.name == b"robot" and b"<link" in (content.text or b"")


def _is_xacro(content: FileContent) -> bool:
    return content.xml_root.name == b"robot" and b"xmlns:xacro" in content.xml_root.attributes


def _is_utf16(content: FileContent) -> bool:
    """Return whether the content is text in UTF-16, with a byte order mark and mostly ASCII characters."""
    head = content.data[:_UTF16_SAMPLE_BYTES]
    if not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    try:
        text = head.decode("utf-16")
    except UnicodeDecodeError:
        return False
    return 2 * sum(character.isascii() for character in text) > len(text) and "\0" not in text


def _is_robi(content: FileContent) -> bool:
    has_root = has_xml_root(b"mem_w", b"mem_r", b"calc", b"medit")
    has_tag = text_matches(rb"<mem_[wr]\b|<calc>|<medit>")
    return has_root(content) or has_tag(content)


def _has_page_layout(content: FileContent) -> bool:
    """Return whether the content is a binary page file: pages of 512 bytes, most with at most seven steps.

    Page checksums are no evidence: in a contest team's file all 256 are wrong. Real memory dumps have some
    damaged pages; of random bytes, one page in thirty looks right.
    """
    n_pages, n_bytes_left = divmod(len(content.data), _PAGE_BYTES)
    if n_bytes_left or not _MIN_PAGES <= n_pages <= _MAX_PAGES:
        return False
    step_counts = content.data[_STEP_COUNT_OFFSET::_PAGE_BYTES]
    n_plausible = sum(count <= _MAX_STEPS or count == _EMPTY_STEP_COUNT for count in step_counts)
    are_most_plausible = 4 * n_plausible >= 3 * n_pages
    return are_most_plausible and any(content.data)  # a file of zeros is no page file


def _has_record_size(content: FileContent) -> bool:
    """Return whether the content is a CMPack motion: a count and as many records of 336 or 352 bytes."""
    n_head_bytes = 4
    if len(content.data) < n_head_bytes:
        return False
    (n_records,) = struct.unpack_from("<I", content.data)
    possible_sizes = [n_head_bytes + record_bytes * n_records for record_bytes in _CMPACK_RECORD_BYTES]
    return n_records > 0 and len(content.data) in possible_sizes


def _other_kind(
    name: str, title: str, detects: Callable[[FileContent], bool], evidence: Evidence = Evidence.BEGINNING
) -> FileKind:
    return FileKind(name, title, detects, evidence, is_motion=False)


def _native_kind(name: str, title: str) -> FileKind:
    """Return the kind of a native document that is no motion, recognized by its first key."""
    key = name.removeprefix("posewright-").encode()
    return _other_kind(name, title, detects=text_matches(rb"^" + key + rb"[ \t]*:"), evidence=Evidence.KEY)


_ROBOBASIC = rb"(?i)^[ \t]*(?:MOVE[ \t]+G\d|MOVE(?:6|8|12|16|24|32)[ \t]|DIR[ \t]+G\d|PTP[ \t]+\w)"

UNSUPPORTED: tuple[FileKind, ...] = (
    _other_kind("aibo-placeholder", "an AIBO Mind placeholder (NotOMTN)", starts_with(b"NotOMTN ")),
    _other_kind("mcap", "an MCAP recording", starts_with(b"\x89MCAP0\r\n")),
    _other_kind("zip", "a ZIP archive", starts_with(b"PK\x03\x04")),
    _other_kind("pdf", "a PDF document", starts_with(b"%PDF-")),
    _other_kind("picture", "a picture", starts_with(b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8")),
    _other_kind("gzip", "a gzip archive", lambda content: is_gzip(content.data)),
    FileKind(
        "live2d-mtn",
        "a Live2D motion, which moves a drawn figure, not a robot",
        text_matches(rb"\A#\s*Live2D Animator|^\$fps="),
    ),
    FileKind("choreonoid-pseq", "a Choreonoid pose sequence", text_matches(rb"^type:[ \t]*PoseSeq\b")),
    FileKind(
        "choreonoid-seq", "a Choreonoid composite sequence", text_matches(rb"^type:[ \t]*CompositeSeq\b")
    ),
    FileKind("rplus-mtnx", "a ROBOTIS R+ Motion 2 file (.mtnx)", _is_mtnx),
    FileKind("kondo-hth4", "a Kondo HeartToHeart4 motion", has_xml_root(b"arrayofanytype", b"canvasdata")),
    FileKind(
        "utf-16",
        "a text in UTF-16",
        _is_utf16,
        remedy="save it in UTF-8: in Notepad, choose the encoding UTF-8 under Save As",
    ),
    FileKind(
        "bvh",
        "a BVH motion capture file, which has rotations of a skeleton, not of a robot's joints",
        text_matches(rb"\A\s*HIERARCHY\s+ROOT\b"),
    ),
    FileKind(
        "nao-xar",
        "a behaviour of NAO's Choregraphe (.xar)",
        has_xml_root(b"choregrapheproject"),
        remedy="export its time line as a table or motion; its boxes are programs",
    ),
    FileKind(
        "opencat-skill",
        "a skill of an OpenCat robot (Petoi Bittle, Nybble)",
        text_matches(rb"\bconst\s+int8_t\s+\w+\s*\[\]\s*(?:PROGMEM\s*)?=|^#define\s+(?:BITTLE|NYBBLE|CUB)\b"),
    ),
    _other_kind("mjcf", "a MuJoCo model", has_xml_root(b"mujoco")),
    _other_kind("xacro", "a xacro macro file (`xacro FILE > robot.urdf` makes a robot of it)", _is_xacro),
    _other_kind("urdf", "a URDF robot description", _is_urdf),
    _other_kind("openrave-xml", "an OpenRAVE model", has_xml_root(b"environment", b"kinbody", b"robot")),
    _native_kind("posewright-chart", "a Posewright chart"),
    _native_kind("posewright-behaviour", "a Posewright behaviour"),
    _native_kind("posewright-trial", "a Posewright trial"),
    # the order matters: a tuning has the keys of a gait and of bodies, and all of them that of a robot
    _native_kind("posewright-tune", "a tuning of a Posewright gait (`posewright tune` runs it)"),
    _native_kind(
        GAIT,
        "a Posewright gait (`posewright gait show` shows it, `posewright gait sample` makes a motion of it)",
    ),
    _native_kind("posewright-bodies", "a Posewright table of domain parameters"),
    _native_kind("posewright-robot", "a Posewright robot card"),
    _other_kind(
        "robi-rm4",
        title="a Robi RM4 program (`posewright robi list FILE --motion MOTION` reads its poses)",
        detects=_is_robi,
        evidence=Evidence.KEY,
    ),
    _other_kind(
        "aibo-monet",
        title="a Sony AIBO MONET configuration (`posewright aibo check` reads it)",
        detects=text_matches(rb"^monetagent|\bMONET_MOTION\b"),
        evidence=Evidence.LOOSE,
    ),
    _other_kind(
        "robobasic",
        title="a RoboBASIC program (`posewright basic motions FILE -o FOLDER` makes motions of its routines)",
        detects=text_matches(_ROBOBASIC),
        evidence=Evidence.LOOSE,
    ),
    FileKind(
        "csv-semicolons",
        "a table with semicolons, as spreadsheets write it in languages with decimal commas",
        text_matches(rb"\A(?:[^\n;]*;){2,}[^\n;]*\n(?:[^\n;]*;){2,}"),
        evidence=Evidence.LOOSE,
        remedy="a joint table has commas and decimal points, and begins with thesis_id,initial_deg,step1_deg",
    ),
    _other_kind(
        "xml",
        title="an XML file of unknown kind",
        detects=lambda content: content.is_xml,
        evidence=Evidence.LOOSE,
    ),
    FileKind(
        "robotis-pages",
        title="a ROBOTIS binary page file (CM-5, CM-530, DARwIn-OP, OP2, OP3)",
        detects=_has_page_layout,
        evidence=Evidence.LAYOUT,
    ),
    FileKind(
        "cmpack-mot", title="a CMPack binary motion", detects=_has_record_size, evidence=Evidence.LAYOUT
    ),
    _other_kind(
        "aibo-encrypted",
        title=(
            "an encrypted Sony AIBO archive (archives under DATA/E are encrypted, those under DATA/P are not)"
        ),
        detects=lambda content: looks_encrypted(content.data, content.path),
        evidence=Evidence.LAYOUT,
    ),
)
"""Kinds of file that are recognized but not read."""


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
    """Return the motion file with the bytes `data`, as `read_motion_file` does.

    Files that it loads are searched beside `path`.
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
    return replace(file, assumed=_describe_assumed_robot(robot_of_motion(file.motion()), file))


def _names_card_by_path(file: MotionFile) -> bool:
    return file.format == NATIVE and file.motion().card is not None


def read_to_carry(path: Path | str, robot: str | Robot | None = None) -> MotionFile:
    """Read a motion file that may be carried over to a robot.

    Args and errors as in `read_motion_file`; but if the robot has no joint numbers for the format, the file
    is read for the format's usual robot.
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

    Args:
        path: the file.
        page: name or number of the page. By default it is the first page with a motion, which stands
            for the whole file: writing it writes all pages. With a page given, only that page and those that
            it leads to are written.
        robot: as in `read_motion_file`.

    Raises:
        FormatError: as `read_motion_file`; or several pages have the name, or the page is empty.
        UnknownNameError: there is no such page or robot.
    """
    motion = read_motion_file(path, robot=robot).motion(page)
    return motion if page is None else mark_single_page(motion)
