"""Expressions made ready to be answered while the inputs are not known; `Questions` is asked for them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from posewright.charts.expression import Binary, Expression, If, Literal, Operator, Tree, compile_tree
from posewright.charts.reachability.abstraction import Abstraction, is_defined, may_be_undefined
from posewright.charts.reachability.conditions import Answer, ConditionQuestions, chooses
from posewright.charts.reachability.domain import Domain
from posewright.charts.reachability.limits import MAX_PICKED
from posewright.charts.reachability.path import PathCondition
from posewright.charts.types import EnumType, FloatType, Type, Value

__all__ = ["Answer", "Questions"]


class Questions:
    """Makes expressions ready.

    Args:
        axes: the values of every input and event.
        types: of all names that expressions read.
    """

    def __init__(self, axes: Mapping[str, Domain], types: Mapping[str, Type]) -> None:
        self.axes = axes
        self.types = types

    def condition(self, expression: Expression) -> Answer:
        """Return what answers a condition."""
        return ConditionQuestions(expression, self.axes, self.types).truth(expression.tree)

    def value(self, expression: Expression, keep: Abstraction) -> Answer:
        """Return what answers with the value of an expression, as exactly as its register is to be kept."""
        maker = ValueQuestions(expression, self.axes, self.types)
        return maker.dropped(expression.tree, keep) if keep.drops else maker.kept(expression.tree, keep)


class ValueQuestions(ConditionQuestions):
    """Makes the values of one expression ready."""

    def dropped(self, tree: Tree, keep: Abstraction) -> Answer:
        """Return what only looks whether a value can be computed: nobody will read it."""
        if not self.inputs(tree):
            return self.plain(tree)
        if not self.zeros(tree):
            return self.unread(tree, keep)

        def again(one: Tree) -> Answer:
            return self.dropped(one, keep)

        if isinstance(tree, If):
            return self.choice(tree, again)
        if self.is_truth(tree):
            return self.truth(tree)
        return self.lifted(tree, again) or self.unread(tree, keep)

    def unread(self, tree: Tree, keep: Abstraction) -> Answer:
        """Return what answers with any value, once it is known that it can be computed."""
        zeros, fail = self.divisors(tree), self.failing(tree)

        def answer(env: dict[str, Any], path: PathCondition) -> Any:
            path.loose = True
            for zero in zeros:
                if zero(env, path):
                    fail(env, path)
            return keep.start

        return answer

    def failing(self, tree: Tree) -> Answer:
        """Return what fails as the run would, on a path on which a divisor is zero."""
        evaluate = compile_tree(tree, self.fixed, self.expression.source)
        return lambda env, path: evaluate({**env, **path.inputs()})

    def kept(self, tree: Tree, keep: Abstraction) -> Answer:
        """Return what answers with a value that somebody will read."""
        if not self.inputs(tree):
            return self.plain(tree)
        if self.is_truth(tree):
            return self.truth(tree)

        def again(one: Tree) -> Answer:
            return self.kept(one, keep)

        if chooses(tree) and self.is_split_at_once(tree):
            if keep.values:
                return self.cells(tree, keep)
            if isinstance(keep.kind, EnumType):
                return self.name_of(tree, keep.kind)
        if isinstance(tree, If):
            return self.choice(tree, again)
        return self.lifted(tree, again) or self.number(tree, keep)

    def name_of(self, tree: Tree, kind: EnumType) -> Answer:
        """Return what answers with one of several names."""
        last = kind.values[-1]
        questions = [
            (value, self.truth(Binary(Operator.EQUAL, tree, Literal(value)))) for value in kind.values[:-1]
        ]
        return lambda env, path: next((value for value, holds in questions if holds(env, path)), last)

    def number(self, tree: Tree, keep: Abstraction) -> Answer:
        """Return what answers with a number, as exactly as it is kept."""
        zeros, fail = self.divisors(tree), self.failing(tree)
        names = self.inputs(tree)
        evaluate = compile_tree(tree, self.fixed, self.expression.source)
        cells = self.cells(tree, keep) if keep.values else None
        marked = [
            (mark, self.truth(Binary(Operator.EQUAL, keep.rounded(tree), Literal(mark))))
            for mark in keep.marks
        ]

        def answer(env: dict[str, Any], path: PathCondition) -> Any:
            for zero in zeros:
                if zero(env, path):
                    fail(env, path)
            if all(path.known(name) for name in names):
                return evaluate({**env, **{name: path.value(name) for name in names}})
            if cells is not None:
                return cells(env, path)
            mark = next((mark for mark, holds in marked if holds(env, path)), None)
            return evaluate({**env, **self.picked(names, path)}) if mark is None else mark

        return answer

    def picked(self, names: list[str], path: PathCondition) -> dict[str, Value]:
        """Return values of the inputs, on a path for each of them or for a few."""
        few = prod(path.size(name) for name in names) <= MAX_PICKED
        return {name: path.pick(name) if few else path.sample(name) for name in names}

    def cells(self, tree: Tree, keep: Abstraction) -> Answer:
        """Return what answers with the value that stands for all of the same cell."""
        below: dict[int, Answer] = {}
        bounds, values = keep.bounds, keep.values
        defined = self.defined(tree, keep)

        def answer(env: dict[str, Any], path: PathCondition) -> Any:
            if defined is not None and not defined(env, path):
                path.loose = path.loose or not keep.single
                return keep.canonical(keep.kind.zero)
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

    def defined(self, tree: Tree, keep: Abstraction) -> Answer | None:
        """Return what answers whether a term is a number; None where it always is.

        A register that is given no number is set to zero, which no comparison with the term tells.
        """
        if not isinstance(keep.kind, FloatType):
            return None
        term = Expression(tree, keep.kind, self.expression.source, self.fixed)
        return self.truth(is_defined(tree)) if may_be_undefined(term, self.types) else None
