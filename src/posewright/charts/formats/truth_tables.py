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
    """Return the conjunction of the inputs that a cube fixes, negated where they are false; else true."""
    literals: list[Tree] = []
    for value, name in zip(cube, names, strict=True):
        if value is not None:
            literals.append(Name(name) if value else Unary(Operator.NOT, Name(name)))
    tree = reduce(partial(Binary, Operator.AND), literals) if literals else Literal(True)
    return Expression(tree, BoolType(), SourceText(format_tree(tree)))


def guard_cube(guard: Expression, names: Sequence[str]) -> Cube | None:
    """Return the cube of a guard that is a conjunction of the named inputs and their negations, else None."""
    values: dict[str, bool] = {}
    for literal in _conjuncts(guard.tree):
        if literal == Literal(True):
            continue
        is_negated = isinstance(literal, Unary) and literal.operator is Operator.NOT
        name = literal.operand if isinstance(literal, Unary) and is_negated else literal
        value = not is_negated
        if not isinstance(name, Name) or name.name not in names:
            return None
        if values.get(name.name, value) != value:
            return None
        values[name.name] = value
    return tuple(values.get(name) for name in names)


def _conjuncts(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree, Binary) and tree.operator is Operator.AND:
        yield from _conjuncts(tree.left)
        yield from _conjuncts(tree.right)
    else:
        yield tree


@dataclass(frozen=True)
class TruthTableRow:
    """One row: in `state`, with the inputs in `cube`, the next state `go` and the outputs."""

    state: str
    cube: Cube
    go: str
    outputs: tuple[bool, ...]
    line: int | None = field(default=None, compare=False)

    @property
    def effect(self) -> tuple[str, tuple[bool, ...]]:
        """The next state and the outputs."""
        return self.go, self.outputs

    def __str__(self) -> str:
        return f"{cube_text(self.cube)}/{cube_text(self.outputs)}"


@dataclass(frozen=True)
class TruthTable:
    """A truth table.

    Attributes:
        form: the columns.
        initial: the initial state.
    """

    name: str
    form: TableForm
    initial: str
    states: tuple[str, ...]
    rows: tuple[TruthTableRow, ...]

    @cached_property
    def _by_state(self) -> dict[str, list[TruthTableRow]]:
        by_state: dict[str, list[TruthTableRow]] = {}
        for row in self.rows:
            by_state.setdefault(row.state, []).append(row)
        return by_state

    def rows_of(self, state: str) -> tuple[TruthTableRow, ...]:
        """Return the rows of one state, in order."""
        return tuple(self._by_state.get(state, ()))

    def cells(self, row: TruthTableRow) -> list[str]:
        """Return the cells of a row as text, one per column."""
        return [
            *self.form.cells_of(row.state),
            *cube_text(row.cube),
            *self.form.cells_of(row.go),
            *cube_text(row.outputs),
        ]

    def csv(self) -> str:
        """Return the table as the text of a CSV file."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator=self.form.newline)
        writer.writerow(self.form.columns)
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
        like: a chart whose declarations, times and descriptions are taken over.
    """
    inputs = tuple(table.form.inputs.values())
    outputs = tuple(table.form.outputs.values())
    state_of = {name: _build_state(table, name) for name in table.states}
    if like is not None:
        states = (replace(state, transitions=state_of[state.name].transitions) for state in like.states)
        return replace(like, states=tuple(states), junctions={})
    return Chart(
        name=table.name,
        kind=ChartKind.MEALY,
        period_s=period_s,
        inputs={name: BoolType() for name in inputs},
        outputs={name: BoolType() for name in outputs},
        initial=to(table.initial),
        states=tuple(state_of.values()),
        form=table.form,
    )


def _build_state(table: TruthTable, name: str) -> State:
    """Return a state with one transition per row of the table."""
    inputs = tuple(table.form.inputs.values())
    outputs = tuple(table.form.outputs.values())
    rows = table.rows_of(name)
    transitions = []
    for row in rows:
        values = {output: constant(value) for output, value in zip(outputs, row.outputs, strict=True)}
        guard = _cube_guard(row.cube, inputs)
        transitions.append(Transition(when=guard, do=assign(values), go=to(row.go), line=row.line))
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
    form = _read_form(header, where)
    rows = tuple(_read_row(form, header, cells, where) for cells, where in csv_rows)
    if not rows:
        raise FormatError("the table has no rows", where=Where(path, 1))
    states = dict.fromkeys(name for row in rows for name in (row.state, row.go))
    if form.state_bits:
        form = replace(form, codes={name: name for name in states})
        states = dict.fromkeys(sorted(states))
    form = replace(form, newline="\r\n" if "\r\n" in text else "\n")
    return TruthTable(
        chart_name_of_file(path, "table"), form, initial=rows[0].state, states=tuple(states), rows=rows
    )


def _read_row(form: TableForm, header: list[str], cells: list[str], where: Where) -> TruthTableRow:
    """Return the row of a truth table that its cells represent."""
    if len(cells) != len(header):
        raise FormatError(f"{len(cells)} cells in {len(header)} columns", where=where)

    def read_bit(column: int) -> bool:
        if cells[column] not in CELL_VALUES:
            message = f"column {header[column]}: {cells[column]!r} is not binary"
            raise FormatError(message, where=where, hint="write 0 or 1")
        return CELL_VALUES[cells[column]]

    def read_state(column: int) -> str:
        name = cells[column]
        if form.state_bits:
            return "".join("01"[read_bit(column + i)] for i in range(len(form.state_bits)))
        if not (name.isascii() and name.isidentifier()):
            raise FormatError(f"{name!r} is not a valid name for a state", where=where)
        return name

    n_state_columns = len(form.state_columns)
    next_column = n_state_columns + len(form.inputs)
    outputs = tuple(read_bit(i) for i in range(next_column + n_state_columns, len(cells)))
    input_columns = range(n_state_columns, next_column)
    cube = tuple(None if cells[i] in WILDCARDS else read_bit(i) for i in input_columns)
    return TruthTableRow(read_state(0), cube, go=read_state(next_column), outputs=outputs, line=where.line)


def _read_form(header: list[str], where: Where) -> TableForm:
    """Return the form of a truth table from its header: bits of the state, inputs, next state, outputs."""
    bits = tuple(name for name in header if name + NEXT_SUFFIX in header)
    form = TableForm({}, {}, bits)
    if not bits and not {"state", "next"} <= set(header):
        raise FormatError("no columns for the state and the next state", where=where, hint=HEADER_HINT)
    next_column = header.index(form.next_columns[0])
    inputs = header[len(form.state_columns) : next_column]
    outputs = header[next_column + len(form.next_columns) :]
    complete_form = TableForm({name: name for name in inputs}, {name: name for name in outputs}, bits)
    for name, expected in zip(header, complete_form.columns, strict=False):
        if name != expected:
            message = f"the column {name!r} is in the place of {expected!r}"
            raise FormatError(message, where=where, hint=HEADER_HINT)
    _require_valid_names([*bits, *inputs, *outputs], where)
    return complete_form


def _require_valid_names(names: list[str], where: Where) -> None:
    """Raise a FormatError if a column's name is not valid, or occurs twice."""
    earlier_names: dict[str, str] = {}
    for name in names:
        earlier = earlier_names.get(name.lower())
        earlier_names[name.lower()] = name
        fault = find_name_fault(name)
        if earlier is not None:
            fault = "occurs twice" if earlier == name else f"differs from {earlier!r} only in case"
        elif name.endswith(NEXT_SUFFIX):
            fault = f"has no column {name[: -len(NEXT_SUFFIX)]!r}"
        if fault is not None:
            raise FormatError(f"the column {name!r} {fault}", where=where, hint=HEADER_HINT)
