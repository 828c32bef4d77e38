"""Sets of values of one input: its values in order, numbered, and spans of these numbers.

Every type has finitely many values in an order of their own: truth values and names as they are written,
numbers from the least to the greatest, fractions bit pattern by bit pattern. So a set of values is a few
spans of whole numbers, whatever the type, and nothing between two neighbouring fractions is ever missed.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cached_property, lru_cache

from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, Value

Spans = tuple[tuple[int, int], ...]
"""Whole numbers from ... to, both included, in order and apart from each other."""

NO = ((0, 0),)
YES = ((1, 1),)
"""The sets of a truth value that is known."""

SHORTEST = 17
"""Digits beyond which no fraction of 64 bits needs any."""


@lru_cache(maxsize=200_000)
def parted(spans: Spans, by: Spans) -> tuple[Spans, Spans]:
    """Return the part of `spans` inside `by`, and the part outside."""
    inside, outside = [], []
    start = 0
    for low, high in spans:
        at = low
        while start < len(by) and by[start][1] < low:  # below this span, so below all that follow
            start += 1
        number = start
        while number < len(by) and by[number][0] <= high and at <= high:
            first, last = by[number]
            if first > at:
                outside.append((at, first - 1))
            inside.append((max(first, at), min(last, high)))
            at, number = last + 1, number + 1
        if at <= high:
            outside.append((at, high))
    return tuple(inside), tuple(outside)


def count(spans: Spans) -> int:
    """Return how many values there are in a set."""
    return sum(high - low + 1 for low, high in spans)


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of one type, numbered in order."""

    kind: Type

    @cached_property
    def whole(self) -> Spans:
        """The set of all values."""
        kind = self.kind
        if isinstance(kind, BoolType):
            return ((0, 1),)
        if isinstance(kind, EnumType):
            return ((0, len(kind.values) - 1),)
        return ((self.index(kind.low), self.index(kind.high)),)

    @cached_property
    def is_truth(self) -> bool:
        """Whether its values are false and true."""
        return isinstance(self.kind, BoolType)

    @cached_property
    def is_number(self) -> bool:
        """Whether its values can be computed with."""
        return isinstance(self.kind, IntType | FloatType)

    def index(self, value: Value) -> int:
        """Return the number of a value; of a fraction that is none of them, that of the next below."""
        kind = self.kind
        if isinstance(kind, EnumType):
            return kind.values.index(str(value))
        if isinstance(kind, FloatType):
            return _index_single(float(value)) if kind.single else _index_double(float(value))
        return int(value)

    def value(self, index: int) -> Value:
        """Return the value of a number."""
        kind = self.kind
        if isinstance(kind, BoolType):
            return bool(index)
        if isinstance(kind, EnumType):
            return kind.values[index]
        if isinstance(kind, IntType):
            return index
        return _single_of(index) if kind.single else _double_of(index)

    def plainest(self, spans: Spans) -> Value:
        """Return the value of a set that reads most easily: zero, false, a round number."""
        return plainest(self, spans)


@lru_cache(maxsize=50_000)
def plainest(axis: Domain, spans: Spans) -> Value:
    """Return the value of a set that reads most easily."""
    if not axis.is_number:
        return axis.value(spans[0][0])
    values = [_plain_between(axis, low, high) for low, high in spans]
    return min(values, key=lambda value: (len(repr(abs(value))), abs(value), value < 0))


def _plain_between(axis: Domain, low: int, high: int) -> float:
    if low <= 0 <= high:
        return axis.kind.fit(0)  # type: ignore[return-value]  # of a number
    near = low if low > 0 else high
    value = axis.value(near)
    if isinstance(axis.kind, IntType):
        return near
    return _round_between(axis, float(value), low, high)


def _round_between(axis: Domain, value: float, low: int, high: int) -> float:
    """Return the roundest number of a span without zero, from its end nearest to zero on."""
    if not math.isfinite(value) or value == 0:
        return value
    power = math.floor(math.log10(abs(value)))
    for digits in range(SHORTEST + 1):
        step = power - digits
        for extra in (1, 0):
            text = f"{_tenths(abs(value), step) + extra}e{step}"
            found = math.copysign(float(text), value)
            if axis.kind.holds(axis.kind.fit(found)) and low <= axis.index(found) <= high:
                near = axis.value(axis.index(found))
                return float(near)
    return value


def _tenths(value: float, power: int) -> int:
    scaled = value / 10.0**power if power > -300 else 0.0
    return math.floor(scaled) if math.isfinite(scaled) else 0


def _index_double(value: float) -> int:
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) if bits >= 0 else -int(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _double_of(index: int) -> float:
    (value,) = struct.unpack("<d", struct.pack("<q", abs(index)))
    return float(value) if index >= 0 else -float(value)


def _index_single(value: float) -> int:
    (bits,) = struct.unpack("<i", struct.pack("<f", value))
    index = int(bits) if bits >= 0 else -int(bits & 0x7FFF_FFFF)
    return index - 1 if _single_of(index) > value else index


def _single_of(index: int) -> float:
    (value,) = struct.unpack("<f", struct.pack("<i", abs(index)))
    return float(value) if index >= 0 else -float(value)
