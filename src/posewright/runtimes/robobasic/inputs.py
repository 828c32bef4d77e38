"""What comes to the board from outside: the body's sensors, and scripts of remote control, ports and line.

    REMOCON=3@2.0, AD5=20@3.0, AD5=sensor@4.0, ERX=65@5

A piece is a port, what it reads, and from when on [s]; commas and ends of lines part them, `#` begins a
comment. A key of the remote control and a byte are there until the program has read them.
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
from posewright.runtimes.robobasic.ad_ports import COUNTS, LAWS, PortSensor, ports, read_plugs
from posewright.runtimes.robobasic.expressions import FUNCTIONS
from posewright.runtimes.robobasic.servos import board_facts

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
        hint = f"expected {FORM}; 0..{LATEST_S:g} s"
        raise FormatError(f"{piece[:40]!r} is not an input with its time", where=where, hint=hint)
    port, value = match[1].upper(), None if match[2].lower() == "sensor" else int(match[2])
    digits = re.search(r"[0-9]+", port)
    word = port[: digits.start()].strip(" (") if digits else port
    most = {"REMOCON": 32, "SONAR": 65535, "IN": 1}.get(word, COUNTS)
    if value is None and word in {"REMOCON", "ERX"}:
        raise FormatError(f"{piece!r}: {word} has no sensor", where=where, hint=f"expected {FORM}")
    least = 1 if word == "REMOCON" else 0
    if value is not None and not least <= value <= most:
        raise FormatError(f"{piece!r}: {value} for {word}", where=where, hint=f"{least}..{most}")
    number, last = int(digits[0]) if digits else 0, FUNCTIONS.get(word, (0, 0))[1]
    if number > last:
        raise FormatError(f"{piece!r}: there is no {word}({number})", where=where, hint=f"0..{last}")
    return ScriptedInput(float(match[3]), word, number, value)


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
    serial: list[int] = field(default_factory=list)
    place: int = 0
    plugged: Mapping[int, PortSensor] = field(default_factory=lambda: read_plugs(()))
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
            self.serial.append(one.value)
        elif one.value is None:
            self.fixed.pop((one.port, one.number), None)
        else:
            self.fixed[one.port, one.number] = one.value

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing of the script is left to come, or to be read."""
        return self.place >= len(self.script) and not self.keys and not self.serial

    def read(self, port: str, number: int) -> int:
        """Return what a port reads."""
        if port == "REMOCON":
            return self.keys.pop() if self.keys else 0
        if port == "ERX":
            return self.serial.pop(0) if self.serial else -1
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
