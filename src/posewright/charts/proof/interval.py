"""Interval arithmetic: the bounds of a term, known without a solver."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from posewright.charts.expression import Operator
from posewright.charts.types import INT_HIGH, INT_LOW, FloatType, IntType, to_single


class FloatFormat(NamedTuple):
    """A format of floating-point numbers: bits of the exponent, and of the significand with its hidden bit.

    Results round to the nearest number, ties to even (IEEE 754).
    """

    exponent: int
    significand: int


DOUBLE = FloatFormat(exponent=11, significand=53)
SINGLE = FloatFormat(exponent=8, significand=24)


@dataclass(frozen=True)
class Interval:
    """Bounds of a number; it is never outside, but need not reach them.

    Attributes:
        low: lower bound; an int for integers. Infinite for fractions that may be infinite.
        high: upper bound; an int for integers. Infinite for fractions that may be infinite.
        is_integral: whether it is always an integral number.
        fits_single: whether it is always a number that single precision (32 bits) represents exactly.
        may_be_nan: whether it may be NaN.
    """

    low: float
    high: float
    is_integral: bool = False
    fits_single: bool = False
    may_be_nan: bool = False

    @property
    def is_finite(self) -> bool:
        """Whether it is neither infinite nor NaN."""
        return math.isfinite(self.low) and math.isfinite(self.high) and not self.may_be_nan

    @property
    def magnitude(self) -> float:
        """The maximum of its absolute value."""
        return max(abs(self.low), abs(self.high))

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def is_exact_in(self, float_format: FloatFormat) -> bool:
        """Return whether it is integral and the format represents every integer between the bounds."""
        return self.is_finite and self.is_integral and self.magnitude <= 2.0**float_format.significand


ANY = Interval(-math.inf, math.inf, may_be_nan=True)
BOOLEAN = Interval(0, 1, is_integral=True)
"""The interval of terms that are not numbers."""


def type_interval(value_type: IntType | FloatType) -> Interval:
    """Return the interval of a name of a type."""
    if isinstance(value_type, IntType):
        return Interval(value_type.low, value_type.high, is_integral=True)
    return Interval(float(value_type.low), float(value_type.high), fits_single=value_type.single)


def constant_interval(value: float) -> Interval:
    """Return the interval of a constant, which may be infinite or NaN."""
    if isinstance(value, int):
        return Interval(value, value, is_integral=True)
    if math.isnan(value):
        return ANY
    return Interval(value, value, is_integral=value.is_integer(), fits_single=to_single(value) == value)


def float_interval(integer: Interval) -> Interval:
    """Return the interval of an integer that is converted to a fraction of 64 bits."""
    fits_single = integer.magnitude <= 2**SINGLE.significand
    return Interval(float(integer.low), float(integer.high), is_integral=True, fits_single=fits_single)


def hull(intervals: Sequence[Interval]) -> Interval:
    """Return the smallest interval that contains several others; it has a property only if all have it."""
    return Interval(
        low=min(interval.low for interval in intervals),
        high=max(interval.high for interval in intervals),
        is_integral=all(interval.is_integral for interval in intervals),
        fits_single=all(interval.fits_single for interval in intervals),
        may_be_nan=any(interval.may_be_nan for interval in intervals),
    )


def extreme_interval(choose: Callable[..., float], intervals: Sequence[Interval]) -> Interval:
    """Return the interval of the minimum or maximum of several numbers; `choose` is `min` or `max`."""
    union = hull(intervals)
    if union.may_be_nan:
        return union
    return replace(union, low=choose(i.low for i in intervals), high=choose(i.high for i in intervals))


def absolute_interval(operand: Interval) -> Interval:
    """Return the interval of an absolute value."""
    zero = type(operand.low)(0)  # of the type of the bounds, int or float
    return replace(operand, low=max(operand.low, -operand.high, zero), high=operand.magnitude)


def negated_interval(operand: Interval) -> Interval:
    """Return the interval of a negated number."""
    return replace(operand, low=-operand.high, high=-operand.low)


def saturated_interval(operand: Interval) -> Interval:
    """Return the interval of an integer that saturates at 32 bits."""
    return replace(operand, low=_saturate(operand.low), high=_saturate(operand.high))


def _saturate(value: float) -> int:
    return int(min(max(value, INT_LOW), INT_HIGH))


def rounded_interval(operand: Interval, float_format: FloatFormat) -> Interval:
    """Return the interval of a rounded number; rounding is monotonic."""
    if float_format is DOUBLE:
        return operand
    low = to_single(operand.low)
    high = to_single(operand.high)
    return Interval(
        low, high, is_integral=operand.is_integral, fits_single=True, may_be_nan=operand.may_be_nan
    )


_OPERATIONS: dict[Operator, Callable[[float, float], float]] = {
    Operator.PLUS: lambda a, b: a + b,
    Operator.MINUS: lambda a, b: a - b,
    Operator.TIMES: lambda a, b: a * b,
    Operator.OVER: lambda a, b: a / b,
}


def arithmetic_interval(operator: Operator, left: Interval, right: Interval) -> Interval:
    """Return the interval of an operation on two numbers, before integers saturate.

    The bounds of fractions are computed with 64 bits as the numbers are, so they hold after rounding, too.
    Where the divisor may be zero, the interval is that of the other divisors.

    Args:
        operator: the operator.
        left: bounds of the left operand.
        right: bounds of the right operand.
    """
    if not (left.is_finite and right.is_finite):
        return ANY
    if operator is Operator.MODULO:
        low, high = _remainder_bounds(left, right)
    elif operator is Operator.OVER and 0 in right:
        low, high = _quotient_bounds(left, right)
    else:  # a monotonic operation is extreme at the bounds of its operands
        compute = _OPERATIONS[operator]
        corners = [compute(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
        low = min(corners)
        high = max(corners)
    is_finite = math.isfinite(low) and math.isfinite(high)
    has_integral_operands = left.is_integral and right.is_integral
    is_integral = has_integral_operands and operator is not Operator.OVER and is_finite
    return Interval(low, high, is_integral=is_integral)


def _remainder_bounds(dividend: Interval, divisor: Interval) -> tuple[float, float]:
    """Return the lower and upper bound of a remainder, which has the sign of the divisor."""
    is_integer = isinstance(dividend.low, int)
    margin = 1 if is_integer else 0  # the remainder of an integer never reaches the divisor
    zero = 0 * divisor.low  # of the type of the divisor, int or float
    low = min(divisor.low + margin, zero)
    high = max(divisor.high - margin, 0 * divisor.high)
    if dividend.low >= 0 and divisor.low > 0:
        high = min(high, dividend.high)  # a remainder is not greater than what is divided
    return low, high


def _quotient_bounds(dividend: Interval, divisor: Interval) -> tuple[float, float]:
    """Return the lower and upper bound of a quotient whose divisor's interval contains zero."""
    # an integral divisor that is not zero does not make the quotient greater than the dividend; a fraction
    # may be arbitrarily close to zero
    max_magnitude = float(dividend.magnitude)
    if not divisor.is_integral and dividend.magnitude:
        max_magnitude = math.inf
    low = -max_magnitude
    high = max_magnitude
    if divisor.low >= 0 and dividend.low >= 0:
        low = 0.0
    if divisor.low >= 0 and dividend.high <= 0:
        high = 0.0
    return low, high
