"""Where a mutant's machine differs from its chart's, and whether it differs in what it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, Counter, Machine, Node
from posewright.charts.model import Action, Actions, Assign, Branch, Raise
from posewright.charts.types import BoolType, EnumType, IntType, Type, Value
from posewright.errors import ExpressionError

MAX_COMBINATIONS = 4096
"""Combinations of values at which two expressions are compared."""

Both = tuple[Expression, Expression, Type]
"""Two expressions, and the type of what they are for."""


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
    active = frozenset(node.index for node, twin in pairs if not _same_active(node, twin))
    return Changes(active, frozenset(node.index for node, twin in pairs if not _same_entered(node, twin)))


def begins_the_same(one: Machine, other: Machine) -> bool:
    """Return whether all variables of two machines hold the same before the first tick."""
    return one.chart.start_values() == other.chart.start_values()


def means_the_same(one: Machine, other: Machine) -> bool:
    """Return whether two machines differ at most in expressions that are equal whatever their names hold."""
    if not begins_the_same(one, other) or one.chart.steps is not other.chart.steps:
        return False
    try:
        differing = [pair for pair in _pairs(one, other) if pair[0] != pair[1]]
    except StructureDiffersError:
        return False
    return all(_equal(*pair, one.types) for pair in differing)


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


def _same_entered(one: Node, other: Node) -> bool:
    return one.initial == other.initial and one.entry == other.entry


def _same_active(one: Node, other: Node) -> bool:
    return (
        (one.during, one.exit, one.counters, one.remembers)
        == (other.during, other.exit, other.counters, other.remembers)
        and len(one.ways) == len(other.ways)
        and all(map(_same_way, one.ways, other.ways))
    )


def _same_way(one: CompoundTransition, other: CompoundTransition) -> bool:
    return _frame(one) == _frame(other) and one.guards == other.guards and one.do == other.do


def _frame(way: CompoundTransition) -> tuple[object, ...]:
    """Return a way without its expressions."""
    return way.events, way.wait, way.goals, way.domain, way.since


def _pairs(one: Machine, other: Machine) -> Iterator[Both]:
    """Yield the expressions that stand at the same places of two machines."""
    types = one.chart.variables
    for node, twin in zip(one.nodes, other.nodes, strict=True):
        _require(node.initial == twin.initial and node.remembers == twin.remembers)
        _require(len(node.ways) == len(twin.ways) and len(node.counters) == len(twin.counters))
        for counter, counted in zip(node.counters, twin.counters, strict=True):
            yield from _counters(counter, counted)
        for acts, others in zip(node.actions, twin.actions, strict=True):
            yield from _acts(acts, others, types)
        for way, taken in zip(node.ways, twin.ways, strict=True):
            _require(_frame(way) == _frame(taken) and len(way.guards) == len(taken.guards))
            for guard, asked in zip(way.guards, taken.guards, strict=True):
                yield guard, asked, BoolType()
            yield from _acts(way.do, taken.do, types)


def _counters(one: Counter, other: Counter) -> Iterator[Both]:
    _require((one.name, one.limit, one.again) == (other.name, other.limit, other.again))
    if one.condition is not None and other.condition is not None:
        yield one.condition, other.condition, BoolType()
    else:
        _require(one.condition is other.condition)


def _acts(one: Actions, other: Actions, types: Mapping[str, Type]) -> Iterator[Both]:
    _require(len(one) == len(other))
    for action, twin in zip(one, other, strict=True):
        yield from _action(action, twin, types)


def _action(one: Action, other: Action, types: Mapping[str, Type]) -> Iterator[Both]:
    if isinstance(one, Assign) and isinstance(other, Assign):
        _require(list(one.values) == list(other.values))
        for name, value in one.values.items():
            yield value, other.values[name], types[name]
    elif isinstance(one, Branch) and isinstance(other, Branch):
        yield one.when, other.when, BoolType()
        yield from _acts(one.then, other.then, types)
        yield from _acts(one.otherwise, other.otherwise, types)
    else:
        _require(isinstance(one, Raise) and one == other)


def _require(same: bool) -> None:
    if not same:
        raise StructureDiffersError
