"""The source document's joint tables: rows of servo degrees by the document's own joint IDs.

Source: seeds.md E6: `thesis_id,initial_deg,step1_deg,...,velocity_rad_s`, a row for each ID from 1,
IDs without a joint at 0.00.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.file_bytes import BOM
from posewright.formats.text_lines import Line, Remarks, show, split_lines

UC3M_CSV = "uc3m-csv"

MAX_ID = 23
MAX_DEG = 300.0
MAX_SPEED = 1e6
_HEADER = re.compile(rb"thesis_id,initial_deg((?:,step[0-9]+_deg)+),velocity_rad_s")
_WANTED_HEADER = "thesis_id,initial_deg,step1_deg,step2_deg,...,velocity_rad_s"


@dataclass(frozen=True)
class TableRow:
    """One row."""

    id: int
    degrees: tuple[float, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True)
class JointTable:
    """A table and the bytes it stands in."""

    rows: tuple[TableRow, ...] = field(repr=False)
    raw: bytes = field(default=b"", repr=False)
    remarks: tuple[str, ...] = ()

    @property
    def row_of(self) -> dict[int, TableRow]:
        """The rows by ID."""
        return {row.id: row for row in self.rows}

    @property
    def n_steps(self) -> int:
        """Number of steps after the initial pose."""
        return len(self.rows[0].degrees) - 1

    @property
    def eol(self) -> str:
        """The line end of the file; of a new one CRLF, as the document's tables have."""
        return "\r\n" if b"\r\n" in self.raw or not self.raw else "\n"

    def render(self) -> bytes:
        """Return the bytes: those it was read from, or new ones."""
        if self.raw:
            return self.raw
        return _lines(self.rows, self.n_steps, self.eol)

    def with_cells(self, rows: tuple[TableRow, ...]) -> JointTable:
        """Return the table with other rows; the same cells are the same bytes."""
        if [row.cells for row in rows] == [row.cells for row in self.rows]:
            return self
        head = BOM if self.raw.startswith(BOM) else b""
        tail = self.raw[len(self.raw.rstrip(b"\r\n")) :] if self.raw else b"\r\n"
        n_steps = len(rows[0].degrees) - 1
        return JointTable(rows, head + _lines(rows, n_steps, self.eol).rstrip(b"\r\n") + tail)


def _lines(rows: tuple[TableRow, ...], n_steps: int, eol: str) -> bytes:
    steps = [f"step{number}_deg" for number in range(1, n_steps + 1)]
    header = ",".join(["thesis_id", "initial_deg", *steps, "velocity_rad_s"])
    return "".join(line + eol for line in (header, *(",".join(row.cells) for row in rows))).encode()


def read_table(data: bytes, path: Path | None = None) -> JointTable:
    """Read the bytes of a table.

    Raises:
        FormatError: it is cut off or malformed; with the line, what stands there and what would be right.
    """
    lines = [line for line in split_lines(data.removeprefix(BOM), path) if line.text]
    remarks = Remarks()
    if not lines:
        raise FormatError("the table is empty", where=Where(path, 1), hint=f"it begins {_WANTED_HEADER}")
    n_steps = _read_header(lines[0])
    rows: dict[int, TableRow] = {}
    for line in lines[1:]:
        row = _read_row(line, n_steps)
        if row.id in rows:
            line.fail(f"a second row for ID {row.id}", hint="there is one row an ID")
        rows[row.id] = row
    if not rows:
        lines[0].fail("the table has no rows", hint="a row for each ID follows")
    if not data.endswith(b"\n"):
        remarks.add("the last line has no line end")
    return JointTable(tuple(rows.values()), data, remarks.all)


def _read_header(line: Line) -> int:
    found = _HEADER.fullmatch(line.text)
    n_steps = found[1].count(b",") if found else 0
    wanted = b"".join(b",step%d_deg" % number for number in range(1, n_steps + 1))
    if found is None or found[1] != wanted:
        line.fail("not the header of a joint table", hint=f"it reads {_WANTED_HEADER}")
    return n_steps


def _read_row(line: Line, n_steps: int) -> TableRow:
    words = line.text.split(b",")
    if len(words) != n_steps + 3:
        line.fail(f"{len(words)} columns where {n_steps + 3} belong", hint="as many as the header has")
    identity = line.whole(words[0], "the ID", 1, MAX_ID)
    degrees = tuple(line.decimal(word, "an angle in degrees", 0.0, MAX_DEG) for word in words[1:-1])
    line.decimal(words[-1], f"the velocity {show(words[-1])}", 0.0, MAX_SPEED)
    return TableRow(identity, degrees, tuple(word.decode() for word in words))
