"""The behaviour runner: one tick from what the body senses to the motion that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from posewright.behaviours.behaviour import Behaviour
from posewright.behaviours.wiring.outputs import STAND, Action, choose
from posewright.behaviours.wiring.senses import Senses
from posewright.bodies import BodyState
from posewright.charts import Broken, ChartState, Interpreter, Value, Watch


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
    chart: ChartState
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    action: Action
    broken: tuple[Broken, ...] = ()


class BehaviourRunner:
    """Steps a behaviour. The same readings and the same seed give the same ticks."""

    def __init__(self, behaviour: Behaviour, seed: int = 0) -> None:
        """Prepare.

        Args:
            behaviour: what to run.
            seed: for inputs that are drawn by chance.
        """
        self.behaviour = behaviour
        self._interpreter = Interpreter(behaviour.chart)
        self._chart = self._interpreter.initial()
        self._watch = Watch(behaviour.chart, self._chart) if behaviour.chart.promises else None
        self._read: dict[str, Value] = {}
        self._events = frozenset(behaviour.chart.events)
        self._start_s: float | None = None
        self._chance = np.random.default_rng(seed)

    def step(self, state: BodyState, playing: str | None = None) -> Tick:
        """Take one tick.

        Args:
            state: what the body says of itself now.
            playing: the motion or gait that is being done; None while the robot stands still.

        Raises:
            BodyError: the body has not the sensors the behaviour reads.
        """
        if self._start_s is None:
            self._start_s = state.time_s
        senses = Senses(
            state, state.time_s - self._start_s, playing, self._chart.outputs, self._chance.random()
        )
        before = self._read
        self._read = {wire.name: wire.read(senses, before.get(wire.name)) for wire in self.behaviour.inputs}
        inputs = self._sampled(before)
        if senses.since_start_s < self.behaviour.wait_s:
            return Tick(state.time_s, self._chart, inputs, self._chart.outputs, STAND)
        self._chart = self._interpreter.step(self._chart, inputs)
        outputs = self._chart.outputs
        action = choose(self.behaviour.outputs, outputs)
        broken = self._watch.see(inputs, self._chart) if self._watch is not None else ()
        return Tick(state.time_s, self._chart, inputs, outputs, action, broken)

    def _sampled(self, before: Mapping[str, Value]) -> dict[str, Value]:
        """Return what was read, an event being true at the one tick at which it became so."""
        if not self._events:
            return self._read
        return {
            name: value and before.get(name) is False if name in self._events else value
            for name, value in self._read.items()
        }
