"""Makes terms, each just once, and as simple as can be seen without a solver."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from posewright.charts.expression import Operator
from posewright.charts.proof.rounding import DOUBLE, SINGLE, Format
from posewright.charts.proof.span import (
    TRUTH,
    Span,
    absolute_span,
    constant_span,
    extreme_span,
    fraction_span,
    hull,
    joined_span,
    negative_span,
    rounded_span,
    saturated,
    span_of,
)
from posewright.charts.proof.term import Op, Sort, Term
from posewright.charts.types import INT_HIGH, INT_LOW, BoolType, EnumType, Type


class Terms:
    """All terms of one prover."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], Term] = {}
        self._codes: dict[str, int] = {}
        self.true = self._make(Op.CONSTANT, Sort.TRUTH, value=True)
        self.false = self._make(Op.CONSTANT, Sort.TRUTH, value=False)

    def _make(
        self,
        op: Op,
        sort: Sort,
        args: tuple[Term, ...] = (),
        *,
        value: Any = None,
        span: Span | None = None,
        form: Format | None = None,
        codes: tuple[int, ...] = (),
    ) -> Term:
        if span is not None and op is not Op.CONSTANT and span.low == span.high and span.finite:
            return self.number(span.low)
        key = (op, sort, form, type(value), value, *(arg.index for arg in args))
        if key not in self._made:
            self._made[key] = Term(len(self._made), op, sort, args, value, span or TRUTH, form, codes)
        return self._made[key]

    # names and constants

    def constant(self, value: float | str) -> Term:
        """Return a known value; a value of an enumeration is counted."""
        if isinstance(value, bool):
            return self.true if value else self.false
        return self.number(self.code(value) if isinstance(value, str) else value)

    def number(self, value: float) -> Term:
        """Return a known number."""
        sort = Sort.WHOLE if isinstance(value, int) else Sort.FRACTION
        return self._make(Op.CONSTANT, sort, value=value, span=constant_span(value))

    def code(self, word: str) -> int:
        """Return what a value of an enumeration is counted as."""
        return self._codes.setdefault(word, len(self._codes))

    def variable(self, name: str, kind: Type) -> Term:
        """Return the term of a name."""
        if isinstance(kind, BoolType):
            return self._make(Op.VARIABLE, Sort.TRUTH, value=name)
        if isinstance(kind, EnumType):
            codes = tuple(self.code(word) for word in kind.values)
            return self._make(
                Op.VARIABLE, Sort.WHOLE, value=name, span=Span(min(codes), max(codes)), codes=codes
            )
        span = span_of(kind)
        sort = Sort.WHOLE if isinstance(span.low, int) else Sort.FRACTION
        return self._make(Op.VARIABLE, sort, value=name, span=span)

    # truth

    def negation(self, term: Term) -> Term:
        """Return `not term`."""
        if term.is_constant:
            return self.false if term.is_true else self.true
        return term.args[0] if term.op is Op.NOT else self._make(Op.NOT, Sort.TRUTH, (term,))

    def every(self, terms: Iterable[Term]) -> Term:
        """Return the truth value that all hold."""
        return self._gathered(Op.AND, terms, self.true, self.false)

    def some(self, terms: Iterable[Term]) -> Term:
        """Return the truth value that at least one holds."""
        return self._gathered(Op.OR, terms, self.false, self.true)

    def _gathered(self, op: Op, terms: Iterable[Term], neutral: Term, decisive: Term) -> Term:
        parts = [term for term in dict.fromkeys(terms) if term is not neutral]
        if decisive in parts or any(self.negation(part) in parts for part in parts if part.op is Op.NOT):
            return decisive
        if len(parts) < 2:
            return parts[0] if parts else neutral
        return self._make(op, Sort.TRUTH, tuple(parts))

    def either(self, condition: Term, then: Term, otherwise: Term) -> Term:
        """Return `then` where the condition holds, else `otherwise`."""
        if condition.is_constant or then is otherwise:
            return otherwise if condition.is_false else then
        if then.sort is Sort.TRUTH:
            return self._either_truth(condition, then, otherwise)
        if then.sort is not otherwise.sort:
            then, otherwise = self.fraction(then), self.fraction(otherwise)
        span = hull((then.span, otherwise.span))
        return self._make(Op.IF, then.sort, (condition, then, otherwise), span=span)

    def _either_truth(self, condition: Term, then: Term, otherwise: Term) -> Term:
        if then.is_constant:
            return (
                self.some((condition, otherwise))
                if then.is_true
                else self.every((self.negation(condition), otherwise))
            )
        if otherwise.is_constant:
            return (
                self.every((condition, then))
                if otherwise.is_false
                else self.some((self.negation(condition), then))
            )
        return self._make(Op.IF, Sort.TRUTH, (condition, then, otherwise))

    # comparisons

    def less(self, left: Term, right: Term) -> Term:
        """Return `left < right`."""
        left, right = self.alike(left, right)
        known = self._known_order(left.span, right.span, operator.lt, operator.ge)
        if known is not None or left is right:
            return self.constant(bool(known))
        whole = self._whole_order(left, right, strict=True)
        return whole or self._make(Op.LESS, Sort.TRUTH, (left, right))

    def at_most(self, left: Term, right: Term) -> Term:
        """Return `left <= right`."""
        left, right = self.alike(left, right)
        known = self._known_order(left.span, right.span, operator.le, operator.gt)
        if known is not None or (left is right and not left.span.nan):
            return self.constant(known is not False)
        whole = self._whole_order(left, right, strict=False)
        return whole or self._make(Op.AT_MOST, Sort.TRUTH, (left, right))

    def equal(self, left: Term, right: Term) -> Term:
        """Return `left == right`, of any one sort."""
        if left.sort is Sort.TRUTH:
            return self.either(left, right, self.negation(right))
        left, right = self.alike(left, right)
        if left.span.low > right.span.high or left.span.high < right.span.low:
            return self.false
        if left is right and not left.span.nan:
            return self.true
        if left.op is Op.FRACTION and right.op in (Op.FRACTION, Op.CONSTANT):
            return self._equal_whole(left, right)
        if left.is_constant:
            left, right = right, left
        return self._make(Op.EQUAL, Sort.TRUTH, (left, right))

    def _equal_whole(self, left: Term, right: Term) -> Term:
        if right.op is Op.FRACTION:
            return self.equal(left.args[0], right.args[0])
        whole = right.value.is_integer()
        return self.equal(left.args[0], self.number(int(right.value))) if whole else self.false

    def _known_order(self, left: Span, right: Span, sure: Any, never: Any) -> bool | None:
        if left.nan or right.nan:
            return None
        if sure(left.high, right.low):
            return True
        return False if never(left.low, right.high) else None

    def _whole_order(self, left: Term, right: Term, *, strict: bool) -> Term | None:
        """Return the order of two whole numbers, or of one and a constant, where that is what is asked."""
        if left.op is not Op.FRACTION and right.op is not Op.FRACTION:
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

    def alike(self, left: Term, right: Term) -> tuple[Term, Term]:
        """Return two numbers as fractions where one of them is a fraction."""
        if left.sort is right.sort:
            return left, right
        return self.fraction(left), self.fraction(right)

    def fraction(self, term: Term) -> Term:
        """Return a whole number as a fraction, a fraction as it is."""
        if term.sort is Sort.FRACTION:
            return term
        if term.is_constant:
            return self.number(float(term.value))
        return self._make(Op.FRACTION, Sort.FRACTION, (term,), span=fraction_span(term.span))

    def joined(self, sign: Operator, left: Term, right: Term, form: Format = DOUBLE) -> Term:
        """Return `left sign right`; of whole numbers without a bound, of fractions rounded to `form`."""
        left, right = self.alike(left, right)
        if sign is Operator.MODULO and left.is_constant and right.is_constant and right.value != 0:
            return self.number(left.value % right.value)
        span = joined_span(sign, left.span, right.span)
        if sign is Operator.TIMES and left is right:
            span = replace(span, low=max(span.low, type(span.low)(0)))
        if left.sort is Sort.WHOLE:
            return self._make(Op.ARITHMETIC, Sort.WHOLE, (left, right), value=sign, span=span)
        rounds = None if span.fits(form) else form
        span = rounded_span(span, form)
        return self._make(Op.ARITHMETIC, Sort.FRACTION, (left, right), value=sign, span=span, form=rounds)

    def saturated(self, term: Term) -> Term:
        """Return a whole number kept within 32 bits; a fraction as it is."""
        if term.sort is Sort.FRACTION or (term.span.low >= INT_LOW and term.span.high <= INT_HIGH):
            return term
        return self._make(Op.SATURATE, Sort.WHOLE, (term,), span=saturated(term.span))

    def negative(self, term: Term) -> Term:
        """Return `-term`."""
        return self._make(Op.NEGATIVE, term.sort, (term,), span=negative_span(term.span))

    def absolute(self, term: Term) -> Term:
        """Return the distance from zero."""
        return self._make(Op.ABSOLUTE, term.sort, (term,), span=absolute_span(term.span))

    def extreme(self, op: Op, terms: Sequence[Term]) -> Term:
        """Return the least or the greatest; a fraction where one of them is one."""
        if any(term.sort is Sort.FRACTION for term in terms):
            terms = [self.fraction(term) for term in terms]
        span = extreme_span(min if op is Op.LEAST else max, [term.span for term in terms])
        return self._make(op, terms[0].sort, tuple(terms), span=span)

    def single(self, term: Term) -> Term:
        """Return a number rounded to 32 bits.

        What two numbers of 32 bits are joined to rounds just once: 53 bits are enough for a second rounding
        to 24 bits to change nothing (Figueroa 1995).
        """
        term = self.fraction(term)
        if term.span.single or term.span.fits(SINGLE):
            return term
        if (
            term.op is Op.ARITHMETIC
            and term.value is not Operator.MODULO
            and all(a.span.single for a in term.args)
        ):
            return self.joined(term.value, term.args[0], term.args[1], SINGLE)
        return self._make(
            Op.SINGLE, Sort.FRACTION, (term,), span=rounded_span(term.span, SINGLE), form=SINGLE
        )
