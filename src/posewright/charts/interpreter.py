"""Runs a chart: one pure function from a ChartState and the inputs to the next ChartState."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from posewright.charts.chart import Chart, Kind, State, Transition
from posewright.charts.chart_state import ChartState
from posewright.charts.datatypes import BoolType, Value, accept
from posewright.charts.expression import Expression
from posewright.errors import InputError, UnknownNameError

Env = Mapping[str, Any]
Write = Callable[[Env], dict[str, Value]]


class _Step:
    """A transition made ready to run."""

    __slots__ = ("go", "guard", "transition", "wait", "write")

    def __init__(self, chart: Chart, state: State, transition: Transition) -> None:
        self.transition = transition
        self.guard = transition.when.evaluate
        self.wait = chart.wait_ticks(state, transition)
        self.go = transition.go
        self.write: Write | None
        if chart.kind is Kind.MOORE:
            self.write = None if self.go is None else _moore(chart, chart.state(self.go))
        else:
            self.write = _writer(chart, transition.do) if transition.do else None


class Interpreter:
    """Steps a chart, tick by tick.

    It keeps nothing between steps: the same ChartState and inputs always give the same answer. The
    chart is compiled once, here; a step then takes a few microseconds.
    """

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self._steps = {
            state.name: tuple(_Step(chart, state, transition) for transition in state.transitions)
            for state in chart.states
        }
        self._checks = tuple(
            (name, isinstance(kind, BoolType), kind.holds) for name, kind in chart.inputs.items()
        )
        self._n_inputs = len(chart.inputs)

    def initial(self) -> ChartState:
        """Return where the chart stands before its first tick."""
        return self.entered(self.chart.initial, since=0)

    def entered(self, state: str, since: int = 0) -> ChartState:
        """Return a ChartState in `state` whose outputs are what they are at the very start.

        Raises:
            UnknownNameError: there is no such state.
        """
        outputs = self.chart.start_outputs()
        found = self.chart.state(state)
        if self.chart.kind is Kind.MOORE:
            outputs = _moore(self.chart, found)({})
        return ChartState(state, outputs, since)

    def step(self, state: ChartState, inputs: Mapping[str, object]) -> ChartState:
        """Return where the chart stands after one tick with these inputs.

        The first transition, in the chart's order, whose time has come and whose guard holds is taken;
        where there is none the chart stays and its outputs stay.

        Raises:
            InputError: an input is missing, unknown, or of another type.
            ExpressionError: a guard or an action divides by zero.
        """
        env = self._env(state, inputs)
        step = self._find(state, env)
        if step is None:
            return ChartState(state.state, state.outputs, state.since + 1)
        outputs = state.outputs if step.write is None else step.write(env)
        if step.go is None:
            return ChartState(state.state, outputs, state.since + 1)
        return ChartState(step.go, outputs, 1)

    def taken(self, state: ChartState, inputs: Mapping[str, object]) -> Transition | None:
        """Return the transition that `step` would take, or None where the chart stays."""
        step = self._find(state, self._env(state, inputs))
        return None if step is None else step.transition

    def run(
        self, inputs: Iterable[Mapping[str, object]], start: ChartState | None = None
    ) -> Iterator[ChartState]:
        """Yield the ChartState after each tick, one tick for each row of inputs."""
        state = self.initial() if start is None else start
        for row in inputs:
            state = self.step(state, row)
            yield state

    def _find(self, state: ChartState, env: Env) -> _Step | None:
        try:
            steps = self._steps[state.state]
        except KeyError:
            raise UnknownNameError.among("state", state.state, self._steps) from None
        since = state.since
        for step in steps:
            if since >= step.wait and step.guard(env):
                return step
        return None

    def _env(self, state: ChartState, inputs: Mapping[str, object]) -> Env:
        try:
            for name, is_bool, holds in self._checks:
                value = inputs[name]
                if (type(value) is not bool) if is_bool else not holds(value):
                    break
            else:
                if len(inputs) == self._n_inputs:
                    return {**state.outputs, **inputs}
        except KeyError:
            pass
        return {**state.outputs, **self._accepted(inputs)}

    def _accepted(self, inputs: Mapping[str, object]) -> dict[str, Value]:
        """Check every input with care, because the quick look was not enough."""
        known = self.chart.inputs
        for name in inputs:
            if name not in known:
                raise UnknownNameError.among("input", name, known)
        for name in known:
            if name not in inputs:
                raise InputError(f"the input {name!r} is missing", hint=f"inputs: {', '.join(known)}")
        return {name: accept(name, kind, inputs[name]) for name, kind in known.items()}


def _writer(chart: Chart, do: Mapping[str, Expression]) -> Write:
    """Return a function from the environment of a tick to all outputs after it."""
    fixed: dict[str, Value] = {}
    moving = []
    for name, expression in do.items():
        fit, evaluate = chart.outputs[name].fit, expression.evaluate
        if expression.names:
            moving.append((name, fit, evaluate))
        else:
            fixed[name] = fit(evaluate({}))
    others = [name for name in chart.outputs if name not in do]
    template: dict[str, Value] = {name: fixed.get(name, False) for name in chart.outputs}

    def write(env: Env) -> dict[str, Value]:
        outputs = template.copy()
        for name in others:
            outputs[name] = env[name]
        for name, fit, evaluate in moving:
            outputs[name] = fit(evaluate(env))
        return outputs

    return write


def _moore(chart: Chart, state: State) -> Write:
    """Return the function that gives a Moore state's outputs: its own, else as at the start."""
    outputs: dict[str, Value] = chart.start_outputs()
    for name, expression in state.do.items():
        outputs[name] = chart.outputs[name].fit(expression.evaluate({}))
    return lambda _env: outputs.copy()
