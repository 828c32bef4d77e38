"""What some runs of a chart cover together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add
from pathlib import Path

from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.feasible import feasible, with_feasible
from posewright.charts.coverage.recording import cover_run
from posewright.charts.model import Chart
from posewright.charts.reachability import explore
from posewright.charts.running import rows_given
from posewright.charts.scenarios import Scenario


def coverage_of(chart: Chart, runs: Iterable[Scenario | Path | str]) -> Coverage:
    """Return what runs of a chart cover together; what no run can cover, as was proved, is left out.

    Args:
        chart: what is run.
        runs: scenarios, or paths of scenarios or of CSV files of inputs.

    Raises:
        InputError: there is no run, or a run is not what it should be.
        ExpressionError: a guard or an action divides by zero.
    """
    possible = feasible(explore(chart))
    nothing = cover_run(chart, [])
    found = reduce(add, (cover_run(chart, rows_given(chart, run)) for run in runs), nothing)
    return with_feasible(found, possible)
