"""Mutants of a chart: every single mutation of its states, transitions, initial values and functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

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
from posewright.charts.mutation.expression_mutations import (
    TIME_DECIMALS,
    mutate_expression,
    neighbouring_values,
)
from posewright.charts.mutation.mutation import (
    Mutant,
    Mutation,
    MutationKind,
    embed_in_tuple,
    embed_mutations,
)
from posewright.charts.types import BoolType, EnumType, Type, Value
from posewright.errors import InputError

T = TypeVar("T")

Targets = tuple[StateTarget, ...]
Transitions = tuple[Transition, ...]


@dataclass(frozen=True, eq=False)
class PartMutator:
    """Makes every single mutation of the parts of a chart.

    `embed_mutations` turns the mutations of a part, such as a guard, into mutations of what contains it, such
    as its transition. The values that mutations exchange are the next ones in the chart: the next sibling of
    a state, the next event, the time one tick longer or shorter.
    """

    chart: Chart

    def mutate_state(self, state: State) -> Iterator[Mutation[State]]:
        """Yield the mutations of a state, without those of the states inside it.

        They change its actions, outputs, transitions, initial states or minimum time.
        """
        yield from embed_mutations(
            self._mutate_actions(state.entry), lambda entry: replace(state, entry=entry)
        )
        yield from embed_mutations(
            self._mutate_actions(state.during), lambda during: replace(state, during=during)
        )
        yield from embed_mutations(self._mutate_actions(state.exit), lambda exit_: replace(state, exit=exit_))
        yield from embed_mutations(
            self._mutate_values(state.do, state.line), lambda do: replace(state, do=do)
        )
        order_matters = self.chart.priority_in(state) is Priority.ORDERED
        yield from embed_mutations(
            self.mutate_transitions(state.transitions, order_matters=order_matters),
            lambda transitions: replace(state, transitions=transitions),
        )
        if len(state.transitions) == 1:
            description = f"the only transition of {state.name} is left out"
            without_transitions = replace(state, transitions=())
            line = state.transitions[0].line
            yield Mutation(MutationKind.TRANSITION, description, line, mutated_part=without_transitions)
        yield from embed_mutations(
            self.mutate_initial_targets(state.initial, state.line),
            lambda initial: replace(state, initial=initial),
        )
        for seconds in self._neighbouring_times(state.min_s):
            description = f"{state.name} lasts {seconds:g} s instead of {state.min_s:g} s"
            yield Mutation(
                MutationKind.TIME, description, state.line, mutated_part=replace(state, min_s=seconds)
            )

    def mutate_initial_targets(self, targets: Targets, line: int | None) -> Iterator[Mutation[Targets]]:
        """Yield the mutations of the initial states of a chart or state."""
        for i, target in enumerate(targets):
            if target.history is not None:
                new_state: str | None = target.state
                kind = MutationKind.HISTORY
                description = f"{target.state} is entered without its history"
            else:
                new_state = self._next_sibling(target.state)
                kind = MutationKind.INITIAL
                description = f"the initial state is {new_state} instead of {target.state}"
            if new_state is not None:  # a state without siblings has no other in its place
                new_targets = (*targets[:i], StateTarget(new_state), *targets[i + 1 :])
                yield Mutation(kind, description, line, mutated_part=new_targets)

    # Transitions

    def mutate_transitions(
        self, transitions: Transitions, *, order_matters: bool = True
    ) -> Iterator[Mutation[Transitions]]:
        """Yield the mutations of the transitions of a state, or of the segments of a junction.

        Args:
            transitions: the transitions of one state or junction.
            order_matters: whether the first that is enabled is taken.
        """
        for i, transition in enumerate(transitions):
            earlier = transitions[:i]
            later = transitions[i + 1 :]
            transition_text = _describe(transition)
            if len(transitions) > 1:
                description = f"{transition_text} is left out"
                remaining = _update_else_guards((*earlier, *later))
                yield Mutation(MutationKind.TRANSITION, description, transition.line, mutated_part=remaining)
            if order_matters and later and _compete(transition, later[0]):
                next_transition, *further = later
                description = f"{transition_text} comes after {_describe(next_transition)}"
                swapped = _update_else_guards((*earlier, next_transition, transition, *further))
                yield Mutation(MutationKind.ORDER, description, transition.line, mutated_part=swapped)
            for mutation in embed_in_tuple(transitions, i, self._mutate_transition(transition)):
                updated = _update_else_guards(mutation.mutated_part)
                yield replace(mutation, line=mutation.line or transition.line, mutated_part=updated)

    def _mutate_transition(self, transition: Transition) -> Iterator[Mutation[Transition]]:
        """Yield the mutations of a transition or segment: of its guard, targets, events, time and actions.

        `embed_mutations` turns each mutation of a part into one of the whole transition.
        """
        if not transition.is_else and transition.when != ALWAYS:
            yield from embed_mutations(
                self._mutate_condition(transition.when), lambda when: replace(transition, when=when)
            )
        for i, target in enumerate(transition.go):
            yield from embed_mutations(
                embed_in_tuple(transition.go, i, self._mutate_target(target)),
                lambda go: replace(transition, go=go),
            )
        if transition.local:
            description = f"{_describe(transition)} leaves the state"
            external = replace(transition, local=False)
            yield Mutation(MutationKind.TARGET, description, transition.line, mutated_part=external)
        yield from self._mutate_events(transition)
        for seconds in self._neighbouring_times(transition.after_s):
            description = f"after {transition.after_s:g} s becomes after {seconds:g} s"
            delayed = replace(transition, after_s=seconds)
            yield Mutation(MutationKind.TIME, description, transition.line, mutated_part=delayed)
        for mutation in embed_mutations(
            self._mutate_actions(transition.do), lambda actions: replace(transition, do=actions)
        ):
            # a transition without actions needs a target
            if mutation.mutated_part.do or transition.go or transition.leads_to_junction:
                yield mutation
        # the segments behind a junction
        yield from embed_mutations(
            self.mutate_transitions(transition.then), lambda then: replace(transition, then=then)
        )

    def _mutate_events(self, transition: Transition) -> Iterator[Mutation[Transition]]:
        """Yield mutations in which a transition waits for another event in place of one of its triggers."""
        for i, event in enumerate(transition.on):
            new_event = self._next_event(event)
            if new_event is not None and new_event not in transition.on:
                new_events = (*transition.on[:i], new_event, *transition.on[i + 1 :])
                description = f"it waits for {new_event} instead of {event}"
                changed = replace(transition, on=new_events)
                yield Mutation(MutationKind.EVENT, description, transition.line, mutated_part=changed)

    def _mutate_target(self, target: StateTarget) -> Iterator[Mutation[StateTarget]]:
        """Yield the mutations of a target: another state, or another history."""
        if target.history is not None:
            description = f"{target.state} is entered without its history"
            yield Mutation(
                MutationKind.HISTORY, description, line=None, mutated_part=StateTarget(target.state)
            )
            if any(child.states for child in self.chart.state(target.state).states):
                is_shallow = target.history is HistoryKind.SHALLOW
                new_history = HistoryKind.DEEP if is_shallow else HistoryKind.SHALLOW
                description = f"the history of {target.state} is {new_history.value}"
                yield Mutation(
                    MutationKind.HISTORY,
                    description,
                    line=None,
                    mutated_part=replace(target, history=new_history),
                )
            return
        sibling = self._next_sibling(target.state)
        if sibling is not None:
            description = f"it goes to {sibling} instead of {target.state}"
            yield Mutation(MutationKind.TARGET, description, line=None, mutated_part=StateTarget(sibling))

    # Actions

    def _mutate_actions(self, actions: Actions) -> Iterator[Mutation[Actions]]:
        """Yield the mutations of a sequence of actions."""
        for i, action in enumerate(actions):
            for mutation in self._mutate_action(action):
                yield mutation.with_mutated_part((*actions[:i], *mutation.mutated_part, *actions[i + 1 :]))

    def _mutate_action(self, action: Action) -> Iterator[Mutation[Actions]]:
        """Yield the mutations of an action, each as the actions in its place: one, or none."""
        if isinstance(action, Assign):
            for mutation in self._mutate_values(action.values, action.line):
                new_values = mutation.mutated_part
                yield mutation.with_mutated_part((replace(action, values=new_values),) if new_values else ())
        elif isinstance(action, Raise):
            yield Mutation(MutationKind.ACTION, f"{action.event} is not raised", action.line, mutated_part=())
            new_event = self._next_event(action.event)
            if new_event is not None:
                description = f"{new_event} is raised instead of {action.event}"
                raised = (replace(action, event=new_event),)
                yield Mutation(MutationKind.EVENT, description, action.line, mutated_part=raised)
        else:
            yield from embed_mutations(
                self._mutate_condition(action.when), lambda when: (replace(action, when=when),)
            )
            yield from embed_mutations(
                self._mutate_actions(action.then), lambda then: (replace(action, then=then),)
            )
            yield from embed_mutations(
                self._mutate_actions(action.otherwise),
                lambda otherwise: (replace(action, otherwise=otherwise),),
            )

    def _mutate_values(
        self, values: Mapping[str, Expression], line: int | None
    ) -> Iterator[Mutation[dict[str, Expression]]]:
        """Yield the mutations of the values that an action assigns: one is left out, or one is changed.

        Args:
            values: the assigned values, by the name of the variable.
            line: the line of the action, for values whose own line is not known.
        """
        for name, value in values.items():
            remaining = dict(values)
            del remaining[name]
            description = f"{name} is not set to `{shorten(str(value))}`"
            value_line = value.source.where.line or line
            yield Mutation(MutationKind.ACTION, description, value_line, mutated_part=remaining)
            result_type = self.chart.variables[name]
            for mutation in mutate_expression(value, self.chart.scope, result_type, self.chart.period_s):
                changes_constant = mutation.kind is MutationKind.CONSTANT
                yield replace(
                    mutation.with_mutated_part({**values, name: mutation.mutated_part}),
                    kind=MutationKind.VALUE if changes_constant else mutation.kind,
                    description=f"{name}: {mutation.description}",
                    line=mutation.line or line,
                )

    def _mutate_condition(self, condition: Expression) -> Iterator[Mutation[Expression]]:
        """Yield the mutations of the condition of a transition or branch."""
        return mutate_expression(
            condition, self.chart.scope, result_type=BoolType(), period_s=self.chart.period_s
        )

    # Replacements

    def _next_sibling(self, state: str) -> str | None:
        """Return the next state in the same parent, the first after the last; None if there is no other."""
        parent = self.chart.parents[state]
        siblings = self.chart.states if parent is None else self.chart.state(parent).states
        return _next_name(state, [sibling.name for sibling in siblings])

    def _next_event(self, event: str) -> str | None:
        """Return the event that is declared next; None if there is no other."""
        events = [*self.chart.events, *self.chart.local_events]
        if event in events:
            return _next_name(event, events)
        return events[0] if events else None

    def _neighbouring_times(self, seconds: float) -> list[float]:
        """Return a time one tick longer, and one tick shorter; empty for no time."""
        if not seconds:
            return []
        period_s = self.chart.period_s
        return [max(round(seconds + change_s, TIME_DECIMALS), 0.0) for change_s in (period_s, -period_s)]


def _next_name(name: str, names: list[str]) -> str | None:
    """Return the name after another in a list, the first after the last; None if there is only one."""
    if len(names) < 2:
        return None
    next_index = (names.index(name) + 1) % len(names)
    return names[next_index]


def _update_else_guards(transitions: Transitions) -> Transitions:
    """Return transitions in a new order, in which each `else` negates the guards that come before it now.

    An `else` with nothing before it always holds.
    """
    updated_transitions: list[Transition] = []
    for transition in transitions:
        guard = transition.when
        if transition.is_else:
            where = transition.when.source.where
            if has_alternatives(updated_transitions, transition.on):
                guard = else_guard(updated_transitions, transition.on, where)
            else:
                guard = ALWAYS
        updated_transitions.append(replace(transition, when=guard))
    return tuple(updated_transitions)


def _compete(first: Transition, second: Transition) -> bool:
    """Return whether the order of two transitions matters: both may be enabled in the same microstep."""
    if first.is_else or second.is_else or bool(first.on) != bool(second.on):
        return False
    return not first.on or not set(first.on).isdisjoint(second.on)


def _describe(transition: Transition) -> str:
    """Return what messages call a transition: `the transition to a, b`."""
    target_names = ", ".join(target.state for target in transition.go)
    return f"the transition{' to ' + target_names if target_names else ''}"


def mutants(chart: Chart) -> Iterator[Mutant]:
    """Yield every mutant of a chart, a copy with one mistake; invalid charts are left out."""
    mutator = PartMutator(chart)
    for state in chart.every_state:
        yield from _build_mutants(
            mutator.mutate_state(state), lambda mutated: _replace_state(chart, mutated), state.name
        )
    yield from _build_mutants(
        mutator.mutate_initial_targets(chart.initial, None), lambda initial: replace(chart, initial=initial)
    )
    for name, segments in chart.junctions.items():
        yield from _build_mutants(
            mutator.mutate_transitions(segments), partial(_replace_junction, chart, name)
        )
    yield from _build_mutants(
        _mutate_initial_values(chart), lambda values: replace(chart, initial_values=values)
    )
    for function in chart.functions.values():
        yield from _build_mutants(
            _mutate_function(function, chart), lambda mutated: _FunctionReplacer(chart, mutated).build()
        )


def _build_mutants(
    mutations: Iterator[Mutation[T]], build_chart: Callable[[T], Chart], state: str | None = None
) -> Iterator[Mutant]:
    """Yield the mutants for the mutations of a part, except where the chart is not valid.

    Args:
        mutations: the mutations of the part.
        build_chart: returns the chart with a mutated part in place of the original one.
        state: name of the state that the part belongs to; None if it belongs to none.
    """
    for mutation in mutations:
        try:
            mutated_chart = build_chart(mutation.mutated_part)
        except InputError:
            continue
        yield Mutant(
            mutation.kind, mutation.description, mutation.line, mutated_chart, state, mutation.change
        )


def _mutate_initial_values(chart: Chart) -> Iterator[Mutation[dict[str, Value]]]:
    for name, value in chart.initial_values.items():
        for new_value in _other_values(value, chart.variables[name]):
            description = f"the initial value of {name} is {new_value} instead of {value}"
            new_values = {**chart.initial_values, name: new_value}
            yield Mutation(MutationKind.INITIAL, description, line=None, mutated_part=new_values)


def _other_values(value: Value, value_type: Type) -> Iterator[Value]:
    """Yield all other values of an enumeration, or the values next to one of another type."""
    if isinstance(value_type, EnumType):
        yield from (name for name in value_type.values if name != value)
    else:
        yield from (neighbour for neighbour in neighbouring_values(value) if value_type.contains(neighbour))


def _mutate_function(function: Function, chart: Chart) -> Iterator[Mutation[Function]]:
    """Yield the mutations of a function: a row left out, or a mutation of a row."""
    rows = function.rows
    for i, row in enumerate(rows):
        if len(rows) > 1:
            description = f"a row of {function.name} is left out: {', '.join(row.cells) or row.when}"
            remaining = replace(function, rows=(*rows[:i], *rows[i + 1 :]))
            yield Mutation(MutationKind.ROW, description, row.line, mutated_part=remaining)
        row_mutations = embed_in_tuple(rows, i, _mutate_function_row(row, function, chart))
        for mutation in embed_mutations(row_mutations, lambda mutated: replace(function, rows=mutated)):
            description = f"{function.name}: {mutation.description}"
            yield replace(mutation, description=description, line=row.line)


def _mutate_function_row(
    row: FunctionRow, function: Function, chart: Chart
) -> Iterator[Mutation[FunctionRow]]:
    """Yield a row of a function with its condition or its value changed."""
    scope = Scope(function.parameters, chart.constants, chart.scope.enum_of_value, chart.units)
    if row.when.names:
        conditions = mutate_expression(row.when, scope, result_type=BoolType(), period_s=chart.period_s)
        yield from embed_mutations(conditions, lambda when: replace(row, when=when))
    values = mutate_expression(row.value, scope, result_type=function.return_type, period_s=chart.period_s)
    yield from embed_mutations(values, lambda value: replace(row, value=value))


def _replace_junction(chart: Chart, name: str, segments: Transitions) -> Chart:
    """Return a chart in which a junction has other segments."""
    return replace(chart, junctions={**chart.junctions, name: segments})


def _replace_state(chart: Chart, mutated: State) -> Chart:
    """Return a chart with `mutated` in place of the state with the same name, on any level."""

    def replace_in(states: tuple[State, ...]) -> tuple[State, ...]:
        """Return states with `mutated` in place of the one with its name."""
        return tuple(mutated if state.name == mutated.name else state for state in states)

    parent_name = chart.parents[mutated.name]
    if parent_name is None:
        return replace(chart, states=replace_in(chart.states))
    parent = chart.state(parent_name)
    return _replace_state(chart, replace(parent, states=replace_in(parent.states)))


class _FunctionReplacer:
    """Replaces a function of a chart, and parses again every expression that calls it.

    Args:
        chart: the original chart.
        function: the new function; it replaces the one with the same name.

    Attributes:
        chart: the chart with the new function, in which the expressions are still the original ones.
        call_pattern: matches a call of the function.
    """

    def __init__(self, chart: Chart, function: Function) -> None:
        functions = {**chart.functions, function.name: function}
        self.chart = replace(chart, functions=functions)
        self.call_pattern = re.compile(rf"\b{function.name}\s*\(")

    def build(self) -> Chart:
        """Return the chart with the function replaced."""
        junctions = {
            name: self._parse_transitions(segments) for name, segments in self.chart.junctions.items()
        }
        states = tuple(map(self._parse_state, self.chart.states))
        return replace(self.chart, states=states, junctions=junctions)

    def _parse_expression(self, expression: Expression, result_type: Type) -> Expression:
        if not self.call_pattern.search(expression.source.text):
            return expression
        return parse_expression(expression.source, self.chart.scope, result_type)

    def _parse_values(self, values: Mapping[str, Expression]) -> dict[str, Expression]:
        return {
            name: self._parse_expression(value, self.chart.variables[name]) for name, value in values.items()
        }

    def _parse_state(self, state: State) -> State:
        """Return a state with its expressions, and those inside it, parsed again."""
        return replace(
            state,
            transitions=self._parse_transitions(state.transitions),
            do=self._parse_values(state.do),
            entry=self._parse_actions(state.entry),
            during=self._parse_actions(state.during),
            exit=self._parse_actions(state.exit),
            states=tuple(map(self._parse_state, state.states)),
        )

    def _parse_transitions(self, transitions: Transitions) -> Transitions:
        """Return transitions with their expressions parsed again."""
        return tuple(
            replace(
                transition,
                when=self._parse_expression(transition.when, BoolType()),
                do=self._parse_actions(transition.do),
                then=self._parse_transitions(transition.then),
            )
            for transition in transitions
        )

    def _parse_actions(self, actions: Actions) -> Actions:
        return tuple(map(self._parse_action, actions))

    def _parse_action(self, action: Action) -> Action:
        """Return an action with its expressions parsed again."""
        if isinstance(action, Assign):
            return replace(action, values=self._parse_values(action.values))
        if isinstance(action, Branch):
            return replace(
                action,
                when=self._parse_expression(action.when, BoolType()),
                then=self._parse_actions(action.then),
                otherwise=self._parse_actions(action.otherwise),
            )
        return action
