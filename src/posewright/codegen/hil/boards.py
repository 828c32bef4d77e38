"""Controllers that run on a board: which there are, and what is known of one afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from posewright.buses.serial_port import SerialPort
from posewright.codegen.behaviour.subject import BehaviourSubject
from posewright.codegen.behaviour.unit_source import LINE_BAUD
from posewright.codegen.c import ChartSubject
from posewright.codegen.hil.board_link import LinkCounts
from posewright.codegen.hil.board_unit import BoardUnit, Parity
from posewright.codegen.hil.controllers import BehaviourOnBoardController, BoardController, LinkedController
from posewright.codegen.hil.serial_line import BAUD, PREFIX, SerialLine
from posewright.codegen.targets import built, target_named
from posewright.codegen.unit import EmulatedBoard, Subject
from posewright.controllers.behaviours import Behaviour
from posewright.errors import UnknownNameError

Board = TypeVar("Board", bound=EmulatedBoard)

PYTHON = "python"
"""The controller that runs in this process, as no other does."""

UNO, WHOLE = "arduino-uno", "cm900"
"""The emulated board that runs a chart, and the one that runs a whole behaviour."""

MakeController = Callable[[Behaviour, int], LinkedController]
"""Makes the controller of a behaviour on a board, of a seed."""


@dataclass(frozen=True, slots=True, eq=False)
class OnBoard:
    """What came of a controller on a board.

    Attributes:
        controller: as it was asked for: `arduino-uno`, `cm900`, `serial:/dev/ttyACM0`.
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


def maker_of(controller: str | MakeController) -> MakeController | None:
    """Return what makes a controller, by its name; None for `python`, the one in this process.

    On an emulated `arduino-uno`, or a real board at `serial:PORT[@BAUD]`, the behaviour's chart is run; on an
    emulated `cm900` all of it.

    Raises:
        InputError: no serial port can be called like that.
        UnknownNameError: there is no controller of that name.
    """
    if not isinstance(controller, str):
        return controller
    if controller == PYTHON:
        return None
    if controller.startswith(PREFIX):
        port = SerialPort.parse(controller, PREFIX, BAUD)
        return lambda behaviour, seed: _at(SerialLine(port), behaviour, seed, is_real=True)
    if controller not in _BOARDS:
        raise UnknownNameError.among("controller", controller, (PYTHON, *_BOARDS, f"{PREFIX}PORT"))
    return _BOARDS[controller]


def switched_on(make: Callable[[Path], Board], target: str, subject: Subject) -> Board:
    """Return what `make` makes of the image of a chart or a behaviour: an emulated board.

    Raises:
        UnavailableError: a compiler or the emulator is missing; the hint names the package.
        InputError: it does not fit.
    """
    with TemporaryDirectory(prefix="posewright-") as folder:
        return make(built(target_named(target), subject, Path(folder)).elf)


def _at(port: EmulatedBoard, behaviour: Behaviour, seed: int, *, is_real: bool = False) -> BoardController:
    """Return the controller of a behaviour whose chart is on the board at a port."""
    chart = behaviour.chart
    unit = BoardUnit(port, ChartSubject(chart), chart.period_s, is_real=is_real)
    return BoardController(behaviour, unit, seed)


def _uno(behaviour: Behaviour, seed: int) -> BoardController:
    from posewright.codegen.targets.arduino_uno.board import EmulatedUno

    return _at(switched_on(EmulatedUno, UNO, ChartSubject(behaviour.chart)), behaviour, seed)


def _cm900(behaviour: Behaviour, seed: int) -> BehaviourOnBoardController:
    from posewright.codegen.targets.cm900.board import EmulatedCm900

    subject = BehaviourSubject(behaviour)
    board = switched_on(EmulatedCm900, WHOLE, subject)
    unit = BoardUnit(board, subject, behaviour.robot.frame_period_s, baud=LINE_BAUD)
    return BehaviourOnBoardController(subject, unit, board, seed)


_BOARDS: Mapping[str, MakeController] = {UNO: _uno, WHOLE: _cm900}
"""The emulated boards, by what a person calls them."""
