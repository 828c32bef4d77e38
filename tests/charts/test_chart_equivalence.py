"""Two charts behave alike, or the shortest inputs tell them apart; whatever form each of them has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posewright.charts.formats import parse_chart, read_chart
from posewright.charts.machine import Interpreter
from posewright.charts.model import Chart
from posewright.charts.product import equivalent
from posewright.charts.types import Value
from posewright.errors import InputError, PosewrightError

from .random_charts import charts, rows

CHARTS = Path(__file__).parents[2] / "examples" / "charts"

quick = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))

HEAD = """\
chart: race
period_s: 0.1
inputs: {front: bool, left: bool, right: bool, d: {float: [0, 2]}, e: {float: [0, 2]}}
outputs: {go: bool, turn: {enum: [none, to_left, to_right]}, speed: float}
"""
FLAT = """\
priority: ordered
initial: walking
states:
  walking:
    - {when: front and left, do: {go: 0, turn: to_right}, go: turning}
    - {when: front, do: {go: 0, turn: to_left}, go: turning}
    - {when: true, do: {go: 1}, go: walking}
  turning:
    - {when: not front, do: {go: 1, turn: none}, go: walking}
    - {when: front, do: {go: 0}, go: turning}
"""
NESTED = """\
priority: ordered
initial: body
states:
  body:
    initial: walking
    states:
      walking:
        entry: {go: 1, turn: none}
        transitions:
          - when: front
            then:
              - {when: left, do: {turn: to_right}, go: turning}
              - {when: else, do: {turn: to_left}, go: turning}
      turning:
        entry: {go: 0}
        transitions:
          - {when: not front, go: walking}
"""


def chart(body: str, head: str = HEAD) -> Chart:
    return parse_chart(head + body)


def outputs_of(machine: Chart, inputs: tuple[Mapping[str, Value], ...]) -> list[object]:
    """The outputs tick by tick, and the error that ends them."""
    found: list[object] = []
    run = Interpreter(machine)
    state = run.initial()
    for row in inputs:
        try:
            state = run.step(state, row)
        except PosewrightError:
            return [*found, "failed"]
        found.append(dict(state.outputs))
    return found


def test_a_flat_and_a_nested_form_with_junctions_are_proved_equal() -> None:
    assert equivalent(chart(FLAT), chart(NESTED))


def test_the_shortest_inputs_tell_a_changed_nested_form_apart() -> None:
    told = equivalent(chart(FLAT), chart(NESTED.replace("turn: to_left", "turn: to_right")))
    assert told.equal is False
    (row,) = told.counterexample
    assert (row["front"], row["left"]) == (True, False)
    assert told.outputs is not None
    assert [outputs["turn"] for outputs in told.outputs] == ["to_left", "to_right"]


COUNTING = """\
initial: a
states:
  a:
    - {when: front and left, do: {turn: to_left, COUNT}}
    - {when: front, do: {speed: 0}}
"""


def test_an_output_that_counts_itself_need_not_be_counted_out() -> None:
    head = HEAD.replace("speed: float", "speed: uint16")
    one = chart(COUNTING.replace("COUNT", "speed: speed + 1"), head)
    assert equivalent(one, replace(one)).cases < 10
    told = equivalent(one, chart(COUNTING.replace("COUNT", "speed: 'min(speed + 1, 300)'"), head))
    assert len(told.counterexample) == 301


def test_one_chart_sets_again_what_the_other_keeps() -> None:
    one = chart(COUNTING.replace("COUNT", "go: 1"))
    other = chart(COUNTING.replace("COUNT", "go: 1").replace("{speed: 0}", "{speed: 0, go: go or false}"))
    again = chart(COUNTING.replace("COUNT", "go: 1").replace("{speed: 0}", "{speed: 0, go: 1}"))
    assert equivalent(one, other)
    assert equivalent(one, again).equal is False


def test_values_that_change_places_are_compared() -> None:
    head = HEAD.replace("speed: float", "speed: float, x: float, y: float")
    body = "initial: a\nstates:\n  a: [{when: front, do: {x: d, y: e}}, {when: left, do: DO}]\n"
    one = chart(body.replace("DO", "{x: y, y: x}"), head)
    other = chart(body.replace("DO", "[{speed: 0}, {x: y, y: x}]"), head)
    after = chart(body.replace("DO", "[{x: y}, {y: x}]"), head)
    assert equivalent(one, other)
    assert equivalent(one, after).equal is False


def test_timers_are_compared_to_the_tick() -> None:
    body = "initial: a\nstates:\n  a: [{when: after(5 s), go: b, do: {go: 1}}]\n  b: []\n"
    assert equivalent(chart(body), chart(body.replace("after(5 s)", "not before(4950 ms)")))
    told = equivalent(chart(body), chart(body.replace("5 s", "5.05 s")))
    assert len(told.counterexample) == 51


def test_a_number_computed_from_inputs_in_two_ways_is_proved_the_same() -> None:
    one = chart("initial: a\nstates:\n  a: [{when: front, do: {speed: d + e}}]\n")
    other = chart("initial: b\nstates:\n  b: [{when: front, do: {speed: e + d}}]\n")
    assert equivalent(one, other)


def test_numbers_that_differ_at_one_place_only_are_told_apart() -> None:
    one = chart("initial: a\nstates:\n  a: [{when: front, do: {speed: d}}]\n")
    other = chart("initial: a\nstates:\n  a: [{when: front, do: {speed: 'd if d != 1.25 else e'}}]\n")
    told = equivalent(one, other)
    assert told.equal is False
    assert told.counterexample[-1]["d"] == 1.25


def test_two_numbers_compared_in_two_ways_are_told_apart_where_they_are_just_as_far_apart() -> None:
    one = chart("initial: a\nstates:\n  a: [{when: d > e + 0.25, do: {go: 1}}, {when: else, do: {go: 0}}]\n")
    other = chart(
        "initial: a\nstates:\n  a: [{when: d >= e + 0.25, do: {go: 1}}, {when: else, do: {go: 0}}]\n"
    )
    assert equivalent(one, replace(one))
    told = equivalent(one, other)
    assert told.equal is False
    (row,) = told.counterexample
    assert row["d"] == float(row["e"]) + 0.25


def test_charts_with_other_events_are_not_compared() -> None:
    body = "initial: a\nstates:\n  a: []\n"
    with pytest.raises(InputError, match="different events"):
        equivalent(chart(body), chart("events: [start]\n" + body))


def test_a_chart_read_twice_is_known_to_be_the_same_at_once() -> None:
    path = CHARTS / "balance_loop" / "balance_loop.chart.yaml"
    found = equivalent(read_chart(path), read_chart(path))
    assert found
    assert found.cases == 0


def test_a_factor_that_is_written_as_a_fraction_is_another_factor() -> None:
    text = """\
chart: doubled
period_s: 0.1
inputs: {n: int}
outputs: {twice: float}
initial: a
states:
  a: {during: {twice: n * 2}}
"""
    assert equivalent(parse_chart(text), parse_chart(text.replace("n * 2", "n * 2.0"))).equal is False
    within = text.replace("n: int", "n: int, d: float").replace("n * 2", "1.5 if n * 2 > d else d")
    assert equivalent(parse_chart(within), parse_chart(within.replace("n * 2", "n * 2.0"))).equal is False
    named = within.replace("n * 2", "n * k").replace("initial:", "constants: {k: 2}\ninitial:")
    assert equivalent(parse_chart(named), parse_chart(named.replace("k: 2", "k: 2.0"))).equal is False


@quick
@given(charts(max_states=5))
def test_every_chart_behaves_like_itself(drawn: Chart) -> None:
    other = replace(drawn, constants={**drawn.constants, "unread": 7})  # at the same chart nobody would look
    told = equivalent(drawn, other)
    assert told
    assert told.cases > 0


def test_a_chart_is_known_to_behave_like_itself_without_a_look() -> None:
    loop = read_chart(CHARTS / "balance_loop" / "balance_loop.chart.yaml")
    told = equivalent(loop, loop, every_state=True)
    assert (told.equal, told.cases) == (True, 0)


@quick
@given(st.data())
def test_what_is_said_of_two_charts_is_what_running_them_says(data: st.DataObject) -> None:
    one, other = (data.draw(charts(max_states=4)) for _ in range(2))
    told = equivalent(one, other)
    if told.equal:
        inputs = tuple(data.draw(rows(one, 8)))
        assert outputs_of(one, inputs) == outputs_of(other, inputs)
    else:
        assert told.equal is False
        ours, theirs = (outputs_of(machine, told.counterexample) for machine in (one, other))
        assert ours[:-1] == theirs[:-1]
        assert ours[-1] != theirs[-1]
        if len(told.counterexample) == 2:
            assert no_row_tells_apart(one, other)


def no_row_tells_apart(one: Chart, other: Chart) -> bool:
    """Whether no single tick tells two charts apart."""
    columns = [(False, True), (False, True), range(4), ("slow", "fast"), *[(False, True)] * len(one.events)]
    names = [*one.inputs, *one.events]
    return all(
        outputs_of(one, (row,)) == outputs_of(other, (row,))
        for row in (dict(zip(names, values, strict=True)) for values in product(*columns))
    )


SETS = """\
chart: sets
period_s: 0.1
inputs: {{a: float}}
outputs: {{y: {kind}}}
locals: {{x: float}}
initial_values: {{x: 1e300}}
initial: s
states:
  s: [{{when: true, do: {{y: '{value}'}}, go: s}}]
"""


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("float", "a*a - a*a", "0 - (a*a - a*a)"),
        ("float", "a*a", "min(a*a, 1.7976931348623157e308)"),
        ("{float: [2, 9]}", "a*1e300*0", "2"),
        ("float32", "a*1e300 - a*1e300", "0"),
        ("float", "x*x - x*x", "0"),
        ("float", "x*x", "1.7976931348623157e308"),
    ],
)
def test_what_is_not_a_number_is_held_as_zero_by_both(kind: str, one: str, other: str) -> None:
    result = equivalent(*(parse_chart(SETS.format(kind=kind, value=value)) for value in (one, other)))
    assert result.equal is True


def test_only_what_is_not_a_number_tells_two_charts_apart() -> None:
    result = equivalent(*(parse_chart(SETS.format(kind="float", value=v)) for v in ("a*1e300*0 + 5", "5")))
    assert result.equal is False
    assert result.outputs == ({"y": 0.0}, {"y": 5.0})
