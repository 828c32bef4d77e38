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
        required_value: the value it must have; None if any will do.
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
    def steps_before(self) -> Iterator[tuple[Tree, bool | None]]:
        """The parts evaluated before it, the last first, with the value each must have.

        None means any value: it is enough that the part does not divide by zero.
        """
        step = self.last_step
        while step is not None:
            yield step.tree, step.required_value
            step = step.previous

    @property
    def is_division(self) -> bool:
        """Whether it is a division or a remainder."""
        return isinstance(self.tree, Binary) and self.tree.operator in (Operator.OVER, Operator.MODULO)


def operations_in(tree: Tree) -> Iterator[ArithmeticOperation]:
    """Yield the arithmetic operations in a tree in the order of evaluation: operands come first.

    A stack takes the place of recursion, since the tree of a truth table is deep.
    """
    # each entry: a node, the path to it, and whether its operands have been yielded
    stack: list[tuple[Tree, _PathStep | None, bool]] = [(tree, None, False)]
    while stack:
        node, path, operands_are_done = stack.pop()
        if operands_are_done:
            yield ArithmeticOperation(node, path)
            continue
        if _is_arithmetic(node):
            stack.append((node, path, True))
        children_with_paths = list(_children_with_paths(node, path))
        # the first child is pushed last, to be popped first
        stack.extend((child, child_path, False) for child, child_path in reversed(children_with_paths))


def _is_arithmetic(node: Tree) -> bool:
    if isinstance(node, Call):
        return True
    return isinstance(node, Binary | Unary) and node.operator in ARITHMETIC


def _children_with_paths(node: Tree, path: _PathStep | None) -> Iterator[tuple[Tree, _PathStep | None]]:
    """Yield the children of a node, each with the path to it.

    Args:
        node: the node.
        path: the path to the node; None if it is always evaluated.
    """
    if isinstance(node, If):
        cases, default = split_cases(node)
        for condition, value in cases:
            yield condition, path
            yield value, _PathStep(condition, required_value=True, previous=path)
            path = _PathStep(condition, required_value=False, previous=path)
        yield default, path
        return
    # the right side of `and` is evaluated where the left one is true, that of `or` where it is false
    required_value = None
    if isinstance(node, Binary) and node.operator in LOGIC:
        required_value = node.operator is Operator.AND
    for child in children(node):
        yield child, path
        path = _PathStep(child, required_value, previous=path)
