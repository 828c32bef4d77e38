"""Behaviours: a chart wired to a robot. The chart decides at each tick; motions and gaits play in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, Decision, JointCommands
from posewright.charts import BrokenPromise, Chart, Interpreter, Monitor, Snapshot, Value
from posewright.control import Controller, Schedule, Seed
from posewright.controllers.behaviours.inputs import InputWire
from posewright.controllers.behaviours.outputs import STAND, Action, OutputRule, choose_action
from posewright.controllers.behaviours.performer import Performer
from posewright.controllers.behaviours.sources import TickContext
from posewright.controllers.walker import Walker
from posewright.gaits import ParametricGait
from posewright.motions import Motion
from posewright.robots import Robot, SensorSpec, html_table


@dataclass(frozen=True, eq=False)
class Behaviour:
    """A chart with wires from sensors to its inputs and rules from its outputs to motions and gaits.

    Attributes:
        name: the name of the behaviour.
        robot: the robot.
        chart: the logic.
        sensors: all sensors of the body: those of the robot's card and additional ones.
        inputs: one wire for each input of the chart, in its order.
        outputs: rules of what to play; the first rule whose condition holds applies.
        motions: motions by name, with those that their `next` and `exit` name.
        gaits: gaits by name; no name is that of a motion.
        start_pose: joint angles at the start, `(n_joints,)` [rad].
        wait_s: how long the robot stands before the chart's first tick [s].
        documents: texts of all native documents it was read from: below its own folder by path, others by
            file name, motions passed as objects as `given/<name>.motion.yaml`.
        path: the file it was read from.
        warnings: warnings, such as outputs that have no value when they are first read.
    """

    name: str
    robot: Robot
    chart: Chart
    sensors: tuple[SensorSpec, ...]
    inputs: tuple[InputWire, ...]
    outputs: tuple[OutputRule, ...]
    motions: Mapping[str, Motion]
    start_pose: Floats
    wait_s: float = 0.0
    gaits: Mapping[str, ParametricGait] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None
    warnings: tuple[str, ...] = ()

    kind = "behaviour"

    @property
    def extras(self) -> Mapping[str, Any]:
        """Empty: a recording of a behaviour has its documents and its decisions."""
        return {}

    def controller(self, seed: Seed) -> BehaviourController:
        """Return a controller that runs the behaviour, with random inputs from the seed."""
        return BehaviourController(self, seed)

    def __repr__(self) -> str:
        return f"Behaviour({self.name!r}, {self.robot.name}, chart {self.chart.name!r})"

    def _repr_html_(self) -> str:
        rows = [("input", wire.name, wire.wired_to) for wire in self.inputs]
        rows += [("output", rule.condition, f"{rule.play or 'stand'}{rule.numbers}") for rule in self.outputs]
        return html_table(repr(self), ("", "chart", "robot"), rows, is_open=True)


@dataclass(frozen=True, slots=True)
class Tick:
    """One tick of a chart.

    Attributes:
        time_s: the body's time [s].
        chart: the chart's state after the tick.
        inputs: the chart's inputs and events.
        outputs: the chart's outputs after the tick.
        action: the action requested.
        broken: promises of the chart that this tick has broken.
    """

    time_s: float
    chart: Snapshot
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    action: Action
    broken: tuple[BrokenPromise, ...] = ()

    def __repr__(self) -> str:
        return f"Tick({self.time_s:g} s, {self.chart.state}, {self.action.name or 'stand'})"


class Stepper(Protocol):
    """Steps a chart: an `Interpreter` in this process, or a board at the end of a line."""

    def initial(self) -> Snapshot:
        """Restart the chart and return its state before the first tick."""

    def step(self, state: Snapshot, inputs: Mapping[str, Value]) -> Snapshot | None:
        """Return the chart's state after one tick; None where a board does not answer in time."""


class BehaviourRunner:
    """Steps a behaviour. The same readings and the same seed give the same ticks.

    Args:
        behaviour: the behaviour.
        seed: the seed of random inputs.
        stepper: steps the chart; an interpreter by default.
    """

    def __init__(self, behaviour: Behaviour, seed: Seed = 0, stepper: Stepper | None = None) -> None:
        self.behaviour = behaviour
        self._stepper = Interpreter(behaviour.chart) if stepper is None else stepper
        self._events = frozenset(behaviour.chart.events)
        self._random = np.random.default_rng(seed)
        self.restart()

    def restart(self) -> None:
        """Start again as after switching the robot off and on; random numbers continue."""
        self._chart = self._stepper.initial()
        self._monitor = Monitor(self.behaviour.chart, self._chart) if self.behaviour.chart.promises else None
        self._readings: dict[str, Value] = {}  # of the last tick, by input
        self._start_s: float | None = None  # time of the first tick

    def step(self, state: BodyState, playing: str | None = None, *, chance: float | None = None) -> Tick:
        """Read the inputs, run the chart for one tick, and choose the action by its outputs.

        During the behaviour's `wait_s`, or if the stepper does not answer in time, the chart stays as it is,
        and the robot stands.

        Args:
            state: the present state of the body.
            playing: the motion or gait that is performed; None while the robot stands still.
            chance: the value of random inputs, 0 up to 1; None draws it.

        Raises:
            BodyError: the body lacks a sensor that the behaviour reads.
        """
        if self._start_s is None:
            self._start_s = state.time_s
        if chance is None:
            chance = self._random.random()
        context = TickContext(state, state.time_s - self._start_s, playing, self._chart.outputs, chance)
        previous_readings = self._readings
        self._readings = {
            wire.name: wire.read(context, previous_readings.get(wire.name)) for wire in self.behaviour.inputs
        }
        inputs = dict(self._readings)
        for event in self._events:  # an event is true at the one tick at which its condition becomes true
            inputs[event] = inputs[event] and previous_readings.get(event) is False
        is_waiting = context.since_start_s < self.behaviour.wait_s
        next_snapshot = None if is_waiting else self._stepper.step(self._chart, inputs)
        if next_snapshot is None:
            return Tick(state.time_s, self._chart, inputs, self._chart.outputs, action=STAND)
        self._chart = next_snapshot
        outputs = self._chart.outputs
        action = choose_action(self.behaviour.outputs, outputs)
        broken_promises = () if self._monitor is None else self._monitor.check_tick(inputs, self._chart)
        return Tick(state.time_s, self._chart, inputs, outputs, action, broken_promises)


class BehaviourController(Controller):
    """Drives a robot by a behaviour.

    The chart's tick k is due at the first frame at or after k periods from the start.

    Args:
        behaviour: the behaviour; the robot stands in its start pose.
        seed: the seed of random inputs.
        stepper: steps the chart; an interpreter by default.
    """

    def __init__(self, behaviour: Behaviour, seed: Seed = 0, stepper: Stepper | None = None) -> None:
        self.behaviour = behaviour
        self._runner = BehaviourRunner(behaviour, seed, stepper)
        self._schedule = Schedule(behaviour.chart.period_s, behaviour.robot.frame_period_s)
        self.restart()

    def restart(self) -> None:
        """Start again from the start pose."""
        behaviour = self.behaviour
        robot = behaviour.robot
        self._runner.restart()
        walkers = {name: Walker(gait, robot) for name, gait in behaviour.gaits.items()}
        self._performer = Performer(robot, behaviour.motions, walkers, behaviour.start_pose)
        self._frame = 0
        self._n_ticks = 0
        self._next_tick_frame = 0

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the frames up to the chart's next tick, or to a change of torque or stiffness."""
        decision = None
        if self._frame == self._next_tick_frame:
            tick = self._runner.step(state, self._performer.playing)
            self._performer.request(tick.action)
            self._n_ticks += 1
            self._next_tick_frame = self._schedule.frame_of(self._n_ticks)
            decision = decision_of(tick)
        rows = self._performer.next(state, min(n, self._next_tick_frame - self._frame))
        self._frame += len(rows)
        return rows if decision is None else replace(rows, decision=decision)


def decision_of(tick: Tick) -> Decision:
    """Return the decision that is recorded of a tick."""
    events = tuple(
        ("promise", {"promise": broken.promise.name, "message": broken.message}) for broken in tick.broken
    )
    return Decision(tick.chart.state, tick.inputs, tick.outputs, playing=tick.action.name, events=events)
