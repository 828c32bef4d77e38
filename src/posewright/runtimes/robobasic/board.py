"""The board as a program sees it: servos, ports, lines, memory, sound, display; and what it tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from posewright.errors import InputError
from posewright.runtimes.robobasic.servos import Servos, board_facts

EVENT = "robobasic"
"""The kind of events in a recording that tell of a program; `what` says what happened."""

MOST_EVENTS = 10_000
"""What a run tells at most; a program that beeps in a loop has said enough by then."""


class ProgramError(InputError):
    """A program does what it must not; `where` is the file and the line."""


class Inputs(Protocol):
    """What comes to the board from outside."""

    def read(self, port: str, number: int) -> int:
        """Return what a port reads, 0..65535.

        Args:
            port: `AD`, `IN`, `BYTEIN`, `REMOCON`, `SONAR`, `RCIN`, `MOTORIN`, or `ERX`, which is -1 where
                no byte came.
            number: which of them; 0 of `ERX`.
        """

    def position(self, servo: int) -> int:
        """Return where a servo is, in counts of the robot; 0 where there is none of that number."""


@dataclass(slots=True)
class Gyro:
    """One servo's correction by a gyro: which (0 for none), the way round, and how strongly."""

    port: int = 0
    turned: bool = False
    sense: int = 0


@dataclass(slots=True)
class Board:
    """The board.

    Attributes:
        effects: how many things were done that are seen or felt outside; polling a port is none.
        events: what happened since somebody last looked: kind and particulars.
        seen: what ports read since somebody last looked, by port and number, `AD(5)`.
        chance: what RND draws from; None where nothing may be left to chance.
    """

    servos: Servos
    inputs: Inputs
    effects: int = 0
    tempo: int = field(default_factory=lambda: board_facts().first_tempo)
    outputs: dict[int, int] = field(default_factory=dict)
    eeprom: dict[int, int] = field(default_factory=dict)
    memory: dict[int, int] = field(default_factory=dict)
    gyros: dict[int, Gyro] = field(default_factory=dict)
    events: list[Mapping[str, object]] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    told: int = 0
    chance: np.random.Generator | None = field(default_factory=lambda: np.random.default_rng(0))

    def look(self, port: str, number: int) -> int:
        """Return what a port reads, and remember that it was looked at."""
        value = self.inputs.read(port, number)
        if port == "MOTORIN":
            value = self._programmed(number, value)
        self.seen[f"{port}({number})" if port != "ERX" else port] = value
        return value

    def position(self, servo: int) -> int:
        """Return where a servo is, in counts of the program; 0 where there is none of that number."""
        return self._programmed(servo, self.inputs.position(servo))

    def _programmed(self, servo: int, counts: int) -> int:
        return round(self.servos.mirrored(servo, counts)) if counts else 0

    def random(self) -> int:
        """Return a number, 0..255, by chance."""
        if self.chance is None:
            raise ProgramError("it draws RND")
        return int(self.chance.integers(256))

    def tell(self, what: str, line: int, **particulars: object) -> None:
        """Take note of something that happened."""
        self.effects += 1
        self.told += 1
        if self.told <= MOST_EVENTS:
            self.events.append({"what": what, "line": line, **particulars})

    def output(self, port: int, value: int, line: int) -> None:
        """Set an output pin; told where it changes."""
        if self.outputs.get(port) != value:
            self.outputs[port] = value
            self.tell("out", line, port=port, value=value)

    def output_byte(self, port: int, value: int, line: int) -> None:
        """Set the eight output pins of a port; told where one changes."""
        pins = {8 * port + bit: value >> bit & 1 for bit in range(8)}
        if any(self.outputs.get(pin) != level for pin, level in pins.items()):
            self.outputs |= pins
            self.tell("byteout", line, port=port, value=value)
