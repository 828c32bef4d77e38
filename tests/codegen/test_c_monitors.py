"""Promises asked at run time, in C: broken at the very ticks at which the interpreter's monitor says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.charts import Chart, Interpreter, Monitor, read_chart
from posewright.charts.expression import parse_expression
from posewright.charts.model import Promise, PromiseKind
from posewright.charts.model.chart import scope_of
from posewright.charts.types import BoolType
from posewright.codegen.c import ChartUnitSpec, Options
from posewright.codegen.c.truth_table import Style
from posewright.codegen.proof.input_generation import chart_stream, rows_of
from posewright.codegen.unit import Records
from posewright.errors import InputError

from .batch import BatchSubject
from .drawn_charts import drawn_charts
from .host_unit import host_unit

EXAMPLES = Path(__file__).parents[2] / "examples" / "charts"
WATCHED = Options(monitors=True)
TICKS = 150
EPISODES = 3


def promise(chart: Chart, name: str, vow: PromiseKind, *texts: str, within_s: float = 0.0) -> Promise:
    asked = dict.fromkeys((*chart.events, *chart.local_events), BoolType())
    scope = scope_of(
        {**chart.inputs, **chart.variables, **asked},
        chart.constants,
        units=chart.units,
        functions=chart.functions,
        states=frozenset(chart.state_names),
    )
    return Promise(
        name, vow, *(parse_expression(text, scope, BoolType()) for text in texts), within_s=within_s
    )


def with_promises_to_break(chart: Chart) -> Chart:
    """Promise the opposite of all that is promised, and some things that no chart can always keep."""
    opposite = {PromiseKind.NEVER: PromiseKind.ALWAYS, PromiseKind.ALWAYS: PromiseKind.NEVER}
    turned = [
        replace(one, name=f"not {one.name}", kind=opposite.get(one.kind, one.kind), within_s=0.0)
        for one in chart.promises
    ]
    first, last = chart.state_names[0], chart.state_names[-1]
    asked = [f"in({name})" for name in (first, last)]
    asked += [
        *chart.events,
        *chart.local_events,
        *(name for name, kind in chart.inputs.items() if kind == BoolType()),
    ]
    pairs = zip(asked, reversed(asked), strict=True)
    owed = [
        promise(chart, f"owed {k}", PromiseKind.LEADS_TO, when, f"not {goal}", within_s=k * chart.period_s)
        for k, (when, goal) in enumerate(pairs)
    ]
    return replace(chart, promises=(*chart.promises, *turned, *owed))


def stepped(
    step: Any, unit_spec: ChartUnitSpec, number: int, batch: BatchSubject, episode: Records
) -> Iterator[Any]:
    """Yield the state record after each tick of one member of a batch."""
    record = np.zeros(1, batch.input_dtype)
    record["member"] = number
    for k in range(len(episode)):
        given = episode[k : k + 1].tobytes()
        record["record"][0, : len(given)] = np.frombuffer(given, np.uint8)
        got = step(record[0], fresh=k == 0).tobytes()
        yield np.frombuffer(got[: unit_spec.state_dtype.itemsize], unit_spec.state_dtype)[0]


def bits(record: Any) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(record["broken"], bitorder="little")).tolist())


@pytest.fixture(scope="module")
def watched() -> list[ChartUnitSpec]:
    examples = [read_chart(path) for path in sorted(EXAMPLES.rglob("*.chart.yaml"))]
    drawn = drawn_charts(6, 5, promises=True)
    charts = [with_promises_to_break(chart) for chart in (*examples, *drawn)]
    return [ChartUnitSpec(replace(chart, name=f"watched_{k}"), WATCHED) for k, chart in enumerate(charts)]


def test_a_promise_is_broken_in_c_when_the_monitor_says_so(
    watched: list[ChartUnitSpec], tmp_path: Path
) -> None:
    batch = BatchSubject(watched)
    broken_and_mended = 0
    with host_unit(batch, tmp_path) as step:
        for number, unit_spec in enumerate(watched):
            interpreter = Interpreter(unit_spec.chart)
            for episode in islice(chart_stream(unit_spec.format, covering=False).episodes(number), EPISODES):
                monitor, state = Monitor(unit_spec.chart), interpreter.initial()
                rows = rows_of(unit_spec.chart, episode[:TICKS])
                before: set[int] = set()
                for row, got in zip(
                    rows, stepped(step, unit_spec, number, batch, episode[:TICKS]), strict=True
                ):
                    state = interpreter.step(state, row)
                    monitor.check_tick(row, state)
                    assert bits(got) == monitor.broken_indices, (unit_spec.chart.name, monitor.n_ticks, row)
                    broken_and_mended += bool(before - monitor.broken_indices)
                    before = {*monitor.broken_indices}
    assert broken_and_mended > 100


def test_every_tick_is_the_reference_s_where_ticks_fail(tmp_path: Path) -> None:
    drawn = drawn_charts(4, 11, promises=True, faults=True, completion=True)
    subjects = [ChartUnitSpec(with_promises_to_break(chart), WATCHED) for chart in drawn]
    batch, failed = BatchSubject(subjects), 0
    with host_unit(batch, tmp_path) as step:
        for number, unit_spec in enumerate(subjects):
            reference = unit_spec.reference()
            for episode in islice(chart_stream(unit_spec.format, covering=False).episodes(1), EPISODES):
                reference.reset()
                wanted = reference.run(episode[:TICKS])
                for want, got in zip(
                    wanted, stepped(step, unit_spec, number, batch, episode[:TICKS]), strict=True
                ):
                    assert got.tobytes() == want.tobytes(), unit_spec.chart.name
                failed += int(wanted["status"].any())
    assert failed


SMALL = """\
chart: small
kind: mealy
period_s: 0.1
inputs: {n: {int: [0, 3]}, go: bool}
outputs: {lamp: bool}
initial: off
states:
  off: {transitions: [{when: go, go: on, do: {lamp: 1}}, {when: not go, go: off}]}
  on: {transitions: [{when: not go, go: off, do: {lamp: 0}}, {when: go, go: on}]}
promises:
  - {never: in(on) and n == 3, name: no threes}
  - {always: lamp == in(on), name: honest lamp}
  - {when: go, leads_to: not lamp, within: 0.2 s, name: lets go}
"""


def small(tmp_path: Path, *others: tuple[str, str]) -> Chart:
    text = SMALL
    for before, after in others:
        assert before in text
        text = text.replace(before, after)
    path = tmp_path / "small.chart.yaml"
    path.write_text(text)
    return read_chart(path)


@pytest.mark.parametrize("style", [Style.SWITCH, Style.TABLE])
def test_a_user_sees_which_promise_is_broken(tmp_path: Path, style: Style) -> None:
    unit_spec = ChartUnitSpec(small(tmp_path), Options(monitors=True, style=style))
    header = unit_spec.sources()[0].text
    assert "#define SMALL_PROMISE_NO_THREES 0U /* never in(on) and n == 3 */" in header
    rows = [{"n": n, "go": go} for n, go in [(0, True), (3, True), (0, True), (0, True), (0, False)]]
    with host_unit(unit_spec, tmp_path) as step:
        found = [bits(step(record)) for record in unit_spec.format.pack(rows)]
    assert found == [set(), {0}, {2}, {2}, set()]


def test_a_tick_in_which_a_promise_divides_by_zero_is_given_up(tmp_path: Path) -> None:
    unit_spec = ChartUnitSpec(small(tmp_path, ("in(on) and n == 3", "3 % n == 2")), WATCHED)
    records = unit_spec.format.pack([{"n": 1, "go": True}, {"n": 0, "go": False}, {"n": 1, "go": False}])
    with host_unit(unit_spec, tmp_path) as step:
        found = [step(record) for record in records]
    assert [int(one["status"]) for one in found] == [0, 1, 1]
    assert all(one.tobytes()[1:] == found[0].tobytes()[1:] for one in found)
    assert np.array_equal(unit_spec.reference().run(records), np.array(found))


def test_a_table_cannot_tell_which_events_were_raised(tmp_path: Path) -> None:
    chart = small(
        tmp_path,
        ("initial:", "local_events: [over]\ninitial:"),
        ("kind: mealy\n", ""),
        ("not lamp, w", "over, w"),
    )
    with pytest.raises(InputError, match="promises depend on the events raised"):
        ChartUnitSpec(chart, Options(monitors=True, style=Style.TABLE)).sources()
    ChartUnitSpec(chart, Options(style=Style.TABLE)).sources()


def test_without_monitors_no_byte_is_spent_on_promises(tmp_path: Path) -> None:
    chart = small(tmp_path)
    plain = [file.text for file in ChartUnitSpec(chart).sources()]
    assert plain == [file.text for file in ChartUnitSpec(replace(chart, promises=())).sources()]
    assert [file.text for file in ChartUnitSpec(chart, WATCHED).sources()] != plain
