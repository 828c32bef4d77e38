"""Conversion of numbers to a common unit and precision, and the types of operations on numbers.

The precision of a float is single (32 bits) or double (64 bits).

A number that is written in the expression, or a constant, adapts to the other operands: it is replaced by its
exact converted value. Any other number is multiplied by a factor, or rounded by a call of `single`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from posewright.charts.expression.scope import Scope
from posewright.charts.expression.source import SourceText
from posewright.charts.expression.tree import (
    Binary,
    Call,
    If,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    join_cases,
    range_of,
    split_cases,
)
from posewright.charts.types import (
    INT_HIGH,
    INT_LOW,
    SINGLE_MAX,
    BoolType,
    FloatType,
    IntType,
    Numeric,
    Type,
    conversion_factor,
    find_unit,
    to_fraction,
    to_single,
)


class TypedTree(NamedTuple):
    """A type checked tree with its type.

    Attributes:
        is_constant: the value comes from literals and constants only, perhaps chosen by a condition.
    """

    tree: Tree
    type: Type
    is_constant: bool = False

    @property
    def unit(self) -> str | None:
        """The unit of a number that has one."""
        return self.type.unit if isinstance(self.type, IntType | FloatType) else None

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer."""
        return isinstance(self.type, IntType)

    @property
    def is_single_precision(self) -> bool:
        """Whether it is a float of 32 bits."""
        return isinstance(self.type, FloatType) and self.type.single


OperandPair = tuple[TypedTree, TypedTree]
"""The two operands of an operator, or the two values of a conditional."""


def result_type(operands: Sequence[TypedTree], *, is_single_precision: bool, unit: str | None) -> Type:
    """Return the type of the result of an operation: an integer if all operands are.

    Args:
        operands: the operands.
        is_single_precision: whether the result has 32 bits if it is a float.
        unit: the unit of the result; None if it has none.
    """
    if all(operand.is_integer for operand in operands):
        return IntType(unit=unit)
    return FloatType(single=is_single_precision, unit=unit)


def describe_type(value_type: Type) -> str:
    """Return what messages call a type: a truth value, a number, or a name."""
    if isinstance(value_type, BoolType):
        return "a truth value"
    return "a number" if isinstance(value_type, Numeric) else "a name"


CHOOSING_FUNCTIONS = frozenset({"abs", "min", "max"})
"""Functions whose result is one of their arguments, perhaps with the other sign."""

SINGLE_MAX_INTEGER = 2**24
"""Up to here a float of 32 bits represents every integer."""


class NumericConverter:
    """Converts the numbers of one expression to common units and precisions.

    Attributes:
        scope: the names that the expression may use, with the values of constants.
        source: the text of the expression, at which errors point.
    """

    def __init__(self, scope: Scope, source: SourceText) -> None:
        self.scope = scope
        self.source = source

    def to_common_unit(
        self, operands: Sequence[TypedTree], offset: int, message_start: str
    ) -> tuple[list[TypedTree], str | None]:
        """Return the operands in one unit, and the unit; numbers without a unit stay as they are.

        Args:
            operands: constants adapt to the other operands; else all are converted to the unit of the first.
            offset: the character that an error points at.
            message_start: how the message of an error begins, such as "`<` compares".

        Raises:
            ExpressionError: two units have different dimensions.
        """
        units = [operand.unit for operand in operands if operand.unit]
        if not units:
            return list(operands), None
        variable_units = [operand.unit for operand in operands if operand.unit and not operand.is_constant]
        unit = variable_units[0] if variable_units else units[0]
        for operand_unit in units:
            if conversion_factor(operand_unit, unit) is None:
                # the message names the units in the order in which they are written
                left, right = (unit, operand_unit) if units[0] == unit else (operand_unit, unit)
                hint = describe_dimensions(left, right)
                self.source.fail(offset, f"{message_start} {left} with {right}", hint=hint)
        has_integer_variable = any(operand.is_integer and not operand.is_constant for operand in operands)
        converted = [self.to_unit(operand, unit, prefer_integer=has_integer_variable) for operand in operands]
        return converted, unit

    def to_unit(self, number: TypedTree, unit: str, *, prefer_integer: bool = False) -> TypedTree:
        """Return a number in another unit of its dimension; a number without a unit stays as it is.

        Args:
            number: the number.
            unit: the new unit.
            prefer_integer: a float constant becomes an integer if that is exact: 0.35 m is 35 cm.
        """
        factor = conversion_factor(number.unit, unit) if number.unit else None
        if factor is None or number.unit == unit:
            return number
        value = self.constant_value(number.tree)
        if value is not None:
            exact = to_fraction(value) * factor
            may_be_integer = number.is_integer or prefer_integer
            if exact.denominator == 1 and may_be_integer and INT_LOW <= exact <= INT_HIGH:
                literal = Literal(int(exact), number.tree.offset)
                return TypedTree(literal, IntType(unit=unit), number.is_constant)
        new_type: IntType | FloatType = FloatType(single=number.is_single_precision, unit=unit)
        if number.is_integer and factor.denominator == 1:
            new_type = IntType(unit=unit)
        tree = self.replace_terms(
            number.tree,
            replace_constant=lambda node, value: self._scale_constant(node, value, factor, new_type),
            replace_variable=lambda node: self._scale_variable(node, factor, new_type),
        )
        return TypedTree(tree, new_type, number.is_constant)

    def _scale_constant(
        self, node: Tree, value: float, factor: Fraction, new_type: IntType | FloatType
    ) -> Tree:
        """Return a constant converted by a factor between units, as a literal of the new type.

        An integer is truncated and saturates at 32 bits; a float that is too large is an error.
        """
        exact = to_fraction(value) * factor
        if isinstance(new_type, IntType):
            return Literal(min(max(int(exact), INT_LOW), INT_HIGH), node.offset)
        if abs(exact) > (SINGLE_MAX if new_type.single else sys.float_info.max):
            self.source.fail(node.offset, "this number is too large once its unit is converted")
        return Literal(to_single(float(exact)) if new_type.single else float(exact), node.offset)

    def _scale_variable(self, node: Tree, factor: Fraction, new_type: IntType | FloatType) -> Tree:
        """Return a term that is not constant, multiplied by a factor between units."""
        if isinstance(new_type, IntType):
            return Binary(Operator.TIMES, node, Literal(int(factor)), node.offset)
        if not new_type.single:
            return Binary(Operator.TIMES, node, Literal(float(factor)), node.offset)
        product = Binary(Operator.TIMES, node, Literal(to_single(float(factor))), node.offset)
        return Call("single", (product,), node.offset)

    def to_common_precision(self, operands: Sequence[TypedTree]) -> tuple[list[TypedTree], bool]:
        """Return the operands in one precision, and whether that is single precision (32 bits).

        It is single if some float operand has 32 bits, and no float operand that is a variable has 64.
        """
        is_single_precision = False
        for operand in operands:
            is_double_variable = not (
                operand.is_single_precision or operand.is_integer or operand.is_constant
            )
            if is_double_variable:
                return list(operands), False
            is_single_precision = is_single_precision or operand.is_single_precision
        if not is_single_precision:
            return list(operands), False
        return [self.to_single(operand) for operand in operands], True

    def to_single(self, number: TypedTree) -> TypedTree:
        """Return a number rounded to 32 bits; a small integer stays an integer."""
        if number.is_single_precision or (number.is_integer and self._fits_single(number.tree)):
            return number
        tree = self.replace_terms(
            number.tree,
            replace_constant=self._round_constant,
            replace_variable=lambda node: Call("single", (node,), node.offset),
        )
        return TypedTree(tree, FloatType(single=True, unit=number.unit), number.is_constant)

    def _fits_single(self, tree: Tree) -> bool:
        """Return whether a float of 32 bits represents every integer in the range of a tree."""
        low, high = range_of(tree, self.scope.constants)
        return low >= -SINGLE_MAX_INTEGER and high <= SINGLE_MAX_INTEGER

    def _round_constant(self, node: Tree, value: float) -> Tree:
        """Return a constant rounded to 32 bits; raise an ExpressionError if it is too large for that."""
        if abs(value) > SINGLE_MAX:
            hint = "declare the other operand as float"
            self.source.fail(node.offset, f"{value:g} is too large for 32 bits", hint=hint)
        rounded = to_single(value)
        return node if rounded == value and isinstance(value, float) else Literal(rounded, node.offset)

    def to_float(self, number: TypedTree) -> TypedTree:
        """Return an integer as a float of the same value; a float as it is."""
        if not number.is_integer:
            return number
        tree = self.replace_terms(
            number.tree,
            replace_constant=lambda node, value: Literal(float(value), node.offset),
            # the language has no conversion; an integer times 1.0 is a float
            replace_variable=lambda node: Binary(Operator.TIMES, node, Literal(1.0), node.offset),
        )
        return TypedTree(tree, FloatType(unit=number.unit), number.is_constant)

    def constant_value(self, tree: Tree) -> int | float | None:
        """Return the value of a literal, a constant, or one of these with a minus; else None."""
        if isinstance(tree, Unary) and tree.operator is Operator.MINUS:
            operand = self.constant_value(tree.operand)
            return None if operand is None else -operand
        if isinstance(tree, Literal):
            value = tree.value
        elif isinstance(tree, Name) and tree.name in self.scope.constants:
            value = self.scope.constants[tree.name]
        else:
            return None
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def replace_terms(
        self,
        tree: Tree,
        replace_constant: Callable[[Tree, float], Tree],
        replace_variable: Callable[[Tree], Tree],
    ) -> Tree:
        """Return a tree with every term replaced that its value may come from.

        A conditional, a minus sign, `abs`, `min` and `max` stay, and their operands are replaced; any other
        node is a term. So `a if c else min(b, 2)` has the terms `a`, `b` and 2.

        Args:
            tree: a number.
            replace_constant: returns the replacement of a constant, from its node and its value.
            replace_variable: returns the replacement of any other term. Both must preserve the order of
                numbers.
        """
        if isinstance(tree, If):
            cases, default = split_cases(tree)
            new_cases = [
                (condition, self.replace_terms(value, replace_constant, replace_variable))
                for condition, value in cases
            ]
            return join_cases(new_cases, self.replace_terms(default, replace_constant, replace_variable))
        if isinstance(tree, Unary):
            return replace(tree, operand=self.replace_terms(tree.operand, replace_constant, replace_variable))
        if isinstance(tree, Call) and tree.function in CHOOSING_FUNCTIONS:
            arguments = [
                self.replace_terms(argument, replace_constant, replace_variable)
                for argument in tree.arguments
            ]
            return replace(tree, arguments=tuple(arguments))
        value = self.constant_value(tree)
        return replace_variable(tree) if value is None else replace_constant(tree, value)


def describe_dimensions(left_unit: str, right_unit: str) -> str:
    """Return a hint that says what two units measure."""
    left = find_unit(left_unit).dimension
    right = find_unit(right_unit).dimension
    return f"{left_unit} measures {left}, {right_unit} {right}"


def match_comparison_operands(
    converter: NumericConverter, tree: Binary, left: TypedTree, right: TypedTree
) -> OperandPair:
    """Return the operands of a comparison in one unit, and a constant in the precision of the other operand.

    Two variables keep their precision: every number of 32 bits is also one of 64.
    """
    (left, right), _unit = converter.to_common_unit((left, right), tree.offset, f"`{tree.operator}` compares")
    (rounded_left, rounded_right), _is_single = converter.to_common_precision((left, right))
    return (
        rounded_left if left.is_constant else left,
        rounded_right if right.is_constant else right,
    )


def type_arithmetic(
    converter: NumericConverter, tree: Binary, left: TypedTree, right: TypedTree
) -> TypedTree:
    """Return the typed result of an arithmetic operator.

    Both operands are converted to matching units and to one precision, single or double.

    Args:
        converter: converts the operands.
        tree: the operation as parsed.
        left: the left operand.
        right: the right operand.
    """
    left_in_unit, right_in_unit, unit = _match_arithmetic_units(converter, tree, left, right)
    matched_operands, is_single_precision = converter.to_common_precision((left_in_unit, right_in_unit))
    matched_left, matched_right = matched_operands
    if tree.operator is Operator.OVER:  # a quotient is a float, even that of two integers
        value_type: Type = FloatType(single=is_single_precision, unit=unit)
    else:
        value_type = result_type(matched_operands, is_single_precision=is_single_precision, unit=unit)
    result: Tree = Binary(tree.operator, matched_left.tree, matched_right.tree, tree.offset)
    if is_single_precision:
        result = Call("single", (result,), tree.offset)
    return TypedTree(result, value_type, left.is_constant and right.is_constant)


def _match_arithmetic_units(
    converter: NumericConverter, tree: Binary, left: TypedTree, right: TypedTree
) -> tuple[*OperandPair, str | None]:
    """Return both operands in matching units, and the unit of the result; None if it has none.

    The operands of a sum are converted to one unit. A product has a unit only if just one operand has. A
    quotient has that of the dividend if the divisor has none; the quotient of two lengths is computed in one
    unit and has none.

    Args:
        converter: converts the operands.
        tree: the operation as parsed.
        left: the left operand.
        right: the right operand.
    """
    if tree.operator is Operator.TIMES:
        both_have_units = bool(left.unit and right.unit)
        return left, right, None if both_have_units else left.unit or right.unit
    if tree.operator is Operator.OVER:
        is_ratio = bool(left.unit and right.unit and conversion_factor(left.unit, right.unit))
        if not is_ratio:
            return left, right, None if right.unit else left.unit
    (left, right), unit = converter.to_common_unit((left, right), tree.offset, f"`{tree.operator}` mixes")
    return left, right, None if tree.operator is Operator.OVER else unit


def type_conditional(
    converter: NumericConverter, tree: If, condition: TypedTree, then: TypedTree, otherwise: TypedTree
) -> TypedTree:
    """Return the typed choice between two numbers, both in one unit and precision; floats if one is a float.

    It is constant if both numbers are, whatever the condition.

    Args:
        converter: converts the numbers.
        tree: the conditional as parsed; errors point at its offset in the text.
        condition: the typed condition.
        then: the number if the condition is true.
        otherwise: the number if it is false.

    Raises:
        ExpressionError: the units of the numbers have different dimensions.
    """
    numbers_in_unit, unit = converter.to_common_unit((then, otherwise), tree.offset, "`if` mixes")
    numbers, is_single_precision = converter.to_common_precision(numbers_in_unit)
    value_type = result_type(numbers, is_single_precision=is_single_precision, unit=unit)
    if isinstance(value_type, FloatType):
        then, otherwise = map(converter.to_float, numbers)
    else:
        then, otherwise = numbers
    conditional = If(condition.tree, then.tree, otherwise.tree, tree.offset)
    return TypedTree(conditional, value_type, is_constant=then.is_constant and otherwise.is_constant)


def type_call(converter: NumericConverter, tree: Call, arguments: Sequence[TypedTree]) -> TypedTree:
    """Return the typed call of `abs`, `min`, `max` or `single`."""
    arguments, unit = converter.to_common_unit(arguments, tree.offset, f"`{tree.function}` mixes")
    if tree.function == "single":
        (argument,) = arguments
        if argument.is_single_precision:
            return argument
        call = Call("single", (argument.tree,), tree.offset)
        return TypedTree(call, FloatType(single=True, unit=unit))
    arguments, is_single_precision = converter.to_common_precision(arguments)
    call = Call(tree.function, tuple(argument.tree for argument in arguments), tree.offset)
    value_type = result_type(arguments, is_single_precision=is_single_precision, unit=unit)
    return TypedTree(call, value_type, all(argument.is_constant for argument in arguments))
