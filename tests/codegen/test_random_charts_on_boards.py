"""Two hundred random charts of all features do the same in the interpreter, here, and on both boards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import pytest

from posewright.charts import Chart
from posewright.charts.model import Kind
from posewright.codegen.c import ChartSubject
from posewright.codegen.c.code import queue_bound
from posewright.codegen.proof.input_generation import chart_stream
from posewright.codegen.proof.verification import Comparison
from posewright.codegen.targets.arduino_uno.processor import UnoProcessor, for_avr
from posewright.codegen.targets.cm900.processor import CortexProcessor
from posewright.codegen.targets.host import HostLibrary
from posewright.codegen.unit import Executable, Subject
from posewright.errors import InputError

from .batch import BatchSubject, Member
from .conftest import need_tool
from .drawn_charts import drawn_charts

CHARTS = 20
STEPS = 250
MOST_WAITING = 16
"""Events that wait at once on the UNO, whose RAM holds no thousand of them."""

GROUPS: dict[str, dict[str, Any]] = {
    "all": {},
    "flat": {"flat": True},
    "mealy": {"kind": Kind.MEALY, "floats": True},
    "moore": {"kind": Kind.MOORE},
    "large": {"max_states": 14},
    "untimed": {"timed": False, "parallel": False},
    "floats": {"floats": True},
    "completion": {"completion": True},
    "faults": {"faults": True},
    "everything": {"completion": True, "faults": True, "floats": True},
}


def executables(
    subjects: Sequence[Subject], start: Callable[[Subject], Executable], at_once: int, stack: ExitStack
) -> Iterator[Member]:
    """Yield every subject as it runs in a batch of `at_once`, or of half as many where these do not fit."""
    for begin in range(0, len(subjects), at_once):
        batch = BatchSubject(subjects[begin : begin + at_once])
        try:
            running = stack.enter_context(closing(start(batch)))
        except InputError:
            if len(batch.members) == 1:
                raise
            yield from executables(batch.members, start, (len(batch.members) + 1) // 2, stack)
        else:
            yield from (Member(batch, running, number) for number in range(len(batch.members)))


def for_uno(chart: Chart) -> Subject:
    subject = ChartSubject(chart)
    waiting = min(queue_bound(subject.lowered), MOST_WAITING) or None
    return for_avr(replace(subject, options=replace(subject.options, queue=waiting)))


@pytest.mark.parametrize("group", GROUPS)
def test_twenty_random_charts_do_the_same_everywhere(group: str) -> None:
    for tool in ("gcc", "avr-gcc", "arm-none-eabi-gcc"):
        need_tool(tool)
    drawn = drawn_charts(CHARTS, [*GROUPS].index(group), **GROUPS[group])
    assert len(drawn) == CHARTS
    plain = [ChartSubject(chart) for chart in drawn]
    with ExitStack() as stack:
        here = executables(plain, HostLibrary, CHARTS, stack)
        uno = executables([*map(for_uno, drawn)], UnoProcessor, 8, stack)
        cm900 = executables(plain, CortexProcessor, CHARTS, stack)
        for subject, *members in zip(plain, here, uno, cm900, strict=True):
            names = dict(zip(("host", "arduino-uno", "cm900"), members, strict=True))
            comparison = Comparison(subject.reference(), names)
            comparison.run(chart_stream(subject.format, covering=False).episodes(1), STEPS, lambda *_: None)
            found = comparison.mismatch()
            assert found is None, (subject.chart, found.data())
