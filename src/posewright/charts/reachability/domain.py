"""Domains of types, sets of their values, and the set of values for which a condition holds.

Every type has finitely many values in a fixed order: Booleans and enumerations as they are declared, numbers
in ascending order, fractions bit pattern by bit pattern. A set of values is therefore a few spans of indices,
whatever the type, and no value between two neighbouring fractions is ever missed.

The values for which a condition on one number holds are found exactly, by bisection. Through + - * / by
constants, abs, min, max and `if`, a term is piecewise linear in that number. On each piece the two sides of a
comparison cross at most once; the crossing is bisected with the functions that run the chart, so rounding and
saturation are the same.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, pairwise
from typing import Any, NamedTuple

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
from posewright.charts.reachability.limits import (
    CROSSING_NEIGHBOURS,
    KINK_NEIGHBOURS,
    MAX_ENUMERATED,
    MAX_ENUMERATED_NONLINEAR,
)
from posewright.charts.types import INT_HIGH, INT_LOW, BoolType, EnumType, FloatType, IntType, Type, Value

Span = tuple[int, int]
"""The first and the last of some neighbouring indices."""

Spans = tuple[Span, ...]
"""A set of indices, as disjoint spans in ascending order."""

FALSE_ONLY = ((0, 0),)
TRUE_ONLY = ((1, 1),)
"""The sets of a Boolean whose value is known."""

MAX_DIGITS = 17
"""Digits that identify every fraction of 64 bits."""

MIN_POWER_OF_TEN = -300
"""Exponent of a power of ten that is so small that it is not computed."""

MAGNITUDE_BITS_OF_DOUBLE = 0x7FFF_FFFF_FFFF_FFFF
MAGNITUDE_BITS_OF_SINGLE = 0x7FFF_FFFF
"""All bits of a fraction but its sign."""


@lru_cache(maxsize=200_000)
def partition(spans: Spans, selection: Spans) -> tuple[Spans, Spans]:
    """Return the part of a set that is in another set, `selection`, and the part that is not."""
    inside: list[Span] = []
    outside: list[Span] = []
    first_relevant = 0  # index of the first span of `selection` that is not below the current span
    for low, high in spans:
        remaining_low = low
        while first_relevant < len(selection) and selection[first_relevant][1] < low:
            first_relevant += 1
        for index in range(first_relevant, len(selection)):
            selected_low, selected_high = selection[index]
            if selected_low > high:
                break
            if selected_low > remaining_low:
                outside.append((remaining_low, selected_low - 1))
            inside.append((max(selected_low, remaining_low), min(selected_high, high)))
            remaining_low = selected_high + 1
        if remaining_low <= high:
            outside.append((remaining_low, high))
    return tuple(inside), tuple(outside)


def merge_spans(spans: Iterable[Span]) -> Spans:
    """Return the union of spans, which may be in any order and overlap."""
    merged_spans: list[Span] = []
    for low, high in sorted(spans):
        if not merged_spans:
            merged_spans.append((low, high))
            continue
        previous_low, previous_high = merged_spans[-1]
        touches_previous = low <= previous_high + 1
        if touches_previous:
            merged_spans[-1] = (previous_low, max(previous_high, high))
        else:
            merged_spans.append((low, high))
    return tuple(merged_spans)


def bounds_of(spans: Spans) -> Span:
    """Return the first and the last index of a set that is not empty."""
    return spans[0][0], spans[-1][1]


def count_values(spans: Spans) -> int:
    """Return how many values a set has."""
    return sum(high - low + 1 for low, high in spans)


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of one type, each with an index: an integer that ascends with the values.

    The index of an integer is the integer itself, that of false is 0. Sets of values are `Spans` of indices.
    """

    value_type: Type

    @cached_property
    def full_set(self) -> Spans:
        """The set of all values, as one span of indices."""
        value_type = self.value_type
        if isinstance(value_type, BoolType):
            return ((0, 1),)
        if isinstance(value_type, EnumType):
            return ((0, len(value_type.values) - 1),)
        return ((self.index_of(value_type.low), self.index_of(value_type.high)),)

    @property
    def index_bounds(self) -> Span:
        """The index of the first and of the last value."""
        return self.full_set[0]

    @cached_property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return isinstance(self.value_type, IntType | FloatType)

    def index_of(self, value: Value) -> int:
        """Return the index of a value; for a fraction between two values, that of the one below."""
        value_type = self.value_type
        if isinstance(value_type, EnumType):
            return value_type.values.index(str(value))
        if isinstance(value_type, FloatType):
            return _single_to_index(float(value)) if value_type.single else _double_to_index(float(value))
        return int(value)

    def value_at(self, index: int) -> Value:
        """Return the value with an index."""
        value_type = self.value_type
        if isinstance(value_type, BoolType):
            return bool(index)
        if isinstance(value_type, EnumType):
            return value_type.values[index]
        if isinstance(value_type, IntType):
            return index
        return _index_to_single(index) if value_type.single else _index_to_double(index)


@lru_cache(maxsize=50_000)
def simplest_value(domain: Domain, spans: Spans) -> Value:
    """Return the value of a set that is easiest to read: false, zero, the number with the fewest digits."""
    if not domain.is_number:
        return domain.value_at(spans[0][0])
    values = [_simplest_in_span(domain, low, high) for low, high in spans]
    # the shortest text; of equally short ones the nearest to zero, and of these the positive one
    return min(values, key=lambda value: (len(repr(abs(value))), abs(value), value < 0))


def _simplest_in_span(domain: Domain, low: int, high: int) -> float:
    """Return the number with the fewest digits of a span, searched from its end nearest to zero.

    Args:
        domain: the domain of the number.
        low: the first index of the span.
        high: the last index of the span.
    """
    if low <= 0 <= high:  # the index of zero is 0
        return domain.value_type.clamp(0)  # type: ignore[return-value]  # the type is a number
    index_nearest_to_zero = low if low > 0 else high
    if isinstance(domain.value_type, IntType):
        return index_nearest_to_zero  # the index of an integer is the integer itself
    value = float(domain.value_at(index_nearest_to_zero))
    if not math.isfinite(value):
        return value
    exponent = math.floor(math.log10(abs(value)))
    for n_decimals in range(MAX_DIGITS + 1):  # fewer digits are simpler
        last_exponent = exponent - n_decimals
        mantissa = _truncate_to_exponent(abs(value), last_exponent)
        # away from zero leads into the span; towards zero only if the value has no more digits
        for candidate_mantissa in (mantissa + 1, mantissa):
            candidate = math.copysign(float(f"{candidate_mantissa}e{last_exponent}"), value)
            is_in_range = domain.value_type.contains(domain.value_type.clamp(candidate))
            if is_in_range and low <= domain.index_of(candidate) <= high:
                return float(domain.value_at(domain.index_of(candidate)))
    return value


def _truncate_to_exponent(value: float, exponent: int) -> int:
    """Return the integer part of `value / 10**exponent`; 0 if that is out of range."""
    if exponent <= MIN_POWER_OF_TEN:
        return 0
    scaled = value / 10.0**exponent
    return math.floor(scaled) if math.isfinite(scaled) else 0


def _double_to_index(value: float) -> int:
    """Return the index of a 64-bit fraction, which is 0 for 0.0 and ascends by 1 from value to value.

    It is the bit pattern of the absolute value as an integer, with the sign of the value.
    """
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) if bits >= 0 else -int(bits & MAGNITUDE_BITS_OF_DOUBLE)


def _index_to_double(index: int) -> float:
    """Return the 64-bit fraction with an index."""
    (value,) = struct.unpack("<d", struct.pack("<q", abs(index)))
    return float(value) if index >= 0 else -float(value)


def _single_to_index(value: float) -> int:
    """Return the index of the greatest 32-bit fraction that is not above a value."""
    (bits,) = struct.unpack("<i", struct.pack("<f", value))
    index = int(bits) if bits >= 0 else -int(bits & MAGNITUDE_BITS_OF_SINGLE)
    # packing rounds to the nearest fraction, which may be above the value
    return index - 1 if _index_to_single(index) > value else index


def _index_to_single(index: int) -> float:
    """Return the 32-bit fraction with an index."""
    (value,) = struct.unpack("<f", struct.pack("<i", abs(index)))
    return float(value) if index >= 0 else -float(value)


IndexFunction = Callable[[int], Any]  # returns a Boolean, a name or a number, depending on the term
"""The value of a term as a function of the index of one name's value."""

CompileAtIndex = Callable[[Tree], IndexFunction]
"""Compiles a term to a function of an index."""


class NotPiecewiseLinearError(ValueError):
    """Raised within this module: a term is not piecewise linear."""


class TruthSet(NamedTuple):
    """The values of one name for which a condition holds.

    Attributes:
        spans: the set, as spans of indices into the domain of the name.
        is_exact: whether it is known to be right; else it is a guess.
    """

    spans: Spans
    is_exact: bool


def find_spans(tree: Tree, name: str, domain: Domain, compile_at_index: CompileAtIndex) -> TruthSet:
    """Return the set of values of one name for which a condition holds.

    All values of a small domain are tried. In a large one, the condition is tried once on each piece between
    the breakpoints of its terms. A condition that is not piecewise linear is only sampled, so the set is a
    guess then, as it is where rounding may change the condition several times near a crossing.

    Args:
        tree: the tree of the condition; all other names in it are known to `compile_at_index`.
        name: the name that varies.
        domain: its values.
        compile_at_index: compiles a term to a function of an index into `domain`.
    """
    low, high = domain.index_bounds
    holds = compile_at_index(tree)
    if high - low < MAX_ENUMERATED:
        return TruthSet(_try_every_value(holds, low, high), is_exact=True)
    finder = _BreakpointFinder(name, domain, compile_at_index)
    try:
        breakpoints = finder.find_condition_breakpoints(tree)
        is_exact = not finder.may_oscillate(tree)
        if not is_exact:  # also near zero, where fractions are smallest
            breakpoints = _with_neighbours({*breakpoints, 0}, CROSSING_NEIGHBOURS)
    except NotPiecewiseLinearError:
        if high - low < MAX_ENUMERATED_NONLINEAR:
            return TruthSet(_try_every_value(holds, low, high), is_exact=True)
        breakpoints = finder.sample_breakpoints(tree, holds)
        is_exact = False
    # on each piece between two breakpoints, the condition is the same as at the first index
    pieces = finder.split_at(breakpoints)
    true_pieces = ((first, last) for first, last in pieces if holds(first))
    return TruthSet(merge_spans(true_pieces), is_exact)


def _try_every_value(holds: IndexFunction, low: int, high: int) -> Spans:
    """Return the indices from `low` to `high` at which a condition holds."""
    return merge_spans((index, index) for index in range(low, high + 1) if holds(index))


def _with_neighbours(indices: set[int], n_neighbours: int) -> set[int]:
    """Return indices together with some neighbours of each, on both sides."""
    steps = range(-n_neighbours, n_neighbours + 1)
    return {index + step for index in indices for step in steps}


class _BreakpointFinder:
    """Finds the breakpoints of terms and conditions of one number.

    A breakpoint is an index into the number's domain at which a new piece of the term or condition begins.

    Attributes:
        name: the name of the number that varies.
        domain: its values.
        compile_at_index: compiles a term to a function of an index into the domain.
        low: the index of the first value.
        high: the index of the last value.
    """

    def __init__(self, name: str, domain: Domain, compile_at_index: CompileAtIndex) -> None:
        self.name = name
        self.domain = domain
        self.compile_at_index = compile_at_index
        self.low, self.high = domain.index_bounds

    def _reads_name(self, tree: Tree) -> bool:
        """Return whether a tree reads the number that varies."""
        return self.name in names_in(tree)

    # Breakpoints of conditions

    def find_condition_breakpoints(self, tree: Tree) -> set[int]:
        """Return breakpoints between which a condition does not change."""
        if isinstance(tree, Binary) and tree.operator in COMPARISONS:
            return self._find_comparison_breakpoints(tree)
        return set[int]().union(*(self.find_condition_breakpoints(part) for part in _condition_parts(tree)))

    def _find_comparison_breakpoints(self, tree: Binary) -> set[int]:
        """Return breakpoints between which a comparison does not change.

        These are the breakpoints of both sides, and the indices where the sides become equal or cross. They
        cross at most once on each piece between the breakpoints of both sides: if both sides vary, both have
        to be linear there; if one is constant, it is enough that the other is monotonic.
        """
        left_varies = self._reads_name(tree.left)
        right_varies = self._reads_name(tree.right)
        if not self._is_number(tree.left) or (left_varies and right_varies):
            find_breakpoints = self._find_linear_breakpoints
        else:
            find_breakpoints = self._find_monotonic_breakpoints
        breakpoints = find_breakpoints(tree.left) | find_breakpoints(tree.right)
        if not self._is_number(tree.left):  # truth values and names do not cross
            return breakpoints
        return breakpoints | self._find_equality_indices(tree.left, tree.right, breakpoints)

    def _is_number(self, tree: Tree) -> bool:
        """Return whether a term is a number, rather than a truth value or a name."""
        return type(self.compile_at_index(tree)(self.low)) in (int, float)

    def may_oscillate(self, tree: Tree) -> bool:
        """Return whether a comparison in a condition may change several times near a crossing of its sides.

        Rounding can cause that where the comparison reads a fraction twice.
        """
        if isinstance(self.domain.value_type, IntType):
            return False
        for node in nodes_of(tree):
            is_comparison = isinstance(node, Binary) and node.operator in COMPARISONS
            if is_comparison and self._count_reads_of_name(node) > 1:
                return True
        return False

    def _count_reads_of_name(self, tree: Tree) -> int:
        """Return how often a term reads the number; for an `if`, the maximum over its branches."""
        if isinstance(tree, If):
            cases, default = split_cases(tree)
            branches = (default, *(value for _, value in cases))
            return max(self._count_reads_of_name(branch) for branch in branches)
        if isinstance(tree, Name):
            return int(tree.name == self.name)
        return sum(self._count_reads_of_name(part) for part in children(tree))

    # Breakpoints of terms

    def _find_monotonic_breakpoints(self, tree: Tree) -> set[int]:
        """Return breakpoints between which a term is monotonic.

        A constant divided by a linear term is monotonic, but has a breakpoint where its divisor crosses zero.
        """
        if not isinstance(tree, Binary) or tree.operator is not Operator.OVER:
            return self._find_linear_breakpoints(tree)
        divides_constant = not self._reads_name(tree.left) and self._reads_name(tree.right)
        if not divides_constant:
            return self._find_linear_breakpoints(tree)
        divisor_breakpoints = self._find_linear_breakpoints(tree.right)
        zero_crossings = self._find_equality_indices(tree.right, Literal(0), divisor_breakpoints)
        return divisor_breakpoints | zero_crossings

    def _find_linear_breakpoints(self, tree: Tree) -> set[int]:
        """Return breakpoints between which a term is linear.

        Raises:
            NotPiecewiseLinearError: it is not piecewise linear.
        """
        if not self._reads_name(tree) or isinstance(tree, Name):
            return set()
        if isinstance(tree, Unary) and tree.operator is Operator.MINUS:
            breakpoints = self._find_linear_breakpoints(tree.operand)
            return breakpoints | self._find_saturation_breakpoints(tree, breakpoints)
        if isinstance(tree, Binary):
            return self._find_arithmetic_breakpoints(tree)
        if isinstance(tree, If):
            cases, default = split_cases(tree)
            breakpoints = self._find_linear_breakpoints(default)
            for condition, value in cases:
                breakpoints |= self.find_condition_breakpoints(condition)
                breakpoints |= self._find_linear_breakpoints(value)
            return breakpoints
        if isinstance(tree, Call):
            return self._find_call_breakpoints(tree)
        raise NotPiecewiseLinearError

    def _find_arithmetic_breakpoints(self, tree: Binary) -> set[int]:
        """Return breakpoints between which an arithmetic operation is linear.

        Raises:
            NotPiecewiseLinearError: it is a product of two terms that vary, a quotient whose divisor varies,
                or a remainder.
        """
        breakpoints = self._find_linear_breakpoints(tree.left) | self._find_linear_breakpoints(tree.right)
        right_varies = self._reads_name(tree.right)
        both_vary = self._reads_name(tree.left) and right_varies
        is_linear = (
            tree.operator in (Operator.PLUS, Operator.MINUS)
            or (tree.operator is Operator.TIMES and not both_vary)
            or (tree.operator is Operator.OVER and not right_varies)
        )
        if not is_linear:
            raise NotPiecewiseLinearError
        return breakpoints | self._find_saturation_breakpoints(tree, breakpoints)

    def _find_call_breakpoints(self, tree: Call) -> set[int]:
        """Return breakpoints between which a call is linear.

        `abs`, `min` and `max` have kinks where two arguments cross, or where the argument of `abs` crosses
        zero. Of fractions the neighbours of these are added, since rounding may shift a kink.
        """
        argument_breakpoints = set[int]().union(
            *(self._find_linear_breakpoints(argument) for argument in tree.arguments)
        )
        if tree.function == "single":
            return argument_breakpoints
        crossing_terms = list(tree.arguments)
        if tree.function == "abs":
            crossing_terms.append(Literal(0))
        breakpoints = set(argument_breakpoints)
        for first, second in combinations(crossing_terms, 2):
            breakpoints |= self._find_equality_indices(first, second, argument_breakpoints)
        if isinstance(self.domain.value_type, IntType):
            return breakpoints
        return _with_neighbours(breakpoints, KINK_NEIGHBOURS)

    def _find_saturation_breakpoints(self, tree: Tree, breakpoints: set[int]) -> set[int]:
        """Return the indices at which an integer term starts or stops to saturate at 32 bits.

        Args:
            tree: the term; one that is no integer never saturates.
            breakpoints: breakpoints between which the term is linear as long as it does not saturate.
        """
        compute = self.compile_at_index(tree)
        if type(compute(self.low)) is not int:
            return set()
        pieces = self.split_at(breakpoints)
        # a linear piece saturates at one of its ends, if anywhere
        if not any(compute(index) in (INT_LOW, INT_HIGH) for piece in pieces for index in piece):
            return set()

        def saturation_sign(index: int) -> int:
            """Return 1 where the term saturates above, -1 where below, 0 where it does not."""
            return int(compute(index) >= INT_HIGH) - int(compute(index) <= INT_LOW)

        return set().union(*(self._find_sign_changes(saturation_sign, first, last) for first, last in pieces))

    def _find_equality_indices(self, left: Tree, right: Tree, breakpoints: set[int]) -> set[int]:
        """Return the indices at which two terms become equal, stop being equal, or have crossed.

        Args:
            left: a term.
            right: another term.
            breakpoints: indices between which their difference is monotonic, so that they cross at most once.
        """
        compute_left = self.compile_at_index(left)
        compute_right = self.compile_at_index(right)

        def difference_sign(index: int) -> int:
            """Return 1 where the left term is greater, -1 where the right one is, 0 where they are equal."""
            left_value = compute_left(index)
            right_value = compute_right(index)
            return int(left_value > right_value) - int(left_value < right_value)

        pieces = self.split_at(breakpoints)
        return set[int]().union(
            *(self._find_sign_changes(difference_sign, first, last) for first, last in pieces)
        )

    def split_at(self, breakpoints: set[int]) -> list[Span]:
        """Return the pieces of the domain between the breakpoints; breakpoints outside it are ignored."""
        inner_starts = [index for index in breakpoints if self.low < index <= self.high]
        starts = sorted({self.low, *inner_starts, self.high + 1})
        return [(start, next_start - 1) for start, next_start in pairwise(starts)]

    def _find_sign_changes(self, sign_at: Callable[[int], int], first: int, last: int) -> set[int]:
        """Return the indices at which a sign changes on a piece of the domain; there are at most two.

        Args:
            sign_at: returns -1, 0 or 1 for an index; it is monotonic on the piece.
            first: the first index of the piece.
            last: the last index of the piece.
        """
        first_sign = sign_at(first)
        last_sign = sign_at(last)
        if first_sign == last_sign:
            return set()
        first_change = bisect_first(lambda index: sign_at(index) != first_sign, first, last)
        # from -1 to 1 there may be a second change, if the sign is 0 in between
        last_change = bisect_first(lambda index: sign_at(index) == last_sign, first_change, last)
        return {first_change, last_change}

    def sample_breakpoints(self, tree: Tree, holds: Callable[[int], bool]) -> set[int]:
        """Return indices at which a condition changes, as far as samples show.

        The condition is evaluated at the bounds, at evenly spread indices, and at the constants in it and
        their square roots. Between two samples with different results, a change is found by bisection.

        Args:
            tree: the tree of the condition.
            holds: evaluates the condition at an index.
        """
        breakpoints = set[int]()
        for first, second in pairwise(sorted(self._list_sample_indices(tree))):
            first_holds = holds(first)
            second_holds = holds(second)
            if first_holds and not second_holds:
                breakpoints.add(bisect_first(lambda i: not holds(i), first, second))
            elif second_holds and not first_holds:
                breakpoints.add(bisect_first(holds, first, second))
        return breakpoints

    def _list_sample_indices(self, tree: Tree) -> set[int]:
        """Return indices into the domain at which a condition is likely to change, and evenly spread ones."""
        value_type = self.domain.value_type
        # values at which the condition may change: constants in it, and their square roots
        likely_values: set[float] = {0.0, 1.0, -1.0}
        for node in nodes_of(tree):
            if isinstance(node, Literal) and not isinstance(node.value, str | bool):
                number = float(node.value)
                square_root = abs(number) ** 0.5
                likely_values |= {number, -number, square_root, -square_root}
        indices = {self.low, self.high}
        if isinstance(value_type, FloatType):
            indices |= {self.domain.index_of(value_type.clamp(value)) for value in likely_values}
        elif isinstance(value_type, IntType):
            indices |= {self.domain.index_of(value_type.clamp(round(value))) for value in likely_values}
        for i in range(1, MAX_ENUMERATED):
            indices.add(self.low + (self.high - self.low) * i // MAX_ENUMERATED)
        return indices


def _condition_parts(tree: Tree) -> list[Tree]:
    """Return the conditions and values that a condition which is no comparison consists of."""
    if isinstance(tree, If):
        cases, default = split_cases(tree)
        return [*(part for case in cases for part in case), default]
    return list(children(tree))


def bisect_first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first index from `low` on at which a condition holds; `high` if there is none below that.

    Once the condition holds for an index, it must hold for all that follow.
    """
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
