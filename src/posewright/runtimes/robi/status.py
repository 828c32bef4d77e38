"""How a Robi that runs a program stands just now, as plain data: for whoever watches it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from posewright.errors import InputError
from posewright.robots import Rgb, Robot
from posewright.runtimes.robi.machine import ProgramMachine
from posewright.runtimes.robi.memory import TICKS_PER_S, Memory, signed
from posewright.runtimes.robi.postures import posture_name
from posewright.runtimes.robi.servos import ServoEngine

_LIVELY = frozenset({"position", "torque", "led", "time", "measured"})
"""Cells that are shown servo by servo; the others are told where they change."""


@dataclass(frozen=True, slots=True)
class ServoStatus:
    """One servo.

    Attributes:
        goal_deg: what its parameter table leads to, with the word's own sign.
        measured_deg: where it is, the same.
        torque_percent: 0 is off.
        is_mapped: whether it does not obey the pose block.
    """

    id: int
    joint: str
    goal_deg: float
    measured_deg: float
    torque_percent: int
    is_mapped: bool


@dataclass(frozen=True, slots=True)
class Status:
    """Where a program stands, and what the robot does.

    Attributes:
        time_left_s: of the move that is under way.
        cells: words of the memory that are not what they were when the robot was switched on, by name; the
            pose block and what is measured are not among them.
    """

    posture: str
    word: int
    label: str
    address: int
    calls: tuple[int, ...]
    stack: tuple[int, ...]
    time_left_s: float
    servos: tuple[ServoStatus, ...]
    lights: dict[str, Rgb]
    cells: dict[str, int]
    error: str = ""

    def __repr__(self) -> str:
        return f"<Status: {self.posture}, at {self.label or '-'}, {len(self.cells)} words changed>"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


class Running(Protocol):
    """What runs a program: a RobiController."""

    robot: Robot
    memory: Memory
    machine: ProgramMachine
    engine: ServoEngine
    error: InputError | None


def status_of(controller: Running) -> Status:
    """Return how it stands."""
    memory, machine, engine = controller.memory, controller.machine, controller.engine
    mapped = set(engine.mapped)
    servos = tuple(
        ServoStatus(
            number,
            joint,
            signed(_word(engine, "table_position", number)) / 10.0,
            memory.get("measured", number) / 10.0,
            _word(engine, "table_torque", number),
            number in mapped,
        )
        for number, joint in zip(engine.ids, controller.robot.joint_names, strict=True)
    )
    return Status(
        posture_name(memory.get("posture")),
        memory.get("word"),
        machine.label,
        machine.address,
        machine.calls,
        tuple(machine.stack),
        memory.get("time") / TICKS_PER_S,
        servos,
        dict(engine.shown),
        changed_cells(memory),
        "" if controller.error is None else str(controller.error),
    )


def changed_cells(memory: Memory) -> dict[str, int]:
    """Return the named words that have changed since the robot was switched on, but for the lively ones."""
    before = Memory()
    return {
        memory.map.names[address]: memory.read(address, 2)
        for name, cell in memory.map.cells.items()
        if name not in _LIVELY
        for address in cell.addresses
        if memory.read(address, 2) != before.read(address, 2)
    }


def _word(engine: ServoEngine, table: str, number: int) -> int:
    """Return what a table leads to; 0 where it leads out of the memory, which the engine reports."""
    try:
        return engine.through(table, number)
    except InputError:
        return 0
