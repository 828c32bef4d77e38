"""Charts to state-transition tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from posewright.charts.formats.chart_writing import chart_data
from posewright.charts.formats.flow import flow_text
from posewright.charts.formats.state_writing import state_data
from posewright.charts.formats.transition_table import COLUMNS, FIRST, STATE_COLUMNS
from posewright.charts.model import Chart, Kind, State, segments_of
from posewright.documents import render_document, write_atomically
from posewright.errors import InputError

USUAL = ("state", "on", "when", "do", "go")
"""Columns that every table has."""

TEXTS = ("when", "description", "priority", "otherwise")
"""Columns whose cells are texts as they are."""


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


def _is_marked(initial: Any, states: tuple[State, ...]) -> bool:
    """Return whether what is entered first is said by a mark at one of these states."""
    names = [state.name for state in states]
    return len(initial) == 1 and initial[0].memory is None and initial[0].state in names


def _rows(chart: Chart, states: tuple[State, ...], parent: State | None) -> Iterator[dict[str, str]]:
    """Yield the rows of states, each state's before those of the states inside it."""
    initial = chart.initial if parent is None else parent.initial
    first = initial[0].state if _is_marked(initial, states) and initial[0].state != states[0].name else None
    for state in states:
        name = f"{FIRST}{state.name}" if state.name == first else state.name
        said, *more = _said(state, chart.kind is Kind.MOORE) or [{}]
        yield {"state": name, **({} if parent is None else {"parent": parent.name}), **said}
        for row in more:
            yield {"state": state.name, **row}
        yield from _rows(chart, state.states, state)


def _said(state: State, moore: bool) -> list[dict[str, str]]:
    """Return what the rows of a state say: its transitions, and what is said of itself in the first."""
    data = state_data(state)
    found = data if isinstance(data, list) else data.get("transitions", [])
    rows = [
        {key: _cell(key, value) for key, value in one.items() if not (moore and key == "do")} for one in found
    ]
    of_state = {} if isinstance(data, list) else data
    said = {key: _cell(key, of_state[key]) for key in (*STATE_COLUMNS, "do") if key in of_state}
    if _is_marked(state.initial, state.states):
        del said["initial"]
    return [{**said, **(rows[0] if rows else {})}, *rows[1:]]


def _cell(column: str, value: Any) -> str:
    if column == "on":
        return value if isinstance(value, str) else " ".join(value)
    if column in TEXTS and isinstance(value, str):
        return value
    text = flow_text(value)
    return (
        text[1:-1]
        if column in ("do", "entry", "during", "exit") and text[0] == "{" and len(text) > 2
        else text
    )
