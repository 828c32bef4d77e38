"""Checks of declarations: unused names, names that differ only in case, gaps and overlaps of truth tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import NamedTuple

from posewright.charts.checks.analysis import ChartAnalysis, Check, promise_conditions
from posewright.charts.checks.conditions import (
    all_of,
    any_of,
    build_condition,
    compare_outcomes,
    differ,
    divides,
    negation,
)
from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule, not_proved
from posewright.charts.checks.solver import ALTERNATE_PREFIX, CheckSolver, SolverAnswer, build_claims
from posewright.charts.expression import Expression, Function, FunctionRow, Name, Tree, names_in, rewrite
from posewright.charts.machine import CompoundTransition, all_actions
from posewright.charts.model import Chart, Transition, events_raised, expressions_in, names_set, segments_of
from posewright.charts.types import EnumType

IDENTIFIER = re.compile(r"[^\W\d]\w*")

MAX_GROUPED = 100
"""Transitions of a state up to which those with the same outcome are grouped."""


class UnusedDeclarations(Check):
    """Finds declared names that nothing reads, sets, raises, waits for or calls.

    Attributes:
        read_names: names that the chart's expressions read.
        written_names: outputs and locals that some action sets.
        raised_events: events that some action raises.
        promise_names: names that the conditions of promises read.
    """

    def __init__(self, analysis: ChartAnalysis) -> None:
        """Collect the names that the chart reads, writes and raises, and those in its promises."""
        super().__init__(analysis)
        action_blocks = list(all_actions(self.machine))
        conditions = promise_conditions(*self.chart.promises)
        self.read_names = frozenset[str]().union(
            *(expression.names for expression in self.machine.expressions)
        )
        self.written_names = frozenset[str]().union(*map(names_set, action_blocks))
        self.raised_events = frozenset[str]().union(*map(events_raised, action_blocks))
        self.promise_names = frozenset[str]().union(*(condition.names for condition in conditions))

    def findings(self) -> Iterator[Finding]:
        """Yield a warning for every unused name."""
        yield from self._find_unused_inputs()
        for name in self.chart.outputs:
            if name not in self.written_names:
                yield self._build_warning(name, Rule.UNUSED_OUTPUT, f"nothing ever sets the output {name}")
        for name in self.chart.locals:
            if name not in self.read_names | self.promise_names:
                message = f"the local {name} is read by no guard and no action"
                yield self._build_warning(name, Rule.UNUSED_LOCAL, message)
            elif name not in self.written_names:
                yield self._build_warning(name, Rule.UNUSED_LOCAL, f"nothing ever sets the local {name}")
        yield from self._find_unused_events()
        yield from self._find_unused_constants_and_functions()

    def _find_unused_inputs(self) -> Iterator[Finding]:
        """Yield a warning for each input that is not read, or is read but makes no difference.

        An input that only the condition of a promise (a property that the chart states of itself) reads
        counts as read.
        """
        for name in self.chart.inputs:
            if name not in self.read_names | self.promise_names:
                message = f"the input {name} is read by no guard and no action"
                yield self._build_warning(name, Rule.UNUSED_INPUT, message)
            elif name in self.read_names and not self._may_matter(name):
                message = f"the input {name} makes no difference in any state"
                yield self._build_warning(name, Rule.UNUSED_INPUT, message)

    def _find_unused_events(self) -> Iterator[Finding]:
        """Yield a warning for each event without a transition, and each local event that is never raised."""
        used_events = self.machine.handled_events | self.promise_names
        for name in self.chart.events:
            if name not in used_events:
                yield self._build_warning(
                    name, Rule.UNUSED_EVENT, f"no transition waits for the event {name}"
                )
        for name in self.chart.local_events:
            if name not in used_events:
                message = f"no transition waits for the local event {name}"
                yield self._build_warning(name, Rule.UNUSED_EVENT, message)
            elif name not in self.raised_events:
                yield self._build_warning(name, Rule.UNUSED_EVENT, f"nothing raises the local event {name}")

    def _find_unused_constants_and_functions(self) -> Iterator[Finding]:
        """Yield a warning for each constant and function that no expression uses."""
        used_names = set[str]()
        for expression in _expressions_of(self.chart):
            used_names.update(names_in(expression.tree))
            # the tree has the bodies of functions in place of their calls; the text has their names
            used_names.update(IDENTIFIER.findall(str(expression)))
        # an initial value may be written as a constant, and is stored as its value
        initial_values = self.chart.initial_values.values()
        for name, value in self.chart.constants.items():
            if name not in used_names and value not in initial_values:
                yield self._build_warning(name, Rule.UNUSED_CONSTANT, f"nothing uses the constant {name}")
        for name in self.chart.functions:
            if name not in used_names:
                yield self._build_warning(name, Rule.UNUSED_FUNCTION, f"nothing calls the function {name}")

    def _build_warning(self, name: str, rule: Rule, message: str) -> Finding:
        """Return a warning at the line where a name is declared."""
        return Finding(Level.WARNING, rule, message, line=self.chart.lines.get(name))

    # Whether an input makes a difference

    def _may_matter(self, name: str) -> bool:
        """Return whether the value of an input may make a difference; False if it is proved that it does not.

        An input that an action or a condition of time reads may matter. One that only guards read matters if
        what a state does may depend on it.
        """
        for actions in all_actions(self.machine):
            if any(name in expression.names for expression in expressions_in(actions)):
                return True
        for counter in self.machine.counters:
            if counter.condition is not None and name in counter.condition.names:
                return True
        for node in self.machine.nodes:
            if not any(name in transition.guard.names for transition in node.transitions):
                continue
            outcome_conditions = _build_outcome_conditions(node.transitions)
            if any(self._may_depend_on(condition, name) for condition in outcome_conditions):
                return True
        return False

    def _may_depend_on(self, condition: Expression, name: str) -> bool:
        """Return False if it is proved that a condition is the same for every value of an input."""
        if name not in condition.names:
            return False
        if divides(condition):
            return True  # a division may fail for some values, which the claims do not cover
        # that the condition holds for one value of the input, and does not for another
        claims = build_claims(true=[condition], false=[_with_alternate_input(condition, name)])
        return not self.analysis.solver.excludes(claims)


class _Outcome(NamedTuple):
    """What some transitions of a state do alike.

    Attributes:
        first_transition: the first of these transitions.
        conditions: for each of them, the condition under which it is taken.
    """

    first_transition: CompoundTransition
    conditions: list[Expression]


def _build_outcome_conditions(transitions: Sequence[CompoundTransition]) -> list[Expression]:
    """Return the conditions under which a state does one thing or another: one for each outcome.

    A transition is taken where its guard holds and no earlier one does. Transitions with the same outcome
    (targets and actions) share one condition. Where there are events, waits or more than `MAX_GROUPED`
    transitions, the guards are returned instead, which distinguish more.
    """
    has_event_or_wait = any(transition.events or transition.wait_ticks for transition in transitions)
    if has_event_or_wait or len(transitions) > MAX_GROUPED:
        return [transition.guard for transition in transitions]
    outcomes: list[_Outcome] = []
    earlier_guards: list[Expression] = []
    for transition in transitions:
        taken_condition = all_of([transition.guard, *map(negation, earlier_guards)])
        earlier_guards.append(transition.guard)
        for outcome in outcomes:
            if compare_outcomes(outcome.first_transition, transition) is False:
                outcome.conditions.append(taken_condition)
                break
        else:  # no earlier transition has this outcome
            outcomes.append(_Outcome(transition, [taken_condition]))
    return [any_of(outcome.conditions) for outcome in outcomes]


def _with_alternate_input(condition: Expression, name: str) -> Expression:
    """Return a condition that reads the alternate copy of an input instead of the input.

    The solver can give the two copies different values.
    """

    def rename(node: Tree) -> Tree | None:
        """Return a renamed name; None for other nodes, which stay as they are."""
        return replace(node, name=ALTERNATE_PREFIX + name) if node == Name(name) else None

    return build_condition(rewrite(condition.tree, rename), [condition])


def _expressions_of(chart: Chart) -> Iterator[Expression]:
    """Yield every expression of a chart as written, functions and promises among them."""
    for state in chart.every_state:
        yield from chain(state.do.values(), _expressions_of_transitions(state.transitions))
        for actions in (state.entry, state.during, state.exit):
            yield from expressions_in(actions)
    for transitions in chart.junctions.values():
        yield from _expressions_of_transitions(transitions)
    for promise in chart.promises:
        yield promise.when
        if promise.goal is not None:
            yield promise.goal
    for function in chart.functions.values():
        for row in function.rows:
            yield from (row.when, row.value)


def _expressions_of_transitions(transitions: tuple[Transition, ...]) -> Iterator[Expression]:
    """Yield the guards of transitions and of their segments, and the expressions in their actions."""
    for segment in segments_of(transitions):
        yield segment.when
        yield from expressions_in(segment.do)


class Declaration(NamedTuple):
    """A declared name.

    Attributes:
        kind: the kind of thing that it names, for messages.
        line: where it is declared, if known.
    """

    name: str
    kind: str
    line: int | None = None

    def __str__(self) -> str:
        line_text = f" (line {self.line})" if self.line is not None else ""
        return f"the {self.kind} {self.name}{line_text}"


class CaseCollisions(Check):
    """Finds names that differ only in case; many code generators and file systems cannot tell them apart."""

    def findings(self) -> Iterator[Finding]:
        """Yield an error for each pair of names that differ only in case.

        A state and a value of an enumeration may have such names.
        """
        declarations_by_lower_case: dict[str, list[Declaration]] = {}
        for declaration in dict.fromkeys(self._declarations()):
            declarations_by_lower_case.setdefault(declaration.name.lower(), []).append(declaration)
        for declarations in declarations_by_lower_case.values():
            for first, second in combinations(declarations, 2):
                are_state_and_value = {first.kind, second.kind} == {"state", "value"}
                if first.name != second.name and not are_state_and_value:
                    yield self._build_finding(first, second)

    def _declarations(self) -> Iterator[Declaration]:
        """Yield every name that the chart declares, values of enumerations included."""
        chart = self.chart
        line_of = chart.lines.get
        yield from (Declaration(name, "input", line_of(name)) for name in chart.inputs)
        yield from (Declaration(name, "output", line_of(name)) for name in chart.outputs)
        yield from (Declaration(name, "local", line_of(name)) for name in chart.locals)
        yield from (Declaration(name, "constant", line_of(name)) for name in chart.constants)
        for name in (*chart.events, *chart.local_events):
            yield Declaration(name, "event", line_of(name))
        for function in chart.functions.values():
            yield Declaration(function.name, "function", function.line)
        yield from (Declaration(name, "junction") for name in chart.junctions)
        yield from (Declaration(state.name, "state", state.line) for state in chart.every_state)
        value_types = [*chart.inputs.values(), *chart.variables.values()]
        for function in chart.functions.values():
            value_types += [*function.parameters.values(), function.return_type]
        for value_type in value_types:
            if isinstance(value_type, EnumType):
                yield from (Declaration(value, "value", line_of(value)) for value in value_type.values)

    def _build_finding(self, first: Declaration, second: Declaration) -> Finding:
        """Return the error that two declared names differ only in case."""
        message = f"{first} and {second} differ only in case: rename one"
        state_names = [declaration.name for declaration in (second, first) if declaration.kind == "state"]
        state = state_names[0] if state_names else None
        return Finding(Level.ERROR, Rule.CASE_TWINS, message, state, line=second.line or first.line)


class FunctionTables(Check):
    """Finds cases of a function that match no row of its truth table, or two rows."""

    def findings(self) -> Iterator[Finding]:
        """Yield the gaps and overlaps of all functions."""
        for function in self.chart.functions.values():
            solver = CheckSolver(function.parameters, is_time_over=self.analysis.limits.is_time_over)
            yield from self._find_gap(function, solver)
            for first, second in combinations(function.rows, 2):
                yield from self._find_overlap(function, solver, first, second)
            # the report states the number of questions that were decided
            self.analysis.solver.n_decided_questions += solver.n_decided_questions

    def _find_gap(self, function: Function, solver: CheckSolver) -> Iterator[Finding]:
        """Yield an error if some arguments match no row of a function, or a note if that is not known."""
        answer = solver.solve(build_claims(false=[row.when for row in function.rows]))
        if answer.possible:
            case = _complete_case(function, answer)
            message = f"no row of {function.name} matches {case}: add one"
            yield Finding(Level.ERROR, Rule.FUNCTION_GAP, message, counterexample=case, line=function.line)
        elif answer.possible is None:
            message = f"it is not known whether every case matches a row of {function.name}: {answer.reason}"
            yield not_proved(message, line=function.line)

    def _find_overlap(
        self, function: Function, solver: CheckSolver, first: FunctionRow, second: FunctionRow
    ) -> Iterator[Finding]:
        """Yield an error if two rows match one case with different results, a note if with equal ones.

        Args:
            function: the function with the truth table.
            solver: a solver for its parameters.
            first: a row of the table.
            second: a later row.
        """
        overlap_claims = build_claims([first.when, second.when])
        rows = f"the rows in lines {first.line} and {second.line} of {function.name}"
        answer = solver.solve((*overlap_claims, *build_claims([differ(first.value, second.value)])))
        if answer.possible is None:
            message = f"it is not known whether {rows} both match one case: {answer.reason}"
            yield not_proved(message, line=second.line)
            return
        level = Level.ERROR
        comparison = ", with different values"
        if not answer.possible:
            answer = solver.solve(overlap_claims)
            level = Level.NOTE
            comparison = ", with the same value"
        if answer.possible:
            case = _complete_case(function, answer)
            message = f"{rows} both match {case}{comparison}"
            yield Finding(level, Rule.FUNCTION_OVERLAP, message, counterexample=case, line=second.line)


def _complete_case(function: Function, answer: SolverAnswer) -> Counterexample:
    """Return the case of an answer with a value for every parameter of a function."""
    case = answer.case or {}
    arguments = {name: case.get(name, value_type.default) for name, value_type in function.parameters.items()}
    return Counterexample("", arguments)
