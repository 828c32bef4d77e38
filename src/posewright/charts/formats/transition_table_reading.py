"""State-transition tables to charts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from posewright.charts.formats.chart_reading import parse_chart
from posewright.charts.formats.flow import LinedList, LinedMapping, flow_node, flow_text
from posewright.charts.formats.known import Known, states_named
from posewright.charts.formats.state_reading import read_states
from posewright.charts.formats.transition_table import (
    STATE_COLUMNS,
    TRANSITION_COLUMNS,
    Entry,
    Row,
    Sheet,
    read_sheet,
)
from posewright.charts.model import Chart, Declarations, Kind, file_named
from posewright.documents import Node, parse_document
from posewright.errors import InputError, Where

PERIOD_S = 0.1
"""The sample period of a table that does not say it [s]."""

AS_WRITTEN = frozenset({"when", "description", "priority", "otherwise"})
NAMES = frozenset({"go", "initial", "junction"})
ACTIONS = frozenset({"do", "entry", "during", "exit"})
"""Columns whose cells are texts; names, or else in the notation of native documents; actions."""

_NAME = re.compile(r"\w+")


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
    return _Table(read_sheet(text, path)).chart()


class _Table:
    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.moore = False
        self.first_line = next(iter(sheet.entries.values())).line
        self.inside: dict[str | None, list[Entry]] = {None: []}
        for entry in sheet.entries.values():
            self.inside.setdefault(self.parent(entry), []).append(entry)

    def parent(self, entry: Entry) -> str | None:
        """Return the name of the state around a state, having made sure that it is not inside it itself."""
        around, seen = entry.said("parent"), {entry.name}
        while around is not None:
            if around not in self.sheet.entries:
                self.sheet.fail(
                    f"no state is called {around!r}", entry.line, "give the parent a row of its own"
                )
            if around in seen:
                self.sheet.fail(f"{entry.name} is inside itself", entry.line, "name another parent")
            seen.add(around)
            around = self.sheet.entries[around].said("parent")
        return entry.said("parent")

    def chart(self) -> Chart:
        """Return the chart."""
        head = self.head()
        self.moore = head.kind is Kind.MOORE
        states = Node(self.states(None), self.sheet.path, "", self.first_line)
        found, done = states_named(Node({"states": states.value}, self.sheet.path))
        known = Known(head.kind, _declared(head), found, tuple(head.junctions), done)
        try:
            return replace(head, states=read_states({"states": states}, known))
        except InputError as error:  # the model knows not every line
            if error.where is None or error.where.line is None:
                error.where = Where(self.sheet.path, self.first_line)
            raise

    def head(self) -> Chart:
        """Return the chart that the head declares, its states without anything in them but their names."""
        lines = self.sheet.head.splitlines()
        said = parse_document(self.sheet.head, self.sheet.path).fields() if self.sheet.head.strip() else {}
        for key in ("states", "regions"):
            if key in said:
                said[key].fail("the states of a table stand in its rows", hint="leave it out")
        path = self.sheet.path
        usual = {"chart": file_named(path, "table"), "period_s": PERIOD_S}
        more = {**usual, "initial": self.first(None), "states": self.stub(None)}
        indent = next((line[: len(line) - len(line.lstrip())] for line in lines if line.strip()), "")
        added = [f"{indent}{key}: {flow_text(value)}" for key, value in more.items() if key not in said]
        try:
            return parse_chart("\n".join([*lines, *added, ""]), path)
        except InputError as error:
            if error.where is not None and (error.where.line or 0) > len(lines):  # of what we added ourselves
                error.where = Where(path, self.first_line)
            raise

    def first(self, parent: str | None) -> Any:
        """Return what is entered first inside a state, or in the chart."""
        around = None if parent is None else self.sheet.entries[parent]
        if around is not None and around.said("initial") is not None:
            return self.cell("initial", around.rows[0])
        inside = self.inside[parent]
        marked = [entry for entry in inside if entry.first]
        if len(marked) > 1:
            hint = "one of the states inside a state is entered first"
            self.sheet.fail(f"both {marked[0].name} and {marked[1].name} are marked", marked[1].line, hint)
        return (marked or inside)[0].name

    def stub(self, parent: str | None) -> dict[str, Any]:
        """Return states as a native document has them, with their names only."""
        found: dict[str, Any] = {}
        for entry in self.inside[parent]:
            if entry.name in self.inside:
                found[entry.name] = {"initial": self.first(entry.name), "states": self.stub(entry.name)}
            else:
                found[entry.name] = {"final": True} if entry.said("final") == "true" else []
        return found

    def states(self, parent: str | None) -> LinedMapping:
        """Return states as a native document has them."""
        inside = self.inside[parent]
        return LinedMapping(
            {one.name: self.state(one) for one in inside}, {one.name: one.line for one in inside}
        )

    def state(self, entry: Entry) -> dict[str, Any]:
        first = entry.rows[0]
        data = {key: self.cell(key, first) for key in STATE_COLUMNS if key in first.cells and key != "parent"}
        if self.moore and "do" in first.cells:
            data["do"] = self.cell("do", first)
        if entry.name in self.inside:
            data |= {"initial": self.first(entry.name), "states": self.states(entry.name)}
        found = [(self.transition(row, entry), row.line) for row in entry.rows]
        rows = LinedList([(transition, line) for transition, line in found if transition])
        return {**data, "transitions": rows} if rows else data

    def transition(self, row: Row, entry: Entry) -> dict[str, Any]:
        """Return the transition of a row as a native document has it; empty where the row has none."""
        of_state = ("do",) if self.moore and row is entry.rows[0] else ()
        keys = [key for key in TRANSITION_COLUMNS if key in row.cells and key not in of_state]
        data = {key: self.cell(key, row) for key in keys}
        if self.moore and data and not data.keys() & {"go", "junction", "do"}:
            data["do"] = {}  # it stays, and what would follow is not asked
        return data

    def cell(self, column: str, row: Row) -> Any:
        """Return what a cell says, as a native document has it."""
        text = row.cells[column]
        if column in AS_WRITTEN or (column in NAMES and _NAME.fullmatch(text)):
            return text
        if column == "on":
            return text.split()
        if column in ACTIONS and text[0] not in "{[":
            text = f"{{{text}}}"
        return flow_node(text, self.sheet.path, row.line).value


def _declared(head: Chart) -> Declarations:
    return Declarations(
        head.inputs,
        head.events,
        head.local_events,
        head.outputs,
        head.locals,
        head.constants,
        head.units,
        head.functions,
    )
