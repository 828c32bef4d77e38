"""Checks for gaps: values for which no guard of a state holds although the chart does not mean to stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, product
from math import prod
from typing import NamedTuple

from posewright.charts.checks.analysis import ChartAnalysis, Check, build_unproved_finding
from posewright.charts.checks.conditions import (
    all_of,
    any_of,
    build_condition,
    eventless_transitions,
    name_equals,
    names_equal,
    negation,
)
from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.question import CheckQuestion, MicrostepFilter, TransitionChoice
from posewright.charts.checks.solver import CheckClaim, all_hold, build_claims
from posewright.charts.checks.witness_search import WitnessSearch
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
from posewright.charts.reachability import Domain, find_spans
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, Value
from posewright.errors import ExpressionError

MAX_COUNTED_INPUTS = 10
"""Boolean inputs up to which the message of a gap counts its cases."""


class GuardGaps(Check):
    """Finds states in which no transition is enabled; waits count as over, events do not count.

    Attributes:
        searches: the states that may have a gap, each with the search for it.
    """

    def prepare(self) -> None:
        """Add searches for states in which all guards may be false."""
        self.searches: list[tuple[StateNode, WitnessSearch]] = []
        states = self.machine.nodes[1:]  # without the chart itself
        for node in states:
            if not self._requires_transition(node):
                continue
            guards = [transition.guard for transition in eventless_transitions(node, self.machine.nodes)]
            search = _add_search_unless_excluded(self.analysis, node, build_claims(false=guards))
            if search is not None:
                self.searches.append((node, search))

    def _requires_transition(self, node: StateNode) -> bool:
        """Return whether a gap in a state is an error; in a compound state, only by its own `otherwise`."""
        if node.state is None or node.final:
            return False
        otherwise = self.chart.otherwise_in(node.state) if node.is_leaf else node.state.otherwise
        return otherwise is Otherwise.REFUSE

    def findings(self) -> Iterator[Finding]:
        """Yield the gaps that a run shows, and those that could not be excluded."""
        for node, search in self.searches:
            witness = search.witness
            if witness is not None:
                case, relevant_case = self.analysis.describe_witness(node.name, witness, search.claim_names)
                share = self._format_share(search)
                message = f"no transition {relevant_case}{share}: add one, or set `otherwise: stay`"
                yield Finding(
                    Level.ERROR,
                    Rule.GAP,
                    message,
                    state=node.name,
                    counterexample=case,
                    line=node.line,
                    trace=witness.trace,
                )
            elif self.analysis.is_undecided(search, node):
                claim = f"there is no transition in {node.name}"
                yield build_unproved_finding(self.analysis, search, rule=Rule.GAP, claim=claim, node=node)

    def _format_share(self, search: WitnessSearch) -> str:
        """Return in how many cases no guard holds, such as " (3 of 8 cases)".

        The cases are all values of the Boolean inputs that the guards read; all else is as in the witness.
        Empty if they read no inputs, more than MAX_COUNTED_INPUTS, or some that are not Boolean.
        """
        input_types = self.chart.inputs
        names = [name for name in input_types if name in search.claim_names]
        if not names or len(names) > MAX_COUNTED_INPUTS or search.witness is None:
            return ""
        if not all(isinstance(input_types[name], BoolType) for name in names):
            return ""
        env = search.witness.point.env
        n_gaps = 0
        for values in product((False, True), repeat=len(names)):
            case = dict(zip(names, values, strict=True))
            if all_hold(search.question.claims, {**env, **case}):
                n_gaps += 1
        return f" ({n_gaps} of {2 ** len(names)} cases)"


def _add_search_unless_excluded(
    analysis: ChartAnalysis, node: StateNode, claims: tuple[CheckClaim, ...]
) -> WitnessSearch | None:
    """Add a search for a tick in whose first microstep in a state all claims are true, and return it.

    Returns None if it is proved, over the whole domain of all types, that the claims are never all true.
    """
    if analysis.solver.excludes(claims):
        return None
    location = TransitionChoice(node.index, frozenset({None}), MicrostepFilter.FIRST)
    return analysis.add_search(CheckQuestion(location, claims))


MAX_VALUES_TIMES_GUARDS = 1000
"""Critical values times guards of a state beyond which single values are not checked."""

MAX_CASES = 256
"""Combinations of values of a state's guards beyond which single cases are not checked."""

MAX_OTHER_COMBINATIONS = 64
"""Combinations of the other names with which a comparison is evaluated."""

MIN_CASES = 3
"""A single case is reported only if there are more cases than this."""


class SingleGapSuspect(NamedTuple):
    """A state in which a single value or case may have no transition, according to the types alone.

    Attributes:
        node: the state.
        contrast: which cases have a transition, for the message.
        search: the search for a run to a case without one.
    """

    node: StateNode
    contrast: str
    search: WitnessSearch


class SingleCaseGaps(Check):
    """Finds single values and cases without a transition while all neighbours have one.

    A chart that does nothing if no guard holds may still lack a case: `x < 5` and `x > 5`.

    Attributes:
        types: the types of inputs, outputs and locals.
        suspects: the states in which a single value or case may have no transition.
    """

    def prepare(self) -> None:
        """Add searches for single values and cases that may be left out."""
        self.types = {**self.chart.inputs, **self.chart.variables}
        self.suspects: list[SingleGapSuspect] = []
        for node in self.machine.nodes[1:]:
            if self._may_lack_cases(node):
                self.suspects += self._find_suspects(node)

    def _may_lack_cases(self, node: StateNode) -> bool:
        """Return whether a state stays by default, without an `otherwise` in it or in an ancestor."""
        if node.final or not self.chart.stays_by_default:
            return False
        states = [self.machine.nodes[node_index].state for node_index in (node.index, *node.ancestors)]
        return not any(state.otherwise for state in states if state is not None)

    def _find_suspects(self, node: StateNode) -> Iterator[SingleGapSuspect]:
        """Yield suspects: single values of numbers that two or more guards compare, and a case of all names.

        A state of which fewer than two guards read a name has no suspects.
        """
        own_guards = [
            transition.guard
            for transition in node.transitions
            if not transition.events and transition.guard.names
        ]
        if len(own_guards) < 2:
            return
        guards = [transition.guard for transition in eventless_transitions(node, self.machine.nodes)]
        for name, value_type in self.types.items():
            n_guards_with_name = sum(name in guard.names for guard in own_guards)
            if isinstance(value_type, IntType | FloatType) and n_guards_with_name > 1:
                yield from self._find_value_suspects(node, guards, name)
        yield from self._find_case_suspects(node, guards)

    def _find_value_suspects(
        self, node: StateNode, guards: Sequence[Expression], name: str
    ) -> Iterator[SingleGapSuspect]:
        """Yield a suspect if a single value of a number may have no transition while both neighbours do.

        Args:
            node: the state.
            guards: the guards of its transitions without an event.
            name: the name of the number.
        """
        guards_with_name = [guard for guard in guards if name in guard.names]
        first, last = Domain(self.types[name]).index_bounds
        change_points = find_change_points(guards_with_name, name, self.machine.types)
        # a value at an end of the range has only one neighbour
        inner_indices = sorted(index for index in change_points if first < index < last)
        if not inner_indices or len(inner_indices) * len(guards_with_name) > MAX_VALUES_TIMES_GUARDS:
            return
        gap = any_of([self._build_single_value_gap(guards, name, index) for index in inner_indices])
        yield from self._build_suspect(node, guards, gap, contrast="its neighbours have one")

    def _build_single_value_gap(self, guards: Sequence[Expression], name: str, index: int) -> Expression:
        """Return the condition that a number has a value whose neighbours have two different transitions.

        The neighbours are the next lower and the next higher value of the number.

        Args:
            guards: the guards of the state.
            name: the name of the number.
            index: the index of the value in the number's domain.
        """
        domain = Domain(self.types[name])
        guards_below = [_substitute_value(guard, name, domain.value_at(index - 1)) for guard in guards]
        guards_above = [_substitute_value(guard, name, domain.value_at(index + 1)) for guard in guards]
        same_on_both_sides = any_of([all_of(pair) for pair in zip(guards_below, guards_above, strict=True)])
        at_value = name_equals(name, domain.value_at(index))
        return all_of([at_value, any_of(guards_below), any_of(guards_above), negation(same_on_both_sides)])

    def _find_case_suspects(
        self, node: StateNode, guards: Sequence[Expression]
    ) -> Iterator[SingleGapSuspect]:
        """Yield a suspect if exactly one case of Booleans and enumerations has no transition.

        A case has a value for every name that the guards read. It is no suspect if it is left out on purpose:
        if a guard holds in all other cases, or every name has its zero.
        """
        names = sorted(frozenset[str]().union(*(guard.names for guard in guards)))
        cases = self._list_cases(names)
        if len(cases) <= MIN_CASES:
            return
        uncovered_cases = [case for case in cases if not any(_holds(guard, case) for guard in guards)]
        if len(uncovered_cases) != 1:
            return
        (uncovered_case,) = uncovered_cases
        # as `not (a and b)`
        n_other_cases = len(cases) - 1
        excludes_only_this = any(
            sum(_holds(guard, case) for case in cases) == n_other_cases for guard in guards
        )
        if not excludes_only_this and not self._is_all_zero(uncovered_case):
            gap = names_equal(uncovered_case)
            yield from self._build_suspect(node, guards, gap, contrast="every other case has one")

    def _is_all_zero(self, case: Mapping[str, Value]) -> bool:
        """Return whether every name has its zero; a chart means to do nothing then."""
        return all(value == self.types[name].default for name, value in case.items())

    def _list_cases(self, names: Sequence[str]) -> list[Mapping[str, Value]]:
        """Return every combination of values of some Booleans and enumerations.

        Empty if there are too many combinations, or if one of the names is of another type.
        """
        values_by_name: dict[str, tuple[Value, ...]] = {}
        for name in names:
            value_type = self.types.get(name)
            if not isinstance(value_type, BoolType | EnumType):
                return []
            values_by_name[name] = _values_of(value_type)
        if prod(map(len, values_by_name.values())) > MAX_CASES:
            return []
        return [dict(zip(names, values, strict=True)) for values in product(*values_by_name.values())]

    def _build_suspect(
        self, node: StateNode, guards: Sequence[Expression], gap: Expression, contrast: str
    ) -> Iterator[SingleGapSuspect]:
        """Add a search for a tick in a gap in which no guard holds, and yield it as a suspect.

        Nothing is yielded if it is proved that some guard always holds in the gap.

        Args:
            node: the state.
            guards: the guards of its transitions.
            gap: the condition under which a value or case may have no transition.
            contrast: which cases have a transition, for the message: "its neighbours have one".
        """
        search = _add_search_unless_excluded(self.analysis, node, build_claims(true=[gap], false=guards))
        if search is not None:
            yield SingleGapSuspect(node, contrast, search)

    def findings(self) -> Iterator[Finding]:
        """Yield a warning for each state with a gap that a run shows; only the first of each state."""
        reported_nodes = set[int]()
        for node, contrast, search in self.suspects:
            witness = search.witness
            if witness is None or node.index in reported_nodes:
                continue
            reported_nodes.add(node.index)
            case, relevant_case = self.analysis.describe_witness(node.name, witness, search.claim_names)
            message = f"no transition {relevant_case}, though {contrast}: add one, or set `otherwise: stay`"
            yield Finding(
                Level.WARNING,
                Rule.GAP,
                message,
                state=node.name,
                counterexample=case,
                line=node.line,
                trace=witness.trace,
            )


def find_change_points(guards: Iterable[Expression], name: str, types: Mapping[str, Type]) -> set[int]:
    """Return where a comparison in some guards changes its truth value along the domain of a number.

    Args:
        guards: guards with comparisons.
        name: the name of the number.
        types: the types of all names in the guards.

    Returns:
        Indices into the domain of `name` at which a comparison differs from the index below.
    """
    domain = Domain(types[name])
    change_points = set[int]()
    for guard in guards:
        for tree in nodes_of(guard.tree):
            names = names_in(tree) - guard.constant_values.keys()  # without named constants
            if isinstance(tree, Binary) and tree.operator in COMPARISONS and name in names:
                comparison = guard.with_tree(tree)
                further_names = sorted(names - {name})
                for env in _list_environments(further_names, types):
                    change_points |= _find_change_points_in(comparison, env, name, domain)
    return change_points


def _list_environments(names: Sequence[str], types: Mapping[str, Type]) -> Iterator[dict[str, Value]]:
    """Yield combinations of values of some names; of a number, only zero is taken."""
    combinations = product(*(_values_of(types[name]) for name in names))
    for values in islice(combinations, MAX_OTHER_COMBINATIONS):
        yield dict(zip(names, values, strict=True))


def _find_change_points_in(
    comparison: Expression, env: Mapping[str, Value], name: str, domain: Domain
) -> set[int]:
    """Return where one comparison changes its truth value, as indices into the domain of a number.

    Empty if the comparison divides by zero.

    Args:
        comparison: the comparison.
        env: the values of its other names.
        name: the name of the number that varies.
        domain: the domain of that number.
    """

    def compile_at_index(tree: Tree) -> Callable[[int], Value]:
        """Return a part of the comparison as a function of an index into the domain."""
        evaluate = comparison.with_tree(tree).evaluate
        return lambda index: evaluate({**env, name: domain.value_at(index)})

    change_points = set[int]()
    with suppress(ExpressionError):
        true_spans, _ = find_spans(comparison.tree, name, domain, compile_at_index)
        for first_true, last_true in true_spans:
            change_points |= {first_true, last_true + 1}
    return change_points


def _substitute_value(guard: Expression, name: str, value: Value) -> Expression:
    """Return a guard in which a name is replaced by a value."""
    tree = rewrite(guard.tree, lambda node: Literal(value) if node == Name(name) else None)
    return build_condition(tree, [guard])


def _values_of(value_type: Type) -> tuple[Value, ...]:
    """Return all values of a Boolean or an enumeration; of a number, zero only."""
    if isinstance(value_type, EnumType):
        return value_type.values
    return (False, True) if isinstance(value_type, BoolType) else (value_type.default,)


def _holds(guard: Expression, case: Mapping[str, Value]) -> bool:
    """Return whether a guard holds; a guard that divides by zero does not."""
    with suppress(ExpressionError):
        return guard.evaluate(case) is True
    return False
