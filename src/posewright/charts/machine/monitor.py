"""Watches a running chart: the promises that are proved of it are asked after every tick as well."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from posewright.charts.machine.asking import Asked
from posewright.charts.machine.interpreter import Interpreter
from posewright.charts.machine.lowering import lower
from posewright.charts.machine.owing import NOTHING, Obligation
from posewright.charts.machine.snapshot import Snapshot
from posewright.charts.machine.wording import how_broken
from posewright.charts.model import Chart, Promise
from posewright.charts.types import Value, accept


@dataclass(frozen=True)
class Broken:
    """A promise that was broken in a run.

    Attributes:
        tick: counted from 1: the tick after which it is broken.
        message: in words.
    """

    promise: Promise
    tick: int
    message: str


class Monitor:
    """Asks the promises of a chart after every tick of one run.

    Args:
        chart: what runs.
        start: where the run starts; None for the very start.
    """

    def __init__(self, chart: Chart, start: Snapshot | None = None) -> None:
        self.chart = chart
        self.duties = tuple(Obligation.of(promise, chart) for promise in chart.promises)
        machine = start.machine if start is not None else lower(chart)
        self.asked = tuple(
            Asked(machine, [duty.promise.when, *([duty.promise.goal] if duty.promise.goal else [])])
            for duty in self.duties
        )
        self.ages = [NOTHING] * len(self.duties)
        self.broken: set[int] = set()
        self.ticks = 0
        self.before = start

    def see(self, inputs: Mapping[str, object], state: Snapshot) -> tuple[Broken, ...]:
        """Return the promises that a tick broke; one that stays broken tick after tick is told once.

        Args:
            inputs: of the tick; events that are not there did not come.
            state: after it.

        Raises:
            ExpressionError: a promise divides by zero.
        """
        self.ticks += 1
        given = {name: accept(name, kind, inputs[name]) for name, kind in self.chart.inputs.items()}
        came = {name: bool(inputs.get(name, False)) for name in self.chart.events}
        env = {**given, **came, **state.registers}
        raised = self.raised(inputs, state)
        found = [self.ask(number, state, env, raised) for number in range(len(self.duties))]
        self.before = state
        return tuple(one for one in found if one is not None)

    def raised(self, inputs: Mapping[str, object], state: Snapshot) -> tuple[str, ...]:
        """Return the events raised in the tick, where a promise asks for one: the tick is taken once more."""
        if not any(asked.came for asked in self.asked):
            return ()
        interpreter = Interpreter(self.chart, state.machine)
        return interpreter.outcome(self.before or interpreter.initial(), inputs).raised

    def ask(
        self, number: int, state: Snapshot, env: dict[str, Value], raised: Collection[str]
    ) -> Broken | None:
        """Return how a promise is broken, if it was not before."""
        duty, asked = self.duties[number], self.asked[number]
        standing = {**env, **asked.standing(state.numbers, raised)}
        answers = [bool(one.evaluate(standing)) for one in asked.conditions]
        age = self.ages[number] = duty.onward(self.ages[number], answers[0], answers[-1])
        if not duty.is_broken(age, answers[0]):
            self.broken.discard(number)
            return None
        if number in self.broken:
            return None
        self.broken.add(number)
        waited = max(age - 1, 0)
        return Broken(duty.promise, self.ticks, how_broken(duty.promise, self.ticks, state.state, waited))
