"""Test obligations: everything that can be covered in a chart, with the decisions it makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from posewright.charts.expression import (
    LOGIC,
    Binary,
    Expression,
    If,
    Operator,
    TemporalCondition,
    Tree,
    Unary,
    children,
    format_tree,
    shorten,
    split_cases,
)
from posewright.charts.machine import CompoundTransition, Machine, StateNode
from posewright.charts.model import (
    Actions,
    Assign,
    Branch,
    Chart,
    ChartKind,
    Transition,
    iterate_actions,
    segments_of,
)


class Owner(NamedTuple):
    """The state or transition that something belongs to.

    Attributes:
        state: the name of the state.
        transition_index: the index of the transition in the state; None for what belongs to the state itself.
    """

    state: str
    transition_index: int | None


VALUE_NAMES = {True: "true", False: "false"}

Fact = tuple[str | int | bool, ...]
"""Something that was observed in a run, such as ("state", 3) or ("decision", 5, True)."""


def state_fact(node: int) -> Fact:
    """Return the fact that a state was entered, given by its number."""
    return ("state", node)


def transition_fact(transition: CompoundTransition) -> Fact:
    """Return the fact that a transition was taken."""
    return ("transition", transition.source, transition.index)


def segment_fact(segment: int) -> Fact:
    """Return the fact that a segment behind a junction was taken, given by its number."""
    return ("segment", segment)


def decision_fact(decision_number: int, *, outcome: bool) -> Fact:
    """Return the fact that a decision had an outcome."""
    return ("decision", decision_number, outcome)


def condition_fact(decision_number: int, condition_number: int, *, value: bool) -> Fact:
    """Return the fact that a condition of a decision had a value."""
    return ("condition", decision_number, condition_number, value)


def effect_fact(decision_number: int, condition_number: int, *, value: bool, outcome: bool) -> Fact:
    """Return the fact that a condition decided: with its value, the decision had an outcome."""
    return ("effect", decision_number, condition_number, value, outcome)


class Measure(Enum):
    """Measures of coverage."""

    STATES = "states"
    TRANSITIONS = "transitions"
    SEGMENTS = "segments"
    DECISIONS = "decisions"
    CONDITIONS = "conditions"
    MCDC = "mc/dc"


@dataclass(frozen=True)
class TestObligation:
    """One item to be covered.

    Attributes:
        measure: the measure that it counts for.
        name: description of the item.
        line: the line in the chart's document, if known.
        owner: the state and transition it belongs to; None if several states share it.
        met_by: sets of facts; it is covered if all facts of one of these sets were observed.
        decision_number: number of the decision that it is about; None if it is about none.
    """

    measure: Measure
    name: str
    line: int | None
    owner: Owner | None
    met_by: tuple[frozenset[Fact], ...]
    decision_number: int | None = None

    @property
    def only_fact(self) -> Fact:
        """The fact that covers it, of an obligation that a single fact covers."""
        ((fact,),) = self.met_by
        return fact

    def is_met(self, facts: frozenset[Fact]) -> bool:
        """Return whether the observed facts cover it."""
        return any(required_facts <= facts for required_facts in self.met_by)


@dataclass(frozen=True, eq=False)
class DecisionSite:
    """An expression that contains decisions.

    A decision is a Boolean expression that something depends on: a guard, the condition of a branch or of
    an `if`. Its conditions are the parts that `and`, `or`, `not` and `if` join.

    Attributes:
        written_expression: the expression as in the document.
        lowered_expressions: the expressions that the machine evaluates; several if several states share it.
        is_decision: whether the expression is a decision itself, or only contains some.
        line: the line in the document, if known.
        owner: the state and transition it belongs to; None if several states share it.
        first_decision: number of its first decision, among all decisions of the chart.
    """

    written_expression: Expression
    lowered_expressions: tuple[Expression, ...]
    is_decision: bool
    line: int | None
    owner: Owner | None
    first_decision: int = 0

    @cached_property
    def decisions(self) -> tuple[Tree, ...]:
        """The trees of its decisions, in the order of their numbers."""
        return tuple(decisions_in(self.written_expression.tree, is_decision=self.is_decision))


def decisions_in(tree: Tree, *, is_decision: bool) -> Iterator[Tree]:
    """Yield the decisions in a tree: the tree itself, if it is one, and the conditions of `if`s.

    Args:
        tree: the tree of an expression.
        is_decision: whether the tree itself is a decision, as that of a guard.
    """
    if is_decision:
        yield tree
        for condition in conditions_of(tree):
            yield from decisions_in(condition, is_decision=False)
    elif isinstance(tree, If):
        cases, default = split_cases(tree)
        for condition, value in cases:
            yield from decisions_in(condition, is_decision=True)
            yield from decisions_in(value, is_decision=False)
        yield from decisions_in(default, is_decision=False)
    elif not isinstance(tree, TemporalCondition):  # its condition is evaluated by a counter, at another site
        for part in children(tree):
            yield from decisions_in(part, is_decision=False)


def conditions_of(tree: Tree) -> Iterator[Tree]:
    """Yield the conditions of a decision: what `and`, `or`, `not` and `if` join, from left to right."""
    if isinstance(tree, Binary) and tree.operator in LOGIC:
        yield from conditions_of(tree.left)
        yield from conditions_of(tree.right)
    elif isinstance(tree, Unary) and tree.operator is Operator.NOT:
        yield from conditions_of(tree.operand)
    elif isinstance(tree, If):
        cases, default = split_cases(tree)
        for condition, value in cases:
            yield from conditions_of(condition)
            yield from conditions_of(value)
        yield from conditions_of(default)
    else:
        yield tree


def joins_by_choice(tree: Tree) -> bool:
    """Return whether an `if` is among the operators that join the conditions of a decision."""
    if isinstance(tree, Binary) and tree.operator in LOGIC:
        return joins_by_choice(tree.left) or joins_by_choice(tree.right)
    if isinstance(tree, Unary) and tree.operator is Operator.NOT:
        return joins_by_choice(tree.operand)
    return isinstance(tree, If)


def has_choice(tree: Tree) -> bool:
    """Return whether there is an `if` anywhere in a tree."""
    return next(decisions_in(tree, is_decision=False), None) is not None


def _merge_sites(first: DecisionSite, second: DecisionSite) -> DecisionSite:
    """Return the site of an expression that several transitions share, perhaps of several states."""
    owner = first.owner if first.owner == second.owner else None
    return replace(
        first, lowered_expressions=(*first.lowered_expressions, *second.lowered_expressions), owner=owner
    )


def _sites_of(chart: Chart, node: StateNode) -> Iterator[DecisionSite]:
    """Yield the sites of a state: guards, actions, and conditions of counters that are not constant.

    A site is an expression with decisions in it. Its owner is the state, or the transition of the state, that
    the expression belongs to.
    """
    state = node.state
    for transition in node.transitions:
        owner = Owner(node.name, transition.transition_index)
        for segment, guard in zip(transition.segments, transition.guards, strict=True):
            if not segment.is_else and guard.constant is None:
                line = _line_of(segment.when) or segment.line
                yield DecisionSite(segment.when, (guard,), is_decision=True, line=line, owner=owner)
        written_actions = tuple(action for segment in transition.segments for action in segment.do)
        yield from _sites_of_actions(written_actions, transition.do, owner)
    state_owner = Owner(node.name, transition_index=None)
    for counter in node.counters:
        condition = counter.condition
        if condition is not None and condition.constant is None:
            line = _line_of(condition)
            yield DecisionSite(condition, (condition,), is_decision=True, line=line, owner=state_owner)
    if state is not None and chart.kind is not ChartKind.MOORE:  # a Moore state has outputs instead
        for written, lowered in zip((state.entry, state.during, state.exit), node.actions, strict=True):
            yield from _sites_of_actions(written, lowered, state_owner)


def _sites_of_actions(written: Actions, lowered: Actions, owner: Owner) -> Iterator[DecisionSite]:
    """Yield the sites of actions: conditions of branches, and assigned values that contain decisions.

    Args:
        written: the actions as in the document.
        lowered: the same actions as the machine executes them.
        owner: the state and transition they belong to.
    """
    for action, lowered_action in zip(iterate_actions(written), iterate_actions(lowered), strict=True):
        if isinstance(action, Branch) and isinstance(lowered_action, Branch):
            is_decided_at_run_time = lowered_action.when.constant is None
            if is_decided_at_run_time:
                conditions = (lowered_action.when,)
                yield DecisionSite(action.when, conditions, is_decision=True, line=action.line, owner=owner)
        elif isinstance(action, Assign) and isinstance(lowered_action, Assign):
            pairs = zip(action.values.values(), lowered_action.values.values(), strict=True)
            for value, lowered_value in pairs:
                if has_choice(value.tree):
                    line = _line_of(value) or action.line
                    yield DecisionSite(value, (lowered_value,), is_decision=False, line=line, owner=owner)


def _line_of(expression: Expression) -> int | None:
    """Return the line of an expression in the chart's document; None if it was not read from one."""
    return expression.source.where.line


@dataclass(frozen=True, eq=False)
class TestObligations:
    """All obligations of a machine."""

    machine: Machine

    @cached_property
    def all_obligations(self) -> tuple[TestObligation, ...]:
        """All items to be covered, measure by measure: states, transitions, segments, decisions."""
        return (
            *self._state_obligations(),
            *self._transition_obligations(),
            *self._segment_obligations(),
            *self._decision_obligations(),
        )

    @cached_property
    def decision_sites(self) -> tuple[DecisionSite, ...]:
        """The sites of all decisions, each once, in the order in which they are written.

        A site is an expression with decisions in it. Transitions that share an expression share its site.
        """
        site_by_expression_id: dict[int, DecisionSite] = {}
        states = self.machine.nodes[1:]  # without the chart itself
        for node in states:
            for site in _sites_of(self.machine.chart, node):
                expression_id = id(site.written_expression)
                earlier_site = site_by_expression_id.get(expression_id)
                merged_site = site if earlier_site is None else _merge_sites(earlier_site, site)
                site_by_expression_id[expression_id] = merged_site
        sites: list[DecisionSite] = []
        n_decisions = 0
        for site in site_by_expression_id.values():
            if site.decisions:
                sites.append(replace(site, first_decision=n_decisions))
                n_decisions += len(site.decisions)
        return tuple(sites)

    @cached_property
    def segment_numbers(self) -> dict[int, int]:
        """The number of every segment after a junction, by its identity (`id()`).

        These are the segments that leave a named junction, and those written below a transition that ends
        at an unnamed junction.
        """
        chart = self.machine.chart
        junction_segments = chain.from_iterable(chart.junctions.values())
        nested_segments = chain.from_iterable(
            transition.then for state in chart.every_state for transition in state.transitions
        )
        segments = segments_of((*junction_segments, *nested_segments))
        return {id(segment): number for number, segment in enumerate(segments)}

    def _state_obligations(self) -> Iterator[TestObligation]:
        """Yield an obligation for each state: to enter it."""
        for node in self.machine.nodes[1:]:
            owner = Owner(node.name, transition_index=None)
            yield _build_obligation(Measure.STATES, node.name, node.line, owner, fact=state_fact(node.index))

    def _transition_obligations(self) -> Iterator[TestObligation]:
        """Yield an obligation for each transition: to take it."""
        for transition in self.machine.transitions:
            name = format_transition_name(self.machine, transition)
            owner = self._owner_of(transition)
            fact = transition_fact(transition)
            yield _build_obligation(Measure.TRANSITIONS, name, transition.line, owner, fact=fact)

    def _owner_of(self, transition: CompoundTransition) -> Owner:
        """Return the state of a transition, with the transition's index in it."""
        return Owner(self.machine.nodes[transition.source].name, transition.transition_index)

    def _segment_obligations(self) -> Iterator[TestObligation]:
        """Yield an obligation for each segment behind a junction: to take it.

        Its owner is the first of the transitions that share the segment.
        """
        first_use_by_number: dict[int, tuple[Transition, Owner]] = {}
        for transition in self.machine.transitions:
            owner = self._owner_of(transition)
            segments_behind_junctions = transition.segments[1:]
            for segment in segments_behind_junctions:
                first_use_by_number.setdefault(self.segment_numbers[id(segment)], (segment, owner))
        for number in sorted(first_use_by_number):
            segment, owner = first_use_by_number[number]
            name = f"{segment.when} -> {_format_targets(segment)}"
            yield _build_obligation(Measure.SEGMENTS, name, segment.line, owner, fact=segment_fact(number))

    def _decision_obligations(self) -> list[TestObligation]:
        """Return the obligations of all decisions: both outcomes, both values of conditions, and MC/DC.

        MC/DC (modified condition/decision coverage) asks that each condition alone decides.
        """
        outcomes: list[TestObligation] = []
        condition_values: list[TestObligation] = []
        effects: list[TestObligation] = []
        for site in self.decision_sites:
            for decision_number, tree in enumerate(site.decisions, start=site.first_decision):
                is_whole_expression = decision_number == site.first_decision and site.is_decision
                text = shorten(str(site.written_expression) if is_whole_expression else format_tree(tree))
                outcomes += _list_outcomes(site, decision_number, text)
                for condition_number, condition_tree in enumerate(conditions_of(tree)):
                    condition_text = shorten(format_tree(condition_tree))
                    suffix = f" in {text}" if text != condition_text else ""
                    condition_values += _list_condition_values(
                        site, decision_number, condition_number, condition_text, suffix
                    )
                    effect_name = f"{condition_text} decides{suffix}"
                    effects.append(
                        _build_effect_obligation(site, decision_number, condition_number, effect_name)
                    )
        return [*outcomes, *condition_values, *effects]


def _list_outcomes(site: DecisionSite, decision_number: int, text: str) -> Iterator[TestObligation]:
    """Yield the obligations that a decision is true and false.

    Args:
        site: the expression with the decision.
        decision_number: number of the decision.
        text: the text of the decision.
    """
    for outcome, value_name in VALUE_NAMES.items():
        yield _build_obligation(
            Measure.DECISIONS,
            f"{text} is {value_name}",
            site.line,
            site.owner,
            fact=decision_fact(decision_number, outcome=outcome),
            decision_number=decision_number,
        )


def _list_condition_values(
    site: DecisionSite, decision_number: int, condition_number: int, condition_text: str, suffix: str
) -> Iterator[TestObligation]:
    """Yield the obligations that a condition of a decision is true and false.

    Args:
        site: the expression with the decision.
        decision_number: number of the decision.
        condition_number: number of the condition in it.
        condition_text: the text of the condition.
        suffix: the end of the obligation's name, which names the decision.
    """
    for value, value_name in VALUE_NAMES.items():
        yield _build_obligation(
            Measure.CONDITIONS,
            f"{condition_text} is {value_name}{suffix}",
            site.line,
            site.owner,
            fact=condition_fact(decision_number, condition_number, value=value),
            decision_number=decision_number,
        )


def _build_effect_obligation(
    site: DecisionSite, decision_number: int, condition_number: int, name: str
) -> TestObligation:
    """Return the obligation that a condition alone decides (MC/DC).

    It is met by two facts: the condition decided with the value true and with the value false, for opposite
    outcomes of the decision.

    Args:
        site: the expression with the decision.
        decision_number: number of the decision.
        condition_number: number of the condition in the decision.
        name: description of the obligation.
    """
    pairs_of_facts = tuple(
        frozenset(
            {
                effect_fact(decision_number, condition_number, value=True, outcome=outcome_if_true),
                effect_fact(decision_number, condition_number, value=False, outcome=not outcome_if_true),
            }
        )
        for outcome_if_true in (True, False)
    )
    return TestObligation(
        Measure.MCDC, name, site.line, site.owner, met_by=pairs_of_facts, decision_number=decision_number
    )


def format_transition_name(machine: Machine, transition: CompoundTransition) -> str:
    """Return a transition with its trigger: `walking -> kicking on ball [near / wall < arrived]`."""
    source = machine.nodes[transition.source].name
    target = f" -> {_format_targets(transition.segments[-1])}" if transition.targets else ": stays"
    guards = " / ".join(str(segment.when) for segment in transition.segments if str(segment.when) != "true")
    trigger_parts = [" or ".join(transition.events), f"[{guards}]" if guards else ""]
    trigger = " ".join(filter(None, trigger_parts))
    return f"{source}{target} on {trigger}" if trigger else f"{source}{target}"


def _format_targets(segment: Transition) -> str:
    """Return the junction or the states to which a segment leads, as text."""
    if segment.leads_to_junction:
        return segment.junction or "a junction"
    return ", ".join(target.state for target in segment.go) or "nothing"


def _build_obligation(
    measure: Measure,
    name: str,
    line: int | None,
    owner: Owner | None,
    *,
    fact: Fact,
    decision_number: int | None = None,
) -> TestObligation:
    """Return an obligation that a single fact covers."""
    return TestObligation(
        measure, name, line, owner, met_by=(frozenset({fact}),), decision_number=decision_number
    )
