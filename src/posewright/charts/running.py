"""Runs a chart over rows of inputs, once it is known to be sound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from posewright.charts.checks import require_sound
from posewright.charts.model import Chart
from posewright.charts.scenarios import (
    Row,
    Scenario,
    Tick,
    parse_row,
    read_rows,
    read_scenario,
    resolve_state_name,
    rows_of,
    run_rows,
)
from posewright.charts.types import Value

DOCUMENTS = (".yaml", ".yml")
"""How the names of scenarios end; inputs in any other file are CSV."""


def run_chart(
    chart: Chart,
    rows: Path | str | Scenario | Iterable[Row | str | Mapping[str, Value]],
    *,
    start: str | None = None,
    unchecked: bool = False,
    native: bool = False,
) -> tuple[Tick, ...]:
    """Run a chart, one tick a row, and return what came of each.

    Args:
        chart: what to run.
        rows: path of a CSV file of inputs or of a scenario; a Scenario; or a row a tick: `"front=1, left=0"`
            (inputs not named are zero or false), a mapping of all inputs, or a Row.
        start: state to start in, by its name or by its code in the truth table; default the initial one.
        unchecked: run it even though it may be unsound, to see what a check has found.
        native: let compiled C take the steps, which has the same answers; as `Interpreter`.

    Raises:
        InputError: the chart is unsound, or a row is not what it should be.
        ExpressionError: a guard or an action divides by zero.
    """
    if not unchecked:
        require_sound(chart)
    given = rows_given(chart, rows)
    begin = None if start is None else resolve_state_name(chart, start)
    return tuple(run_rows(chart, given, begin, native=native))


def rows_given(
    chart: Chart, rows: Path | str | Scenario | Iterable[Row | str | Mapping[str, Value]]
) -> list[Row]:
    """Return rows in whatever form they were given: as `run_chart`."""
    if isinstance(rows, Path | str):
        if Path(rows).suffix.lower() not in DOCUMENTS:
            return read_rows(chart, rows)
        rows = read_scenario(rows, chart)
    return rows_of(rows, chart) if isinstance(rows, Scenario) else [_row(chart, row) for row in rows]


def _row(chart: Chart, row: Row | str | Mapping[str, Value]) -> Row:
    if isinstance(row, Row):
        return row
    return parse_row(chart, row) if isinstance(row, str) else Row(row)
