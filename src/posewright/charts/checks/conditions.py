"""Conditions made of guards: what the checks ask a solver about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TypeVar

from posewright.charts.expression import Binary, Expression, Literal, Name, Operator, Source, Tree, Unary
from posewright.charts.types import BoolType, Value

T = TypeVar("T")

NEVER = Expression(Literal(False), BoolType(), Source("false"))
"""The condition that never holds."""


def condition(
    tree: Tree, like: Iterable[Expression] = (), fixed: Mapping[str, Value] | None = None
) -> Expression:
    """Return a condition that reads what the expressions `like` read, and besides the names `fixed`."""
    known: dict[str, Value] = {}
    source = Source("")
    for one in like:
        known.update(one.fixed)
        source = one.source
    return Expression(tree, BoolType(), source, {**known, **(fixed or {})})


def negated(one: Expression) -> Expression:
    """Return the condition that holds where another does not."""
    return condition(Unary(Operator.NOT, one.tree), [one])


def joined(operator: Operator, parts: Sequence[Expression]) -> Expression:
    """Return conditions joined by `and` or `or`, as flat as it goes."""
    level = [one.tree for one in parts]
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [reduce(lambda a, b: Binary(operator, a, b), pair) for pair in pairs]
    return condition(level[0], parts) if level else condition(Literal(operator is Operator.AND))


def all_of(parts: Sequence[Expression]) -> Expression:
    """Return the condition that all of these hold."""
    return joined(Operator.AND, parts)


def any_of(parts: Sequence[Expression]) -> Expression:
    """Return the condition that one of these holds."""
    return joined(Operator.OR, parts)


def two_of(parts: Sequence[Expression]) -> Expression:
    """Return the condition that two of these hold at least."""
    if len(parts) < 2:
        return NEVER
    left, right = halves(parts)
    return any_of([two_of(left), two_of(right), all_of([any_of(left), any_of(right)])])


def halves(parts: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Return the first half of some things and the second."""
    middle = len(parts) // 2
    return parts[:middle], parts[middle:]


def holding(one: Expression, held: Mapping[str, Value]) -> Expression:
    """Return an expression for which some names have a value that is known."""
    mine = {name: held[name] for name in one.names if name in held}
    return Expression(one.tree, one.type, one.source, {**mine, **one.fixed}) if mine else one


def stands_at(name: str, value: Value) -> Expression:
    """Return the condition that a name has a value."""
    if isinstance(value, bool):
        tree: Tree = Name(name) if value else Unary(Operator.NOT, Name(name))
        return condition(tree)
    if isinstance(value, str):
        return condition(Binary(Operator.EQUAL, Name(name), Name(value)), fixed={value: value})
    return condition(Binary(Operator.EQUAL, Name(name), Literal(value)))


def stand_at(values: Mapping[str, Value]) -> Expression:
    """Return the condition that names have these values."""
    return all_of([stands_at(name, value) for name, value in values.items()])


def is_value(one: Expression, value: Value) -> Expression:
    """Return the condition that an expression comes to a value."""
    if isinstance(value, bool):
        return one if value else negated(one)
    side: Tree = Name(value) if isinstance(value, str) else Literal(value)
    fixed = {value: value} if isinstance(value, str) else None
    return condition(Binary(Operator.EQUAL, one.tree, side), [one], fixed)


def differ(one: Expression, other: Expression) -> Expression:
    """Return the condition that two expressions of one sort come to different values."""
    if isinstance(one.type, BoolType):
        return any_of([all_of([one, negated(other)]), all_of([negated(one), other])])
    return condition(Binary(Operator.UNEQUAL, one.tree, other.tree), [one, other])
