"""Charts written as documents: they read the same, and over a document a person's words stay."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from posewright.charts import BoolType, ChartKind, chart_data, parse_chart, read_chart, save_chart
from posewright.charts.expression import parse_expression
from posewright.charts.model import Chart, State, Transition, to
from posewright.documents import render_document

from .random_charts import charts

SLOW_TO_DRAW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

GATE = """\
# a gate, in words of its own
chart: gate
kind: statechart            # which it would be without saying
period_s: 0.1
inputs: {near: bool, far: {float32: [0.0, 2.5], unit: m}}
events: start
outputs: {lamp: bool, angle: {int: [0, 90], unit: deg}}
constants: {edge: 0.50 m, wait: 500 ms}
initial_outputs: {lamp: 1}
functions:
  lit:
    takes: {a: bool, b: {float: [0, 3]}}
    gives: bool
    table: lit.csv          # beside it
promises:
  - {when: start, leads_to: lamp, within: 1500 ms}
initial: closed
states:
  closed:                   # at first
    - {on: [start], when: 'far < edge and lit(near, far)', do: {raise: ready}, go: open}
    - {on: start, when: else, do: [{lamp: true}], go: closed}
  open:
    entry: {angle: 90, lamp: 0}   # up
    transitions:
      - {when: near, then: [{when: after(wait), go: closed}, {when: else, do: {angle: 80}}]}
"""


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    path = tmp_path / "gate.chart.yaml"
    path.write_text(GATE.replace("events: start", "events: [start]\nlocal_events: [ready]"))
    (tmp_path / "lit.csv").write_text("a,b,lit\n1,< 0.5,1\n1,0.5..3,0\n0,X,0\n")
    return path


def same(one: Chart, other: Chart) -> None:
    """Compare field by field, so that a difference is found in less than a page."""
    for each in fields(Chart):
        if each.compare:
            assert getattr(one, each.name) == getattr(other, each.name), each.name


@SLOW_TO_DRAW
@given(charts(floats=True, promises=True, completion=True))
def test_every_statechart_reads_as_it_was_written(chart: Chart) -> None:
    same(parse_chart(render_document(chart_data(chart))), chart)


@SLOW_TO_DRAW
@given(charts(kind=ChartKind.MEALY) | charts(kind=ChartKind.MOORE))
def test_every_flat_machine_reads_as_it_was_written(chart: Chart) -> None:
    same(parse_chart(render_document(chart_data(chart))), chart)


@settings(SLOW_TO_DRAW, max_examples=8)
@given(charts(), charts())
def test_a_chart_written_over_another_reads_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, before: Chart, chart: Chart
) -> None:
    path = tmp_path_factory.mktemp("over") / "drawn.chart.yaml"
    save_chart(before, path)
    save_chart(chart, path)
    same(read_chart(path), chart)


def test_an_unchanged_chart_is_saved_with_the_same_bytes(gate: Path) -> None:
    before = gate.read_bytes()
    save_chart(read_chart(gate), gate)
    assert gate.read_bytes() == before


def test_only_what_changed_is_changed(gate: Path) -> None:
    chart = read_chart(gate)
    closed, opened = chart.states
    first = replace(closed.transitions[0], go=to("closed"))
    changed = replace(chart, states=(replace(closed, transitions=(first, closed.transitions[1])), opened))
    before = gate.read_text()
    save_chart(changed, gate)
    assert gate.read_text() == before.replace(
        "do: {raise: ready}, go: open}", "do: {raise: ready}, go: closed}"
    )
    same(read_chart(gate), changed)


def test_what_is_new_is_added_and_what_is_gone_is_left_out(gate: Path) -> None:
    chart = read_chart(gate)
    more = Transition(when=parse_expression("near", chart.scope, BoolType()), go=to("third"))
    changed = replace(
        chart,
        states=(*chart.states, State("third", (more,))),
        promises=(),
        initial_values={"lamp": True, "angle": 5},
    )
    save_chart(changed, gate)
    same(read_chart(gate), changed)
    text = gate.read_text()
    assert "# at first" in text
    assert "table: lit.csv" in text
    assert "promises" not in text


def test_a_table_is_written_as_rows_where_the_chart_goes_elsewhere(gate: Path, tmp_path: Path) -> None:
    chart = read_chart(gate)
    elsewhere = tmp_path / "new.chart.yaml"
    save_chart(chart, elsewhere)
    assert "table:" not in elsewhere.read_text()
    same(read_chart(elsewhere), chart)
    assert read_chart(elsewhere).functions["lit"].rows[1].cells == ("1", "0.5..3")


def test_units_and_widths_are_written(gate: Path) -> None:
    data = chart_data(read_chart(gate))
    assert data["inputs"]["far"] == {"float32": [0.0, 2.5], "unit": "m"}
    assert data["outputs"]["angle"] == {"int": [0, 90], "unit": "deg"}
    assert data["constants"] == {"edge": "0.5 m", "wait": "500 ms"}
    assert data["promises"] == [{"when": "start", "leads_to": "lamp", "within": "1.5 s"}]
    assert "name" not in data["promises"][0]


@pytest.mark.parametrize("number", [0.1, 1e-9, 12345678901234567.0, 0.00012345678901234567, 1e300, 3.0, -2.5])
def test_no_digit_of_a_number_is_lost(number: float) -> None:
    chart = parse_chart("chart: x\nperiod_s: 1\noutputs: {o: float}\ninitial: a\nstates: {a: []}\n")
    told = replace(
        chart,
        constants={"plain": number, "measured": number},
        units={"measured": "mm"},
        initial_values={"o": number},
    )
    same(parse_chart(render_document(chart_data(told))), told)


def test_a_variable_called_inf_stays_one_behind_a_minus_sign(tmp_path: Path) -> None:
    chart = parse_chart(
        "chart: gate\nkind: statechart\nperiod_s: 0.1\n"
        "inputs: {inf: {float: [-9, 9]}}\noutputs: {angle: {float: [-9, 9]}}\ninitial_outputs: {angle: 0}\n"
        "initial: open\nstates:\n  open: {transitions: [{when: inf > 1, do: {angle: -inf}, go: open}]}\n"
    )
    save_chart(chart, tmp_path / "gate.chart.yaml")
    assert read_chart(tmp_path / "gate.chart.yaml") == chart
