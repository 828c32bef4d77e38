"""Small programs are run here until they are over, on a board whose ports read what a test says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from posewright.runtimes.robobasic import BasicMachine, compile_or_raise, compile_source, read_source
from posewright.runtimes.robobasic.board import BasicBoard
from posewright.runtimes.robobasic.servos import BoardServos

PULSE_S = 0.02
STAND = {0: 100, 1: 76, 2: 145, 3: 93, 4: 100, 6: 100, 7: 30, 8: 80}


@dataclass
class SetPorts:
    """Ports that read what a test says; every byte of the line comes once."""

    ports: Mapping[tuple[str, int], int] = field(default_factory=dict)
    line: list[int] = field(default_factory=list)

    def read(self, port: str, number: int) -> int:
        if port == "ERX":
            return self.line.pop(0) if self.line else -1
        return self.ports.get((port, number), 0)

    def servo_position(self, servo: int) -> int:
        return self.read("MOTORIN", servo)


def machine(text: str, inputs: SetPorts | None = None) -> BasicMachine:
    board = BasicBoard(BoardServos(dict.fromkeys(range(32), 100.0), PULSE_S), inputs or SetPorts())
    return BasicMachine(compile_or_raise(read_source(text)), board)


def run(text: str, seconds: float = 10.0, inputs: SetPorts | None = None) -> BasicMachine:
    """Run a program until it is over, or for so long."""
    made = machine(text, inputs)
    for pulse in range(round(seconds / PULSE_S)):
        made.run_until((pulse + 1) * made.pulse_us)
        made.board.servos.send_pulse()
    return made


def value(expression: str, kind: str = "INTEGER") -> int:
    """Return what an expression is, as a variable of a type holds it."""
    return run(f"DIM X AS {kind}\nX = {expression}\n").variables["X"]


def found(text: str) -> dict[str, int]:
    """Return what is wrong with a program: rules, and the line of each."""
    return {one.rule: one.line for one in compile_source(read_source(text)).findings}
