"""Two other tools, given the same charts, reach the same states.

python-statemachine reads our SCXML, sismic gets a statechart built from the same model.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from posewright.charts import Chart, Interpreter, parse_chart
from posewright.charts.formats import beyond_scxml, python_guard, python_value_text, scxml_text, tick_event
from posewright.charts.model import Actions, Assign, HistoryKind, Raise, State

from .random_charts import charts, rows

STEPS = 10_000

FLAT = """
chart: flat
period_s: 0.1
inputs: {n: {int: [0, 9]}}
events: [start, stop, near, clear]
outputs: {lamp: bool, tries: {int: [0, 5]}}
priority: ordered
initial: standing
states:
  standing:
    - {on: start, when: n > 2, go: walking, do: {lamp: 1}}
    - {on: [start, near], go: turning}
  walking:
    - {on: near, when: tries < 5, go: turning, do: {tries: tries + 1}}
    - {on: [near, stop], go: standing, do: {lamp: 0}}
  turning:
    - {on: clear, go: walking}
    - {on: stop, go: standing, do: {tries: 0, lamp: n > 5}}
"""

NESTED = """
chart: nested
period_s: 0.1
inputs: {n: {int: [0, 9]}}
events: [start, stop, near, clear]
local_events: [lost]
outputs: {lamp: bool, tries: {int: [0, 5]}}
priority: ordered
initial: standing
states:
  standing:
    transitions: [{on: start, go: {history: racing}}, {on: clear, when: n < 3, go: turning}]
    entry: {lamp: 0}
  racing:
    transitions: [{on: stop, go: standing}, {on: lost, go: standing}]
    entry: {lamp: 1}
    exit: {tries: 0}
    initial: free
    states:
      free: [{on: near, go: blocked}]
      blocked:
        transitions: [{on: clear, go: free}]
        entry: {tries: tries + 1}
        initial: looking
        states:
          looking: [{on: near, go: turning}]
          turning:
            - {on: near, when: tries > 2, do: {raise: lost}}
            - {on: near, go: looking, do: {tries: tries + 1}}
"""

PARALLEL = """
chart: parallel
period_s: 0.1
inputs: {n: {int: [0, 9]}}
events: [start, stop, near, clear]
local_events: [dazzle]
outputs: {lamp: bool, tries: {int: [0, 5]}}
priority: ordered
regions:
  legs:
    initial: standing
    states:
      standing: [{on: start, when: in(seeing), go: walking}]
      walking:
        transitions: [{on: stop, go: standing}]
        initial: slow
        states:
          slow: [{on: clear, when: n > 4, go: fast}]
          fast: [{on: near, go: slow, do: {raise: dazzle}}, {when: n == 0, go: slow}]
  eyes:
    initial: seeing
    states:
      seeing: [{on: dazzle, go: dazzled, do: {lamp: 1, tries: tries + 1}}]
      dazzled: [{on: [clear, stop], go: seeing, do: {lamp: 0}}]
  ears:
    initial: quiet
    states:
      quiet: [{on: dazzle, when: tries > 3, go: ringing}]
      ringing: [{on: near, go: quiet, do: {tries: 0}}]
"""

CHARTS = [parse_chart(text) for text in (FLAT, NESTED, PARALLEL)]
Step = tuple[dict[str, Any], list[str]]


def random_steps(chart: Chart, count: int, seed: int) -> Iterator[Step]:
    """Yield inputs and the events that come with them; nothing comes at the first step."""
    rng = random.Random(seed)  # noqa: S311 -- a walk, no secret
    yield {"n": 0}, []
    for _ in range(count - 1):
        event = rng.choice([*chart.events, ""])
        yield {"n": rng.randint(0, 9)}, [event] if event else []


def reached(chart: Chart, steps: list[Step]) -> Iterator[tuple[set[str], dict[str, Any]]]:
    """Yield the active states and the outputs after each step."""
    interpreter = Interpreter(chart)
    state = interpreter.initial()
    for inputs, events in steps:
        state = interpreter.step(state, {**inputs, **dict.fromkeys(events, True)})
        yield set(state.active), {**state.outputs, **state.locals}


def asks_at_ticks(chart: Chart) -> bool:
    return any(not one.on for state in chart.every_state for one in state.transitions)


class PythonStatemachine:
    """python-statemachine, given our SCXML."""

    def __init__(self, chart: Chart) -> None:
        loader = pytest.importorskip("statemachine.io", reason="python-statemachine is not installed")
        self.chart = chart
        self.tick = tick_event(chart) if asks_at_ticks(chart) else None
        self.machine = loader.load(scxml_text(chart), format="scxml", trusted=True)()

    def step(self, inputs: dict[str, Any], events: list[str]) -> tuple[set[str], dict[str, Any]]:
        for name, value in inputs.items():
            setattr(self.machine.model, name, value)
        for event in [self.tick, *events] if self.tick else events:
            self.machine.send(event)
        states = {state.id for state in self.machine.configuration} - {"regions"}
        return states, {name: getattr(self.machine.model, name) for name in self.chart.variables}


class Sismic:
    """sismic, given a statechart built from the chart."""

    def __init__(self, chart: Chart) -> None:
        self.sismic = pytest.importorskip("sismic.interpreter", reason="sismic is not installed")
        self.model = pytest.importorskip("sismic.model", reason="sismic is not installed")
        self.chart = chart
        self.tick = "tick" if asks_at_ticks(chart) else None
        self.found = self.model.Statechart(chart.name)
        if chart.parallel:
            self.found.add_state(self.model.OrthogonalState("chart"), None)
        else:
            self.found.add_state(self.model.CompoundState("chart", initial=chart.initial[0].state), None)
        for state in chart.states:
            self.add(state, "chart")
        for state in chart.every_state:
            self.add_transitions(state)
        context = {**{name: kind.default for name, kind in chart.inputs.items()}, **chart.start_values()}
        self.interpreter = self.sismic.Interpreter(self.found, initial_context=context)

    def add(self, state: State, parent: str) -> None:
        actions = {"on_entry": self.code(state.entry), "on_exit": self.code(state.exit)}
        if state.states:
            sort = self.model.CompoundState
            self.found.add_state(sort(state.name, initial=state.initial[0].state, **actions), parent)
            history = self.model.ShallowHistoryState(f"{state.name}_history", memory=state.initial[0].state)
            self.found.add_state(history, state.name)
        else:
            self.found.add_state(self.model.BasicState(state.name, **actions), parent)
        for child in state.states:
            self.add(child, state.name)

    def add_transitions(self, state: State) -> None:
        for place, one in enumerate(state.transitions):
            target = one.go[0] if one.go else None
            name = None if target is None else target.state
            if target is not None and target.history is HistoryKind.SHALLOW:
                name = f"{target.state}_history"
            guard = python_guard(one.when, 0.0, self.chart.scope.enum_of_value)
            for event in one.on or ("tick",):
                self.found.add_transition(
                    self.model.Transition(
                        state.name,
                        name,
                        event,
                        guard and guard.replace("In(", "active("),
                        self.code(one.do),
                        priority=-place,
                    )
                )

    def code(self, actions: Actions) -> str | None:
        lines = []
        for action in actions:
            if isinstance(action, Raise):
                lines.append(f"send({action.event!r})")
            elif isinstance(action, Assign):
                kinds, values = self.chart.variables, self.chart.scope.enum_of_value
                texts = [python_value_text(one, kinds[name], values) for name, one in action.values.items()]
                lines.append(f"{', '.join(action.values)} = {', '.join(texts)}")
        return "\n".join(lines) or None

    def step(self, inputs: dict[str, Any], events: list[str]) -> tuple[set[str], dict[str, Any]]:
        context = self.interpreter.context
        context.update(inputs)
        self.interpreter.execute()
        for event in [self.tick, *events] if self.tick else events:
            self.interpreter.queue(event)
            self.interpreter.execute()
        states = set(self.interpreter.configuration) - {"chart"}
        return states, {name: context[name] for name in self.chart.variables}


@pytest.mark.parametrize("peer", [PythonStatemachine, Sismic])
@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_a_peer_reaches_the_same_states_on_ten_thousand_random_steps(
    chart: Chart, peer: type[PythonStatemachine | Sismic]
) -> None:
    assert beyond_scxml(chart) == ()
    steps = list(random_steps(chart, STEPS, seed=len(chart.name)))
    other, seen = peer(chart), set()
    for (inputs, events), ours in zip(steps, reached(chart, steps), strict=True):
        assert other.step(inputs, events) == ours
        seen |= ours[0]
    assert seen == set(chart.state_names)  # the walk went everywhere


def in_order(chart: Chart) -> bool:
    """Whether states stand as python-statemachine orders them: plain ones, final ones, parallel ones."""
    sorts = [[2 * one.parallel + one.final for one in siblings] for siblings in siblings_in(chart)]
    return all(one == sorted(one) for one in sorts)


def siblings_in(chart: Chart) -> list[tuple[State, ...]]:
    return [chart.states, *(state.states for state in chart.every_state)]


@st.composite
def standard_charts(draw: st.DrawFn) -> tuple[Chart, list[Step]]:
    chart = draw(charts(timed=False, junctions=False))
    assume(not beyond_scxml(chart) and in_order(chart))
    zero = {name: kind.default for name, kind in chart.inputs.items()}
    found = draw(rows(chart, 8))
    steps = [(zero, []), *(({n: row[n] for n in zero}, [e for e in chart.events if row[e]]) for row in found)]
    return chart, steps


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(standard_charts())
def test_python_statemachine_reaches_the_same_states_in_any_chart_without_words_of_ours(
    drawn: tuple[Chart, list[Step]],
) -> None:
    chart, steps = drawn
    other = PythonStatemachine(chart)
    for (inputs, events), ours in zip(steps, reached(chart, steps), strict=True):
        assert other.step(inputs, events) == ours
