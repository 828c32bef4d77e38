"""What is declared: without any use, with names alike, truth tables with gaps and contradictions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import NamedTuple

from posewright.charts.checks.conditions import (
    all_of,
    any_of,
    condition,
    differ,
    divides,
    negated,
    outcome_differs,
)
from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule, not_proved
from posewright.charts.checks.inspection import Check, Inspection, watched_by
from posewright.charts.checks.solver import OTHER, CheckSolver, SolverAnswer, claims
from posewright.charts.expression import Expression, Function, FunctionRow, Name, names_in, rewrite
from posewright.charts.machine import CompoundTransition, all_actions
from posewright.charts.model import Chart, Transition, events_raised, expressions_in, names_set, segments_of
from posewright.charts.types import EnumType

WORD = re.compile(r"[^\W\d]\w*")

MANY = 100
"""Ways of one state beyond which each is an outcome of its own."""


class Unused(Check):
    """Looks for names that are declared and that nobody reads, sets, raises, waits for or calls."""

    def __init__(self, inspection: Inspection) -> None:
        super().__init__(inspection)
        blocks = list(all_actions(self.machine))
        self.read = frozenset[str]().union(*(one.names for one in self.machine.expressions))
        self.written = frozenset[str]().union(*map(names_set, blocks))
        self.raised = frozenset[str]().union(*map(events_raised, blocks))
        self.promised = frozenset[str]().union(*(one.names for one in watched_by(*self.chart.promises)))

    def findings(self) -> Iterator[Finding]:
        """Yield what makes no difference."""
        yield from self._inputs()
        for name in self.chart.outputs:
            if name not in self.written:
                yield self._warning(name, Rule.UNUSED_OUTPUT, f"nothing ever sets the output {name}")
        for name in self.chart.locals:
            if name not in self.read | self.promised:
                message = f"the local {name} is read by no guard and no action"
                yield self._warning(name, Rule.UNUSED_LOCAL, message)
            elif name not in self.written:
                yield self._warning(name, Rule.UNUSED_LOCAL, f"nothing ever sets the local {name}")
        yield from self._events()
        yield from self._never_named()

    def _inputs(self) -> Iterator[Finding]:
        for name in self.chart.inputs:
            if name not in self.read | self.promised:
                message = f"the input {name} is read by no guard and no action"
                yield self._warning(name, Rule.UNUSED_INPUT, message)
            elif name in self.read and not self.matters(name):
                message = f"the input {name} makes no difference in any state"
                yield self._warning(name, Rule.UNUSED_INPUT, message)

    def _events(self) -> Iterator[Finding]:
        heard = self.machine.handled_events | self.promised
        for name in self.chart.events:
            if name not in heard:
                yield self._warning(name, Rule.UNUSED_EVENT, f"no transition waits for the event {name}")
        for name in self.chart.local_events:
            if name not in heard:
                yield self._warning(
                    name, Rule.UNUSED_EVENT, f"no transition waits for the local event {name}"
                )
            elif name not in self.raised:
                yield self._warning(name, Rule.UNUSED_EVENT, f"nothing raises the local event {name}")

    def _never_named(self) -> Iterator[Finding]:
        """Yield constants and functions that no expression names."""
        named = set[str]()
        for one in expressions_of(self.chart):  # as written too, for functions are gone from the tree
            named.update(names_in(one.tree), WORD.findall(str(one)))
        starts = self.chart.initial_values.values()  # they are known as numbers only, not as written
        for name, value in self.chart.constants.items():
            if name not in named and value not in starts:
                yield self._warning(name, Rule.UNUSED_CONSTANT, f"nothing uses the constant {name}")
        for name in self.chart.functions:
            if name not in named:
                yield self._warning(name, Rule.UNUSED_FUNCTION, f"nothing calls the function {name}")

    def _warning(self, name: str, rule: Rule, message: str) -> Finding:
        return Finding(Level.WARNING, rule, message, line=self.chart.lines.get(name))

    # Whether an input makes a difference

    def matters(self, name: str) -> bool:
        """Return whether an input can make a difference, or whether that cannot be told."""
        computed = (one.names for block in all_actions(self.machine) for one in expressions_in(block))
        counted = (one.condition.names for one in self.machine.counters if one.condition is not None)
        if any(name in names for names in (*computed, *counted)):
            return True
        reading = (
            n.transitions for n in self.machine.nodes if any(name in way.guard.names for way in n.transitions)
        )
        return any(self.decides(outcome, name) for ways in reading for outcome in outcomes_of(ways))

    def decides(self, outcome: Expression, name: str) -> bool:
        """Return whether an outcome can be another with another value of the input."""
        if name not in outcome.names:
            return False
        other = claims([outcome], [renamed(outcome, name)])
        return divides(outcome) or not self.inspection.solver.excludes(other)


def outcomes_of(ways: Sequence[CompoundTransition]) -> list[Expression]:
    """Return the conditions on which different things are done in a state, or more of them than that."""
    if len(ways) > MANY or any(way.events or way.wait for way in ways):
        return [way.guard for way in ways]
    kinds: list[tuple[CompoundTransition, list[Expression]]] = []
    before: list[Expression] = []
    for way in ways:
        taken = all_of([way.guard, *map(negated, before)])
        before.append(way.guard)
        for other, conditions in kinds:
            if outcome_differs(other, way) is False:
                conditions.append(taken)
                break
        else:
            kinds.append((way, [taken]))
    return [any_of(conditions) for _, conditions in kinds]


def renamed(one: Expression, name: str) -> Expression:
    """Return a condition that asks for another value of an input."""
    tree = rewrite(one.tree, lambda node: replace(node, name=OTHER + name) if node == Name(name) else None)
    return condition(tree, [one])


def expressions_of(chart: Chart) -> Iterator[Expression]:
    """Yield every expression of a chart as it is written."""
    for state in chart.every_state:
        yield from chain(state.do.values(), _of_ways(state.transitions))
        for actions in (state.entry, state.during, state.exit):
            yield from expressions_in(actions)
    for ways in chart.junctions.values():
        yield from _of_ways(ways)
    for promise in chart.promises:
        yield promise.when
        if promise.goal is not None:
            yield promise.goal
    for function in chart.functions.values():
        for row in function.rows:
            yield from (row.when, row.give)


def _of_ways(ways: tuple[Transition, ...]) -> Iterator[Expression]:
    for segment in segments_of(ways):
        yield segment.when
        yield from expressions_in(segment.do)


class Named(NamedTuple):
    """Something with a name.

    Attributes:
        sort: what it is, as messages call it.
    """

    name: str
    sort: str
    line: int | None = None

    def __str__(self) -> str:
        place = f" (line {self.line})" if self.line is not None else ""
        return f"the {self.sort} {self.name}{place}"


class CaseCollisions(Check):
    """Looks for names that differ only in case."""

    def findings(self) -> Iterator[Finding]:
        """Yield the pairs of names that are alike."""
        alike: dict[str, list[Named]] = {}
        for one in dict.fromkeys(self._names()):
            alike.setdefault(one.name.lower(), []).append(one)
        for group in alike.values():
            for one, other in combinations(group, 2):
                if one.name != other.name and {one.sort, other.sort} != {"state", "value"}:
                    yield self._found(one, other)

    def _names(self) -> Iterator[Named]:
        chart, line = self.chart, self.chart.lines.get
        yield from (Named(name, "input", line(name)) for name in chart.inputs)
        yield from (Named(name, "output", line(name)) for name in chart.outputs)
        yield from (Named(name, "local", line(name)) for name in chart.locals)
        yield from (Named(name, "constant", line(name)) for name in chart.constants)
        yield from (Named(name, "event", line(name)) for name in (*chart.events, *chart.local_events))
        yield from (Named(one.name, "function", one.line) for one in chart.functions.values())
        yield from (Named(name, "junction") for name in chart.junctions)
        yield from (Named(state.name, "state", state.line) for state in chart.every_state)
        kinds = [*chart.inputs.values(), *chart.variables.values()]
        for function in chart.functions.values():
            kinds += [*function.takes.values(), function.gives]
        for kind in kinds:
            if isinstance(kind, EnumType):
                yield from (Named(value, "value", line(value)) for value in kind.values)

    def _found(self, one: Named, other: Named) -> Finding:
        message = f"{one} and {other} differ only in case: rename one"
        state = next((named.name for named in (other, one) if named.sort == "state"), None)
        return Finding(Level.ERROR, Rule.CASE_TWINS, message, state, None, other.line or one.line)


class FunctionTables(Check):
    """Looks for cases of a function that fit no row, or two."""

    def findings(self) -> Iterator[Finding]:
        """Yield the cases that fit no row, or two."""
        for function in self.chart.functions.values():
            solver = CheckSolver(function.takes, is_over=self.inspection.limits.is_over)
            yield from self._gap(function, solver)
            for one, other in combinations(function.rows, 2):
                yield from self._overlap(function, solver, one, other)
            self.inspection.solver.proved += solver.proved

    def _gap(self, function: Function, solver: CheckSolver) -> Iterator[Finding]:
        answer = solver.ask(claims(false=[row.when for row in function.rows]))
        if answer.possible:
            case = case_of(function, answer)
            message = f"no row of {function.name} fits {case}: add one"
            yield Finding(Level.ERROR, Rule.FUNCTION_GAP, message, None, case, function.line)
        elif answer.possible is None:
            text = f"whether every case fits a row of {function.name} is not known: {answer.reason}"
            yield not_proved(text, None, function.line)

    def _overlap(
        self, function: Function, solver: CheckSolver, one: FunctionRow, other: FunctionRow
    ) -> Iterator[Finding]:
        both = claims([one.when, other.when])
        rows = f"the rows in lines {one.line} and {other.line} of {function.name}"
        answer = solver.ask((*both, *claims([differ(one.give, other.give)])))
        if answer.possible is None:
            yield not_proved(f"whether {rows} fit at once is not known: {answer.reason}", None, other.line)
            return
        level, what = Level.ERROR, ", and do not give the same"
        if not answer.possible:
            answer, level, what = solver.ask(both), Level.NOTE, "; both give the same"
        if answer.possible:
            case = case_of(function, answer)
            message = f"{rows} fit at once {case}{what}"
            yield Finding(level, Rule.FUNCTION_OVERLAP, message, None, case, other.line)


def case_of(function: Function, answer: SolverAnswer) -> Counterexample:
    """Return a value for every parameter."""
    found = answer.case or {}
    return Counterexample("", {name: found.get(name, kind.default) for name, kind in function.takes.items()})
