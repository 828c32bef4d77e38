"""Mutants: the chart with every single fault that can be made in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from posewright.charts.expression import Expression, Function, FunctionRow, Scope
from posewright.charts.model import Chart
from posewright.charts.mutation.expression_faults import expression_faults, retyped
from posewright.charts.mutation.fault import Fault, Mutant, Sort
from posewright.charts.mutation.ground import Ground
from posewright.charts.mutation.mapping import Mapped, with_state
from posewright.charts.mutation.state_faults import initial_faults, state_faults
from posewright.charts.mutation.transition_faults import transition_faults
from posewright.charts.mutation.tree_faults import others_than
from posewright.charts.types import BoolType, EnumType, Type, Value
from posewright.errors import InputError

Made = tuple[Fault[object], str | None, Callable[[], Chart]]
"""A fault, the state that it is in, and what makes the chart that has it."""


def mutants(chart: Chart) -> Iterator[Mutant]:
    """Yield the chart with every single fault; what is no chart any more is left out."""
    for fault, state, make in _made(chart):
        try:
            yield Mutant(fault.sort, fault.what, fault.line, make(), state)
        except InputError:
            continue


def _made(chart: Chart) -> Iterator[Made]:
    ground = Ground(chart)
    for state in chart.every_state:
        for changed in state_faults(state, ground):
            yield changed, state.name, partial(with_state, chart, changed.value)
    for initial in initial_faults(chart.initial, ground, None):
        yield initial, None, partial(replace, chart, initial=initial.value)
    for name, segments in chart.junctions.items():
        for one in transition_faults(segments, ground):
            yield one, None, partial(replace, chart, junctions={**chart.junctions, name: one.value})
    for values in _initial_values(chart):
        yield values, None, partial(replace, chart, initial_values=values.value)
    for function in chart.functions.values():
        for other in _function_faults(function, chart):
            yield other, None, partial(_with_function, chart, other.value)


def _initial_values(chart: Chart) -> Iterator[Fault[dict[str, Value]]]:
    for name, value in chart.initial_values.items():
        for other in _others(value, chart.variables[name]):
            what = f"{name} is {other} in the beginning, not {value}"
            yield Fault(Sort.INITIAL, what, None, {**chart.initial_values, name: other})


def _others(value: Value, kind: Type) -> Iterator[Value]:
    if isinstance(kind, EnumType):
        yield from (name for name in kind.values if name != value)
    else:
        yield from (other for other in others_than(value) if kind.holds(other))


def _function_faults(function: Function, chart: Chart) -> Iterator[Fault[Function]]:
    rows = function.rows
    for i, row in enumerate(rows):
        before, after = rows[:i], rows[i + 1 :]
        if len(rows) > 1:
            what = f"a row of {function.name} is left out: {', '.join(row.cells) or row.when}"
            yield Fault(Sort.ROW, what, row.line, replace(function, rows=(*before, *after)))
        for fault in _row_faults(row, function, chart):
            what = f"{function.name}: {fault.what}"
            yield Fault(fault.sort, what, row.line, replace(function, rows=(*before, fault.value, *after)))


def _row_faults(row: FunctionRow, function: Function, chart: Chart) -> Iterator[Fault[FunctionRow]]:
    scope = Scope(function.takes, chart.constants, chart.scope.values, chart.units)
    if row.when.names:
        for when in expression_faults(row.when, scope, BoolType(), chart.period_s):
            yield when.of(replace(row, when=when.value))
    for give in expression_faults(row.give, scope, function.gives, chart.period_s):
        yield give.of(replace(row, give=give.value))


def _with_function(chart: Chart, function: Function) -> Chart:
    """Return a chart with a function changed, and with it every expression that calls it."""
    changed = replace(chart, functions={**chart.functions, function.name: function})
    called = re.compile(rf"\b{function.name}\s*\(")

    def change(expression: Expression, wanted: Type) -> Expression:
        if not called.search(expression.source.text):
            return expression
        return retyped(expression, changed.scope, wanted)

    return Mapped(changed, change).made()
