"""Truth tables: a chart of truth values as rows of state, inputs, next state and outputs."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from posewright.charts.checks import require_sound
from posewright.charts.expression import Expression, constant
from posewright.charts.machine import Interpreter, Machine, Snapshot
from posewright.charts.model import Chart, Kind, State, TableForm, Transition, assign, expressions_in, to
from posewright.charts.tables.cubes import Cube, cube_guard, cube_text, points
from posewright.charts.types import BoolType
from posewright.documents import write_atomically
from posewright.errors import InputError, Where

MAX_TABLE_INPUTS = 12
"""Inputs of a table we write: 4096 rows a state."""


@dataclass(frozen=True)
class TableRow:
    """In `state`, for the inputs in `cube`: go where, with which outputs."""

    state: str
    cube: Cube
    go: str
    outputs: tuple[bool, ...]
    line: int | None = field(default=None, compare=False)

    @property
    def effect(self) -> tuple[str, tuple[bool, ...]]:
        """What the row does."""
        return self.go, self.outputs

    def __str__(self) -> str:
        return f"{cube_text(self.cube)}/{cube_text(self.outputs)}"


@dataclass(frozen=True)
class TruthTable:
    """Rows in the columns of a form."""

    name: str
    form: TableForm
    initial: str
    states: tuple[str, ...]
    rows: tuple[TableRow, ...]

    @cached_property
    def _by_state(self) -> dict[str, list[TableRow]]:
        found: dict[str, list[TableRow]] = {}
        for row in self.rows:
            found.setdefault(row.state, []).append(row)
        return found

    def rows_of(self, state: str) -> tuple[TableRow, ...]:
        """Return the rows of one state, in order."""
        return tuple(self._by_state.get(state, ()))

    def cells(self, row: TableRow) -> list[str]:
        """Return a row as text, one cell a column."""
        return [
            *self.form.cells_of(row.state),
            *cube_text(row.cube),
            *self.form.cells_of(row.go),
            *cube_text(row.outputs),
        ]

    def csv(self) -> str:
        """Return the table as the text of a CSV file."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator=self.form.newline)
        writer.writerow(self.form.columns)
        writer.writerows(self.cells(row) for row in self.rows)
        return out.getvalue()


def save_table(table: TruthTable, path: Path | str) -> None:
    """Write a truth table as CSV, atomically."""
    write_atomically(Path(path), table.csv().encode())


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
        for way in node.ways:
            _refuse_reading(chart, way.guard, way.line)
        for actions in (*node.actions, *(way.do for way in node.ways)):
            for expression in expressions_in(actions):
                _refuse_reading(chart, expression, node.state.line if node.state else None)


def _refuse_reading(chart: Chart, expression: Expression, line: int | None) -> None:
    for name in sorted(expression.names - chart.inputs.keys()):
        what = "the output" if name in chart.outputs else "the time"
        raise InputError(f"no truth table: {what} {name} is read", where=Where(chart.path, line))


def _row(interpreter: Interpreter, form: TableForm, state: str, point: tuple[bool, ...]) -> TableRow:
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
    return TableRow(state, point, ends[0].state, outputs)


def _starts(interpreter: Interpreter, state: str) -> list[Snapshot]:
    """Return the starts of a case: all times are over, and the outputs hold one value or the other."""
    chart = interpreter.chart
    if chart.kind is Kind.MOORE:
        return [interpreter.entered(state)]
    return [interpreter.entered(state, held=dict.fromkeys(chart.outputs, before)) for before in (False, True)]


def tabulate_chart(chart: Chart) -> TruthTable:
    """Return the truth table of a chart that is sound; `csv()` is its text, `save_table` writes it.

    Raises:
        InputError: the chart is unsound, or is no table (see `table_of`).
    """
    require_sound(chart)
    return table_of(chart)


def chart_of(table: TruthTable, *, period_s: float = 0.1, like: Chart | None = None) -> Chart:
    """Return the chart that has one transition for each row of a table.

    Args:
        table: the rows.
        period_s: the sample period [s], which a table does not say; the UC3M thesis's is 0.1 s.
        like: a chart whose declarations, times and words are kept.
    """
    inputs, outputs = tuple(table.form.inputs.values()), tuple(table.form.outputs.values())
    found = {name: _state(table, name) for name in table.states}
    if like is not None:
        states = (replace(state, transitions=found[state.name].transitions) for state in like.states)
        return replace(like, states=tuple(states), junctions={})
    return Chart(
        name=table.name,
        kind=Kind.MEALY,
        period_s=period_s,
        inputs={name: BoolType() for name in inputs},
        outputs={name: BoolType() for name in outputs},
        initial=to(table.initial),
        states=tuple(found.values()),
        form=table.form,
    )


def _state(table: TruthTable, name: str) -> State:
    inputs, outputs = tuple(table.form.inputs.values()), tuple(table.form.outputs.values())
    rows = table.rows_of(name)
    transitions = tuple(
        Transition(
            when=cube_guard(row.cube, inputs),
            do=assign({output: constant(value) for output, value in zip(outputs, row.outputs, strict=True)}),
            go=to(row.go),
            line=row.line,
        )
        for row in rows
    )
    return State(name, transitions, line=rows[0].line if rows else None)


def grouped(table: TruthTable) -> dict[tuple[str, ...], tuple[TableRow, ...]]:
    """Return the rows by the states that share them, as the UC3M thesis prints them."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for state in table.states:
        key = tuple((row.cube, row.effect) for row in table.rows_of(state))
        groups.setdefault(key, []).append(state)
    return {tuple(states): table.rows_of(states[0]) for states in groups.values()}
