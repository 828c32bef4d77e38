"""The exploration finds all that a chart can do, and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posewright.charts.expression import parse_expression
from posewright.charts.formats import parse_chart
from posewright.charts.machine import Interpreter, Snapshot
from posewright.charts.model import Chart
from posewright.charts.reachability import (
    Exploration,
    ExplorationLimits,
    ReachabilityGraph,
    WorkBudget,
    explore,
)
from posewright.charts.types import BoolType, EnumType, IntType, Value
from posewright.errors import PosewrightError

from .random_charts import charts, rows

quick = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


def every_row(chart: Chart) -> list[dict[str, Value]]:
    """All inputs there are, with every combination of events."""
    columns: dict[str, tuple[Any, ...]] = dict.fromkeys(chart.events, (False, True))
    for name, kind in chart.inputs.items():
        if isinstance(kind, BoolType):
            columns[name] = (False, True)
        elif isinstance(kind, EnumType):
            columns[name] = kind.values
        elif isinstance(kind, IntType):
            columns[name] = tuple(range(kind.low, kind.high + 1))
    return [dict(zip(columns, row, strict=True)) for row in product(*columns.values())]


def outcomes_by_trying(seen: Exploration, state: Snapshot) -> set[Any]:
    """What follows a state for each row of inputs, one after the other."""
    found: set[Any] = set()
    for row in every_row(seen.chart):
        try:
            outcome = seen.interpreter.outcome(state, row)
            found.add((seen.find_representative(outcome.after), outcome.taken_transitions, outcome.raised))
        except PosewrightError as error:
            found.add(str(error))
    return found


def outcomes_explored(seen: Exploration, state: Snapshot) -> set[Any]:
    return {
        str(case.error)
        if case.next_state is None
        else (seen.find_representative(case.next_state), case.taken_transitions, case.raised)
        for case in seen.steps_from(state)
    }


@quick
@given(charts(max_states=5))
def test_every_reached_state_goes_where_trying_all_inputs_says(chart: Chart) -> None:
    seen = explore(chart)
    assert seen.complete
    for state in seen.reached_states[:6]:
        assert outcomes_explored(seen, state) == outcomes_by_trying(seen, state)
    followed = {
        seen.find_representative(case.next_state)
        for state in seen.reached_states
        for case in seen.steps_from(state)
        if case.next_state
    }
    assert followed <= set(seen.reached_states)
    assert set(seen.reached_states) <= followed | {seen.reached_states[0]}


@quick
@given(charts(max_states=5, completion=True))
def test_every_trace_and_every_case_replays(chart: Chart) -> None:
    seen = explore(chart)
    for state in seen.reached_states[-5:]:
        now = seen.interpreter.initial()
        for row in seen.trace_to(state):
            now = seen.interpreter.step(now, row)
        assert seen.find_representative(now) == state
        for case in seen.steps_from(state):
            if case.next_state is not None:
                outcome = seen.interpreter.outcome(state, case.inputs)
                assert (outcome.after, outcome.taken_transitions, outcome.raised) == (
                    case.next_state,
                    case.taken_transitions,
                    case.raised,
                )


@quick
@given(charts(max_states=5, completion=True))
def test_a_tick_that_goes_round_in_a_circle_does_so_in_the_run(chart: Chart) -> None:
    seen = explore(chart)
    for state in seen.distinct_states[-5:]:
        for case in seen.steps_from(state):
            if case.error is not None:
                with pytest.raises(type(case.error), match="does not end"):
                    seen.interpreter.step(state, case.inputs)


def test_circles_with_ever_more_events_in_the_queue_are_told_from_long_ticks() -> None:
    text = """\
chart: rings
period_s: 0.1
steps: completion
inputs: {a: bool}
outputs: {n: {int: [0, 400]}}
local_events: [ping, pong]
initial: one
states:
  one:
    during: {raise: ping}
    transitions:
      - {on: ping, when: a, do: [{raise: ping}, {raise: ping}], go: one}
      - {on: ping, when: n < 300 and not a, do: [{raise: ping}, {n: n + 1}], go: one}
"""
    seen = explore(parse_chart(text), tracked=["n"])
    endless = {
        bool(case.inputs["a"]): case.error
        for state in seen.distinct_states
        for case in seen.steps_from(state)
    }
    assert "cycles through one" in str(endless[True])
    assert endless[False] is None
    assert max(state.outputs["n"] for state in seen.reached_states) == 300


HEAD = """\
chart: small
period_s: 0.1
inputs: {near: bool, n: {type}, d: {float: [0, 2]}, e: {float: [0, 2]}}
events: [start, stop]
outputs: {far: bool, speed: float, kept: float, level: {int: [0, 9]}}
initial: a
states:
"""


def chart(states: str, kind: str = "int16") -> Chart:
    return parse_chart(HEAD.replace("{type}", kind) + states)


def firsts(seen: Exploration) -> dict[str, dict[str, Value]]:
    """By the state gone to: the inputs of the first case in which that is."""
    cases = (
        case
        for state in seen.distinct_states
        for case in seen.steps_from(state)
        if case.taken_transitions and case.next_state
    )
    return {case.next_state.state: dict(case.inputs) for case in cases if case.next_state}


def test_a_single_value_of_16_bits_is_found() -> None:
    seen = explore(chart("  a: [{when: 3 * n + 7 == 24001, go: b}]\n  b: []\n"))
    assert seen.complete
    assert firsts(seen)["b"]["n"] == 7998


def test_a_single_fraction_of_64_bits_is_found_and_the_next_one_is_not_it() -> None:
    seen = explore(chart("  a: [{when: d > 0.3 and d < 0.30000000000000005, go: b}]\n  b: []\n"))
    assert len(seen.taken_transitions) == 0
    seen = explore(chart("  a: [{when: d >= 0.3 and d < 0.30000000000000005, go: b}]\n  b: []\n"))
    assert firsts(seen)["b"]["d"] == 0.3


def test_bent_lines_remainders_and_squares_of_whole_numbers_are_exact() -> None:
    for text, value in (
        ("abs(n - 100) + abs(n + 100) < 201 and n > 99", 100),
        ("n % 1000 == 999 and n > 31500", 31999),
        ("n * n == 1522756 and n < 0", -1234),
        ("max(n, 30000) - min(n, 31000) == 0 and n >= 30500", 30500),
    ):
        seen = explore(chart(f"  a: [{{when: '{text}', go: b}}]\n  b: []\n"))
        assert seen.complete
        assert firsts(seen)["b"]["n"] == value


def test_saturation_at_32_bits_is_that_of_the_run() -> None:
    seen = explore(chart("  a: [{when: n * 3 - n * 2 == 0 and n > 0, go: b}]\n  b: []\n", "int32"))
    assert seen.complete
    assert firsts(seen)["b"]["n"] == 2**30
    run = Interpreter(seen.chart)
    assert run.step(run.initial(), firsts(seen)["b"]).state == "b"


def test_a_product_that_is_cut_off_at_32_bits_is_not_taken_for_one_that_is_not() -> None:
    text = (
        "  a: [{when: m * 2 > d, go: b}, {when: not (m * 2 > d) and m * 2.0 > d, go: c}]\n  b: []\n  c: []\n"
    )
    big = parse_chart((HEAD + text).replace("n: {type}", "m: int").replace("d: {float: [0, 2]}", "d: float"))
    assert "c" in firsts(explore(big))


def test_two_numbers_are_decided_by_proof() -> None:
    states = """\
  a:
    - {when: d > e + 0.5 and e > d - 0.25, go: b}
    - {when: d > e + 0.5 and 2 * e > 2 * d - 1.125, go: c}
    - {when: n > 3 and d > e and near, go: d_state}
  b: []
  c: []
  d_state: []
""".replace("d_state", "far_off")
    seen = explore(chart(states))
    assert seen.complete
    assert set(firsts(seen)) == {"c", "far_off"}


def test_a_set_in_thousands_of_pieces_is_no_burden_to_the_solver() -> None:
    text = "  a: [{when: n * m * n > k and m % 3 == 1, do: {k: n}, go: b}]\n  b: [{when: n > k, go: a}]\n"
    head = HEAD.replace("n: {type}", "n: int16, m: int16").replace("kept: float", "k: int16")
    seen = explore(parse_chart(head + text))
    assert {state.state for state in seen.reached_states} == {"a", "b"}
    for state in seen.distinct_states:
        for case in seen.steps_from(state):
            if case.next_state is not None:
                assert (
                    seen.interpreter.outcome(state, case.inputs).taken_transitions == case.taken_transitions
                )


def test_without_a_solver_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bitwuzla", None)
    seen = explore(chart("  a: [{when: d > e + 0.5 and e > d - 0.25, go: b}]\n  b: []\n"))
    assert not seen.complete
    assert "posewright[charts]" in seen.incomplete_reasons[0]


def test_divisions_by_zero_are_cases() -> None:
    seen = explore(chart("  a: [{when: 10 / (n - 5) > 4, go: b}]\n  b: []\n"))
    (failed,) = [case for state in seen.distinct_states for case in seen.steps_from(state) if case.error][:1]
    assert failed.inputs["n"] == 5
    assert failed.next_state is None
    assert "division by zero" in str(failed.error)
    assert explore(chart("  a: [{when: 10 / (d - 1) > 4, go: b}]\n  b: []\n")).complete


def test_events_come_alone_and_together() -> None:
    seen = explore(chart("  a: [{on: start, go: b}]\n  b: [{on: stop, go: c}]\n  c: []\n"))
    found = {
        (case.inputs["start"], case.inputs["stop"]): case.next_state.state
        for case in seen.steps_from(seen.reached_states[0])
        if case.next_state
    }
    assert found == {(False, False): "a", (True, False): "b", (True, True): "c"}


def test_what_nothing_reads_makes_no_states() -> None:
    states = "  a: [{when: near, go: a, do: {speed: d * e, level: level + 1}}]\n"
    seen = explore(chart(states))
    assert seen.complete
    assert len(seen.reached_states) == 2
    assert seen.merged_variables(["level", "far", "near"]) == {"level", "far"}
    kept = explore(chart(states), tracked=["level"])
    assert len(kept.reached_states) == 11
    assert kept.merged_variables(["level", "far"]) == {"far"}


def test_a_number_compared_with_constants_only_is_kept_by_cells() -> None:
    states = "  a: [{when: near, go: a, do: {kept: d}}, {when: kept > 0.5 and kept < 1.5, go: b}]\n  b: []\n"
    seen = explore(chart(states))
    assert seen.complete
    assert len(seen.reached_states) == 5
    (last,) = [state for state in seen.reached_states if state.state == "b"]
    now = seen.interpreter.initial()
    for row in seen.trace_to(last):
        now = seen.interpreter.step(now, row)
    assert now.state == "b"


def test_what_is_compared_with_an_input_and_kept_is_tried_at_some_values_only() -> None:
    seen = explore(chart("  a: [{when: near, do: {kept: d}}, {when: kept < e - 0.5, go: b}]\n  b: []\n"))
    assert not seen.complete
    assert any("tried at" in reason for reason in seen.incomplete_reasons)
    assert "b" in firsts(seen)


def test_time_that_makes_no_difference_makes_no_new_cases() -> None:
    seen = explore(chart("  a: [{when: after(60 s), go: b}]\n  b: [{when: near, go: a}]\n"))
    assert len(seen.reached_states) == 602
    assert len(seen.distinct_states) == 4
    assert len(seen.trace_to(seen.reached_states[-1])) == 601


def test_limits_are_said_and_the_first_states_are_whole() -> None:
    seen = explore(
        chart("  a: [{when: after(60 s), go: b}]\n  b: []\n"), limits=ExplorationLimits(max_states=20)
    )
    assert not seen.complete
    assert "more than 20 states" in seen.incomplete_reasons[0]


def test_an_exploration_ends_when_the_work_or_the_time_is_over() -> None:
    text = "  a: [{when: n * d > e, go: b}, {when: after(60 s), go: b}]\n  b: [{when: after(60 s), go: a}]\n"
    late = iter([False] * 10)
    for limits in (ExplorationLimits(max_work=500), ExplorationLimits(is_time_over=lambda: next(late, True))):
        seen = explore(chart(text), limits=limits)
        assert not seen.complete
        assert "time limit" in seen.incomplete_reasons[-1] or "more work" in seen.incomplete_reasons[-1]
        assert 1 < len(seen.graph.abstract_states) < len(seen.graph) + 1 < 100
    assert explore(chart(text)).complete


def test_several_explorations_share_their_work() -> None:
    text = "  a: [{when: after(60 s), go: b}]\n  b: []\n"
    budget = WorkBudget(ExplorationLimits(max_work=8_000))
    assert [explore(chart(text), budget=budget).complete for _ in range(3)] == [True, True, False]


def test_watched_conditions_are_answered_after_the_tick() -> None:
    machine = chart("  a: [{on: start, go: b}]\n  b: []\n")
    scope = machine.scope
    asked = parse_expression("in(b) and d > 1.5", scope, BoolType())
    seen = explore(machine, watched_conditions=[asked])
    cases = [case for case in seen.steps_from(seen.reached_states[0]) if case.condition_values == (True,)]
    assert cases
    assert all(float(case.inputs["d"]) > 1.5 and case.inputs["start"] for case in cases)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_input_goes_where_no_case_goes(data: st.DataObject) -> None:
    machine = data.draw(charts(max_states=5, floats=True))
    seen = explore(machine)
    assert seen.complete
    state = seen.interpreter.initial()
    for row in data.draw(rows(machine, 10)):
        outcome = seen.interpreter.outcome(state, row)
        assert (
            seen.find_representative(outcome.after),
            outcome.taken_transitions,
            outcome.raised,
        ) in outcomes_explored(seen, state)
        state = outcome.after


TRAPS = """\
  a: [{when: near, go: b}, {when: not near and n == 7, go: e}]
  b: [{when: near, go: c}]
  c: [{when: not near, go: d}]
  d: [{when: near, go: c}]
  e: []
"""


def reachable_from(graph: ReachabilityGraph, start: int) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        new = set(graph.successor_nodes[waiting.pop()]) - found
        found |= new
        waiting += new
    return found


def test_what_can_never_be_left_is_found_and_how_to_come_there() -> None:
    seen = explore(chart(TRAPS, "{int: [0, 9]}"))
    graph = seen.graph

    def names(numbers: Iterable[int]) -> set[str]:
        return {graph.abstract_states[number].snapshot.state for number in numbers}

    assert [names(trap) for trap in sorted(graph.find_traps())] == [{"e"}, {"c", "d"}]
    assert sorted(map(len, graph.find_components())) == [1] * (len(graph) - 2) + [2]
    inside = [number for number in range(len(graph)) if names([number]) <= {"b", "c"}]
    assert not graph.find_inescapable_nodes(inside)
    (b,) = (number for number in inside if names([number]) == {"b"})
    assert names(reachable_from(graph, b)) == {"b", "c", "d"}
    found = graph.find_nearest(lambda number: names([number]) == {"d"})
    assert found is not None
    assert [bool(row["near"]) for row in found[1]][-3:] == [True, True, False]
    assert graph.trace(found[0]) == found[1]
    assert graph.find_shortest_run(lambda edge: names([edge.source]) == {"d"}) is not None
    never = graph.find_shortest_run(
        lambda edge: names([edge.source]) == {"d"}, may_pass=lambda edge: not edge.step.inputs["near"]
    )
    assert never is None


def test_nothing_is_said_never_to_be_left_where_not_every_tick_is_known() -> None:
    text = "  a: [{when: after(60 s), go: b}]\n  b: [{when: after(60 s), go: a}]\n"
    graph = explore(chart(text), limits=ExplorationLimits(max_states=20)).graph
    assert graph.find_traps() == []
    assert graph.find_inescapable_nodes(range(len(graph))) == set()


@quick
@given(charts(max_states=4))
def test_components_are_the_nodes_that_lead_to_each_other(chart: Chart) -> None:
    graph = explore(chart).graph
    components = graph.find_components()
    assert sorted(number for one in components for number in one) == list(range(len(graph)))
    reached = {number: reachable_from(graph, number) for number in range(min(len(graph), 40))}
    together = {number: set(one) for one in components for number in one}
    for number, numbers in reached.items():
        assert {one for one in numbers if number in reachable_from(graph, one)} == together[number]
        assert (numbers == together[number]) == (tuple(sorted(numbers)) in graph.find_traps())
