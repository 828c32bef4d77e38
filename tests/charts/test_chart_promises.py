"""Promises are proved over every run, broken by the shortest one, and watched in a run that goes on."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posewright.charts import check_chart
from posewright.charts.checks import CheckStatus, Rule, check_promises, prove_promises
from posewright.charts.formats import parse_chart
from posewright.charts.machine import Interpreter, Monitor
from posewright.charts.model import Chart, Promise
from posewright.charts.reachability import ExplorationLimits, explore

from .random_charts import charts, rows

quick = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))

CHART = """\
chart: kicker
period_s: 0.1
inputs: {{near: bool, fallen: bool, tilt: {{float: [-90, 90]}}}}
events: [start]
local_events: [lost]
outputs: {{motion: {{enum: [none, kick, rise]}}, count: {{int: [0, 9]}}}}
promises:
  - {promise}
initial: standing
states:
  standing:
    - {{when: abs(tilt) > 60, go: rising}}
    - {{when: near, go: kicking}}
    - {{on: start, do: {{count: count + 1}}}}
  kicking:
    transitions: [{{when: after(0.5 s), go: standing, do: [{{raise: lost}}]}}]
    entry: {{motion: kick}}
    exit: {{motion: none}}
  rising:
    transitions: [{{when: abs(tilt) < 45 and after(1 s), go: standing}}]
    entry: {{motion: rise}}
    exit: {{motion: none}}
"""


def chart(promise: str) -> Chart:
    return parse_chart(CHART.format(promise=promise))


def verdict(promise: str) -> CheckStatus:
    (result,) = prove_promises(chart(promise))
    return result.verdict


def test_what_never_happens_is_proved() -> None:
    assert verdict("{never: in(standing) and motion == kick}") is CheckStatus.PROVED
    assert verdict("{always: motion == kick or not in(kicking)}") is CheckStatus.PROVED
    assert verdict("{always: count <= 9}") is CheckStatus.PROVED
    assert verdict("{never: lost and not in(standing)}") is CheckStatus.PROVED


def test_a_promise_is_broken_by_the_shortest_run() -> None:
    (result,) = prove_promises(chart("{never: motion == kick and tilt > 60}"))
    assert result.verdict is CheckStatus.BROKEN
    assert len(result.trace) == 2
    assert result.trace[0]["near"] is True
    assert float(result.trace[1]["tilt"]) > 60
    assert "after tick 1, in kicking" in result.message
    assert len(prove_promises(chart("{always: count < 3}"))[0].trace) == 3


NESTED = """\
chart: nested
kind: statechart
period_s: 0.1
inputs: {fallen: bool, near: bool}
outputs: {up: bool}
initial_values: {up: 0}
initial: racing
states:
  racing:
    initial: a
    states:
      a: [{when: near, go: b}]
      b: [{when: near, go: a}]
    transitions: [{when: fallen, go: rising}]
  rising:
    entry: {up: 1}
    exit: {up: 0}
    transitions: [{when: not fallen, go: racing}]
promises:
  - {when: fallen, leads_to: in(rising), within: 1 s}
"""


def test_a_broken_promise_says_which_inner_transition_went_first() -> None:
    (finding,) = (found for found in check_chart(parse_chart(NESTED)) if found.rule is Rule.PROMISE)
    assert "`near` (line 12) of an inner state goes before `fallen` (line 14)" in finding.message


def test_a_raised_event_can_be_asked_for() -> None:
    (result,) = prove_promises(chart("{never: lost}"))
    assert result.verdict is CheckStatus.BROKEN
    assert len(result.trace) == 6


def test_an_answer_in_time_is_proved_and_one_tick_less_is_broken() -> None:
    assert verdict("{when: in(kicking), leads_to: not in(kicking), within: 0.5 s}") is CheckStatus.PROVED
    (result,) = prove_promises(chart("{when: in(kicking), leads_to: not in(kicking), within: 0.4 s}"))
    assert result.verdict is CheckStatus.BROKEN
    assert len(result.trace) == 5
    assert verdict("{when: in(rising), leads_to: in(standing), within: 100 s}") is CheckStatus.BROKEN


def test_what_was_not_explored_to_the_end_is_not_called_proved() -> None:
    (result,) = prove_promises(chart("{never: count == 9}"), limits=ExplorationLimits(max_states=5))
    assert result.verdict is CheckStatus.BOUNDED
    assert result.depth >= 1
    assert "not everything was explored" in result.message


def test_one_exploration_that_watches_nothing_still_checks_the_promises() -> None:
    (result,) = check_promises(explore(chart("{never: motion == kick and tilt > 60}")))
    assert result.verdict is CheckStatus.BROKEN


def test_a_watch_tells_once_that_a_promise_is_broken() -> None:
    machine = chart("{when: in(kicking), leads_to: not in(kicking), within: 0.2 s}")
    run, watch = Interpreter(machine), Monitor(machine)
    state, told = run.initial(), []
    for _ in range(5):
        inputs = {"near": True, "fallen": False, "tilt": 0.0}
        state = run.step(state, inputs)
        told.append([one.tick for one in watch.check_tick(inputs, state)])
    assert told == [[], [], [3], [], []]


@quick
@given(st.data())
def test_a_broken_promise_is_broken_by_its_trace_and_by_nothing_shorter(data: st.DataObject) -> None:
    machine: Chart = data.draw(charts(max_states=4, promises=True))
    for result in prove_promises(machine):
        assert result.verdict is not CheckStatus.BOUNDED
        if result.verdict is CheckStatus.BROKEN:
            told = watched(machine, result.trace)
            assert told[-1].count(result.promise) == 1
            assert all(result.promise not in tick for tick in told[:-1])
        if result.verdict is CheckStatus.PROVED:
            assert all(result.promise not in tick for tick in watched(machine, data.draw(rows(machine, 12))))


@quick
@given(st.data())
def test_no_run_of_two_ticks_breaks_what_is_said_to_be_kept_so_far(data: st.DataObject) -> None:
    machine: Chart = data.draw(charts(max_states=3, promises=True, events=False))
    columns: list[tuple[Any, ...]] = [(False, True), (False, True), (0, 1, 2, 3), ("slow", "fast")]
    every = [dict(zip(machine.inputs, values, strict=True)) for values in product(*columns)]
    first = {result.promise.name: result for result in prove_promises(machine)}
    found = {promise.name for row in every for promise in watched(machine, [row])[0]}
    assert found == {name for name, result in first.items() if len(result.trace) == 1}


def watched(machine: Chart, inputs: Any) -> list[list[Promise]]:
    """What a watch tells of a run, tick by tick."""
    run, watch = Interpreter(machine), Monitor(machine)
    state, told = run.initial(), []
    for row in inputs:
        state = run.step(state, row)
        told.append([one.promise for one in watch.check_tick(row, state)])
    return told


LOST = """\
chart: lost
period_s: 0.1
inputs: {{a: {kind}}}
outputs: {{b: bool}}
locals: {{x: float}}
initial_values: {{x: 5}}
promises: [{{never: b or x < 1}}]
initial: s
states:
  s: [{{when: '{guard}', do: {{x: '{value}', b: '{b}'}}, go: s}}]
"""


@pytest.mark.parametrize("value", ["a*a - a*a + 5", "a*1e300*0 + 5", "a*1e300 - a*1e300 + 5"])
def test_what_is_not_a_number_and_becomes_zero_breaks_a_promise(value: str) -> None:
    drawn = parse_chart(LOST.format(kind="float", guard="true", value=value, b="0"))
    (result,) = prove_promises(drawn)
    assert result.verdict is CheckStatus.BROKEN
    interpreter = Interpreter(drawn)
    state = interpreter.initial()
    for row in result.trace:
        state = interpreter.step(state, row)
    assert state.locals["x"] == 0.0


@pytest.mark.parametrize("guard", ["a*1e300*0 != 0", "not (a*1e300*0 < 1)", "not (a*a - a*a < 1)"])
def test_a_guard_that_only_what_is_not_a_number_meets_is_met(guard: str) -> None:
    drawn = parse_chart(LOST.format(kind="float", guard=guard, value="5", b="1"))
    (result,) = prove_promises(drawn)
    assert result.verdict is CheckStatus.BROKEN


def test_where_numbers_stay_numbers_the_promise_is_proved() -> None:
    drawn = parse_chart(LOST.format(kind="{float: [-5, 5]}", guard="true", value="a*a - a*a + 5", b="0"))
    (result,) = prove_promises(drawn)
    assert result.verdict is CheckStatus.PROVED
