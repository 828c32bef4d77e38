"""Truth tables from CSV files.

Columns, from left to right: the state (bits such as `q1,q0`, or one column `state` with names), the
inputs, the next state (`q1_next,q0_next`, or `next`), the outputs. Cells are 0 or 1; an input's may be X.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from posewright.charts.formats.sheet_rows import sheet_rows
from posewright.charts.model import NEXT, TableForm, file_named, name_fault
from posewright.charts.tables import TableRow, TruthTable
from posewright.errors import FormatError, Where

CELLS = {"0": False, "1": True}
ANY = frozenset({"X", "x", "-", "*"})
HEADER_HINT = "columns: q1,q0 (or state), inputs, q1_next,q0_next (or next), outputs"


def parse_table(text: str, path: Path | None = None) -> TruthTable:
    """Read a truth table from the text of a CSV file; `path` is only used in messages and for the name.

    Rows that are missing or contradict each other are left to the checks of the chart.

    Raises:
        FormatError: a column or a cell is not what it should be; says the line.
    """
    reader = _Reader(text, path)
    form, rows = reader.form, tuple(reader.rows())
    if not rows:
        raise FormatError("the table has no rows", where=Where(path, 1))
    states = dict.fromkeys(name for row in rows for name in (row.state, row.go))
    if form.state_bits:
        form = replace(form, codes={name: name for name in states})
        states = dict.fromkeys(sorted(states))
    form = replace(form, newline="\r\n" if "\r\n" in text else "\n")
    return TruthTable(file_named(path, "table"), form, rows[0].state, tuple(states), rows)


class _Reader:
    def __init__(self, text: str, path: Path | None) -> None:
        self.path = path
        self.lines = sheet_rows(text, path)
        self.where = Where(path)
        self.header = self.read_header()
        self.form = _form(self.header, self.where)
        self.n_states, self.n_inputs = len(self.form.state_columns), len(self.form.inputs)

    def read_header(self) -> list[str]:
        cells, self.where = next(self.lines, ([], self.where))
        if not cells:
            raise FormatError("the table is empty", where=self.where, hint=HEADER_HINT)
        return cells

    def rows(self) -> list[TableRow]:
        found: list[TableRow] = []
        for cells, where in self.lines:
            self.where = where
            found.append(self.row(cells))
        return found

    def row(self, cells: list[str]) -> TableRow:
        if len(cells) != len(self.header):
            raise FormatError(f"{len(cells)} cells in {len(self.header)} columns", where=self.where)
        split = self.n_states + self.n_inputs
        goal = split + self.n_states
        outputs = [self.binary(i, cells[i]) for i in range(goal, len(cells))]
        return TableRow(
            state=self.state(cells, 0),
            cube=tuple(self.ternary(i, cells[i]) for i in range(self.n_states, split)),
            go=self.state(cells, split),
            outputs=tuple(outputs),
            line=self.where.line,
        )

    def state(self, cells: list[str], start: int) -> str:
        if self.form.state_bits:
            bits = [self.binary(i, cells[i]) for i in range(start, start + self.n_states)]
            return "".join("01"[bit] for bit in bits)
        if not (cells[start].isascii() and cells[start].isidentifier()):
            raise FormatError(f"{cells[start]!r} is no name for a state", where=self.where)
        return cells[start]

    def binary(self, column: int, cell: str) -> bool:
        if cell not in CELLS:
            message = f"column {self.header[column]}: {cell!r} is not binary"
            raise FormatError(message, where=self.where, hint="write 0 or 1")
        return CELLS[cell]

    def ternary(self, column: int, cell: str) -> bool | None:
        return None if cell in ANY else self.binary(column, cell)


def _form(header: list[str], where: Where) -> TableForm:
    """Return the form that a header describes."""
    bits = tuple(name for name in header if name + NEXT in header)
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
        other, fault = seen.get(name.lower()), name_fault(name)
        seen[name.lower()] = name
        if other is not None:
            fault = "is there twice" if other == name else f"differs from {other!r} only in case"
        elif name.endswith(NEXT):
            fault = f"has no column {name[: -len(NEXT)]!r}"
        if fault is not None:
            raise FormatError(f"the column {name!r} {fault}", where=where, hint=HEADER_HINT)
