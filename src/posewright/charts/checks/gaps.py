"""Cases in which no guard holds, where staying was not said to be meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from math import prod
from typing import NamedTuple

from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.inspection import Check, suspected
from posewright.charts.checks.question import AtChoice, CheckQuestion, When
from posewright.charts.checks.search import Witness, WitnessSearch
from posewright.charts.checks.solver import (
    all_of,
    any_of,
    asked_for,
    claims,
    condition,
    negated,
    shows,
    stand_at,
    stands_at,
)
from posewright.charts.expression import Expression, Literal, Name, critical_values, rewritten
from posewright.charts.machine import CompoundTransition, StateNode
from posewright.charts.model import Otherwise
from posewright.charts.reachability import Domain
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Value
from posewright.errors import ExpressionError

MAX_COUNTED = 10
"""Truth values over which the cases of a gap are counted."""


class GapSuspect(NamedTuple):
    """A state in which it may be that no guard holds, as far as types tell."""

    node: StateNode
    ways: Sequence[CompoundTransition]
    search: WitnessSearch


class Gaps(Check):
    """Looks for states in which no transition can be taken; a wait counts as over, events do not count."""

    def ask(self) -> None:
        """Ask where no guard may hold, and have runs searched for that come there."""
        self.suspects: list[GapSuspect] = []
        for node in self.machine.nodes[1:]:
            if self.refuses(node):
                ways = asked_for(node, self.machine.nodes)
                asked = claims(false=[way.guard for way in ways])
                if not self.inspection.solver.excludes(asked):
                    question = CheckQuestion(AtChoice(node.index, frozenset({None}), When.FIRST), asked)
                    self.suspects.append(GapSuspect(node, ways, self.inspection.search(question)))

    def refuses(self, node: StateNode) -> bool:
        """Return whether a gap in a state is a mistake: of what is around others, only where that is said."""
        if node.state is None or node.final:
            return False
        if not node.is_leaf:
            return node.state.otherwise is Otherwise.REFUSE
        return self.chart.otherwise_in(node.state) is Otherwise.REFUSE

    def findings(self) -> Iterator[Finding]:
        """Yield the gaps that a run shows, and those that nothing excludes."""
        for suspect in self.suspects:
            if suspect.search.witness is not None:
                yield self.found(suspect, suspect.search.witness)
            elif self.inspection.is_open(suspect.search, suspect.node):
                claim = f"there is no transition in {suspect.node.name}"
                yield suspected(self.inspection, suspect.search, Rule.GAP, claim, suspect.node)

    def found(self, suspect: GapSuspect, witness: Witness) -> Finding:
        """Return what to say of a gap."""
        node = suspect.node
        case, told = self.inspection.case(node.name, witness, suspect.search.names)
        message = f"no transition {told}{self.share(suspect, witness)}: add one, or say `otherwise: stay`"
        line = node.state.line if node.state is not None else None
        return Finding(Level.ERROR, Rule.GAP, message, node.name, case, line, witness.trace)

    def share(self, suspect: GapSuspect, witness: Witness) -> str:
        """Return in how many cases no guard holds, where only truth values are asked."""
        inputs = self.chart.inputs
        names = [name for name in inputs if name in suspect.search.names]
        if not names or len(names) > MAX_COUNTED:
            return ""
        if not all(isinstance(inputs[name], BoolType) for name in names):
            return ""
        count = 0
        for values in product((False, True), repeat=len(names)):
            held = {**witness.standing.held, **dict(zip(names, values, strict=True))}
            count += shows(suspect.search.question.claims, held)
        return f" ({count} of {2 ** len(names)} cases)"


MAX_PARTS = 1000
"""Critical values times guards beyond which a state is not looked at: nobody wrote them one by one."""

MAX_CASES = 256
"""Cases beyond which they are not gone through."""

LEAST = 3
"""Cases with a transition at least, where the one without is to stand out."""


class PointGapSuspect(NamedTuple):
    """A state that may leave out a single value or case, as far as types tell.

    Attributes:
        beside: what has a transition where the case has none.
    """

    node: StateNode
    beside: str
    search: WitnessSearch


class PointGaps(Check):
    """Looks for cases without a transition of which all that is next to them has one."""

    def ask(self) -> None:
        """Ask what single cases may be left out, and have runs searched for that come there."""
        self.kinds = {**self.chart.inputs, **self.chart.variables}
        nodes = self.machine.nodes[1:]
        self.suspects = [one for node in nodes if self.is_asked(node) for one in self.suspects_in(node)]

    def is_asked(self, node: StateNode) -> bool:
        """Return whether nobody said that staying is meant: not the state, none around it, not the chart."""
        chart, nodes = self.chart, self.machine.nodes
        if not chart.just_stays:
            return False
        states = [nodes[number].state for number in (node.index, *node.around)]
        return not node.final and not any(state.otherwise for state in states if state is not None)

    def suspects_in(self, node: StateNode) -> Iterator[PointGapSuspect]:
        """Yield what may be left out in a state."""
        own = [way for way in node.ways if not way.events and way.guard.names]
        if len(own) < 2:
            return
        guards = [way.guard for way in asked_for(node, self.machine.nodes)]
        for name in self.shared(own):
            yield from self.of_number(node, guards, name)
        yield from self.of_cases(node, guards)

    def shared(self, ways: Sequence[CompoundTransition]) -> Iterator[str]:
        """Yield the numbers that two of some ways ask about at least."""
        for name, kind in self.kinds.items():
            if isinstance(kind, IntType | FloatType) and sum(name in way.guard.names for way in ways) > 1:
                yield name

    def of_number(
        self, node: StateNode, guards: Sequence[Expression], name: str
    ) -> Iterator[PointGapSuspect]:
        """Yield where a single value of a number may be left out."""
        mine = [guard for guard in guards if name in guard.names]
        values = sorted(self.values_of(mine, name))
        if values and len(values) * len(mine) <= MAX_PARTS:
            places = [self.place(guards, name, value) for value in values]
            yield from self.suspect(node, guards, [any_of(places)], "its neighbours have one")

    def values_of(self, guards: Sequence[Expression], name: str) -> set[int]:
        """Return the values at which guards change, with those next to them, numbered in order."""
        kind = self.kinds[name]
        if not isinstance(kind, IntType | FloatType):
            return set()
        axis, low, high = Domain(kind), Fraction(kind.low), Fraction(kind.high)
        found, _ = critical_values(guards, frozenset({name}))
        fitting = [axis.index(kind.fit(float(min(max(value, low), high)))) for value in found[name]]
        ((first, last),) = axis.whole
        return {at + step for at in fitting for step in (-1, 0, 1) if first < at + step < last}

    def place(self, guards: Sequence[Expression], name: str, number: int) -> Expression:
        """Return where the values beside one have a transition, and not both the same."""
        axis = Domain(self.kinds[name])
        below, above = (
            [at_value(guard, name, axis.value(number + step)) for guard in guards] for step in (-1, 1)
        )
        across = any_of([all_of(pair) for pair in zip(below, above, strict=True)])
        here = stands_at(name, axis.value(number))
        return all_of([here, any_of(below), any_of(above), negated(across)])

    def of_cases(self, node: StateNode, guards: Sequence[Expression]) -> Iterator[PointGapSuspect]:
        """Yield where a single case of all that there are may be left out."""
        names = sorted(frozenset[str]().union(*(guard.names for guard in guards)))
        cases = list(self.cases(names))
        if len(cases) <= LEAST:
            return
        held = [[holds(guard, case) for guard in guards] for case in cases]
        bare = [case for case, row in zip(cases, held, strict=True) if not any(row)]
        alone = any(sum(column) == len(cases) - 1 for column in zip(*held, strict=True))
        if len(bare) == 1 and not alone and not self.is_nothing(bare[0]):
            yield from self.suspect(node, guards, [stand_at(bare[0])], "every other case has one")

    def is_nothing(self, case: Mapping[str, Value]) -> bool:
        """Return whether everything is false, or its first word: that nothing is to be done is meant then."""
        return all(value == self.kinds[name].zero for name, value in case.items())

    def cases(self, names: Sequence[str]) -> Iterator[Mapping[str, Value]]:
        """Yield all cases of truth values and words; none where there is something else, or too many."""
        kinds = [self.kinds.get(name) for name in names]
        values = [values_of(kind) for kind in kinds if isinstance(kind, BoolType | EnumType)]
        if len(values) == len(names) and prod(map(len, values)) <= MAX_CASES:
            yield from (dict(zip(names, row, strict=True)) for row in product(*values))

    def suspect(
        self, node: StateNode, guards: Sequence[Expression], where: Sequence[Expression], beside: str
    ) -> Iterator[PointGapSuspect]:
        """Yield a state with the search for a tick that shows it, unless types exclude that."""
        asked = claims(where, guards)
        if not self.inspection.solver.excludes(asked):
            question = CheckQuestion(AtChoice(node.index, frozenset({None}), When.FIRST), asked)
            yield PointGapSuspect(node, beside, self.inspection.search(question))

    def findings(self) -> Iterator[Finding]:
        """Yield what was found: of a gap that may be meant, only what a run shows."""
        told = set[int]()
        for suspect in self.suspects:
            if suspect.search.witness is not None and suspect.node.index not in told:
                told.add(suspect.node.index)
                yield self.found(suspect, suspect.search.witness)

    def found(self, suspect: PointGapSuspect, witness: Witness) -> Finding:
        """Return what to say of a case that is left out."""
        node = suspect.node
        case, shown = self.inspection.case(node.name, witness, suspect.search.names)
        message = f"no transition {shown}, though {suspect.beside}: add one, or say `otherwise: stay`"
        line = node.state.line if node.state is not None else None
        return Finding(Level.WARNING, Rule.GAP, message, node.name, case, line, witness.trace)


def at_value(guard: Expression, name: str, value: Value) -> Expression:
    """Return a guard with a number in the place of a name, however else the name stands beside it."""
    tree = rewritten(guard.tree, lambda node: Literal(value) if node == Name(name) else None)
    return condition(tree, [guard])


def values_of(kind: BoolType | EnumType) -> tuple[Value, ...]:
    """Return all values of a type that has few."""
    return kind.values if isinstance(kind, EnumType) else (False, True)


def holds(guard: Expression, case: Mapping[str, Value]) -> bool:
    """Return whether a guard holds; one that fails does not."""
    with suppress(ExpressionError):
        return guard.evaluate(case) is True
    return False
