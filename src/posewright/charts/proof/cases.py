"""Cases: values for the names of a question, tried by computing what is claimed, and made plain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from posewright.charts.proof.claims import ProofClaim
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, Value

DIGITS = 7
"""Decimals to which a fraction is shortened at most."""

MAX_GUESSES = 1000
"""Cases of likely values that are tried."""


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


def _likely_values(kind: Type, numbers: Iterable[float]) -> list[Value]:
    """Return values of a type that are often the ones that matter: small ones, given ones, its ends."""
    if isinstance(kind, BoolType | EnumType):
        return _words(kind)
    wanted = (kind.default, 1, -1, *numbers, kind.low, kind.high)
    return list(dict.fromkeys(kind.clamp(value) for value in wanted))


def _plainer_values(kind: Type, value: Value) -> Iterator[Value]:
    """Yield values that are plainer than `value`, the plainest first."""
    if isinstance(kind, BoolType | EnumType):
        words = _words(kind)
        yield from words[: words.index(value)]
        return
    tried = {value}
    rounder = _rounder_whole(int(value)) if isinstance(kind, IntType) else _rounder(float(value))
    for one in (kind.default, *rounder):
        plain = kind.clamp(one)
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


class CaseTrial:
    """Tries cases of a few claims.

    Attributes:
        types: of the names that a case has a value for, in the order in which they were declared.
    """

    def __init__(self, claims: Sequence[ProofClaim], types: Mapping[str, Type]) -> None:
        read = frozenset[str]().union(*(claim.names for claim in claims))
        self.claims = claims
        self.types = {name: kind for name, kind in types.items() if name in read}

    def holds(self, case: Mapping[str, Value]) -> bool:
        """Return whether all that is claimed is so in a case."""
        return all(claim.holds_in(case) for claim in self.claims)

    def filled(self, case: Mapping[str, Value]) -> dict[str, Value]:
        """Return a case of something else with a value for every name of this, zero where it has none."""
        return {name: case.get(name, kind.default) for name, kind in self.types.items()}

    def guessed(self, numbers: Sequence[float]) -> dict[str, Value] | None:
        """Return a case of likely values, `numbers` among them, in which all claims are so, if any."""
        axes = [_likely_values(kind, numbers) for kind in self.types.values()]
        cases = (dict(zip(self.types, values, strict=True)) for values in islice(product(*axes), MAX_GUESSES))
        return next((case for case in cases if self.holds(case)), None)

    def plain(self, case: Mapping[str, Value]) -> dict[str, Value]:
        """Return a case with plainer values, name by name, in which all claims still are so."""
        found = dict(case)
        for name, kind in self.types.items():
            others = ({**found, name: value} for value in _plainer_values(kind, found[name]))
            found = next((other for other in others if self.holds(other)), found)
        return found
