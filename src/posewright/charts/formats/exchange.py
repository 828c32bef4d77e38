"""Writes a chart in the form that a file's ending names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from posewright.charts.formats.chart_writing import save_chart
from posewright.charts.formats.scxml.writing import save_scxml
from posewright.charts.formats.transition_table_writing import save_transition_table
from posewright.charts.model import Chart
from posewright.errors import InputError

WRITERS: dict[str, Callable[[Chart, Path], None]] = {
    ".yaml": save_chart,
    ".yml": save_chart,
    ".scxml": save_scxml,
    ".xml": save_scxml,
    ".csv": save_transition_table,
}
"""What writes a file of each ending."""


def write_chart(chart: Chart, path: Path | str) -> None:
    """Write a chart as a native document (.yaml), as SCXML (.scxml), or as a transition table (.csv).

    Raises:
        InputError: another ending, or the form cannot say something that the chart has.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise InputError(f"cannot write a chart into {path}", hint="the name ends in .yaml, .scxml or .csv")
    WRITERS[path.suffix.lower()](chart, path)
