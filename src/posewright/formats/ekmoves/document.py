"""A C header of AIBO poses (EKMoves.h) as a document: its bytes, the arrays in them, and our comments.

Source: seeds.md A3 (Eagle Knights 2007): arrays of 16 numbers in degrees; a name ends in the pose's number.
Comments of ours say what an array of angles cannot:

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

ORDER = (
    *("head_tilt", "head_pan", "neck_tilt", "mouth"),
    *(f"left_front_{joint}" for joint in ("rotator", "elevator", "knee")),
    *(f"left_rear_{joint}" for joint in ("rotator", "elevator", "knee")),
    *(f"right_front_{joint}" for joint in ("rotator", "elevator", "knee")),
    *(f"right_rear_{joint}" for joint in ("rotator", "elevator", "knee")),
)
"""The joint of every number: Tilt2, Pan, Tilt1 and Mouth, which is not the order of an MTN, then J1, J2, J3
of the legs. There are no ears and no tail."""

CYCLES_PER_POSE = 50
CYCLE_S = 0.008
DEFAULT_REACH_S = CYCLES_PER_POSE * CYCLE_S
"""Time into a pose where nobody says [s]: EKMotion's Kickb loads one every 50 cycles (seeds.md A4)."""

DECIMALS = 6
QUANTUM_DEG = 10.0**-DECIMALS
QUANTUM_S = 10.0**-DECIMALS


class Span(NamedTuple):
    """A stretch of the file: from `at` up to but not including `end`."""

    at: int
    end: int


class Edit(NamedTuple):
    """What is to stand in place of a stretch of the file."""

    at: int
    end: int
    text: bytes


@dataclass(frozen=True)
class Timing:
    """What we write behind an array, as the array itself cannot say it."""

    reach_s: float
    pause_s: float = 0.0
    attitude: Attitude | None = None


@dataclass(frozen=True)
class PoseArray:
    """One array."""

    name: str
    degrees: tuple[float, ...]  # 16 angles in `ORDER` [deg]
    line: int
    statement: Span  # where it stands, from the beginning of its line to the semicolon
    identifier: Span
    cells: tuple[Span, ...]
    timing: Timing | None
    comment: Span  # where that comment stands; empty, just behind the semicolon, where there is none
    notes: Mapping[str, str]  # what comments of ours before it say of the motion that it begins, by key
    notes_span: Span  # where those stand; empty, at the beginning of its line, where there are none


@dataclass(frozen=True)
class PoseHeader:
    """A header."""

    raw: bytes = field(repr=False)
    arrays: tuple[PoseArray, ...] = field(repr=False)
    remarks: tuple[str, ...] = ()

    def render(self) -> bytes:
        """Return the bytes it was read from."""
        return self.raw

    def with_edits(self, edits: Iterable[Edit]) -> bytes:
        """Return the bytes with edits that do not overlap; of several at one place in the order given."""
        return splice_bytes(self.raw, sorted(edits, key=lambda edit: edit[:2]))


@dataclass(frozen=True)
class Series:
    """The arrays of one motion."""

    name: str  # what their names have in common, without the order numbers
    arrays: tuple[PoseArray, ...]
    is_numbered: bool  # whether they have order numbers; a single pose may have none
    remarks: tuple[str, ...] = field(default=())


_NUMBERED = re.compile(r"(.+)_([0-9]{1,4})")
_DIGITS = 2
_LAST = 10**_DIGITS - 1


def numbered(name: str, number: int) -> str:
    """Return the name of pose `number` of a motion: `KICK_101_01`."""
    return f"{name}_{number:0{_DIGITS}d}"


def has_number(name: str) -> bool:
    """Tell whether a name ends in an order number, rather than in the number of its motion."""
    found = _NUMBERED.fullmatch(name)
    return found is not None and len(found[2]) <= _DIGITS


def split_name(name: str, names: Iterable[str]) -> tuple[str, int | None]:
    """Return what an array's name says: the motion's name and the pose's number.

    One or two digits are an order number; three, as in KICK_101, are part of a name, unless there is a 99th
    pose among the `names` that they come after.
    """
    found = _NUMBERED.fullmatch(name)
    if found is None or not (has_number(name) or numbered(found[1], _LAST) in names):
        return name, None
    return found[1], int(found[2])


MOTION = "motion"
"""The note that a block of notes begins with: what the motion is called where that is no C name."""

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
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]{0,63}", re.ASCII)
_PLAIN = re.compile(r"[!#-\[\]-~](?:[ -\[\]-~]*[!-\[\]-~])?")
_MOST_NOTES = 64


def timing_at(raw: bytes, at: int) -> tuple[Timing | None, Span]:
    """Return what our comment behind an array that ends at byte `at` says, and where it stands."""
    found = _TIMING.match(raw, at)
    if found is None:
        return None, Span(at, at)
    reach_s, pause_s = float(found[1]), float(found[2] or 0.0)
    if not all(time == 0.0 or SHORTEST_S <= time <= LONGEST_S for time in (reach_s, pause_s)):
        return None, Span(at, at)
    angles = [math.radians(float(angle)) for angle in found.groups()[2:] if angle is not None]
    attitude = (angles[0], angles[1], angles[2]) if angles else None
    return Timing(reach_s, pause_s, attitude), Span(*found.span())


def timing_text(timing: Timing) -> bytes:
    """Return our comment behind an array."""
    said = [f"reach {_decimal(timing.reach_s, 3)} s", f"pause {_decimal(timing.pause_s, 3)} s"]
    if timing.attitude is not None:
        angles = " ".join(_decimal(math.degrees(angle), 1) for angle in timing.attitude)
        said.append(f"attitude {angles} deg")
    return f"  // {', '.join(said)}".encode()


def _decimal(value: float, least: int) -> str:
    """Return a number with `least` decimals or as many as it needs."""
    text = f"{value + 0.0:.{DECIMALS}f}"
    return text.rstrip("0").ljust(text.index(".") + 1 + least, "0")


def notes_before(raw: bytes, at: int, earliest: int) -> tuple[dict[str, str], Span]:
    """Return the notes on the lines just before byte `at`, which begins a line, and where they stand.

    They are ours only where the first of them says what the motion is called.
    """
    found: list[tuple[str, str]] = []
    begin = at
    while begin > earliest and len(found) < _MOST_NOTES:
        line_begin = max(raw.rfind(b"\n", earliest, begin - 1) + 1, earliest)
        note = _NOTE.fullmatch(raw[line_begin:begin].decode("utf-8", "replace").strip())
        if note is None:
            break
        begin = line_begin
        found.append((_unquoted(note[1]), _unquoted(note[2])))
        if found[-1][0] == MOTION:
            return dict(reversed(found)), Span(begin, at)
    return {}, Span(at, at)


def notes_text(notes: Mapping[str, str], eol: bytes) -> bytes:
    """Return the lines that say notes, the motion's name first."""
    first = {MOTION: notes.get(MOTION, "")}
    keys = {key: key if _PLAIN_KEY.fullmatch(key) else json.dumps(key) for key in (*first, *notes)}
    said = {**first, **notes}.items()
    return b"".join(f"// {keys[key]}: {_quoted(text)}".encode() + eol for key, text in said)


def _quoted(text: str) -> str:
    """Return a text as it stands where a comment can hold it, else as JSON has it.

    A backslash at the end of a comment would make the next line part of it.
    """
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def _unquoted(text: str) -> str:
    if not re.fullmatch(_QUOTED, text):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text
