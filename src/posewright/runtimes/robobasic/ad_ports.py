"""What is plugged into the AD ports: as usual, as a person says, or as a program's own names tell."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise

import numpy as np

from posewright.documents import parse_document, read_record
from posewright.errors import FormatError
from posewright.runtimes.robobasic.tree import (
    Call,
    Chain,
    Const,
    ElseIf,
    If,
    Let,
    Line,
    Name,
    Number,
    Return,
    Source,
    calls_of,
    statements_in,
)

COUNTS = 255
N_PORTS = 8
VOLTS_A_COUNT = 5.0 / 256.0
"""An AD port reads 0..255 for 0..5 V (ATmega128, its upper eight bits)."""

BATTERY_A_COUNT = 10.0 / 256.0
"""The battery comes to its port halved (templates: V = 10 x value / 256)."""

NO_SENSOR = 250
"""A port that reads more has no sensor, say the templates."""

NOTHING = "none"


@dataclass(frozen=True, slots=True)
class PortSensor:
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
    ad: tuple[PortSensor, ...]
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


_PLUG = re.compile(r"(?:AD)?([0-7]) *= *(\w+)", re.IGNORECASE | re.ASCII)
_NAMES = {
    "tilt": re.compile("(?i)tilt|기울기"),
    "battery": re.compile("(?i)volt|batter|전압"),
    "front": re.compile("(?i)infrared|적외선"),
}
"""What public programs call constants that are such ports, and routines that read the first two sensors."""


@dataclass(frozen=True, slots=True)
class MovedPlug:
    """A sensor that a program looks for on another AD port than usual, as a name in it tells.

    Attributes:
        sensor: None where no sensor of the kind is left, or reads what the program asks for: the port is left
            open.
        line: that tells so.
        name: of the label above the line, or of the constant that is the port.
    """

    port: int
    sensor: PortSensor | None
    line: int
    name: str

    @property
    def message(self) -> str:
        """It in words."""
        what = "the robot has no such sensor for it, so the port is left open"
        if self.sensor is not None:
            what = f"the {self.sensor.name} sensor is assumed to be plugged in there"
        return f"{self.name} reads AD({self.port}): {what}"


def moved_plugs(source: Source) -> tuple[MovedPlug, ...]:
    """Return the sensors that a program looks for on other ports than usual; the first mention says where."""
    constants = _constants(source)
    found: dict[int, MovedPlug] = {}
    kinds: set[str] = set()
    label = ""
    for line in source.lines:
        label = line.label or label
        for call in (call for one in statements_in(line.statement) for call in calls_of(one, "AD")):
            port, constant = _port(call, constants)
            for kind, says in _NAMES.items():
                is_named = says.search(constant) is not None
                if port is None or not (is_named or (kind != "front" and says.search(label))):
                    continue
                name = constant if is_named else label
                if kind not in kinds:
                    kinds.add(kind)
                    sensor = _sensor(kind, _quiet_band(source, line, constants))
                    found[port] = MovedPlug(port, sensor, line.number, name)
                elif is_named and port not in found:
                    found[port] = MovedPlug(port, None, line.number, name)
    return tuple(one for one in found.values() if one.sensor is None or one.sensor.port != one.port)


def _constants(source: Source) -> dict[str, int]:
    """Return the constants that are numbers, by name in capitals."""
    consts = (line.statement for line in source.lines if isinstance(line.statement, Const))
    return {one.name.upper(): one.value.value for one in consts if isinstance(one.value, Number)}


def _port(call: Call, constants: Mapping[str, int]) -> tuple[int | None, str]:
    """Return which port is read, and the name of the constant that says so."""
    match call.arguments:
        case (Number(port),):
            name = ""
        case (Name(name, None),):
            port = constants.get(name.upper(), N_PORTS)
        case _:
            return None, ""
    return (port if port < N_PORTS else None), name


def _quiet_band(source: Source, read: Line, constants: Mapping[str, int]) -> tuple[int, int]:
    """Return the counts between which nothing is done about a port that is read in a line.

    Statements such as `IF A < 30 THEN GOTO get_up` and `IF A > MAX THEN GOTO get_up` below the line say so.
    """
    low, high = 0, COUNTS
    place = read.statement.place if isinstance(read.statement, Let) else None
    for line in source.lines[read.number :]:
        if place is None or line.label:
            break
        for sign, count in _acted_on(line, place, constants):
            low = max(low, count) if sign == "<" else low
            high = min(high, count) if sign == ">" and count < NO_SENSOR else high
    return low, high


def _acted_on(line: Line, place: Name, constants: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the signs and numbers with which a line compares a variable, and does more than return."""
    for one in statements_in(line.statement):
        if not isinstance(one, If | ElseIf) or isinstance(one.then, Return):
            continue
        operands = one.condition.operands if isinstance(one.condition, Chain) else ()
        operators = one.condition.operators if isinstance(one.condition, Chain) else ()
        for (left, right), sign in zip(pairwise(operands), operators, strict=True):
            count = constants.get(right.key) if isinstance(right, Name) else getattr(right, "value", None)
            if isinstance(left, Name) and left.key == place.key and count is not None:
                yield sign.strip("="), count


def _sensor(kind: str, band: tuple[int, int]) -> PortSensor | None:
    """Return the sensor of a kind; the tilt sensor that reads something within the band when upright."""
    for one in ports().ad:
        if one.name.startswith(kind) and (
            kind != "tilt" or band[0] < ports().laws[one.law].upright < band[1]
        ):
            return one
    return None


def read_plugs(texts: Sequence[str], source: Source | None = None) -> dict[int, PortSensor]:
    """Return the sensors by their AD ports.

    Args:
        texts: what is plugged in elsewhere than usual: `0=tilt`, `5=none`.
        source: a program, whose names may tell of sensors that are elsewhere.

    Raises:
        FormatError: it is not of that form, or there is no such sensor.
    """
    usual = {one.name: one for one in ports().ad}
    plugs = {one.port: one for one in ports().ad if one.port is not None}
    for moved in moved_plugs(source) if source is not None else ():
        _plug(plugs, moved.port, moved.sensor)
    named: set[int] = set()
    for text in texts:
        match = _PLUG.fullmatch(text.strip())
        if match is None or match[2].lower() not in {*usual, NOTHING}:
            hint = f"expected PORT=SENSOR, as in 0=tilt; {', '.join(usual)} or {NOTHING}"
            raise FormatError(f"{text[:40]!r} is not a plug", hint=hint)
        if int(match[1]) in named:
            raise FormatError(f"{text[:40]!r}: something else is plugged in there", hint="one sensor a port")
        named.add(int(match[1]))
        _plug(plugs, int(match[1]), usual.get(match[2].lower()))
    return plugs


def _plug(plugs: dict[int, PortSensor], port: int, sensor: PortSensor | None) -> None:
    """Plug a sensor in, and out where it is; None leaves the port empty."""
    for other in [one for one, there in plugs.items() if there is sensor or one == port]:
        del plugs[other]
    if sensor is not None:
        plugs[port] = sensor
