"""A C header of AIBO poses (EKMoves.h) as a document: its bytes, its arrays, and the comments we add.

Each array has 16 numbers in degrees; its name ends in the number of the pose. Source: seeds.md A3 (Eagle
Knights 2007). Our comments hold what an array of angles cannot:

// motion: a_walk#walk_kick
// creator: Eagle Knights
const double A_WALK_WALK_KICK_01[16] = {...};  // reach 0.400 s, pause 0.100 s
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from posewright.formats.text_lines import splice_bytes
from posewright.motions.pose import LONGEST_S, SHORTEST_S, Attitude

EKMOVES = "ekmoves-h"

JOINT_ORDER = (
    *("head_tilt", "head_pan", "neck_tilt", "mouth"),
    *(f"left_front_{joint}" for joint in ("rotator", "elevator", "knee")),
    *(f"left_rear_{joint}" for joint in ("rotator", "elevator", "knee")),
    *(f"right_front_{joint}" for joint in ("rotator", "elevator", "knee")),
    *(f"right_rear_{joint}" for joint in ("rotator", "elevator", "knee")),
)
"""The joint of each number of an array: Tilt2, Pan, Tilt1, Mouth, then J1, J2, J3 of each leg.

An MTN has another order. Ears and tail are missing."""

CYCLES_PER_POSE = 50
CYCLE_S = 0.008
DEFAULT_REACH_S = CYCLES_PER_POSE * CYCLE_S
"""Time to reach a pose without a timing comment [s]; EKMotion loads one every 50 cycles (seeds.md A4)."""

DECIMALS = 6
QUANTUM_DEG = 10.0**-DECIMALS
QUANTUM_S = 10.0**-DECIMALS


class Span(NamedTuple):
    """A range of bytes of the file: from `start` up to but not including `end`."""

    start: int
    end: int


class Edit(NamedTuple):
    """The new text for a range of bytes of the file."""

    start: int
    end: int
    text: bytes


@dataclass(frozen=True)
class Timing:
    """The content of our comment after an array."""

    reach_s: float
    pause_s: float = 0.0
    attitude: Attitude | None = None


@dataclass(frozen=True)
class PoseArray:
    """An array of 16 angles.

    Attributes:
        name: its name in C.
        degrees: its angles in `JOINT_ORDER` [deg].
        line: the line of its declaration, from 1.
        statement: the statement from the start of its line to its semicolon.
        identifier: the span of its name.
        cells: the spans of its numbers.
        timing: the content of our comment after it, if there is one.
        comment: the span of that comment; empty, right after the semicolon, without one.
        notes: the content of our comments before it, by key; they describe the motion that begins with it.
        notes_span: the span of those comments; empty, at the start of its line, without any.
    """

    name: str
    degrees: tuple[float, ...]
    line: int
    statement: Span
    identifier: Span
    cells: tuple[Span, ...]
    timing: Timing | None
    comment: Span
    notes: Mapping[str, str]
    notes_span: Span


@dataclass(frozen=True)
class PoseHeader:
    """A header file with arrays of angles."""

    raw: bytes = field(repr=False)
    arrays: tuple[PoseArray, ...] = field(repr=False)
    remarks: tuple[str, ...] = ()

    def render(self) -> bytes:
        """Return the bytes it was read from."""
        return self.raw

    def with_edits(self, edits: Iterable[Edit]) -> bytes:
        """Return the bytes after edits, which must not overlap; insertions at one place keep their order."""
        return splice_bytes(self.raw, sorted(edits, key=lambda edit: edit[:2]))


@dataclass(frozen=True)
class Series:
    """The arrays of one motion.

    Attributes:
        name: the common part of their names, without the pose numbers.
        arrays: the arrays in the order of their numbers.
        is_numbered: whether their names have pose numbers; a single array may have none.
        remarks: descriptions of oddities, such as gaps in the numbers.
    """

    name: str
    arrays: tuple[PoseArray, ...]
    is_numbered: bool
    remarks: tuple[str, ...] = field(default=())


_NUMBERED_NAME = re.compile(r"(.+)_([0-9]{1,4})")
_MAX_NUMBER_DIGITS = 2
_LAST_NUMBER = 10**_MAX_NUMBER_DIGITS - 1


def numbered_name(name: str, number: int) -> str:
    """Return the array name of pose `number` of a motion, such as `KICK_101_01`."""
    return f"{name}_{number:0{_MAX_NUMBER_DIGITS}d}"


def has_pose_number(name: str) -> bool:
    """Return whether an array's name ends in a pose number; three digits belong to the motion's name."""
    match = _NUMBERED_NAME.fullmatch(name)
    return match is not None and len(match[2]) <= _MAX_NUMBER_DIGITS


def split_name(name: str, all_names: Iterable[str]) -> tuple[str, int | None]:
    """Return the motion's name and the pose number in an array's name; no number if it has none.

    One or two digits are a pose number. Three digits, as in KICK_101, belong to the motion's name, unless
    `all_names` of the header include a 99th pose that they continue.
    """
    match = _NUMBERED_NAME.fullmatch(name)
    if match is None:
        return name, None
    motion_name = match[1]
    if has_pose_number(name) or numbered_name(motion_name, _LAST_NUMBER) in all_names:
        return motion_name, int(match[2])
    return name, None


MOTION = "motion"
"""The key of the first note of a motion: its name, which need not be a C name."""

_SECONDS = rb"([0-9]{1,6}(?:\.[0-9]{1,9})?) s"
_DEGREES = rb"(-?[0-9]{1,4}(?:\.[0-9]{1,9})?)"
_TIMING = re.compile(
    rb"[ \t]*+// reach "
    + _SECONDS
    + rb"(?:, pause "
    + _SECONDS
    + rb")?(?:, attitude "
    + rb" ".join([_DEGREES] * 3)
    + rb" deg)?(?=[ \t]*+(?:\r?\n|//|\Z))"
)
_QUOTED = r'"(?:[^"\\]|\\.)*+"'
_NOTE = re.compile(rf"// ([A-Za-z_][\w-]{{0,63}}|{_QUOTED}): (.+)")
_UNQUOTED_KEY = re.compile(r"[A-Za-z_][\w-]{0,63}", re.ASCII)
_UNQUOTED_TEXT = re.compile(r"[!#-\[\]-~](?:[ -\[\]-~]*[!-\[\]-~])?")
_MAX_NOTES = 64


def find_timing(raw: bytes, start: int) -> tuple[Timing | None, Span]:
    """Return the content of the timing comment at byte `start`, right after an array, and its span.

    Without a valid comment the content is None and the span is empty.
    """
    match = _TIMING.match(raw, start)
    if match is None:
        return None, Span(start, start)
    reach_s = float(match[1])
    pause_s = float(match[2] or 0.0)
    if not all(time == 0.0 or SHORTEST_S <= time <= LONGEST_S for time in (reach_s, pause_s)):
        return None, Span(start, start)
    angles = [math.radians(float(angle)) for angle in match.groups()[2:] if angle is not None]
    attitude = (angles[0], angles[1], angles[2]) if angles else None
    return Timing(reach_s, pause_s, attitude), Span(*match.span())


def render_timing(timing: Timing) -> bytes:
    """Return the comment to write after an array."""
    parts = [
        f"reach {_format_decimal(timing.reach_s, 3)} s",
        f"pause {_format_decimal(timing.pause_s, 3)} s",
    ]
    if timing.attitude is not None:
        angles = " ".join(_format_decimal(math.degrees(angle), 1) for angle in timing.attitude)
        parts.append(f"attitude {angles} deg")
    return f"  // {', '.join(parts)}".encode()


def _format_decimal(value: float, min_decimals: int) -> str:
    """Return a number with as many decimals as it needs, but at least `min_decimals`."""
    text = f"{value + 0.0:.{DECIMALS}f}"  # + 0.0 turns -0.0 into 0.0
    min_length = text.index(".") + 1 + min_decimals
    return text.rstrip("0").ljust(min_length, "0")


def find_notes(raw: bytes, line_start: int, earliest: int) -> tuple[dict[str, str], Span]:
    """Return the notes of a motion on the lines right before byte `line_start`, and their span.

    Comments are only notes if the first of them gives the motion's name; otherwise the result is empty.

    Args:
        raw: the bytes of the header.
        line_start: the start of the line of the motion's first array.
        earliest: the byte before which notes belong to another array.
    """
    notes: list[tuple[str, str]] = []
    start = line_start
    while start > earliest and len(notes) < _MAX_NOTES:
        previous_start = max(raw.rfind(b"\n", earliest, start - 1) + 1, earliest)
        match = _NOTE.fullmatch(raw[previous_start:start].decode("utf-8", "replace").strip())
        if match is None:
            break
        start = previous_start
        key = _unquote(match[1])
        notes.append((key, _unquote(match[2])))
        if key == MOTION:
            return dict(reversed(notes)), Span(start, line_start)
    return {}, Span(line_start, line_start)


def render_notes(notes: Mapping[str, str], line_end: bytes) -> bytes:
    """Return the comment lines that hold notes, the motion's name first."""
    lines: list[bytes] = []
    for key, text in {MOTION: "", **notes}.items():
        quoted_key = key if _UNQUOTED_KEY.fullmatch(key) else json.dumps(key)
        lines.append(f"// {quoted_key}: {_quote(text)}".encode() + line_end)
    return b"".join(lines)


def _quote(text: str) -> str:
    """Return a text for a comment: as it is if a comment can hold it, otherwise as a JSON string.

    A backslash at the end of a comment would continue the comment on the next line.
    """
    return text if _UNQUOTED_TEXT.fullmatch(text) else json.dumps(text)


def _unquote(text: str) -> str:
    """Return a text without its JSON quotes and escapes; other texts are returned unchanged."""
    if not re.fullmatch(_QUOTED, text):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text
