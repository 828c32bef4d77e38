"""Terms bit by bit, for the solver: whole numbers and fractions just as they are computed, at a price.

Whole numbers get as many bits as their span needs, fractions are IEEE 754 numbers of 32 or 64 bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import z3

from posewright.charts.expression import Operator
from posewright.charts.proof.rounding import DOUBLE, SINGLE, Format
from posewright.charts.proof.smt.truth import truth_of, variable_name
from posewright.charts.proof.term import Op, Sort, Term
from posewright.charts.types import INT_HIGH, INT_LOW

_JOIN: dict[Operator, Callable[..., Any]] = {
    Operator.PLUS: operator.add,
    Operator.MINUS: operator.sub,
    Operator.TIMES: operator.mul,
    Operator.MODULO: operator.mod,
}
"""Of whole numbers; the solver's remainder has the sign of the divisor, too."""

_JOIN_FRACTIONS: dict[Operator, Callable[..., Any]] = {
    Operator.PLUS: z3.fpAdd,
    Operator.MINUS: z3.fpSub,
    Operator.TIMES: z3.fpMul,
    Operator.OVER: z3.fpDiv,
}


class NotInBitsError(ValueError):
    """Raised inside this folder: a term that is not written bit by bit."""


class BitEncoder:
    """Writes terms for the solver, each just once."""

    def __init__(self) -> None:
        self.context = z3.Context()
        self.near = z3.RNE(self.context)
        self.sorts = {DOUBLE: z3.Float64(self.context), SINGLE: z3.Float32(self.context)}
        self.values: dict[int, Any] = {}
        self.rules: dict[int, list[Any]] = {}

    def write(self, term: Term) -> None:
        """Write a term whose arguments are written already.

        Raises:
            NotInBitsError: the remainder of two fractions.
        """
        if term.index not in self.values:
            self.rules[term.index] = []
            build = {Sort.TRUTH: self._truth, Sort.WHOLE: self._whole, Sort.FRACTION: self._fraction}[
                term.sort
            ]
            self.values[term.index] = build(term)

    def _truth(self, term: Term) -> Any:
        return truth_of(term, self.values, self.context, self._comparison)

    def _comparison(self, term: Term) -> Any:
        one, other = term.args
        if one.sort is Sort.FRACTION:
            form = SINGLE if one.span.single and other.span.single else DOUBLE
            apply = {Op.LESS: z3.fpLT, Op.AT_MOST: z3.fpLEQ, Op.EQUAL: z3.fpEQ}[term.op]
            return apply(self._in(one, form), self._in(other, form), self.context)
        width = max(_width(one), _width(other))
        left, right = self._wide(one, width), self._wide(other, width)
        if term.op is Op.EQUAL:
            return left == right
        return left < right if term.op is Op.LESS else left <= right

    # whole numbers

    def _wide(self, term: Term, width: int) -> Any:
        """Return a whole number with so many bits, at least as many as it needs."""
        value = self.values[term.index]
        return z3.SignExt(width - value.size(), value) if width > value.size() else value

    def _cut(self, value: Any, term: Term) -> Any:
        """Return a result with as many bits as its term needs."""
        width = _width(term)
        return z3.Extract(width - 1, 0, value) if width < value.size() else value

    def _number(self, value: int, width: int) -> Any:
        return z3.BitVecVal(value, width, self.context)

    def _whole(self, term: Term) -> Any:
        width = _width(term)
        if term.is_constant:
            return self._number(term.value, width)
        if term.op is Op.VARIABLE:
            return self._whole_variable(term, width)
        if term.op is Op.IF:
            return z3.If(self.values[term.args[0].index], *(self._wide(arg, width) for arg in term.args[1:]))
        if term.op is Op.SATURATE:
            return self._cut(self._saturated(self.values[term.args[0].index]), term)
        room = max(width, *(_width(arg) for arg in term.args)) + 1
        parts = [self._wide(arg, room) for arg in term.args]
        return self._cut(self._computed(term, parts), term)

    def _whole_variable(self, term: Term, width: int) -> Any:
        value = z3.BitVec(variable_name(term), width, self.context)
        low, high = (self._number(int(end), width) for end in (term.span.low, term.span.high))
        self.rules[term.index] += [low <= value, value <= high]
        if term.codes:
            self.rules[term.index].append(z3.Or([value == self._number(code, width) for code in term.codes]))
        return value

    def _saturated(self, exact: Any) -> Any:
        low, high = (self._number(end, exact.size()) for end in (INT_LOW, INT_HIGH))
        return z3.If(exact > high, high, z3.If(exact < low, low, exact))

    def _computed(self, term: Term, parts: list[Any]) -> Any:
        if term.op is Op.ARITHMETIC:
            return _JOIN[term.value](*parts)
        if term.op is Op.NEGATIVE:
            return -parts[0]
        if term.op is Op.ABSOLUTE:
            return z3.If(parts[0] < self._number(0, parts[0].size()), -parts[0], parts[0])
        if term.op is Op.LEAST:
            return reduce(lambda a, b: z3.If(b < a, b, a), parts)
        return reduce(lambda a, b: z3.If(b > a, b, a), parts)

    # fractions

    def _in(self, term: Term, form: Format) -> Any:
        """Return a fraction in a format that has it."""
        value, sort = self.values[term.index], self.sorts[form]
        if term.is_constant:
            return z3.FPVal(term.value, sort, ctx=self.context)
        return value if value.sort() == sort else z3.fpFPToFP(self.near, value, sort, self.context)

    def _fraction(self, term: Term) -> Any:
        if term.is_constant:
            return z3.FPVal(term.value, self.sorts[DOUBLE], ctx=self.context)
        if term.op is Op.VARIABLE:
            return self._fraction_variable(term)
        if term.op in (Op.FRACTION, Op.SINGLE):
            return self._converted(term)
        if term.op is Op.ARITHMETIC:
            return self._arithmetic(term)
        form = SINGLE if term.span.single else DOUBLE
        if term.op is Op.IF:
            return z3.If(self.values[term.args[0].index], *(self._in(arg, form) for arg in term.args[1:]))
        return self._chosen(term, [self._in(arg, form) for arg in term.args])

    def _converted(self, term: Term) -> Any:
        if term.op is Op.FRACTION:
            whole = self.values[term.args[0].index]
            return z3.fpSignedToFP(self.near, whole, self.sorts[DOUBLE], self.context)
        return z3.fpFPToFP(self.near, self._in(term.args[0], DOUBLE), self.sorts[SINGLE], self.context)

    def _fraction_variable(self, term: Term) -> Any:
        form = SINGLE if term.span.single else DOUBLE
        value = z3.FP(variable_name(term), self.sorts[form], self.context)
        low, high = (
            z3.FPVal(end, self.sorts[form], ctx=self.context) for end in (term.span.low, term.span.high)
        )
        self.rules[term.index] += [z3.fpLEQ(low, value, self.context), z3.fpLEQ(value, high, self.context)]
        return value

    def _arithmetic(self, term: Term) -> Any:
        if term.value not in _JOIN_FRACTIONS:
            raise NotInBitsError(str(term.value))
        form = term.form or DOUBLE
        return _JOIN_FRACTIONS[term.value](
            self.near, *(self._in(arg, form) for arg in term.args), self.context
        )

    def _chosen(self, term: Term, parts: list[Any]) -> Any:
        if term.op is Op.NEGATIVE:
            return z3.fpNeg(parts[0], self.context)
        if term.op is Op.ABSOLUTE:
            return z3.fpAbs(parts[0], self.context)
        if term.op is Op.LEAST:
            return reduce(lambda a, b: z3.If(z3.fpLT(b, a, self.context), b, a), parts)
        return reduce(lambda a, b: z3.If(z3.fpLT(a, b, self.context), b, a), parts)


def _width(term: Term) -> int:
    """Return the bits that a whole number needs, its sign among them."""
    low, high = int(term.span.low), int(term.span.high)
    return max(low.bit_length() if low >= 0 else (-low - 1).bit_length(), high.bit_length()) + 1
