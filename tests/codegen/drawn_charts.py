"""Random charts of all features, the same ones every time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.charts.random_charts import charts

from posewright.charts import Chart
from posewright.charts.machine import lower
from posewright.codegen.proof.input_generation import chart_stream
from posewright.codegen.proof.reference import InterpreterRun
from posewright.codegen.records import RecordFormat

DRAWN_AT_ONCE = 4
"""Charts of one draw: the first is always the plainest, and later ones are like those before."""

LIVELY = 3
"""Transitions that a chart takes within a few hundred ticks; hypothesis likes charts that do nothing."""


def drawn_charts(
    number: int, seed_of_draw: int, wanted: Callable[[Chart], bool] = lambda _chart: True, **features: Any
) -> list[Chart]:
    """Return charts that do something, called `drawn_0`, `drawn_1`, ..., no two of them from one draw.

    Args:
        number: how many.
        seed_of_draw: the seed.
        wanted: returns whether a chart is one of those wanted.
        features: of the charts, as for `charts`.
    """
    found: list[Chart] = []
    for attempt in range(1000 * seed_of_draw, 1000 * seed_of_draw + 100 * number):
        if len(found) == number:
            break
        charts_of_draw = reversed(_drawn(DRAWN_AT_ONCE, attempt, **features))
        lively = filter(_is_lively, filter(wanted, charts_of_draw))
        found += islice(lively, 1)
    return [replace(chart, name=f"drawn_{k}") for k, chart in enumerate(found)]


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


def _is_lively(chart: Chart) -> bool:
    form = RecordFormat(lower(chart))
    run = InterpreterRun(form)
    for episode in islice(chart_stream(form, covering=False).episodes(1), 3):
        run.reset()
        run.run(episode[:100])
    return len(run.transitions_taken) >= LIVELY
