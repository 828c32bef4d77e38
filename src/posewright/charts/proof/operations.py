"""The arithmetic operations in an expression, and what must hold for each to be evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from posewright.charts.expression import (
    ARITHMETIC,
    LOGIC,
    Binary,
    Call,
    If,
    Operator,
    Tree,
    Unary,
    children,
    split_cases,
)


class _PathStep(NamedTuple):
    """The last part that is evaluated before an operation, linked to the steps before it.

    Attributes:
        tree: the part of the expression.
        required_value: the value it must have; None for any value, as long as it does not divide by zero.
        previous: the step before it; None for the first.
    """

    tree: Tree
    required_value: bool | None
    previous: _PathStep | None


@dataclass(frozen=True, eq=False)
class ArithmeticOperation:
    """An operation that computes a number.

    Attributes:
        tree: the operation.
        last_step: end of the path to it; None if it is always evaluated.
    """

    tree: Tree
    last_step: _PathStep | None

    @property
    def steps_before(self) -> Iterator[_PathStep]:
        """The parts that are evaluated before it, the last first."""
        step = self.last_step
        while step is not None:
            yield step
            step = step.previous

    @property
    def is_division(self) -> bool:
        """Whether it is a division or a remainder."""
        return isinstance(self.tree, Binary) and self.tree.operator in (Operator.OVER, Operator.MODULO)


class _PendingNode(NamedTuple):
    """A node that remains to be visited.

    Attributes:
        node: the node.
        last_step: the last part that is evaluated before it; None if it is always evaluated.
        operands_are_done: whether the operations in its operands have been yielded.
    """

    node: Tree
    last_step: _PathStep | None
    operands_are_done: bool = False


def operations_in(tree: Tree) -> Iterator[ArithmeticOperation]:
    """Yield the arithmetic operations in a tree in the order of evaluation: operands come first.

    A stack takes the place of recursion, since the tree of a truth table is deep.
    """
    stack = [_PendingNode(tree, last_step=None)]
    while stack:
        node, last_step, operands_are_done = stack.pop()
        if operands_are_done:
            yield ArithmeticOperation(node, last_step)
            continue
        if _is_arithmetic(node):
            stack.append(_PendingNode(node, last_step, operands_are_done=True))
        # the first child is pushed last, to be popped first
        stack.extend(reversed(list(_list_children(node, last_step))))


def _is_arithmetic(node: Tree) -> bool:
    """Return whether a node computes a number: a call, a minus sign or an arithmetic operator."""
    if isinstance(node, Call):
        return True
    return isinstance(node, Binary | Unary) and node.operator in ARITHMETIC


def _list_children(node: Tree, last_step: _PathStep | None) -> Iterator[_PendingNode]:
    """Yield the children of a node in the order of evaluation, each with the last step before it.

    Args:
        node: the node.
        last_step: the last part that is evaluated before the node; None if it is always evaluated.
    """
    if isinstance(node, If):
        cases, default = split_cases(node)
        for condition, value in cases:
            yield _PendingNode(condition, last_step)
            # the value is evaluated where the condition is true, the next case where it is false
            yield _PendingNode(value, _PathStep(condition, required_value=True, previous=last_step))
            last_step = _PathStep(condition, required_value=False, previous=last_step)
        yield _PendingNode(default, last_step)
        return
    # the right side of `and` is evaluated where the left one is true, that of `or` where it is false
    required_value = None
    if isinstance(node, Binary) and node.operator in LOGIC:
        required_value = node.operator is Operator.AND
    for child in children(node):
        yield _PendingNode(child, last_step)
        last_step = _PathStep(child, required_value, previous=last_step)
