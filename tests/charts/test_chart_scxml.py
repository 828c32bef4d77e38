"""SCXML: our charts out and in again, without loss."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import posewright
from posewright.charts import Chart, ChartKind, Interpreter, parse_chart, read_chart
from posewright.charts.formats import beyond_scxml, parse_scxml, save_scxml, scxml_text, tick_event
from posewright.errors import FormatError

from .random_charts import charts, rows

SHIPPED = sorted(Path(posewright.__file__).parent.rglob("*.chart.yaml"))
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.chart.yaml"))
EVERY_SORT = st.one_of(
    charts(),
    charts(completion=True, promises=True, floats=True),
    charts(kind=ChartKind.MEALY),
    charts(kind=ChartKind.MOORE),
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(EVERY_SORT)
def test_a_chart_written_and_read_again_is_the_same_chart(chart: Chart) -> None:
    text = scxml_text(chart)
    again = parse_scxml(text)
    assert again == chart
    assert scxml_text(again) == text


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_chart_written_and_read_again_does_the_same(data: st.DataObject) -> None:
    chart = data.draw(charts(promises=True))
    given_rows = data.draw(rows(chart, 15))
    ours, theirs = (
        [(one.state, one.outputs, one.locals) for one in Interpreter(each).run(given_rows)]
        for each in (chart, parse_scxml(scxml_text(chart)))
    )
    assert ours == theirs


@pytest.mark.parametrize("path", [*SHIPPED, *EXAMPLES], ids=lambda path: path.name.split(".")[0])
def test_a_chart_that_ships_comes_back_the_same(path: Path) -> None:
    chart = read_chart(path)
    assert parse_scxml(scxml_text(chart)) == chart


RACE = """
chart: race
period_s: 0.1
inputs: {near: bool, wall: {float: [0, 5], unit: m}}
events: [start]
outputs: {motion: {enum: [none, walk]}, tries: {int: [0, 9]}}
constants: {arrived: 36 cm}
initial: waiting
states:
  waiting:
    - {on: start, when: not near, go: racing, do: {tries: tries + 1}}
    - {when: wall < arrived, go: racing}
  racing:
    transitions: [{when: after(2 s) and near, go: waiting}]
    entry: {motion: walk}
    exit: {motion: none}
"""


def test_what_scxml_can_say_is_said_in_its_words() -> None:
    text = scxml_text(parse_chart(RACE))
    assert '<transition event="start" cond="not near" target="racing">' in text
    assert '<assign location="motion" expr="\'walk\'"/>' in text
    assert '<data id="near" expr="False" pw:role="input" pw:type="bool"/>' in text


def test_a_number_is_kept_within_its_range_in_pythons_words_too() -> None:
    text = scxml_text(parse_chart(RACE))
    assert '<assign location="tries" expr="max(0, min(9, tries + 1))" pw:value="tries + 1"/>' in text


def test_a_guard_without_an_event_waits_for_the_tick_where_a_tick_asks_once() -> None:
    chart = parse_chart(RACE)
    assert tick_event(chart) == "tick"
    assert '<transition event="tick" cond="wall &lt; ' in scxml_text(chart)


def test_what_another_reader_would_do_otherwise_is_named() -> None:
    assert beyond_scxml(parse_chart(RACE)) == ("times: after, before, every, held and minimum times",)


def test_a_condition_on_time_is_one_that_another_reader_fails_at_rather_than_takes() -> None:
    assert 'cond="after(2.0) and near"' in scxml_text(parse_chart(RACE))


def test_a_document_that_says_two_things_is_refused() -> None:
    text = scxml_text(parse_chart(RACE)).replace('pw:value="tries + 1"', 'pw:value="tries + 2"')
    with pytest.raises(FormatError, match=r"'expr' and 'pw:value' of <assign> contradict each other"):
        parse_scxml(text)


WORDS = f"""
chart: words
period_s: 0.1
description: "a bell \\a and a <sign> & \\"quotes\\""
events: [{"e" * 80}]
outputs: {{{"o" * 80}: bool}}
initial: next
states:
  next: [{{on: {"e" * 80}, go: if, do: {{{"o" * 80}: 1}}}}]
  if: [{{on: {"e" * 80}, go: "{"s" * 79}"}}]
  {"s" * 79}: [{{on: {"e" * 80}, go: "0"}}]
  "0": []
"""


def test_words_and_long_names_come_back_as_they_were() -> None:
    chart = parse_chart(WORDS)
    again = parse_scxml(scxml_text(chart))
    assert again == chart
    assert again.description == 'a bell  and a <sign> & "quotes"'


def test_a_document_is_written_whole(tmp_path: Path) -> None:
    save_scxml(parse_chart(RACE), tmp_path / "race.scxml")
    text = (tmp_path / "race.scxml").read_text(encoding="utf-8")
    assert parse_scxml(text, tmp_path / "race.scxml") == parse_chart(RACE)


DWELL = """
chart: dwell
period_s: 0.1
inputs: {near: bool}
initial: on
states:
  on:
    min_s: 0.5
    initial: one
    transitions: [{when: near, go: two, local: true}, {when: near, go: off}]
    states: {one: [], two: []}
  off: []
"""


def test_a_dwell_delays_what_leaves_its_state_and_not_what_stays_inside_it() -> None:
    chart = parse_chart(DWELL)
    text = scxml_text(chart)
    assert '<transition event="tick" cond="near" type="internal" target="two"/>' in text
    assert '<transition event="tick" cond="after(0.5) and (near)" pw:when="near" target="off"/>' in text
    assert parse_scxml(text) == chart
