"""A tree to a closure: the fastest safe way to evaluate an expression again and again."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from posewright.charts.datatypes import INT_HIGH, INT_LOW, Value
from posewright.charts.expression.source import Source
from posewright.charts.expression.tree import (
    Binary,
    Call,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    names_in,
    nodes_of,
)

Env = Mapping[str, Any]
Evaluate = Callable[[Env], Any]


def _saturating(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Return `apply` with whole results kept within 32 bits; fractions are as IEEE 754 has them."""

    def saturate(*operands: Any) -> Any:
        result = apply(*operands)
        if type(result) is int and not INT_LOW <= result <= INT_HIGH:
            return INT_LOW if result < 0 else INT_HIGH
        return result

    return saturate


def _extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    """Return `choose` (min or max) so that one fraction among the arguments makes the result a fraction."""

    def extreme(*values: Any) -> Any:
        result = choose(values)
        return float(result) if any(type(value) is float for value in values) else result

    return extreme


PLAIN: dict[Operator, Callable[[Any, Any], Any]] = {
    Operator.LESS: operator.lt,
    Operator.LESS_EQUAL: operator.le,
    Operator.GREATER: operator.gt,
    Operator.GREATER_EQUAL: operator.ge,
    Operator.EQUAL: operator.eq,
    Operator.UNEQUAL: operator.ne,
    Operator.PLUS: _saturating(operator.add),
    Operator.MINUS: _saturating(operator.sub),
    Operator.TIMES: _saturating(operator.mul),
    Operator.OVER: operator.truediv,
    Operator.MODULO: operator.mod,
}
"""Operators that always evaluate both sides."""

NEGATE = _saturating(operator.neg)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": _saturating(abs),
    "min": _extreme(min),
    "max": _extreme(max),
}


def compile_tree(tree: Tree, fixed: Mapping[str, Value], source: Source) -> Evaluate:
    """Return a function from an environment (names to values) to the expression's value.

    Args:
        tree: a typed tree.
        fixed: names whose value is known now.
        source: the text, for the one thing that may go wrong later.

    The function raises ExpressionError where it divides by zero; nothing else can happen.
    """
    return _Compiler(fixed, source).compile(tree)


class _Compiler:
    def __init__(self, fixed: Mapping[str, Value], source: Source) -> None:
        self.fixed = fixed
        self.source = source

    def compile(self, tree: Tree) -> Evaluate:
        evaluate = self.build(tree)
        if isinstance(tree, Literal) or not names_in(tree) <= self.fixed.keys() or _divides(tree):
            return evaluate
        return _always(evaluate(self.fixed))

    def build(self, tree: Tree) -> Evaluate:
        if isinstance(tree, Literal):
            return _always(tree.value)
        if isinstance(tree, Name):
            return (
                _always(self.fixed[tree.name]) if tree.name in self.fixed else operator.itemgetter(tree.name)
            )
        if isinstance(tree, Unary):
            return self.unary(tree)
        return self.binary(tree) if isinstance(tree, Binary) else self.call(tree)

    def unary(self, tree: Unary) -> Evaluate:
        if tree.operator is Operator.MINUS:
            inner = self.compile(tree.operand)
            return lambda env: NEGATE(inner(env))
        if isinstance(tree.operand, Name) and tree.operand.name not in self.fixed:
            name = tree.operand.name
            return lambda env: not env[name]
        inner = self.compile(tree.operand)
        return lambda env: not inner(env)

    def binary(self, tree: Binary) -> Evaluate:
        left, right = self.compile(tree.left), self.compile(tree.right)
        if tree.operator is Operator.AND:
            return lambda env: left(env) and right(env)
        if tree.operator is Operator.OR:
            return lambda env: left(env) or right(env)
        if tree.operator in (Operator.OVER, Operator.MODULO):
            return self.division(tree, left, right)
        apply = PLAIN[tree.operator]
        return lambda env: apply(left(env), right(env))

    def division(self, tree: Binary, left: Evaluate, right: Evaluate) -> Evaluate:
        apply, source, at = PLAIN[tree.operator], self.source, tree.at

        def divide(env: Env) -> Any:
            divisor = right(env)
            if divisor == 0:
                source.fail(at, "division by zero", hint="ask first, as in d != 0 and n / d > 2")
            return apply(left(env), divisor)

        return divide

    def call(self, tree: Call) -> Evaluate:
        function = FUNCTIONS[tree.function]
        arguments = [self.compile(argument) for argument in tree.arguments]
        if len(arguments) == 1:
            only = arguments[0]
            return lambda env: function(only(env))
        return lambda env: function(*[argument(env) for argument in arguments])


def _always(value: Any) -> Evaluate:
    return lambda _env: value


def _divides(tree: Tree) -> bool:
    divisions = (Operator.OVER, Operator.MODULO)
    return any(isinstance(node, Binary) and node.operator in divisions for node in nodes_of(tree))
