"""Controllers that let a robot do what a board says: a chart on the board, or a whole behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from posewright.behaviours import Behaviour, BehaviourController
from posewright.bodies import BodyState, JointCommands
from posewright.charts import Interpreter, Snapshot, Value
from posewright.codegen.hil.board_unit import BoardUnit
from posewright.codegen.hil.chart_records import ChartRecords
from posewright.control import Controller


class LinkedController(Controller, Protocol):
    """A controller at the other end of a line."""

    @property
    def unit(self) -> BoardUnit:
        """What runs on the board."""

    def restart(self) -> None:
        """Begin anew from the start pose."""

    def state_name(self, record: object) -> str:
        """Return what a record of states calls the chart's active states."""


class BoardStepper:
    """Steps a chart on a board, in place of an `Interpreter`."""

    def __init__(self, behaviour: Behaviour, unit: BoardUnit) -> None:
        interpreter = Interpreter(behaviour.chart)
        self._initial = interpreter.initial()
        self._unit = unit
        self.records = ChartRecords(interpreter.machine, unit.subject.inputs, unit.subject.states)

    def initial(self) -> Snapshot:
        """Let the board begin anew."""
        self._unit.begin()
        return self._initial

    def step(self, state: Snapshot, inputs: Mapping[str, Value]) -> Snapshot | None:  # noqa: ARG002
        """Return where the board's chart stands after a tick; None where it does not answer in time.

        The board keeps its state itself: it goes on from there, whatever `state` is.

        Raises:
            ExpressionError: the chart on it has failed.
        """
        told = self._unit.step(self.records.packed(inputs))
        return None if told is None else self.records.snapshot(told)


class BoardController:
    """Lets a robot do what a behaviour says whose chart runs on a board.

    Sensors are read, and motions are played, here: at each tick the chart's inputs go over the line and where
    it stands comes back. Where nothing comes back in time the robot finishes its motion and stands.

    Args:
        behaviour: what to do; the robot stands in its start pose.
        unit: the behaviour's chart on the board.
        seed: of inputs that are drawn by chance.
    """

    def __init__(self, behaviour: Behaviour, unit: BoardUnit, seed: int = 0) -> None:
        self.unit = unit
        self._stepper = BoardStepper(behaviour, unit)
        self._inner = BehaviourController(behaviour, seed, self._stepper)

    def restart(self) -> None:
        """Begin anew from the start pose; the board's chart is reset before its next tick."""
        self._inner.restart()

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the frames up to the chart's next tick, or to where torque or stiffness change."""
        self.unit.wait_until(state.time_s)
        rows = self._inner.next(state, n)
        told = self.unit.events()
        if rows.decision is None or not told:
            return rows
        return replace(rows, decision=replace(rows.decision, events=(*rows.decision.events, *told)))
