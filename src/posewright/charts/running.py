"""Runs a chart over rows of inputs, once it is known to be sound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from posewright.charts.chart import Chart
from posewright.charts.checks import require_sound
from posewright.charts.datatypes import Value
from posewright.charts.rows import Row, Tick, parse_row, read_rows, run_rows, state_called


def run_chart(
    chart: Chart,
    rows: Path | str | Iterable[Row | str | Mapping[str, Value]],
    *,
    start: str | None = None,
) -> tuple[Tick, ...]:
    """Run a chart, one tick a row, and return what came of each.

    Args:
        chart: what to run.
        rows: path of a CSV file of inputs; or one row a tick: `"front=1, left=0"` (inputs not named are
            zero or false), a mapping of all inputs, or a Row.
        start: state to start in, by its name or by its code in the truth table; default the initial one.

    Raises:
        InputError: the chart is unsound, or a row is not what it should be.
        ExpressionError: a guard or an action divides by zero.
    """
    require_sound(chart)
    given = read_rows(chart, rows) if isinstance(rows, Path | str) else [_row(chart, row) for row in rows]
    return tuple(run_rows(chart, given, None if start is None else state_called(chart, start)))


def _row(chart: Chart, row: Row | str | Mapping[str, Value]) -> Row:
    if isinstance(row, Row):
        return row
    return parse_row(chart, row) if isinstance(row, str) else Row(row)
