"""Runs a chart over rows of inputs, after the check that it is sound."""

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

SCENARIO_SUFFIXES = (".yaml", ".yml")
"""Suffixes of scenario files; inputs in any other file are CSV."""


def run_chart(
    chart: Chart,
    rows: Path | str | Scenario | Iterable[Row | str | Mapping[str, Value]],
    *,
    start: str | None = None,
    unchecked: bool = False,
    native: bool = False,
) -> tuple[Tick, ...]:
    """Run a chart, one tick per row, and return the ticks.

    Args:
        chart: the chart.
        rows: path of a CSV file of inputs or of a scenario; a Scenario; or rows, each of them a text such as
            `"front=1, left=0"` (other inputs are zero or false), a mapping of all inputs, or a Row.
        start: name of the state to start in, or its code in the truth table; None for the initial state.
        unchecked: run a chart without checking it, for example to see what a check has found.
        native: run compiled C, with the same results in less time; in Python, with a warning, if nothing can
            compile it.

    Raises:
        InputError: the chart is unsound, or a row is not valid.
        ExpressionError: a guard or an action divides by zero.
    """
    if not unchecked:
        require_sound(chart)
    converted_rows = to_rows(chart, rows)
    start_state = None if start is None else resolve_state_name(chart, start)
    return tuple(run_rows(chart, converted_rows, start_state, native=native))


def to_rows(
    chart: Chart, rows: Path | str | Scenario | Iterable[Row | str | Mapping[str, Value]]
) -> list[Row]:
    """Return rows in any form that `run_chart` takes as a list of Row objects.

    Args:
        chart: the chart that the rows are for.
        rows: path of a CSV file of inputs or of a scenario; a Scenario; or rows, each of them a text such as
            `"front=1, left=0"`, a mapping of all inputs, or a Row.

    Raises:
        InputError: a file cannot be read, or a row is not valid.
    """
    if isinstance(rows, Path | str):
        if Path(rows).suffix.lower() not in SCENARIO_SUFFIXES:
            return read_rows(chart, rows)
        rows = read_scenario(rows, chart)
    if isinstance(rows, Scenario):
        return rows_of(rows, chart)
    return [_to_row(chart, row) for row in rows]


def _to_row(chart: Chart, row: Row | str | Mapping[str, Value]) -> Row:
    """Return a row that is a text, a mapping of all inputs, or a Row already, as a Row."""
    if isinstance(row, Row):
        return row
    return parse_row(chart, row) if isinstance(row, str) else Row(row)
