"""Cases: values for the names of some claims, tried by evaluating the claims, and simplified."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from posewright.charts.proof.claims import ProofClaim
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, Value

MAX_DECIMALS = 7
"""Decimals to which a fraction is rounded at most."""

MAX_SCALED = 1e15
"""Numbers from which on a fraction of 64 bits has hardly any decimals, so that rounding does not help."""

N_INTEGER_BITS = 32
"""Bits of an integer."""

MAX_GUESSES = 1000
"""Cases of likely values that are tried."""


def list_cases(types: Mapping[str, Type], max_cases: int) -> list[dict[str, Value]] | None:
    """Return every combination of values, the simplest first; None if there are more than `max_cases`."""
    values_by_name: dict[str, list[Value]] = {}
    for name, value_type in types.items():
        values = _list_values(value_type, max_cases)
        if values is None:
            return None
        values_by_name[name] = values
    if math.prod(map(len, values_by_name.values())) > max_cases:
        return None
    return [dict(zip(types, values, strict=True)) for values in product(*values_by_name.values())]


def _list_values(value_type: Type, max_values: int) -> list[Value] | None:
    """Return all values of a type, the simplest first; None for fractions, and for too many integers."""
    if isinstance(value_type, BoolType | EnumType):
        return _list_symbols(value_type)
    if isinstance(value_type, FloatType) or value_type.high - value_type.low >= max_values:
        return None
    integers = sorted(range(value_type.low, value_type.high + 1), key=lambda value: (abs(value), value < 0))
    return list[Value](integers)


def _list_symbols(value_type: BoolType | EnumType) -> list[Value]:
    """Return the values of a type that is not a number, the default first."""
    return [False, True] if isinstance(value_type, BoolType) else list(value_type.values)


def _likely_values(value_type: Type, numbers: Iterable[float]) -> list[Value]:
    """Return values of a type that often matter: small ones, given numbers, and its bounds."""
    if isinstance(value_type, BoolType | EnumType):
        return _list_symbols(value_type)
    candidates = (value_type.default, 1, -1, *numbers, value_type.low, value_type.high)
    return list(dict.fromkeys(value_type.clamp(candidate) for candidate in candidates))


def _simpler_values(value_type: Type, value: Value) -> Iterator[Value]:
    """Yield values of a type that are simpler than `value`, the simplest first.

    Of Booleans and enumerations, these are the values before it; of numbers, those with fewer digits, or
    with as many and closer to zero.
    """
    if isinstance(value_type, BoolType | EnumType):
        symbols = _list_symbols(value_type)
        yield from symbols[: symbols.index(value)]
        return
    candidates: Iterable[float]
    if isinstance(value_type, IntType):
        candidates = _rounder_integers(int(value))
    else:
        candidates = _rounder_fractions(float(value))
    yielded_values = {value}
    for candidate in (value_type.default, *candidates):
        candidate_in_range = value_type.clamp(candidate)
        is_simpler = _complexity(candidate_in_range) < _complexity(value)
        if is_simpler and candidate_in_range not in yielded_values:
            yielded_values.add(candidate_in_range)
            yield candidate_in_range


def _complexity(value: Value) -> tuple[int, float]:
    """Return a sort key of a number: by the number of its digits, then by its magnitude; zero comes first."""
    magnitude = abs(float(value))
    n_digits = 0 if magnitude == 0 else len(repr(magnitude))
    return n_digits, magnitude


def _rounder_integers(value: int) -> Iterator[int]:
    """Yield integers between zero and a value: small and round ones, then ones closer and closer to it."""
    sign = -1 if value < 0 else 1
    yield from (sign, -sign, 2 * sign, 10 * sign, 100 * sign, 1000 * sign)
    for exponent in range(1, N_INTEGER_BITS + 1):  # the distance to the value is halved each time
        yield value - int(value / 2**exponent)


def _rounder_fractions(value: float) -> Iterator[float]:
    """Yield fractions of few digits, below and above a value."""
    yield from (1.0, -1.0, 2.0, -2.0, 10.0, -10.0)
    for n_decimals in range(MAX_DECIMALS + 1):
        power_of_ten = 10.0**n_decimals
        scaled = value * power_of_ten
        if abs(scaled) >= MAX_SCALED:
            return
        yield from (math.floor(scaled) / power_of_ten, math.ceil(scaled) / power_of_ten)


class CaseTrial:
    """Evaluates some claims in cases, which are values for all names that the claims read.

    Attributes:
        claims: the claims that are to be true.
        types: the types of the names that the claims read, in the order in which they are declared.
    """

    def __init__(self, claims: Sequence[ProofClaim], types: Mapping[str, Type]) -> None:
        names = frozenset[str]().union(*(claim.names for claim in claims))
        self.claims = claims
        self.types = {name: value_type for name, value_type in types.items() if name in names}

    def holds(self, case: Mapping[str, Value]) -> bool:
        """Return whether all claims are true in a case."""
        return all(claim.holds_in(case) for claim in self.claims)

    def complete(self, case: Mapping[str, Value]) -> dict[str, Value]:
        """Return a case with a value for every name of the claims, zero where it has none."""
        return {name: case.get(name, value_type.default) for name, value_type in self.types.items()}

    def guess(self, numbers: Sequence[float]) -> dict[str, Value] | None:
        """Return a case of likely values in which all claims are true, None if none was found.

        Args:
            numbers: values that are likely, besides small ones and bounds.
        """
        likely_values_of_names = [_likely_values(value_type, numbers) for value_type in self.types.values()]
        for combination in islice(product(*likely_values_of_names), MAX_GUESSES):
            case = dict(zip(self.types, combination, strict=True))
            if self.holds(case):
                return case
        return None

    def simplify(self, case: Mapping[str, Value]) -> dict[str, Value]:
        """Return a case with simpler values, name by name, in which all claims are still true."""
        simplified = dict(case)
        for name, value_type in self.types.items():
            for value in _simpler_values(value_type, simplified[name]):
                candidate = {**simplified, name: value}
                if self.holds(candidate):
                    simplified = candidate
                    break
        return simplified
