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
from posewright.charts.formats.csv_rows import ANY, read_csv_rows
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
"""One entry per input, in the table's order; None does not matter."""

SIGNS = {True: "1", False: "0", None: "X"}


def cube_text(cube: Cube) -> str:
    """Return a cube as the UC3M thesis prints it, such as 01X."""
    return "".join(SIGNS[sign] for sign in cube)


def _cube_guard(cube: Cube, names: Sequence[str]) -> Expression:
    signs = [(sign, Name(name)) for sign, name in zip(cube, names, strict=True) if sign is not None]
    literals: list[Tree] = [name if sign else Unary(Operator.NOT, name) for sign, name in signs]
    tree = reduce(partial(Binary, Operator.AND), literals) if literals else Literal(True)
    return Expression(tree, BoolType(), SourceText(format_tree(tree)))


def guard_cube(guard: Expression, names: Sequence[str]) -> Cube | None:
    """Return the cube of a guard that is a plain conjunction of the named inputs, else None."""
    signs: dict[str, bool] = {}
    for literal in _conjuncts(guard.tree):
        wanted = not (isinstance(literal, Unary) and literal.operator is Operator.NOT)
        name = literal.operand if isinstance(literal, Unary) and not wanted else literal
        if name == Literal(True) and wanted:
            continue
        if not isinstance(name, Name) or name.name not in names or signs.get(name.name, wanted) != wanted:
            return None
        signs[name.name] = wanted
    return tuple(signs.get(name) for name in names)


def _conjuncts(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree, Binary) and tree.operator is Operator.AND:
        yield from _conjuncts(tree.left)
        yield from _conjuncts(tree.right)
    else:
        yield tree


@dataclass(frozen=True)
class TruthTableRow:
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
    rows: tuple[TruthTableRow, ...]

    @cached_property
    def _by_state(self) -> dict[str, list[TruthTableRow]]:
        found: dict[str, list[TruthTableRow]] = {}
        for row in self.rows:
            found.setdefault(row.state, []).append(row)
        return found

    def rows_of(self, state: str) -> tuple[TruthTableRow, ...]:
        """Return the rows of one state, in order."""
        return tuple(self._by_state.get(state, ()))

    def cells(self, row: TruthTableRow) -> list[str]:
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


def table_to_chart(table: TruthTable, *, period_s: float = 0.1, like: Chart | None = None) -> Chart:
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
        kind=ChartKind.MEALY,
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
            when=_cube_guard(row.cube, inputs),
            do=assign({output: constant(value) for output, value in zip(outputs, row.outputs, strict=True)}),
            go=to(row.go),
            line=row.line,
        )
        for row in rows
    )
    return State(name, transitions, line=rows[0].line if rows else None)


CELLS = {"0": False, "1": True}
HEADER_HINT = "columns: q1,q0 (or state), inputs, q1_next,q0_next (or next), outputs"


def parse_table(text: str, path: Path | None = None) -> TruthTable:
    """Read a truth table from the text of a CSV file; `path` is only used in messages and for the name.

    Rows that are missing or contradict each other are left to the checks of the chart.

    Raises:
        FormatError: a column or a cell is not what it should be; says the line.
    """
    lines = read_csv_rows(text, path)
    header, where = next(lines, ([], Where(path)))
    if not header:
        raise FormatError("the table is empty", where=where, hint=HEADER_HINT)
    form = _form(header, where)
    rows = tuple(_table_row(form, header, cells, where) for cells, where in lines)
    if not rows:
        raise FormatError("the table has no rows", where=Where(path, 1))
    states = dict.fromkeys(name for row in rows for name in (row.state, row.go))
    if form.state_bits:
        form = replace(form, codes={name: name for name in states})
        states = dict.fromkeys(sorted(states))
    form = replace(form, newline="\r\n" if "\r\n" in text else "\n")
    return TruthTable(chart_name_of_file(path, "table"), form, rows[0].state, tuple(states), rows)


def _table_row(form: TableForm, header: list[str], cells: list[str], where: Where) -> TruthTableRow:
    if len(cells) != len(header):
        raise FormatError(f"{len(cells)} cells in {len(header)} columns", where=where)

    def binary(column: int) -> bool:
        if cells[column] not in CELLS:
            message = f"column {header[column]}: {cells[column]!r} is not binary"
            raise FormatError(message, where=where, hint="write 0 or 1")
        return CELLS[cells[column]]

    def state(column: int) -> str:
        name = cells[column]
        if form.state_bits:
            return "".join("01"[binary(column + i)] for i in range(len(form.state_bits)))
        if not (name.isascii() and name.isidentifier()):
            raise FormatError(f"{name!r} is no name for a state", where=where)
        return name

    first = len(form.state_columns)
    after = first + len(form.inputs)
    outputs = tuple(binary(i) for i in range(after + first, len(cells)))
    cube = tuple(None if cells[i] in ANY else binary(i) for i in range(first, after))
    return TruthTableRow(state(0), cube, state(after), outputs, where.line)


def _form(header: list[str], where: Where) -> TableForm:
    bits = tuple(name for name in header if name + NEXT_SUFFIX in header)
    form = TableForm({}, {}, bits)
    if not bits and not {"state", "next"} <= set(header):
        raise FormatError("no columns for the state and the next state", where=where, hint=HEADER_HINT)
    middle = header.index(form.next_columns[0])
    inputs = header[len(form.state_columns) : middle]
    outputs = header[middle + len(form.next_columns) :]
    found = TableForm({name: name for name in inputs}, {name: name for name in outputs}, bits)
    for name, wanted in zip(header, found.columns, strict=False):
        if name != wanted:
            raise FormatError(
                f"the column {name!r} stands where {wanted!r} should", where=where, hint=HEADER_HINT
            )
    _check_names([*bits, *inputs, *outputs], where)
    return found


def _check_names(names: list[str], where: Where) -> None:
    seen: dict[str, str] = {}
    for name in names:
        other, fault = seen.get(name.lower()), find_name_fault(name)
        seen[name.lower()] = name
        if other is not None:
            fault = "is there twice" if other == name else f"differs from {other!r} only in case"
        elif name.endswith(NEXT_SUFFIX):
            fault = f"has no column {name[: -len(NEXT_SUFFIX)]!r}"
        if fault is not None:
            raise FormatError(f"the column {name!r} {fault}", where=where, hint=HEADER_HINT)
