"""Conditions built from the guards of transitions, as input for the solver."""

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
from posewright.charts.proof import operations_in
from posewright.charts.types import BoolType, IntType, Type, Value

T = TypeVar("T")

NEVER = Expression(Literal(False), BoolType(), SourceText("false"))
"""The condition that never holds."""


def build_condition(
    tree: Tree, parts: Iterable[Expression] = (), constant_values: Mapping[str, Value] | None = None
) -> Expression:
    """Return a condition with the given tree.

    Args:
        tree: the tree of the condition.
        parts: expressions it is built from; the values of their named constants are taken over, and the
            source text of the last.
        constant_values: values of further constants that the tree names.
    """
    all_constant_values: dict[str, Value] = {}
    source = SourceText("")
    for part in parts:
        all_constant_values.update(part.constant_values)
        source = part.source
    all_constant_values.update(constant_values or {})
    return Expression(tree, BoolType(), source, constant_values=all_constant_values)


def negation(condition: Expression) -> Expression:
    """Return the condition that holds where `condition` does not."""
    return build_condition(Unary(Operator.NOT, condition.tree), [condition])


def _join(operator: Operator, conditions: Sequence[Expression]) -> Expression:
    """Return conditions joined by `and` or `or`, as a balanced tree.

    Without conditions, the result is the constant that makes no difference: true for `and`, false for `or`.
    """
    trees = [condition.tree for condition in conditions]
    if not trees:
        return build_condition(Literal(operator is Operator.AND))
    while len(trees) > 1:
        pairs = [trees[i : i + 2] for i in range(0, len(trees), 2)]  # the last may be a single tree
        trees = [reduce(lambda left, right: Binary(operator, left, right), pair) for pair in pairs]
    return build_condition(trees[0], conditions)


def all_of(conditions: Sequence[Expression]) -> Expression:
    """Return the conjunction of some conditions; true for none."""
    return _join(Operator.AND, conditions)


def any_of(conditions: Sequence[Expression]) -> Expression:
    """Return the disjunction of some conditions; false for none."""
    return _join(Operator.OR, conditions)


def at_least_two_of(conditions: Sequence[Expression]) -> Expression:
    """Return the condition that two or more of some conditions hold.

    Two hold in the first half, or two in the second, or one in each.
    """
    if len(conditions) < 2:
        return NEVER
    left, right = split_in_half(conditions)
    one_in_each = all_of([any_of(left), any_of(right)])
    return any_of([at_least_two_of(left), at_least_two_of(right), one_in_each])


def split_in_half(items: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Return the first and the second half of a sequence."""
    middle = len(items) // 2
    return items[:middle], items[middle:]


def substitute(expression: Expression, values: Mapping[str, Value]) -> Expression:
    """Return an expression in which the names in `values` are constants with these values."""
    substituted = {name: values[name] for name in expression.names if name in values}
    if not substituted:
        return expression
    return Expression(
        expression.tree,
        expression.type,
        expression.source,
        constant_values={**substituted, **expression.constant_values},
    )


def name_equals(name: str, value: Value) -> Expression:
    """Return the condition that a name has a value."""
    return equals(build_condition(Name(name)), value)


def names_equal(values: Mapping[str, Value]) -> Expression:
    """Return the condition that all names have the given values."""
    return all_of([name_equals(name, value) for name, value in values.items()])


def equals(expression: Expression, value: Value) -> Expression:
    """Return the condition that an expression evaluates to a value."""
    if isinstance(value, bool):
        return expression if value else negation(expression)
    if not isinstance(value, str):
        return build_condition(Binary(Operator.EQUAL, expression.tree, Literal(value)), [expression])
    # a value of an enumeration is a name in an expression, with itself as its constant value
    equality = Binary(Operator.EQUAL, expression.tree, Name(value))
    return build_condition(equality, [expression], constant_values={value: value})


def differ(left: Expression, right: Expression) -> Expression:
    """Return the condition that two expressions of the same type evaluate to different values."""
    if isinstance(left.type, BoolType):
        return any_of([all_of([left, negation(right)]), all_of([negation(left), right])])
    return build_condition(Binary(Operator.UNEQUAL, left.tree, right.tree), [left, right])


def wait_conditions(transition: CompoundTransition) -> tuple[Expression, ...]:
    """Return the condition that a transition has waited long enough; empty if it need not wait."""
    if not transition.wait_ticks:
        return ()
    tree = Binary(Operator.GREATER_EQUAL, Name(transition.since_register), Literal(transition.wait_ticks))
    return (build_condition(tree),)


def divides(guard: Expression) -> bool:
    """Return whether a guard contains a division; such a guard can fail where others hold."""
    return any(operation.is_division for operation in operations_in(guard.tree))


def group_by_event(
    transitions: Sequence[CompoundTransition],
) -> Mapping[str | None, list[CompoundTransition]]:
    """Return transitions by the event that triggers them; None for those evaluated at every tick."""
    groups: dict[str | None, list[CompoundTransition]] = {}
    for transition in transitions:
        for event in transition.events or (None,):
            groups.setdefault(event, []).append(transition)
    return groups


def trigger_events(transition: CompoundTransition) -> frozenset[str | None]:
    """Return the events that trigger a transition; None means every tick."""
    return frozenset(transition.events) or frozenset({None})


def compare_outcomes(
    first: CompoundTransition, second: CompoundTransition, types: Mapping[str, Type] | None = None
) -> Expression | bool:
    """Return whether two transitions do different things: never (False), always (True), or on a condition.

    There is a condition only where both go to the same states and their only action assigns the same
    variables: that the assigned values differ. Other different actions count as always different.

    Args:
        first: a transition.
        second: another transition of the same state.
        types: the types of the variables that they set; values are compared as these types store them.
    """
    if first.targets != second.targets or first.domain != second.domain:
        return True
    if first.do == second.do:
        return False
    if len(first.do) != 1 or len(second.do) != 1:
        return True
    first_action = first.do[0]
    second_action = second.do[0]
    if not (isinstance(first_action, Assign) and isinstance(second_action, Assign)):
        return True
    if first_action.values.keys() != second_action.values.keys():
        return True
    differences = []
    for name, first_value in first_action.values.items():
        value_type = (types or {}).get(name)
        first_stored = _saturate(first_value, value_type)
        second_stored = _saturate(second_action.values[name], value_type)
        differences.append(differ(first_stored, second_stored))
    return any_of(differences)


def _saturate(value: Expression, value_type: Type | None) -> Expression:
    """Return an integer expression as a variable of a type stores it: clamped to its range."""
    if not (isinstance(value_type, IntType) and isinstance(value.type, IntType)):
        return value
    at_most_high = Call("min", (value.tree, Literal(value_type.high)))
    return value.with_tree(Call("max", (at_most_high, Literal(value_type.low))))


def branch_key(first: CompoundTransition, second: CompoundTransition) -> tuple[object, ...]:
    """Return a key of the two segments at which two transitions of one state part.

    A transition through junctions is a chain of segments. All pairs that part at the same junction into the
    same segments share the key, so that such a pair of segments is reported once.
    """
    for first_segment, second_segment in zip(first.segments, second.segments, strict=False):
        if first_segment is not second_segment:
            return id(first_segment), id(second_segment)
    return id(first), id(second)  # the transitions do not part


def eventless_transitions(node: StateNode, machine_nodes: Sequence[StateNode]) -> list[CompoundTransition]:
    """Return the transitions without an event of a state and of its ancestors, those of the state first."""
    node_indices = (node.index, *node.ancestors)
    return [
        transition
        for node_index in node_indices
        for transition in machine_nodes[node_index].transitions
        if not transition.events
    ]
