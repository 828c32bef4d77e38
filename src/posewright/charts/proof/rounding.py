"""How numbers of 64 and of 32 bits round: to the nearest one, to the even one of two as near (IEEE 754)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from posewright.charts.types import SINGLE_MAX, to_single

_DOUBLE_MAX = math.nextafter(math.inf, 0.0)


class Cut(NamedTuple):
    """Where rounding changes sides: exactly the numbers below `at`, and `at` itself where it is `closed`."""

    at: Fraction
    closed: bool


@dataclass(frozen=True)
class Format:
    """A width of floating-point numbers.

    Attributes:
        precision: bits of the significand.
        least: the least number above zero is 2**least.
        greatest: the greatest finite number.
    """

    precision: int
    least: int
    greatest: float

    @property
    def unit(self) -> Fraction:
        """How far rounding may move a number, as a part of it."""
        return Fraction(1, 2**self.precision)

    @property
    def beyond(self) -> Fraction:
        """What infinity stands for when two numbers are halved: the power of two after the greatest."""
        return Fraction(2) ** (math.frexp(self.greatest)[1])

    @property
    def limit(self) -> Fraction:
        """From here on numbers round to infinity."""
        return (Fraction(self.greatest) + self.beyond) / 2

    def nearest(self, value: float) -> float:
        """Return the number of this format nearest to one of 64 bits."""
        return to_single(value) if self == SINGLE else value

    def holds(self, value: float) -> bool:
        """Return whether a number of 64 bits is one of this format."""
        return self.nearest(value) == value

    def above(self, value: float) -> float:
        """Return the least number of this format above `value`, which may be infinity."""
        if self == DOUBLE:
            return math.nextafter(value, math.inf)
        near = self.nearest(value)
        return near if near > value else _next_single(near)

    def below(self, value: float) -> float:
        """Return the greatest number of this format below `value`, which may be infinity."""
        return -self.above(-value)

    def at_most(self, value: float) -> float:
        """Return the greatest number of this format that is not above `value`."""
        return value if self.holds(value) else self.below(value)

    def cut(self, value: float) -> Cut:
        """Return which exact numbers round to `value`, a number of this format, or below."""
        low, high = self._exact(value), self._exact(self.above(value))
        return Cut((low + high) / 2, (low / (high - low)).numerator % 2 == 0)

    def _exact(self, value: float) -> Fraction:
        return Fraction(value) if math.isfinite(value) else int(math.copysign(1, value)) * self.beyond


def _next_single(value: float) -> float:
    if value == -math.inf:
        return -SINGLE.greatest
    if value == 0:
        return 2.0**SINGLE.least
    part, exponent = math.frexp(value)
    # below a negative power of two the numbers stand twice as far apart as above it
    exponent -= part == -0.5
    stepped = value + 2.0 ** max(exponent - SINGLE.precision, SINGLE.least)
    return stepped if stepped <= SINGLE.greatest else math.inf


DOUBLE = Format(53, -1074, _DOUBLE_MAX)
SINGLE = Format(24, -149, SINGLE_MAX)


def nearest_double(value: Fraction) -> float:
    """Return the number of 64 bits nearest to a fraction; the greatest stand for what lies beyond them."""
    if abs(value) > Fraction(DOUBLE.greatest):
        return math.copysign(DOUBLE.greatest, value)
    return float(value)
