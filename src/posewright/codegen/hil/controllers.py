"""Controllers that let a robot do what a board says: a chart on the board, or a whole behaviour."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from posewright.bodies import BodyState, Decision, JointCommands
from posewright.buses.dynamixel.packets import split_packets
from posewright.charts import Chart, Interpreter, Snapshot, Value
from posewright.codegen.behaviour.subject import BehaviourSubject
from posewright.codegen.hil.board_unit import BoardUnit, Record
from posewright.codegen.records import RecordFormat
from posewright.control import Controller, Schedule, Seed
from posewright.controllers.behaviours import Behaviour, BehaviourController
from posewright.errors import FormatError


class LinkedController(Controller):
    """A controller at the other end of a line; the line is closed with it.

    Args:
        unit: what runs on the board.
    """

    def __init__(self, unit: BoardUnit) -> None:
        self.unit = unit

    @property
    @abstractmethod
    def held(self) -> int:
        """How often nothing came back that could be done: the robot was left to stand."""

    @abstractmethod
    def state_of(self, record: Record) -> str:
        """Return the chart's innermost active states, of a record of states."""

    def close(self) -> None:
        """Let go of the board; what is known of it stays."""
        self.unit.close()


class BoardStepper:
    """Steps a chart on a board, in place of an `Interpreter`."""

    def __init__(self, chart: Chart, unit: BoardUnit) -> None:
        interpreter = Interpreter(chart)
        self._initial = interpreter.initial()
        self._unit = unit
        self.records = RecordFormat(interpreter.machine)

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
        told = self._unit.step(self.records.pack([inputs])[0])
        return None if told is None else self.records.unpack(told)


class BoardController(LinkedController):
    """Lets a robot do what a behaviour says whose chart runs on a board.

    Sensors are read, and motions are played, here: at each tick the chart's inputs go over the line and where
    it stands comes back. Where nothing comes back in time the robot finishes its motion and stands.

    Args:
        behaviour: what to do; the robot stands in its start pose.
        unit: the behaviour's chart on the board.
        seed: of inputs that are drawn by chance.
    """

    def __init__(self, behaviour: Behaviour, unit: BoardUnit, seed: Seed = 0) -> None:
        super().__init__(unit)
        self._stepper = BoardStepper(behaviour.chart, unit)
        self._inner = BehaviourController(behaviour, seed, self._stepper)

    @property
    def held(self) -> int:
        """At how many ticks the robot was to stand."""
        return len(self.unit.parity.missed)

    def restart(self) -> None:
        """Begin anew from the start pose; the board's chart is reset before its next tick."""
        self._inner.restart()

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the frames up to the chart's next tick, or to where torque or stiffness change."""
        self.unit.wait_until(state.time_s)
        rows = self._inner.next(state, n)
        decision = rows.decision
        if decision is None or not (told := self.unit.events()):
            return rows
        return replace(rows, decision=replace(decision, events=(*decision.events, *told)))

    def state_of(self, record: Record) -> str:
        """Return the chart's innermost active states, of a record of states."""
        return self._stepper.records.unpack(record).state


class BusBoard(Protocol):
    """A board with a servo bus that can be listened to."""

    def bus(self) -> tuple[tuple[float, int], ...]:
        """Return when [s] which byte has left on the bus since this was asked last."""


class BehaviourOnBoardController(LinkedController):
    """Lets a robot do what a board says that runs a whole behaviour: chart, motions and servo packets.

    Each frame what the sensors read goes over the line, and what the board then sends to its servo bus is
    what the servos are commanded, no faster than the packet says. Where no packet comes the pose is held.

    Args:
        subject: the behaviour on the board; the robot stands in its start pose.
        unit: where it runs.
        board: whose bus the servos are on.
        seed: of inputs that are drawn by chance.
    """

    def __init__(self, subject: BehaviourSubject, unit: BoardUnit, board: BusBoard, seed: Seed = 0) -> None:
        super().__init__(unit)
        self._held = 0
        self._subject = subject
        self._board = board
        self._chance = np.random.default_rng(seed)
        behaviour = subject.behaviour
        self._schedule = Schedule(behaviour.chart.period_s, behaviour.robot.frame_period_s)
        self._initial = Interpreter(behaviour.chart).initial()
        self._motions = (None, *subject.tables.pages)
        self.restart()

    @property
    def held(self) -> int:
        """In how many frames no packet came, and the pose was held."""
        return self._held

    def restart(self) -> None:
        """Begin anew from the start pose; the board is reset before its next frame."""
        self.unit.begin()
        self._last = JointCommands(self._subject.behaviour.start_pose[np.newaxis])
        self._on_bus, self._decided = b"", Decision()
        self._frame = self._ticks = self._due = 0

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- a board is asked every frame
        """Return the next frame: what the board sends to its servos."""
        self.unit.wait_until(state.time_s)
        inputs = self._subject.record_of(state, self._chance.random())[0]
        told = self.unit.step(inputs)
        self._listen()
        events = self.unit.events()
        is_due, self._frame = self._frame == self._due, self._frame + 1
        if is_due:
            self._ticks += 1
            self._due = self._schedule.frame_of(self._ticks)
        if told is not None and is_due:
            self._decided = self._decision(inputs, told)
        decision = replace(self._decided, events=events) if is_due or events else None
        return replace(self._last, decision=decision)

    def state_of(self, record: Record) -> str:
        """Return the chart's innermost active states, of a record of states."""
        return self._chart_of(record).state

    def _listen(self) -> None:
        """Take the newest packet that has come over the bus; where there is none the pose is held."""
        self._on_bus += bytes(byte for _, byte in self._board.bus())
        packets, self._on_bus = split_packets(self._on_bus)
        for packet in reversed(packets):
            try:
                self._last = self._subject.commands_of(packet, self._last.angles[-1])
            except FormatError:
                continue  # damaged, or to other servos
            return
        self._held += 1

    def _decision(self, inputs: Record, told: Record) -> Decision:
        chart = self._chart_of(told)
        read = {name: float(inputs[name]) for name in self._subject.inputs.names or ()}
        return Decision(chart.state, read, chart.outputs, self._motions[int(told["action"])])

    def _chart_of(self, record: Record) -> Snapshot:
        """Return where the chart stands; before its first tick a board says nothing of it."""
        records = self._subject.chart.format
        own = record.tobytes()[: records.states.itemsize]
        snapshot = records.unpack(np.frombuffer(own, records.states)[0])
        return snapshot if snapshot.configuration else self._initial
