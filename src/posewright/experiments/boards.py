"""Trials whose controller runs on a board: which there are, and what is known of one afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from posewright.behaviours import Behaviour
from posewright.codegen.hil.board_link import LinkCounts
from posewright.codegen.hil.board_unit import BoardUnit, Parity
from posewright.codegen.hil.controllers import BoardController, LinkedController
from posewright.codegen.hil.serial_line import PREFIX, SerialLine, SerialPort
from posewright.codegen.unit import EmulatedBoard
from posewright.errors import UnknownNameError

PYTHON = "python"
"""The controller that runs in this process, as no other does."""

MakeController = Callable[[Behaviour, int], LinkedController]
"""Makes the controller of a behaviour on a board, of a seed."""


@dataclass(frozen=True, slots=True, eq=False)
class OnBoard:
    """What came of a controller on a board.

    Attributes:
        controller: as it was asked for: `arduino-uno`, `cm900`, `serial:/dev/ttyACM0`.
        parity: how the board did beside the interpreter.
        link: how its line did.
        states: of the chart at each of the parity's steps: the board's, and the interpreter's.
    """

    controller: str
    parity: Parity
    link: LinkCounts
    states: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, name: str, controller: LinkedController) -> OnBoard:
        """Return what is known of a controller now."""
        unit = controller.unit
        states = tuple(
            (controller.state_of(one.board), controller.state_of(one.reference)) for one in unit.parity.steps
        )
        return cls(name, unit.parity, unit.counts, states)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, fit for JSON."""
        told = {"parity": self.parity.to_dict(), "link": self.link.to_dict()}
        return {"controller": self.controller, **told}

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
        if self.parity.missed:
            found.append(
                f"the board did not answer in time at {len(self.parity.missed)} ticks: the robot stood"
            )
        if self.link.faults:
            told = ", ".join(f"{count} {what}" for what, count in self.link.to_dict().items() if count)
            found.append(f"the line to the board is not sound: {told}")
        return tuple(found)


_SMALLER: Mapping[str, str] = {"obstacle_race": "document_mealy"}
"""Of shipped behaviours that fit no board, one of the same contest that does."""


def fitting(behaviour: str) -> str:
    """Return the name of a shipped behaviour that fits a board: the one that is asked for, or a smaller one."""
    return _SMALLER.get(behaviour, behaviour)


def maker_of(controller: str | MakeController) -> MakeController | None:
    """Return what makes a controller, by its name; None for the one in this process.

    Raises:
        InputError: no serial port can be called like that.
        UnknownNameError: there is no controller of that name.
    """
    if not isinstance(controller, str):
        return controller
    if controller == PYTHON:
        return None
    if controller.startswith(PREFIX):
        port = SerialPort.parse(controller)
        return lambda behaviour, seed: _at(SerialLine(port), behaviour, seed, is_real=True)
    raise UnknownNameError.among("controller", controller, (PYTHON, f"{PREFIX}PORT"))


def _at(port: EmulatedBoard, behaviour: Behaviour, seed: int, *, is_real: bool = False) -> BoardController:
    """Return the controller of a behaviour whose chart is on the board at a port."""
    from posewright.codegen.c import ChartSubject

    chart = behaviour.chart
    unit = BoardUnit(port, ChartSubject(chart), chart.period_s, is_real=is_real)
    return BoardController(behaviour, unit, seed)
