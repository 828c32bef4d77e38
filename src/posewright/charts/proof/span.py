"""Between which ends the value of a term lies, and on which grid: what is known of it without a solver."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from posewright.charts.expression import Operator
from posewright.charts.proof.rounding import DOUBLE, SINGLE, Format
from posewright.charts.types import INT_HIGH, INT_LOW, FloatType, IntType, to_single

FINE = DOUBLE.least
"""Every number of 64 bits is a multiple of two to this power."""

NO_GRID = -100_000
"""Of numbers before they are rounded, which may be anything."""

COARSE = 1100
"""Zero is a multiple of any power of two; this one stands for all."""


@dataclass(frozen=True)
class Span:
    """What is known of a number: its ends are sure, yet not always reached.

    Attributes:
        low, high: whole for whole numbers; of fractions they may be infinite, and so may then the number.
        grid: it is a multiple of 2**grid.
        single: it is a number of 32 bits.
        nan: it may be not a number.
    """

    low: float
    high: float
    grid: int = 0
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

    def fits(self, form: Format) -> bool:
        """Return whether every multiple of the grid between the ends is a number of that format."""
        room = form.precision + self.grid
        return self.finite and self.grid >= form.least and self.size < math.ldexp(1.0, min(room, 1023))


ANY = Span(-math.inf, math.inf, FINE, nan=True)
TRUTH = Span(0, 1)
"""Of terms that are no numbers."""


def span_of(kind: IntType | FloatType) -> Span:
    """Return the span of a name."""
    if isinstance(kind, IntType):
        return Span(kind.low, kind.high)
    return Span(float(kind.low), float(kind.high), SINGLE.least if kind.single else FINE, kind.single)


def constant_span(value: float) -> Span:
    """Return the span of a number that is known."""
    if isinstance(value, int):
        return Span(value, value)
    return Span(value, value, grid_of(value), SINGLE.holds(value))


def grid_of(value: float) -> int:
    """Return the greatest g for which a number is a multiple of 2**g."""
    if value == 0:
        return COARSE
    top, bottom = value.as_integer_ratio()
    return (top & -top).bit_length() - bottom.bit_length()


def fraction_span(whole: Span) -> Span:
    """Return the span of a whole number taken as a fraction."""
    single = whole.size <= 2**SINGLE.precision
    return Span(float(whole.low), float(whole.high), whole.grid, single)


def hull(spans: Sequence[Span]) -> Span:
    """Return the span of a number that has one of several."""
    return Span(
        min(span.low for span in spans),
        max(span.high for span in spans),
        min(span.grid for span in spans),
        all(span.single for span in spans),
        any(span.nan for span in spans),
    )


def extreme_span(choose: Callable[..., float], spans: Sequence[Span]) -> Span:
    """Return the span of the least (`choose` is min) or the greatest of several numbers."""
    low, high = choose(span.low for span in spans), choose(span.high for span in spans)
    wide = hull(spans)
    return wide if wide.nan else replace(wide, low=low, high=high)


def absolute_span(span: Span) -> Span:
    """Return the span of a number's distance from zero."""
    return replace(span, low=max(span.low, -span.high, type(span.low)(0)), high=span.size)


def negative_span(span: Span) -> Span:
    """Return the span of a number with its sign turned."""
    return replace(span, low=-span.high, high=-span.low)


def saturated(span: Span) -> Span:
    """Return the span of a whole number kept within 32 bits."""
    return replace(span, low=_within(span.low), high=_within(span.high))


def _within(value: float) -> int:
    return int(min(max(value, INT_LOW), INT_HIGH))


def rounded_span(span: Span, form: Format) -> Span:
    """Return the span of a number after rounding; rounding never turns the order of two numbers."""
    grid = max(span.grid, form.least)
    if form == DOUBLE:
        return replace(span, grid=grid)
    return Span(to_single(span.low), to_single(span.high), grid, True, span.nan)


_CORNERS: dict[Operator, Callable[[float, float], float]] = {
    Operator.PLUS: lambda a, b: a + b,
    Operator.MINUS: lambda a, b: a - b,
    Operator.TIMES: lambda a, b: a * b,
    Operator.OVER: lambda a, b: a / b,
}


def joined_span(operator: Operator, left: Span, right: Span) -> Span:
    """Return the span of what two numbers are joined to, before whole ones saturate.

    The ends of fractions are rounded to 64 bits as the numbers are, so they are ends after rounding too;
    the grid is the exact result's, which may be finer than 64 bits can have it.
    Where the divisor may be zero, the span is that of the other divisors.
    """
    if not (left.finite and right.finite):
        return ANY
    grid = _joined_grid(operator, left, right)
    if operator is Operator.MODULO:
        return Span(*_remainders(left, right), grid)
    if operator is Operator.OVER and 0 in right:
        return _by_nearly_zero(left, right, grid)
    corners = [_CORNERS[operator](a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    return Span(min(corners), max(corners), grid)


def _joined_grid(operator: Operator, left: Span, right: Span) -> int:
    if operator is Operator.TIMES:
        return left.grid + right.grid
    if operator is not Operator.OVER:
        return min(left.grid, right.grid)
    power = right.low == right.high and abs(math.frexp(right.low)[0]) == 0.5
    return left.grid - right.grid if power else NO_GRID


def _remainders(left: Span, right: Span) -> tuple[float, float]:
    whole = isinstance(left.low, int)
    low = min(right.low + whole, 0 * right.low)
    high = max(right.high - whole, 0 * right.high)
    inside = left.low >= 0 and right.low > 0
    return low, min(high, left.high) if inside else high


def _by_nearly_zero(left: Span, right: Span, grid: int) -> Span:
    least = math.ldexp(1.0, right.grid) if right.grid < 1024 else 1.0
    farthest = left.size / least
    low, high = -farthest, farthest
    if right.low >= 0:
        low, high = (0.0 if left.low >= 0 else low), (0.0 if left.high <= 0 else high)
    return Span(low, high, grid)
