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

import difflib
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from posewright.charts.formats.sheet_rows import sheet_rows
from posewright.errors import FormatError, Where

TRANSITION_COLUMNS = ("on", "when", "after_s", "do", "go", "junction", "local", "description")
STATE_COLUMNS = ("parent", "initial", "final", "entry", "during", "exit", "min_s", "priority", "otherwise")
COLUMNS = ("state", *TRANSITION_COLUMNS, *STATE_COLUMNS)
NEEDED = ("state", "go")
MAX_ROWS = 5000
FIRST = "*"
"""What stands before the name of a state that is entered first."""


@dataclass
class Row:
    """A row of the table: what its cells say, those that are empty left out."""

    cells: dict[str, str]
    line: int


@dataclass
class Entry:
    """A state and its rows.

    Attributes:
        first: whether it is marked as the one that is entered first.
    """

    name: str
    first: bool
    rows: list[Row] = field(default_factory=list)

    @property
    def line(self) -> int:
        """The line of its first row."""
        return self.rows[0].line

    def said(self, column: str) -> str | None:
        """Return what its first row says of the state."""
        return self.rows[0].cells.get(column)


@dataclass(frozen=True)
class Sheet:
    """A table as it stands in its file.

    Attributes:
        head: the lines of declarations, each where it stands in the file.
        entries: the states, in the order of their first rows.
    """

    head: str
    entries: dict[str, Entry]
    path: Path | None

    def fail(self, message: str, line: int | None, hint: str | None = None) -> NoReturn:
        """Raise a FormatError that points at a line."""
        raise FormatError(message, where=Where(self.path, line), hint=hint)


def is_transition_table(text: str) -> bool:
    """Return whether text is a state-transition table: the columns of its header say so."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            names = {cell.strip().strip('"') for cell in line.split(",")}
            return names >= {*NEEDED} and names <= {*COLUMNS, ""}
    return False


def may_be_transition_table(text: str) -> bool:
    """Return whether a table can rather be a state-transition table, misspelt, than a truth table."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            names = {cell.strip().strip('"') for cell in line.split(",")}
            truth = "next" in names or any(f"{name}_next" in names for name in names)
            return not truth and bool(names & {*COLUMNS})
    return text.lstrip("\ufeff").startswith("#")


def read_sheet(text: str, path: Path | None) -> Sheet:
    """Return the head and the rows of a table.

    Raises:
        FormatError: a column or a row is not what it should be.
    """
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    begin = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
    head = "".join(_declaration(line) for line in lines[:begin])
    sheet = Sheet(head, {}, path)
    columns: list[str] | None = None
    for cells, where in sheet_rows("".join(lines[begin:]), path, begin):
        if columns is None:
            columns = _columns(cells, sheet, where.line or begin)
        else:
            _add(sheet, columns, cells, where.line or begin)
    if not sheet.entries:
        sheet.fail("the table has no rows", begin + 1, f"columns: {', '.join(COLUMNS[:6])}, ...")
    return sheet


def _declaration(line: str) -> str:
    """Return a line of the head as that of a document, which begins in the same column."""
    return "\n" if not line.strip() or line.startswith("##") else f" {line[1:].rstrip()}\n"


def _columns(names: list[str], sheet: Sheet, line: int) -> list[str]:
    for name in names:
        if name not in COLUMNS:
            near = difflib.get_close_matches(name, COLUMNS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"columns: {', '.join(COLUMNS)}"
            sheet.fail(f"no column is called {name!r}", line, hint)
        if names.count(name) > 1:
            sheet.fail(f"the column {name!r} is there twice", line, "leave one of them out")
    for name in NEEDED:
        if name not in names:
            sheet.fail(f"the column {name!r} is missing", line, f"needed are {' and '.join(NEEDED)}")
    return names


def _add(sheet: Sheet, columns: list[str], cells: list[str], line: int) -> None:
    """Add a row to the entry of its state."""
    if len(cells) > len(columns):
        hint = "put a cell with a comma in quotes"
        sheet.fail(f"{len(cells)} cells in {len(columns)} columns", line, hint)
    said = {name: cell.strip() for name, cell in zip(columns, cells, strict=False) if cell.strip()}
    written = said.pop("state", "")
    name = written.removeprefix(FIRST).strip() or next(reversed(sheet.entries), "")
    if not name:
        sheet.fail("the first row has no state", line, "write its name in the column 'state'")
    entry = sheet.entries.setdefault(name, Entry(name, written.startswith(FIRST)))
    entry.rows.append(Row(said, line))
    if len(entry.rows) > 1:
        _require_state_said_once(sheet, entry, said, line)
    if sum(len(one.rows) for one in sheet.entries.values()) > MAX_ROWS:
        sheet.fail("too many rows", line, f"at most {MAX_ROWS}")


def _require_state_said_once(sheet: Sheet, entry: Entry, said: dict[str, str], line: int) -> None:
    for column in STATE_COLUMNS:
        if column in said and said[column] != entry.said(column):
            hint = f"what is said of a state stands in its first row, line {entry.line}"
            sheet.fail(f"{column!r} of {entry.name} is said here", line, hint)
