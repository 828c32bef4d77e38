"""Sixty random charts of all features do the same in the interpreter, here, and on both boards.

`make fuzz` draws two hundred others in every round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import pytest

from posewright.charts import Chart
from posewright.charts.machine import lower
from posewright.charts.model import ChartKind
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.c.code import queue_bound
from posewright.codegen.c.region_tree import has_single_state
from posewright.codegen.proof.input_generation import chart_stream
from posewright.codegen.proof.verification import Comparison
from posewright.codegen.targets.arduino_uno.processor import UnoProcessor, with_avr_options
from posewright.codegen.targets.cm900.processor import CortexProcessor
from posewright.codegen.targets.host import HostLibrary
from posewright.codegen.unit import Executable, UnitSpec
from posewright.errors import InputError

from .batch import BatchSubject, Member
from .conftest import need_tool
from .drawn_charts import drawn_charts

CHARTS = 4
CHARTS_OF_A_ROUND = 20
"""As many of a group in every round of `make fuzz`."""
STEPS = 150
MOST_WAITING = 16
"""Events that wait at once on the UNO, whose RAM holds no thousand of them."""


def has_regions(chart: Chart) -> bool:
    return not has_single_state(lower(chart))


GROUPS: dict[str, dict[str, Any]] = {
    "all": {},
    "flat": {"flat": True},
    "mealy": {"kind": ChartKind.MEALY, "floats": True},
    "moore": {"kind": ChartKind.MOORE},
    "regions": {"max_states": 14, "wanted": has_regions},
    "regions at the top": {"max_states": 14, "regions_at_top": True},
    "untimed": {"timed": False, "parallel": False},
    "floats": {"floats": True},
    "completion": {"completion": True},
    "faults": {"faults": True},
    "everything": {"completion": True, "faults": True, "floats": True},
}


def executables(
    specs: Sequence[UnitSpec], start: Callable[[UnitSpec], Executable], at_once: int, stack: ExitStack
) -> Iterator[Member]:
    """Yield every unit as it runs in a batch of `at_once`, or of half as many where these do not fit."""
    for begin in range(0, len(specs), at_once):
        batch = BatchSubject(specs[begin : begin + at_once])
        try:
            running = stack.enter_context(closing(start(batch)))
        except InputError:
            if len(batch.members) == 1:
                raise
            yield from executables(batch.members, start, (len(batch.members) + 1) // 2, stack)
        else:
            yield from (Member(batch, running, number) for number in range(len(batch.members)))


def for_uno(chart: Chart) -> UnitSpec:
    unit_spec = ChartUnitSpec(chart)
    waiting = min(queue_bound(unit_spec.lowered), MOST_WAITING) or None
    return with_avr_options(replace(unit_spec, options=replace(unit_spec.options, max_queued_events=waiting)))


@pytest.fixture
def group_charts(group: str, pytestconfig: pytest.Config) -> list[Chart]:
    """Give the random charts of a group: always the same ones, but for `make fuzz`."""
    seed = [*GROUPS].index(group)
    if pytestconfig.getoption("--hypothesis-profile") != "fuzz":
        return drawn_charts(CHARTS, seed, **GROUPS[group])
    round_seed = int(pytestconfig.getoption("--hypothesis-seed"))
    return drawn_charts(CHARTS_OF_A_ROUND, round_seed + seed, **GROUPS[group])


@pytest.mark.hypothesis
@pytest.mark.parametrize("group", GROUPS)
def test_random_charts_of_all_features_do_the_same_everywhere(group_charts: list[Chart]) -> None:
    for tool in ("gcc", "avr-gcc", "arm-none-eabi-gcc"):
        need_tool(tool)
    assert len(group_charts) >= CHARTS
    specs = [ChartUnitSpec(chart) for chart in group_charts]
    uno_specs = [for_uno(chart) for chart in group_charts]
    with ExitStack() as stack:
        host_members = executables(specs, HostLibrary, CHARTS_OF_A_ROUND, stack)
        uno_members = executables(uno_specs, UnoProcessor, 8, stack)
        cm900_members = executables(specs, CortexProcessor, CHARTS_OF_A_ROUND, stack)
        for unit_spec, host, uno, cm900 in zip(specs, host_members, uno_members, cm900_members, strict=True):
            executable_of_target = {"host": host, "arduino-uno": uno, "cm900": cm900}
            comparison = Comparison(unit_spec.reference(), executable_of_target)
            episodes = chart_stream(unit_spec.format, covering=False).episodes(1)
            comparison.run(episodes, STEPS, lambda *_: None)
            mismatch = comparison.mismatch()
            assert mismatch is None, (unit_spec.chart, mismatch.data())
