"""Controllers that drive a robot by a board, which runs a chart or a whole behaviour."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from posewright.bodies import BodyState, Decision, JointCommands
from posewright.buses.dynamixel.packets import split_packets
from posewright.charts import Chart, Interpreter, Snapshot, Value
from posewright.codegen.behaviour.unit_spec import BehaviourUnitSpec
from posewright.codegen.hil.board_unit import BoardUnit, Record
from posewright.codegen.records import RecordFormat
from posewright.control import Controller, Schedule, Seed
from posewright.controllers.behaviours import Behaviour, BehaviourController
from posewright.errors import FormatError


class LinkedController(Controller):
    """A controller at the other end of a line, which it closes.

    Args:
        unit: the unit on the board.
    """

    def __init__(self, unit: BoardUnit) -> None:
        self.unit = unit

    @property
    @abstractmethod
    def unanswered(self) -> int:
        """Number of ticks or frames without an answer in time, at which the robot had to stand still."""

    @abstractmethod
    def state_of(self, record: Record) -> str:
        """Return the chart's innermost active states from a record of states."""

    def close(self) -> None:
        """Close the line to the board; `unit` can still be read."""
        self.unit.close()


class BoardStepper:
    """Steps a chart on a board, in place of an `Interpreter`."""

    def __init__(self, chart: Chart, unit: BoardUnit) -> None:
        interpreter = Interpreter(chart)
        self._initial = interpreter.initial()
        self._unit = unit
        self.record_format = RecordFormat(interpreter.machine)

    def initial(self) -> Snapshot:
        """Restart the board's chart and return its initial state."""
        self._unit.restart()
        return self._initial

    def step(self, state: Snapshot, inputs: Mapping[str, Value]) -> Snapshot | None:  # noqa: ARG002
        """Return the state of the board's chart after a tick; None where the board does not answer in time.

        The board continues from its own state, whatever `state` is.

        Raises:
            ExpressionError: the chart on the board has failed.
        """
        record = self._unit.step(self.record_format.pack([inputs])[0])
        return None if record is None else self.record_format.unpack(record)


class BoardController(LinkedController):
    """Drives a robot by a behaviour whose chart runs on a board.

    Sensors are read and motions are played in this process: at each tick the chart's inputs go over the line
    and its state comes back. Without an answer in time the robot finishes its motion and stands.

    Args:
        behaviour: the behaviour; the robot stands in its start pose.
        unit: the behaviour's chart on the board.
        seed: the seed of random inputs.
    """

    def __init__(self, behaviour: Behaviour, unit: BoardUnit, seed: Seed = 0) -> None:
        super().__init__(unit)
        self._stepper = BoardStepper(behaviour.chart, unit)
        self._behaviour_controller = BehaviourController(behaviour, seed, self._stepper)

    @property
    def unanswered(self) -> int:
        """Number of ticks without an answer in time, at which the robot had to stand still."""
        return len(self.unit.parity.missed_times_s)

    def restart(self) -> None:
        """Start again from the start pose; the board's chart is reset before its next tick."""
        self._behaviour_controller.restart()

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the frames up to the chart's next tick, or to a change of torque or stiffness."""
        self.unit.wait_until(state.time_s)
        rows = self._behaviour_controller.next(state, n)
        decision = rows.decision
        if decision is None:  # events are recorded with the next decision
            return rows
        events = self.unit.take_events()
        if not events:
            return rows
        return replace(rows, decision=replace(decision, events=(*decision.events, *events)))

    def state_of(self, record: Record) -> str:
        """Return the chart's innermost active states from a record of states."""
        return self._stepper.record_format.unpack(record).state


class BusBoard(Protocol):
    """A board with a servo bus that can be read."""

    def bus(self) -> tuple[tuple[float, int], ...]:
        """Return the times [s] and bytes sent on the bus since the last call."""


class BehaviourOnBoardController(LinkedController):
    """Drives a robot by a board that runs a whole behaviour: chart, motions and servo packets.

    In each frame the sensor readings go over the line, and the packet that the board then sends on its servo
    bus gives the commands, limited by the speed in the packet. Without a packet the pose is held.

    Args:
        unit_spec: the behaviour on the board; the robot stands in its start pose.
        unit: the unit on the board.
        board: the board with the servo bus.
        seed: the seed of random inputs.
    """

    def __init__(
        self, unit_spec: BehaviourUnitSpec, unit: BoardUnit, board: BusBoard, seed: Seed = 0
    ) -> None:
        """Start with the robot in its start pose; the board is reset before its first frame."""
        super().__init__(unit)
        self._n_frames_without_packet = 0
        self._unit_spec = unit_spec
        self._board = board
        self._rng = np.random.default_rng(seed)
        behaviour = unit_spec.behaviour
        self._schedule = Schedule(behaviour.chart.period_s, behaviour.robot.frame_period_s)
        self._initial_state = Interpreter(behaviour.chart).initial()
        self._action_names = unit_spec.action_names  # by number
        self.restart()

    @property
    def unanswered(self) -> int:
        """Number of frames without a packet, in which the pose was held."""
        return self._n_frames_without_packet

    def restart(self) -> None:
        """Start again from the start pose; the board is reset before its next frame."""
        self.unit.restart()
        self._commands = JointCommands(self._unit_spec.behaviour.start_pose[np.newaxis])  # of the last packet
        self._bus_bytes = b""  # the beginning of a packet that is not complete yet
        self._decision = Decision()  # of the chart's last tick
        self._frame = 0  # number of the next frame
        self._n_ticks = 0  # of the chart
        self._next_tick_frame = 0  # number of the frame with the chart's next tick

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- one frame at a time
        """Return the next frame, the commands of the board's servo packet; `n` is not used.

        The decision is that of the chart's last tick; it is given at a tick, and with events of the line.
        """
        self.unit.wait_until(state.time_s)
        inputs = self._unit_spec.input_record_of(state, self._rng.random())[0]
        record = self.unit.step(inputs)  # None without an answer in time
        self._read_bus()
        events = self.unit.take_events()
        is_tick = self._frame == self._next_tick_frame
        self._frame += 1
        if is_tick:
            self._n_ticks += 1
            self._next_tick_frame = self._schedule.frame_of(self._n_ticks)
        if record is not None and is_tick:
            chart = self._chart_state(record)
            readings = {name: float(inputs[name]) for name in self._unit_spec.input_dtype.names or ()}
            action = self._action_names[int(record["action"])]
            self._decision = Decision(chart.state, readings, chart.outputs, playing=action)
        decision = replace(self._decision, events=events) if is_tick or events else None
        return replace(self._commands, decision=decision)

    def state_of(self, record: Record) -> str:
        """Return the chart's innermost active states from a record of states."""
        return self._chart_state(record).state

    def _read_bus(self) -> None:
        """Take the commands of the last valid packet on the bus; without one the pose is held."""
        self._bus_bytes += bytes(byte for _, byte in self._board.bus())
        packets, self._bus_bytes = split_packets(self._bus_bytes)
        for packet in reversed(packets):
            try:
                self._commands = self._unit_spec.decode_packet(packet, self._commands.angles[-1])
            except FormatError:
                continue  # damaged, or for other servos
            return
        self._n_frames_without_packet += 1

    def _chart_state(self, record: Record) -> Snapshot:
        """Return the chart's state from a record of states; its initial state before the first tick.

        The record of a behaviour begins with that of its chart.
        """
        chart_format = self._unit_spec.chart.format
        chart_record = record.tobytes()[: chart_format.state_dtype.itemsize]
        snapshot = chart_format.unpack(np.frombuffer(chart_record, chart_format.state_dtype)[0])
        return snapshot if snapshot.configuration else self._initial_state
