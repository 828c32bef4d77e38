"""State-transition tables: a row a transition, in a CSV file that a spreadsheet opens.

    # period_s: 0.1
    # inputs: {near: bool}
    # events: [start]
    # outputs: {motion: {enum: [none, walk]}}
    state,on,when,do,go
    waiting,start,not near,motion: walk,racing
    racing,,near,motion: none,waiting

Lines that begin with `#`, above the header, are the head of a native document; `##` begins a remark. The
cells are as in a native document: `do` sets outputs and locals, its braces may be left out; `go` names a
state. A row without a state belongs to the one above it; a row with nothing but a state declares it.

| column | of | says |
|---|---|---|
| `state` | | its name; a `*` before it: it is entered first, else the first one is |
| `on`, `when`, `after_s`, `do`, `go` | transition | as in a native document |
| `junction`, `local`, `description` | transition | as in a native document |
| `parent` | state | the state around it |
| `initial` | state | what is entered first inside it, where that is not a state directly inside |
| `final` | state | `true`: it is an end |
| `entry`, `during`, `exit`, `min_s`, `priority`, `otherwise` | state | as in a native document |

What is said of a state stands in its first row. The `do` of a Moore state stands there too.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from posewright.charts.formats.csv_rows import read_csv_rows
from posewright.charts.formats.native import chart_of_document
from posewright.charts.formats.native_nodes import Entries, Items, flow_node, flow_text
from posewright.charts.formats.native_writing import chart_data, state_entries, transitions_data
from posewright.charts.model import Chart, ChartKind, State, StateTarget, chart_name_of_file, segments_of
from posewright.documents import Node, PlainData, parse_document, render_document, write_atomically
from posewright.errors import FormatError, InputError, Where

TRANSITION_COLUMNS = ("on", "when", "after_s", "do", "go", "junction", "local", "description")
STATE_COLUMNS = ("parent", "initial", "final", "entry", "during", "exit", "min_s", "priority", "otherwise")
COLUMNS = ("state", *TRANSITION_COLUMNS, *STATE_COLUMNS)
NEEDED = ("state", "go")
USUAL = ("state", "on", "when", "do", "go")
"""Columns that every table of ours has."""

TEXTS = frozenset({"when", "description", "priority", "otherwise"})
NAMES = frozenset({"go", "initial", "junction"})
ACTIONS = frozenset({"do", "entry", "during", "exit"})
"""Columns whose cells are texts; names, or else in the notation of native documents; actions."""

MAX_ROWS = 5000
PERIOD_S = 0.1
"""The sample period of a table that does not say it [s]."""

FIRST = "*"
"""What stands before the name of a state that is entered first."""

_NAME = re.compile(r"\w+")


def is_transition_table(text: str) -> bool:
    """Return whether text is a state-transition table: the columns of its header say so."""
    names = _header(text)
    return names >= {*NEEDED} and names <= {*COLUMNS, ""}


def may_be_transition_table(text: str) -> bool:
    """Return whether a table can rather be a state-transition table, misspelt, than a truth table."""
    names = _header(text)
    truth = "next" in names or any(f"{name}_next" in names for name in names)
    return not truth and bool(names & {*COLUMNS}) if names else text.lstrip("\ufeff").startswith("#")


def _header(text: str) -> set[str]:
    """Return the columns in the first line that is no remark; none where there is no such line."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return {cell.strip().strip('"') for line in [next(lines, "")] if line for cell in line.split(",")}


def parse_transition_table(text: str, path: Path | None = None) -> Chart:
    """Read a chart from the text of a state-transition table.

    Args:
        text: the table.
        path: is only used in messages, and for the name of a chart that says none.

    Raises:
        FormatError: a column or a row is not what it should be; says the line.
        DocumentError: the head, or a cell, is not what it would have to be in a native document.
        ExpressionError: a guard or a value does not parse or does not type.
    """
    return chart_of_document(_TransitionSheet(text, path).document())


@dataclass
class _SheetState:
    """A state and its rows, without their empty cells; `first`: it is marked as the one entered first."""

    name: str
    first: bool
    rows: list[Entries] = field(default_factory=list)

    @property
    def line(self) -> int | None:
        return self.rows[0].line

    def said(self, column: str) -> str | None:
        """Return what its first row says of the state."""
        return self.rows[0].get(column)


class _TransitionSheet:
    def __init__(self, text: str, path: Path | None) -> None:
        self.path = path
        lines = text.removeprefix("\ufeff").splitlines(keepends=True)
        rows = (i for i, line in enumerate(lines) if line.strip() and not line.startswith("#"))
        begin = next(rows, len(lines))
        self.head = "".join(_declaration(line) for line in lines[:begin])
        self.columns: list[str] = []
        self.states: dict[str, _SheetState] = {}
        for cells, where in read_csv_rows("".join(lines[begin:]), path, begin):
            if self.columns:
                self.add(cells, where.line or begin)
            else:
                self.columns = self.checked(cells, where.line or begin)
        if not self.states:
            self.fail("the table has no rows", begin + 1, f"columns: {', '.join(COLUMNS[:6])}, ...")
        self.inside: dict[str | None, list[_SheetState]] = {None: []}
        for state in self.states.values():
            self.inside.setdefault(self.parent(state), []).append(state)
        self.moore = False

    def fail(self, message: str, line: int | None, hint: str | None = None) -> NoReturn:
        raise FormatError(message, where=Where(self.path, line), hint=hint)

    def checked(self, names: list[str], line: int) -> list[str]:
        for name in names:
            if name not in COLUMNS:
                near = difflib.get_close_matches(name, COLUMNS, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"columns: {', '.join(COLUMNS)}"
                self.fail(f"no column is called {name!r}", line, hint)
            if names.count(name) > 1:
                self.fail(f"the column {name!r} is there twice", line, "leave one of them out")
        for name in NEEDED:
            if name not in names:
                self.fail(f"the column {name!r} is missing", line, f"needed are {' and '.join(NEEDED)}")
        return names

    def add(self, cells: list[str], line: int) -> None:
        if len(cells) > len(self.columns):
            hint = "put a cell with a comma in quotes"
            self.fail(f"{len(cells)} cells in {len(self.columns)} columns", line, hint)
        said = {name: cell.strip() for name, cell in zip(self.columns, cells, strict=False) if cell.strip()}
        written = said.pop("state", "")
        name = written.removeprefix(FIRST).strip() or next(reversed(self.states), "")
        if not name:
            self.fail("the first row has no state", line, "write its name in the column 'state'")
        state = self.states.setdefault(name, _SheetState(name, written.startswith(FIRST)))
        state.rows.append(Entries(said, line))
        for column in STATE_COLUMNS:
            if column in said and said[column] != state.said(column):
                hint = f"what is said of a state stands in its first row, line {state.line}"
                self.fail(f"{column!r} of {state.name} is said here", line, hint)
        if sum(len(one.rows) for one in self.states.values()) > MAX_ROWS:
            self.fail("too many rows", line, f"at most {MAX_ROWS}")

    def parent(self, state: _SheetState) -> str | None:
        """Return the name of the state around a state, having made sure that it is not inside it itself."""
        around, seen = state.said("parent"), {state.name}
        while around is not None:
            if around not in self.states:
                self.fail(f"no state is called {around!r}", state.line, "give the parent a row of its own")
            if around in seen:
                self.fail(f"{state.name} is inside itself", state.line, "name another parent")
            seen.add(around)
            around = self.states[around].said("parent")
        return state.said("parent")

    def document(self) -> Node:
        """Return the native document that says the same, every part with its line in the table."""
        head = parse_document(self.head, self.path).fields() if self.head.strip() else {}
        for key in ("states", "regions"):
            if key in head:
                head[key].fail("the states of a table stand in its rows", hint="leave it out")
        self.moore = "kind" in head and head["kind"].value == ChartKind.MOORE.value
        data = {
            "chart": chart_name_of_file(self.path, "table"),
            "period_s": PERIOD_S,
            "initial": self.first(None),
        }
        data |= {key: node.value for key, node in head.items()} | {"states": self.children(None)}
        line = self.inside[None][0].line
        lines = {key: node.line for key, node in head.items()}
        return Node(Entries(data, line, lines), self.path, "", line)

    def first(self, parent: str | None) -> PlainData:
        around = None if parent is None else self.states[parent]
        if around is not None and around.said("initial") is not None:
            return self.cell("initial", around.rows[0])
        inside = self.inside[parent]
        marked = [state for state in inside if state.first]
        if len(marked) > 1:
            hint = "one of the states inside a state is entered first"
            self.fail(f"both {marked[0].name} and {marked[1].name} are marked", marked[1].line, hint)
        return (marked or inside)[0].name

    def children(self, parent: str | None) -> Entries:
        inside = self.inside[parent]
        return Entries({one.name: self.state(one) for one in inside}, inside[0].line)

    def state(self, state: _SheetState) -> Entries:
        row = state.rows[0]
        data = {key: self.cell(key, row) for key in STATE_COLUMNS if key in row and key != "parent"}
        if self.moore and "do" in row:
            data["do"] = self.cell("do", row)
        if state.name in self.inside:
            data |= {"initial": self.first(state.name), "states": self.children(state.name)}
        found = (self.transition(row, state) for row in state.rows)
        rows = Items((transition for transition in found if transition), state.line)
        return Entries({**data, "transitions": rows or None}, state.line)

    def transition(self, row: Entries, state: _SheetState) -> Entries:
        """Return the transition of a row as a native document has it; empty where the row has none."""
        of_state = ("do",) if self.moore and row is state.rows[0] else ()
        keys = [key for key in TRANSITION_COLUMNS if key in row and key not in of_state]
        data = {key: self.cell(key, row) for key in keys}
        if self.moore and data and not data.keys() & {"go", "junction", "do"}:
            data["do"] = {}  # it stays, and what would follow is not asked
        return Entries(data, row.line)

    def cell(self, column: str, row: Entries) -> PlainData:
        text: str = row[column]
        if column in TEXTS or (column in NAMES and _NAME.fullmatch(text)):
            return text
        if column == "on":
            return text.split()
        if column in ACTIONS and text[0] not in "{[":
            text = f"{{{text}}}"
        value: PlainData = flow_node(text, self.path, row.line).value
        return value


def _declaration(line: str) -> str:
    """Return a line of the head as that of a document, which begins in the same column."""
    return "\n" if not line.strip() or line.startswith("##") else f" {line[1:].rstrip()}\n"


def save_transition_table(chart: Chart, path: Path | str) -> None:
    """Write a chart as a state-transition table, atomically.

    Raises:
        InputError: it has what a table has no place for.
        OutputError: it cannot be written there.
    """
    write_atomically(Path(path), transition_table_text(chart).encode())


def transition_table_text(chart: Chart) -> str:
    """Return a chart as the text of a state-transition table; read again, it is the same chart.

    Raises:
        InputError: it has regions or unnamed junctions, for which a table has no place.
    """
    _require_rows(chart)
    rows = list(_rows(chart, chart.states, None))
    columns = [name for name in COLUMNS if name in USUAL or any(name in row for row in rows)]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return _head(chart) + text.getvalue()


def _require_rows(chart: Chart) -> None:
    hint = "write it as *.chart.yaml or as SCXML"
    if chart.parallel or any(state.parallel for state in chart.every_state):
        raise InputError(f"{chart.name} has regions, a table has one state active", hint=hint)
    for state in chart.every_state:
        if any(one.then for one in segments_of(state.transitions)):
            raise InputError(f"{state.name} has a junction without a name", hint=f"name it, or {hint}")


def _head(chart: Chart) -> str:
    data = chart_data(chart)
    kept = {key: value for key, value in data.items() if key != "states"}
    if _is_marked(chart.initial, chart.states):
        del kept["initial"]
    lines = render_document(kept).splitlines()
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def _is_marked(initial: tuple[StateTarget, ...], states: tuple[State, ...]) -> bool:
    """Return whether what is entered first is said by a mark at one of these states."""
    names = [state.name for state in states]
    return len(initial) == 1 and initial[0].history is None and initial[0].state in names


def _rows(chart: Chart, states: tuple[State, ...], parent: State | None) -> Iterator[dict[str, str]]:
    initial = chart.initial if parent is None else parent.initial
    first = initial[0].state if _is_marked(initial, states) and initial[0].state != states[0].name else None
    for state in states:
        name = f"{FIRST}{state.name}" if state.name == first else state.name
        said, *more = _said(state, chart.kind is ChartKind.MOORE) or [{}]
        yield {"state": name, **({} if parent is None else {"parent": parent.name}), **said}
        for row in more:
            yield {"state": state.name, **row}
        yield from _rows(chart, state.states, state)


def _said(state: State, moore: bool) -> list[dict[str, str]]:
    """Return what the rows of a state say: its transitions, and what is said of itself in the first."""
    entries = state_entries(state)
    left_out = {"do"} if moore else set()
    rows = [
        {key: _cell(key, value) for key, value in transition.items() if key not in left_out}
        for transition in transitions_data(state)
    ]
    said = {key: _cell(key, entries[key]) for key in (*STATE_COLUMNS, "do") if key in entries}
    if _is_marked(state.initial, state.states):
        del said["initial"]
    return [{**said, **(rows[0] if rows else {})}, *rows[1:]]


def _cell(column: str, value: PlainData) -> str:
    if column == "on" and isinstance(value, list):
        return " ".join(value)
    if column in TEXTS and isinstance(value, str):
        return value
    text = flow_text(value)
    return text[1:-1] if column in ACTIONS and text[0] == "{" and len(text) > 2 else text
