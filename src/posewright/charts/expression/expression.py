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
    return _Compiler(fixed, source).compile(tree)[0]


Compiled = tuple[Evaluate, bool]
"""A function, and whether it always returns the same, and never fails."""


class _Compiler:
    """Makes closures of typed trees; what a node does is decided here, by its type, not when it runs."""

    def __init__(self, fixed: Mapping[str, Value], source: Source) -> None:
        self.fixed = fixed
        self.source = source

    def compile(self, tree: Tree) -> Compiled:
        if isinstance(tree, Literal | Name):
            return self.leaf(tree)
        if isinstance(tree, Unary):
            return self.unary(tree)
        if isinstance(tree, Binary):
            return self.binary(tree)
        if isinstance(tree, If):
            return self.choice(tree)
        return self.call(tree) if isinstance(tree, Call) else self.refuse(tree)

    def leaf(self, tree: Literal | Name) -> Compiled:
        if isinstance(tree, Literal):
            return _always(tree.value)
        if tree.name in self.fixed:
            return _always(self.fixed[tree.name])
        return operator.itemgetter(tree.name), False

    def unary(self, tree: Unary) -> Compiled:
        inner, known = self.compile(tree.operand)
        if tree.operator is Operator.MINUS:
            negative: Evaluate = lambda env: -inner(env)  # noqa: E731 -- wrapped below
            return self.folded(self.saturated(tree, negative), known)
        if isinstance(tree.operand, Name) and not known:
            name = tree.operand.name
            return lambda env: not env[name], False
        return self.folded(lambda env: not inner(env), known)

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
        joined = self.joined(tree, left, right)
        return self.folded(self.saturated(tree, joined), known)

    def joined(self, tree: Binary, left: Evaluate, right: Evaluate) -> Evaluate:
        """Return what applies an operator, the fewest calls for a name beside a number or a name."""
        apply, one, other = PLAIN[tree.operator], tree.left, tree.right
        if isinstance(one, Name) and one.name not in self.fixed:
            name = one.name
            if isinstance(other, Literal) or (isinstance(other, Name) and other.name in self.fixed):
                value = right({})
                return lambda env: apply(env[name], value)
            if isinstance(other, Name):
                second = other.name
                return lambda env: apply(env[name], env[second])
        return lambda env: apply(left(env), right(env))

    def saturated(self, tree: Tree, compute: Evaluate) -> Evaluate:
        """Return what keeps a whole result within 32 bits, where it may leave them."""
        if not isinstance(tree.type, IntType):
            return compute
        low, high = range_of(tree, self.fixed)
        if low > INT_LOW and high < INT_HIGH:
            return compute

        def saturate(env: Env) -> Any:
            result = compute(env)
            if INT_LOW <= result <= INT_HIGH:
                return result
            return INT_LOW if result < 0 else INT_HIGH

        return saturate

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
        compiled = [self.compile(argument) for argument in tree.arguments]
        arguments = [argument for argument, _ in compiled]
        known = all(known for _, known in compiled)
        if tree.function in ("abs", "single"):
            only, apply = arguments[0], abs if tree.function == "abs" else to_single
            return self.folded(self.saturated(tree, lambda env: apply(only(env))), known)
        choose: Callable[..., Any] = min if tree.function == "min" else max
        if isinstance(tree.type, FloatType) and any(isinstance(one.type, IntType) for one in tree.arguments):
            return self.folded(lambda env: float(choose([one(env) for one in arguments])), known)
        return self.folded(lambda env: choose([one(env) for one in arguments]), known)

    def folded(self, evaluate: Evaluate, known: bool) -> Compiled:
        return _always(evaluate(self.fixed)) if known else (evaluate, False)

    def refuse(self, tree: Timed | Inside) -> NoReturn:
        word = "in" if isinstance(tree, Inside) else str(tree.timing)
        hint = "run the chart: its machine has counters in place of times"
        self.source.fail(tree.at, f"`{word}` has no value outside a running chart", hint=hint)


def _always(value: Any) -> Compiled:
    return lambda _env: value, True


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
