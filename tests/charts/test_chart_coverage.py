"""Coverage: what runs have seen of a chart, what is missing, and what nobody can see."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import Chart, parse_chart
from posewright.charts.coverage import (
    Coverage,
    CoverageRecorder,
    Measure,
    compute_feasible_coverage,
    cover_run,
    coverage_marks,
    exclude_infeasible,
)
from posewright.charts.drawing import CoverageMark, draw_svg
from posewright.charts.expression import Scope, parse_expression
from posewright.charts.machine import Interpreter
from posewright.charts.reachability import explore
from posewright.charts.scenarios import Row, parse_scenario, rows_of
from posewright.charts.types import BoolType
from posewright.errors import ExpressionError, InputError

HEAD = """\
chart: c
period_s: 0.1
inputs: {a: bool, b: bool, c: bool, n: {int: [0, 9]}}
events: [go]
outputs: {x: bool, y: {int: [0, 9]}}
"""

JUNCTIONS = (
    HEAD
    + """\
junctions:
  ask:
    - {when: a, go: two}
    - {when: else, go: three}
initial: one
states:
  one:
    - {when: n > 4, then: [{when: b and c, go: two}, {when: else, junction: ask}]}
  two: [{when: n == 3, junction: ask}, {on: go, when: n < 2, go: one}]
  three: {during: [{if: a or b, do: {x: 1}, else: {y: 1 if c else 2}}]}
"""
)


def rows(chart: Chart, *given_rows: Mapping[str, object]) -> list[Row]:
    zero = {name: kind.default for name, kind in chart.inputs.items()}
    return [Row({**zero, **row}) for row in given_rows]  # type: ignore[dict-item]


def covered(coverage: Coverage, measure: Measure) -> tuple[int, int]:
    row = coverage.row(measure)
    return row.covered, row.total


def guarded(guard: str) -> Chart:
    text = HEAD + f'initial: one\nstates:\n  one: [{{when: "{guard}", go: two}}]\n'
    return parse_chart(text + "  two: [{when: not (" + guard + "), go: one}]\n")


def test_nothing_is_covered_before_the_first_tick_and_every_kind_is_counted() -> None:
    empty = cover_run(parse_chart(JUNCTIONS), [])
    assert {row.measure: row.total for row in empty.rows} == {
        Measure.STATES: 3,
        Measure.TRANSITIONS: 3 + 2 + 1,
        Measure.SEGMENTS: 4,
        Measure.DECISIONS: 2 * 7,
        Measure.CONDITIONS: 2 * 9,
        Measure.MCDC: 9,
    }
    assert all(row.covered == 0 and len(row.missing) == row.total for row in empty.rows)


def test_a_run_covers_the_states_and_the_ways_that_it_takes() -> None:
    chart = parse_chart(JUNCTIONS)
    run = cover_run(chart, rows(chart, {"n": 5, "b": True, "c": True}, {"go": True}, {"n": 5, "a": True}))
    assert covered(run, Measure.STATES) == (2, 3)
    assert covered(run, Measure.TRANSITIONS) == (3, 6)
    assert covered(run, Measure.SEGMENTS) == (3, 4)
    assert [goal.name for goal in run.row(Measure.STATES).missing] == ["three"]
    missing = {(goal.name, goal.line) for goal in run.row(Measure.TRANSITIONS).missing}
    assert ("one -> three on [n > 4 / else / else]", 9) in missing


def test_a_choice_in_a_value_and_a_branch_are_decisions() -> None:
    chart = parse_chart(JUNCTIONS)
    run = cover_run(chart, rows(chart, {"n": 5}, {"c": True}, {"c": False}, {"b": True}))
    seen = {goal.name for goal in cover_run(chart, []).obligations.all_obligations if goal.is_met(run.facts)}
    assert {"c is true", "c is false", "a or b is true", "a or b is false", "b is true in a or b"} <= seen
    assert "a is true in a or b" not in seen


def test_coverage_of_several_runs_adds_up() -> None:
    chart = parse_chart(JUNCTIONS)
    every = [{"n": 5, "b": True, "c": True}], [{"n": 5, "a": True}], [{"n": 5}, {"a": True}]
    one, other, third = (cover_run(chart, rows(chart, *run)) for run in every)
    total = one + other + third
    assert covered(total, Measure.STATES) == (3, 3)
    assert total.facts == one.facts | other.facts | third.facts
    assert (one + one).facts == one.facts
    assert (other + one).facts == (one + other).facts


def test_coverage_of_two_charts_does_not_add_up() -> None:
    with pytest.raises(InputError, match="coverage of two charts"):
        cover_run(guarded("a"), []) + cover_run(guarded("b"), [])


def test_the_same_chart_read_twice_has_the_same_goals() -> None:
    one, other = cover_run(parse_chart(JUNCTIONS), []), cover_run(parse_chart(JUNCTIONS), [])
    assert one.obligations.all_obligations == other.obligations.all_obligations


@pytest.mark.parametrize(
    ("guard", "runs", "decides"),
    [
        ("a and b", ["11", "01", "10"], {"a", "b"}),
        ("a and b", ["11", "00"], {"a"}),  # b was not even asked where a is false
        ("a and b", ["01", "10", "00"], set()),
        ("a or b", ["00", "10", "01"], {"a", "b"}),
        ("a or b", ["11", "00"], {"a"}),
        ("not (a or b)", ["00", "01"], {"b"}),
        ("(a or b) and c", ["101", "001", "100"], {"a", "c"}),
        ("b if a else c", ["11", "10"], {"b"}),
        ("b if a else c", ["110", "010"], {"a"}),
        ("b if a else c", ["110", "000"], set()),  # b is false: with a true it would be the same
        ("b if a else b", ["11", "00"], set()),  # whatever a is, b comes out
        ("b if a else b", ["11", "10", "01", "00"], {"b"}),
        ("not (b if a else c)", ["110", "010"], {"a"}),
        ("b if a else not b if c else b", ["011", "010"], {"c"}),
    ],
)
def test_mcdc_asks_for_a_pair_in_which_the_condition_decides(
    guard: str, runs: list[str], decides: set[str]
) -> None:
    text = HEAD + f'initial: one\nstates:\n  one: [{{when: "{guard}", do: {{x: 1}}}}]\n'
    chart = parse_chart(text)
    given_rows = [{name: bit == "1" for name, bit in zip("abc", bits, strict=False)} for bits in runs]
    run = cover_run(chart, rows(chart, *given_rows))
    met = {
        goal.name.split()[0]
        for goal in run.obligations.all_obligations
        if goal.measure is Measure.MCDC and goal.is_met(run.facts)
    }
    assert met == decides


GUARDS = st.recursive(
    st.sampled_from(["a", "b", "c"]),
    lambda inner: st.one_of(
        st.builds("not ({})".format, inner),
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
    ),
    max_leaves=5,
)


@given(guard=GUARDS)
@settings(max_examples=20, deadline=None)
def test_all_inputs_together_cover_all_that_can_be_covered(guard: str) -> None:
    chart = parse_chart(HEAD + f'initial: one\nstates:\n  one: [{{when: "{guard}", do: {{x: 1}}}}]\n')
    values = itertools.product([False, True], repeat=3)
    run = cover_run(chart, rows(chart, *(dict(zip("abc", bits, strict=True)) for bits in values)))
    possible = compute_feasible_coverage(explore(chart))
    assert exclude_infeasible(run, possible).missing == ()
    assert possible.coverage.missing == ()
    assert not any(goal.is_met(run.facts) for goal in possible.coverage.infeasible)


@given(guard=GUARDS)
@settings(max_examples=12, deadline=None)
def test_a_condition_that_stands_once_decides_somewhere(guard: str) -> None:
    names = re.findall(r"\b[abc]\b", guard)
    chart = parse_chart(HEAD + f'initial: one\nstates:\n  one: [{{when: "{guard}", do: {{x: 1}}}}]\n')
    excluded = {
        goal
        for goal in compute_feasible_coverage(explore(chart)).coverage.infeasible
        if goal.measure is Measure.MCDC
    }
    if len(set(names)) == len(names):
        assert not excluded


@given(one=GUARDS, other=GUARDS)
@settings(max_examples=20, deadline=None)
def test_what_chooses_decides_only_where_the_two_branches_differ(one: str, other: str) -> None:
    guard = f"({one}) if n > 4 else ({other})"
    chart = parse_chart(HEAD + f'initial: one\nstates:\n  one: [{{when: "{guard}", do: {{x: 1}}}}]\n')
    every = [dict(zip("abc", bits, strict=True)) for bits in itertools.product([False, True], repeat=3)]
    run = cover_run(chart, rows(chart, *({**row, "n": n} for row in every for n in (0, 9))))
    met = {
        goal.name
        for goal in run.obligations.all_obligations
        if goal.measure is Measure.MCDC and goal.is_met(run.facts)
    }
    differing = [row for row in every if truth(one, row) != truth(other, row)]
    when_true = {truth(one, row) for row in differing}
    # n > 4 is seen to decide once it is true with one outcome and false with the other
    assert any(name.startswith("n > 4 decides") for name in met) == bool(when_true)


def truth(guard: str, row: Mapping[str, bool]) -> bool:
    scope = Scope({name: BoolType() for name in "abc"})
    return bool(parse_expression(guard, scope).evaluate(row))


def test_a_branch_that_cannot_be_computed_decides_nothing() -> None:
    text = HEAD + 'initial: one\nstates:\n  one: [{when: "8 / n > 2 if n > 0 else a", do: {x: 1}}]\n'
    chart = parse_chart(text)
    run = cover_run(chart, rows(chart, {"n": 1}, {"n": 9}, {"a": True}, {}))
    met = {
        goal.name.split(" decides")[0] for goal in run.obligations.all_obligations if goal.is_met(run.facts)
    }
    assert {"8 / n > 2", "a"} <= met
    assert not any(
        goal.name.startswith("n > 0 decides") and goal.is_met(run.facts)
        for goal in run.obligations.all_obligations
    )


def test_a_table_that_is_called_is_covered_row_by_row() -> None:
    text = """\
functions:
  steer:
    takes: {p: bool, q: bool}
    gives: {enum: [straight, left, right]}
    rows: [[0, 0, straight], [0, 1, left], [1, X, right]]
initial: one
states:
  one: [{when: "steer(a, b) == left", do: {x: 1}}]
"""
    chart = parse_chart(HEAD + text)
    run = cover_run(chart, rows(chart, {"b": True}, {"a": True}))
    assert covered(run, Measure.DECISIONS) == (5, 6)
    assert [goal.name for goal in run.row(Measure.DECISIONS).missing] == ["not a and not b is true"]


def test_what_is_held_is_a_decision_of_its_own() -> None:
    chart = parse_chart(
        HEAD + 'initial: one\nstates:\n  one: [{when: "held(a and b, 0.2 s)", go: two}]\n  two: []\n'
    )
    run = cover_run(chart, rows(chart, *[{"a": True, "b": True}] * 4))
    names = {goal.name for goal in run.obligations.all_obligations if goal.is_met(run.facts)}
    assert "held(a and b, 0.2 s) is true" in names
    assert "a is true in held(a and b, 0.2 s)" in names
    assert covered(run, Measure.TRANSITIONS) == (1, 1)


def test_what_cannot_be_covered_is_left_out_with_the_reason() -> None:
    text = (
        HEAD.replace("outputs:", "local_events: [lost]\noutputs:")
        + """\
priority: ordered
initial: one
states:
  one:
    - {when: a, go: two}
    - {when: a and b, go: one}
    - {when: n > 4 and n < 3, go: two}
    - {on: lost, go: two}
  two: []
  three: [{when: a, go: one}]
"""
    )
    chart = parse_chart(text)
    possible = compute_feasible_coverage(explore(chart))
    reasons = {way.line: reason for way, reason in possible.infeasible_transitions.items()}
    assert reasons == {
        12: "`a and b` never holds when it is evaluated",
        13: "`n > 4 and n < 3` never holds when it is evaluated",
        14: "lost is never raised",
        16: "three is never active",
    }
    row = exclude_infeasible(cover_run(chart, rows(chart, {}, {"a": True})), possible).row(
        Measure.TRANSITIONS
    )
    assert (row.covered, row.total, row.infeasible, row.covered_fraction) == (1, 1, 4, 1.0)


def test_scenarios_are_covered_together_and_one_that_fails_counts_as_far_as_it_came() -> None:
    chart = parse_chart(HEAD + "initial: one\nstates:\n  one: [{when: 8 % n == 2, go: two}]\n  two: []\n")
    good = parse_scenario("scenario: s\nsteps: [{set: {n: 3}}]\n", chart)
    bad = parse_scenario("scenario: s\nsteps: [{set: {n: 5}}, {set: {n: 0}}, {set: {n: 3}}]\n", chart)
    recorder = CoverageRecorder(Interpreter(chart))
    with pytest.raises(ExpressionError):
        recorder.run(rows_of(bad, chart))
    assert covered(recorder.coverage, Measure.DECISIONS) == (1, 2)
    recorder.run(rows_of(good, chart))
    assert covered(recorder.coverage, Measure.STATES) == (2, 2)
    assert covered(recorder.coverage, Measure.DECISIONS) == (2, 2)


def test_coverage_comes_as_plain_data() -> None:
    chart = guarded("a and b")
    data = cover_run(chart, rows(chart, {"a": True})).data()
    assert data["chart"] == "c"
    assert data["measures"]["states"] == {
        "covered": 1,
        "total": 2,
        "infeasible": 0,
        "missing": [{"name": "two", "line": 9}],
    }
    assert data["infeasible"] == []


def test_marks_tell_what_was_covered_partly_and_not() -> None:
    chart = parse_chart(JUNCTIONS)
    assert set(coverage_marks(cover_run(chart, [])).values()) == {CoverageMark.MISSED}
    run = cover_run(chart, rows(chart, {"n": 5, "b": True, "c": True}, {"go": True}))
    found = coverage_marks(run)
    assert (found["two"], found["three"]) == (CoverageMark.COVERED, CoverageMark.MISSED)
    assert (found["one", 0], found["two", 0], found["two", 1]) == (
        CoverageMark.PARTLY,
        CoverageMark.MISSED,
        CoverageMark.PARTLY,
    )
    assert (found["ask", 0], found["ask", 1]) == (CoverageMark.MISSED, CoverageMark.MISSED)
    whole = compute_feasible_coverage(explore(chart)).coverage
    assert set(coverage_marks(whole).values()) == {CoverageMark.COVERED}


def test_watching_does_not_change_what_a_chart_does() -> None:
    chart = parse_chart(JUNCTIONS)
    recorder, interpreter = CoverageRecorder(Interpreter(chart)), Interpreter(chart)
    state, other = recorder.interpreter.initial(), interpreter.initial()
    for bits in itertools.product([False, True], repeat=4):
        row = {**dict(zip("abc", bits, strict=False)), "n": 5 * bits[3], "go": bits[0]}
        state, other = recorder.run_tick(state, row).after, interpreter.step(other, row)
        assert (state.state, dict(state.registers)) == (other.state, dict(other.registers))


def test_coverage_is_its_own_picture() -> None:
    chart = parse_chart(JUNCTIONS)
    run = cover_run(chart, rows(chart, {"n": 5, "b": True, "c": True}))
    assert run.svg() == run._repr_svg_() == draw_svg(chart, marks=coverage_marks(run))
    assert run.svg() != cover_run(chart, []).svg()
