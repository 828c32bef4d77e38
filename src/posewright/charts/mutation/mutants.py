"""Mutants: the chart with every single fault that can be made in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

from posewright.charts.expression import Expression, Function, FunctionRow, Scope, parse_expression
from posewright.charts.model import Assign, Branch, Chart, State, Transition
from posewright.charts.mutation.chart_faults import ChartFaults
from posewright.charts.mutation.expression_faults import expression_faults, others_than
from posewright.charts.mutation.fault import Fault, FaultKind, Mutant, in_field, in_place
from posewright.charts.types import BoolType, EnumType, Type, Value
from posewright.errors import InputError

Made = tuple[Fault[object], str | None, Callable[[], Chart]]
"""A fault, the state that it is in, and what makes the chart that has it."""


def mutants(chart: Chart) -> Iterator[Mutant]:
    """Yield the chart with every single fault; what is no chart any more is left out."""
    for fault, state, make in _made(chart):
        try:
            yield Mutant(fault.kind, fault.what, fault.line, make(), state)
        except InputError:
            continue


def _made(chart: Chart) -> Iterator[Made]:
    faults = ChartFaults(chart)
    for state in chart.every_state:
        for changed in faults.in_state(state):
            yield changed, state.name, partial(_with_state, chart, changed.value)
    for initial in faults.in_initial(chart.initial, None):
        yield initial, None, partial(replace, chart, initial=initial.value)
    for name, segments in chart.junctions.items():
        for one in faults.in_transitions(segments):
            yield one, None, partial(replace, chart, junctions={**chart.junctions, name: one.value})
    for values in _initial_values(chart):
        yield values, None, partial(replace, chart, initial_values=values.value)
    for function in chart.functions.values():
        for other in _in_function(function, chart):
            yield other, None, partial(_with_function, chart, other.value)


def _initial_values(chart: Chart) -> Iterator[Fault[dict[str, Value]]]:
    for name, value in chart.initial_values.items():
        for other in _others(value, chart.variables[name]):
            what = f"{name} is {other} in the beginning, not {value}"
            yield Fault(FaultKind.INITIAL, what, None, {**chart.initial_values, name: other})


def _others(value: Value, kind: Type) -> Iterator[Value]:
    if isinstance(kind, EnumType):
        yield from (name for name in kind.values if name != value)
    else:
        yield from (other for other in others_than(value) if kind.holds(other))


def _in_function(function: Function, chart: Chart) -> Iterator[Fault[Function]]:
    rows = function.rows
    for i, row in enumerate(rows):
        if len(rows) > 1:
            what = f"a row of {function.name} is left out: {', '.join(row.cells) or row.when}"
            yield Fault(FaultKind.ROW, what, row.line, replace(function, rows=(*rows[:i], *rows[i + 1 :])))
        for fault in in_field(function, "rows", in_place(rows, i, _in_row(row, function, chart))):
            yield Fault(fault.kind, f"{function.name}: {fault.what}", row.line, fault.value)


def _in_row(row: FunctionRow, function: Function, chart: Chart) -> Iterator[Fault[FunctionRow]]:
    scope = Scope(function.takes, chart.constants, chart.scope.values, chart.units)
    if row.when.names:
        yield from in_field(row, "when", expression_faults(row.when, scope, BoolType(), chart.period_s))
    yield from in_field(row, "give", expression_faults(row.give, scope, function.gives, chart.period_s))


def _with_state(chart: Chart, changed: State) -> Chart:
    """Return a chart in which the state of that name, wherever it stands, is replaced."""

    def replaced(states: tuple[State, ...]) -> tuple[State, ...]:
        return tuple(changed if state.name == changed.name else state for state in states)

    parent = chart.parents[changed.name]
    if parent is None:
        return replace(chart, states=replaced(chart.states))
    around = chart.state(parent)
    return _with_state(chart, replace(around, states=replaced(around.states)))


def _with_function(chart: Chart, function: Function) -> Chart:
    """Return a chart with a function changed, and with it every expression that calls it."""
    changed = replace(chart, functions={**chart.functions, function.name: function})
    scope, called = changed.scope, re.compile(rf"\b{function.name}\s*\(")

    def read_anew(part: Any, wanted: Type) -> Any:
        """Return a part of the chart with every expression read anew."""
        if isinstance(part, Expression):
            return parse_expression(part.source, scope, wanted) if called.search(part.source.text) else part
        if isinstance(part, tuple):
            return tuple(read_anew(one, wanted) for one in part)
        if isinstance(part, Mapping):  # values that are set
            return {name: read_anew(one, chart.variables[name]) for name, one in part.items()}
        if not isinstance(part, State | Transition | Assign | Branch):
            return part
        return replace(part, **{one.name: read_anew(getattr(part, one.name), wanted) for one in fields(part)})

    junctions = {name: read_anew(one, BoolType()) for name, one in chart.junctions.items()}
    return replace(changed, states=read_anew(chart.states, BoolType()), junctions=junctions)
