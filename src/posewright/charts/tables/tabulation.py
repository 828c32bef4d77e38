"""Tabulation: the truth table of a chart whose inputs and outputs are truth values."""

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
"""Inputs of a table: 4096 rows per state."""


def points(count: int) -> Iterator[tuple[bool, ...]]:
    """Yield all combinations of `count` truth values, counting upwards."""
    return product((False, True), repeat=count)


def table_of(chart: Chart) -> TruthTable:
    """Return the truth table of a chart: every state with every combination of its inputs.

    In every row the minimum time of the state is over.

    Raises:
        InputError: the chart has no truth table: it has nested states, events or locals, an input or output
            is not bool, an output is read, or an output keeps its value.
    """
    interpreter = Interpreter(chart)
    _require_table(chart, interpreter.machine)
    table_form = chart.table_form
    n_inputs = len(chart.inputs)
    if n_inputs > MAX_TABLE_INPUTS:
        raise InputError(
            f"{n_inputs} inputs are too many for a truth table", hint=f"at most {MAX_TABLE_INPUTS}"
        )
    states = sorted(chart.state_names, key=lambda name: table_form.code_of_state.get(name, ""))
    rows = [_run_row(interpreter, table_form, state, point) for state in states for point in points(n_inputs)]
    return TruthTable(
        chart.name, table_form, initial=chart.initial[0].state, states=tuple(states), rows=tuple(rows)
    )


def _require_table(chart: Chart, machine: Machine) -> None:
    """Raise an InputError unless a truth table can represent the chart."""
    where = Where(chart.path)
    features = (
        ("nested states", not chart.is_flat),
        ("events", chart.events or chart.local_events),
        ("locals", chart.locals),
    )
    for feature, is_used in features:
        if is_used:
            raise InputError(f"{chart.name} has no truth table, because it has {feature}", where=where)
    for name, value_type in {**chart.inputs, **chart.outputs}.items():
        if not isinstance(value_type, BoolType):
            message = f"the chart has no truth table, because {name} is {value_type}"
            raise InputError(message, where=where, hint="all inputs and outputs must be bool")
    for node in machine.nodes:
        for transition in node.transitions:
            _require_inputs_only(chart, transition.guard, transition.line)
        for actions in (*node.actions, *(transition.do for transition in node.transitions)):
            for expression in expressions_in(actions):
                _require_inputs_only(chart, expression, node.line)


def _require_inputs_only(chart: Chart, expression: Expression, line: int | None) -> None:
    """Raise an InputError if an expression reads anything but inputs."""
    for name in sorted(expression.names - chart.inputs.keys()):
        # the chart has no locals, so a name that is no output is a counter of time
        kind = "output" if name in chart.outputs else "time"
        raise InputError(
            f"the chart has no truth table, because the {kind} {name} is read", where=Where(chart.path, line)
        )


def _run_row(
    interpreter: Interpreter, table_form: TableForm, state: str, point: tuple[bool, ...]
) -> TruthTableRow:
    """Return the row of the truth table for a state and a combination of inputs.

    The tick is run with all outputs false before it, and with all true, to detect an output that keeps its
    value.

    Args:
        interpreter: runs the chart.
        table_form: the columns of the table.
        state: the state before the tick.
        point: the value of each input, in the order of the columns.

    Raises:
        InputError: an output keeps its value, so that the inputs do not determine it.
    """
    chart = interpreter.chart
    inputs = dict(zip(table_form.input_of_column.values(), point, strict=True))
    start_snapshots = _start_snapshots(interpreter, state)
    end_snapshots = [interpreter.step(start_snapshot, inputs) for start_snapshot in start_snapshots]
    first_end = end_snapshots[0]
    last_end = end_snapshots[-1]
    for name in chart.outputs:
        if first_end.outputs[name] != last_end.outputs[name]:
            case = ", ".join(f"{key}={int(value)}" for key, value in inputs.items())
            reason = f"the output {name} keeps its old value in {state} with {case}"
            raise InputError(
                f"the chart has no truth table, because {reason}",
                where=Where(chart.path, chart.state(state).line),
                hint="set every output in every case",
            )
    outputs = tuple(bool(first_end.outputs[name]) for name in table_form.output_of_column.values())
    return TruthTableRow(state, cube=point, next_state=first_end.state, outputs=outputs)


def _start_snapshots(interpreter: Interpreter, state: str) -> list[Snapshot]:
    """Return a snapshot in a state with all outputs false, and one with all true.

    Of a Moore chart, whose outputs depend on the state alone, it is one snapshot.
    """
    chart = interpreter.chart
    if chart.kind is ChartKind.MOORE:
        return [interpreter.snapshot_in(state)]
    return [
        interpreter.snapshot_in(state, values=dict.fromkeys(chart.outputs, value)) for value in (False, True)
    ]


def tabulate_chart(chart: Chart) -> TruthTable:
    """Return the truth table of a sound chart; its method `csv()` returns the text of the file.

    Raises:
        InputError: the chart is unsound, or has no truth table (see `table_of`).
    """
    require_sound(chart)
    return table_of(chart)


def grouped(table: TruthTable) -> dict[tuple[str, ...], tuple[TruthTableRow, ...]]:
    """Return the rows by the states that share them, as the UC3M thesis prints them."""
    states_by_rows: dict[tuple[object, ...], list[str]] = {}
    for state in table.states:
        rows_without_state = tuple((row.cube, row.effect) for row in table.rows_of(state))
        states_by_rows.setdefault(rows_without_state, []).append(state)
    return {tuple(states): table.rows_of(states[0]) for states in states_by_rows.values()}
