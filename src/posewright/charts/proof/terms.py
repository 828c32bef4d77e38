"""TermFactory: what an expression says once names, constants and types are known; equal ones are one object.

Three sorts are left: truth values, whole numbers (values of enumerations are counted), and fractions. Whole
numbers have no bound here; where 32 bits may not do, `SATURATE` says so. Fractions round at every step.
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
    DOUBLE,
    SINGLE,
    TRUTH,
    FloatFormat,
    Interval,
    absolute_interval,
    constant_interval,
    extreme_interval,
    fraction_interval,
    hull,
    joined_interval,
    negative_interval,
    rounded_interval,
    saturated_interval,
    type_interval,
)
from posewright.charts.types import INT_HIGH, INT_LOW, BoolType, EnumType, Type


class SmtOp(Enum):
    """What a term does with its arguments."""

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
    NEGATIVE = "-"
    ABSOLUTE = "abs"
    LEAST = "min"
    GREATEST = "max"
    SATURATE = "saturate"
    FRACTION = "fraction"
    SINGLE = "single"


class SmtSort(Enum):
    """What a term is."""

    TRUTH = "truth"
    WHOLE = "whole"
    FRACTION = "fraction"


@dataclass(frozen=True, eq=False)
class SmtTerm:
    """One step of a computation.

    Attributes:
        index: counts terms as they are made, so arguments have smaller ones.
        value: of a constant; the name of a variable; the operator of arithmetic.
        interval: between which ends it lies, of numbers.
        form: what arithmetic of fractions rounds to.
        codes: of the name of an enumeration, what its values are counted as.
    """

    index: int
    op: SmtOp
    sort: SmtSort
    args: tuple[SmtTerm, ...] = ()
    value: Any = None
    interval: Interval = TRUTH
    form: FloatFormat = DOUBLE
    codes: tuple[int, ...] = field(default=(), repr=False)

    @property
    def is_constant(self) -> bool:
        """Whether it is known."""
        return self.op is SmtOp.CONSTANT

    @property
    def is_true(self) -> bool:
        """Whether it is known to be true."""
        return self.value is True

    @property
    def is_false(self) -> bool:
        """Whether it is known to be false."""
        return self.value is False


def reachable(roots: Iterable[SmtTerm]) -> list[SmtTerm]:
    """Return the roots and every term they are made of, arguments first."""
    found: dict[int, SmtTerm] = {}
    waiting = list(roots)
    while waiting:
        term = waiting.pop()
        if term.index not in found:
            found[term.index] = term
            waiting.extend(term.args)
    return [found[index] for index in sorted(found)]


class TermFactory:
    """All terms of one prover."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], SmtTerm] = {}
        self._codes: dict[str, int] = {}
        self.true = self._make(SmtOp.CONSTANT, SmtSort.TRUTH, value=True)
        self.false = self._make(SmtOp.CONSTANT, SmtSort.TRUTH, value=False)

    def _make(
        self,
        op: SmtOp,
        sort: SmtSort,
        args: tuple[SmtTerm, ...] = (),
        *,
        value: Any = None,
        interval: Interval | None = None,
        form: FloatFormat = DOUBLE,
        codes: tuple[int, ...] = (),
    ) -> SmtTerm:
        if op is not SmtOp.CONSTANT and interval and interval.finite and interval.low == interval.high:
            return self.number(interval.low)
        key = (op, sort, form, type(value), value, *(arg.index for arg in args))
        if key not in self._made:
            self._made[key] = SmtTerm(len(self._made), op, sort, args, value, interval or TRUTH, form, codes)
        return self._made[key]

    # names and constants

    def constant(self, value: float | str) -> SmtTerm:
        """Return a known value; a value of an enumeration is counted."""
        if isinstance(value, bool):
            return self.true if value else self.false
        return self.number(self.code(value) if isinstance(value, str) else value)

    def number(self, value: float) -> SmtTerm:
        """Return a known number."""
        sort = SmtSort.WHOLE if isinstance(value, int) else SmtSort.FRACTION
        return self._make(SmtOp.CONSTANT, sort, value=value, interval=constant_interval(value))

    def code(self, word: str) -> int:
        """Return what a value of an enumeration is counted as."""
        return self._codes.setdefault(word, len(self._codes))

    def variable(self, name: str, kind: Type) -> SmtTerm:
        """Return the term of a name."""
        if isinstance(kind, BoolType):
            return self._make(SmtOp.VARIABLE, SmtSort.TRUTH, value=name)
        if isinstance(kind, EnumType):
            codes = tuple(self.code(word) for word in kind.values)
            interval = Interval(min(codes), max(codes), integral=True)
            return self._make(SmtOp.VARIABLE, SmtSort.WHOLE, value=name, interval=interval, codes=codes)
        interval = type_interval(kind)
        sort = SmtSort.WHOLE if isinstance(interval.low, int) else SmtSort.FRACTION
        return self._make(SmtOp.VARIABLE, sort, value=name, interval=interval)

    # truth

    def negation(self, term: SmtTerm) -> SmtTerm:
        """Return `not term`."""
        if term.is_constant:
            return self.false if term.is_true else self.true
        return term.args[0] if term.op is SmtOp.NOT else self._make(SmtOp.NOT, SmtSort.TRUTH, (term,))

    def every(self, terms: Iterable[SmtTerm]) -> SmtTerm:
        """Return the truth value that all hold."""
        return self._gathered(SmtOp.AND, terms, self.true, self.false)

    def some(self, terms: Iterable[SmtTerm]) -> SmtTerm:
        """Return the truth value that at least one holds."""
        return self._gathered(SmtOp.OR, terms, self.false, self.true)

    def _gathered(self, op: SmtOp, terms: Iterable[SmtTerm], neutral: SmtTerm, decisive: SmtTerm) -> SmtTerm:
        parts = [term for term in dict.fromkeys(terms) if term is not neutral]
        if decisive in parts or any(self.negation(part) in parts for part in parts if part.op is SmtOp.NOT):
            return decisive
        if len(parts) < 2:
            return parts[0] if parts else neutral
        return self._make(op, SmtSort.TRUTH, tuple(parts))

    def either(self, condition: SmtTerm, then: SmtTerm, otherwise: SmtTerm) -> SmtTerm:
        """Return `then` where the condition holds, else `otherwise`."""
        if condition.is_constant or then is otherwise:
            return otherwise if condition.is_false else then
        if then.sort is SmtSort.TRUTH:
            return self._either_truth(condition, then, otherwise)
        if then.sort is not otherwise.sort:
            then, otherwise = self.fraction(then), self.fraction(otherwise)
        interval = hull((then.interval, otherwise.interval))
        return self._make(SmtOp.IF, then.sort, (condition, then, otherwise), interval=interval)

    def _either_truth(self, condition: SmtTerm, then: SmtTerm, otherwise: SmtTerm) -> SmtTerm:
        if then.is_true:
            return self.some((condition, otherwise))
        if then.is_false:
            return self.every((self.negation(condition), otherwise))
        if otherwise.is_false:
            return self.every((condition, then))
        if otherwise.is_true:
            return self.some((self.negation(condition), then))
        return self._make(SmtOp.IF, SmtSort.TRUTH, (condition, then, otherwise))

    # comparisons

    def less(self, left: SmtTerm, right: SmtTerm) -> SmtTerm:
        """Return `left < right`."""
        left, right = self.alike(left, right)
        known = self._known_order(left.interval, right.interval, operator.lt, operator.ge)
        if known is not None or left is right:
            return self.constant(bool(known))
        whole = self._whole_order(left, right, strict=True)
        return whole or self._make(SmtOp.LESS, SmtSort.TRUTH, (left, right))

    def at_most(self, left: SmtTerm, right: SmtTerm) -> SmtTerm:
        """Return `left <= right`."""
        left, right = self.alike(left, right)
        known = self._known_order(left.interval, right.interval, operator.le, operator.gt)
        if known is not None or (left is right and not left.interval.nan):
            return self.constant(known is not False)
        whole = self._whole_order(left, right, strict=False)
        return whole or self._make(SmtOp.AT_MOST, SmtSort.TRUTH, (left, right))

    def equal(self, left: SmtTerm, right: SmtTerm) -> SmtTerm:
        """Return `left == right`, of any one sort."""
        if left.sort is SmtSort.TRUTH:
            return self.either(left, right, self.negation(right))
        left, right = self.alike(left, right)
        if left.interval.low > right.interval.high or left.interval.high < right.interval.low:
            return self.false
        if left is right and not left.interval.nan:
            return self.true
        if left.op is SmtOp.FRACTION and right.op in (SmtOp.FRACTION, SmtOp.CONSTANT):
            return self._equal_whole(left, right)
        if left.is_constant:
            left, right = right, left
        return self._equal_product(left, right) or self._make(SmtOp.EQUAL, SmtSort.TRUTH, (left, right))

    def _equal_product(self, left: SmtTerm, right: SmtTerm) -> SmtTerm | None:
        """Return that a product of two whole numbers is a constant as what its factors are, if it is that.

        The solver finds the factors of a number only by trying.
        """
        if not right.is_constant or abs(right.value) > INT_HIGH:
            return None
        inside = left.op is SmtOp.SATURATE and INT_LOW < right.value < INT_HIGH
        product = left.args[0] if inside else left
        if product.sort is not SmtSort.WHOLE or product.value is not Operator.TIMES:
            return None
        if any(factor.is_constant for factor in product.args):
            return None
        one, other = product.args
        if right.value == 0:
            return self.some((self.equal(one, right), self.equal(other, right)))
        return self.some(
            self.every((self.equal(one, self.number(a)), self.equal(other, self.number(b))))
            for a, b in _factors(right.value)
        )

    def _equal_whole(self, left: SmtTerm, right: SmtTerm) -> SmtTerm:
        if right.op is SmtOp.FRACTION:
            return self.equal(left.args[0], right.args[0])
        whole = right.value.is_integer()
        return self.equal(left.args[0], self.number(int(right.value))) if whole else self.false

    def _known_order(
        self,
        left: Interval,
        right: Interval,
        sure: Callable[[float, float], bool],
        never: Callable[[float, float], bool],
    ) -> bool | None:
        if left.nan or right.nan:
            return None
        if sure(left.high, right.low):
            return True
        return False if never(left.low, right.high) else None

    def _whole_order(self, left: SmtTerm, right: SmtTerm, *, strict: bool) -> SmtTerm | None:
        """Return the order of two whole numbers, or of one and a constant, where that is what is asked."""
        if left.op is not SmtOp.FRACTION and right.op is not SmtOp.FRACTION:
            return None
        if left.op is right.op:
            ask = self.less if strict else self.at_most
            return ask(left.args[0], right.args[0])
        if right.is_constant:
            bound = math.ceil(right.value) - 1 if strict else math.floor(right.value)
            return self.at_most(left.args[0], self.number(bound))
        if left.is_constant:
            bound = math.floor(left.value) + 1 if strict else math.ceil(left.value)
            return self.at_most(self.number(bound), right.args[0])
        return None

    # numbers

    def alike(self, left: SmtTerm, right: SmtTerm) -> tuple[SmtTerm, SmtTerm]:
        """Return two numbers as fractions where one of them is a fraction."""
        if left.sort is right.sort:
            return left, right
        return self.fraction(left), self.fraction(right)

    def fraction(self, term: SmtTerm) -> SmtTerm:
        """Return a whole number as a fraction, a fraction as it is."""
        if term.sort is SmtSort.FRACTION:
            return term
        if term.is_constant:
            return self.number(float(term.value))
        return self._make(
            SmtOp.FRACTION, SmtSort.FRACTION, (term,), interval=fraction_interval(term.interval)
        )

    def joined(self, sign: Operator, left: SmtTerm, right: SmtTerm, form: FloatFormat = DOUBLE) -> SmtTerm:
        """Return `left sign right`; of whole numbers without a bound, of fractions rounded to `form`."""
        left, right = self.alike(left, right)
        if sign is Operator.MODULO and left.is_constant and right.is_constant and right.value != 0:
            return self.number(left.value % right.value)
        interval = joined_interval(sign, left.interval, right.interval)
        if sign is Operator.TIMES and left is right:
            interval = replace(interval, low=max(interval.low, type(interval.low)(0)))
        if left.sort is SmtSort.FRACTION:
            interval = rounded_interval(interval, form)
        args = (left, right)
        return self._make(SmtOp.ARITHMETIC, left.sort, args, value=sign, interval=interval, form=form)

    def saturated(self, term: SmtTerm) -> SmtTerm:
        """Return a whole number kept within 32 bits; a fraction as it is."""
        if term.sort is SmtSort.FRACTION or (term.interval.low >= INT_LOW and term.interval.high <= INT_HIGH):
            return term
        return self._make(SmtOp.SATURATE, SmtSort.WHOLE, (term,), interval=saturated_interval(term.interval))

    def negative(self, term: SmtTerm) -> SmtTerm:
        """Return `-term`."""
        return self._make(SmtOp.NEGATIVE, term.sort, (term,), interval=negative_interval(term.interval))

    def absolute(self, term: SmtTerm) -> SmtTerm:
        """Return the distance from zero."""
        return self._make(SmtOp.ABSOLUTE, term.sort, (term,), interval=absolute_interval(term.interval))

    def extreme(self, op: SmtOp, terms: Sequence[SmtTerm]) -> SmtTerm:
        """Return the least or the greatest; a fraction where one of them is one."""
        if any(term.sort is SmtSort.FRACTION for term in terms):
            terms = [self.fraction(term) for term in terms]
        interval = extreme_interval(min if op is SmtOp.LEAST else max, [term.interval for term in terms])
        return self._make(op, terms[0].sort, tuple(terms), interval=interval)

    def single(self, term: SmtTerm) -> SmtTerm:
        """Return a number rounded to 32 bits.

        What two numbers of 32 bits are joined to rounds just once: 53 bits are enough for a second rounding
        to 24 bits to change nothing (Figueroa 1995).
        """
        term = self.fraction(term)
        if term.interval.single or term.interval.is_exact_in(SINGLE):
            return term
        if (
            term.op is SmtOp.ARITHMETIC
            and term.value is not Operator.MODULO
            and all(a.interval.single for a in term.args)
        ):
            return self.joined(term.value, term.args[0], term.args[1], SINGLE)
        return self._make(
            SmtOp.SINGLE, SmtSort.FRACTION, (term,), interval=rounded_interval(term.interval, SINGLE)
        )


@lru_cache(maxsize=64)
def _factors(value: int) -> tuple[tuple[int, int], ...]:
    """Return every pair of whole numbers with this product, which is not zero."""
    small = [(one, value // one) for one in range(1, math.isqrt(abs(value)) + 1) if value % one == 0]
    pairs = dict.fromkeys([*small, *((b, a) for a, b in small)])
    return (*pairs, *((-a, -b) for a, b in pairs))
