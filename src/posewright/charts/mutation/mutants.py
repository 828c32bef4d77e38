"""Mutants: the chart with every single fault that can be made in its states, transitions and tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from posewright.charts.expression import Expression, Function, FunctionRow, Scope, parse_expression, shorten
from posewright.charts.model import (
    ALWAYS,
    Action,
    Actions,
    Assign,
    Branch,
    Chart,
    HistoryKind,
    Priority,
    Raise,
    State,
    StateTarget,
    Transition,
    else_guard,
    has_alternatives,
)
from posewright.charts.mutation.faults import (
    Fault,
    FaultKind,
    Mutant,
    expression_faults,
    in_field,
    in_place,
    others_than,
)
from posewright.charts.types import BoolType, EnumType, Type, Value
from posewright.errors import InputError

Targets = tuple[StateTarget, ...]
Transitions = tuple[Transition, ...]


@dataclass(frozen=True, eq=False)
class ChartFaults:
    """Makes every single fault in the parts of a chart."""

    chart: Chart

    def in_state(self, state: State) -> Iterator[Fault[State]]:
        """Yield a state with every fault, those inside its children not among them."""
        for name in ("entry", "during", "exit"):
            yield from in_field(state, name, self.in_actions(getattr(state, name)))
        yield from in_field(state, "do", self.in_values(state.do, state.line))
        ordered = self.chart.priority_in(state) is Priority.ORDERED
        yield from in_field(state, "transitions", self.in_transitions(state.transitions, ordered=ordered))
        if len(state.transitions) == 1:
            what, line = f"nothing leads out of {state.name}", state.transitions[0].line
            yield Fault(FaultKind.TRANSITION, what, line, replace(state, transitions=()))
        yield from in_field(state, "initial", self.in_initial(state.initial, state.line))
        for time in self.other_times(state.min_s):
            what = f"{state.name} lasts {time:g} s in place of {state.min_s:g} s"
            yield Fault(FaultKind.TIME, what, state.line, replace(state, min_s=time))

    def in_initial(self, targets: Targets, line: int | None) -> Iterator[Fault[Targets]]:
        """Yield other targets to begin with."""
        for i, target in enumerate(targets):
            if target.history is not None:
                other: str | None = target.state
                what, kind = f"{target.state} is entered anew", FaultKind.HISTORY
            else:
                other = self.sibling(target.state)
                what, kind = f"it begins in {other} in place of {target.state}", FaultKind.INITIAL
            if other is not None:
                yield Fault(kind, what, line, (*targets[:i], StateTarget(other), *targets[i + 1 :]))

    # Transitions

    def in_transitions(
        self, transitions: Transitions, *, ordered: bool = True
    ) -> Iterator[Fault[Transitions]]:
        """Yield the transitions of a state, or the segments of a junction, with every fault.

        Args:
            transitions: of one state or junction.
            ordered: whether it matters which stands first.
        """
        for i, one in enumerate(transitions):
            before, after = transitions[:i], transitions[i + 1 :]
            if len(transitions) > 1:
                what = f"{_name(one)} is left out"
                yield Fault(FaultKind.TRANSITION, what, one.line, _refreshed((*before, *after)))
            if ordered and after and _compete(one, after[0]):
                what = f"{_name(one)} stands after {_name(after[0])}"
                yield Fault(FaultKind.ORDER, what, one.line, _refreshed((*before, after[0], one, *after[1:])))
            for fault in in_place(transitions, i, self.in_transition(one)):
                yield replace(fault, line=fault.line or one.line, value=_refreshed(fault.value))

    def in_transition(self, one: Transition) -> Iterator[Fault[Transition]]:
        """Yield a transition with every fault."""
        if not one.is_else and one.when != ALWAYS:
            yield from in_field(one, "when", self.in_condition(one.when))
        for i, target in enumerate(one.go):
            yield from in_field(one, "go", in_place(one.go, i, self.in_target(target)))
        if one.local:
            yield Fault(
                FaultKind.TARGET, f"{_name(one)} leaves the state", one.line, replace(one, local=False)
            )
        for i, event in enumerate(one.on):
            other = self.other_event(event)
            if other is not None and other not in one.on:
                what, on = f"it waits for {other} in place of {event}", (*one.on[:i], other, *one.on[i + 1 :])
                yield Fault(FaultKind.EVENT, what, one.line, replace(one, on=on))
        for time in self.other_times(one.after_s):
            what = f"after {one.after_s:g} s becomes after {time:g} s"
            yield Fault(FaultKind.TIME, what, one.line, replace(one, after_s=time))
        for fault in in_field(one, "do", self.in_actions(one.do)):
            if fault.value.do or one.go or one.leads_to_junction:
                yield fault
        yield from in_field(one, "then", self.in_transitions(one.then))

    def in_target(self, target: StateTarget) -> Iterator[Fault[StateTarget]]:
        """Yield other targets in place of one."""
        if target.history is not None:
            yield Fault(FaultKind.HISTORY, f"{target.state} is entered anew", None, StateTarget(target.state))
            if any(child.states for child in self.chart.state(target.state).states):
                other = HistoryKind.DEEP if target.history is HistoryKind.SHALLOW else HistoryKind.SHALLOW
                what = f"the history of {target.state} is {other.value}"
                yield Fault(FaultKind.HISTORY, what, None, replace(target, history=other))
            return
        sibling = self.sibling(target.state)
        if sibling is not None:
            what = f"it goes to {sibling} in place of {target.state}"
            yield Fault(FaultKind.TARGET, what, None, StateTarget(sibling))

    # Actions

    def in_actions(self, actions: Actions) -> Iterator[Fault[Actions]]:
        """Yield actions with every fault."""
        for i, action in enumerate(actions):
            for fault in self.in_action(action):
                yield fault.of((*actions[:i], *fault.value, *actions[i + 1 :]))

    def in_action(self, action: Action) -> Iterator[Fault[Actions]]:
        """Yield what an action may become: another one, or none."""
        if isinstance(action, Assign):
            for fault in in_field(action, "values", self.in_values(action.values, action.line)):
                yield fault.of((fault.value,) if fault.value.values else ())
        elif isinstance(action, Raise):
            yield Fault(FaultKind.ACTION, f"{action.event} is not raised", action.line, ())
            other = self.other_event(action.event)
            if other is not None:
                what = f"{other} is raised in place of {action.event}"
                yield Fault(FaultKind.EVENT, what, action.line, (replace(action, event=other),))
        else:
            inner = {
                "when": self.in_condition(action.when),
                "then": self.in_actions(action.then),
                "otherwise": self.in_actions(action.otherwise),
            }
            for name, faults in inner.items():
                for branch in in_field(action, name, faults):
                    yield branch.of((branch.value,))

    def in_values(
        self, values: Mapping[str, Expression], line: int | None
    ) -> Iterator[Fault[dict[str, Expression]]]:
        """Yield a mapping of values to be set, with every fault."""
        for name, value in values.items():
            without = {other: one for other, one in values.items() if other != name}
            what = f"{name} is not set to `{shorten(str(value))}`"
            yield Fault(FaultKind.ACTION, what, value.source.where.line or line, without)
            wanted = self.chart.variables[name]
            for fault in expression_faults(value, self.chart.scope, wanted, self.chart.period_s):
                kind = FaultKind.VALUE if fault.kind is FaultKind.CONSTANT else fault.kind
                whole = fault.of({**values, name: fault.value})
                yield replace(whole, kind=kind, what=f"{name}: {fault.what}", line=fault.line or line)

    def in_condition(self, when: Expression) -> Iterator[Fault[Expression]]:
        """Yield a condition with every fault."""
        return expression_faults(when, self.chart.scope, BoolType(), self.chart.period_s)

    # What takes the place of something

    def sibling(self, state: str) -> str | None:
        """Return the state after that one inside the same, the first after the last; None of an only one."""
        parent = self.chart.parents[state]
        inside = self.chart.states if parent is None else self.chart.state(parent).states
        return _next(state, [one.name for one in inside])

    def other_event(self, event: str) -> str | None:
        """Return the event declared after that one; None where there is no other."""
        known = [*self.chart.events, *self.chart.local_events]
        return _next(event, known) if event in known else next(iter(known), None)

    def other_times(self, seconds: float) -> list[float]:
        """Return a time one tick longer, and one tick shorter; none for no time."""
        period = self.chart.period_s
        return [max(round(seconds + step, 9), 0.0) for step in (period, -period)] if seconds else []


def _next(name: str, names: list[str]) -> str | None:
    return names[(names.index(name) + 1) % len(names)] if len(names) > 1 else None


def _refreshed(transitions: Transitions) -> Transitions:
    """Return transitions whose `else` denies what stands before it now."""
    made: list[Transition] = []
    for one in transitions:
        when = one.when
        if one.is_else:
            where = one.when.source.where
            when = else_guard(made, one.on, where) if has_alternatives(made, one.on) else ALWAYS
        made.append(replace(one, when=when))
    return tuple(made)


def _compete(one: Transition, other: Transition) -> bool:
    """Return whether it matters which of two transitions stands first: both may be asked at one time."""
    if one.is_else or other.is_else or bool(one.on) != bool(other.on):
        return False
    return not one.on or bool({*one.on} & {*other.on})


def _name(transition: Transition) -> str:
    goals = ", ".join(target.state for target in transition.go)
    return f"the transition{' to ' + goals if goals else ''}"


Made = tuple[Fault[object], str | None, Callable[[], Chart]]
"""A fault, the state that it is in, and what makes the chart that has it."""


def mutants(chart: Chart) -> Iterator[Mutant]:
    """Yield the chart with every single fault; what is no chart any more is left out."""
    for fault, state, make in _made(chart):
        try:
            yield Mutant(fault.kind, fault.what, fault.line, make(), state, fault.change)
        except InputError:
            continue


def _made(chart: Chart) -> Iterator[Made]:
    faults = ChartFaults(chart)
    for state in chart.every_state:
        for changed in faults.in_state(state):
            yield changed, state.name, partial(_with_state, chart, changed.value)
    for initial in faults.in_initial(chart.initial, None):
        yield initial, None, partial(replace, chart, initial=initial.value)
    for name, segments in chart.junctions.items():
        for one in faults.in_transitions(segments):
            yield one, None, partial(replace, chart, junctions={**chart.junctions, name: one.value})
    for values in _initial_values(chart):
        yield values, None, partial(replace, chart, initial_values=values.value)
    for function in chart.functions.values():
        for other in _in_function(function, chart):
            yield other, None, partial(_with_function, chart, other.value)


def _initial_values(chart: Chart) -> Iterator[Fault[dict[str, Value]]]:
    for name, value in chart.initial_values.items():
        for other in _others(value, chart.variables[name]):
            what = f"{name} is {other} in the beginning, not {value}"
            yield Fault(FaultKind.INITIAL, what, None, {**chart.initial_values, name: other})


def _others(value: Value, kind: Type) -> Iterator[Value]:
    if isinstance(kind, EnumType):
        yield from (name for name in kind.values if name != value)
    else:
        yield from (other for other in others_than(value) if kind.contains(other))


def _in_function(function: Function, chart: Chart) -> Iterator[Fault[Function]]:
    rows = function.rows
    for i, row in enumerate(rows):
        if len(rows) > 1:
            what = f"a row of {function.name} is left out: {', '.join(row.cells) or row.when}"
            yield Fault(FaultKind.ROW, what, row.line, replace(function, rows=(*rows[:i], *rows[i + 1 :])))
        for fault in in_field(function, "rows", in_place(rows, i, _in_row(row, function, chart))):
            yield replace(fault, what=f"{function.name}: {fault.what}", line=row.line)


def _in_row(row: FunctionRow, function: Function, chart: Chart) -> Iterator[Fault[FunctionRow]]:
    scope = Scope(function.takes, chart.constants, chart.scope.values, chart.units)
    if row.when.names:
        yield from in_field(row, "when", expression_faults(row.when, scope, BoolType(), chart.period_s))
    yield from in_field(row, "give", expression_faults(row.give, scope, function.gives, chart.period_s))


def _with_state(chart: Chart, changed: State) -> Chart:
    """Return a chart in which the state of that name, wherever it stands, is replaced."""

    def replaced(states: tuple[State, ...]) -> tuple[State, ...]:
        return tuple(changed if state.name == changed.name else state for state in states)

    parent = chart.parents[changed.name]
    if parent is None:
        return replace(chart, states=replaced(chart.states))
    around = chart.state(parent)
    return _with_state(chart, replace(around, states=replaced(around.states)))


def _with_function(chart: Chart, function: Function) -> Chart:
    """Return a chart with a function changed, and with it every expression that calls it."""
    changed = replace(chart, functions={**chart.functions, function.name: function})
    scope, called = changed.scope, re.compile(rf"\b{function.name}\s*\(")

    def read_anew(part: Any, wanted: Type) -> Any:
        """Return a part of the chart with every expression read anew."""
        if isinstance(part, Expression):
            return parse_expression(part.source, scope, wanted) if called.search(part.source.text) else part
        if isinstance(part, tuple):
            return tuple(read_anew(one, wanted) for one in part)
        if isinstance(part, Mapping):  # values that are set
            return {name: read_anew(one, chart.variables[name]) for name, one in part.items()}
        if not isinstance(part, State | Transition | Assign | Branch):
            return part
        return replace(part, **{one.name: read_anew(getattr(part, one.name), wanted) for one in fields(part)})

    junctions = {name: read_anew(one, BoolType()) for name, one in chart.junctions.items()}
    return replace(changed, states=read_anew(chart.states, BoolType()), junctions=junctions)
