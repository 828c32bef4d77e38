"""A snapshot of a Robi that runs a program, as plain data for displays."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from posewright.errors import InputError
from posewright.robots import Rgb, Robot
from posewright.runtimes.robi.machine import ProgramMachine
from posewright.runtimes.robi.memory import TICKS_PER_S, WORDS_PER_DEG, RobiMemory, signed
from posewright.runtimes.robi.postures import posture_name
from posewright.runtimes.robi.servos import ServoEngine

_PER_SERVO_CELLS = frozenset({"position", "torque", "led", "time", "measured"})
"""Cells that the servos and lights of a status show; all others are listed if they changed."""


@dataclass(frozen=True, slots=True)
class ServoStatus:
    """The state of one servo.

    Attributes:
        id: the ID of the servo.
        joint: the joint that it moves.
        goal_deg: position that its parameter table leads to, with the sign of the memory's word [deg].
        measured_deg: measured position, with the same sign [deg].
        torque_percent: 0 is off.
        is_mapped: whether it does not follow the pose block.
    """

    id: int
    joint: str
    goal_deg: float
    measured_deg: float
    torque_percent: int
    is_mapped: bool


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a program and of the robot.

    Attributes:
        posture: name of the posture variable's value.
        word: number of the word recognised last.
        label: above the next tag.
        address: the address of the next tag in the file.
        calls: addresses of the open calls, the latest last.
        stack: the stack of `<calc>`, the top last.
        time_left_s: the time left of the running move [s].
        servos: the servos in the order of the robot's joints.
        lights: colours of the lights.
        cells: words of the memory that have changed since power-on, by name, without the pose block and
            measured positions.
        error: the error of the program; may be empty.
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
        """Return the status as plain data."""
        return asdict(self)


class StatusSource(Protocol):
    """What `status_of` reads of a controller; implemented by RobiController."""

    robot: Robot
    memory: RobiMemory
    machine: ProgramMachine
    engine: ServoEngine
    error: InputError | None


def status_of(controller: StatusSource) -> Status:
    """Return the state of a controller's program and robot."""
    memory = controller.memory
    machine = controller.machine
    engine = controller.engine
    mapped_ids = set(engine.mapped_ids)
    servos: list[ServoStatus] = []
    for servo_id, joint in zip(engine.servo_ids, controller.robot.joint_names, strict=True):
        servos.append(
            ServoStatus(
                servo_id,
                joint,
                goal_deg=signed(_read_or_zero(engine, "table_position", servo_id)) / WORDS_PER_DEG,
                measured_deg=memory.get("measured", servo_id) / WORDS_PER_DEG,
                torque_percent=_read_or_zero(engine, "table_torque", servo_id),
                is_mapped=servo_id in mapped_ids,
            )
        )
    return Status(
        posture=posture_name(memory.get("posture")),
        word=memory.get("word"),
        label=machine.label,
        address=machine.address,
        calls=machine.calls,
        stack=tuple(machine.stack),
        time_left_s=memory.get("time") / TICKS_PER_S,
        servos=tuple(servos),
        lights=dict(engine.last_lights),
        cells=changed_cells(memory),
        error="" if controller.error is None else str(controller.error),
    )


def changed_cells(memory: RobiMemory) -> dict[str, int]:
    """Return the named words that have changed since power-on, without those that servos and lights show."""
    initial_memory = RobiMemory()
    changed: dict[str, int] = {}
    for name, cell in memory.map.cells.items():
        if name in _PER_SERVO_CELLS:
            continue
        for address in cell.addresses:
            word = memory.read(address, 2)
            if word != initial_memory.read(address, 2):
                changed[memory.map.names[address]] = word
    return changed


def _read_or_zero(engine: ServoEngine, table: str, servo_id: int) -> int:
    """Return the word that a table leads to, or 0 if it leads out of the memory, which the engine reports."""
    try:
        return engine.read_table_target(table, servo_id)
    except InputError:
        return 0
