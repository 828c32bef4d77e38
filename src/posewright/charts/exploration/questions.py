"""Expressions made ready to be answered while the inputs are not known: one answer, or a path for each.

`and`, `or` and `a if c else b` ask only as far as they must, as they do in a running chart. What is left are
truth values and comparisons. A comparison of one number splits that number's values; one of several numbers
becomes a relation between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from posewright.charts.datatypes import BoolType, Type, Value
from posewright.charts.exploration.atom import Atom
from posewright.charts.exploration.axis import Axis
from posewright.charts.exploration.keeping import Keep
from posewright.charts.exploration.path import Path
from posewright.charts.expression import (
    Binary,
    Expression,
    If,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    cases_of,
    names_in,
    nodes_of,
)
from posewright.charts.expression.closures import compile_tree
from posewright.charts.expression.tree import COMPARISONS, LOGIC, rewritten

Answer = Callable[[dict[str, Any], Path], Any]
"""From the registers and a path to a value; the path then holds only the inputs that give it."""

DIVISIONS = frozenset({Operator.OVER, Operator.MODULO})

MAX_PICKED = 64
"""Combinations of inputs followed one by one where a register keeps what was computed from them."""


class Questions:
    """Makes expressions ready.

    Args:
        axes: the values of every input and event.
        types: of all names that expressions read.
    """

    def __init__(self, axes: Mapping[str, Axis], types: Mapping[str, Type]) -> None:
        self.axes = axes
        self.types = types

    def condition(self, expression: Expression) -> Answer:
        """Return what answers a condition."""
        return _Maker(self, expression).truth(expression.tree)

    def value(self, expression: Expression, keep: Keep) -> Answer:
        """Return what answers with the value of an expression, as exactly as its register is to be kept."""
        maker = _Maker(self, expression)
        return maker.dropped(expression.tree, keep) if keep.drops else maker.kept(expression.tree, keep)


class _Maker:
    def __init__(self, questions: Questions, expression: Expression) -> None:
        self.axes = questions.axes
        self.types = questions.types
        self.expression = expression
        self.fixed = expression.fixed

    def asks(self, tree: Tree) -> bool:
        """Return whether a tree reads inputs."""
        return any(name in self.axes and name not in self.fixed for name in names_in(tree))

    def plain(self, tree: Tree) -> Answer:
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

    # Conditions

    def truth(self, tree: Tree) -> Answer:
        """Return what answers a condition."""
        if not self.asks(tree):
            return self.plain(tree)
        if isinstance(tree, Name):
            name = tree.name
            return lambda _env, path: path.holds(name)
        if isinstance(tree, If):
            return self.choice(tree, self.truth)
        if isinstance(tree, Unary):
            inner = self.truth(tree.operand)
            return lambda env, path: not inner(env, path)
        return self.joined(tree) if isinstance(tree, Binary) else self.plain(tree)

    def joined(self, tree: Binary) -> Answer:
        """Return what answers `and`, `or` and comparisons."""
        if tree.operator in LOGIC:
            return self.logic(tree)
        return self.same_truth(tree) if self.is_truth(tree.left) else self.comparison(tree)

    def logic(self, tree: Binary) -> Answer:
        left, right = self.truth(tree.left), self.truth(tree.right)
        if tree.operator is Operator.AND:
            return lambda env, path: left(env, path) and right(env, path)
        return lambda env, path: left(env, path) or right(env, path)

    def same_truth(self, tree: Binary) -> Answer:
        left, right = self.truth(tree.left), self.truth(tree.right)
        wanted = tree.operator is Operator.EQUAL
        return lambda env, path: (left(env, path) == right(env, path)) is wanted

    def choice(self, tree: If, make: Callable[[Tree], Answer]) -> Answer:
        """Return what answers a chain of cases; `make` is asked for each when it is first needed."""
        cases, rest = cases_of(tree)
        conditions = [self.truth(condition) for condition, _ in cases]
        trees = [*(then for _, then in cases), rest]
        made: list[Answer | None] = [None] * len(trees)

        def answer(env: dict[str, Any], path: Path) -> Any:
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
        """Return what answers, for every divisor in a term, whether it is zero."""
        zeros = [
            Binary(Operator.EQUAL, node.right, Literal(0))
            for node in nodes_of(tree)
            if isinstance(node, Binary) and node.operator in DIVISIONS and not isinstance(node.right, Literal)
        ]
        return tuple(self.truth(zero) for zero in zeros if names_in(zero) - self.fixed.keys())

    # Values

    def dropped(self, tree: Tree, keep: Keep) -> Answer:
        """Return what only looks whether a value can be computed: nobody will read it."""
        if not self.asks(tree):
            return self.plain(tree)
        if not self.divides(tree):
            return self.unread(tree, keep)

        def again(one: Tree) -> Answer:
            return self.dropped(one, keep)

        if isinstance(tree, If):
            return self.choice(tree, again)
        if self.is_truth(tree):
            return self.truth(tree)
        return self.lifted(tree, again) or self.unread(tree, keep)

    def divides(self, tree: Tree) -> bool:
        return any(isinstance(node, Binary) and node.operator in DIVISIONS for node in nodes_of(tree))

    def unread(self, tree: Tree, keep: Keep) -> Answer:
        zeros, fail = self.divisors(tree), self.failing(tree)

        def answer(env: dict[str, Any], path: Path) -> Any:
            path.loose = True
            for zero in zeros:
                if zero(env, path):
                    fail(env, path)
            return keep.start

        return answer

    def failing(self, tree: Tree) -> Answer:
        evaluate = compile_tree(tree, self.fixed, self.expression.source)
        return lambda env, path: evaluate({**env, **path.inputs()})

    def kept(self, tree: Tree, keep: Keep) -> Answer:
        """Return what answers with a value that somebody will read."""
        if not self.asks(tree):
            return self.plain(tree)
        if self.is_truth(tree):
            return self.truth(tree)

        def again(one: Tree) -> Answer:
            return self.kept(one, keep)

        if isinstance(tree, If):
            return self.choice(tree, again)
        return self.lifted(tree, again) or self.number(tree, keep)

    def number(self, tree: Tree, keep: Keep) -> Answer:
        zeros, fail = self.divisors(tree), self.failing(tree)
        names = [name for name in sorted(names_in(tree)) if name in self.axes and name not in self.fixed]
        evaluate = compile_tree(tree, self.fixed, self.expression.source)
        cells = self.cells(tree, keep) if keep.bounds else None

        def answer(env: dict[str, Any], path: Path) -> Any:
            for zero in zeros:
                if zero(env, path):
                    fail(env, path)
            if all(path.known(name) for name in names):
                return evaluate({**env, **{name: path.value(name) for name in names}})
            if cells is not None:
                return cells(env, path)
            return evaluate({**env, **self.picked(names, path)})

        return answer

    def picked(self, names: list[str], path: Path) -> dict[str, Value]:
        """Return values of the inputs, on a path for each of them or for a few."""
        total = 1
        for name in names:
            total *= path.size(name)
        few = total <= MAX_PICKED
        return {name: path.pick(name) if few else path.sample(name) for name in names}

    def cells(self, tree: Tree, keep: Keep) -> Answer:
        """Return what answers with the value that stands for all of the same cell."""
        below: dict[int, Answer] = {}
        bounds, values = keep.bounds, keep.values

        def answer(env: dict[str, Any], path: Path) -> Any:
            low, high = 0, len(bounds)
            while low < high:
                middle = (low + high) // 2
                if middle not in below:
                    below[middle] = self.truth(
                        Binary(Operator.LESS_EQUAL, keep.rounded(tree), Literal(bounds[middle]))
                    )
                if below[middle](env, path):
                    high = middle
                else:
                    low = middle + 1
            path.loose = path.loose or not keep.single
            return values[low]

        return answer
