"""Rows of inputs: what a chart is given tick by tick, from a CSV file or as a person types it."""

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

Given = tuple[Mapping[str, Value], tuple[str, ...]]
"""All inputs of a tick, and the events that come."""


def given(chart: Chart, inputs: Mapping[str, Value]) -> Given:
    """Return a row of inputs, which are known to be right, as a tick takes them."""
    events = tuple(name for name in chart.events if inputs.get(name))
    return {name: inputs[name] for name in chart.inputs}, events


MAX_ROWS_BYTES = 50_000_000
"""Size of a file of inputs; at one tick a row that is days of a robot's life."""


NEXT, INSIDE, OUTSIDE = "next", "in", "not in"
"""What a row may expect of states: the active ones, some of the active ones, some that are not active."""

COLUMNS = ("state", "next", "tick", "time_s")
"""Columns that every file may have."""

SAME = 1e-9
"""Part of a number by which another may differ and still be the one that was expected."""


@dataclass(frozen=True)
class Row:
    """The inputs of one tick.

    Attributes:
        inputs: every input, and as true the events that come.
        start: the state to start this row in; None goes on from the row before.
        expected: what the file says comes out: outputs and locals by name, and states at `next`, `in` and
            `not in`, joined by `+`.
    """

    inputs: Mapping[str, Value]
    start: str | None = None
    expected: Mapping[str, Value] = field(default_factory=dict)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Tick:
    """What came of one row.

    Attributes:
        before: the state the tick began in.
    """

    row: Row
    before: str
    after: Snapshot

    @property
    def inputs(self) -> Mapping[str, Value]:
        """What the inputs were, and as true the events that came."""
        return self.row.inputs

    def to_dict(self, chart: Chart, number: int) -> dict[str, object]:
        """Return it fit for JSON, as a tick of a chart, counted from 0."""
        data: dict[str, object] = {
            "tick": number,
            "time_s": round(number * chart.period_s, 9),
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
            data |= {"line": self.row.line, "differs": self.differs}
        return data

    @property
    def active(self) -> tuple[str, ...]:
        """The states that are active after it."""
        return self.after.active

    @property
    def outputs(self) -> Mapping[str, Value]:
        """What the outputs hold after it."""
        return self.after.outputs

    @property
    def differs(self) -> dict[str, Value]:
        """What the row expected and did not get."""
        return {name: value for name, value in self.row.expected.items() if not fits(self.after, name, value)}


def fits(after: Snapshot, name: str, wanted: Value) -> bool:
    """Return whether a chart stands as expected: an output, a local, or (`next`, `in`, `not in`) states."""
    if name in (INSIDE, OUTSIDE):
        named = str(wanted).split(STATE_SEPARATOR)
        return all((state in after.active) is (name == INSIDE) for state in named)
    if name == NEXT:
        return after.state == wanted or wanted in after.active
    got = after.registers[name]
    if isinstance(wanted, float) and not isinstance(got, str):
        return math.isclose(got, wanted, rel_tol=SAME, abs_tol=1e-12)
    return got == wanted


def run_rows(
    chart: Chart, rows: Iterator[Row] | list[Row], start: str | None = None, *, native: bool = False
) -> Iterator[Tick]:
    """Yield what comes of each row, tick by tick; `native` as `Interpreter`.

    Raises:
        ExpressionError: a guard or an action divides by zero.
        UnknownNameError: there is no state called `start`.
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
    """Return the row that a person typed as `front=1, left=0`; inputs not named are zero, events do not come.

    Raises:
        UnknownNameError: there is no such input.
        InputError: not `name=value`, or a value of another type.
    """
    columns, given = _columns(chart), dict[str, Value]()
    for part in filter(str.strip, text.split(",")):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign:
            raise InputError(f"{part.strip()!r} sets no input", hint="write front=1,left=0")
        if name not in columns:
            raise UnknownNameError.among("input", name, columns)
        given[columns[name]] = value_typed(chart, columns[name], value)
    return Row({**{name: kind.default for name, kind in chart.inputs.items()}, **given})


def read_rows(chart: Chart, path: Path | str) -> list[Row]:
    """Read rows of inputs from a CSV file.

    Every input has a column, by its name or as the chart's truth table calls it; an event may have one.
    Columns of the state make every row start afresh there; columns of the next state and of outputs are what
    is expected.

    Raises:
        FormatError: a column or a cell is not what it should be; says the line.
    """
    path = Path(path)
    try:
        with open_regular_file(path) as file:
            raw = file.read(MAX_ROWS_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise FormatError(error.strerror or str(error), where=Where(path)) from error
    except UnicodeDecodeError as error:
        raise FormatError("not a text file", where=Where(path, offset=error.start)) from error
    if len(raw) > MAX_ROWS_BYTES:
        raise FormatError(f"larger than {MAX_ROWS_BYTES} bytes", where=Where(path))
    return list(_rows(chart, text, path))


def _rows(chart: Chart, text: str, path: Path) -> Iterator[Row]:
    header: list[str] = []
    for cells, where in read_csv_rows(text, path):
        if not header:
            header = _checked(chart, cells, where)
        elif len(cells) != len(header):
            raise FormatError(f"{len(cells)} cells in {len(header)} columns", where=where)
        else:
            yield _row(chart, dict(zip(header, cells, strict=True)), where)
    if not header:
        raise FormatError("the file is empty", where=Where(path), hint=f"columns: {', '.join(chart.inputs)}")


def _columns(chart: Chart) -> dict[str, str]:
    return {**chart.table_form.inputs, **{name: name for name in (*chart.inputs, *chart.events)}}


def _checked(chart: Chart, header: list[str], where: Where) -> list[str]:
    form, columns = chart.table_form, _columns(chart)
    rest = (*form.state_columns, *form.next_columns, *form.outputs, *chart.outputs, *COLUMNS)
    for name in header:
        if name not in columns and name not in rest:
            raise UnknownNameError.among("column of this chart", name, [*columns, *rest], where=where)
    for name in (*chart.inputs, *chart.events):
        held = [column for column in header if columns.get(column) == name]
        if len(held) > 1 or (name in chart.inputs and not held):
            fault = "has no column" if not held else f"has the columns {', '.join(held)}"
            word = "input" if name in chart.inputs else "event"
            raise FormatError(f"the {word} {name!r} {fault}", where=where, hint="one column for each input")
    return header


def _row(chart: Chart, cells: Mapping[str, str], where: Where) -> Row:
    form, columns = chart.table_form, _columns(chart)
    outputs = {**form.outputs, **{name: name for name in chart.outputs}}
    try:
        inputs = {
            columns[name]: value_typed(chart, columns[name], cell)
            for name, cell in cells.items()
            if name in columns
        }
        expected = {
            outputs[name]: parse_value(chart.outputs[outputs[name]], cell)
            for name, cell in cells.items()
            if name in outputs and name not in columns
        }
        after = _state(chart, cells, form.next_columns, "next")
        if after is not None:
            expected["next"] = after
        return Row(inputs, _state(chart, cells, form.state_columns, "state"), expected, where.line)
    except InputError as error:
        if error.where is not None:
            raise
        raise FormatError(error.message, where=where, hint=error.hint) from error


def _state(chart: Chart, cells: Mapping[str, str], columns: tuple[str, ...], word: str) -> str | None:
    """Return the state that a row's cells name, by its code or by its name."""
    if word in cells:
        return STATE_SEPARATOR.join(
            chart.state(name.strip()).name for name in cells[word].split(STATE_SEPARATOR)
        )
    if not all(column in cells for column in columns):
        return None
    return state_called(chart, "".join(cells[column] for column in columns))


def state_called(chart: Chart, word: str) -> str:
    """Return the state of that name, or of that code in the chart's truth table.

    Raises:
        UnknownNameError: there is none.
    """
    codes = {code: name for name, code in chart.form.codes.items()} if chart.form else {}
    return codes[word] if word in codes and word not in chart.state_names else chart.state(word).name


def value_typed(chart: Chart, name: str, text: str) -> Value:
    """Return the value of an input, or of an event, that a person wrote.

    Raises:
        InputError: it is none of the type, or its unit does not go with the input's.
    """
    kind = chart.inputs[name] if name in chart.inputs else BoolType()
    try:
        return parse_value(kind, text)
    except InputError as error:
        raise InputError(f"{name}: {error.message}", hint=error.hint) from error


def tick_rows(chart: Chart, ticks: Iterable[Tick]) -> list[list[str]]:
    """Return ticks as a table of texts, its first row the heads."""
    heads = ["tick", "time_s", "from", *chart.inputs, *chart.events, "state", *chart.outputs, *chart.locals]
    rows = [
        [
            str(number),
            f"{round(number * chart.period_s, 9):g}",
            tick.before,
            *(format_value(tick.row.inputs[name]) for name in chart.inputs),
            *(format_value(bool(tick.row.inputs.get(name))) for name in chart.events),
            tick.after.state,
            *(format_value(tick.after.outputs[name]) for name in chart.outputs),
            *(format_value(tick.after.locals[name]) for name in chart.locals),
        ]
        for number, tick in enumerate(ticks)
    ]
    return [heads, *rows]
