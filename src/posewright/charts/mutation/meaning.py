"""Where a mutant's machine differs from its chart's, and whether it differs in what it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, Counter, Machine, StateNode
from posewright.charts.model import Assign, Branch
from posewright.charts.types import BoolType, EnumType, IntType, Type, Value
from posewright.errors import ExpressionError

MAX_COMBINATIONS = 4096
"""Combinations of values at which two expressions are compared."""


class StructureDiffersError(ValueError):
    """Raised inside this module: two machines differ in more than an expression."""


@dataclass(frozen=True)
class Changes:
    """The nodes that are not the same in two machines with the same states.

    Attributes:
        active: those that differ in what they do while they are active, or when they are left.
        entered: those that differ in what they do when they are entered.
    """

    active: frozenset[int]
    entered: frozenset[int]

    @property
    def nodes(self) -> frozenset[int]:
        """All of them."""
        return self.active | self.entered


def changes_between(one: Machine, other: Machine) -> Changes:
    """Return where two machines with the same states differ."""
    pairs = list(zip(one.nodes, other.nodes, strict=True))
    active = (node.index for node, twin in pairs if _while_active(node) != _while_active(twin))
    entered = (n.index for n, twin in pairs if (n.initial, n.entry) != (twin.initial, twin.entry))
    return Changes(frozenset(active), frozenset(entered))


def begins_the_same(one: Machine, other: Machine) -> bool:
    """Return whether all variables of two machines hold the same before the first tick."""
    return one.chart.start_values() == other.chart.start_values()


def means_the_same(one: Machine, other: Machine) -> bool:
    """Return whether two machines differ at most in expressions that are equal whatever their names hold."""
    if not begins_the_same(one, other) or one.chart.steps is not other.chart.steps:
        return False
    try:
        found = list(_pairs(one.nodes, other.nodes, BoolType(), one.chart.variables))
    except StructureDiffersError:
        return False
    return all(a == b or _equal(a, b, wanted, one.types) for a, b, wanted in found)


def _equal(one: Expression, other: Expression, wanted: Type, types: Mapping[str, Type]) -> bool:
    """Return whether two expressions come to the same for all combinations of values, where these are few."""
    names = sorted(one.names | other.names)
    axes = [_values(types[name]) for name in names]
    count = 1
    for axis in axes:
        count *= len(axis) or MAX_COMBINATIONS + 1
        if count > MAX_COMBINATIONS:
            return False
    return all(
        _value(one, wanted, env) == _value(other, wanted, env)
        for env in (dict(zip(names, values, strict=True)) for values in product(*axes))
    )


def _values(kind: Type) -> list[Value]:
    """Return every value of a small type, none of a large one."""
    if isinstance(kind, BoolType):
        return [False, True]
    if isinstance(kind, EnumType):
        return list(kind.values)
    small = isinstance(kind, IntType) and kind.high - kind.low < MAX_COMBINATIONS
    return list(range(kind.low, kind.high + 1)) if small and isinstance(kind, IntType) else []


def _value(expression: Expression, wanted: Type, env: Mapping[str, Any]) -> Value | None:
    try:
        return wanted.fit(expression.evaluate(env))
    except ExpressionError:
        return None


def _while_active(node: StateNode) -> tuple[object, ...]:
    ways = [(_frame(way), way.guards, way.do) for way in node.ways]
    return node.during, node.exit, node.counters, node.remembers, ways


def _frame(way: CompoundTransition) -> tuple[object, ...]:
    """Return a way without its expressions."""
    return way.events, way.wait, way.goals, way.domain, way.since


def _pairs(
    one: object, other: object, wanted: Type, types: Mapping[str, Type]
) -> Iterator[tuple[Expression, Expression, Type]]:
    """Yield the expressions at the same places of two parts of machines, and what type they are for."""
    if isinstance(one, Expression) and isinstance(other, Expression):
        yield one, other, wanted
    elif isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        for part, twin in zip(one, other, strict=True):
            yield from _pairs(part, twin, wanted, types)
    elif isinstance(one, Mapping) and isinstance(other, Mapping) and list(one) == list(other):
        for name, value in one.items():
            yield from _pairs(value, other[name], types[name], types)
    elif type(one) is type(other) and (parts := _parts(one)):
        yield from _pairs(parts, _parts(other), wanted, types)
    elif one != other:
        raise StructureDiffersError


def _parts(part: object) -> tuple[object, ...]:
    """Return what of a part of a machine its meaning depends on; none of what has no parts."""
    if isinstance(part, StateNode):
        return part.initial, part.remembers, part.counters, part.actions, part.ways
    if isinstance(part, CompoundTransition):
        return _frame(part), part.guards, part.do
    if isinstance(part, Counter):
        return part.name, part.limit, part.again, part.condition
    if isinstance(part, Assign):
        return (part.values,)
    return (part.when, part.then, part.otherwise) if isinstance(part, Branch) else ()
