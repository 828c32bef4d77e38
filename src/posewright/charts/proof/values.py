"""Values of a type: all of them, those that often matter, those next to one, those plainer than one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from posewright.charts.proof.rounding import DOUBLE, SINGLE
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, Value

USUAL = 1000.0
"""Fractions are rarely larger."""

TURN = (math.sqrt(5) - 1) / 2
"""Multiples of this, taken without their whole part, lie evenly between 0 and 1."""

DIGITS = 7
"""Decimals to which a fraction is shortened at most."""


def every_case(types: Mapping[str, Type], limit: int) -> list[dict[str, Value]] | None:
    """Return every combination of values, the plainest first; None where there are more than `limit`."""
    axes = [axis for kind in types.values() if (axis := _every_value(kind, limit)) is not None]
    if len(axes) < len(types) or math.prod(map(len, axes)) > limit:
        return None
    return [dict(zip(types, values, strict=True)) for values in product(*axes)]


def _every_value(kind: Type, limit: int) -> list[Value] | None:
    if isinstance(kind, BoolType | EnumType):
        return _words(kind)
    if isinstance(kind, FloatType) or kind.high - kind.low >= limit:
        return None
    whole = sorted(range(kind.low, kind.high + 1), key=lambda value: (abs(value), value < 0))
    return list[Value](whole)


def _words(kind: BoolType | EnumType) -> list[Value]:
    return [False, True] if isinstance(kind, BoolType) else list(kind.values)


def likely_values(kind: Type, numbers: Iterable[float]) -> list[Value]:
    """Return values of a type that are often the ones that matter: small ones, given ones, its ends."""
    if isinstance(kind, BoolType | EnumType):
        return _words(kind)
    wanted = (kind.zero, 1, -1, *numbers, kind.low, kind.high)
    return list(dict.fromkeys(kind.fit(value) for value in wanted))


def fitted(kind: Type, value: Value) -> Value:
    """Return a value as the type has it; a fraction may have to be rounded."""
    return kind.fit(float(value)) if isinstance(kind, FloatType) else value


def values_around(kind: Type, value: Value, steps: int) -> Iterator[Value]:
    """Yield a value, and those next to a fraction on both sides, nearest first."""
    yield value
    if not isinstance(kind, FloatType):
        return
    form = SINGLE if kind.single else DOUBLE
    below = above = float(value)
    for _ in range(steps):
        below, above = form.below(below), form.above(above)
        yield from (near for near in (below, above) if kind.low <= near <= kind.high)


def scattered_value(kind: FloatType, value: float, turn: int) -> float:
    """Return the `turn`-th of many fractions with long tails: near `value` by turns, and anywhere."""
    part = turn * TURN % 1.0
    if turn % 2:
        return kind.fit(value * (1 + part / 8))
    low, high = (min(max(end, -USUAL), USUAL) for end in (kind.low, kind.high))
    return kind.fit(low + part * (high - low))


def plainer_values(kind: Type, value: Value) -> Iterator[Value]:
    """Yield values that are plainer than `value`, the plainest first."""
    if isinstance(kind, BoolType | EnumType):
        words = _words(kind)
        yield from words[: words.index(value)]
        return
    tried = {value}
    rounder = _rounder_whole(int(value)) if isinstance(kind, IntType) else _rounder(float(value))
    for one in (kind.zero, *rounder):
        plain = kind.fit(one)
        if plain not in tried and _plainness(plain) < _plainness(value):
            tried.add(plain)
            yield plain


def _plainness(value: Value) -> tuple[int, float]:
    number = abs(float(value))
    return (0 if number == 0 else len(repr(number)), number)


def _rounder_whole(value: int) -> Iterator[int]:
    """Yield whole numbers on the way from zero to a value: small ones, round ones, nearer and nearer ones."""
    sign = -1 if value < 0 else 1
    yield from (sign, -sign, 2 * sign, 10 * sign, 100 * sign, 1000 * sign)
    for part in range(1, 33):
        yield value - int(value / 2**part)


def _rounder(value: float) -> Iterator[float]:
    """Yield fractions of few digits, from both sides of a value."""
    yield from (1.0, -1.0, 2.0, -2.0, 10.0, -10.0)
    for digits in range(DIGITS + 1):
        scaled = value * 10.0**digits
        if abs(scaled) >= 1e15:
            return
        yield from (math.floor(scaled) / 10.0**digits, math.ceil(scaled) / 10.0**digits)
