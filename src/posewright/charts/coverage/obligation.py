"""Test obligations: everything that can be covered in a chart, with the decisions it makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import chain

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

Owner = tuple[str, int | None]
"""A state and, for what belongs to one of its transitions, the index of the transition."""

VALUE_NAMES = {True: "true", False: "false"}

Fact = tuple[str | int | bool, ...]
"""Something that was observed in a run, such as ("state", 3) or ("decision", 5, True)."""


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
        name: description of the item.
        owner: the state and transition it belongs to; None if several states share it.
        met_by: sets of facts; it is covered if all facts of one of these sets were observed.
    """

    measure: Measure
    name: str
    line: int | None
    owner: Owner | None
    met_by: tuple[frozenset[Fact], ...]

    def is_met(self, facts: frozenset[Fact]) -> bool:
        """Return whether the observed facts cover it."""
        return any(required_facts <= facts for required_facts in self.met_by)


@dataclass(frozen=True, eq=False)
class DecisionSite:
    """An expression that contains decisions.

    Attributes:
        written_expression: the expression as in the document.
        lowered_expressions: the expressions that the machine evaluates; several if several states share it.
        is_decision: whether the expression is a decision itself, or only contains some.
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
    """Yield the decisions in a tree: the tree itself, if it is one, and the conditions of `if`s."""
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
    """Yield the sites of a state: guards, actions, and conditions of counters that are not constant."""
    state = node.state
    for transition in node.transitions:
        owner = (node.name, transition.transition)
        for segment, guard in zip(transition.segments, transition.guards, strict=True):
            if not segment.is_else and guard.constant is None:
                line = _line_of(segment.when) or segment.line
                yield DecisionSite(segment.when, (guard,), is_decision=True, line=line, owner=owner)
        written_actions = tuple(action for segment in transition.segments for action in segment.do)
        yield from _sites_of_actions(written_actions, transition.do, owner)
    for counter in node.counters:
        condition = counter.condition
        if condition is not None and condition.constant is None:
            line = _line_of(condition)
            yield DecisionSite(condition, (condition,), is_decision=True, line=line, owner=(node.name, None))
    if state is not None and chart.kind is not ChartKind.MOORE:
        for written, lowered in zip((state.entry, state.during, state.exit), node.actions, strict=True):
            yield from _sites_of_actions(written, lowered, (node.name, None))


def _sites_of_actions(written: Actions, lowered: Actions, owner: Owner) -> Iterator[DecisionSite]:
    """Yield the sites of actions, given as they are written and as the machine executes them."""
    for action, lowered_action in zip(iterate_actions(written), iterate_actions(lowered), strict=True):
        if isinstance(action, Branch) and isinstance(lowered_action, Branch):
            if lowered_action.when.constant is None:
                conditions = (lowered_action.when,)
                yield DecisionSite(action.when, conditions, is_decision=True, line=action.line, owner=owner)
        elif isinstance(action, Assign) and isinstance(lowered_action, Assign):
            pairs = zip(action.values.values(), lowered_action.values.values(), strict=True)
            for value, lowered_value in pairs:
                if has_choice(value.tree):
                    line = _line_of(value) or action.line
                    yield DecisionSite(value, (lowered_value,), is_decision=False, line=line, owner=owner)


def _line_of(expression: Expression) -> int | None:
    return expression.source.where.line


@dataclass(frozen=True, eq=False)
class TestObligations:
    """All obligations of a machine."""

    machine: Machine

    @cached_property
    def all_obligations(self) -> tuple[TestObligation, ...]:
        """All of them, measure by measure."""
        return (*self._states(), *self._transitions(), *self._segments(), *self._decisions())

    @cached_property
    def decision_sites(self) -> tuple[DecisionSite, ...]:
        """The sites of all decisions, each once, in the order in which they are written."""
        sites_by_id: dict[int, DecisionSite] = {}
        for node in self.machine.nodes[1:]:
            for site in _sites_of(self.machine.chart, node):
                key = id(site.written_expression)
                if key in sites_by_id:
                    sites_by_id[key] = _merge_sites(sites_by_id[key], site)
                else:
                    sites_by_id[key] = site
        sites: list[DecisionSite] = []
        first = 0
        for site in sites_by_id.values():
            if site.decisions:
                sites.append(replace(site, first_decision=first))
                first += len(site.decisions)
        return tuple(sites)

    @cached_property
    def segment_numbers(self) -> dict[int, int]:
        """The number of every segment after a junction, by its identity."""
        chart = self.machine.chart
        junction_segments = chain.from_iterable(chart.junctions.values())
        nested_segments = chain.from_iterable(
            transition.then for state in chart.every_state for transition in state.transitions
        )
        segments = segments_of((*junction_segments, *nested_segments))
        return {id(segment): number for number, segment in enumerate(segments)}

    def _states(self) -> Iterator[TestObligation]:
        for node in self.machine.nodes[1:]:
            yield _obligation(
                Measure.STATES, node.name, node.line, owner=(node.name, None), fact=("state", node.index)
            )

    def _transitions(self) -> Iterator[TestObligation]:
        for transition in self.machine.transitions:
            owner = (self.machine.nodes[transition.source].name, transition.transition)
            name = format_transition_name(self.machine, transition)
            fact = ("transition", transition.source, transition.index)
            yield _obligation(Measure.TRANSITIONS, name, transition.line, owner, fact)

    def _segments(self) -> Iterator[TestObligation]:
        """Yield an obligation for each segment behind a junction, owned by its first transition."""
        first_uses: dict[int, tuple[Transition, Owner]] = {}
        for transition in self.machine.transitions:
            owner: Owner = (self.machine.nodes[transition.source].name, transition.transition)
            for segment in transition.segments[1:]:
                first_uses.setdefault(self.segment_numbers[id(segment)], (segment, owner))
        for number in sorted(first_uses):
            segment, owner = first_uses[number]
            name = f"{segment.when} -> {_format_targets(segment)}"
            yield _obligation(Measure.SEGMENTS, name, segment.line, owner, fact=("segment", number))

    def _decisions(self) -> list[TestObligation]:
        """Return the obligations of all decisions: both outcomes, both values of conditions, and MC/DC."""
        decisions: list[TestObligation] = []
        conditions: list[TestObligation] = []
        effects: list[TestObligation] = []
        for site in self.decision_sites:
            for number, tree in enumerate(site.decisions, start=site.first_decision):
                is_whole_expression = number == site.first_decision and site.is_decision
                text = shorten(str(site.written_expression) if is_whole_expression else format_tree(tree))
                for value, value_name in VALUE_NAMES.items():
                    name = f"{text} is {value_name}"
                    fact: Fact = ("decision", number, value)
                    decisions.append(_obligation(Measure.DECISIONS, name, site.line, site.owner, fact))
                for i, condition in enumerate(conditions_of(tree)):
                    condition_text = shorten(format_tree(condition))
                    suffix = f" in {text}" if text != condition_text else ""
                    for value, value_name in VALUE_NAMES.items():
                        name = f"{condition_text} is {value_name}{suffix}"
                        fact = ("condition", number, i, value)
                        conditions.append(_obligation(Measure.CONDITIONS, name, site.line, site.owner, fact))
                    pairs = (
                        _effect_pair(number, i, outcome_if_true=True),
                        _effect_pair(number, i, outcome_if_true=False),
                    )
                    name = f"{condition_text} decides{suffix}"
                    effects.append(TestObligation(Measure.MCDC, name, site.line, site.owner, met_by=pairs))
        return [*decisions, *conditions, *effects]


def format_transition_name(machine: Machine, transition: CompoundTransition) -> str:
    """Return a transition with its trigger: `walking -> kicking on ball [near / wall < arrived]`."""
    guards = " / ".join(str(segment.when) for segment in transition.segments if str(segment.when) != "true")
    events = " or ".join(transition.events)
    trigger = " ".join(part for part in (events, f"[{guards}]" if guards else "") if part)
    target = f" -> {_format_targets(transition.segments[-1])}" if transition.targets else ": stays"
    return f"{machine.nodes[transition.source].name}{target}{' on ' + trigger if trigger else ''}"


def _format_targets(segment: Transition) -> str:
    if segment.leads_to_junction:
        return segment.junction or "a junction"
    return ", ".join(target.state for target in segment.go) or "nothing"


def _obligation(
    measure: Measure, name: str, line: int | None, owner: Owner | None, fact: Fact
) -> TestObligation:
    return TestObligation(measure, name, line, owner, met_by=(frozenset({fact}),))


def _effect_pair(decision: int, condition: int, *, outcome_if_true: bool) -> frozenset[Fact]:
    """Return the two facts that show a condition's own effect: its two values with opposite outcomes."""
    true_fact = ("effect", decision, condition, True, outcome_if_true)
    false_fact = ("effect", decision, condition, False, not outcome_if_true)
    return frozenset({true_fact, false_fact})
