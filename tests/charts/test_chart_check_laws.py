"""Laws of the checks, on random charts: what they say is shown by a run, and no run shows what they deny."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import Chart, Interpreter, Otherwise, Priority, Rule, check_chart
from posewright.charts.expression import Expression
from posewright.charts.state import State

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
        for way in outcome.taken:
            name = interpreter.machine.nodes[way.source].name
            assert way.line is None or (name, way.line) not in idle


@FEW
@given(st.data())
def test_guards_that_a_run_sees_hold_at_once_are_found(data: st.DataObject) -> None:
    drawn = strict(data.draw(charts(**SMALL)))
    told = {one.state for one in check_chart(drawn) if one.rule is Rule.OVERLAP}
    interpreter = Interpreter(drawn)
    ways = [way for way in interpreter.machine.ways if not way.events and not way.wait]
    first = {id(way.guards[0]): way for way in reversed(ways)}
    seen: list[tuple[int, dict[str, Any]]] = []

    def note(expression: Expression, env: dict[str, Any]) -> Any:
        if id(expression) in first:
            seen.append((first[id(expression)].source, dict(env)))
        return expression.evaluate(env)

    state = interpreter.initial()
    for row in data.draw(rows(drawn, 20)):
        state = interpreter.outcome(state, row, note).after
    for source, env in seen:
        mine = [way for way in ways if way.source == source]
        if sum(way.guard.evaluate(env) is True for way in mine) > 1:
            assert interpreter.machine.nodes[source].name in told
