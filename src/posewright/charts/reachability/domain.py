"""Sets of values of one input, and the set for which a condition holds.

Every type has finitely many values in an order of their own: truth values and names as they are written,
numbers from the least to the greatest, fractions bit pattern by bit pattern. So a set of values is a few
spans of whole numbers, whatever the type, and nothing between two neighbouring fractions is ever missed.

Where a condition on one number holds is found to the last bit, by bisection. Through + - * / by constants,
abs, min, max and choices, a term is a line, piece by piece, in the one number that it reads. On a piece the
two sides of a comparison cross once at most; where, is found by halving the piece with the very functions
that run the chart, so rounding and saturation are theirs.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

from posewright.charts.expression import (
    COMPARISONS,
    Binary,
    Call,
    If,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    children,
    names_in,
    nodes_of,
    split_cases,
)
from posewright.charts.reachability.limits import BLURRED, LARGE, NEAR, SMALL
from posewright.charts.types import INT_HIGH, INT_LOW, BoolType, EnumType, FloatType, IntType, Type, Value

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


def joined(pieces: Iterable[tuple[int, int]]) -> Spans:
    """Return the set of what is in any of the pieces."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(pieces):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


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


@lru_cache(maxsize=50_000)
def plainest(axis: Domain, spans: Spans) -> Value:
    """Return the value of a set that reads most easily: zero, false, a round number."""
    if not axis.is_number:
        return axis.value(spans[0][0])
    values = [_plain_between(axis, low, high) for low, high in spans]
    return min(values, key=lambda value: (len(repr(abs(value))), abs(value), value < 0))


def _plain_between(axis: Domain, low: int, high: int) -> float:
    """Return the roundest number of a span, from its end nearest to zero on."""
    if low <= 0 <= high:
        return axis.kind.clamp(0)  # type: ignore[return-value]  # of a number
    near = low if low > 0 else high
    if isinstance(axis.kind, IntType):
        return near
    value = float(axis.value(near))
    if not math.isfinite(value):
        return value
    power = math.floor(math.log10(abs(value)))
    for digits in range(SHORTEST + 1):
        step = power - digits
        for extra in (1, 0):
            text = f"{_tenths(abs(value), step) + extra}e{step}"
            found = math.copysign(float(text), value)
            if axis.kind.contains(axis.kind.clamp(found)) and low <= axis.index(found) <= high:
                return float(axis.value(axis.index(found)))
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


Compute = Callable[[int], Any]
"""What a term comes to at the value of that number on the axis."""


class NotPiecewiseLinearError(ValueError):
    """Raised inside this room: a term is not a line, piece by piece."""


def find_spans(
    tree: Tree, name: str, axis: Domain, compile_at: Callable[[Tree], Compute]
) -> tuple[Spans, bool]:
    """Return the set of values of `name` for which a condition holds, and whether that is exact.

    Args:
        tree: the condition; whatever else it reads is known.
        name: what varies.
        axis: its values.
        compile_at: gives the function from the number of a value to what a term then is.
    """
    ((low, high),) = axis.whole
    holds = compile_at(tree)
    if high - low < SMALL:
        return joined((i, i) for i in range(low, high + 1) if holds(i)), True
    lines = _Lines(name, axis, compile_at)
    try:
        cuts, exact = lines.of_condition(tree), not lines.is_blurred(tree)
        if not exact:
            cuts = {cut + step for cut in (*cuts, 0) for step in range(-BLURRED, BLURRED + 1)}
    except NotPiecewiseLinearError:
        if high - low < LARGE:
            return joined((i, i) for i in range(low, high + 1) if holds(i)), True
        cuts, exact = lines.guessed(tree, holds), False
    starts = sorted({low, *(cut for cut in cuts if low < cut <= high)})
    pieces = zip(starts, [*(start - 1 for start in starts[1:]), high], strict=True)
    return joined(piece for piece in pieces if holds(piece[0])), exact


class _Lines:
    """Finds the cuts of one name's values: the numbers at which a new piece begins."""

    def __init__(self, name: str, axis: Domain, compile_at: Callable[[Tree], Compute]) -> None:
        self.name = name
        self.axis = axis
        self.compile_at = compile_at
        ((self.low, self.high),) = axis.whole

    def of_condition(self, tree: Tree) -> set[int]:
        """Return cuts between which a condition does not change."""
        if isinstance(tree, Binary) and tree.operator in COMPARISONS:
            return self.of_comparison(tree)
        return set[int]().union(*(self.of_condition(part) for part in _parts(tree)))

    def of_comparison(self, tree: Binary) -> set[int]:
        """Return cuts between which a comparison does not change."""
        sides = (tree.left, tree.right)
        if not self.is_number(tree.left):
            return self.cuts(tree.left) | self.cuts(tree.right)
        if any(self.name not in names_in(side) for side in sides):
            cuts = self.turns(tree.left) | self.turns(tree.right)
        else:
            cuts = self.cuts(tree.left) | self.cuts(tree.right)
        return cuts | self.crossings(*sides, cuts)

    def is_blurred(self, tree: Tree) -> bool:
        """Return whether rounding may make a comparison change to and fro: a fraction is read in it twice."""
        if isinstance(self.axis.kind, IntType):
            return False
        comparisons = (
            one for one in nodes_of(tree) if isinstance(one, Binary) and one.operator in COMPARISONS
        )
        return any(self.times_read(one) > 1 for one in comparisons)

    def times_read(self, tree: Tree) -> int:
        """Return how often a term reads the number; of several choices, the one that does so most often."""
        if isinstance(tree, If):
            cases, rest = split_cases(tree)
            return max(self.times_read(one) for one in (rest, *(then for _, then in cases)))
        if isinstance(tree, Name):
            return int(tree.name == self.name)
        return sum(self.times_read(part) for part in children(tree))

    def turns(self, tree: Tree) -> set[int]:
        """Return cuts between which a term only rises or only falls; it need not be a line."""
        if not isinstance(tree, Binary) or tree.operator is not Operator.OVER:
            return self.cuts(tree)
        if self.name in names_in(tree.left) or self.name not in names_in(tree.right):
            return self.cuts(tree)
        cuts = self.cuts(tree.right)
        return cuts | self.crossings(tree.right, Literal(0), cuts)

    def cuts(self, tree: Tree) -> set[int]:
        """Return cuts between which a term is a line."""
        if self.name not in names_in(tree) or isinstance(tree, Name):
            return set()
        if isinstance(tree, Unary) and tree.operator is Operator.MINUS:
            return self.cuts(tree.operand) | self.saturations(tree, self.cuts(tree.operand))
        if isinstance(tree, Binary):
            return self.joined(tree)
        if isinstance(tree, If):
            return self.choice(tree)
        if isinstance(tree, Call):
            return self.call(tree)
        raise NotPiecewiseLinearError

    def choice(self, tree: If) -> set[int]:
        """Return cuts between which it does not change which of several terms it is, and each is a line."""
        cases, rest = split_cases(tree)
        cuts = self.cuts(rest)
        for condition, then in cases:
            cuts |= self.of_condition(condition) | self.cuts(then)
        return cuts

    def is_number(self, tree: Tree) -> bool:
        """Return whether a term is a number, rather than true or a name."""
        return type(self.compile_at(tree)(self.low)) in (int, float)

    def joined(self, tree: Binary) -> set[int]:
        cuts = self.cuts(tree.left) | self.cuts(tree.right)
        moves = [self.name in names_in(side) for side in (tree.left, tree.right)]
        allowed = (
            tree.operator in (Operator.PLUS, Operator.MINUS)
            or (tree.operator is Operator.TIMES and not all(moves))
            or (tree.operator is Operator.OVER and not moves[1])
        )
        if not allowed:
            raise NotPiecewiseLinearError
        return cuts | self.saturations(tree, cuts)

    def call(self, tree: Call) -> set[int]:
        cuts = set[int]().union(*(self.cuts(argument) for argument in tree.arguments))
        sides = list(tree.arguments)
        if tree.function == "abs":
            sides.append(Literal(0))
        elif tree.function == "single":
            return cuts
        found = set(cuts)
        for i, one in enumerate(sides):
            for other in sides[i + 1 :]:
                found |= self.crossings(one, other, cuts)
        blurred = not isinstance(self.axis.kind, IntType)
        return {cut + step for cut in found for step in range(-NEAR, NEAR + 1)} if blurred else found

    def saturations(self, tree: Tree, cuts: set[int]) -> set[int]:
        """Return where a whole number reaches the ends of 32 bits and stays there."""
        value = self.compile_at(tree)
        if type(value(self.low)) is not int:
            return set()
        edges = self.edges(cuts)
        if not any(value(i) in (INT_LOW, INT_HIGH) for edge in edges for i in edge):
            return set()

        def side(index: int) -> int:
            return int(value(index) >= INT_HIGH) - int(value(index) <= INT_LOW)

        return set().union(*(self.flips(side, *edge) for edge in edges))

    def crossings(self, left: Tree, right: Tree, cuts: set[int]) -> set[int]:
        """Return where two terms that are lines between the cuts cross."""
        one, other = self.compile_at(left), self.compile_at(right)

        def sign(index: int) -> int:
            a, b = one(index), other(index)
            return int(a > b) - int(a < b)

        return set[int]().union(*(self.flips(sign, low, high) for low, high in self.edges(cuts)))

    def edges(self, cuts: set[int]) -> list[tuple[int, int]]:
        starts = sorted({self.low, *(cut for cut in cuts if self.low < cut <= self.high), self.high + 1})
        return [(start, following - 1) for start, following in pairwise(starts)]

    def flips(self, sign: Callable[[int], int], low: int, high: int) -> set[int]:
        """Return where a sign that only rises or only falls changes: at two places at most."""
        first, last = sign(low), sign(high)
        if first == last:
            return set()
        one = bisected(lambda i: sign(i) != first, low, high)
        return {one, bisected(lambda i: sign(i) == last, one, high)}

    def guessed(self, tree: Tree, holds: Callable[[int], bool]) -> set[int]:
        """Return cuts around values of which it is likely that a comparison changes there."""
        axis, kind = self.axis, self.axis.kind
        values: set[float] = {0.0, 1.0, -1.0}
        for node in nodes_of(tree):
            if isinstance(node, Literal) and not isinstance(node.value, str | bool):
                number = float(node.value)
                values |= {number, -number, abs(number) ** 0.5, -(abs(number) ** 0.5)}
        tried = {self.low, self.high}
        if isinstance(kind, IntType | FloatType):
            tried |= {
                axis.index(kind.clamp(value if isinstance(kind, FloatType) else round(value)))
                for value in values
            }
        spread = [self.low + (self.high - self.low) * i // SMALL for i in range(1, SMALL)]
        points = sorted(tried.union(spread))
        return {
            bisected(lambda i: holds(i) != before, a, b)
            for a, b in pairwise(points)
            if (before := holds(a)) != holds(b)
        }


def _parts(tree: Tree) -> list[Tree]:
    """Return the conditions that a condition is made of."""
    if isinstance(tree, If):
        cases, rest = split_cases(tree)
        return [*(part for case in cases for part in case), rest]
    return list(children(tree))


def bisected(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first number for which something holds that holds for all after it, `high` among them."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
