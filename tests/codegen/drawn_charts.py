"""Random charts of all features, the same ones every time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from posewright.charts import Chart
from posewright.charts.machine import lower
from posewright.codegen.proof.reference import InterpreterRun
from posewright.codegen.proof.streams import chart_stream
from posewright.codegen.records import RecordFormat
from tests.charts.random_charts import charts

LIVELY = 3
"""Transitions that a chart takes within a few hundred ticks; hypothesis likes charts that do nothing."""


def drawn_charts(number: int, seed_of_draw: int, **features: Any) -> list[Chart]:
    """Return charts that do something, called `drawn_0`, `drawn_1`, ..."""
    found: list[Chart] = []
    for attempt in range(10):
        found += _lively(_drawn(2 * number, 100 * seed_of_draw + attempt, **features))
        if len(found) >= number:
            break
    return [replace(chart, name=f"drawn_{k}") for k, chart in enumerate(islice(found, number))]


def _drawn(number: int, seed_of_draw: int, **features: Any) -> list[Chart]:
    found: list[Chart] = []

    @seed(seed_of_draw)
    @settings(
        max_examples=number,
        database=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(charts(**features))
    def take(chart: Chart) -> None:
        found.append(chart)

    take()
    return found


def _lively(drawn: list[Chart]) -> Iterator[Chart]:
    for chart in drawn:
        form = RecordFormat(lower(chart))
        run = InterpreterRun(form)
        for episode in islice(chart_stream(form, covering=False).episodes(1), 3):
            run.reset()
            run.run(episode[:100])
        if len(run.taken) >= LIVELY:
            yield chart
