"""Comparisons in real numbers: rounding keeps order, and beside a constant it is followed exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

from posewright.charts.proof.rounding import DOUBLE, SINGLE
from posewright.charts.proof.smt.factors import factored
from posewright.charts.proof.smt.sheet import Number, Sheet, any_wild, within
from posewright.charts.proof.term import Op, Sort, Term


def comparison(sheet: Sheet, term: Term) -> Any:
    """Return the truth value of a comparison whose sides are on the sheet."""
    truth = _Comparison(sheet, term).truth()
    wild = any_wild(*sheet.operands(term))
    return truth if wild is None else z3.If(wild, z3.Bool(f"w{term.index}", sheet.context), truth)


class _Comparison:
    def __init__(self, sheet: Sheet, term: Term) -> None:
        self.sheet = sheet
        self.term = term

    def truth(self) -> Any:
        (one, other), (left, right) = self.term.args, self.sheet.operands(self.term)
        if one.sort is Sort.FRACTION:
            if other.is_constant:
                return self.with_constant(one, other.value)
            if one.is_constant:
                return z3.Not(self.up_to(other, one.value, strict=self.term.op is Op.AT_MOST))
            self.sheet.rule(self.term, *_order_kept(one, other, left, right))
        if self.term.op is Op.EQUAL:
            found = factored(self.sheet, one, other.value) if other.is_constant else None
            return left.value == right.value if found is None else found
        return left.value < right.value if self.term.op is Op.LESS else left.value <= right.value

    def with_constant(self, one: Term, value: float) -> Any:
        """Return the comparison of a fraction with a constant on its right."""
        if self.term.op is not Op.EQUAL:
            return self.up_to(one, value, strict=self.term.op is Op.LESS)
        return z3.And(z3.Not(self.up_to(one, value, strict=True)), self.up_to(one, value, strict=False))

    def up_to(self, one: Term, value: float, *, strict: bool) -> Any:
        """Return whether a fraction is below a constant, or at most (not `strict`) the constant."""
        number, sheet = self.sheet.numbers[one.index], self.sheet
        form = number.rounded or (SINGLE if one.span.single else DOUBLE)
        last = form.below(value) if strict else form.at_most(value)
        below = number.value <= sheet.constant(last)
        if number.rounded is None:
            return below
        at, closed = form.cut(last)
        side = number.exact <= sheet.real(at) if closed else number.exact < sheet.real(at)
        sheet.rule(self.term, z3.If(side, below, number.value >= sheet.constant(form.above(last))))
        return side


def _order_kept(one: Term, other: Term, left: Number, right: Number) -> Iterator[Any]:
    """Yield that rounding does not turn the order of two numbers."""
    pairs = []
    if left.rounded is not None and within(other, left.rounded):
        pairs.append((left.exact, right.value))
    if right.rounded is not None and within(one, right.rounded):
        pairs.append((left.value, right.exact))
    if left.rounded is not None and left.rounded == right.rounded:
        pairs.append((left.exact, right.exact))
    for a, b in pairs:
        yield z3.Implies(a <= b, left.value <= right.value)
        yield z3.Implies(a >= b, left.value >= right.value)
