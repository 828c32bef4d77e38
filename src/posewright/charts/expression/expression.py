"""An expression: its text, its typed tree, and its value, computed by a closure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

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
    range_of,
    rewritten,
)
from posewright.charts.types import INT_HIGH, INT_LOW, FloatType, IntType, Type, Value, to_single, type_of

Env = Mapping[str, Any]
Evaluate = Callable[[Env], Any]

PLAIN: dict[Operator, Callable[[Any, Any], Any]] = {
    Operator.LESS: operator.lt,
    Operator.LESS_EQUAL: operator.le,
    Operator.GREATER: operator.gt,
    Operator.GREATER_EQUAL: operator.ge,
    Operator.EQUAL: operator.eq,
    Operator.UNEQUAL: operator.ne,
    Operator.PLUS: operator.add,
    Operator.MINUS: operator.sub,
    Operator.TIMES: operator.mul,
    Operator.OVER: operator.truediv,
    Operator.MODULO: operator.mod,
}
"""Operators that always evaluate both sides."""


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
    return _Compiler(fixed, source).compile(tree)


class _Compiler:
    """Makes closures of typed trees; what a node does is decided here, by its type, not when it runs."""

    def __init__(self, fixed: Mapping[str, Value], source: Source) -> None:
        self.fixed = fixed
        self.source = source

    def compile(self, tree: Tree) -> Evaluate:
        evaluate: Evaluate
        match tree:
            case Name() if tree.name not in self.fixed:
                evaluate = operator.itemgetter(tree.name)
            case Literal() | Name():
                value = tree.value if isinstance(tree, Literal) else self.fixed[tree.name]
                evaluate = lambda _env: value  # noqa: E731 -- one of several
            case Unary():
                evaluate = self.unary(tree)
            case Binary():
                evaluate = self.binary(tree)
            case If():
                evaluate = self.choice(tree)
            case Call():
                evaluate = self.call(tree)
            case Timed() | Inside():
                word = "in" if isinstance(tree, Inside) else str(tree.timing)
                hint = "run the chart: its machine has counters in place of times"
                self.source.fail(tree.at, f"`{word}` has no value outside a running chart", hint=hint)
        return evaluate

    def unary(self, tree: Unary) -> Evaluate:
        inner = self.compile(tree.operand)
        if tree.operator is Operator.MINUS:
            return self.saturated(tree, lambda env: -inner(env))
        return lambda env: not inner(env)

    def binary(self, tree: Binary) -> Evaluate:
        left, right = self.compile(tree.left), self.compile(tree.right)
        if tree.operator is Operator.AND:
            return lambda env: left(env) and right(env)
        if tree.operator is Operator.OR:
            return lambda env: left(env) or right(env)
        apply, source, at = PLAIN[tree.operator], self.source, tree.at
        if tree.operator not in (Operator.OVER, Operator.MODULO):
            if isinstance(tree.right, Literal):  # a third faster
                value = tree.right.value
                return self.saturated(tree, lambda env: apply(left(env), value))
            return self.saturated(tree, lambda env: apply(left(env), right(env)))

        def divide(env: Env) -> Any:
            divisor = right(env)
            if divisor == 0:
                source.fail(at, "division by zero", hint="ask first, as in d != 0 and n / d > 2")
            return apply(left(env), divisor)

        return divide

    def saturated(self, tree: Tree, compute: Evaluate) -> Evaluate:
        """Return what keeps a whole result within 32 bits, where it may leave them."""
        low, high = range_of(tree, self.fixed) if isinstance(tree.type, IntType) else (0, 0)
        if low > INT_LOW and high < INT_HIGH:
            return compute

        def saturate(env: Env) -> Any:
            result = compute(env)
            if INT_LOW <= result <= INT_HIGH:
                return result
            return INT_LOW if result < 0 else INT_HIGH

        return saturate

    def choice(self, tree: If) -> Evaluate:
        pairs, rest = cases_of(tree)
        ways = [(self.compile(condition), self.compile(then)) for condition, then in pairs]
        other = self.compile(rest)

        def choose(env: Env) -> Any:
            for holds, then in ways:
                if holds(env):
                    return then(env)
            return other(env)

        return choose

    def call(self, tree: Call) -> Evaluate:
        arguments = [self.compile(argument) for argument in tree.arguments]
        if tree.function in ("abs", "single"):
            only, apply = arguments[0], abs if tree.function == "abs" else to_single
            return self.saturated(tree, lambda env: apply(only(env)))
        choose: Callable[..., Any] = min if tree.function == "min" else max
        if isinstance(tree.type, FloatType) and any(isinstance(one.type, IntType) for one in tree.arguments):
            return lambda env: float(choose([one(env) for one in arguments]))
        return lambda env: choose([one(env) for one in arguments])


@dataclass(frozen=True)
class Argument:
    """A number handed to a parameter of a truth table whose range it may leave: it is cut to the range.

    Attributes:
        tree: the number before it is cut, in the parameter's unit.
        type: the parameter's type.
        when: under which condition the call is computed, where `and`, `or` or `if` stand around it.
    """

    function: str
    parameter: str
    tree: Tree
    type: IntType | FloatType
    when: Tree


@dataclass(frozen=True)
class Expression:
    """A guard or an action's value: parsed, typed and safe.

    Two expressions are equal where their trees are, whatever spaces or brackets they were written with.

    Attributes:
        tree: every node knows its type.
        type: of the value.
        fixed: constants, and enumeration values, which stand for themselves.
        arguments: numbers that may be cut before they are handed to a truth table.
    """

    tree: Tree
    type: Type
    source: Source = field(default_factory=lambda: Source(""), compare=False, repr=False)
    fixed: Mapping[str, Value] = field(default_factory=dict, compare=False, repr=False)
    arguments: tuple[Argument, ...] = field(default=(), compare=False, repr=False)

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

    def rewritten(self, change: Callable[[Tree], Tree | None]) -> Expression:
        """Return the expression with nodes replaced, in its arguments too; itself where none is."""
        tree = rewritten(self.tree, change)
        arguments = tuple(
            replace(one, tree=rewritten(one.tree, change), when=rewritten(one.when, change))
            for one in self.arguments
        )
        return self if tree is self.tree else replace(self, tree=tree, arguments=arguments)

    def with_tree(self, tree: Tree) -> Expression:
        """Return the expression of another tree, of the same text and type."""
        return replace(self, tree=tree)


def constant(value: Value, text: str | None = None) -> Expression:
    """Return the expression that is always `value`; a truth value is written 0 or 1, or as `text` says."""
    written = str(int(value)) if isinstance(value, bool) else str(value)
    return Expression(Literal(value), type_of(value), Source(text or written))
