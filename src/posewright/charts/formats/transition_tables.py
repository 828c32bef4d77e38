"""State-transition tables: CSV files with one row per transition.

    # period_s: 0.1
    # inputs: {near: bool}
    # events: [start]
    # outputs: {motion: {enum: [none, walk]}}
    state,on,when,do,go
    waiting,start,not near,motion: walk,racing
    racing,,near,motion: none,waiting

Lines above the header that begin with `#` are the declarations of a native document; `##` begins a comment.
The cells are as in a native document: `do` sets outputs and locals, its braces may be left out; `go` names a
state. A row without a state belongs to the state above it; a row with only a state declares it.

| column | of | meaning |
|---|---|---|
| `state` | | its name; a `*` before it marks the initial state, else it is the first one |
| `on`, `when`, `after_s`, `do`, `go` | transition | as in a native document |
| `junction`, `local`, `description` | transition | as in a native document |
| `parent` | state | the state around it |
| `initial` | state | the state entered first inside it, if that is not directly inside |
| `final` | state | `true`: it is final |
| `entry`, `during`, `exit`, `min_s`, `priority`, `otherwise` | state | as in a native document |

The columns of a state are filled in its first row only. The `do` of a Moore state is there, too.
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
from posewright.charts.formats.native_nodes import LineList, LineMapping, flow_node, flow_text
from posewright.charts.formats.native_reader import chart_of_document
from posewright.charts.formats.native_writer import chart_data, state_mapping_data, transitions_data
from posewright.charts.model import Chart, ChartKind, State, StateTarget, chart_name_of_file, segments_of
from posewright.documents import Node, PlainData, parse_document, render_document, write_atomically
from posewright.errors import FormatError, InputError, Where

TRANSITION_COLUMNS = ("on", "when", "after_s", "do", "go", "junction", "local", "description")
STATE_COLUMNS = ("parent", "initial", "final", "entry", "during", "exit", "min_s", "priority", "otherwise")
COLUMNS = ("state", *TRANSITION_COLUMNS, *STATE_COLUMNS)
REQUIRED_COLUMNS = ("state", "go")
DEFAULT_COLUMNS = ("state", "on", "when", "do", "go")
"""Columns that are always written."""

TEXT_COLUMNS = frozenset({"when", "description", "priority", "otherwise"})
"""Columns whose cells are plain text."""

NAME_COLUMNS = frozenset({"go", "initial", "junction"})
"""Columns whose cells are names, or YAML as in native documents."""

ACTION_COLUMNS = frozenset({"do", "entry", "during", "exit"})
"""Columns whose cells are actions."""

MAX_ROWS = 5000
PERIOD_S = 0.1
"""The sample period of a table that does not state one [s]."""

INITIAL_MARK = "*"
"""Precedes the name of an initial state."""

_NAME = re.compile(r"\w+")


def is_transition_table(text: str) -> bool:
    """Return whether the header of a text has the columns of a state-transition table."""
    names = _header_columns(text)
    return names >= {*REQUIRED_COLUMNS} and names <= {*COLUMNS, ""}


def may_be_transition_table(text: str) -> bool:
    """Return whether a table is more likely a misspelt state-transition table than a truth table."""
    names = _header_columns(text)
    if not names:
        return text.lstrip("\ufeff").startswith("#")
    is_truth_table = "next" in names or any(f"{name}_next" in names for name in names)
    return not is_truth_table and bool(names & {*COLUMNS})


def _header_columns(text: str) -> set[str]:
    """Return the columns in the first line that is not a comment; none if there is no such line."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            return {cell.strip().strip('"') for cell in line.split(",")}
    return set()


def parse_transition_table(text: str, path: Path | None = None) -> Chart:
    """Read a chart from the text of a state-transition table.

    Args:
        text: the table.
        path: its file, for messages, and for the name of a chart that does not state one.

    Raises:
        FormatError: a column or a row is not valid; with the line.
        DocumentError: a declaration or a cell would not be valid in a native document.
        ExpressionError: a guard or a value does not parse or type check.
    """
    return chart_of_document(_TableReader(text, path).build_document())


@dataclass
class _StateRows:
    """A state and its rows.

    Attributes:
        name: the name of the state.
        is_marked: its name is marked as that of an initial state.
        rows: the cells of each row by column, without the empty ones.
    """

    name: str
    is_marked: bool
    rows: list[LineMapping] = field(default_factory=list)

    @property
    def line(self) -> int | None:
        """The line of its first row."""
        return self.rows[0].line

    def cell(self, column: str) -> str | None:
        """Return a cell of its first row, None if it is empty."""
        return self.rows[0].get(column)


class _TableReader:
    """Converts a state-transition table to a native document.

    Attributes:
        path: the file, for messages.
        declarations: the lines above the header, as YAML.
        columns: the names in the header.
        states: the states by name, in the order of their first rows.
        children_by_parent: the states directly inside each state, by its name; the outermost ones have the
            key None.
        is_moore: the table declares a Moore chart; known once `build_document` has read the declarations.
    """

    def __init__(self, text: str, path: Path | None) -> None:
        """Read all rows of the table, and find the parent of each state.

        Raises:
            FormatError: a column or a row is not valid, or there are no rows.
        """
        self.path = path
        byte_order_mark = "\ufeff"
        lines = text.removeprefix(byte_order_mark).splitlines(keepends=True)
        table_line_indices = (i for i, line in enumerate(lines) if line.strip() and not line.startswith("#"))
        header_index = next(table_line_indices, len(lines))
        self.declarations = "".join(_declaration_line(line) for line in lines[:header_index])
        self.columns: list[str] = []
        self.states: dict[str, _StateRows] = {}
        table_text = "".join(lines[header_index:])
        for cells, where in read_csv_rows(table_text, path, n_lines_before=header_index):
            line = where.line or header_index
            if self.columns:
                self._add_row(cells, line)
            else:  # the first row is the header
                self._require_valid_columns(cells, line)
                self.columns = cells
        if not self.states:
            hint = f"columns: {', '.join(COLUMNS[:6])}, ..."
            self._fail("the table has no rows", header_index + 1, hint)
        self.children_by_parent: dict[str | None, list[_StateRows]] = {None: []}
        for state in self.states.values():
            self.children_by_parent.setdefault(self._find_parent(state), []).append(state)
        self.is_moore = False

    def _fail(self, message: str, line: int | None, hint: str | None = None) -> NoReturn:
        """Raise a FormatError that points at a line of the table."""
        raise FormatError(message, where=Where(self.path, line), hint=hint)

    def _require_valid_columns(self, names: list[str], line: int) -> None:
        """Raise an error if a column is unknown or occurs twice, or a required one is missing."""
        for name in names:
            if name not in COLUMNS:
                matches = difflib.get_close_matches(name, COLUMNS, n=1)
                hint = f"did you mean {matches[0]!r}?" if matches else f"columns: {', '.join(COLUMNS)}"
                self._fail(f"unknown column {name!r}", line, hint)
            if names.count(name) > 1:
                self._fail(f"the column {name!r} occurs twice", line, "remove one of them")
        for name in REQUIRED_COLUMNS:
            if name not in names:
                hint = f"the columns {' and '.join(REQUIRED_COLUMNS)} are required"
                self._fail(f"the column {name!r} is missing", line, hint)

    def _add_row(self, cells: list[str], line: int) -> None:
        """Add a row to its state; a row without a state belongs to the state of the row before.

        Args:
            cells: the cells of the row.
            line: its line in the file.

        Raises:
            FormatError: the row has too many cells, no state, or another value in a column of the state than
                the state's first row; or there are too many rows.
        """
        if len(cells) > len(self.columns):
            hint = "put a cell with a comma in quotes"
            self._fail(f"{len(cells)} cells in {len(self.columns)} columns", line, hint)
        filled_cells = {
            column: cell.strip() for column, cell in zip(self.columns, cells, strict=False) if cell.strip()
        }
        state_cell = filled_cells.pop("state", "")
        is_marked = state_cell.startswith(INITIAL_MARK)
        last_state_name = next(reversed(self.states), "")
        name = state_cell.removeprefix(INITIAL_MARK).strip() or last_state_name
        if not name:
            self._fail("the first row has no state", line, "write its name in the column 'state'")
        state = self.states.setdefault(name, _StateRows(name, is_marked))
        state.rows.append(LineMapping(filled_cells, line))
        for column in STATE_COLUMNS:
            if column in filled_cells and filled_cells[column] != state.cell(column):
                hint = f"the columns of a state are filled in its first row, line {state.line}"
                self._fail(f"{column!r} of {state.name} is not in its first row", line, hint)
        if sum(len(state.rows) for state in self.states.values()) > MAX_ROWS:
            self._fail("too many rows", line, f"at most {MAX_ROWS}")

    def _find_parent(self, state: _StateRows) -> str | None:
        """Return the name of the parent of a state, None if it is directly inside the chart.

        Raises:
            FormatError: an ancestor has no row, or the state is its own ancestor.
        """
        ancestor = state.cell("parent")
        visited = {state.name}
        while ancestor is not None:
            if ancestor not in self.states:
                self._fail(f"unknown state {ancestor!r}", state.line, "give the parent a row of its own")
            if ancestor in visited:
                self._fail(f"{state.name} is inside itself", state.line, "name another parent")
            visited.add(ancestor)
            ancestor = self.states[ancestor].cell("parent")
        return state.cell("parent")

    def build_document(self) -> Node:
        """Return the equivalent native document, each part with its line in the table."""
        declarations: dict[str, Node] = {}
        if self.declarations.strip():
            declarations = parse_document(self.declarations, self.path).fields()
        for key in ("states", "regions"):
            if key in declarations:
                declarations[key].fail("the states of a table are its rows", hint="leave it out")
        self.is_moore = "kind" in declarations and declarations["kind"].value == ChartKind.MOORE.value
        default_values = {
            "chart": chart_name_of_file(self.path, "table"),
            "period_s": PERIOD_S,
            "initial": self._initial_state(parent=None),
        }
        declared_values = {key: node.value for key, node in declarations.items()}
        data = {**default_values, **declared_values, "states": self._build_states(parent=None)}
        first_line = self.children_by_parent[None][0].line
        declaration_lines = {key: node.line for key, node in declarations.items()}
        document = LineMapping(data, first_line, declaration_lines)
        return Node(document, self.path, trail="", line=first_line)

    def _initial_state(self, parent: str | None) -> PlainData:
        """Return the initial state inside a state: its `initial` cell, else the marked state, else the first.

        Args:
            parent: the name of the state; None for the chart, which has no such cell.

        Raises:
            FormatError: two states are marked.
        """
        if parent is not None and self.states[parent].cell("initial") is not None:
            return self._read_cell("initial", self.states[parent].rows[0])
        children = self.children_by_parent[parent]
        marked_children = [state for state in children if state.is_marked]
        if len(marked_children) > 1:
            first, second, *_ = marked_children
            hint = "mark one of the states inside a state as initial"
            self._fail(f"both {first.name} and {second.name} are marked", second.line, hint)
        return marked_children[0].name if marked_children else children[0].name

    def _build_states(self, parent: str | None) -> LineMapping:
        """Return the plain data of all states directly inside a state, or inside the chart for None."""
        children = self.children_by_parent[parent]
        return LineMapping({state.name: self._build_state(state) for state in children}, children[0].line)

    def _build_state(self, state: _StateRows) -> LineMapping:
        """Return the plain data of a state, from its rows and from the states inside it."""
        first_row = state.rows[0]
        columns = [column for column in STATE_COLUMNS if column in first_row and column != "parent"]
        if self.is_moore and "do" in first_row:  # the outputs of a Moore state
            columns.append("do")
        data = {column: self._read_cell(column, first_row) for column in columns}
        if state.name in self.children_by_parent:
            data["initial"] = self._initial_state(state.name)
            data["states"] = self._build_states(state.name)
        transitions = [self._build_transition(row, state) for row in state.rows]
        # a row without a transition only declares the state
        transition_list = LineList((transition for transition in transitions if transition), state.line)
        return LineMapping({**data, "transitions": transition_list or None}, state.line)

    def _build_transition(self, row: LineMapping, state: _StateRows) -> LineMapping:
        """Return the plain data of the transition in a row; empty if the row has none.

        Args:
            row: the cells of the row.
            state: the state that the row belongs to.
        """
        columns = [column for column in TRANSITION_COLUMNS if column in row]
        is_first_row = row is state.rows[0]
        if self.is_moore and is_first_row and "do" in columns:
            columns.remove("do")  # it has the outputs of the state
        data = {column: self._read_cell(column, row) for column in columns}
        has_effect = bool(data.keys() & {"go", "junction", "do"})
        if self.is_moore and data and not has_effect:
            # a document requires an effect; this transition only keeps later ones from being tried
            data["do"] = {}
        return LineMapping(data, row.line)

    def _read_cell(self, column: str, row: LineMapping) -> PlainData:
        """Return the plain data of a cell that is not empty, as a native document has it.

        Text and names are returned as they are, events as a list. Other cells are YAML; actions may be
        written without braces.

        Args:
            column: the column of the cell.
            row: the cells of the row by column.
        """
        text: str = row[column]
        is_single_name = column in NAME_COLUMNS and _NAME.fullmatch(text) is not None
        if column in TEXT_COLUMNS or is_single_name:
            return text
        if column == "on":
            return text.split()
        if column in ACTION_COLUMNS and not text.startswith(("{", "[")):
            text = "{" + text + "}"
        value: PlainData = flow_node(text, self.path, row.line).value
        return value


def _declaration_line(line: str) -> str:
    """Return a line above the header as a line of YAML that begins in the same column."""
    return "\n" if not line.strip() or line.startswith("##") else f" {line[1:].rstrip()}\n"


def save_transition_table(chart: Chart, path: Path | str) -> None:
    """Write a chart as a state-transition table, atomically.

    Raises:
        InputError: the chart has regions or unnamed junctions.
        OutputError: the file cannot be written.
    """
    write_atomically(Path(path), transition_table_text(chart).encode())


def transition_table_text(chart: Chart) -> str:
    """Return the text of a chart's state-transition table; it reads back as the same chart.

    Raises:
        InputError: the chart has regions or unnamed junctions, which a table cannot represent.
    """
    hint = "write it as *.chart.yaml or as SCXML"
    if chart.parallel or any(state.parallel for state in chart.every_state):
        raise InputError(f"{chart.name} has regions, which a table cannot represent", hint=hint)
    for state in chart.every_state:
        if any(segment.then for segment in segments_of(state.transitions)):
            raise InputError(f"{state.name} has a junction without a name", hint=f"name it, or {hint}")
    rows = list(_list_rows(chart, chart.states, parent=None))
    used_columns = set(DEFAULT_COLUMNS).union(*rows)
    columns = [name for name in COLUMNS if name in used_columns]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return _declaration_text(chart) + text.getvalue()


def _declaration_text(chart: Chart) -> str:
    """Return the lines above the header: the document of the chart without its states."""
    declarations = {key: value for key, value in chart_data(chart).items() if key != "states"}
    if _is_initial_child(chart.initial, chart.states):
        del declarations["initial"]
    lines = render_document(declarations).splitlines()
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def _is_initial_child(initial: tuple[StateTarget, ...], states: tuple[State, ...]) -> bool:
    """Return whether the initial state is one of these states, so that a mark can express it."""
    names = [state.name for state in states]
    return len(initial) == 1 and initial[0].history is None and initial[0].state in names


def _list_rows(chart: Chart, states: tuple[State, ...], parent: State | None) -> Iterator[dict[str, str]]:
    """Yield the rows of states and of the states inside them, each as its cells by column.

    Args:
        chart: the chart.
        states: the states directly inside `parent`.
        parent: their parent; None for the chart.
    """
    initial_targets = chart.initial if parent is None else parent.initial
    marked_name: str | None = None  # the state marked as initial; without a mark, it is the first
    if _is_initial_child(initial_targets, states) and initial_targets[0].state != states[0].name:
        marked_name = initial_targets[0].state
    parent_cell = {} if parent is None else {"parent": parent.name}
    for state in states:
        state_cell = f"{INITIAL_MARK}{state.name}" if state.name == marked_name else state.name
        first_row, *other_rows = _list_state_rows(state, is_moore=chart.kind is ChartKind.MOORE)
        yield {"state": state_cell, **parent_cell, **first_row}
        for row in other_rows:
            yield {"state": state.name, **row}
        yield from _list_rows(chart, state.states, state)


def _list_state_rows(state: State, *, is_moore: bool) -> list[dict[str, str]]:
    """Return the rows of a state as cells by column: one for each transition, or one without a transition.

    The first row also has the columns of the state. The transitions of a Moore chart have no `do`.
    """
    transition_rows: list[dict[str, str]] = []
    for transition in transitions_data(state):
        columns = [key for key in transition if not (is_moore and key == "do")]
        transition_rows.append({key: _format_cell(key, transition[key]) for key in columns})
    state_data = state_mapping_data(state)
    state_cells = {
        key: _format_cell(key, state_data[key]) for key in (*STATE_COLUMNS, "do") if key in state_data
    }
    if _is_initial_child(state.initial, state.states):
        del state_cells["initial"]  # the mark or the order of the states expresses it
    if not transition_rows:
        return [state_cells]
    first_row, *other_rows = transition_rows
    return [{**state_cells, **first_row}, *other_rows]


def _format_cell(column: str, value: PlainData) -> str:
    """Return the text of a cell; assignments are written without braces.

    Args:
        column: the column of the cell.
        value: what a native document has at that key.
    """
    if column == "on" and isinstance(value, list):
        return " ".join(value)
    if column in TEXT_COLUMNS and isinstance(value, str):
        return value
    text = flow_text(value)
    if column in ACTION_COLUMNS and text.startswith("{") and text != "{}":
        return text.removeprefix("{").removesuffix("}")
    return text
