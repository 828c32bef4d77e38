"""Test obligations: what there is to be covered in a chart, and the decisions that part of it is about."""

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
"""A state and, of what belongs to one of its transitions, which."""

WORDS = {True: "true", False: "false"}

Fact = tuple[str | int | bool, ...]
"""Something that was seen in a run."""


class Measure(Enum):
    """What is counted."""

    STATES = "states"
    TRANSITIONS = "transitions"
    SEGMENTS = "segments"
    DECISIONS = "decisions"
    CONDITIONS = "conditions"
    MCDC = "mc/dc"


@dataclass(frozen=True)
class TestObligation:
    """One thing to be covered.

    Attributes:
        name: in words.
        owner: the state that it belongs to and, where it is one's, the number of the transition.
        met_by: facts; it is covered where all of one of these sets were seen.
    """

    measure: Measure
    name: str
    line: int | None
    owner: Owner | None
    met_by: tuple[frozenset[Fact], ...]

    def met(self, facts: frozenset[Fact]) -> bool:
        """Return whether it is covered by what was seen."""
        return any(needed <= facts for needed in self.met_by)


@dataclass(frozen=True, eq=False)
class Site:
    """An expression in which something is decided.

    Attributes:
        written: as in the document.
        lowered: as the machine computes it; several where several states share it.
        decides: whether the expression is a decision itself, or only has some inside.
        first: the number of its first decision, among all decisions of the chart.
    """

    written: Expression
    lowered: tuple[Expression, ...]
    decides: bool
    line: int | None
    owner: Owner | None
    first: int = 0

    @cached_property
    def parts(self) -> tuple[Tree, ...]:
        """The trees of its decisions, in the order of their numbers."""
        return tuple(decisions_in(self.written.tree, decides=self.decides))


def decisions_in(tree: Tree, *, decides: bool) -> Iterator[Tree]:
    """Yield the trees that decide something in a tree: itself, where it does, and the conditions of `if`s."""
    if decides:
        yield tree
        for condition in conditions_of(tree):
            yield from decisions_in(condition, decides=False)
    elif isinstance(tree, If):
        cases, rest = split_cases(tree)
        for condition, then in cases:
            yield from decisions_in(condition, decides=True)
            yield from decisions_in(then, decides=False)
        yield from decisions_in(rest, decides=False)
    elif not isinstance(
        tree, TemporalCondition
    ):  # what is held is looked at tick by tick: a decision elsewhere
        for part in children(tree):
            yield from decisions_in(part, decides=False)


def conditions_of(tree: Tree) -> Iterator[Tree]:
    """Yield the conditions of a decision: what `and`, `or`, `not` and `if` join, from left to right."""
    if isinstance(tree, Binary) and tree.operator in LOGIC:
        yield from conditions_of(tree.left)
        yield from conditions_of(tree.right)
    elif isinstance(tree, Unary) and tree.operator is Operator.NOT:
        yield from conditions_of(tree.operand)
    elif isinstance(tree, If):
        cases, rest = split_cases(tree)
        for condition, then in cases:
            yield from conditions_of(condition)
            yield from conditions_of(then)
        yield from conditions_of(rest)
    else:
        yield tree


def is_choice(tree: Tree) -> bool:
    """Return whether a decision chooses between conditions: whether `if` is among what joins them."""
    if isinstance(tree, Binary) and tree.operator in LOGIC:
        return is_choice(tree.left) or is_choice(tree.right)
    if isinstance(tree, Unary) and tree.operator is Operator.NOT:
        return is_choice(tree.operand)
    return isinstance(tree, If)


def has_choice(tree: Tree) -> bool:
    """Return whether there is an `if` in a tree."""
    return next(decisions_in(tree, decides=False), None) is not None


def _shared(one: Site, other: Site) -> Site:
    """Return the site of a segment that several ways come by, perhaps from several states."""
    owner = one.owner if one.owner == other.owner else None
    return replace(one, lowered=(*one.lowered, *other.lowered), owner=owner)


def _sites_of(chart: Chart, node: StateNode) -> Iterator[Site]:
    state = node.state
    for way in node.transitions:
        owner = (node.name, way.transition)
        for segment, guard in zip(way.segments, way.guards, strict=True):
            if not segment.is_else and guard.constant is None:
                yield Site(segment.when, (guard,), True, _line(segment.when) or segment.line, owner)
        written = tuple(action for segment in way.segments for action in segment.do)
        yield from _acts(written, way.do, owner)
    for counter in node.counters:
        if counter.condition is not None and counter.condition.constant is None:
            held = counter.condition
            yield Site(held, (held,), True, _line(held), (node.name, None))
    if state is not None and chart.kind is not ChartKind.MOORE:
        for written, lowered in zip((state.entry, state.during, state.exit), node.actions, strict=True):
            yield from _acts(written, lowered, (node.name, None))


def _acts(written: Actions, lowered: Actions, owner: Owner) -> Iterator[Site]:
    for one, other in zip(iterate_actions(written), iterate_actions(lowered), strict=True):
        if isinstance(one, Branch) and isinstance(other, Branch):
            if other.when.constant is None:
                yield Site(one.when, (other.when,), True, one.line, owner)
        elif isinstance(one, Assign) and isinstance(other, Assign):
            for value, computed in zip(one.values.values(), other.values.values(), strict=True):
                if has_choice(value.tree):
                    yield Site(value, (computed,), False, _line(value) or one.line, owner)


def _line(expression: Expression) -> int | None:
    return expression.source.where.line


@dataclass(frozen=True, eq=False)
class TestObligations:
    """All that there is to be covered in a machine."""

    machine: Machine

    @cached_property
    def every(self) -> tuple[TestObligation, ...]:
        """All of them, measure by measure."""
        return (*self._states(), *self._transitions(), *self._segments(), *self._decided())

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """The places where something is decided, each once, in the order in which they are written."""
        met: dict[int, Site] = {}
        for node in self.machine.nodes[1:]:
            for site in _sites_of(self.machine.chart, node):
                known = met.setdefault(id(site.written), site)
                if known is not site:
                    met[id(site.written)] = _shared(known, site)
        found: list[Site] = []
        first = 0
        for site in met.values():
            if site.parts:
                found.append(replace(site, first=first))
                first += len(site.parts)
        return tuple(found)

    @cached_property
    def segments(self) -> dict[int, int]:
        """The number of every segment after a junction, by its identity."""
        chart = self.machine.chart
        shared = chain.from_iterable(chart.junctions.values())
        own = (one.then for state in chart.every_state for one in state.transitions)
        inner = segments_of((*shared, *chain.from_iterable(own)))
        return {id(segment): number for number, segment in enumerate(inner)}

    def _states(self) -> Iterator[TestObligation]:
        for node in self.machine.nodes[1:]:
            line = node.state.line if node.state else None
            yield _obligation(Measure.STATES, node.name, line, (node.name, None), ("state", node.index))

    def _transitions(self) -> Iterator[TestObligation]:
        for way in self.machine.transitions:
            owner = (self.machine.nodes[way.source].name, way.transition)
            name = way_name(self.machine, way)
            yield _obligation(Measure.TRANSITIONS, name, way.line, owner, ("way", way.source, way.index))

    def _segments(self) -> Iterator[TestObligation]:
        met: dict[int, tuple[Transition, Owner]] = {}
        for way in self.machine.transitions:
            owner: Owner = (self.machine.nodes[way.source].name, way.transition)
            for segment in way.segments[1:]:
                met.setdefault(self.segments[id(segment)], (segment, owner))
        for number, (segment, owner) in sorted(met.items(), key=lambda item: item[0]):
            name = f"{segment.when} -> {_targets(segment)}"
            yield _obligation(Measure.SEGMENTS, name, segment.line, owner, ("segment", number))

    def _decided(self) -> list[TestObligation]:
        decisions, conditions, effects = [], [], []
        for site in self.sites:
            for number, tree in enumerate(site.parts, start=site.first):
                whole = number == site.first and site.decides
                text = shorten(str(site.written) if whole else format_tree(tree))
                for value, word in WORDS.items():
                    name, fact = f"{text} is {word}", ("decision", number, value)
                    decisions.append(_obligation(Measure.DECISIONS, name, site.line, site.owner, fact))
                for i, condition in enumerate(conditions_of(tree)):
                    asked = shorten(format_tree(condition))
                    place = f" in {text}" if text != asked else ""
                    for value, word in WORDS.items():
                        name = f"{asked} is {word}{place}"
                        seen = ("condition", number, i, value)
                        conditions.append(_obligation(Measure.CONDITIONS, name, site.line, site.owner, seen))
                    pairs = (_pair(number, i, True), _pair(number, i, False))
                    name = f"{asked} decides{place}"
                    effects.append(TestObligation(Measure.MCDC, name, site.line, site.owner, pairs))
        return [*decisions, *conditions, *effects]


def way_name(machine: Machine, way: CompoundTransition) -> str:
    """Return a way in words: `walking -> kicking (near and wall < arrived)`."""
    asked = " / ".join(str(one.when) for one in way.segments if str(one.when) != "true")
    asked = " ".join(part for part in (" or ".join(way.events), f"[{asked}]" if asked else "") if part)
    arrow = f" -> {_targets(way.segments[-1])}" if way.targets else ": stays"
    return f"{machine.nodes[way.source].name}{arrow}{' on ' + asked if asked else ''}"


def _targets(segment: Transition) -> str:
    if segment.leads_to_junction:
        return segment.junction or "a junction"
    return ", ".join(target.state for target in segment.go) or "nothing"


def _obligation(
    measure: Measure, name: str, line: int | None, owner: Owner | None, fact: Fact
) -> TestObligation:
    return TestObligation(measure, name, line, owner, (frozenset({fact}),))


def _pair(decision: int, condition: int, outcome: bool) -> frozenset[Fact]:
    """Return evaluations that show a condition's own effect: true with this outcome, false with the other."""
    one = ("effect", decision, condition, True, outcome)
    other = ("effect", decision, condition, False, not outcome)
    return frozenset({one, other})
