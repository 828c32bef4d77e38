"""Conditions built from guards, to be put to the solver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TypeVar

from posewright.charts.expression import (
    Binary,
    Call,
    Expression,
    Literal,
    Name,
    Operator,
    SourceText,
    Tree,
    Unary,
)
from posewright.charts.machine import CompoundTransition, StateNode
from posewright.charts.model import Assign
from posewright.charts.proof import places_in
from posewright.charts.types import BoolType, IntType, Type, Value

T = TypeVar("T")

NEVER = Expression(Literal(False), BoolType(), SourceText("false"))
"""The condition that never holds."""


def condition(
    tree: Tree, like: Iterable[Expression] = (), fixed: Mapping[str, Value] | None = None
) -> Expression:
    """Return a condition that reads what the expressions `like` read, and besides the names `fixed`."""
    known: dict[str, Value] = {}
    source = SourceText("")
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


def with_values(one: Expression, held: Mapping[str, Value]) -> Expression:
    """Return an expression for which some names have a value that is known."""
    mine = {name: held[name] for name in one.names if name in held}
    return Expression(one.tree, one.type, one.source, {**mine, **one.fixed}) if mine else one


def name_equals(name: str, value: Value) -> Expression:
    """Return the condition that a name has a value."""
    return equals(condition(Name(name)), value)


def names_equal(values: Mapping[str, Value]) -> Expression:
    """Return the condition that names have these values."""
    return all_of([name_equals(name, value) for name, value in values.items()])


def equals(one: Expression, value: Value) -> Expression:
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


def wait_conditions(way: CompoundTransition) -> tuple[Expression, ...]:
    """Return the condition that a way has waited long enough; none where it need not wait."""
    if not way.wait:
        return ()
    return (condition(Binary(Operator.GREATER_EQUAL, Name(way.since_register), Literal(way.wait))),)


def divides(guard: Expression) -> bool:
    """Return whether a guard divides; then it may fail where others hold."""
    return any(place.divides for place in places_in(guard.tree))


def by_event(ways: Sequence[CompoundTransition]) -> Mapping[str | None, list[CompoundTransition]]:
    """Return the ways that are asked together: by event, and those that are asked at every tick."""
    found: dict[str | None, list[CompoundTransition]] = {}
    for way in ways:
        for event in way.events or (None,):
            found.setdefault(event, []).append(way)
    return found


def events_of(way: CompoundTransition) -> frozenset[str | None]:
    """Return the events at which a way is asked; None stands for every tick."""
    return frozenset(way.events) or frozenset({None})


def outcome_differs(
    one: CompoundTransition, other: CompoundTransition, types: Mapping[str, Type] | None = None
) -> Expression | bool:
    """Return where two ways do different things: never (False), always (True), or where a condition holds.

    Args:
        one: a way.
        other: another one of the same state.
        types: of the variables that they set.
    """
    if one.targets != other.targets or one.domain != other.domain:
        return True
    if one.do == other.do:
        return False
    sets = [way.do[0] for way in (one, other) if len(way.do) == 1]
    if len(sets) < 2 or not all(isinstance(action, Assign) for action in sets):
        return True
    values = [action.values for action in sets if isinstance(action, Assign)]
    if values[0].keys() != values[1].keys():
        return True
    kinds = types or {}
    return any_of(
        [
            differ(saturated_in(value, kinds.get(name)), saturated_in(values[1][name], kinds.get(name)))
            for name, value in values[0].items()
        ]
    )


def saturated_in(value: Expression, kind: Type | None) -> Expression:
    """Return a whole number as a variable keeps it: the nearest in its range."""
    if not (isinstance(kind, IntType) and isinstance(value.type, IntType)):
        return value
    high = Call("min", (value.tree, Literal(kind.high)))
    return value.with_tree(Call("max", (high, Literal(kind.low))))


def branch_key(one: CompoundTransition, other: CompoundTransition) -> tuple[object, ...]:
    """Return the two segments at which two ways of one state part; the same for all that share them."""
    for a, b in zip(one.segments, other.segments, strict=False):
        if a is not b:
            return id(a), id(b)
    return id(one), id(other)


def eventless_transitions(node: StateNode, machine_nodes: Sequence[StateNode]) -> list[CompoundTransition]:
    """Return the ways that ask for no event, of a state and of those around it."""
    numbers = (node.index, *node.ancestors)
    return [way for number in numbers for way in machine_nodes[number].transitions if not way.events]
