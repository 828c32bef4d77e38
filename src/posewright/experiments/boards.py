"""Trials whose controller runs on a board: which there are, and what is known of one afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from posewright.behaviours import Behaviour
from posewright.codegen.hil.board_link import LinkCounts
from posewright.codegen.hil.board_unit import Parity
from posewright.codegen.hil.controllers import LinkedController

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
            (controller.state_name(one.board), controller.state_name(one.reference))
            for one in unit.parity.steps
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
            found.append(f"the board did not answer in time at {self.parity.missed} ticks: the robot stood")
        if self.link.faults:
            told = ", ".join(f"{count} {what}" for what, count in self.link.to_dict().items() if count)
            found.append(f"the line to the board is not sound: {told}")
        return tuple(found)
