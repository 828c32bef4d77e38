"""Truth tables: rows of state, inputs, next state and outputs, as a CSV file and as a chart.

Columns, from left to right: the state (bits such as `q1,q0`, or one column `state` with names), the
inputs, the next state (`q1_next,q0_next`, or `next`), the outputs. Cells are 0 or 1; an input's may be X.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import NamedTuple

from posewright.charts.expression import (
    Binary,
    Expression,
    Literal,
    Name,
    Operator,
    SourceText,
    Tree,
    Unary,
    constant,
    format_tree,
)
from posewright.charts.formats.csv_rows import WILDCARDS, read_csv_rows
from posewright.charts.model import (
    NEXT_SUFFIX,
    Chart,
    ChartKind,
    State,
    TableForm,
    Transition,
    assign,
    chart_name_of_file,
    find_name_fault,
    to,
)
from posewright.charts.types import BoolType
from posewright.documents import write_atomically
from posewright.errors import FormatError, Where

Cube = tuple[bool | None, ...]
"""One entry per input, in the order of the columns; None is any value."""

CELL_TEXTS = {True: "1", False: "0", None: "X"}


def cube_text(cube: Cube) -> str:
    """Return a cube as the UC3M thesis prints it, such as 01X."""
    return "".join(CELL_TEXTS[value] for value in cube)


def _cube_guard(cube: Cube, names: Sequence[str]) -> Expression:
    """Return the guard that is true for the inputs of a cube, such as `a and not b`; `true` if it fixes none.

    Args:
        cube: the value of each input, None for any.
        names: the names of the inputs.
    """
    conjuncts: list[Tree] = []
    for value, name in zip(cube, names, strict=True):
        if value is not None:
            name_node = Name(name, declared_type=BoolType())
            conjuncts.append(name_node if value else Unary(Operator.NOT, name_node))
    tree = reduce(partial(Binary, Operator.AND), conjuncts) if conjuncts else Literal(True)
    return Expression(tree, BoolType(), SourceText(format_tree(tree)))


def guard_cube(guard: Expression, names: Sequence[str]) -> Cube | None:
    """Return the cube of a guard that is a conjunction of inputs and their negations, such as `a and not b`.

    None if the guard has another form, uses another name, or requires an input to be both true and false.

    Args:
        guard: the guard.
        names: the inputs, in the order of the cube.
    """
    values: dict[str, bool] = {}
    for conjunct in _conjuncts(guard.tree):
        if conjunct == Literal(True):
            continue
        required_value = True
        operand = conjunct
        if isinstance(conjunct, Unary) and conjunct.operator is Operator.NOT:
            required_value = False
            operand = conjunct.operand
        if not isinstance(operand, Name) or operand.name not in names:
            return None
        if values.get(operand.name, required_value) != required_value:
            return None
        values[operand.name] = required_value
    return tuple(values.get(name) for name in names)


def _conjuncts(tree: Tree) -> Iterator[Tree]:
    """Yield the parts of an expression that `and` joins; the expression itself if it is no conjunction."""
    if isinstance(tree, Binary) and tree.operator is Operator.AND:
        yield from _conjuncts(tree.left)
        yield from _conjuncts(tree.right)
    else:
        yield tree


class RowEffect(NamedTuple):
    """The next state and the outputs of a row."""

    next_state: str
    outputs: tuple[bool, ...]


@dataclass(frozen=True)
class TruthTableRow:
    """One row of a truth table.

    Attributes:
        state: the state before the tick.
        cube: the inputs that the row covers.
        next_state: the state after the tick.
        outputs: the value of each output, in the order of the columns.
        line: its line in the file.
    """

    state: str
    cube: Cube
    next_state: str
    outputs: tuple[bool, ...]
    line: int | None = field(default=None, compare=False)

    @property
    def effect(self) -> RowEffect:
        """The next state and the outputs."""
        return RowEffect(self.next_state, self.outputs)

    def __str__(self) -> str:
        return f"{cube_text(self.cube)}/{cube_text(self.outputs)}"


@dataclass(frozen=True)
class TruthTable:
    """A truth table.

    Attributes:
        name: its name, and that of its chart.
        table_form: the columns, and the codes of the states.
        initial: the initial state.
        states: the names of all states.
        rows: the rows, in the order of the file.
    """

    name: str
    table_form: TableForm
    initial: str
    states: tuple[str, ...]
    rows: tuple[TruthTableRow, ...]

    @cached_property
    def _rows_by_state(self) -> dict[str, list[TruthTableRow]]:
        rows_by_state: dict[str, list[TruthTableRow]] = {}
        for row in self.rows:
            rows_by_state.setdefault(row.state, []).append(row)
        return rows_by_state

    def rows_of(self, state: str) -> tuple[TruthTableRow, ...]:
        """Return the rows of one state, in order; empty for a state without rows."""
        return tuple(self._rows_by_state.get(state, ()))

    def cells(self, row: TruthTableRow) -> list[str]:
        """Return the cells of a row as text: the state, the inputs, the next state, the outputs.

        A state is one cell with its name, or a cell for each bit of its code; inputs and outputs are 0, 1 or
        X.
        """
        return [
            *self.table_form.state_cells(row.state),
            *cube_text(row.cube),
            *self.table_form.state_cells(row.next_state),
            *cube_text(row.outputs),
        ]

    def csv(self) -> str:
        """Return the table as the text of a CSV file."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator=self.table_form.newline)
        writer.writerow(self.table_form.columns)
        writer.writerows(self.cells(row) for row in self.rows)
        return buffer.getvalue()


def save_table(table: TruthTable, path: Path | str) -> None:
    """Write a truth table as CSV, atomically."""
    write_atomically(Path(path), table.csv().encode())


def table_to_chart(table: TruthTable, *, period_s: float = 0.1, like: Chart | None = None) -> Chart:
    """Return the Mealy chart with one transition for each row of a table.

    Args:
        table: the rows.
        period_s: the sample period [s], which a table does not state; the UC3M thesis has 0.1 s.
        like: a chart with the same states, of which everything but the transitions is kept; None builds a
            chart from the table alone.
    """
    inputs = tuple(table.table_form.input_of_column.values())
    outputs = tuple(table.table_form.output_of_column.values())
    state_by_name = {name: _build_state(table, name) for name in table.states}
    if like is not None:
        states = [replace(state, transitions=state_by_name[state.name].transitions) for state in like.states]
        return replace(like, states=tuple(states), junctions={})
    return Chart(
        name=table.name,
        kind=ChartKind.MEALY,
        period_s=period_s,
        inputs={name: BoolType() for name in inputs},
        outputs={name: BoolType() for name in outputs},
        initial=to(table.initial),
        states=tuple(state_by_name.values()),
        declared_table_form=table.table_form,
    )


def _build_state(table: TruthTable, name: str) -> State:
    """Return the state called `name`, with one transition for each of its rows in the table."""
    inputs = tuple(table.table_form.input_of_column.values())
    outputs = tuple(table.table_form.output_of_column.values())
    rows = table.rows_of(name)
    transitions = []
    for row in rows:
        values = {output: constant(value) for output, value in zip(outputs, row.outputs, strict=True)}
        guard = _cube_guard(row.cube, inputs)
        transitions.append(Transition(when=guard, do=assign(values), go=to(row.next_state), line=row.line))
    return State(name, tuple(transitions), line=rows[0].line if rows else None)


CELL_VALUES = {"0": False, "1": True}
HEADER_HINT = "columns: q1,q0 (or state), inputs, q1_next,q0_next (or next), outputs"


def parse_table(text: str, path: Path | None = None) -> TruthTable:
    """Read a truth table from the text of a CSV file; `path` is used for messages and for the name.

    The checks of the chart find missing and contradictory rows.

    Raises:
        FormatError: a column or a cell is not valid; with the line.
    """
    csv_rows = read_csv_rows(text, path)
    header, where = next(csv_rows, ([], Where(path)))
    if not header:
        raise FormatError("the table is empty", where=where, hint=HEADER_HINT)
    table_form = _read_table_form(header, where)
    rows = tuple(_read_row(table_form, header, cells, where) for cells, where in csv_rows)
    if not rows:
        raise FormatError("the table has no rows", where=Where(path, 1))
    states = list(dict.fromkeys(name for row in rows for name in (row.state, row.next_state)))
    if table_form.state_bits:  # the states are named by their codes
        table_form = replace(table_form, code_of_state={name: name for name in states})
        states.sort()
    table_form = replace(table_form, newline="\r\n" if "\r\n" in text else "\n")
    name = chart_name_of_file(path, "table")
    return TruthTable(name, table_form, initial=rows[0].state, states=tuple(states), rows=rows)


def _read_row(table_form: TableForm, header: list[str], cells: list[str], where: Where) -> TruthTableRow:
    """Return the row of a truth table that its cells represent.

    Args:
        table_form: the columns: the state, the inputs, the next state, the outputs.
        header: the names of all columns.
        cells: the text of each cell.
        where: the place of the row, for messages.

    Raises:
        FormatError: the row has another number of cells, or a cell is not valid.
    """
    if len(cells) != len(header):
        raise FormatError(f"{len(cells)} cells in {len(header)} columns", where=where)

    def read_bit(column: int) -> bool:
        """Return the cell 0 or 1 in a column, given by its index."""
        cell = cells[column]
        if cell not in CELL_VALUES:
            message = f"column {header[column]}: {cell!r} is not binary"
            raise FormatError(message, where=where, hint="write 0 or 1")
        return CELL_VALUES[cell]

    def read_state(first_column: int) -> str:
        """Return the state in the cells from a column on: its name, or its code as text of 0 and 1."""
        if table_form.state_bits:
            code_columns = range(first_column, first_column + len(table_form.state_bits))
            return "".join("1" if read_bit(column) else "0" for column in code_columns)
        name = cells[first_column]
        if not (name.isascii() and name.isidentifier()):
            raise FormatError(f"{name!r} is not a valid name for a state", where=where)
        return name

    first_input_column = len(table_form.state_columns)
    first_next_column = first_input_column + len(table_form.input_of_column)
    first_output_column = first_next_column + len(table_form.next_columns)
    outputs = tuple(read_bit(column) for column in range(first_output_column, len(cells)))
    cube = tuple(
        None if cells[column] in WILDCARDS else read_bit(column)
        for column in range(first_input_column, first_next_column)
    )
    state = read_state(first_column=0)
    next_state = read_state(first_next_column)
    return TruthTableRow(state, cube, next_state=next_state, outputs=outputs, line=where.line)


def _read_table_form(header: list[str], where: Where) -> TableForm:
    """Return the form of a truth table from its header: which columns hold states, inputs and outputs.

    A column `q` with a column `q_next` is a bit of the state. The columns between the state and the next
    state are inputs, those after the next state are outputs.

    Raises:
        FormatError: the states have no columns, the columns are in another order, or a name is not valid.
    """
    state_bits = tuple(name for name in header if name + NEXT_SUFFIX in header)
    if not state_bits and not {"state", "next"} <= set(header):
        raise FormatError("no columns for the state and the next state", where=where, hint=HEADER_HINT)
    state_form = TableForm({}, {}, state_bits)  # to count the columns of the state
    first_next_column = header.index(state_form.next_columns[0])
    inputs = header[len(state_form.state_columns) : first_next_column]
    outputs = header[first_next_column + len(state_form.next_columns) :]
    table_form = TableForm({name: name for name in inputs}, {name: name for name in outputs}, state_bits)
    for name, expected_name in zip(header, table_form.columns, strict=False):
        if name != expected_name:
            message = f"the column {name!r} is in the place of {expected_name!r}"
            raise FormatError(message, where=where, hint=HEADER_HINT)
    _require_valid_names([*state_bits, *inputs, *outputs], where)
    return table_form


def _require_valid_names(names: list[str], where: Where) -> None:
    """Raise a FormatError if a column's name is not valid, or occurs twice (also in another case)."""
    names_by_lower_case: dict[str, str] = {}
    for name in names:
        earlier_name = names_by_lower_case.get(name.lower())
        names_by_lower_case[name.lower()] = name
        fault = find_name_fault(name)
        if earlier_name == name:
            fault = "occurs twice"
        elif earlier_name is not None:
            fault = f"differs from {earlier_name!r} only in case"
        elif name.endswith(NEXT_SUFFIX):  # if the table had the state bit, this would be its next value
            fault = f"has no column {name[: -len(NEXT_SUFFIX)]!r}"
        if fault is not None:
            raise FormatError(f"the column {name!r} {fault}", where=where, hint=HEADER_HINT)
