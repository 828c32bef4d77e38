"""Expressions: text, typed tree, and a closure that computes the value."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from posewright.charts.expression.source import SourceText
from posewright.charts.expression.tree import (
    Binary,
    Call,
    If,
    InState,
    Literal,
    Name,
    Operator,
    TemporalCondition,
    Tree,
    Unary,
    is_timed,
    names_in,
    range_of,
    rewrite,
    split_cases,
)
from posewright.charts.types import INT_HIGH, INT_LOW, FloatType, IntType, Type, Value, to_single, type_of

Env = Mapping[str, Any]
"""An environment: the value of each variable, by name."""

Evaluate = Callable[[Env], Any]
"""Computes the value of an expression in an environment."""

STRICT_OPERATORS: dict[Operator, Callable[[Any, Any], Any]] = {
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
"""Operators that always evaluate both operands."""


def compile_tree(tree: Tree, constant_values: Mapping[str, Value], source: SourceText) -> Evaluate:
    """Return a function that computes the value of an expression from the values of its variables.

    The function takes these values by name. It raises ExpressionError if it divides by zero; nothing else can
    fail.

    Args:
        tree: a typed tree.
        constant_values: values of constants by name.
        source: the text, for the message of a division by zero.

    Raises:
        ExpressionError: the tree depends on time or states, which have no value outside a running chart.
    """
    return _Compiler(constant_values, source).compile(tree)


class _Compiler:
    """Compiles typed trees to closures; types are looked at while compiling, not while evaluating."""

    def __init__(self, constant_values: Mapping[str, Value], source: SourceText) -> None:
        self.constant_values = constant_values
        self.source = source

    def compile(self, tree: Tree) -> Evaluate:
        """Return a function that computes the value of a tree from an environment: the variables by name."""
        evaluate: Evaluate
        match tree:
            case Name() if tree.name not in self.constant_values:
                evaluate = operator.itemgetter(tree.name)
            case Literal() | Name():
                value = tree.value if isinstance(tree, Literal) else self.constant_values[tree.name]
                evaluate = lambda _env: value  # noqa: E731 -- one case of several
            case Unary():
                evaluate = self.compile_unary(tree)
            case Binary():
                evaluate = self.compile_binary(tree)
            case If():
                evaluate = self.compile_conditional(tree)
            case Call():
                evaluate = self.compile_call(tree)
            case TemporalCondition() | InState():
                notation = "in" if isinstance(tree, InState) else str(tree.operator)
                hint = "run the chart: its machine has counters in place of times"
                self.source.fail(tree.offset, f"`{notation}` has no value outside a running chart", hint=hint)
        return evaluate

    def compile_unary(self, tree: Unary) -> Evaluate:
        """Return a function for `not`, or for a negation that saturates at 32 bits if it is an integer."""
        operand = self.compile(tree.operand)
        if tree.operator is Operator.MINUS:
            return self.saturate(tree, lambda env: -operand(env))
        return lambda env: not operand(env)

    def compile_binary(self, tree: Binary) -> Evaluate:
        """Return a function that computes a binary operation; `and` and `or` short-circuit."""
        left = self.compile(tree.left)
        right = self.compile(tree.right)
        if tree.operator is Operator.AND:
            return lambda env: left(env) and right(env)
        if tree.operator is Operator.OR:
            return lambda env: left(env) or right(env)
        apply = STRICT_OPERATORS[tree.operator]
        if tree.operator not in (Operator.OVER, Operator.MODULO):
            if isinstance(tree.right, Literal):  # reading the value now makes evaluation a third faster
                value = tree.right.value
                return self.saturate(tree, lambda env: apply(left(env), value))
            return self.saturate(tree, lambda env: apply(left(env), right(env)))
        source = self.source
        offset = tree.offset

        def divide(env: Env) -> Any:
            """Return the quotient or remainder; raise an ExpressionError if the divisor is zero."""
            divisor = right(env)
            if divisor == 0:
                hint = "test the divisor first, as in d != 0 and n / d > 2"
                source.fail(offset, "division by zero", hint=hint)
            return apply(left(env), divisor)

        return divide

    def saturate(self, tree: Tree, compute: Evaluate) -> Evaluate:
        """Return a function like `compute` whose integer results are clamped to 32 bits.

        It is `compute` itself where the results are no integers, or always fit.

        Args:
            tree: the tree that `compute` evaluates.
            compute: the function that does not clamp.
        """
        if not isinstance(tree.type, IntType):
            return compute
        low, high = range_of(tree, self.constant_values)
        # the range is itself clamped, so a bound at the limit may stand for a value beyond it
        always_fits = low > INT_LOW and high < INT_HIGH
        if always_fits:
            return compute

        def compute_saturated(env: Env) -> Any:
            """Return the integer result, clamped to 32 bits."""
            result = compute(env)
            if INT_LOW <= result <= INT_HIGH:
                return result
            return INT_LOW if result < 0 else INT_HIGH

        return compute_saturated

    def compile_conditional(self, tree: If) -> Evaluate:
        """Return a function that evaluates a chain of `if`: the value of the first condition that is true."""
        cases, default = split_cases(tree)
        compiled_cases = [(self.compile(condition), self.compile(value)) for condition, value in cases]
        evaluate_default = self.compile(default)

        def choose(env: Env) -> Any:
            """Return the value after the first condition that is true, else the default."""
            for evaluate_condition, evaluate_value in compiled_cases:
                if evaluate_condition(env):
                    return evaluate_value(env)
            return evaluate_default(env)

        return choose

    def compile_call(self, tree: Call) -> Evaluate:
        """Return a function that computes abs, single, min or max."""
        evaluate_arguments = [self.compile(argument) for argument in tree.arguments]
        if tree.function in ("abs", "single"):
            evaluate_argument = evaluate_arguments[0]
            apply = abs if tree.function == "abs" else to_single
            return self.saturate(tree, lambda env: apply(evaluate_argument(env)))
        choose: Callable[..., Any] = min if tree.function == "min" else max
        has_integer = any(isinstance(operand.type, IntType) for operand in tree.arguments)
        # Python's min and max return an argument as it is, which may be an integer
        if isinstance(tree.type, FloatType) and has_integer:
            return lambda env: float(choose([evaluate(env) for evaluate in evaluate_arguments]))
        return lambda env: choose([evaluate(env) for evaluate in evaluate_arguments])


@dataclass(frozen=True)
class ClampedArgument:
    """An argument of a truth table that may leave the range of its parameter and is clamped to it.

    Attributes:
        function: name of the truth table.
        parameter: name of the parameter.
        tree: the argument before it is clamped, in the parameter's unit.
        type: the parameter's type.
        when: the condition under which the call is evaluated, from the `and`, `or` and `if` that contain it.
    """

    function: str
    parameter: str
    tree: Tree
    type: IntType | FloatType
    when: Tree


@dataclass(frozen=True)
class Expression:
    """A guard, or the value that an action assigns: parsed and type checked.

    Two expressions are equal if their trees are, regardless of spaces and parentheses in the text.

    Attributes:
        tree: a typed tree.
        type: the type of the value.
        source: the text as written.
        constant_values: values of constants by name; a value of an enumeration represents itself.
        clamped_arguments: arguments of truth tables that may have to be clamped.
    """

    tree: Tree
    type: Type
    source: SourceText = field(default_factory=lambda: SourceText(""), compare=False, repr=False)
    constant_values: Mapping[str, Value] = field(default_factory=dict, compare=False, repr=False)
    clamped_arguments: tuple[ClampedArgument, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        return self.source.text

    @cached_property
    def names(self) -> frozenset[str]:
        """The inputs, outputs and locals that the expression reads."""
        return names_in(self.tree) - self.constant_values.keys()

    @cached_property
    def evaluate(self) -> Evaluate:
        """The compiled expression; it raises ExpressionError if it divides by zero."""
        return compile_tree(self.tree, self.constant_values, self.source)

    @cached_property
    def constant(self) -> Any:
        """The value of an expression that reads no variable, time or state; else None."""
        return None if self.names or is_timed(self.tree) else self.evaluate({})

    def rewrite(self, change: Callable[[Tree], Tree | None]) -> Expression:
        """Return the expression with nodes replaced, also in its arguments; itself if none is replaced.

        Args:
            change: returns the replacement of a node, or None to keep it and go on with its operands.
        """
        tree = rewrite(self.tree, change)
        clamped_arguments = tuple(
            replace(argument, tree=rewrite(argument.tree, change), when=rewrite(argument.when, change))
            for argument in self.clamped_arguments
        )
        return self if tree is self.tree else replace(self, tree=tree, clamped_arguments=clamped_arguments)

    def with_tree(self, tree: Tree) -> Expression:
        """Return a copy with another tree of the same type."""
        return replace(self, tree=tree)


def constant(value: Value, text: str | None = None) -> Expression:
    """Return the expression of a constant value.

    Args:
        value: the value.
        text: how it is written in the chart; None means 0 or 1 for a truth value, else Python's text.
    """
    default_text = str(int(value)) if isinstance(value, bool) else str(value)
    return Expression(Literal(value), type_of(value), SourceText(text or default_text))
