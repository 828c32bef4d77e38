"""Comments of ours in a C header of poses: what an array of angles cannot say.

// motion: a_walk#walk_kick
// creator: Eagle Knights
const double A_WALK_WALK_KICK_01[16] = {...};  // reach 0.400 s, pause 0.100 s
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from posewright.formats.ekmoves.header import DECIMALS, Span, Timing
from posewright.motions.pose import LONGEST_S, SHORTEST_S

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

    Args:
        raw: the file's bytes.
        at: where the array's line begins.
        earliest: where to stop looking.
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
    lines = (f"// {_key(key)}: {_quoted(text)}".encode() for key, text in {**first, **notes}.items())
    return b"".join(line + eol for line in lines)


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else json.dumps(key)


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
