"""What comes to the board from outside: the body's sensors, and scripts of remote control, ports and line.

    REMOCON=3@2.0, AD5=20@3.0, AD5=sensor@4.0, ERX=65@5

A piece is a port, what it reads, and from when on [s]; commas and ends of lines part them, `#` begins a
comment. A key of the remote control and a byte are there until the program has read them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import product
from pathlib import Path

import numpy as np

from posewright.bodies import BodyState
from posewright.documents import parse_document, read_record
from posewright.errors import FormatError, Where
from posewright.robots import Robot
from posewright.runtimes.robobasic.expressions import FUNCTIONS
from posewright.runtimes.robobasic.servos import board_facts
from posewright.runtimes.robobasic.tree import Number, Source, calls_of, statements_in

COUNTS = 255
N_PORTS = 8
VOLTS_A_COUNT = 5.0 / 256.0
"""An AD port reads 0..255 for 0..5 V (ATmega128, its upper eight bits)."""

BATTERY_A_COUNT = 10.0 / 256.0
"""The battery comes to its port halved (templates: V = 10 x value / 256)."""

NOTHING = "none"
LATEST_S = 3600.0
MOST_PIECES = 10_000
_PORT = r"(REMOCON|ERX|(?:AD|IN|BYTEIN|SONAR|RCIN)[ (]*[0-9]{1,2}\)?)"
_PIECE = re.compile(
    rf"{_PORT} *= *([0-9]{{1,5}}|sensor) *@ *([0-9]{{1,9}}(?:\.[0-9]{{0,9}})?)", re.IGNORECASE | re.ASCII
)
FORM = "PORT=VALUE@SECONDS, as in REMOCON=3@2.0 or AD5=20@3"


@dataclass(frozen=True, slots=True, order=True)
class ScriptedInput:
    """What a port reads from a time on [s]; None for what the sensor says again."""

    time_s: float
    port: str
    number: int
    value: int | None


def read_inputs(text: str, path: Path | None = None) -> tuple[ScriptedInput, ...]:
    """Return the pieces of a script in the order of their times.

    Raises:
        FormatError: a piece is not of that form.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for piece in line.partition("#")[0].split(","):
            if piece.strip():
                found.append(_scripted(piece.strip(), Where(path, line=number) if path else None))
    if len(found) > MOST_PIECES:
        raise FormatError(f"{len(found):,} inputs", hint=f"at most {MOST_PIECES:,}")
    return tuple(sorted(found, key=lambda one: one.time_s))


def _scripted(piece: str, where: Where | None) -> ScriptedInput:
    match = _PIECE.fullmatch(piece)
    if match is None or float(match[3]) > LATEST_S:
        hint = f"right is {FORM}; 0..{LATEST_S:g} s"
        raise FormatError(f"{piece[:40]!r} is no input with its time", where=where, hint=hint)
    port, value = match[1].upper(), None if match[2].lower() == "sensor" else int(match[2])
    digits = re.search(r"[0-9]+", port)
    word = port[: digits.start()].strip(" (") if digits else port
    most = {"REMOCON": 32, "SONAR": 65535, "IN": 1}.get(word, COUNTS)
    if value is None and word in {"REMOCON", "ERX"}:
        raise FormatError(f"{piece!r}: {word} has no sensor", where=where, hint=f"right is {FORM}")
    least = 1 if word == "REMOCON" else 0
    if value is not None and not least <= value <= most:
        raise FormatError(f"{piece!r}: {value} for {word}", where=where, hint=f"{least}..{most}")
    number, last = int(digits[0]) if digits else 0, FUNCTIONS.get(word, (0, 0))[1]
    if number > last:
        raise FormatError(f"{piece!r}: there is no {word}({number})", where=where, hint=f"0..{last}")
    return ScriptedInput(float(match[3]), word, number, value)


@dataclass(frozen=True, slots=True)
class Plugged:
    """A sensor on an AD port, or on none unless a person says so, and the law of its counts."""

    name: str
    port: int | None
    sensor: str
    law: str


@dataclass(frozen=True, slots=True)
class Law:
    """How a reading becomes counts; `ports.yaml` says what the numbers are.

    Attributes:
        quiet: counts where the body has no such sensor.
        volts: knots of a curve from metres to volts.
    """

    quiet: int
    volts: tuple[tuple[float, float], ...] = ()
    upright: float = 0.0
    counts_a_radian: float = 0.0
    least: int = 0
    most: int = COUNTS


@dataclass(frozen=True, slots=True)
class Ports:
    """What is plugged in where, and what a port reads that has nothing."""

    open_pin: int
    ad: tuple[Plugged, ...]
    laws: Mapping[str, Law]


@cache
def ports() -> Ports:
    """Return what is plugged into a RoboNova-1."""
    text = resources.files(__package__).joinpath("ports.yaml").read_text(encoding="utf-8")
    return read_record(parse_document(text), Ports)


def _distance(law: Law, reading: float) -> float:
    metres, volts = zip(*law.volts, strict=True)
    return float(np.interp(reading, metres, volts)) / VOLTS_A_COUNT


def _heading(_: Law, reading: float) -> float:
    return math.floor(reading / (2.0 * math.pi) * 256.0 + 0.5) % 256


def _tilt(law: Law, reading: np.ndarray) -> float:
    """Return the counts of a tilt sensor: how far it leans forward, as the base's upright axis says."""
    roll, pitch = float(reading[0]), float(reading[1])
    forward = math.atan2(math.sin(pitch), abs(math.cos(roll)) * math.cos(pitch))
    return law.upright + forward * law.counts_a_radian


def _voltage(_: Law, reading: float) -> float:
    return reading / BATTERY_A_COUNT


LAWS: Mapping[str, Callable[..., float]] = {
    "distance": _distance,
    "heading": _heading,
    "tilt": _tilt,
    "tilt_2012": _tilt,
    "voltage": _voltage,
}


@dataclass(slots=True)
class BodyInputs:
    """Reads what a script says, else what the body's sensors do.

    Attributes:
        state: of the body, as it was last seen.
        plugged: sensors by their AD ports.
    """

    robot: Robot
    script: Sequence[ScriptedInput] = ()
    state: BodyState | None = None
    fixed: dict[tuple[str, int], int] = field(default_factory=dict)
    keys: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    place: int = 0
    plugged: Mapping[int, Plugged] = field(default_factory=lambda: read_plugs(()))
    _joints: Mapping[int | None, int] = field(init=False)

    def __post_init__(self) -> None:
        self._joints = {servo.id: joint for joint, servo in enumerate(self.robot.servos)}

    def see(self, state: BodyState, time_s: float) -> None:
        """Take in the state of the body, and what the script says by now."""
        self.state = state
        while self.place < len(self.script) and self.script[self.place].time_s <= time_s + 1e-9:
            self._take(self.script[self.place])
            self.place += 1

    def _take(self, one: ScriptedInput) -> None:
        if one.port == "REMOCON" and one.value is not None:
            self.keys = [one.value]
        elif one.port == "ERX" and one.value is not None:
            self.line.append(one.value)
        elif one.value is None:
            self.fixed.pop((one.port, one.number), None)
        else:
            self.fixed[one.port, one.number] = one.value

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing of the script is left to come, or to be read."""
        return self.place >= len(self.script) and not self.keys and not self.line

    def read(self, port: str, number: int) -> int:
        """Return what a port reads."""
        if port == "REMOCON":
            return self.keys.pop() if self.keys else 0
        if port == "ERX":
            return self.line.pop(0) if self.line else -1
        if (fixed := self.fixed.get((port, number))) is not None:
            return fixed
        if port == "MOTORIN":
            return self.position(number)
        return self._analog(number) if port == "AD" else 0

    def position(self, servo: int) -> int:
        """Return where a servo is, in counts of the robot; 0 where there is none of that number."""
        joint = self._joints.get(servo)
        if self.state is None or joint is None or not math.isfinite(angle := self.state.positions[joint]):
            return 0
        low, high = board_facts().counts
        return min(max(round(self.robot.servos[joint].to_ticks(float(angle))), low), high)

    def _analog(self, number: int) -> int:
        one = self.plugged.get(number)
        if one is None:
            return ports().open_pin
        law = ports().laws[one.law]
        reading = self.state.sensors.get(one.sensor) if self.state is not None else None
        if reading is None or not np.all(np.isfinite(reading)):
            return law.quiet
        counts = LAWS[one.law](law, reading)
        return int(min(max(round(counts), law.least), law.most))


_PLUG = re.compile(r"(?:AD)?([0-7]) *= *(\w+)", re.IGNORECASE | re.ASCII)
_TOLD_BY_LABELS = {"tilt": re.compile("(?i)tilt|기울기"), "battery": re.compile("(?i)volt|batter|전압")}
"""Public programs read these sensors in routines that are called after them."""


@dataclass(frozen=True, slots=True)
class MovedPlug:
    """A sensor that a program looks for on another AD port than usual, as the label above tells."""

    sensor: Plugged
    port: int
    line: int
    label: str

    @property
    def said(self) -> str:
        """It in words."""
        name = self.sensor.name
        return f"{self.label} reads AD({self.port}), so the {name} sensor is taken to be plugged in there"


def moved_plugs(source: Source) -> tuple[MovedPlug, ...]:
    """Return the sensors that a program looks for on other ports than usual; the first mention says where."""
    usual, found, label = {one.name: one for one in ports().ad}, dict[str, MovedPlug](), ""
    for line in source.lines:
        label = line.label or label
        names = [name for name, said in _TOLD_BY_LABELS.items() if name not in found and said.search(label)]
        calls = [call for one in statements_in(line.statement) for call in calls_of(one, "AD") if names]
        for name, call in product(names, calls):
            if isinstance(number := call.arguments[0], Number) and number.value < N_PORTS:
                found.setdefault(name, MovedPlug(usual[name], number.value, line.number, label))
    return tuple(one for one in found.values() if one.port != one.sensor.port)


def read_plugs(texts: Sequence[str], source: Source | None = None) -> dict[int, Plugged]:
    """Return the sensors by their AD ports.

    Args:
        texts: what is plugged in elsewhere than usual: `0=tilt`, `5=none`.
        source: a program, whose labels may tell of sensors that are elsewhere.

    Raises:
        FormatError: it is not of that form, or there is no such sensor.
    """
    usual = {one.name: one for one in ports().ad}
    plugs = {one.port: one for one in ports().ad if one.port is not None}
    for one in moved_plugs(source) if source is not None else ():
        _plug(plugs, one.port, one.sensor)
    for text in texts:
        match = _PLUG.fullmatch(text.strip())
        if match is None or match[2].lower() not in {*usual, NOTHING}:
            hint = f"right is PORT=SENSOR, as in 0=tilt; {', '.join(usual)} or {NOTHING}"
            raise FormatError(f"{text[:40]!r} plugs nothing in", hint=hint)
        _plug(plugs, int(match[1]), usual.get(match[2].lower()))
    return plugs


def _plug(plugs: dict[int, Plugged], port: int, sensor: Plugged | None) -> None:
    """Plug a sensor in, and out where it is; None leaves the port empty."""
    for other in [one for one, there in plugs.items() if there is sensor or one == port]:
        del plugs[other]
    if sensor is not None:
        plugs[port] = sensor
