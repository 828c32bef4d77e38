"""Truth tables: a chart of truth values as rows of state, inputs, next state and outputs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from posewright.charts.checks import require_sound
from posewright.charts.expression import Expression
from posewright.charts.formats import TruthTable, TruthTableRow
from posewright.charts.machine import Interpreter, Machine, Snapshot
from posewright.charts.model import Chart, ChartKind, TableForm, expressions_in
from posewright.charts.types import BoolType
from posewright.errors import InputError, Where

MAX_TABLE_INPUTS = 12
"""Inputs of a table we write: 4096 rows a state."""


def points(count: int) -> Iterator[tuple[bool, ...]]:
    """Yield every combination of `count` truth values, counting upwards."""
    return product((False, True), repeat=count)


def table_of(chart: Chart) -> TruthTable:
    """Return the truth table of a chart: every state with every combination of its inputs.

    Minimum times are taken to have passed.

    Raises:
        InputError: the chart is no table: it is not flat, has events or locals, an input or output is not
            bool, an output is read, or an output is left as it was.
    """
    interpreter = Interpreter(chart)
    _refuse_what_is_no_table(chart, interpreter.machine)
    form = chart.table_form
    if len(chart.inputs) > MAX_TABLE_INPUTS:
        raise InputError(f"{len(chart.inputs)} inputs are too many", hint=f"at most {MAX_TABLE_INPUTS}")
    states = sorted(chart.state_names, key=lambda name: form.codes.get(name, ""))
    rows = (_row(interpreter, form, state, point) for state in states for point in points(len(chart.inputs)))
    return TruthTable(chart.name, form, chart.initial[0].state, tuple(states), tuple(rows))


def _refuse_what_is_no_table(chart: Chart, machine: Machine) -> None:
    where = Where(chart.path)
    for what, there in (
        ("states inside states", not chart.is_flat),
        ("events", chart.events or chart.local_events),
        ("locals", chart.locals),
    ):
        if there:
            raise InputError(f"no truth table: {chart.name} has {what}", where=where)
    for name, kind in {**chart.inputs, **chart.outputs}.items():
        if not isinstance(kind, BoolType):
            raise InputError(f"no truth table: {name} is {kind}", where=where, hint="all must be bool")
    for node in machine.nodes:
        for way in node.transitions:
            _refuse_reading(chart, way.guard, way.line)
        for actions in (*node.actions, *(way.do for way in node.transitions)):
            for expression in expressions_in(actions):
                _refuse_reading(chart, expression, node.line)


def _refuse_reading(chart: Chart, expression: Expression, line: int | None) -> None:
    for name in sorted(expression.names - chart.inputs.keys()):
        what = "the output" if name in chart.outputs else "the time"
        raise InputError(f"no truth table: {what} {name} is read", where=Where(chart.path, line))


def _row(interpreter: Interpreter, form: TableForm, state: str, point: tuple[bool, ...]) -> TruthTableRow:
    """Run one case from two starts, so that an output which the chart leaves as it was is seen."""
    chart, inputs = interpreter.chart, dict(zip(form.inputs.values(), point, strict=True))
    ends = [interpreter.step(start, inputs) for start in _starts(interpreter, state)]
    for name in chart.outputs:
        if ends[0].outputs[name] != ends[-1].outputs[name]:
            case = ", ".join(f"{key}={int(value)}" for key, value in inputs.items())
            raise InputError(
                f"no truth table: in {state} with {case} the output {name} keeps its old value",
                where=Where(chart.path, chart.state(state).line),
                hint="a table's rows set every output",
            )
    outputs = tuple(bool(ends[0].outputs[name]) for name in form.outputs.values())
    return TruthTableRow(state, point, ends[0].state, outputs)


def _starts(interpreter: Interpreter, state: str) -> list[Snapshot]:
    """Return the starts of a case: all times are over, and the outputs hold one value or the other."""
    chart = interpreter.chart
    if chart.kind is ChartKind.MOORE:
        return [interpreter.snapshot_in(state)]
    return [
        interpreter.snapshot_in(state, values=dict.fromkeys(chart.outputs, before))
        for before in (False, True)
    ]


def tabulate_chart(chart: Chart) -> TruthTable:
    """Return the truth table of a chart that is sound; `csv()` is its text, `save_table` writes it.

    Raises:
        InputError: the chart is unsound, or is no table (see `table_of`).
    """
    require_sound(chart)
    return table_of(chart)


def grouped(table: TruthTable) -> dict[tuple[str, ...], tuple[TruthTableRow, ...]]:
    """Return the rows by the states that share them, as the UC3M thesis prints them."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for state in table.states:
        key = tuple((row.cube, row.effect) for row in table.rows_of(state))
        groups.setdefault(key, []).append(state)
    return {tuple(states): table.rows_of(states[0]) for states in groups.values()}
