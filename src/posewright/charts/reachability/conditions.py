"""Conditions made ready to be answered while the inputs are not known: one answer, or a path for each.

`and`, `or` and `a if c else b` ask only as far as they must, as they do in a running chart. What is left are
truth values and comparisons. A comparison of one number splits that number's values; one of several numbers
becomes a relation between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from posewright.charts.expression import (
    COMPARISONS,
    LOGIC,
    Binary,
    Expression,
    If,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    cases_of,
    compile_tree,
    names_in,
    nodes_of,
    rewritten,
)
from posewright.charts.reachability.atom import FEW, Atom
from posewright.charts.reachability.axis import Domain, count
from posewright.charts.reachability.path import PathCondition
from posewright.charts.types import BoolType, Type

Answer = Callable[[dict[str, Any], PathCondition], Any]
"""From the registers and a path to a value; the path then holds only the inputs that give it."""

DIVISIONS = frozenset({Operator.OVER, Operator.MODULO})

MAX_BESIDE = 16
"""Combinations of short inputs followed one by one beside a long one that is split."""


class Conditions:
    """Makes the conditions of one expression ready.

    Args:
        expression: in which they stand.
        axes: the values of every input and event.
        types: of all names that it reads.
    """

    def __init__(self, expression: Expression, axes: Mapping[str, Domain], types: Mapping[str, Type]) -> None:
        self.expression = expression
        self.fixed = expression.fixed
        self.axes = axes
        self.types = types

    def inputs(self, tree: Tree) -> list[str]:
        """Return the inputs that a tree reads."""
        return sorted(name for name in names_in(tree) if name in self.axes and name not in self.fixed)

    def plain(self, tree: Tree) -> Answer:
        """Return what answers with the value of a tree that reads no inputs."""
        evaluate = compile_tree(tree, self.fixed, self.expression.source)
        return lambda env, _path: evaluate(env)

    def is_truth(self, tree: Tree) -> bool:
        """Return whether a tree is true or false, rather than a number or a name."""
        if isinstance(tree, If):
            return self.is_truth(cases_of(tree)[1])
        if isinstance(tree, Literal):
            return isinstance(tree.value, bool)
        if isinstance(tree, Name):
            fixed = self.fixed.get(tree.name)
            return (
                isinstance(self.types.get(tree.name), BoolType) if fixed is None else isinstance(fixed, bool)
            )
        logic = LOGIC | COMPARISONS | {Operator.NOT}
        return isinstance(tree, Unary | Binary) and tree.operator in logic

    def truth(self, tree: Tree) -> Answer:
        """Return what answers a condition."""
        if not self.inputs(tree):
            return self.plain(tree)
        if isinstance(tree, Name):
            name = tree.name
            return lambda _env, path: path.holds(name)
        if self.is_split_at_once(tree):
            return Atom(self.expression, tree, self.axes, ())
        if isinstance(tree, If):
            return self.choice(tree, self.truth)
        if isinstance(tree, Unary):
            inner = self.truth(tree.operand)
            return lambda env, path: not inner(env, path)
        return self.joined(tree) if isinstance(tree, Binary) else self.plain(tree)

    def is_split_at_once(self, tree: Tree) -> bool:
        """Return whether a condition asks one long number, and little else: its values then part in two.

        Of a truth table with many rows that leaves two paths, and not one for each row.
        """
        if self.zeros(tree):
            return False
        sizes = sorted(count(self.axes[name].whole) for name in self.inputs(tree))
        alone = len(sizes) == 1 or chooses(tree)
        return alone and sizes[-1] > FEW and prod(sizes[:-1]) <= MAX_BESIDE

    def joined(self, tree: Binary) -> Answer:
        """Return what answers `and`, `or` and comparisons."""
        if tree.operator in LOGIC:
            return self.logic(tree)
        return self.same_truth(tree) if self.is_truth(tree.left) else self.comparison(tree)

    def logic(self, tree: Binary) -> Answer:
        """Return what answers `and` and `or`."""
        left, right = self.truth(tree.left), self.truth(tree.right)
        if tree.operator is Operator.AND:
            return lambda env, path: left(env, path) and right(env, path)
        return lambda env, path: left(env, path) or right(env, path)

    def same_truth(self, tree: Binary) -> Answer:
        """Return what answers whether two conditions are alike."""
        left, right = self.truth(tree.left), self.truth(tree.right)
        wanted = tree.operator is Operator.EQUAL
        return lambda env, path: (left(env, path) == right(env, path)) is wanted

    def choice(self, tree: If, make: Callable[[Tree], Answer]) -> Answer:
        """Return what answers a chain of cases; `make` is asked for each when it is first needed."""
        cases, rest = cases_of(tree)
        conditions = [self.truth(condition) for condition, _ in cases]
        trees = [*(then for _, then in cases), rest]
        made: list[Answer | None] = [None] * len(trees)

        def answer(env: dict[str, Any], path: PathCondition) -> Any:
            index = next((i for i, holds in enumerate(conditions) if holds(env, path)), len(conditions))
            found = made[index]
            if found is None:
                found = made[index] = make(trees[index])
            return found(env, path)

        return answer

    def lifted(self, tree: Tree, make: Callable[[Tree], Answer]) -> Answer | None:
        """Return what asks the outermost choice inside a term first; None where there is none."""
        inner = next((node for node in nodes_of(tree) if isinstance(node, If)), None)
        if inner is None:
            return None
        return self.choice(
            inner, lambda one: make(rewritten(tree, lambda node: one if node is inner else None))
        )

    def comparison(self, tree: Tree) -> Answer:
        """Return what answers a comparison of numbers, or of names."""
        lifted = self.lifted(tree, self.truth)
        if lifted is not None:
            return lifted
        return Atom(self.expression, tree, self.axes, self.divisors(tree))

    def divisors(self, tree: Tree) -> tuple[Answer, ...]:
        """Return what answers, for every divisor in a term that may be zero, whether it is."""
        return tuple(self.truth(zero) for zero in self.zeros(tree))

    def zeros(self, tree: Tree) -> list[Tree]:
        """Return the conditions for a divisor to be zero, those left out that are never met."""
        found: list[Tree] = [
            Binary(Operator.EQUAL, node.right, Literal(0))
            for node in nodes_of(tree)
            if isinstance(node, Binary) and node.operator in DIVISIONS
        ]
        source = self.expression.source
        return [
            zero
            for zero in found
            if names_in(zero) - self.fixed.keys() or compile_tree(zero, self.fixed, source)({})
        ]


def chooses(tree: Tree) -> bool:
    """Return whether there is an `a if c else b` in a tree."""
    return any(isinstance(node, If) for node in nodes_of(tree))
