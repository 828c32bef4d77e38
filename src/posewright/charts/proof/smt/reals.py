"""Terms in whole and real numbers, for the solver: whole numbers exactly, fractions a little loosely.

A fraction that was rounded becomes a new real number of which true things are said: how near it is to the
exact one; that rounding keeps order; and, beside a constant, exactly where it changes sides. So what is
impossible here is impossible; a case that is found here has to be tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import z3

from posewright.charts.proof.smt.arithmetic import joined
from posewright.charts.proof.smt.comparison import comparison
from posewright.charts.proof.smt.rounded import rounded, wildness
from posewright.charts.proof.smt.sheet import Number, Sheet, any_wild, plain_number, within
from posewright.charts.proof.smt.truth import truth_of, variable_name
from posewright.charts.proof.term import Op, Sort, Term
from posewright.charts.types import INT_HIGH, INT_LOW


class RealEncoder:
    """Writes terms for the solver, each just once."""

    def __init__(self) -> None:
        self.sheet = Sheet()
        self.builders: dict[Op, Callable[[Term], Number]] = {
            Op.CONSTANT: self.constant,
            Op.VARIABLE: self.variable,
            Op.IF: self.choice,
            Op.NEGATIVE: self.negative,
            Op.ABSOLUTE: self.absolute,
            Op.LEAST: self.least,
            Op.GREATEST: self.greatest,
            Op.SATURATE: self.saturated,
            Op.FRACTION: self.fraction,
            Op.SINGLE: self.single,
            Op.ARITHMETIC: self.arithmetic,
        }

    def write(self, term: Term) -> None:
        """Write a term whose arguments are written already."""
        if term.index in self.sheet.rules:
            return
        self.sheet.rules[term.index] = []
        if term.sort is Sort.TRUTH:
            self.sheet.truths[term.index] = truth_of(
                term, self.sheet.truths, self.sheet.context, self.compare
            )
        else:
            self.sheet.numbers[term.index] = self.builders[term.op](term)

    def compare(self, term: Term) -> Any:
        """Return the truth value of a comparison."""
        return comparison(self.sheet, term)

    def constant(self, term: Term) -> Number:
        """Return a number that is known."""
        return plain_number(self.sheet.constant(term.value, term.sort))

    def variable(self, term: Term) -> Number:
        """Return the number of a name."""
        value = self.sheet.variable(variable_name(term), term.sort)
        self.sheet.bound(term, value)
        if term.codes and len(term.codes) <= term.span.high - term.span.low:
            self.sheet.rule(term, z3.Or([value == code for code in term.codes]))
        return plain_number(value)

    def combined(self, parts: Sequence[Term], build: Callable[[list[Any]], Any]) -> Number:
        """Return a number that is one of its parts, or one with another sign: nothing is rounded anew."""
        numbers = [self.sheet.numbers[part.index] for part in parts]
        value, wild = build([number.value for number in numbers]), any_wild(*numbers)
        forms = {number.rounded for number in numbers if number.rounded is not None}
        form = next(iter(forms)) if len(forms) == 1 else None
        if form is not None and all(
            n.rounded or within(p, form) for n, p in zip(numbers, parts, strict=True)
        ):
            return Number(value, build([number.exact for number in numbers]), form, wild)
        return plain_number(value, wild)

    def choice(self, term: Term) -> Number:
        """Return one of two numbers."""
        condition = self.sheet.truths[term.args[0].index]
        return self.combined(term.args[1:], lambda v: z3.If(condition, v[0], v[1]))

    def negative(self, term: Term) -> Number:
        """Return a number with its sign turned."""
        return self.combined(term.args, lambda v: -v[0])

    def absolute(self, term: Term) -> Number:
        """Return the distance from zero."""
        return self.combined(term.args, lambda v: z3.If(v[0] >= 0, v[0], -v[0]))

    def least(self, term: Term) -> Number:
        """Return the least of some numbers."""
        return self.combined(term.args, lambda v: reduce(lambda a, b: z3.If(b < a, b, a), v))

    def greatest(self, term: Term) -> Number:
        """Return the greatest of some numbers."""
        return self.combined(term.args, lambda v: reduce(lambda a, b: z3.If(b > a, b, a), v))

    def saturated(self, term: Term) -> Number:
        """Return a whole number kept within 32 bits."""
        exact = self.sheet.operands(term)[0].value
        return plain_number(z3.If(exact > INT_HIGH, INT_HIGH, z3.If(exact < INT_LOW, INT_LOW, exact)))

    def fraction(self, term: Term) -> Number:
        """Return a whole number as a fraction."""
        return plain_number(z3.ToReal(self.sheet.operands(term)[0].value))

    def single(self, term: Term) -> Number:
        """Return a number rounded to 32 bits."""
        inner = self.sheet.operands(term)[0]
        return rounded(self.sheet, term, inner.value, inner.wild)

    def arithmetic(self, term: Term) -> Number:
        """Return what two numbers are joined to."""
        exact, wild = joined(self.sheet, term), wildness(self.sheet, term)
        if term.form is None:
            return plain_number(exact, wild)
        return rounded(self.sheet, term, exact, wild)
