"""The state of an MR-C3024 board: servos, ports, memory, sound, and the events that a program causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from posewright.errors import InputError
from posewright.runtimes.robobasic.servos import BoardServos, board_parameters

EVENT = "robobasic"
"""The kind of a program's events in a recording; the key `what` holds the kind of the single event."""

PINS_PER_PORT = 8

MAX_EVENTS = 10_000
"""Further events of a run are counted but not recorded."""


class BasicProgramError(InputError):
    """A RoboBASIC program is wrong or does something wrong; `where` is the file and the line."""


class Inputs(Protocol):
    """The board's inputs."""

    def read(self, port: str, number: int) -> int:
        """Return the value of a port, 0..65535.

        Args:
            port: `AD`, `IN`, `BYTEIN`, `REMOCON`, `SONAR`, `RCIN`, `MOTORIN`, or `ERX`, which is -1 if
                no byte has arrived.
            number: the number of the port; 0 for `ERX`.
        """

    def servo_position(self, servo: int) -> int:
        """Return the position of a servo in counts of the robot; 0 if the robot has no such servo."""


@dataclass(slots=True)
class GyroCorrection:
    """How a gyro corrects one servo.

    Attributes:
        port: the port of the gyro, 1..4; 0 for no correction.
        inverted: whether the correction changes sign (GYRODIR).
        sensitivity: 0..255 (GYROSENSE).
    """

    port: int = 0
    inverted: bool = False
    sensitivity: int = 0


@dataclass(slots=True)
class BasicBoard:
    """The board that a RoboBASIC program runs on.

    Attributes:
        effect_count: number of actions with an effect outside the program; reading a port is none.
        tempo: beats a minute of MUSIC.
        outputs: levels of the output pins that were set.
        events: the events since the controller last collected them.
        port_readings: the last value of each port that was read since then; keys are like `AD(5)`.
        event_count: number of events, including those beyond `MAX_EVENTS`.
        random_generator: draws RND; None makes RND an error.
    """

    servos: BoardServos
    inputs: Inputs
    effect_count: int = 0
    tempo: int = field(default_factory=lambda: board_parameters().first_tempo)
    outputs: dict[int, int] = field(default_factory=dict)
    eeprom: dict[int, int] = field(default_factory=dict)
    memory: dict[int, int] = field(default_factory=dict)
    gyros: dict[int, GyroCorrection] = field(default_factory=dict)
    events: list[Mapping[str, object]] = field(default_factory=list)
    port_readings: dict[str, int] = field(default_factory=dict)
    event_count: int = 0
    random_generator: np.random.Generator | None = field(default_factory=lambda: np.random.default_rng(0))

    def read_port(self, port: str, number: int) -> int:
        """Return the value of a port and record the reading."""
        value = self.inputs.read(port, number)
        if port == "MOTORIN":
            value = self._to_program_counts(number, value)
        key = port if port == "ERX" else f"{port}({number})"
        self.port_readings[key] = value
        return value

    def servo_position(self, servo: int) -> int:
        """Return the position of a servo in counts of the program; 0 if the robot has no such servo."""
        return self._to_program_counts(servo, self.inputs.servo_position(servo))

    def _to_program_counts(self, servo: int, robot_counts: int) -> int:
        if robot_counts == 0:  # there is no such servo
            return 0
        return round(self.servos.apply_direction(servo, robot_counts))

    def draw_random(self) -> int:
        """Draw a number from 0 to 255.

        Raises:
            BasicProgramError: the board has no random generator.
        """
        if self.random_generator is None:
            raise BasicProgramError("it draws RND")
        return int(self.random_generator.integers(256))

    def record_event(self, kind: str, line: int, **details: object) -> None:
        """Record an event that a statement caused, with the line of the statement."""
        self.effect_count += 1
        self.event_count += 1
        if self.event_count <= MAX_EVENTS:
            self.events.append({"what": kind, "line": line, **details})

    def set_pin(self, pin: int, level: int, line: int) -> None:
        """Set an output pin to 0 or 1; a change is recorded as an event."""
        if self.outputs.get(pin) != level:
            self.outputs[pin] = level
            self.record_event("out", line, port=pin, value=level)

    def set_pins(self, port: int, value: int, line: int) -> None:
        """Set the eight output pins of a port to the bits of a byte; a change is recorded as an event."""
        levels = {PINS_PER_PORT * port + bit: value >> bit & 1 for bit in range(PINS_PER_PORT)}
        if any(self.outputs.get(pin) != level for pin, level in levels.items()):
            self.outputs |= levels
            self.record_event("byteout", line, port=port, value=value)
