"""A behaviour: a chart wired to a robot; at each tick it decides, in between a motion or gait is played."""

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
from posewright.controllers.behaviours.outputs import STAND, Action, OutputRule, choose
from posewright.controllers.behaviours.performer import Performer
from posewright.controllers.behaviours.sources import Senses
from posewright.gaits import Gait, QuadrupedGait
from posewright.motions import Motion
from posewright.robots import Robot, SensorSpec, html_table


@dataclass(frozen=True, eq=False)
class Behaviour:
    """Sensors to a chart's inputs, its outputs to motions.

    Attributes:
        name: of the behaviour.
        robot: whose behaviour it is.
        chart: the logic.
        sensors: all the body must have: those of the robot's card and further ones.
        inputs: one wire for each input of the chart, in its order.
        outputs: what is played; the first rule that holds counts.
        motions: what can be played, by name, and what these lead to.
        gaits: what can be walked, by name; no name is both.
        start_pose: where it begins, `(n_joints,)` [rad].
        wait_s: how long the robot stands before the chart's first step [s].
        documents: texts of all native documents it was read from: below its own folder by path, others by
            file name, motions that were handed in as `given/<name>.motion.yaml`.
        path: the file it was read from.
        warnings: what is doubtful about it, in words: outputs that nothing has set when they are first read.
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
    gaits: Mapping[str, Gait] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None
    warnings: tuple[str, ...] = ()

    kind = "behaviour"

    @property
    def extras(self) -> Mapping[str, Any]:
        """Nothing: a recording of a behaviour has its documents and its decisions."""
        return {}

    def controller(self, seed: Seed) -> BehaviourController:
        """Return what lets the robot do it; inputs that are drawn by chance are drawn from the seed."""
        return BehaviourController(self, seed)

    def __repr__(self) -> str:
        return f"Behaviour({self.name!r}, {self.robot.name}, chart {self.chart.name!r})"

    def _repr_html_(self) -> str:
        rows = [("input", wire.name, wire.wired_to) for wire in self.inputs]
        rows += [("output", rule.condition, f"{rule.play or 'stand'}{rule.numbers}") for rule in self.outputs]
        return html_table(repr(self), ("", "chart", "robot"), rows, opened=True)


@dataclass(frozen=True, slots=True)
class Tick:
    """What happened in one tick of a chart.

    Attributes:
        time_s: the body's time [s].
        chart: where the chart stands after it.
        inputs: what the chart's inputs were, and which of its events came.
        outputs: what the chart's outputs are after it.
        action: what is asked for.
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
        """Begin anew and return where the chart stands before its first tick."""

    def step(self, state: Snapshot, inputs: Mapping[str, Value]) -> Snapshot | None:
        """Return where the chart stands after one tick; None where nothing answers in time."""


class BehaviourRunner:
    """Steps a behaviour. The same readings and the same seed give the same ticks."""

    def __init__(self, behaviour: Behaviour, seed: Seed = 0, stepper: Stepper | None = None) -> None:
        """Prepare.

        Args:
            behaviour: what to run.
            seed: for inputs that are drawn by chance.
            stepper: of its chart; the interpreter by default.
        """
        self.behaviour = behaviour
        self._stepper = Interpreter(behaviour.chart) if stepper is None else stepper
        self._events = frozenset(behaviour.chart.events)
        self._chance = np.random.default_rng(seed)
        self.restart()

    def restart(self) -> None:
        """Begin anew, as a person who switches the robot on again; chance goes on."""
        self._chart = self._stepper.initial()
        self._watch = Monitor(self.behaviour.chart, self._chart) if self.behaviour.chart.promises else None
        self._read: dict[str, Value] = {}
        self._start_s: float | None = None

    def step(self, state: BodyState, playing: str | None = None, *, chance: float | None = None) -> Tick:
        """Take one tick; where the stepper does not answer, the chart stays and the robot is to stand.

        Args:
            state: what the body says of itself now.
            playing: the motion or gait that is being done; None while the robot stands still.
            chance: what inputs that are drawn by chance read, 0 up to 1; None draws it.

        Raises:
            BodyError: the body has not the sensors the behaviour reads.
        """
        if self._start_s is None:
            self._start_s = state.time_s
        if chance is None:
            chance = self._chance.random()
        senses = Senses(state, state.time_s - self._start_s, playing, self._chart.outputs, chance)
        before = self._read
        self._read = {wire.name: wire.read(senses, before.get(wire.name)) for wire in self.behaviour.inputs}
        inputs = self._sampled(before)
        if senses.since_start_s < self.behaviour.wait_s:
            return Tick(state.time_s, self._chart, inputs, self._chart.outputs, STAND)
        after = self._stepper.step(self._chart, inputs)
        if after is None:
            return Tick(state.time_s, self._chart, inputs, self._chart.outputs, STAND)
        self._chart = after
        outputs = self._chart.outputs
        action = choose(self.behaviour.outputs, outputs)
        broken = self._watch.check_tick(inputs, self._chart) if self._watch is not None else ()
        return Tick(state.time_s, self._chart, inputs, outputs, action, broken)

    def _sampled(self, before: Mapping[str, Value]) -> dict[str, Value]:
        """Return what was read, an event being true at the one tick at which it became so."""
        if not self._events:
            return self._read
        return {
            name: value and before.get(name) is False if name in self._events else value
            for name, value in self._read.items()
        }


class BehaviourController(Controller):
    """Lets a robot do what a behaviour says.

    The chart's tick k falls due at the first frame at or after k periods from the beginning.

    Args:
        behaviour: what to do; the robot stands in its start pose.
        seed: of inputs that are drawn by chance.
        stepper: of its chart; the interpreter by default.
    """

    def __init__(self, behaviour: Behaviour, seed: Seed = 0, stepper: Stepper | None = None) -> None:
        self.behaviour = behaviour
        self._runner = BehaviourRunner(behaviour, seed, stepper)
        self._schedule = Schedule(behaviour.chart.period_s, behaviour.robot.frame_period_s)
        self.restart()

    def restart(self) -> None:
        """Begin anew from the start pose, at whatever time it is."""
        behaviour, robot = self.behaviour, self.behaviour.robot
        self._runner.restart()
        gaits = {name: QuadrupedGait(gait, robot) for name, gait in behaviour.gaits.items()}
        self._performer = Performer(robot, behaviour.motions, gaits, behaviour.start_pose)
        self._frame = self._ticks = self._due = 0

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the frames up to the chart's next tick, or to where torque or stiffness change."""
        decision = None
        if self._frame == self._due:
            tick = self._runner.step(state, self._performer.playing)
            self._performer.request(tick.action)
            self._ticks += 1
            self._due = self._schedule.frame_of(self._ticks)
            decision = decision_of(tick)
        rows = self._performer.next(state, min(n, self._due - self._frame))
        self._frame += len(rows)
        return rows if decision is None else replace(rows, decision=decision)


def decision_of(tick: Tick) -> Decision:
    """Return what is recorded of a tick."""
    broken = tuple(("promise", {"promise": one.promise.name, "message": one.message}) for one in tick.broken)
    return Decision(tick.chart.state, tick.inputs, tick.outputs, tick.action.name, broken)
