"""A motion sequence (`#MSq`) or posture (`#POS`) as a document: its bytes, and what they set, and when.

Lines, words and numbers are taken as Tekkotsu's C code takes them. Source: formats.md 1.5; the words and
numbers as in Tekkotsu's MotionSequenceEngine.cc, which reads them with isspace(), strtol(word, &end, 0) and
strtod(). The outputs, which its files call joints and LEDs: outputNames and TargetName of Tekkotsu's
Shared/ERS7Info.h, ERS210Info.h and ERS220Info.h. Which joint of a card a name is, the card says itself, as
its naming `tekkotsu`.
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
_WHOLE = re.compile(rb"[+-]?(?:0[xX][0-9a-fA-F]{1,8}|0[0-7]{0,11}|[1-9][0-9]{0,9})")
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")

MAX_VALUE = 1e6  # a larger angle is a slip of the pen; no weight and no LED goes beyond 1


@dataclass(frozen=True)
class Word:
    """A word and where it stands in the file, from `at` up to but not including `end`."""

    text: bytes
    at: int

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.at + len(self.text)


def lines_of(data: bytes, path: Path | None = None) -> Iterator[tuple[int, TextLine]]:
    """Yield every line with the byte it begins at; CR, LF and CRLF end one, as in Tekkotsu."""
    for number, found in enumerate(_LINE.finditer(data), 1):
        if number > MAX_LINES:
            where = Where(path=path, line=MAX_LINES)
            raise FormatError("more lines", where=where, hint=f"no honest file has more than {MAX_LINES:,}")
        yield found.start(), TextLine(found.group(), number, path)


def words_of(begin: int, line: TextLine, separators: bytes = b"", *, most: int) -> list[Word]:
    """Return the first `most` words of a line that begins at byte `begin` of its file.

    What stands in `separators` parts words as blanks do. One line may be the whole of a large file.
    """
    words = re.finditer(rb"[^\s" + re.escape(separators) + rb"]+", line.raw)
    return [Word(found.group(), begin + found.start()) for found in islice(words, most)]


def whole(word: bytes, line: TextLine, what: str) -> int:
    """Return a whole number as C writes it: 0x10 is sixteen and 010 is eight."""
    if not _WHOLE.fullmatch(word):
        message = f"{what} is {quote_bytes(word)}"
        line.fail(message, hint="right is a whole number of milliseconds; 010 is octal and 0x10 hexadecimal")
    sign = -1 if word.startswith(b"-") else 1
    digits = word.lstrip(b"+-")
    if digits[:2].lower() == b"0x":
        return sign * int(digits, 16)
    return sign * int(digits, 8 if digits.startswith(b"0") else 10)


def decimal(word: bytes, line: TextLine, what: str) -> float:
    """Return a number with a decimal point or without one."""
    value = float(word) if _DECIMAL.fullmatch(word) else float("nan")
    if not abs(value) <= MAX_VALUE:
        line.fail(f"{what} is {quote_bytes(word)}", hint="right is a number like -1.25 or 3e-4")
    return value


NAMING = "tekkotsu"  # name of the naming on a robot's card
DEFAULT_ROBOT = "sony_ers7"
"""Whose file it is where its names do not tell: Tekkotsu's last and best known AIBO."""

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
"""All outputs of a model in Tekkotsu's order, which is that of a condensed posture's arrays."""

MODELS: Mapping[str, str] = MappingProxyType(
    {"sony_ers7": "ERS-7", "sony_ers210": "ERS-210", "sony_ers220": "ERS-220"}
)
"""What Tekkotsu calls the robots that ship here."""


def plain(name: str) -> str:
    """Return an output's name without the padding that older files have."""
    return name.rstrip(PADDING)


def joints_called(name: str, card: Robot) -> tuple[str, ...]:
    """Return the joints of `card` that an output is: one, both where no side is named, or none."""
    names = card.namings.get(NAMING, {})
    if name in names:
        return (names[name],)
    pair = tuple(names[side + name] for side in "LR" if side + name in names)
    return pair if len(pair) == 2 else ()


def unit_rad(joint: str, card: Robot) -> float:
    """Return what a value of 1 means [rad]; an ear has two places, which Tekkotsu calls 0 and 1."""
    known = card.joint(joint)
    return known.upper_rad if known.two_state else 1.0


def is_led(name: str) -> bool:
    """Tell whether an output is a LED."""
    return name.startswith(LED)


def robot_of(names: Iterable[str]) -> Robot:
    """Return the robot that ships and knows most of the outputs `names`; the ERS-7 where several do."""
    joints = {name for name in names if name and not is_led(name)}
    ships = [DEFAULT_ROBOT, *(name for name in robot_names() if name != DEFAULT_ROBOT)]
    cards = [card for card in map(robot, ships) if NAMING in card.namings]
    return max(cards, key=lambda card: len(joints & _known(card)))


def _known(card: Robot) -> set[str]:
    """Return all names that are joints of a robot, those without a side included."""
    names = card.namings[NAMING]
    return {*names, *(name[1:] for name in names if joints_called(name[1:], card))}


def is_for(model: str, card: Robot) -> bool:
    """Tell whether what is specialised for `model`, a pattern of model names, is meant for a robot."""
    return not model or _matches(model, MODELS.get(card.name, card.name))


@lru_cache(maxsize=64)
def _matches(model: str, name: str) -> bool:
    return re.fullmatch(model, name) is not None


EVERY = ""  # the name of all outputs at once, in a setting that releases them


class Setting(NamedTuple):
    """An output set to a value at a time."""

    time_ms: int
    name: str  # the output as the file names it, without padding; `EVERY` for all of them
    value: float  # [rad], of a LED its brightness
    weight: float = 1.0  # 1, or less where other commands have a say; 0 releases the output
    line: int = 0
    word: Word | None = None  # the word its value stands in; None where that is in another file, or nowhere
    unit: float = 1.0
    model: str = ""  # pattern of the models the setting is for; empty for all


class Key(NamedTuple):
    """A key of an output's own track: its value and weight at a time."""

    time_ms: int
    value: float
    weight: float


Track = tuple[Key, ...]


@dataclass(frozen=True)
class Tracks:
    """Every output's own keys, in the order of time."""

    joints: Mapping[str, Track]
    leds: Mapping[str, Track]
    unknown: Mapping[str, int]  # outputs that the robot has not, each with the first line it stands in

    @cached_property
    def times(self) -> list[int]:
        """All times at which a joint has a key, in order [ms]."""
        return sorted({key.time_ms for track in self.joints.values() for key in track})

    @property
    def end_ms(self) -> int:
        """The time of the last key [ms]."""
        tracks = [*self.joints.values(), *self.leds.values()]
        return max((track[-1].time_ms for track in tracks), default=0)


def tracks_of(settings: Sequence[Setting], card: Robot) -> Tracks:
    """Return the tracks of settings on a robot; of two at the same time the later line counts.

    A weight of 0 at time 0 sets nothing: the output begins wherever it is.
    """
    keys: dict[str, dict[int, Key]] = {}
    unknown: dict[str, int] = {}
    units = {joint: unit_rad(joint, card) for joint in card.joint_names}
    for setting in settings:
        if not is_for(setting.model, card):
            continue
        outputs = _outputs(setting.name, card)
        if not outputs:
            unknown.setdefault(setting.name, setting.line)
        for output in outputs:
            value = setting.value * (1.0 if is_led(output) else units[output])
            key = Key(setting.time_ms, value, max(setting.weight, 0.0))
            keys.setdefault(output, {})[setting.time_ms] = key
    tracks = {
        output: tuple(by_time[time] for time in sorted(by_time) if time or by_time[time].weight)
        for output, by_time in keys.items()
    }
    tracks = {output: track for output, track in tracks.items() if any(key.weight for key in track)}
    joints = {joint: tracks[joint] for joint in card.joint_names if joint in tracks}
    return Tracks(joints, {name: tracks[name] for name in tracks if is_led(name)}, unknown)


def _outputs(name: str, card: Robot) -> tuple[str, ...]:
    if name == EVERY:
        return card.joint_names
    return (name,) if is_led(name) else joints_called(name, card)


@dataclass(frozen=True)
class SettingsDocument:
    """A sequence or a posture.

    Attributes:
        settings: all it sets, in the order of the lines; what other files set through it, too.
    """

    raw: bytes = field(repr=False)
    settings: tuple[Setting, ...] = field(repr=False)
    loads: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def render(self) -> bytes:
        """Return the bytes it was read from."""
        return self.raw

    def with_words(self, words: Mapping[int, bytes]) -> bytes:
        """Return the bytes with other values in them.

        `words` are to stand in place of those of settings, by place in `settings`.
        """
        found = {place: self.settings[place].word for place in words}
        spans = {word.at: (word.end, words[place]) for place, word in found.items() if word is not None}
        return splice_bytes(self.raw, [(at, *rest) for at, rest in sorted(spans.items())])
