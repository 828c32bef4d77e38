"""Boards as places where a behaviour runs: which there are, and what is known of one afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from posewright.arrays import Floats
from posewright.buses.serial_port import SerialPort
from posewright.codegen.behaviour.subject import BehaviourSubject
from posewright.codegen.behaviour.unit_source import LINE_BAUD
from posewright.codegen.c import ChartSubject
from posewright.codegen.hil.board_link import LinkCounts
from posewright.codegen.hil.board_unit import BoardUnit, Parity
from posewright.codegen.hil.controllers import BehaviourOnBoardController, BoardController, LinkedController
from posewright.codegen.hil.serial_line import BAUD, PREFIX, SerialLine
from posewright.codegen.targets import built, target_named
from posewright.codegen.toolchains import TooLargeError
from posewright.codegen.unit import EmulatedBoard, Subject
from posewright.control import Program, Seed
from posewright.controllers.behaviours import Behaviour
from posewright.errors import InputError, UnknownNameError
from posewright.robots import Robot, SensorSpec

AnyBoard = TypeVar("AnyBoard", bound=EmulatedBoard)

PYTHON = "python"
"""Where a behaviour runs in this process, on no board."""

UNO, WHOLE = "arduino-uno", "cm900"
"""The emulated board that runs a chart, and the one that runs a whole behaviour."""

SMALL: Mapping[str, str] = {"robotis_bioloid": "document_mealy"}
"""By robot, a behaviour that ships and whose chart fits an Arduino UNO."""


@dataclass(frozen=True, slots=True, eq=False)
class OnBoard:
    """What is known of a board on which a behaviour ran.

    Attributes:
        controller: the board's name: `arduino-uno`, `cm900`, `serial:/dev/ttyACM0`.
        parity: how the board did beside the interpreter.
        link: how its line did.
        held: how often nothing came back that could be done, and the robot was left to stand.
        states: of the chart at each of the parity's steps: the board's, and the interpreter's.
    """

    controller: str
    parity: Parity
    link: LinkCounts
    held: int = 0
    states: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, name: str, controller: LinkedController) -> OnBoard:
        """Return what is known of a controller now."""
        unit = controller.unit
        states = tuple(
            (controller.state_of(one.board), controller.state_of(one.reference)) for one in unit.parity.steps
        )
        return cls(name, unit.parity, unit.counts, controller.held, states)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, fit for JSON."""
        told = {"parity": self.parity.to_dict(), "link": self.link.to_dict(), "held": self.held}
        return {"controller": self.controller, **told}

    @property
    def summary(self) -> str:
        """How the board did, in a line."""
        told = f"{len(self.parity.steps)} ticks, {len(self.parity.mismatches)} unlike the interpreter's"
        return f"{self.controller}: {told}, {self.link.retries} requests repeated"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What went wrong, in words."""
        found = []
        wrong = self.parity.mismatches
        if wrong:
            ticks = f"{len(wrong)} of {len(self.parity.steps)} ticks"
            found.append(
                f"the board does not do what the interpreter does: {ticks}, first at {wrong[0].time_s:.2f} s"
            )
        if self.held:
            found.append(f"at {self.held} ticks nothing came from the board in time: the robot was to stand")
        if self.parity.late:
            told = f"{len(self.parity.late)} answers of the board came after the next tick was due"
            found.append(f"{told}; its time went on {self.parity.pace:.2f} times as long as the run's")
        if self.link.faults:
            counts = {what: count for what, count in self.link.to_dict().items() if what != "questions"}
            told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
            found.append(f"the line to the board is not sound: {told}")
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """A place where a behaviour runs: an emulated board, or a real one at the end of a line.

    Attributes:
        name: `arduino-uno`, `cm900`, `serial:/dev/ttyACM0`.
        switch_on: switches the board on with a behaviour on it and returns what lets the robot do what the
            board says; the seed is of inputs that are drawn by chance.
        small_behaviours: by robot, a behaviour that ships and fits the board.
    """

    name: str
    switch_on: Callable[[Behaviour, Seed], LinkedController]
    small_behaviours: Mapping[str, str] = field(default_factory=dict)

    def program(self, program: Program) -> BoardProgram:
        """Return a behaviour as a program that runs on this board.

        Raises:
            InputError: it is no behaviour: only charts become code for a board.
        """
        if not isinstance(program, Behaviour):
            raise InputError(
                f"{program.name} runs on no board: it is no behaviour", hint=f"leave {self.name} out"
            )
        return BoardProgram(program, self)


@dataclass(frozen=True, slots=True, eq=False)
class BoardProgram:
    """A `control.Program`: a behaviour that runs on a board.

    Attributes:
        behaviour: what runs; robot, sensors, start pose, name and documents are its own.
        board: where it runs.
    """

    behaviour: Behaviour
    board: Board
    _switched_on: list[LinkedController] = field(default_factory=list, init=False, repr=False)

    @property
    def name(self) -> str:
        """The behaviour's name."""
        return self.behaviour.name

    @property
    def kind(self) -> str:
        """The kind of the program, `behaviour`, wherever it runs."""
        return "behaviour"

    @property
    def robot(self) -> Robot:
        """The robot whose behaviour it is."""
        return self.behaviour.robot

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """The sensors that the behaviour reads."""
        return self.behaviour.sensors

    @property
    def start_pose(self) -> Floats:
        """In which the robot begins, `(n_joints,)` [rad]."""
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
        """Nothing: `report` says what is known of the board."""
        return {}

    def controller(self, seed: Seed) -> LinkedController:
        """Switch the board on and return what lets the robot do what it says; `close` lets go of the board.

        Raises:
            TooLargeError: the behaviour does not fit the board; the hint names one that does.
            UnavailableError: a compiler or the emulator is missing.
            BodyError: no board answers, or there is something else on it.
        """
        try:
            controller = self.board.switch_on(self.behaviour, seed)
        except TooLargeError as error:
            smaller = self.board.small_behaviours.get(self.robot.name)
            hint = error.hint if smaller is None else f"the behaviour {smaller} fits; or {error.hint}"
            message = f"{self.name} does not fit the board {self.board.name}: {error.message}"
            raise TooLargeError(message, hint=hint) from error
        self._switched_on[:] = [controller]
        return controller

    def report(self) -> OnBoard | None:
        """Return what is known of the board that was switched on last; None before there was one."""
        return OnBoard.of(self.board.name, self._switched_on[0]) if self._switched_on else None


def board_named(name: str) -> Board | None:
    """Return a board by its name; None for `python`, which is this process.

    On an emulated `arduino-uno`, or a real board at `serial:PORT[@BAUD]`, the behaviour's chart is run; on an
    emulated `cm900` all of it.

    Raises:
        InputError: no serial port can be called like that.
        UnknownNameError: there is no board of that name.
    """
    if name == PYTHON:
        return None
    if name.startswith(PREFIX):
        return Board(name, partial(_on_serial_port, SerialPort.parse(name, PREFIX, BAUD)))
    if name not in _BOARDS:
        raise UnknownNameError.among("controller", name, (PYTHON, *_BOARDS, f"{PREFIX}PORT"))
    return _BOARDS[name]


def image_on(make: Callable[[Path], AnyBoard], target: str, subject: Subject) -> AnyBoard:
    """Return what `make` makes of the image of a chart or a behaviour: an emulated board, switched on.

    Raises:
        UnavailableError: a compiler or the emulator is missing; the hint names the package.
        TooLargeError: it does not fit.
    """
    with TemporaryDirectory(prefix="posewright-") as folder:
        return make(built(target_named(target), subject, Path(folder)).elf)


def chart_on(
    line: EmulatedBoard, behaviour: Behaviour, seed: Seed, *, is_real: bool = False
) -> BoardController:
    """Return the controller of a behaviour whose chart is on the board at the end of a line."""
    chart = behaviour.chart
    unit = BoardUnit(line, ChartSubject(chart), chart.period_s, is_real=is_real)
    return BoardController(behaviour, unit, seed)


def _on_serial_port(port: SerialPort, behaviour: Behaviour, seed: Seed) -> BoardController:
    return chart_on(SerialLine(port), behaviour, seed, is_real=True)


def _on_uno(behaviour: Behaviour, seed: Seed) -> BoardController:
    from posewright.codegen.targets.arduino_uno.board import EmulatedUno

    return chart_on(image_on(EmulatedUno, UNO, ChartSubject(behaviour.chart)), behaviour, seed)


def _on_cm900(behaviour: Behaviour, seed: Seed) -> BehaviourOnBoardController:
    from posewright.codegen.targets.cm900.board import EmulatedCm900

    subject = BehaviourSubject(behaviour)
    board = image_on(EmulatedCm900, WHOLE, subject)
    unit = BoardUnit(board, subject, behaviour.robot.frame_period_s, baud=LINE_BAUD)
    return BehaviourOnBoardController(subject, unit, board, seed)


_BOARDS: Mapping[str, Board] = {UNO: Board(UNO, _on_uno, SMALL), WHOLE: Board(WHOLE, _on_cm900)}
"""The emulated boards, by what a person calls them."""
