"""An expression: its text, its typed tree, and its value, computed by a closure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

from posewright.charts.expression.source import Source
from posewright.charts.expression.tree import (
    Binary,
    Call,
    If,
    Inside,
    Literal,
    Name,
    Operator,
    Timed,
    Tree,
    Unary,
    cases_of,
    is_timed,
    names_in,
)
from posewright.charts.types import INT_HIGH, INT_LOW, Type, Value, to_single, type_of

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
    "single": to_single,
}


def compile_tree(tree: Tree, fixed: Mapping[str, Value], source: Source) -> Evaluate:
    """Return a function from an environment (names to values) to the expression's value.

    Args:
        tree: a typed tree.
        fixed: names whose value is known now.
        source: the text, for the one thing that may go wrong later.

    The function raises ExpressionError where it divides by zero; nothing else can happen.

    Raises:
        ExpressionError: it asks for time or states, which only a running chart can answer.
    """
    return _Compiler(fixed, source).compile(tree)[0]


Compiled = tuple[Evaluate, bool]
"""A function, and whether it always returns the same, and never fails."""


class _Compiler:
    def __init__(self, fixed: Mapping[str, Value], source: Source) -> None:
        self.fixed = fixed
        self.source = source

    def compile(self, tree: Tree) -> Compiled:
        if isinstance(tree, Literal):
            return _always(tree.value)
        if isinstance(tree, Name):
            return self.name(tree)
        if isinstance(tree, Unary):
            return self.unary(tree)
        if isinstance(tree, Binary):
            return self.binary(tree)
        if isinstance(tree, If):
            return self.choice(tree)
        return self.call(tree) if isinstance(tree, Call) else self.refuse(tree)

    def name(self, tree: Name) -> Compiled:
        if tree.name in self.fixed:
            return _always(self.fixed[tree.name])
        return operator.itemgetter(tree.name), False

    def unary(self, tree: Unary) -> Compiled:
        if tree.operator is Operator.NOT and isinstance(tree.operand, Name):
            name = tree.operand.name
            return _always(not self.fixed[name]) if name in self.fixed else (lambda env: not env[name], False)
        inner, known = self.compile(tree.operand)
        if tree.operator is Operator.NOT:
            return self.folded(lambda env: not inner(env), known)
        return self.folded(lambda env: NEGATE(inner(env)), known)

    def binary(self, tree: Binary) -> Compiled:
        left, left_known = self.compile(tree.left)
        right, right_known = self.compile(tree.right)
        known = left_known and right_known
        if tree.operator is Operator.AND:
            return self.folded(lambda env: left(env) and right(env), known)
        if tree.operator is Operator.OR:
            return self.folded(lambda env: left(env) or right(env), known)
        if tree.operator in (Operator.OVER, Operator.MODULO):
            return self.division(tree, left, right), False
        apply = PLAIN[tree.operator]
        if right_known and not left_known:
            value = right(self.fixed)
            return lambda env: apply(left(env), value), False
        return self.folded(lambda env: apply(left(env), right(env)), known)

    def division(self, tree: Binary, left: Evaluate, right: Evaluate) -> Evaluate:
        apply, source, at = PLAIN[tree.operator], self.source, tree.at

        def divide(env: Env) -> Any:
            divisor = right(env)
            if divisor == 0:
                source.fail(at, "division by zero", hint="ask first, as in d != 0 and n / d > 2")
            return apply(left(env), divisor)

        return divide

    def choice(self, tree: If) -> Compiled:
        pairs, rest = cases_of(tree)
        cases = [(self.compile(condition), self.compile(then)) for condition, then in pairs]
        other, known = self.compile(rest)
        known = known and all(one[1] and two[1] for one, two in cases)
        ways = tuple((one[0], two[0]) for one, two in cases)
        if len(ways) == 1:
            ((holds, then),) = ways
            return self.folded(lambda env: then(env) if holds(env) else other(env), known)

        def choose(env: Env) -> Any:
            for holds, then in ways:
                if holds(env):
                    return then(env)
            return other(env)

        return self.folded(choose, known)

    def call(self, tree: Call) -> Compiled:
        function = FUNCTIONS[tree.function]
        compiled = [self.compile(argument) for argument in tree.arguments]
        arguments = [argument for argument, _ in compiled]
        known = all(known for _, known in compiled)
        if len(arguments) == 1:
            only = arguments[0]
            return self.folded(lambda env: function(only(env)), known)
        return self.folded(lambda env: function(*[argument(env) for argument in arguments]), known)

    def folded(self, evaluate: Evaluate, known: bool) -> Compiled:
        return _always(evaluate(self.fixed)) if known else (evaluate, False)

    def refuse(self, tree: Timed | Inside) -> NoReturn:
        word = "in" if isinstance(tree, Inside) else str(tree.timing)
        hint = "run the chart: its machine has counters in place of times"
        self.source.fail(tree.at, f"`{word}` has no value outside a running chart", hint=hint)


def _always(value: Any) -> Compiled:
    return lambda _env: value, True


@dataclass(frozen=True)
class Expression:
    """A guard or an action's value: parsed, typed and safe.

    Two expressions are equal where their trees are, whatever spaces or brackets they were written with.
    """

    tree: Tree
    type: Type
    source: Source = field(default_factory=lambda: Source(""), compare=False, repr=False)
    fixed: Mapping[str, Value] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        return self.source.text

    @cached_property
    def names(self) -> frozenset[str]:
        """The inputs, outputs and locals that it reads."""
        return names_in(self.tree) - self.fixed.keys()

    @cached_property
    def evaluate(self) -> Evaluate:
        """The function from an environment to the value; raises ExpressionError on division by zero."""
        return compile_tree(self.tree, self.fixed, self.source)

    @cached_property
    def constant(self) -> Any:
        """The value where nothing is read that may change, nor time or states; else None."""
        return None if self.names or is_timed(self.tree) else self.evaluate({})

    def with_tree(self, tree: Tree) -> Expression:
        """Return the expression of another tree, of the same text and type."""
        return replace(self, tree=tree)


def constant(value: Value, text: str | None = None) -> Expression:
    """Return the expression that is always `value`; a truth value is written 0 or 1, or as `text` says."""
    written = str(int(value)) if isinstance(value, bool) else str(value)
    return Expression(Literal(value), type_of(value), Source(text or written))
