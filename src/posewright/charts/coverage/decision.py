"""Decisions: where a chart goes one way or the other, the conditions that decide it, and where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from posewright.charts.expression import (
    LOGIC,
    Binary,
    Expression,
    If,
    Operator,
    Timed,
    Tree,
    Unary,
    cases_of,
    children,
)
from posewright.charts.machine import Machine, Node
from posewright.charts.model import Actions, Assign, Branch, Chart, Kind, every_action

Owner = tuple[str, int | None]
"""A state and, of what belongs to one of its transitions, which."""


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
        """The trees of its decisions, in the order in which `Watch` numbers them."""
        return tuple(decisions_in(self.written.tree, decides=self.decides))


def decisions_in(tree: Tree, *, decides: bool) -> Iterator[Tree]:
    """Yield the trees that decide something in a tree: itself, where it does, and the conditions of `if`s."""
    if decides:
        yield tree
        for condition in conditions_of(tree):
            yield from decisions_in(condition, decides=False)
    elif isinstance(tree, If):
        cases, rest = cases_of(tree)
        for condition, then in cases:
            yield from decisions_in(condition, decides=True)
            yield from decisions_in(then, decides=False)
        yield from decisions_in(rest, decides=False)
    elif not isinstance(tree, Timed):  # what is held is looked at tick by tick: a decision elsewhere
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
        cases, rest = cases_of(tree)
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


def sites_of(machine: Machine) -> tuple[Site, ...]:
    """Return the places where something is decided, each once, in the order in which they are written."""
    met: dict[int, Site] = {}
    for node in machine.nodes[1:]:
        for site in _sites_of(machine.chart, node):
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


def _shared(one: Site, other: Site) -> Site:
    """Return the site of a segment that several ways come by, perhaps from several states."""
    owner = one.owner if one.owner == other.owner else None
    return replace(one, lowered=(*one.lowered, *other.lowered), owner=owner)


def _sites_of(chart: Chart, node: Node) -> Iterator[Site]:
    state = node.state
    for way in node.ways:
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
    if state is not None and chart.kind is not Kind.MOORE:
        for written, lowered in zip((state.entry, state.during, state.exit), node.actions, strict=True):
            yield from _acts(written, lowered, (node.name, None))


def _acts(written: Actions, lowered: Actions, owner: Owner) -> Iterator[Site]:
    for one, other in zip(every_action(written), every_action(lowered), strict=True):
        if isinstance(one, Branch) and isinstance(other, Branch):
            if other.when.constant is None:
                yield Site(one.when, (other.when,), True, one.line, owner)
        elif isinstance(one, Assign) and isinstance(other, Assign):
            yield from _values(one, other, owner)


def _values(written: Assign, lowered: Assign, owner: Owner) -> Iterator[Site]:
    for one, other in zip(written.values.values(), lowered.values.values(), strict=True):
        if has_choice(one.tree):
            yield Site(one, (other,), False, _line(one) or written.line, owner)


def _line(expression: Expression) -> int | None:
    return expression.source.where.line
