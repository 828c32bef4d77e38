"""Walks a chart through everything that can happen to it, as far as its guards can tell things apart."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.charts.chart import Chart, Kind, State, Transition
from posewright.charts.datatypes import Value
from posewright.charts.expression import Expression
from posewright.charts.expression.arrays import Columns, evaluate_columns
from posewright.charts.interpreter import Interpreter
from posewright.charts.points import Points, points_over

MAX_SITUATIONS = 4000
MAX_WRITES = 500
"""Bounds of the walk; a chart that counts beyond them is not explored to the end, and that is said."""

Registers = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class View:
    """One state, with held outputs, at all points that matter there.

    Attributes:
        holds: where each transition's guard holds, `(n_transitions, count)`.
        failed: where computing it divides by zero, `(n_transitions, count)`.
    """

    state: State
    registers: Registers
    points: Points
    holds: NDArray[np.bool_]
    failed: NDArray[np.bool_]

    @property
    def env(self) -> dict[str, Value | NDArray[Any]]:
        """A column or a held value for every name that the state reads."""
        return {**dict(self.registers), **self.points.columns}

    def first(self, among: list[int]) -> NDArray[np.int_]:
        """Return which of the transitions `among` is the first that holds, -1 for none, `(count,)`."""
        found = np.full(self.points.count, -1)
        for index in reversed(among):
            found[self.holds[index]] = index
        return found

    def compute(self, expression: Expression) -> Columns:
        """Return an expression's values at the points."""
        return evaluate_columns(expression, self.env, self.points.count)


@dataclass
class Exploration:
    """What was seen on the walk.

    Attributes:
        views: by state, one for each combination of held outputs that was met.
        fired: transitions that were taken, as state and index.
        complete: whether the walk came to its end.
    """

    chart: Chart
    views: dict[str, dict[Registers, View]] = field(default_factory=dict)
    fired: set[tuple[str, int]] = field(default_factory=set)
    complete: bool = True

    @cached_property
    def read_outputs(self) -> tuple[str, ...]:
        """The outputs that some guard or action reads."""
        used = {name for state in self.chart.states for name in names_read(state)}
        return tuple(name for name in self.chart.outputs if name in used)

    @cached_property
    def reached(self) -> frozenset[str]:
        """The states that were entered."""
        return frozenset(self.views)

    def registers(self, outputs: Mapping[str, Value]) -> Registers:
        """Return the part of the outputs that can make a difference."""
        return tuple((name, outputs[name]) for name in self.read_outputs)

    def view(self, state: str, registers: Registers) -> View:
        """Return the view of a state with these outputs held, looking only once."""
        views = self.views.setdefault(state, {})
        if registers not in views:
            views[registers] = self._look(self.chart.state(state), registers)
        return views[registers]

    def _look(self, state: State, registers: Registers) -> View:
        points = self.points_of(state.name, registers)
        env = {**dict(registers), **points.columns}
        found = [evaluate_columns(t.when, env, points.count) for t in state.transitions]
        shape = (len(found), points.count)
        failed = np.array([one.failed for one in found], dtype=bool).reshape(shape)
        holds = np.array([one.values for one in found], dtype=bool).reshape(shape) & ~failed
        return View(state, registers, points, holds, failed)

    def points_of(self, state: str, registers: Registers) -> Points:
        """Return the points at which a state is looked at while these outputs are held."""
        found, fixed = self.chart.state(state), dict(registers)
        read = names_read(found)
        types = {name: kind for name, kind in self.chart.inputs.items() if name in read}
        return points_over(types, [_holding(one, fixed) for one in expressions_of(found)])


def names_read(state: State) -> frozenset[str]:
    """Return the inputs and outputs that a state's guards and actions read."""
    return frozenset(name for expression in expressions_of(state) for name in expression.names)


def expressions_of(state: State) -> list[Expression]:
    """Return the guards and actions of a state."""
    return [one for t in state.transitions for one in (t.when, *t.do.values())]


def _holding(expression: Expression, fixed: Mapping[str, Value]) -> Expression:
    return Expression(expression.tree, expression.type, expression.source, {**fixed, **expression.fixed})


def explore(chart: Chart) -> Exploration:
    """Walk a chart from its start through every situation it can come into.

    Time passes in steps that matter: a state is met once for each of its minimum times.
    """
    seen = Exploration(chart)
    start = Interpreter(chart).initial()
    first = (start.state, seen.registers(start.outputs), _stage(chart, start.state, 0))
    waiting, met = deque([first]), {first}
    while waiting:
        if len(met) > MAX_SITUATIONS:
            seen.complete = False
            break
        for situation in _onward(seen, *waiting.popleft()):
            if situation not in met:
                met.add(situation)
                waiting.append(situation)
    return seen


def _waits(chart: Chart, state: str) -> list[int]:
    found = chart.state(state)
    return sorted({chart.wait_ticks(found, transition) for transition in found.transitions})


def _stage(chart: Chart, state: str, since: int) -> int:
    """Return how many of the state's minimum times have passed after `since` ticks."""
    return sum(wait <= since for wait in _waits(chart, state))


def _onward(
    seen: Exploration, name: str, registers: Registers, stage: int
) -> Iterator[tuple[str, Registers, int]]:
    """Yield the situations that may follow one, and note which transitions lead there."""
    chart = seen.chart
    view, waits = seen.view(name, registers), _waits(chart, name)
    transitions = view.state.transitions
    ready = [i for i, t in enumerate(transitions) if chart.wait_ticks(view.state, t) in waits[:stage]]
    first = view.first(ready)
    later = [stage] if stage == len(waits) else [stage, stage + 1]
    for index in np.unique(first).tolist():
        if index < 0:
            yield from ((name, registers, following) for following in later)
            continue
        seen.fired.add((name, index))
        transition = transitions[index]
        for written in _written(seen, view, transition, first == index):
            if transition.go is None:
                yield from ((name, written, following) for following in later)
            else:
                yield transition.go, written, _stage(chart, transition.go, 1)


def _written(
    seen: Exploration, view: View, transition: Transition, where: NDArray[np.bool_]
) -> list[Registers]:
    """Return what the read outputs may hold after a transition is taken at some of the points."""
    chart = seen.chart
    if chart.kind is Kind.MOORE and transition.go is not None:
        return [seen.registers(Interpreter(chart).entered(transition.go).outputs)]
    held = dict(view.registers)
    moving = {name: one for name, one in transition.do.items() if name in held}
    columns = [view.compute(one).values[where].tolist() for one in moving.values()]
    if not moving:
        return [view.registers]
    tuples = list(dict.fromkeys(zip(*columns, strict=True)))
    if len(tuples) > MAX_WRITES:
        seen.complete = False
    kept = (
        {name: chart.outputs[name].fit(v) for name, v in zip(moving, values, strict=True)}
        for values in tuples[:MAX_WRITES]
    )
    return list(dict.fromkeys(seen.registers({**held, **values}) for values in kept))
