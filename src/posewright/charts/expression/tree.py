"""The syntax tree of an expression: frozen nodes that know their place in the text and their type.

The type checker gives a name its type, as does code that puts a register of a machine in its place; the type
of every other node follows from its operands. It is the type in which a value is *computed*: integer
arithmetic has 32 bits and saturates, float arithmetic has 64 bits, a call of `single` rounds to 32 bits. How
wide the value is once it is stored depends on the declared type of the variable.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from posewright.charts.types import (
    INT_HIGH,
    INT_LOW,
    BoolType,
    FloatType,
    IntType,
    Type,
    Value,
    to_single,
    type_of,
)


class Operator(Enum):
    """The unary and binary operators."""

    OR = "or"
    AND = "and"
    NOT = "not"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    EQUAL = "=="
    UNEQUAL = "!="
    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    OVER = "/"
    MODULO = "%"

    def __str__(self) -> str:
        return self.value


LOGIC = frozenset({Operator.OR, Operator.AND})
ORDER = frozenset({Operator.LESS, Operator.LESS_EQUAL, Operator.GREATER, Operator.GREATER_EQUAL})
COMPARISONS = ORDER | {Operator.EQUAL, Operator.UNEQUAL}
ARITHMETIC = frozenset({Operator.PLUS, Operator.MINUS, Operator.TIMES, Operator.OVER, Operator.MODULO})


class TemporalOperator(Enum):
    """Conditions on time: since the state was entered, or how long another condition has been true."""

    AFTER = "after"
    BEFORE = "before"
    EVERY = "every"
    HELD = "held"

    def __str__(self) -> str:
        return self.value


class _Typed:
    """A node whose type follows from its operands."""

    @cached_property
    def type(self) -> Type:
        """The type in which the value is computed.

        Raises:
            TypeError: the tree was parsed but not type checked.
        """
        match self:
            case Literal():
                # a float that 32 bits represent exactly does not widen what it is combined with
                fits_single = isinstance(self.value, float) and to_single(self.value) == self.value
                return FloatType(single=True) if fits_single else type_of(self.value)
            case If():
                cases, default = split_cases(self)
                return _common_type([*(value for _, value in cases), default])
            case Call():
                return FloatType(single=True) if self.function == "single" else _common_type(self.arguments)
            case Unary(Operator.MINUS):
                return _common_type([self.operand])
            case Binary() if self.operator in ARITHMETIC:
                is_integer = isinstance(_common_type([self.left, self.right]), IntType)
                return IntType() if is_integer and self.operator is not Operator.OVER else FloatType()
        return BoolType()  # `not`, `and`, `or`, comparisons, and tests of times and states


@dataclass(frozen=True)
class Literal(_Typed):
    """A number or a truth value; a number may have a unit, as in `35 cm`."""

    value: Value
    offset: int = field(default=0, compare=False)
    unit: str | None = None
    python_type: type = field(init=False, repr=False)  # 2 equals 2.0 in Python, but is multiplied differently

    def __post_init__(self) -> None:
        object.__setattr__(self, "python_type", type(self.value))


@dataclass(frozen=True)
class Name:
    """An input, an output, a local, a constant, a value of an enumeration, or a register of a machine.

    Attributes:
        declared_type: None in a tree that was parsed but not type checked.
    """

    name: str
    offset: int = field(default=0, compare=False)
    declared_type: Type | None = field(default=None, compare=False, repr=False)

    @property
    def type(self) -> Type:
        """The declared type.

        Raises:
            TypeError: the tree was parsed but not type checked.
        """
        if self.declared_type is None:
            raise TypeError(f"the type of {self.name!r} is not set: type check the tree first")
        return self.declared_type


@dataclass(frozen=True)
class Unary(_Typed):
    """`not` or `-` before an operand."""

    operator: Operator
    operand: Tree
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Binary(_Typed):
    """An operator between two operands."""

    operator: Operator
    left: Tree
    right: Tree
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Call(_Typed):
    """A call of `abs`, `min`, `max`, or `single`, which rounds to 32 bits."""

    function: str
    arguments: tuple[Tree, ...]
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True)
class If(_Typed):
    """`then if condition else otherwise`: one of two values."""

    condition: Tree
    then: Tree
    otherwise: Tree
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True)
class TemporalCondition(_Typed):
    """`after(0.5 s)`, `before(2 s)`, `every(1 s)`, `held(near, 0.3 s)`.

    Attributes:
        seconds: the time to compare with [s].
        condition: only for `held`: the condition that must be true for all that time.
    """

    operator: TemporalOperator
    seconds: float
    condition: Tree | None = None
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True)
class InState(_Typed):
    """`in(walking)`: whether that state is active."""

    state: str
    offset: int = field(default=0, compare=False)


Tree = Literal | Name | Unary | Binary | Call | If | TemporalCondition | InState


def _common_type(trees: Sequence[Tree]) -> Type:
    """Return the type that holds the values of all trees: of floats, 32 bits if none has more."""
    types = [tree.type for tree in trees]
    float_types = [value_type for value_type in types if isinstance(value_type, FloatType)]
    if float_types:
        return FloatType(single=all(float_type.single for float_type in float_types))
    return IntType() if isinstance(types[0], IntType) else types[0]


def children(tree: Tree) -> tuple[Tree, ...]:
    """Return the operands of a node, from left to right; none for a literal, a name and a test of a state."""
    if isinstance(tree, Unary):
        return (tree.operand,)
    if isinstance(tree, Binary):
        return (tree.left, tree.right)
    if isinstance(tree, If):
        return (tree.condition, tree.then, tree.otherwise)
    if isinstance(tree, Call):
        return tree.arguments
    return (tree.condition,) if isinstance(tree, TemporalCondition) and tree.condition else ()


def with_children(tree: Tree, operands: Sequence[Tree]) -> Tree:
    """Return a copy of the node with other operands: as many as it has, from left to right."""
    if isinstance(tree, Unary):
        (operand,) = operands
        return replace(tree, operand=operand)
    if isinstance(tree, Binary):
        left, right = operands
        return replace(tree, left=left, right=right)
    if isinstance(tree, If):
        condition, then, otherwise = operands
        return If(condition, then, otherwise, tree.offset)
    if isinstance(tree, Call):
        return replace(tree, arguments=tuple(operands))
    if isinstance(tree, TemporalCondition) and operands:
        (condition,) = operands
        return replace(tree, condition=condition)
    return tree


def split_cases(tree: If) -> tuple[list[tuple[Tree, Tree]], Tree]:
    """Split a chain `a if c else b if d else e` into its cases (condition, value) and its last value.

    The call of a truth table becomes a long chain, so code that visits a tree follows a chain in a loop
    instead of by recursion.
    """
    cases: list[tuple[Tree, Tree]] = []
    default: Tree = tree
    while isinstance(default, If):
        cases.append((default.condition, default.then))
        default = default.otherwise
    return cases, default


def join_cases(cases: Iterable[tuple[Tree, Tree]], default: Tree) -> Tree:
    """Return the chain of conditionals with these cases (condition, value) and this last value."""
    tree = default
    for condition, value in reversed(list(cases)):
        tree = If(condition, value, tree)
    return tree


def rewrite(tree: Tree, change: Callable[[Tree], Tree | None]) -> Tree:
    """Return a tree with nodes replaced by `change`, which is applied to the outermost nodes first.

    Args:
        tree: is not changed; the same object is returned if nothing is replaced.
        change: returns the replacement of a node, or None to keep it and go on with its operands.
    """
    replacement = change(tree)
    if replacement is not None:
        return replacement
    if isinstance(tree, If):
        return _rewrite_chain(tree, change)
    operands = children(tree)
    new_operands = []
    for operand in operands:  # no comprehension: it would double the depth of the recursion
        new_operands.append(rewrite(operand, change))
    is_unchanged = all(new is old for new, old in zip(new_operands, operands, strict=True))
    return tree if is_unchanged else with_children(tree, new_operands)


def _rewrite_chain(tree: If, change: Callable[[Tree], Tree | None]) -> Tree:
    """Return a chain `a if c else b if d else e` rewritten, without recursion along the chain.

    It goes along the chain to its last value, or to the first conditional that `change` replaces, then builds
    the chain anew from there backwards. Conditionals in which nothing changes stay the same objects.
    """
    rewritten_parts: list[tuple[If, Tree, Tree]] = []  # a conditional, its new condition and its new value
    remainder: Tree = tree
    replacement: Tree | None = None
    while isinstance(remainder, If) and replacement is None:
        new_condition = rewrite(remainder.condition, change)
        new_value = rewrite(remainder.then, change)
        rewritten_parts.append((remainder, new_condition, new_value))
        remainder = remainder.otherwise
        replacement = change(remainder) if isinstance(remainder, If) else rewrite(remainder, change)
    result = replacement or remainder
    for old, new_condition, new_value in reversed(rewritten_parts):
        is_unchanged = new_condition is old.condition and new_value is old.then and result is old.otherwise
        result = old if is_unchanged else If(new_condition, new_value, result, old.offset)
    return result


def nodes_of(tree: Tree) -> Iterator[Tree]:
    """Yield the tree and all nodes below it."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(children(node))


def names_in(tree: Tree) -> frozenset[str]:
    """Return the names that the expression mentions."""
    return frozenset(node.name for node in nodes_of(tree) if isinstance(node, Name))


def is_timed(tree: Tree) -> bool:
    """Return whether a tree depends on time or on active states, which only a running chart has."""
    return any(isinstance(node, TemporalCondition | InState) for node in nodes_of(tree))


def height(tree: Tree) -> int:
    """Return the number of levels of a tree: 1 for a leaf.

    This does not recurse, since the height is checked before anything recurses into a tree.
    """
    level = [tree]
    n_levels = 0
    while level:
        n_levels += 1
        level = [child for node in level for child in children(node)]
    return n_levels


Range = tuple[float, float]
UNBOUNDED: Range = (-math.inf, math.inf)


def range_of(tree: Tree, constant_values: Mapping[str, Value]) -> Range:
    """Return a lower and an upper bound of the value of a number; both may be infinite.

    The bounds are safe but not always tight: two uses of one name count as two independent values. A tree
    that is no number has infinite bounds.

    Args:
        tree: a typed tree.
        constant_values: values of constants by name.
    """
    bounds = UNBOUNDED
    match tree:
        case Name() if tree.name not in constant_values:
            if isinstance(tree.type, IntType | FloatType):
                bounds = (tree.type.low, tree.type.high)
        case Literal() | Name():
            value = tree.value if isinstance(tree, Literal) else constant_values[tree.name]
            if isinstance(value, int | float) and not isinstance(value, bool):
                bounds = (value, value)
        case Unary():  # a minus
            low, high = range_of(tree.operand, constant_values)
            bounds = _saturate(-high, -low)
        case Binary():
            bounds = _binary_range(
                tree.operator, range_of(tree.left, constant_values), range_of(tree.right, constant_values)
            )
        case Call():
            bounds = _call_range(
                tree.function, [range_of(argument, constant_values) for argument in tree.arguments]
            )
        case If():
            cases, default = split_cases(tree)
            values = [*(value for _, value in cases), default]
            ranges = [range_of(value, constant_values) for value in values]
            bounds = (min(low for low, _ in ranges), max(high for _, high in ranges))
    return bounds


_MONOTONE_OPERATORS: dict[Operator, Callable[[float, float], float]] = {
    Operator.PLUS: operator.add,
    Operator.MINUS: operator.sub,
    Operator.TIMES: operator.mul,
    Operator.OVER: operator.truediv,
}
"""Operators whose extremes over two ranges lie at the ends of these."""


def _binary_range(arithmetic_operator: Operator, left: Range, right: Range) -> Range:
    """Return the range of an arithmetic operation on values in two ranges; unbounded for other operators."""
    right_low, right_high = right
    if arithmetic_operator is Operator.MODULO:  # the remainder has the sign of the divisor, and is smaller
        return min(right_low, 0), max(right_high, 0)
    if arithmetic_operator not in _MONOTONE_OPERATORS:
        return UNBOUNDED
    if arithmetic_operator is Operator.OVER and right_low <= 0 <= right_high:
        return UNBOUNDED
    compute = _MONOTONE_OPERATORS[arithmetic_operator]
    results_at_ends = [compute(left_end, right_end) for left_end in left for right_end in right]
    if any(map(math.isnan, results_at_ends)):  # such as infinity minus infinity
        return UNBOUNDED
    return _saturate(min(results_at_ends), max(results_at_ends))


def _call_range(function: str, arguments: list[Range]) -> Range:
    """Return the range of abs, single, min or max of arguments in given ranges."""
    if function in ("abs", "single"):
        (argument,) = arguments
        low, high = argument
        if function == "single":
            return to_single(low), to_single(high)
        includes_zero = low <= 0 <= high
        least_magnitude = 0 if includes_zero else min(abs(low), abs(high))
        return _saturate(least_magnitude, max(abs(low), abs(high)))
    choose = min if function == "min" else max
    low = choose(argument_low for argument_low, _argument_high in arguments)
    high = choose(argument_high for _argument_low, argument_high in arguments)
    are_integers = all(isinstance(end, int) for argument_range in arguments for end in argument_range)
    return (low, high) if are_integers else (float(low), float(high))


def _saturate(low: float, high: float) -> Range:
    """Return integer bounds clamped to 32 bits, and float bounds unchanged."""
    if isinstance(low, int) and isinstance(high, int):
        return min(max(low, INT_LOW), INT_HIGH), min(max(high, INT_LOW), INT_HIGH)
    return low, high
