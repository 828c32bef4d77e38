"""Cases in which no guard holds, where staying was not said to be meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, product
from math import prod
from typing import NamedTuple

from posewright.charts.checks.conditions import (
    all_of,
    any_of,
    condition,
    eventless_transitions,
    name_equals,
    names_equal,
    negated,
)
from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.inspection import Check, Inspection, suspected
from posewright.charts.checks.question import AtChoice, CheckQuestion, When
from posewright.charts.checks.search import WitnessSearch
from posewright.charts.checks.solver import CheckClaim, all_hold, claims
from posewright.charts.expression import (
    COMPARISONS,
    Binary,
    Expression,
    Literal,
    Name,
    Tree,
    names_in,
    nodes_of,
    rewrite,
)
from posewright.charts.machine import StateNode
from posewright.charts.model import Otherwise
from posewright.charts.reachability import Domain, where
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, Value
from posewright.errors import ExpressionError

MAX_COUNTED = 10
"""Truth values over which the cases of a gap are counted."""


class Gaps(Check):
    """Looks for states in which no transition can be taken; a wait counts as over, events do not count."""

    def ask(self) -> None:
        """Ask where no guard may hold, and have runs searched for that come there."""
        self.searches: list[tuple[StateNode, WitnessSearch]] = []
        for node in self.machine.nodes[1:]:
            if self._refuses(node):
                asked = claims(false=[way.guard for way in eventless_transitions(node, self.machine.nodes)])
                self.searches += [(node, search) for search in _search(self.inspection, node, asked)]

    def _refuses(self, node: StateNode) -> bool:
        """Return whether a gap in a state is a mistake: of what is around others, only where that is said."""
        if node.state is None or node.final:
            return False
        said = self.chart.otherwise_in(node.state) if node.is_leaf else node.state.otherwise
        return said is Otherwise.REFUSE

    def findings(self) -> Iterator[Finding]:
        """Yield the gaps that a run shows, and those that nothing excludes."""
        for node, search in self.searches:
            if search.witness is not None:
                case, told = self.inspection.case(node.name, search.witness, search.names)
                message = f"no transition {told}{self._share(search)}: add one, or say `otherwise: stay`"
                yield Finding(
                    Level.ERROR, Rule.GAP, message, node.name, case, node.line, search.witness.trace
                )
            elif self.inspection.is_open(search, node):
                claim = f"there is no transition in {node.name}"
                yield suspected(self.inspection, search, Rule.GAP, claim, node)

    def _share(self, search: WitnessSearch) -> str:
        """Return in how many cases no guard holds, where only truth values are asked."""
        inputs = self.chart.inputs
        names = [name for name in inputs if name in search.names]
        if not names or len(names) > MAX_COUNTED or search.witness is None:
            return ""
        if not all(isinstance(inputs[name], BoolType) for name in names):
            return ""
        cases = (dict(zip(names, row, strict=True)) for row in product((False, True), repeat=len(names)))
        held = search.witness.standing.held
        count = sum(all_hold(search.question.claims, {**held, **case}) for case in cases)
        return f" ({count} of {2 ** len(names)} cases)"


def _search(
    inspection: Inspection, node: StateNode, asked: tuple[CheckClaim, ...]
) -> Iterator[WitnessSearch]:
    """Yield the search for a tick in which all that is asked is so in a state, unless types exclude it."""
    if not inspection.solver.excludes(asked):
        yield inspection.search(CheckQuestion(AtChoice(node.index, frozenset({None}), When.FIRST), asked))


MAX_PARTS = 1000
"""Critical values times guards beyond which a state is not looked at: nobody wrote them one by one."""

MAX_CASES = 256
"""Cases beyond which they are not gone through."""

MAX_CHOICES = 64
"""Values of all else that a comparison is looked at with."""

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
        self.suspects = [one for node in nodes if self._is_asked(node) for one in self.suspects_in(node)]

    def _is_asked(self, node: StateNode) -> bool:
        """Return whether nobody said that staying is meant: not the state, none around it, not the chart."""
        chart, nodes = self.chart, self.machine.nodes
        if not chart.stays_by_default:
            return False
        states = [nodes[number].state for number in (node.index, *node.ancestors)]
        return not node.final and not any(state.otherwise for state in states if state is not None)

    def suspects_in(self, node: StateNode) -> Iterator[PointGapSuspect]:
        """Yield what may be left out in a state: values of numbers that two guards ask about, and cases."""
        own = [way.guard for way in node.transitions if not way.events and way.guard.names]
        if len(own) < 2:
            return
        guards = [way.guard for way in eventless_transitions(node, self.machine.nodes)]
        for name, kind in self.kinds.items():
            if isinstance(kind, IntType | FloatType) and sum(name in guard.names for guard in own) > 1:
                yield from self._of_number(node, guards, name)
        yield from self._of_cases(node, guards)

    def _of_number(
        self, node: StateNode, guards: Sequence[Expression], name: str
    ) -> Iterator[PointGapSuspect]:
        mine = [guard for guard in guards if name in guard.names]
        ((first, last),) = Domain(self.kinds[name]).whole
        values = sorted(at for at in changes(mine, name, self.machine.types) if first < at < last)
        if values and len(values) * len(mine) <= MAX_PARTS:
            places = [self.place(guards, name, value) for value in values]
            yield from self._suspect(node, guards, [any_of(places)], "its neighbours have one")

    def place(self, guards: Sequence[Expression], name: str, number: int) -> Expression:
        """Return where the values beside one have a transition, and not both the same."""
        axis = Domain(self.kinds[name])
        below, above = (
            [at_value(guard, name, axis.value(number + step)) for guard in guards] for step in (-1, 1)
        )
        across = any_of([all_of(pair) for pair in zip(below, above, strict=True)])
        here = name_equals(name, axis.value(number))
        return all_of([here, any_of(below), any_of(above), negated(across)])

    def _of_cases(self, node: StateNode, guards: Sequence[Expression]) -> Iterator[PointGapSuspect]:
        names = sorted(frozenset[str]().union(*(guard.names for guard in guards)))
        cases = list(self._cases(names))
        if len(cases) <= LEAST:
            return
        held = [[holds(guard, case) for guard in guards] for case in cases]
        bare = [case for case, row in zip(cases, held, strict=True) if not any(row)]
        alone = any(sum(column) == len(cases) - 1 for column in zip(*held, strict=True))
        if len(bare) == 1 and not alone and not self.is_nothing(bare[0]):
            yield from self._suspect(node, guards, [names_equal(bare[0])], "every other case has one")

    def is_nothing(self, case: Mapping[str, Value]) -> bool:
        """Return whether everything is false, or its first word: that nothing is to be done is meant then."""
        return all(value == self.kinds[name].default for name, value in case.items())

    def _cases(self, names: Sequence[str]) -> Iterator[Mapping[str, Value]]:
        """Yield all cases of truth values and words; none where there is something else, or too many."""
        kinds = [self.kinds.get(name) for name in names]
        values = [values_of(kind) for kind in kinds if isinstance(kind, BoolType | EnumType)]
        if len(values) == len(names) and prod(map(len, values)) <= MAX_CASES:
            yield from (dict(zip(names, row, strict=True)) for row in product(*values))

    def _suspect(
        self, node: StateNode, guards: Sequence[Expression], where: Sequence[Expression], beside: str
    ) -> Iterator[PointGapSuspect]:
        for search in _search(self.inspection, node, claims(where, guards)):
            yield PointGapSuspect(node, beside, search)

    def findings(self) -> Iterator[Finding]:
        """Yield what was found, once for a state: of a gap that may be meant, only what a run shows."""
        told = set[int]()
        for node, beside, search in self.suspects:
            if search.witness is not None and node.index not in told:
                told.add(node.index)
                case, shown = self.inspection.case(node.name, search.witness, search.names)
                message = f"no transition {shown}, though {beside}: add one, or say `otherwise: stay`"
                yield Finding(
                    Level.WARNING, Rule.GAP, message, node.name, case, node.line, search.witness.trace
                )


def changes(guards: Iterable[Expression], name: str, types: Mapping[str, Type]) -> set[int]:
    """Return where a comparison in some guards is not as at the value below, by the numbers of the values.

    What else a comparison reads has all its values in turn where they are few; numbers are zero.
    """
    axis, found = Domain(types[name]), set[int]()
    for guard in guards:
        for tree in nodes_of(guard.tree):
            names = names_in(tree) - guard.fixed.keys()
            if isinstance(tree, Binary) and tree.operator in COMPARISONS and name in names:
                others = sorted(names - {name})
                for case in islice(product(*(values_of(types[one]) for one in others)), MAX_CHOICES):
                    held = dict(zip(others, case, strict=True))
                    with suppress(ExpressionError):
                        spans, _ = where(tree, name, axis, _compiling(guard, held, name, axis))
                        found.update(edge for low, high in spans for edge in (low, high + 1))
    return found


def _compiling(
    guard: Expression, held: Mapping[str, Value], name: str, axis: Domain
) -> Callable[[Tree], Callable[[int], Value]]:
    def compiled(tree: Tree) -> Callable[[int], Value]:
        evaluate = guard.with_tree(tree).evaluate
        return lambda at: evaluate({**held, name: axis.value(at)})

    return compiled


def at_value(guard: Expression, name: str, value: Value) -> Expression:
    """Return a guard with a number in the place of a name, however else the name stands beside it."""
    tree = rewrite(guard.tree, lambda node: Literal(value) if node == Name(name) else None)
    return condition(tree, [guard])


def values_of(kind: Type) -> tuple[Value, ...]:
    """Return all values of a type that has few; of numbers, zero."""
    if isinstance(kind, EnumType):
        return kind.values
    return (False, True) if isinstance(kind, BoolType) else (kind.default,)


def holds(guard: Expression, case: Mapping[str, Value]) -> bool:
    """Return whether a guard holds; one that fails does not."""
    with suppress(ExpressionError):
        return guard.evaluate(case) is True
    return False
