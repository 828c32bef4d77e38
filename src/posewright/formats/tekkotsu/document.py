"""A motion sequence (`#MSq`) or posture (`#POS`) as a document: its bytes, and the outputs it sets over time.

Lines, words and numbers are split as Tekkotsu's C code splits them. Source: formats.md 1.5, and Tekkotsu's
MotionSequenceEngine.cc, which uses isspace(), strtol(word, &end, 0) and strtod(). The names of the outputs
(joints and LEDs) are outputNames and TargetName of Tekkotsu's Shared/ERS7Info.h, ERS210Info.h and
ERS220Info.h. A robot's card maps these names to its joints in its naming `tekkotsu`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from posewright.errors import FormatError, Where
from posewright.formats.text_lines import MAX_LINES, TextLine, quote_bytes, splice_bytes
from posewright.robots import Robot, robot, robot_names

TEKKOTSU_MOT = "tekkotsu-mot"
TEKKOTSU_POS = "tekkotsu-pos"

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_C_INTEGER = re.compile(rb"[+-]?(?:0[xX][0-9a-fA-F]{1,8}|0[0-7]{0,11}|[1-9][0-9]{0,9})")
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")

MAX_VALUE = 1e6  # a larger angle is a typing error; weights and LEDs never exceed 1


@dataclass(frozen=True)
class Word:
    """A word and the byte of the file it starts at."""

    text: bytes
    start: int

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.start + len(self.text)


def lines_of(data: bytes, path: Path | None = None) -> Iterator[tuple[int, TextLine]]:
    """Yield every line with the byte it starts at; as in Tekkotsu, it ends with CR, LF or CRLF.

    Raises:
        FormatError: there are more than `MAX_LINES`.
    """
    for number, match in enumerate(_LINE.finditer(data), 1):
        if number > MAX_LINES:
            where = Where(path=path, line=MAX_LINES)
            raise FormatError("too many lines", where=where, hint=f"at most {MAX_LINES:,} lines are read")
        yield match.start(), TextLine(match.group(), number, path)


def words_of(start: int, line: TextLine, separators: bytes = b"", *, limit: int) -> list[Word]:
    """Return the first words of a line.

    Args:
        start: the byte of the file that the line starts at.
        line: the line.
        separators: characters that separate words, besides blanks.
        limit: the largest number of words; a single line may be as long as a large file.
    """
    matches = re.finditer(rb"[^\s" + re.escape(separators) + rb"]+", line.raw)
    return [Word(match.group(), start + match.start()) for match in islice(matches, limit)]


def parse_milliseconds(word: bytes, line: TextLine) -> int:
    """Return a time written as a C integer: 0x10 is 16 and 010 is 8. Raise FormatError if it is none."""
    if not _C_INTEGER.fullmatch(word):
        hint = "write a whole number of milliseconds; 010 is octal and 0x10 hexadecimal"
        line.fail(f"the time is {quote_bytes(word)}", hint=hint)
    sign = -1 if word.startswith(b"-") else 1
    digits = word.lstrip(b"+-")
    if digits[:2].lower() == b"0x":
        return sign * int(digits, 16)
    return sign * int(digits, 8 if digits.startswith(b"0") else 10)


def parse_decimal(word: bytes, line: TextLine, name: str) -> float:
    """Return a number with or without a decimal point; raise FormatError if it is none or too large."""
    value = float(word) if _DECIMAL.fullmatch(word) else float("nan")
    if not abs(value) <= MAX_VALUE:
        hint = f"write a number like -1.25 or 3e-4, up to {MAX_VALUE:g}"
        line.fail(f"{name} is {quote_bytes(word)}", hint=hint)
    return value


NAMING = "tekkotsu"
"""The naming on a robot's card that has Tekkotsu's names of its joints."""

DEFAULT_ROBOT = "sony_ers7"
"""The robot of a file whose outputs several robots have: Tekkotsu's last and best known AIBO."""

LED = "LED:"
PADDING = "~"

_LEGS = tuple(
    f"{leg}:{joint}" for leg in ("LFr", "RFr", "LBk", "RBk") for joint in ("rotor", "elvtr", "knee")
)
_FACE_210 = tuple(f"{LED}{name}" for name in ("botL", "botR", "midL", "midR", "topL", "topR", "topBr"))

_OUTPUTS_ERS7 = (
    *_LEGS,
    *("NECK:tilt", "NECK:pan", "NECK:nod", "TAIL:tilt", "TAIL:pan", "MOUTH"),
    *(f"{LED}{name}" for name in ("headC", "headW", "modeR", "modeG", "modeB", "wless")),
    *(f"{LED}face{letter}" for letter in "ABCDEFGHIJKLMN"),
    *(f"{LED}{name}" for name in ("bkFrC", "bkFrW", "bkMdC", "bkMdW", "bkRrC", "bkRrW", "ABmod")),
    *("EAR:left", "EAR:right"),
)
_OUTPUTS_ERS210 = (
    *_LEGS,
    *("NECK:tilt", "NECK:pan", "NECK:roll", "TAIL:tilt", "TAIL:pan", "MOUTH"),
    *_FACE_210,
    *(f"{LED}{name}" for name in ("tlRed", "tlBlu")),
    *("EAR:left", "EAR:right"),
)
_OUTPUTS_ERS220 = (
    *_LEGS,
    *("NECK:tilt", "NECK:pan", "NECK:roll"),
    *_FACE_210,
    *(f"{LED}{name}" for name in ("bkL1", "bkL2", "bkL3", "bkR3", "bkR2", "bkR1", "tailL", "tailC", "tailR")),
    *(f"{LED}{name}" for name in ("faceB", "faceA", "faceC", "light")),
)

OUTPUTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"ERS-7": _OUTPUTS_ERS7, "ERS-210": _OUTPUTS_ERS210, "ERS-220": _OUTPUTS_ERS220}
)
"""All outputs of a model in the order of Tekkotsu's enumeration and of a condensed posture."""

MODELS: Mapping[str, str] = MappingProxyType(
    {"sony_ers7": "ERS-7", "sony_ers210": "ERS-210", "sony_ers220": "ERS-220"}
)
"""Tekkotsu's names of the shipped robots."""


def strip_padding(name: str) -> str:
    """Return an output's name without the padding of older files."""
    return name.rstrip(PADDING)


def joints_named(name: str, card: Robot) -> tuple[str, ...]:
    """Return the joints that an output's name stands for: one, a left and right pair, or none."""
    joints = card.namings.get(NAMING, {})
    if name in joints:
        return (joints[name],)
    pair = tuple(joints[side + name] for side in "LR" if side + name in joints)
    return pair if len(pair) == 2 else ()


def unit_rad(joint: str, card: Robot) -> float:
    """Return the angle of a joint at the value 1 [rad]; an ear has two positions, 0 and 1 in Tekkotsu."""
    spec = card.joint(joint)
    return spec.upper_rad if spec.two_state else 1.0


def is_led(name: str) -> bool:
    """Return whether an output is an LED."""
    return name.startswith(LED)


def guess_robot(names: Iterable[str]) -> Robot:
    """Return the shipped robot that has most of the outputs `names`; the ERS-7 if several do."""
    joints = {name for name in names if name and not is_led(name)}
    candidates = [DEFAULT_ROBOT, *(name for name in robot_names() if name != DEFAULT_ROBOT)]
    cards = [card for card in map(robot, candidates) if NAMING in card.namings]
    return max(cards, key=lambda card: len(joints & _output_names(card)))


def _output_names(card: Robot) -> set[str]:
    """Return all names of a robot's joints, including those of a left and right pair."""
    names = card.namings[NAMING]
    return {*names, *(name[1:] for name in names if joints_named(name[1:], card))}


def applies_to(model_pattern: str, card: Robot) -> bool:
    """Return whether a setting that is specialized for some models applies to a robot."""
    return not model_pattern or _matches(model_pattern, MODELS.get(card.name, card.name))


@lru_cache(maxsize=64)
def _matches(pattern: str, model: str) -> bool:
    return re.fullmatch(pattern, model) is not None


ALL_OUTPUTS = ""
"""The name of all outputs at once, in a setting that releases them."""


class Setting(NamedTuple):
    """An output set to a value at a time.

    Attributes:
        time_ms: the time [ms].
        name: the output as the file names it, without padding; `ALL_OUTPUTS` for all of them.
        value: the angle in radians or two-state value of a joint, or the brightness of an LED.
        weight: 1, or less if other commands share the output; 0 releases it.
        line: the line of the file, from 1.
        value_word: the written value and its place; None if it is in another file, or not written.
        unit: the factor by which the written value was multiplied.
        model: a pattern of the models it is for; empty for all.
    """

    time_ms: int
    name: str
    value: float
    weight: float = 1.0
    line: int = 0
    value_word: Word | None = None
    unit: float = 1.0
    model: str = ""


class Key(NamedTuple):
    """A key of one output: its value and weight at a time."""

    time_ms: int
    value: float
    weight: float


Track = tuple[Key, ...]


@dataclass(frozen=True)
class Tracks:
    """The keys of all outputs, each in the order of time.

    Attributes:
        joints: the tracks of joints, in the robot's order; values are angles [rad].
        leds: the tracks of LEDs.
        unknown: outputs that the robot does not have, each with the first line it is on.
    """

    joints: Mapping[str, Track]
    leds: Mapping[str, Track]
    unknown: Mapping[str, int]

    @cached_property
    def times_ms(self) -> list[int]:
        """All times at which a joint has a key, in order [ms]."""
        return sorted({key.time_ms for track in self.joints.values() for key in track})

    @property
    def end_ms(self) -> int:
        """The time of the last key [ms]."""
        tracks = [*self.joints.values(), *self.leds.values()]
        return max((track[-1].time_ms for track in tracks), default=0)


def tracks_of(settings: Sequence[Setting], card: Robot) -> Tracks:
    """Return the tracks of settings on a robot; of two settings at the same time, the later line counts.

    Settings for other models are left out, and so is a weight of 0 at time 0, because every output starts
    released. An output whose weight is always 0 has no track.
    """
    keys: dict[str, dict[int, Key]] = {}  # by output and time [ms]
    unknown: dict[str, int] = {}
    joint_units = {joint: unit_rad(joint, card) for joint in card.joint_names}
    for setting in settings:
        if not applies_to(setting.model, card):
            continue
        outputs = _outputs_of(setting.name, card)
        if not outputs:
            unknown.setdefault(setting.name, setting.line)
        for output in outputs:
            unit = 1.0 if is_led(output) else joint_units[output]
            key = Key(setting.time_ms, setting.value * unit, max(setting.weight, 0.0))
            keys.setdefault(output, {})[setting.time_ms] = key
    tracks: dict[str, Track] = {}
    for output, keys_by_time in keys.items():
        sorted_keys = [keys_by_time[time_ms] for time_ms in sorted(keys_by_time)]
        track = tuple(key for key in sorted_keys if key.time_ms or key.weight)
        if any(key.weight for key in track):
            tracks[output] = track
    joints = {joint: tracks[joint] for joint in card.joint_names if joint in tracks}
    leds = {name: track for name, track in tracks.items() if is_led(name)}
    return Tracks(joints, leds, unknown)


def _outputs_of(name: str, card: Robot) -> tuple[str, ...]:
    """Return the joints or the LED that a setting's name stands for; empty if the robot has none of them."""
    if name == ALL_OUTPUTS:
        return card.joint_names
    return (name,) if is_led(name) else joints_named(name, card)


@dataclass(frozen=True)
class SettingsDocument:
    """A sequence or a posture.

    Attributes:
        raw: the bytes of the file.
        settings: all settings in the order of the lines, including those of files it loads.
        loads: the files it loads, directly or through others.
        remarks: descriptions of oddities in the file.
    """

    raw: bytes = field(repr=False)
    settings: tuple[Setting, ...] = field(repr=False)
    loads: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def render(self) -> bytes:
        """Return the bytes it was read from."""
        return self.raw

    def with_value_words(self, new_words: Mapping[int, bytes]) -> bytes:
        """Return the bytes of the file with the values of some settings replaced as text.

        Args:
            new_words: the new text of a setting's value, by index in `settings`. Settings whose value is in
                another file or not written are left out.
        """
        # several settings may come from one word, so there is one edit for each start of a word
        edit_by_start: dict[int, tuple[int, int, bytes]] = {}
        for index, new_word in new_words.items():
            value_word = self.settings[index].value_word
            if value_word is not None:
                edit_by_start[value_word.start] = (value_word.start, value_word.end, new_word)
        return splice_bytes(self.raw, sorted(edit_by_start.values()))
