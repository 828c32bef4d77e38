"""Laws of the checks, on random charts: what they say is shown by a run, and no run shows what they deny."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import Chart, Interpreter, Otherwise, Priority, Rule, check_chart, parse_chart
from posewright.charts.expression import Expression
from posewright.charts.model import State

from .random_charts import charts, rows
from .replay import shows

FEW = settings(max_examples=6, deadline=None)
SMALL = {"max_states": 4}


def strict(chart: Chart) -> Chart:
    """Return a chart in which overlaps and gaps are mistakes."""
    return replace(
        chart,
        priority=Priority.EXCLUSIVE,
        otherwise=Otherwise.REFUSE,
        states=tuple(map(unruled, chart.states)),
        initial_values={},
    )


def unruled(state: State) -> State:
    return replace(state, priority=None, otherwise=None, states=tuple(map(unruled, state.states)))


@FEW
@given(charts(**SMALL).map(strict))
def test_every_run_that_a_finding_comes_with_shows_it(drawn: Chart) -> None:
    for finding in check_chart(drawn):
        if finding.trace:
            assert shows(drawn, finding), finding


@FEW
@given(charts(floats=True, **SMALL).map(strict))
def test_so_it_does_where_inputs_are_fractions(drawn: Chart) -> None:
    for finding in check_chart(drawn):
        if finding.trace:
            assert shows(drawn, finding), finding


@FEW
@given(st.data())
def test_what_a_run_does_is_not_said_to_be_impossible(data: st.DataObject) -> None:
    drawn = strict(data.draw(charts(**SMALL)))
    findings = check_chart(drawn)
    idle = {(one.state, one.line) for one in findings if one.rule in (Rule.NEVER, Rule.SHADOWED)}
    unreachable = {one.state for one in findings if one.rule is Rule.UNREACHABLE}
    interpreter = Interpreter(drawn)
    state = interpreter.initial()
    for row in data.draw(rows(drawn, 20)):
        outcome = interpreter.outcome(state, row)
        state = outcome.after
        assert unreachable.isdisjoint(state.active)
        for way in outcome.taken_transitions:
            name = interpreter.machine.nodes[way.source].name
            assert way.line is None or (name, way.line) not in idle


@FEW
@given(st.data())
def test_guards_that_a_run_sees_hold_at_once_are_found(data: st.DataObject) -> None:
    drawn = strict(data.draw(charts(**SMALL)))
    overlapping = {finding.state for finding in check_chart(drawn) if finding.rule is Rule.OVERLAP}
    interpreter = Interpreter(drawn)
    transitions = [
        transition
        for transition in interpreter.machine.transitions
        if not transition.events and not transition.wait_ticks
    ]
    transition_of_guard = {id(transition.guards[0]): transition for transition in reversed(transitions)}
    evaluations: list[tuple[int, dict[str, Any]]] = []

    def evaluate(expression: Expression, env: dict[str, Any]) -> Any:
        if id(expression) in transition_of_guard:
            evaluations.append((transition_of_guard[id(expression)].source, dict(env)))
        return expression.evaluate(env)

    state = interpreter.initial()
    for row in data.draw(rows(drawn, 20)):
        evaluations.clear()
        active_before = state.active
        state = interpreter.outcome(state, row, evaluate).after
        for source, env in evaluations:
            name = interpreter.machine.nodes[source].name
            if name not in {*active_before, *state.active}:  # an action that equals a guard of another state
                continue
            guards = [transition.guard for transition in transitions if transition.source == source]
            if sum(guard.evaluate(env) is True for guard in guards) > 1:
                assert name in overlapping


COUNTS = """\
chart: counts
period_s: 0.1
inputs: {{k: bool}}
outputs: {{{outputs}}}
initial: a
states:
  a:
    transitions: [{{when: k, go: b}}]
  b:
    entry: {{{entry}}}
    during: {{{during}}}
    transitions: [{{when: not k, go: a}}]
"""


@pytest.mark.parametrize(
    ("outputs", "entry", "during", "ticks"),
    [
        ("z: {float: [0, 1]}", "z: 0", "z: z + 0.25", 6),
        ("o: {int: [0, 1100]}", "o: 0", "o: o + 1", 1102),
        ("f: {float32: [0, 10]}", "f: 0", "f: f + 0.1", 101),
        ("z: {float: [0, 1]}, o: {int: [0, 1100]}", "z: 0", "z: z + 0.25, o: o + 1", 6),
        (
            "p: {int: [0, 12]}, q: {int: [0, 12]}, r: {int: [0, 12]}",
            "p: 0",
            "p: p + 1, q: q + 1, r: r + 1",
            14,
        ),
    ],
)
def test_a_counter_that_no_guard_reads_is_followed_until_it_leaves_its_range(
    outputs: str, entry: str, during: str, ticks: int
) -> None:
    drawn = parse_chart(COUNTS.format(outputs=outputs, entry=entry, during=during))
    findings = check_chart(drawn)
    ranges = [finding for finding in findings if finding.rule is Rule.RANGE]
    assert {rule.rule for rule in findings} <= {Rule.RANGE, Rule.READ_BEFORE_WRITE}
    assert len(ranges) == during.count("+")
    assert all(shows(drawn, finding) for finding in ranges)
    assert min(len(finding.trace or ()) for finding in ranges) <= ticks + 1


def test_a_counter_that_is_set_back_in_time_stays_in_its_range() -> None:
    text = COUNTS.format(outputs="o: {int: [0, 3000]}", entry="o: 0", during="o: o + 1")
    drawn = parse_chart(text.replace("not k", "after(10 s)"))
    assert [finding.rule for finding in check_chart(drawn)] == []


HOLDS = """\
chart: holds
period_s: 0.1
inputs: {{n: int16}}
outputs: {{o: {{int: [-60000, 60000]}}}}
priority: exclusive
initial: a
states:
  a: [{{when: n > 100, do: {{o: {value}}}, go: b}}]
  b:
    - {{when: {one}, go: a}}
    - {{when: {other}, go: b}}
"""


@pytest.mark.parametrize(
    ("value", "one", "other"),
    [
        ("n", "o + n == 29000", "o == 17000 and n == 12000"),
        ("n", "o + n == 29000", "2 * o + n == 46000"),
        ("n + 5", "o == 17005 and n == 3", "o + n > 17004 and n < 4"),
    ],
)
def test_an_overlap_at_a_single_value_that_was_kept_from_an_input_has_a_run(
    value: str, one: str, other: str
) -> None:
    drawn = parse_chart(HOLDS.format(value=value, one=one, other=other))
    (finding,) = [finding for finding in check_chart(drawn) if finding.rule is Rule.OVERLAP]
    assert len(finding.trace or ()) == 2
    assert shows(drawn, finding)
