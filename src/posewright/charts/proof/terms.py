"""SMT terms: expressions whose names, constants and types are known; equal terms are one object.

There are three sorts: Booleans, integers (values of enumerations are encoded as integers), and fractions.
Integers have no bound here; `SATURATE` marks where they may leave 32 bits. Fractions round at every step.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any

from posewright.charts.expression import Operator
from posewright.charts.proof.interval import (
    BOOLEAN,
    DOUBLE,
    SINGLE,
    FloatFormat,
    Interval,
    absolute_interval,
    arithmetic_interval,
    constant_interval,
    extreme_interval,
    float_interval,
    hull,
    negated_interval,
    rounded_interval,
    saturated_interval,
    type_interval,
)
from posewright.charts.types import INT_HIGH, INT_LOW, BoolType, EnumType, Type


class SmtOp(Enum):
    """Operations of terms."""

    CONSTANT = "constant"
    VARIABLE = "variable"
    NOT = "not"
    AND = "and"
    OR = "or"
    IF = "if"
    LESS = "<"
    AT_MOST = "<="
    EQUAL = "=="
    ARITHMETIC = "arithmetic"
    NEGATE = "-"
    ABS = "abs"
    MIN = "min"
    MAX = "max"
    SATURATE = "saturate"
    TO_FLOAT = "to float"
    TO_SINGLE = "to single"


class SmtSort(Enum):
    """Sorts of terms."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"


@dataclass(frozen=True, eq=False)
class SmtTerm:
    """An operation on other terms, a variable or a constant.

    Attributes:
        index: terms are numbered as they are made, so arguments have smaller indices.
        op: the operation.
        sort: Boolean, integer or fraction.
        args: the terms that the operation is applied to.
        value: value of a constant, name of a variable, or operator of arithmetic; else None.
        interval: bounds of a number.
        float_format: format that arithmetic of fractions rounds to.
        codes: for a variable of an enumeration, the integers that encode its values.
    """

    index: int
    op: SmtOp
    sort: SmtSort
    args: tuple[SmtTerm, ...] = ()
    value: Any = None  # of a type that depends on the operation
    interval: Interval = BOOLEAN
    float_format: FloatFormat = DOUBLE
    codes: tuple[int, ...] = field(default=(), repr=False)

    @property
    def is_constant(self) -> bool:
        """Whether it is a constant."""
        return self.op is SmtOp.CONSTANT

    @property
    def variable_name(self) -> str:
        """The name of a variable."""
        return str(self.value)

    @property
    def arithmetic_operator(self) -> Operator | None:
        """The operator of arithmetic; None for other operations."""
        return self.value if self.op is SmtOp.ARITHMETIC else None

    @property
    def is_true(self) -> bool:
        """Whether it is the constant true."""
        return self.value is True

    @property
    def is_false(self) -> bool:
        """Whether it is the constant false."""
        return self.value is False


def collect_terms(roots: Iterable[SmtTerm]) -> list[SmtTerm]:
    """Return the roots and all terms they contain, arguments first."""
    terms: dict[int, SmtTerm] = {}
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term.index not in terms:
            terms[term.index] = term
            stack.extend(term.args)
    return [terms[index] for index in sorted(terms)]


class TermFactory:
    """Makes the terms of one prover; simplifies them as far as constants and intervals allow.

    Attributes:
        true: the constant true.
        false: the constant false.
        _terms: every term made so far, by its attributes.
        _codes: the integer that encodes each value of an enumeration.
    """

    def __init__(self) -> None:
        self._terms: dict[tuple[object, ...], SmtTerm] = {}
        self._codes: dict[str, int] = {}
        self.true = self._make(SmtOp.CONSTANT, SmtSort.BOOLEAN, value=True)
        self.false = self._make(SmtOp.CONSTANT, SmtSort.BOOLEAN, value=False)

    def _make(
        self,
        op: SmtOp,
        sort: SmtSort,
        args: tuple[SmtTerm, ...] = (),
        *,
        value: Any = None,  # as in `SmtTerm`
        interval: Interval | None = None,
        float_format: FloatFormat = DOUBLE,
        codes: tuple[int, ...] = (),
    ) -> SmtTerm:
        """Return the term with these attributes, the same object for the same attributes.

        Where the interval has only one number, the result is that constant. The arguments are the attributes
        of `SmtTerm`; `interval` is None for terms that are not numbers.
        """
        if op is not SmtOp.CONSTANT and interval and interval.is_finite and interval.low == interval.high:
            return self.number(interval.low)
        # with the type of the value, since 1, 1.0 and True are equal in Python; the interval and the codes
        # follow from the other attributes
        key = (op, sort, float_format, type(value), value, *(arg.index for arg in args))
        if key not in self._terms:
            self._terms[key] = SmtTerm(
                len(self._terms),
                op,
                sort,
                args,
                value,
                interval=interval or BOOLEAN,
                float_format=float_format,
                codes=codes,
            )
        return self._terms[key]

    # Variables and constants

    def constant(self, value: float | str) -> SmtTerm:
        """Return a constant; a value of an enumeration is encoded as an integer."""
        if isinstance(value, bool):
            return self.true if value else self.false
        return self.number(self.code(value) if isinstance(value, str) else value)

    def number(self, value: float) -> SmtTerm:
        """Return the constant of a number."""
        sort = SmtSort.INTEGER if isinstance(value, int) else SmtSort.FLOAT
        return self._make(SmtOp.CONSTANT, sort, value=value, interval=constant_interval(value))

    def code(self, value: str) -> int:
        """Return the integer that encodes a value of an enumeration."""
        return self._codes.setdefault(value, len(self._codes))

    def variable(self, name: str, value_type: Type) -> SmtTerm:
        """Return the variable that represents a name of an expression."""
        if isinstance(value_type, BoolType):
            return self._make(SmtOp.VARIABLE, SmtSort.BOOLEAN, value=name)
        if isinstance(value_type, EnumType):
            codes = tuple(self.code(value) for value in value_type.values)
            interval = Interval(min(codes), max(codes), is_integral=True)
            return self._make(SmtOp.VARIABLE, SmtSort.INTEGER, value=name, interval=interval, codes=codes)
        interval = type_interval(value_type)
        sort = SmtSort.INTEGER if isinstance(interval.low, int) else SmtSort.FLOAT
        return self._make(SmtOp.VARIABLE, sort, value=name, interval=interval)

    # Booleans

    def negation(self, term: SmtTerm) -> SmtTerm:
        """Return `not term`."""
        if term.is_constant:
            return self.false if term.is_true else self.true
        return term.args[0] if term.op is SmtOp.NOT else self._make(SmtOp.NOT, SmtSort.BOOLEAN, (term,))

    def conjunction(self, terms: Iterable[SmtTerm]) -> SmtTerm:
        """Return the term that is true where all are."""
        return self._connect(SmtOp.AND, terms, neutral=self.true, decisive=self.false)

    def disjunction(self, terms: Iterable[SmtTerm]) -> SmtTerm:
        """Return the term that is true where at least one is."""
        return self._connect(SmtOp.OR, terms, neutral=self.false, decisive=self.true)

    def _connect(self, op: SmtOp, terms: Iterable[SmtTerm], neutral: SmtTerm, decisive: SmtTerm) -> SmtTerm:
        """Return a conjunction or disjunction, as simple as possible.

        Args:
            op: AND or OR.
            terms: the terms that are connected.
            neutral: the constant that makes no difference to it: true for AND.
            decisive: the constant that decides it: false for AND.
        """
        distinct_terms = [term for term in dict.fromkeys(terms) if term is not neutral]
        negated_terms = [self.negation(term) for term in distinct_terms if term.op is SmtOp.NOT]
        has_opposites = any(term in distinct_terms for term in negated_terms)  # as in `a and not a`
        if decisive in distinct_terms or has_opposites:
            return decisive
        if len(distinct_terms) < 2:
            return distinct_terms[0] if distinct_terms else neutral
        return self._make(op, SmtSort.BOOLEAN, tuple(distinct_terms))

    def if_then_else(self, condition: SmtTerm, then_term: SmtTerm, else_term: SmtTerm) -> SmtTerm:
        """Return `then_term` where the condition holds, else `else_term`; simplified where possible."""
        if condition.is_constant or then_term is else_term:
            return else_term if condition.is_false else then_term
        if then_term.sort is SmtSort.BOOLEAN:
            return self._if_then_else_boolean(condition, then_term, else_term)
        then_term, else_term = self.to_common_sort(then_term, else_term)
        interval = hull((then_term.interval, else_term.interval))
        return self._make(SmtOp.IF, then_term.sort, (condition, then_term, else_term), interval=interval)

    def _if_then_else_boolean(self, condition: SmtTerm, then_term: SmtTerm, else_term: SmtTerm) -> SmtTerm:
        """Return `then_term if condition else else_term` of Boolean terms, simplified if one is constant."""
        if then_term.is_true:
            return self.disjunction((condition, else_term))
        if then_term.is_false:
            return self.conjunction((self.negation(condition), else_term))
        if else_term.is_false:
            return self.conjunction((condition, then_term))
        if else_term.is_true:
            return self.disjunction((self.negation(condition), then_term))
        return self._make(SmtOp.IF, SmtSort.BOOLEAN, (condition, then_term, else_term))

    # Comparisons

    def less(self, left: SmtTerm, right: SmtTerm) -> SmtTerm:
        """Return `left < right`, as a constant where the bounds decide it."""
        left, right = self.to_common_sort(left, right)
        known_result = self._compare_intervals(
            left.interval, right.interval, order=operator.lt, opposite_order=operator.ge
        )
        if known_result is not None or left is right:
            return self.constant(bool(known_result))  # a number is not less than itself
        comparison_of_integers = self._compare_integers(left, right, is_strict=True)
        return comparison_of_integers or self._make(SmtOp.LESS, SmtSort.BOOLEAN, (left, right))

    def at_most(self, left: SmtTerm, right: SmtTerm) -> SmtTerm:
        """Return `left <= right`, as a constant where the bounds decide it."""
        left, right = self.to_common_sort(left, right)
        known_result = self._compare_intervals(
            left.interval, right.interval, order=operator.le, opposite_order=operator.gt
        )
        if known_result is not None:
            return self.constant(known_result)
        if left is right and not left.interval.may_be_nan:
            return self.true
        comparison_of_integers = self._compare_integers(left, right, is_strict=False)
        return comparison_of_integers or self._make(SmtOp.AT_MOST, SmtSort.BOOLEAN, (left, right))

    def equal(self, left: SmtTerm, right: SmtTerm) -> SmtTerm:
        """Return the term `left == right` of two Booleans or two numbers, as simple as it can be.

        It is a constant where the operands are the same term, or the intervals in which their values lie do
        not meet. An integer that was converted to a float is compared as the integer it was, and the product
        of two integers with a constant by its factors: the solver decides either more easily.
        """
        if left.sort is SmtSort.BOOLEAN:
            return self.if_then_else(left, right, self.negation(right))
        left, right = self.to_common_sort(left, right)
        are_apart = left.interval.low > right.interval.high or left.interval.high < right.interval.low
        if are_apart:
            return self.false
        if left is right and not left.interval.may_be_nan:
            return self.true
        if left.op is SmtOp.TO_FLOAT and right.op in (SmtOp.TO_FLOAT, SmtOp.CONSTANT):
            return self._equal_integers(left, right)
        if left.is_constant:  # a constant comes last
            left, right = right, left
        equality_of_factors = self._equal_product(left, right)  # None for other terms than such a product
        return equality_of_factors or self._make(SmtOp.EQUAL, SmtSort.BOOLEAN, (left, right))

    def _equal_product(self, left: SmtTerm, right: SmtTerm) -> SmtTerm | None:
        """Return the equality of a product of two integers with a constant, as a choice of its factors.

        So `a * b == 6` becomes `a == 1 and b == 6 or a == 2 and b == 3 or ...`: the solver would find the
        factors only by trying. Other terms give None.

        Args:
            left: the product, which may be saturated.
            right: the constant.
        """
        if not right.is_constant or abs(right.value) > INT_HIGH:
            return None
        is_below_saturation = left.op is SmtOp.SATURATE and INT_LOW < right.value < INT_HIGH
        product = left.args[0] if is_below_saturation else left
        if product.sort is not SmtSort.INTEGER or product.arithmetic_operator is not Operator.TIMES:
            return None
        first, second = product.args
        if first.is_constant or second.is_constant:
            return None
        if right.value == 0:
            return self.disjunction((self.equal(first, right), self.equal(second, right)))
        solutions = []
        for first_factor, second_factor in _factor_pairs(right.value):
            has_first_factor = self.equal(first, self.number(first_factor))
            has_second_factor = self.equal(second, self.number(second_factor))
            solutions.append(self.conjunction((has_first_factor, has_second_factor)))
        return self.disjunction(solutions)

    def _equal_integers(self, left: SmtTerm, right: SmtTerm) -> SmtTerm:
        """Return the equality of an integer converted to a fraction with another one or a constant."""
        if right.op is SmtOp.TO_FLOAT:
            return self.equal(left.args[0], right.args[0])
        if not right.value.is_integer():
            return self.false
        return self.equal(left.args[0], self.number(int(right.value)))

    def _compare_intervals(
        self,
        left: Interval,
        right: Interval,
        order: Callable[[float, float], bool],
        opposite_order: Callable[[float, float], bool],
    ) -> bool | None:
        """Return whether two numbers are in an order, None if that does not follow from their bounds.

        Args:
            left: bounds of the left number.
            right: bounds of the right number.
            order: the order, `<` or `<=`. It holds for all values if it holds for the greatest left one and
                the smallest right one.
            opposite_order: `>=` or `>`. The order holds for no values if this holds for the smallest left one
                and the greatest right one.
        """
        if left.may_be_nan or right.may_be_nan:
            return None
        if order(left.high, right.low):
            return True
        return False if opposite_order(left.low, right.high) else None

    def _compare_integers(self, left: SmtTerm, right: SmtTerm, *, is_strict: bool) -> SmtTerm | None:
        """Return the comparison `<` or `<=` of two fractions as one of integers, which is easier to solve.

        Both have to be integers converted to fractions, or one of them a constant. Other terms give None.

        Args:
            left: the left fraction.
            right: the right fraction.
            is_strict: whether the order is `<`; else it is `<=`.
        """
        if left.op is not SmtOp.TO_FLOAT and right.op is not SmtOp.TO_FLOAT:
            return None
        if left.op is right.op:
            compare = self.less if is_strict else self.at_most
            return compare(left.args[0], right.args[0])
        if right.is_constant:
            greatest = math.ceil(right.value) - 1 if is_strict else math.floor(right.value)
            return self.at_most(left.args[0], self.number(greatest))
        if left.is_constant:
            smallest = math.floor(left.value) + 1 if is_strict else math.ceil(left.value)
            return self.at_most(self.number(smallest), right.args[0])
        return None

    # Numbers

    def to_common_sort(self, left: SmtTerm, right: SmtTerm) -> tuple[SmtTerm, SmtTerm]:
        """Return two numbers, both as fractions if one of them is."""
        if left.sort is right.sort:
            return left, right
        return self.to_float(left), self.to_float(right)

    def to_float(self, term: SmtTerm) -> SmtTerm:
        """Return an integer as a fraction, and a fraction unchanged."""
        if term.sort is SmtSort.FLOAT:
            return term
        if term.is_constant:
            return self.number(float(term.value))
        return self._make(SmtOp.TO_FLOAT, SmtSort.FLOAT, (term,), interval=float_interval(term.interval))

    def arithmetic(
        self, binary_operator: Operator, left: SmtTerm, right: SmtTerm, float_format: FloatFormat = DOUBLE
    ) -> SmtTerm:
        """Return `left binary_operator right`: exact for integers, rounded for fractions.

        Args:
            binary_operator: the operator; its divisor, if it has one, is not zero where the term matters.
            left: the left operand.
            right: the right operand.
            float_format: the format that a fraction is rounded to.
        """
        left, right = self.to_common_sort(left, right)
        if binary_operator is Operator.MODULO and left.is_constant and right.is_constant and right.value != 0:
            return self.number(left.value % right.value)
        interval = arithmetic_interval(binary_operator, left.interval, right.interval)
        if binary_operator is Operator.TIMES and left is right:  # a square is not negative
            zero = type(interval.low)(0)  # of the type of the bound, int or float
            interval = replace(interval, low=max(interval.low, zero))
        if left.sort is SmtSort.FLOAT:
            interval = rounded_interval(interval, float_format)
        return self._make(
            SmtOp.ARITHMETIC,
            left.sort,
            (left, right),
            value=binary_operator,
            interval=interval,
            float_format=float_format,
        )

    def saturate(self, term: SmtTerm) -> SmtTerm:
        """Return an integer saturated at 32 bits, and a fraction unchanged."""
        if term.sort is SmtSort.FLOAT or (term.interval.low >= INT_LOW and term.interval.high <= INT_HIGH):
            return term
        return self._make(
            SmtOp.SATURATE, SmtSort.INTEGER, (term,), interval=saturated_interval(term.interval)
        )

    def negate(self, term: SmtTerm) -> SmtTerm:
        """Return `-term`."""
        return self._make(SmtOp.NEGATE, term.sort, (term,), interval=negated_interval(term.interval))

    def absolute(self, term: SmtTerm) -> SmtTerm:
        """Return the absolute value."""
        return self._make(SmtOp.ABS, term.sort, (term,), interval=absolute_interval(term.interval))

    def extreme(self, op: SmtOp, terms: Sequence[SmtTerm]) -> SmtTerm:
        """Return the minimum or maximum (`op`) of some numbers; a fraction if one of them is."""
        if any(term.sort is SmtSort.FLOAT for term in terms):
            terms = [self.to_float(term) for term in terms]
        interval = extreme_interval(min if op is SmtOp.MIN else max, [term.interval for term in terms])
        return self._make(op, terms[0].sort, tuple(terms), interval=interval)

    def to_single(self, term: SmtTerm) -> SmtTerm:
        """Return a number rounded to 32 bits.

        An operation on two numbers of 32 bits is rounded directly to 32 bits: rounding first to 53 and then
        to 24 bits gives the same (Figueroa 1995).
        """
        fraction = self.to_float(term)
        if fraction.interval.fits_single or fraction.interval.is_exact_in(SINGLE):
            return fraction
        binary_operator = fraction.arithmetic_operator
        if binary_operator is not None and binary_operator is not Operator.MODULO:
            left, right = fraction.args
            if left.interval.fits_single and right.interval.fits_single:
                return self.arithmetic(binary_operator, left, right, float_format=SINGLE)
        interval = rounded_interval(fraction.interval, SINGLE)
        return self._make(SmtOp.TO_SINGLE, SmtSort.FLOAT, (fraction,), interval=interval)


@lru_cache(maxsize=64)
def _factor_pairs(product: int) -> tuple[tuple[int, int], ...]:
    """Return every pair of integers with a given product, which is not zero."""
    pairs: dict[tuple[int, int], None] = {}  # an ordered set
    for divisor in range(1, math.isqrt(abs(product)) + 1):
        if product % divisor == 0:
            pairs[divisor, product // divisor] = None
    for first, second in list(pairs):
        pairs[second, first] = None
    negated_pairs = [(-first, -second) for first, second in pairs]
    return (*pairs, *negated_pairs)
