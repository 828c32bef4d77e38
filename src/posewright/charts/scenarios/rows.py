"""Rows of inputs, one for each tick: read from a CSV file, parsed from a command line, and run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from posewright.charts.formats import read_csv_rows
from posewright.charts.machine import STATE_SEPARATOR, Interpreter, Snapshot
from posewright.charts.model import Chart
from posewright.charts.types import BoolType, Value, format_value, parse_value
from posewright.documents import open_regular_file
from posewright.errors import FormatError, InputError, UnknownNameError, Where

TickInputs = tuple[Mapping[str, Value], tuple[str, ...]]
"""The value of every input in a tick, and the events that occur."""


def split_events(chart: Chart, inputs: Mapping[str, Value]) -> TickInputs:
    """Return the values of the inputs in a row, and the events that occur; the values must be valid."""
    events = tuple(name for name in chart.events if inputs.get(name))
    return {name: inputs[name] for name in chart.inputs}, events


MAX_ROWS_BYTES = 50_000_000
"""Maximum size of a file of inputs; at one tick a row that is several days."""

NEXT = "next"
"""Name under which a row expects an active state, or all of them."""

INSIDE = "in"
"""Name under which a row expects states to be active."""

OUTSIDE = "not in"
"""Name under which a row expects states not to be active."""

COMMON_COLUMNS = ("state", "next", "tick", "time_s")
"""Columns that are allowed in the file of any chart."""

RELATIVE_TOLERANCE = 1e-9
ABSOLUTE_TOLERANCE = 1e-12
"""Differences up to which a fraction is the expected one; the second is for values near zero."""


@dataclass(frozen=True)
class Row:
    """The inputs of one tick.

    Attributes:
        inputs: value of every input; True for the events that occur.
        start: state in which this row starts; None continues from the row before.
        expected: expected values of outputs and locals, by name; expected states under `next`, `in` and
            `not in`, joined by `+`.
        line: the line in the file, if known.
    """

    inputs: Mapping[str, Value]
    start: str | None = None
    expected: Mapping[str, Value] = field(default_factory=dict)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Tick:
    """The result of one row.

    Attributes:
        row: inputs and expectations.
        before: text of the active states before the tick.
        after: state of the chart after it.
    """

    row: Row
    before: str
    after: Snapshot

    @property
    def inputs(self) -> Mapping[str, Value]:
        """Value of every input; True for the events that occurred."""
        return self.row.inputs

    def to_dict(self, chart: Chart, tick_index: int) -> dict[str, object]:
        """Return the tick as plain data for JSON; `tick_index` counts from 0."""
        data: dict[str, object] = {
            "tick": tick_index,
            "time_s": round(tick_index * chart.period_s, 9),
            "from": self.before,
            "inputs": {name: self.row.inputs[name] for name in chart.inputs},
            "state": self.after.state,
            "outputs": dict(self.after.outputs),
        }
        if chart.events:
            data["events"] = [name for name in chart.events if self.row.inputs.get(name)]
        if not chart.is_flat:
            data["active"] = list(self.after.active)
        if chart.locals:
            data["locals"] = dict(self.after.locals)
        if self.row.expected:
            data |= {"line": self.row.line, "differs": self.unmet_expectations}
        return data

    @property
    def active(self) -> tuple[str, ...]:
        """The states that are active after the tick."""
        return self.after.active

    @property
    def outputs(self) -> Mapping[str, Value]:
        """Values of the outputs after the tick."""
        return self.after.outputs

    @property
    def unmet_expectations(self) -> dict[str, Value]:
        """The expectations of the row that the tick does not meet, as in `Row.expected`."""
        return {
            name: value
            for name, value in self.row.expected.items()
            if not meets_expectation(self.after, name, value)
        }


def meets_expectation(after: Snapshot, name: str, expected: Value) -> bool:
    """Return whether a snapshot meets one expectation of a row.

    Args:
        after: the snapshot after the tick.
        name: the name of an output or local, or `next`, `in` or `not in` for states.
        expected: its value; names of states joined by `+`.
    """
    if name == INSIDE:
        return all(state in after.active for state in str(expected).split(STATE_SEPARATOR))
    if name == OUTSIDE:
        return all(state not in after.active for state in str(expected).split(STATE_SEPARATOR))
    if name == NEXT:
        return after.state == expected or expected in after.active
    value = after.registers[name]
    if isinstance(expected, float) and not isinstance(value, str):
        return math.isclose(value, expected, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)
    return value == expected


def run_rows(
    chart: Chart, rows: Iterator[Row] | list[Row], start: str | None = None, *, native: bool = False
) -> Iterator[Tick]:
    """Run a chart over rows, and yield the result of each.

    Args:
        chart: the chart to be run.
        rows: the rows of inputs.
        start: state in which the run starts; None starts before the first tick.
        native: run compiled C, as in `Interpreter`.

    Raises:
        ExpressionError: a guard or an action divides by zero.
        UnknownNameError: there is no state with the name `start`.
    """
    interpreter = Interpreter(chart, native=native)
    state = interpreter.initial() if start is None else interpreter.snapshot_in(start)
    for row in rows:
        if row.start is not None:
            state = interpreter.snapshot_in(row.start)
        before = state.state
        state = interpreter.step(state, row.inputs)
        yield Tick(row, before, state)


def parse_row(chart: Chart, text: str) -> Row:
    """Return the row in a text such as `front=1, left=0`; other inputs are zero, other events do not occur.

    Raises:
        UnknownNameError: there is no such input.
        InputError: a part is not `name=value`, or a value has another type.
    """
    input_of_column = _map_columns_to_inputs(
        chart
    )  # an input may be written by its column in the truth table
    values: dict[str, Value] = {}
    for assignment in filter(str.strip, text.split(",")):
        column, equals_sign, value_text = (part.strip() for part in assignment.partition("="))
        if not equals_sign:
            raise InputError(f"{assignment.strip()!r} has no value", hint="write front=1,left=0")
        if column not in input_of_column:
            raise UnknownNameError.among("input", column, input_of_column)
        name = input_of_column[column]
        values[name] = parse_input_value(chart, name, value_text)
    defaults = {name: value_type.default for name, value_type in chart.inputs.items()}
    return Row({**defaults, **values})


def read_rows(chart: Chart, path: Path | str) -> list[Row]:
    """Read rows of inputs from a CSV file.

    Every input has a column, under its name or its name in the chart's truth table; an event may have one.
    With columns of the state, every row starts in that state. Columns of the next state and of outputs are
    expectations.

    Raises:
        FormatError: a column or a cell is not valid; the message names the line.
    """
    path = Path(path)
    try:
        with open_regular_file(path) as file:
            content = file.read(MAX_ROWS_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise FormatError(error.strerror or str(error), where=Where(path)) from error
    except UnicodeDecodeError as error:
        raise FormatError("not a text file", where=Where(path, offset=error.start)) from error
    if len(content) > MAX_ROWS_BYTES:
        raise FormatError(f"larger than {MAX_ROWS_BYTES} bytes", where=Where(path))
    return list(_parse_rows(chart, text, path))


def _parse_rows(chart: Chart, text: str, path: Path) -> Iterator[Row]:
    """Yield the rows of a CSV text, whose first line is the header: the names of the columns."""
    header: list[str] = []
    for cells, where in read_csv_rows(text, path):
        if not header:
            _require_valid_header(chart, cells, where)
            header = cells
        elif len(cells) != len(header):
            raise FormatError(f"{len(cells)} cells in {len(header)} columns", where=where)
        else:
            yield _parse_row_cells(chart, dict(zip(header, cells, strict=True)), where)
    if not header:
        raise FormatError("the file is empty", where=Where(path), hint=f"columns: {', '.join(chart.inputs)}")


def _map_columns_to_inputs(chart: Chart) -> dict[str, str]:
    """Return the input or event of every column name that represents one, by column.

    An input has a column of its own name, and may have another in the chart's truth table.
    """
    return {**chart.table_form.input_of_column, **{name: name for name in (*chart.inputs, *chart.events)}}


def _require_valid_header(chart: Chart, header: list[str], where: Where) -> None:
    """Raise an error unless all columns are known, and every input has exactly one column.

    Args:
        chart: the chart.
        header: the names of all columns.
        where: the place of the header, for messages.

    Raises:
        UnknownNameError: the chart has no such column.
        FormatError: an input has no column, or an input or event has several.
    """
    table_form = chart.table_form
    input_of_column = _map_columns_to_inputs(chart)
    other_columns = (
        *table_form.state_columns,
        *table_form.next_columns,
        *table_form.output_of_column,
        *chart.outputs,
        *COMMON_COLUMNS,
    )
    for name in header:
        if name not in input_of_column and name not in other_columns:
            known_columns = [*input_of_column, *other_columns]
            raise UnknownNameError.among("column", name, known_columns, where=where)
    for name in (*chart.inputs, *chart.events):
        columns = [column for column in header if input_of_column.get(column) == name]
        is_missing = name in chart.inputs and not columns
        if is_missing or len(columns) > 1:
            fault = "has no column" if is_missing else f"has the columns {', '.join(columns)}"
            kind = "input" if name in chart.inputs else "event"
            message = f"the {kind} {name!r} {fault}"
            raise FormatError(message, where=where, hint="one column for each input")


def _parse_row_cells(chart: Chart, cells: Mapping[str, str], where: Where) -> Row:
    """Return the row in the cells of a line.

    Args:
        chart: the chart.
        cells: the text of each cell, by the name of its column.
        where: the place of the line, for messages.

    Raises:
        InputError: a cell is not valid.
    """
    table_form = chart.table_form
    input_of_column = _map_columns_to_inputs(chart)
    output_of_column = {**table_form.output_of_column, **{name: name for name in chart.outputs}}
    inputs: dict[str, Value] = {}
    expected: dict[str, Value] = {}
    try:
        for column, cell in cells.items():
            if column in input_of_column:
                name = input_of_column[column]
                inputs[name] = parse_input_value(chart, name, cell)
        for column, cell in cells.items():
            if column in output_of_column and column not in input_of_column:
                name = output_of_column[column]
                expected[name] = parse_value(chart.outputs[name], cell)
        next_state = _parse_state(chart, cells, code_columns=table_form.next_columns, name_column="next")
        if next_state is not None:
            expected[NEXT] = next_state
        start = _parse_state(chart, cells, code_columns=table_form.state_columns, name_column="state")
        return Row(inputs, start, expected, where.line)
    except InputError as error:
        if error.where is not None:
            raise
        raise FormatError(error.message, where=where, hint=error.hint) from error


def _parse_state(
    chart: Chart, cells: Mapping[str, str], code_columns: tuple[str, ...], name_column: str
) -> str | None:
    """Return the state that a row names; None if it has no columns for that.

    Args:
        chart: the chart.
        cells: the text of each cell, by the name of its column.
        code_columns: the columns that together hold the state's code in the truth table, a digit each.
        name_column: the column that holds its name, or the names of several joined by `+`; it comes first.
    """
    if name_column in cells:
        names = cells[name_column].split(STATE_SEPARATOR)
        return STATE_SEPARATOR.join(chart.state(name.strip()).name for name in names)
    if not all(column in cells for column in code_columns):
        return None
    return resolve_state_name(chart, "".join(cells[column] for column in code_columns))


def resolve_state_name(chart: Chart, text: str) -> str:
    """Return the name of a state given by its name, or by its code in the chart's truth table.

    Raises:
        UnknownNameError: there is no such state.
    """
    code_of_state = chart.declared_table_form.code_of_state if chart.declared_table_form is not None else {}
    state_of_code = {code: name for name, code in code_of_state.items()}
    if text in state_of_code and text not in chart.state_names:
        return state_of_code[text]
    return chart.state(text).name


def parse_input_value(chart: Chart, name: str, text: str) -> Value:
    """Return the value of an input, or whether an event occurs, from a text such as `1` or `0.5 m`.

    Raises:
        InputError: the text is no value of the type, or its unit does not match that of the input.
    """
    value_type = chart.inputs[name] if name in chart.inputs else BoolType()
    try:
        return parse_value(value_type, text)
    except InputError as error:
        raise InputError(f"{name}: {error.message}", hint=error.hint) from error


def format_tick_table(chart: Chart, ticks: Iterable[Tick]) -> list[list[str]]:
    """Return ticks as rows of cells of text, the header first; an event is 1 in a tick in which it occurs."""
    header = ["tick", "time_s", "from", *chart.inputs, *chart.events, "state", *chart.outputs, *chart.locals]
    rows = [header]
    for tick_index, tick in enumerate(ticks):
        time_s = round(tick_index * chart.period_s, 9)
        input_values = [tick.row.inputs[name] for name in chart.inputs]
        event_values = [bool(tick.row.inputs.get(name)) for name in chart.events]
        output_values = [tick.after.outputs[name] for name in chart.outputs]
        local_values = [tick.after.locals[name] for name in chart.locals]
        input_cells = [format_value(value) for value in (*input_values, *event_values)]
        variable_cells = [format_value(value) for value in (*output_values, *local_values)]
        rows.append(
            [str(tick_index), f"{time_s:g}", tick.before, *input_cells, tick.after.state, *variable_cells]
        )
    return rows
