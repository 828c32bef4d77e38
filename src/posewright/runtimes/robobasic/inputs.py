"""The board's inputs during a run: the body's sensors, and a script of remote control, ports and serial line.

    REMOCON=3@2.0, AD5=20@3.0, AD5=sensor@4.0, ERX=65@5

An entry of a script gives a port, its value, and the time from which it holds [s]; commas and line ends
separate entries, and `#` begins a comment. A key of the remote control or a byte stays until the program has
read it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from posewright.bodies import BodyState
from posewright.errors import FormatError, Where
from posewright.robots import Robot
from posewright.runtimes.robobasic.ad_ports import (
    CONVERSIONS,
    MAX_COUNTS,
    AdPortSensor,
    assign_ports,
    port_table,
)
from posewright.runtimes.robobasic.expressions import PORT_FUNCTIONS
from posewright.runtimes.robobasic.servos import board_parameters

MAX_TIME_S = 3600.0
MAX_ENTRIES = 10_000
MAX_VALUES = {"REMOCON": 32, "SONAR": 65535, "IN": 1}
"""Largest values of the ports whose values do not end at 255."""

FORM = "PORT=VALUE@SECONDS, as in REMOCON=3@2.0 or AD5=20@3"
_PORT = r"(?P<port>REMOCON|ERX|(?:AD|IN|BYTEIN|SONAR|RCIN)[ (]*[0-9]{1,2}\)?)"
_ENTRY = re.compile(
    rf"{_PORT} *= *(?P<value>[0-9]{{1,5}}|sensor) *@ *(?P<time_s>[0-9]{{1,9}}(?:\.[0-9]{{0,9}})?)",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True, order=True)
class ScriptedInput:
    """The value of a port from a time on [s]; None gives the port back to its sensor."""

    time_s: float
    port: str
    number: int
    value: int | None


def read_inputs(text: str, path: Path | None = None) -> tuple[ScriptedInput, ...]:
    """Return the entries of a script in the order of their times.

    Args:
        text: the script.
        path: the path of its file, for errors.

    Raises:
        FormatError: an entry has another form or is out of range, or there are too many.
    """
    entries: list[ScriptedInput] = []
    for number, line in enumerate(text.splitlines(), 1):
        where = Where(path, line=number) if path else None
        for entry in line.partition("#")[0].split(","):
            if entry.strip():
                entries.append(_read_entry(entry.strip(), where))
    if len(entries) > MAX_ENTRIES:
        raise FormatError(f"the script has {len(entries):,} inputs", hint=f"expected at most {MAX_ENTRIES:,}")
    return tuple(sorted(entries, key=lambda entry: entry.time_s))


def _read_entry(entry: str, where: Where | None) -> ScriptedInput:
    """Return one input with its time.

    Args:
        entry: its text, as in `AD5=20@3`.
        where: its line, for errors.

    Raises:
        FormatError: it has another form, or its port, value or time is out of range.
    """
    match = _ENTRY.fullmatch(entry)
    if match is None or float(match["time_s"]) > MAX_TIME_S:
        hint = f"expected {FORM}; 0..{MAX_TIME_S:g} s"
        raise FormatError(f"{entry[:40]!r} is not an input with its time", where=where, hint=hint)
    port_text = match["port"]
    port_number = re.search(r"[0-9]+", port_text)
    port = (port_text[: port_number.start()] if port_number else port_text).strip(" (").upper()
    value = None if match["value"].lower() == "sensor" else int(match["value"])
    if value is None and port in {"REMOCON", "ERX"}:
        raise FormatError(f"{entry!r}: {port} has no sensor", where=where, hint=f"expected {FORM}")
    min_value = 1 if port == "REMOCON" else 0
    max_value = MAX_VALUES.get(port, MAX_COUNTS)
    if value is not None and not min_value <= value <= max_value:
        hint = f"expected {min_value}..{max_value}"
        raise FormatError(f"{entry!r}: {port} cannot have the value {value}", where=where, hint=hint)
    number = int(port_number[0]) if port_number else 0
    _, max_number = PORT_FUNCTIONS[port] if port_number else (0, 0)
    if number > max_number:
        hint = f"expected 0..{max_number}"
        raise FormatError(f"{entry!r}: there is no {port}({number})", where=where, hint=hint)
    return ScriptedInput(float(match["time_s"]), port, number, value)


@dataclass(slots=True)
class BodyInputs:
    """The inputs of a program that drives a body; implements `board.Inputs`.

    Attributes:
        robot: its servos have the board's numbers as IDs.
        script: entries in the order of their times.
        state: the last state of the body.
        overrides: values from the script, by port and number; they take the place of sensors.
        keys: the key of the remote control that has not been read, if any.
        received_bytes: the received bytes of the serial line, not yet read.
        next_entry: index into the script.
        ad_sensors: sensors by their AD ports.
    """

    robot: Robot
    script: Sequence[ScriptedInput] = ()
    body_state: BodyState | None = None
    overrides: dict[tuple[str, int], int] = field(default_factory=dict)
    keys: list[int] = field(default_factory=list)
    received_bytes: list[int] = field(default_factory=list)
    next_entry: int = 0
    ad_sensors: Mapping[int, AdPortSensor] = field(default_factory=lambda: assign_ports(()))
    _joint_indices: Mapping[int | None, int] = field(init=False)

    def __post_init__(self) -> None:
        self._joint_indices = {servo.id: index for index, servo in enumerate(self.robot.servos)}

    def update(self, state: BodyState, time_s: float) -> None:
        """Store the state of the body and apply the entries of the script up to a time [s]."""
        self.body_state = state
        while self.next_entry < len(self.script) and self.script[self.next_entry].time_s <= time_s + 1e-9:
            self._apply(self.script[self.next_entry])
            self.next_entry += 1

    def _apply(self, entry: ScriptedInput) -> None:
        """Apply an input of the script: a key, a byte of the serial line, or the value of a port."""
        if entry.port == "REMOCON" and entry.value is not None:
            self.keys = [entry.value]
        elif entry.port == "ERX" and entry.value is not None:
            self.received_bytes.append(entry.value)
        elif entry.value is None:
            self.overrides.pop((entry.port, entry.number), None)
        else:
            self.overrides[entry.port, entry.number] = entry.value

    @property
    def is_exhausted(self) -> bool:
        """Whether all entries of the script have been applied, and all keys and bytes read."""
        return self.next_entry >= len(self.script) and not self.keys and not self.received_bytes

    def read(self, port: str, number: int) -> int:
        """Return the value of a port; 0 where there is none, and -1 for `ERX` without a received byte.

        A value of the script takes the place of a sensor. A key or a received byte is read only once.
        """
        if port == "REMOCON":
            return self.keys.pop() if self.keys else 0
        if port == "ERX":
            return self.received_bytes.pop(0) if self.received_bytes else -1
        override = self.overrides.get((port, number))
        if override is not None:
            return override
        if port == "MOTORIN":
            return self.servo_position(number)
        return self._read_ad(number) if port == "AD" else 0

    def servo_position(self, servo: int) -> int:
        """Return the position of a servo in counts of the robot; 0 if there is none or it is unknown."""
        index = self._joint_indices.get(servo)
        if self.body_state is None or index is None:
            return 0
        angle_rad = self.body_state.positions[index]
        if not math.isfinite(angle_rad):
            return 0
        low, high = board_parameters().counts
        return min(max(round(self.robot.servos[index].to_ticks(float(angle_rad))), low), high)

    def _read_ad(self, port: int) -> int:
        """Return the counts of an AD port: those of the sensor that is plugged in, or of an open pin."""
        table = port_table()
        port_sensor = self.ad_sensors.get(port)
        if port_sensor is None:
            return table.open_pin
        law = table.laws[port_sensor.law]
        reading = self.body_state.sensors.get(port_sensor.sensor) if self.body_state is not None else None
        if reading is None or not np.all(np.isfinite(reading)):
            return law.quiet  # counts of a sensor that measures nothing
        convert_to_counts = CONVERSIONS[port_sensor.law]
        counts = convert_to_counts(law, reading)
        return int(min(max(round(counts), law.min_counts), law.max_counts))
