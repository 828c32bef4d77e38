"""The sensors on the AD ports: usual ones, those set by an option, those that a program's names suggest."""

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
    BasicSource,
    Chain,
    Const,
    ElseIf,
    Identifier,
    IfStatement,
    Let,
    Number,
    Return,
    SourceLine,
    find_calls,
    statements_in,
)

MAX_COUNTS = 255
N_PORTS = 8
VOLTS_PER_COUNT = 5.0 / 256.0
"""An AD port reads 0..255 for 0..5 V (ATmega128, the upper eight bits)."""

BATTERY_VOLTS_PER_COUNT = 10.0 / 256.0
"""The battery's port reads half its voltage (templates: V = 10 x value / 256)."""

MIN_OPEN_PORT_COUNTS = 250
"""Templates take higher values for a port without a sensor."""

NO_SENSOR = "none"


@dataclass(frozen=True, slots=True)
class AdPortSensor:
    """A sensor for an AD port.

    Attributes:
        name: the name in the `--plug` option.
        port: its usual port; None if it is not usually connected.
        sensor: the sensor of the body.
        law: name of the law that converts a reading to counts.
    """

    name: str
    port: int | None
    sensor: str
    law: str


@dataclass(frozen=True, slots=True)
class ConversionLaw:
    """The parameters of the conversion from a reading to counts; `ports.yaml` gives their sources.

    Attributes:
        quiet: counts if the body has no such sensor or no finite reading.
        volts: points of a curve from metres to volts.
        upright: counts of a tilt sensor when the robot is upright.
        counts_a_radian: counts of a tilt sensor per radian.
        min_counts: smallest counts.
        max_counts: largest counts.
    """

    quiet: int
    volts: tuple[tuple[float, float], ...] = ()
    upright: float = 0.0
    counts_a_radian: float = 0.0
    min_counts: int = 0
    max_counts: int = MAX_COUNTS


@dataclass(frozen=True, slots=True)
class PortTable:
    """The content of `ports.yaml`.

    Attributes:
        open_pin: counts of a port without a sensor.
        ad: the sensors.
        laws: the laws by name.
    """

    open_pin: int
    ad: tuple[AdPortSensor, ...]
    laws: Mapping[str, ConversionLaw]


@cache
def port_table() -> PortTable:
    """Return the sensors of a RoboNova-1."""
    text = resources.files(__package__).joinpath("ports.yaml").read_text(encoding="utf-8")
    return read_record(parse_document(text), PortTable)


def _distance_counts(law: ConversionLaw, reading: float) -> float:
    metres, volts = zip(*law.volts, strict=True)
    return float(np.interp(reading, metres, volts)) / VOLTS_PER_COUNT


def _heading_counts(_: ConversionLaw, reading: float) -> float:
    return math.floor(reading / (2.0 * math.pi) * 256.0 + 0.5) % 256


def _tilt_counts(law: ConversionLaw, reading: np.ndarray) -> float:
    """Return the counts of a tilt sensor, which measures the forward lean of the base's upright axis."""
    roll = float(reading[0])
    pitch = float(reading[1])
    lean_rad = math.atan2(math.sin(pitch), abs(math.cos(roll)) * math.cos(pitch))
    return law.upright + lean_rad * law.counts_a_radian


def _battery_counts(_: ConversionLaw, reading: float) -> float:
    return reading / BATTERY_VOLTS_PER_COUNT


CONVERSIONS: Mapping[str, Callable[..., float]] = {
    "distance": _distance_counts,
    "heading": _heading_counts,
    "tilt": _tilt_counts,
    "tilt_2012": _tilt_counts,
    "voltage": _battery_counts,
}
"""By name of the law, the function from its parameters and a reading to counts."""


# Sensors that a program expects on other ports.

_NAME_PATTERNS = {
    "tilt": re.compile("(?i)tilt|기울기"),
    "battery": re.compile("(?i)volt|batter|전압"),
    "front": re.compile("(?i)infrared|적외선"),
}
"""By kind of sensor, how public programs name constants for its port, and routines that read it."""


@dataclass(frozen=True, slots=True)
class MovedSensor:
    """A sensor that a program expects on another AD port than usual, judged by a name in it.

    Attributes:
        port: the port on which it is expected.
        sensor: None if no sensor of the kind is left or matches the program's comparisons; the port is left
            open then.
        line: the line that reads the port.
        name: the name of the label above the line, or of the constant that is the port.
    """

    port: int
    sensor: AdPortSensor | None
    line: int
    name: str

    @property
    def message(self) -> str:
        """A sentence that explains the assumption."""
        consequence = "the robot has no such sensor for it, so the port is left open"
        if self.sensor is not None:
            consequence = f"the {self.sensor.name} sensor is assumed to be plugged in there"
        return f"{self.name} reads AD({self.port}): {consequence}"


def find_moved_sensors(source: BasicSource) -> tuple[MovedSensor, ...]:
    """Return the sensors that a program expects on other ports than usual.

    A kind of sensor is recognized by the name of a constant that is the port, or, except for the front
    sensor, by the label of the routine that reads the port. The first port of a kind has the sensor;
    further ports that are named as constants are left open.
    """
    constants: dict[str, int] = {}
    for line in source.lines:
        match line.statement:
            case Const(name, Number(value)):
                constants[name.upper()] = value
            case _:
                pass
    sensors: dict[int, MovedSensor] = {}
    assigned_kinds: set[str] = set()
    label = ""
    for line in source.lines:
        label = line.label or label
        for port, constant_name in _find_ports_read(line, constants):
            for kind, pattern in _NAME_PATTERNS.items():
                constant_states_kind = pattern.search(constant_name) is not None
                label_states_kind = kind != "front" and pattern.search(label) is not None
                if not (constant_states_kind or label_states_kind):
                    continue
                name = constant_name if constant_states_kind else label
                if kind not in assigned_kinds:
                    assigned_kinds.add(kind)
                    low, high = _find_inactive_band(source, line, constants)
                    sensor = _match_sensor(kind, low, high)
                    sensors[port] = MovedSensor(port, sensor, line=line.number, name=name)
                elif constant_states_kind and port not in sensors:
                    sensors[port] = MovedSensor(port, sensor=None, line=line.number, name=name)
    return tuple(
        moved for moved in sensors.values() if moved.sensor is None or moved.sensor.port != moved.port
    )


def _find_ports_read(line: SourceLine, constants: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    """Yield each AD port that a line reads, and the name of the constant for its number; "" for a literal."""
    no_port = N_PORTS  # one more than the highest number
    for statement in statements_in(line.statement):
        for call in find_calls(statement, "AD"):
            match call.arguments:
                case (Number(port),):
                    constant_name = ""
                case (Identifier(constant_name, None),):
                    port = constants.get(constant_name.upper(), no_port)
                case _:
                    continue
            if port < N_PORTS:
                yield port, constant_name


def _find_inactive_band(
    source: BasicSource, reading_line: SourceLine, constants: Mapping[str, int]
) -> tuple[int, int]:
    """Return the smallest and largest counts for which a program does nothing about a port.

    They come from statements such as `IF A < 30 THEN GOTO get_up` and `IF A > MAX THEN GOTO get_up` between
    the line that reads the port into a variable and the next label.

    Args:
        source: the program.
        reading_line: the line that reads the port.
        constants: the program's constants by name in capitals.
    """
    low = 0
    high = MAX_COUNTS
    if not isinstance(reading_line.statement, Let):
        return low, high
    variable = reading_line.statement.target
    for line in source.lines[reading_line.number :]:  # numbers are from 1, so this begins at the next line
        if line.label:
            break
        for operator, count in _comparisons_with_action(line, variable, constants):
            if operator == "<":
                low = max(low, count)
            elif operator == ">" and count < MIN_OPEN_PORT_COUNTS:
                high = min(high, count)
    return low, high


def _comparisons_with_action(
    line: SourceLine, variable: Identifier, constants: Mapping[str, int]
) -> Iterator[tuple[str, int]]:
    """Yield the comparisons of a variable with a number, in IF and ELSEIF, that do not just lead to RETURN.

    Each is yielded as its operator without `=`, so `<` for `<=`, and the number.
    """
    for statement in statements_in(line.statement):
        if not isinstance(statement, IfStatement | ElseIf) or isinstance(statement.then, Return):
            continue
        if not isinstance(statement.condition, Chain):
            continue
        chain = statement.condition
        for (left, right), operator in zip(pairwise(chain.operands), chain.operators, strict=True):
            count: int | None = None
            if isinstance(right, Identifier):
                count = constants.get(right.key)
            elif isinstance(right, Number):
                count = right.value
            if isinstance(left, Identifier) and left.key == variable.key and count is not None:
                yield operator.strip("="), count


def _match_sensor(kind: str, low: int, high: int) -> AdPortSensor | None:
    """Return the first sensor of a kind, such as `tilt`; None if there is none.

    A tilt sensor must read between the counts `low` and `high` when the robot is upright.
    """
    table = port_table()
    for sensor in table.ad:
        if not sensor.name.startswith(kind):
            continue
        upright_counts = table.laws[sensor.law].upright
        if kind != "tilt" or low < upright_counts < high:
            return sensor
    return None


# The assignment of sensors to ports.

_PLUG = re.compile(r"(?:AD)?(?P<port>[0-7]) *= *(?P<sensor_name>\w+)", re.IGNORECASE | re.ASCII)


def assign_ports(plugs: Sequence[str], source: BasicSource | None = None) -> dict[int, AdPortSensor]:
    """Return the sensors by their AD ports.

    They are those that are usually connected, moved first to the ports that the program's names indicate,
    and then to those in `plugs`.

    Args:
        plugs: changes in the form PORT=SENSOR: `0=tilt`, or `5=none` for a port without a sensor.
        source: a program whose names may indicate sensors on other ports.

    Raises:
        FormatError: a plug has another form, names an unknown sensor, or repeats a port.
    """
    sensor_by_name = {sensor.name: sensor for sensor in port_table().ad}
    sensor_by_port = {sensor.port: sensor for sensor in port_table().ad if sensor.port is not None}
    for moved in find_moved_sensors(source) if source is not None else ():
        _move_sensor(sensor_by_port, moved.port, moved.sensor)
    changed_ports: set[int] = set()
    for plug in plugs:
        match = _PLUG.fullmatch(plug.strip())
        sensor_name = "" if match is None else match["sensor_name"].lower()
        if match is None or sensor_name not in {*sensor_by_name, NO_SENSOR}:
            hint = f"expected PORT=SENSOR, as in 0=tilt; {', '.join(sensor_by_name)} or {NO_SENSOR}"
            raise FormatError(f"{plug[:40]!r} does not assign a sensor to an AD port", hint=hint)
        port = int(match["port"])
        if port in changed_ports:
            message = f"{plug[:40]!r}: another plug already assigns AD({port})"
            raise FormatError(message, hint="expected one sensor for each port")
        changed_ports.add(port)
        _move_sensor(sensor_by_port, port, sensor_by_name.get(sensor_name))  # None for NO_SENSOR
    return sensor_by_port


def _move_sensor(sensor_by_port: dict[int, AdPortSensor], new_port: int, sensor: AdPortSensor | None) -> None:
    """Move a sensor from its old port to a new one, in place of the sensor there; None leaves it open."""
    for port, connected_sensor in list(sensor_by_port.items()):
        if port == new_port or connected_sensor is sensor:
            del sensor_by_port[port]
    if sensor is not None:
        sensor_by_port[new_port] = sensor
