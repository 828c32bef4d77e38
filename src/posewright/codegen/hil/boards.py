"""The boards on which a behaviour can run, and reports about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from posewright.buses.serial_port import SerialPort
from posewright.codegen.hil.serial_line import BAUD, PREFIX, SerialLine
from posewright.codegen.toolchains import TooLargeError
from posewright.controllers.behaviours import Behaviour
from posewright.errors import InputError, UnknownNameError

if TYPE_CHECKING:  # generators, compilers and emulators are imported when a board is switched on
    from posewright.arrays import Floats
    from posewright.codegen.hil.board_link import LinkCounts
    from posewright.codegen.hil.board_unit import Parity
    from posewright.codegen.hil.controllers import (
        BehaviourOnBoardController,
        BoardController,
        LinkedController,
    )
    from posewright.codegen.unit import EmulatedBoard, UnitSpec
    from posewright.control import Program, Seed
    from posewright.robots import Robot, SensorSpec

AnyBoard = TypeVar("AnyBoard", bound="EmulatedBoard")

PYTHON = "python"
"""The name for no board: the behaviour runs in this process."""

UNO = "arduino-uno"
"""The emulated board that runs a chart."""

CM900 = "cm900"
"""The emulated board that runs a whole behaviour."""

SMALL_BEHAVIOURS: Mapping[str, str] = {"robotis_bioloid": "document_mealy"}
"""By robot, a shipped behaviour whose chart fits an Arduino UNO."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardReport:
    """A report about a board on which a behaviour ran.

    Attributes:
        controller: name of the board: `arduino-uno`, `cm900`, `serial:/dev/ttyACM0`.
        parity: the board compared with the interpreter.
        link: what happened on its line.
        unanswered: number of ticks or frames without an answer in time; the robot had to stand still.
        states: the chart's active states at each step of the parity, on the board and in the interpreter.
    """

    controller: str
    parity: Parity
    link: LinkCounts
    unanswered: int = 0
    states: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, name: str, controller: LinkedController) -> BoardReport:
        """Return the report so far about the board behind a controller; `name` is that of the board."""
        unit = controller.unit
        states = tuple(
            (controller.state_of(step.board_state), controller.state_of(step.reference_state))
            for step in unit.parity.steps
        )
        return cls(name, unit.parity, unit.counts, controller.unanswered, states)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, fit for JSON."""
        return {
            "controller": self.controller,
            "parity": self.parity.to_dict(),
            "link": self.link.to_dict(),
            "held": self.unanswered,
        }

    @property
    def summary(self) -> str:
        """The report in a line."""
        n_mismatches = len(self.parity.mismatches)
        return (
            f"{self.controller}: {len(self.parity.steps)} ticks, {n_mismatches} unlike the interpreter's, "
            f"{self.link.retries} requests repeated"
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings about the board and its line."""
        remarks = []
        mismatches = self.parity.mismatches
        if mismatches:
            remarks.append(
                f"the board differs from the interpreter at {len(mismatches)} of "
                f"{len(self.parity.steps)} ticks, first at {mismatches[0].time_s:.2f} s"
            )
        if self.unanswered:
            remarks.append(
                f"the board did not answer in time at {self.unanswered} ticks; the robot had to stand still"
            )
        if self.parity.late_times_s:
            remarks.append(
                f"{len(self.parity.late_times_s)} answers of the board came after the next tick was due; "
                f"its time was {self.parity.time_ratio:.2f} times that of the run"
            )
        if self.link.faults:
            counts = self.link.to_dict()
            counts.pop("questions")
            faults = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
            remarks.append(f"the line to the board has faults: {faults}")
        return tuple(remarks)


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """A board on which a behaviour can run, emulated or real.

    Attributes:
        name: `arduino-uno`, `cm900`, `serial:/dev/ttyACM0`.
        switch_on: switches the board on with a behaviour on it and returns the controller of the robot; the
            seed is of random inputs.
        small_behaviours: by robot, a shipped behaviour that fits the board.
    """

    name: str
    switch_on: Callable[[Behaviour, Seed], LinkedController]
    small_behaviours: Mapping[str, str] = field(default_factory=dict)

    def program(self, program: Program) -> BoardProgram:
        """Return a behaviour as a program that runs on this board.

        Raises:
            InputError: the program is not a behaviour.
        """
        if not isinstance(program, Behaviour):
            raise InputError(
                f"{program.name} cannot run on a board: it is not a behaviour", hint=f"leave {self.name} out"
            )
        return BoardProgram(program, self)


@dataclass(frozen=True, slots=True, eq=False)
class BoardProgram:
    """A `control.Program` that runs a behaviour on a board.

    Attributes:
        behaviour: the behaviour, with its robot, sensors, start pose, name and documents.
        board: the board.
    """

    behaviour: Behaviour
    board: Board
    # that of the board switched on last; empty before
    _last_controller: list[LinkedController] = field(default_factory=list, init=False, repr=False)

    @property
    def name(self) -> str:
        """The behaviour's name."""
        return self.behaviour.name

    @property
    def kind(self) -> str:
        """The kind of the program, `behaviour`."""
        return "behaviour"

    @property
    def robot(self) -> Robot:
        """The behaviour's robot."""
        return self.behaviour.robot

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """The behaviour's sensors."""
        return self.behaviour.sensors

    @property
    def start_pose(self) -> Floats:
        """The behaviour's start pose, `(n_joints,)` [rad]."""
        return self.behaviour.start_pose

    @property
    def documents(self) -> Mapping[str, str]:
        """The behaviour's documents."""
        return self.behaviour.documents

    @property
    def warnings(self) -> tuple[str, ...]:
        """The behaviour's warnings."""
        return self.behaviour.warnings

    @property
    def extras(self) -> Mapping[str, Any]:
        """Empty: `report` describes the board."""
        return {}

    def controller(self, seed: Seed) -> LinkedController:
        """Switch the board on and return the controller of the robot, whose `close` releases the board.

        Raises:
            TooLargeError: the behaviour does not fit the board; the hint names one that does.
            UnavailableError: a compiler or the emulator is missing.
            BodyError: no board answers, or it runs another unit.
        """
        try:
            controller = self.board.switch_on(self.behaviour, seed)
        except TooLargeError as error:
            small_behaviour = self.board.small_behaviours.get(self.robot.name)
            hint = (
                error.hint
                if small_behaviour is None
                else f"the behaviour {small_behaviour} fits; or {error.hint}"
            )
            message = f"{self.name} does not fit the board {self.board.name}: {error.message}"
            raise TooLargeError(message, hint=hint) from error
        # the class is frozen, so the controller is stored in a list, which can change
        self._last_controller.clear()
        self._last_controller.append(controller)
        return controller

    def report(self) -> BoardReport | None:
        """Return the report about the board switched on last; None where none was."""
        return BoardReport.of(self.board.name, self._last_controller[0]) if self._last_controller else None


def find_board(name: str) -> Board | None:
    """Return a board by its name; None for `python`, which is this process.

    An emulated `arduino-uno`, or a real board at `serial:PORT[@BAUD]`, runs the behaviour's chart; an
    emulated `cm900` runs the whole behaviour.

    Raises:
        InputError: the name of the serial port is not valid.
        UnknownNameError: there is no board of that name.
    """
    if name == PYTHON:
        return None
    if name.startswith(PREFIX):
        return Board(name, partial(_switch_on_serial_board, SerialPort.parse(name, PREFIX, BAUD)))
    if name not in _BOARDS:
        raise UnknownNameError.among("controller", name, (PYTHON, *_BOARDS, f"{PREFIX}PORT"))
    return _BOARDS[name]


def emulate_board(make_board: Callable[[Path], AnyBoard], target: str, unit_spec: UnitSpec) -> AnyBoard:
    """Build a unit for a target and return an emulated board with its image, switched on.

    Args:
        make_board: creates the emulated board from an ELF image.
        target: name of the target.
        unit_spec: the chart or behaviour.

    Raises:
        UnavailableError: a compiler or the emulator is missing; the hint names the package.
        TooLargeError: the image does not fit.
    """
    from posewright.codegen.targets import build_unit, target_named

    with TemporaryDirectory(prefix="posewright-") as folder:
        return make_board(build_unit(target_named(target), unit_spec, Path(folder)).elf)


def chart_controller(
    line: EmulatedBoard, behaviour: Behaviour, seed: Seed, *, is_real: bool = False
) -> BoardController:
    """Return the controller of a behaviour whose chart runs on the board at the end of a line."""
    from posewright.codegen.c import ChartUnitSpec
    from posewright.codegen.hil.board_unit import BoardUnit
    from posewright.codegen.hil.controllers import BoardController

    chart = behaviour.chart
    unit = BoardUnit(line, ChartUnitSpec(chart), chart.period_s, is_real=is_real)
    return BoardController(behaviour, unit, seed)


def _switch_on_serial_board(port: SerialPort, behaviour: Behaviour, seed: Seed) -> BoardController:
    """Return the controller of a real board at a serial port, which runs the behaviour's chart."""
    return chart_controller(SerialLine(port), behaviour, seed, is_real=True)


def _switch_on_uno(behaviour: Behaviour, seed: Seed) -> BoardController:
    """Return the controller of an emulated Arduino UNO that runs the behaviour's chart."""
    from posewright.codegen.c import ChartUnitSpec
    from posewright.codegen.targets.arduino_uno.board import EmulatedUno

    board = emulate_board(EmulatedUno, UNO, ChartUnitSpec(behaviour.chart))
    return chart_controller(board, behaviour, seed)


def _switch_on_cm900(behaviour: Behaviour, seed: Seed) -> BehaviourOnBoardController:
    """Return the controller of an emulated CM-900 that runs the whole behaviour."""
    from posewright.codegen.behaviour.unit_source import LINE_BAUD
    from posewright.codegen.behaviour.unit_spec import BehaviourUnitSpec
    from posewright.codegen.hil.board_unit import BoardUnit
    from posewright.codegen.hil.controllers import BehaviourOnBoardController
    from posewright.codegen.targets.cm900.board import EmulatedCm900

    unit_spec = BehaviourUnitSpec(behaviour)
    board = emulate_board(EmulatedCm900, CM900, unit_spec)
    unit = BoardUnit(board, unit_spec, behaviour.robot.frame_period_s, baud=LINE_BAUD)
    return BehaviourOnBoardController(unit_spec, unit, board, seed)


_BOARDS: Mapping[str, Board] = {
    UNO: Board(UNO, _switch_on_uno, SMALL_BEHAVIOURS),
    CM900: Board(CM900, _switch_on_cm900),
}
"""The emulated boards by name."""
