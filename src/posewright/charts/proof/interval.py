"""Between which ends the value of a term lies: what is known of it without a solver."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from posewright.charts.expression import Operator
from posewright.charts.types import INT_HIGH, INT_LOW, FloatType, IntType, to_single


class FloatFormat(NamedTuple):
    """A width of floating-point numbers: bits of the exponent, and of the significand with its hidden one.

    Numbers round to the nearest one, to the even one of two as near (IEEE 754).
    """

    exponent: int
    significand: int


DOUBLE, SINGLE = FloatFormat(11, 53), FloatFormat(8, 24)


@dataclass(frozen=True)
class Interval:
    """What is known of a number: its ends are sure, yet not always reached.

    Attributes:
        low, high: whole for whole numbers; of fractions they may be infinite, and so may then the number.
        integral: it is a multiple of one.
        single: it is a number of 32 bits.
        nan: it may be not a number.
    """

    low: float
    high: float
    integral: bool = False
    single: bool = False
    nan: bool = False

    @property
    def finite(self) -> bool:
        """Whether it is neither infinite nor NaN."""
        return math.isfinite(self.low) and math.isfinite(self.high) and not self.nan

    @property
    def size(self) -> float:
        """The greatest distance from zero."""
        return max(abs(self.low), abs(self.high))

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def is_exact_in(self, form: FloatFormat) -> bool:
        """Return whether it is integral, and every whole number between the ends one of that format."""
        return self.finite and self.integral and self.size <= 2.0**form.significand


ANY = Interval(-math.inf, math.inf, nan=True)
TRUTH = Interval(0, 1, integral=True)
"""Of terms that are no numbers."""


def type_interval(kind: IntType | FloatType) -> Interval:
    """Return the interval of a name."""
    if isinstance(kind, IntType):
        return Interval(kind.low, kind.high, integral=True)
    return Interval(float(kind.low), float(kind.high), single=kind.single)


def constant_interval(value: float) -> Interval:
    """Return the interval of a number that is known, infinity and NaN among them."""
    if isinstance(value, int):
        return Interval(value, value, integral=True)
    return ANY if math.isnan(value) else Interval(value, value, value.is_integer(), to_single(value) == value)


def fraction_interval(whole: Interval) -> Interval:
    """Return the interval of a whole number taken as a fraction."""
    single = whole.size <= 2**SINGLE.significand
    return Interval(float(whole.low), float(whole.high), integral=True, single=single)


def hull(intervals: Sequence[Interval]) -> Interval:
    """Return the interval of a number that has one of several."""
    return Interval(
        min(one.low for one in intervals),
        max(one.high for one in intervals),
        all(one.integral for one in intervals),
        all(one.single for one in intervals),
        any(one.nan for one in intervals),
    )


def extreme_interval(choose: Callable[..., float], intervals: Sequence[Interval]) -> Interval:
    """Return the interval of the least (`choose` is min) or the greatest of several numbers."""
    wide = hull(intervals)
    if wide.nan:
        return wide
    return replace(wide, low=choose(i.low for i in intervals), high=choose(i.high for i in intervals))


def absolute_interval(one: Interval) -> Interval:
    """Return the interval of a number's distance from zero."""
    return replace(one, low=max(one.low, -one.high, type(one.low)(0)), high=one.size)


def negative_interval(one: Interval) -> Interval:
    """Return the interval of a number with its sign turned."""
    return replace(one, low=-one.high, high=-one.low)


def saturated_interval(one: Interval) -> Interval:
    """Return the interval of a whole number kept within 32 bits."""
    return replace(one, low=_within(one.low), high=_within(one.high))


def _within(value: float) -> int:
    return int(min(max(value, INT_LOW), INT_HIGH))


def rounded_interval(one: Interval, form: FloatFormat) -> Interval:
    """Return the interval of a number after rounding, which never turns the order of two numbers."""
    if form is DOUBLE:
        return one
    return Interval(to_single(one.low), to_single(one.high), one.integral, True, one.nan)


_CORNERS: dict[Operator, Callable[[float, float], float]] = {
    Operator.PLUS: lambda a, b: a + b,
    Operator.MINUS: lambda a, b: a - b,
    Operator.TIMES: lambda a, b: a * b,
    Operator.OVER: lambda a, b: a / b,
}


def joined_interval(operator: Operator, left: Interval, right: Interval) -> Interval:
    """Return the interval of what two numbers are joined to, before whole ones saturate.

    The ends of fractions are rounded to 64 bits as the numbers are, so they are ends after rounding too.
    Where the divisor may be zero, the interval is that of the other divisors.
    """
    if not (left.finite and right.finite):
        return ANY
    integral = left.integral and right.integral and operator is not Operator.OVER
    if operator is Operator.MODULO:
        low, high = _remainders(left, right)
    elif operator is Operator.OVER and 0 in right:
        low, high = _by_nearly_zero(left, right)
    else:
        corners = [_CORNERS[operator](a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
        low, high = min(corners), max(corners)
    return Interval(low, high, integral and math.isfinite(low) and math.isfinite(high))


def _remainders(left: Interval, right: Interval) -> tuple[float, float]:
    whole = isinstance(left.low, int)
    low = min(right.low + whole, 0 * right.low)
    high = max(right.high - whole, 0 * right.high)
    inside = left.low >= 0 and right.low > 0
    return low, min(high, left.high) if inside else high


def _by_nearly_zero(left: Interval, right: Interval) -> tuple[float, float]:
    farthest = float(left.size) if right.integral else left.size and math.inf
    low, high = -farthest, farthest
    if right.low >= 0:
        low, high = (0.0 if left.low >= 0 else low), (0.0 if left.high <= 0 else high)
    return low, high
