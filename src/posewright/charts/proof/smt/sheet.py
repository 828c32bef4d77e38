"""What has been written for the solver in real numbers: terms, and what is known of each."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import z3

from posewright.charts.proof.rounding import DOUBLE, Format
from posewright.charts.proof.term import Sort, Term

INFINITY = Fraction(2) ** 1030
"""Stands for infinity: so far out that any finite number added to it leaves it beyond every limit."""


class Number(NamedTuple):
    """A number for the solver.

    Attributes:
        value: what it is.
        exact: what it was before it was rounded to `rounded`; `value` itself where it was not.
        wild: where it may be anything, even NaN; None: nowhere.
    """

    value: Any
    exact: Any
    rounded: Format | None = None
    wild: Any = None


def plain_number(value: Any, wild: Any = None) -> Number:
    """Return a number that was not rounded."""
    return Number(value, value, None, wild)


class Sheet:
    """Terms as the solver sees them.

    Attributes:
        numbers, truths: by the index of their term.
        rules: what is known of a term, by its index; the terms below it have rules of their own.
    """

    def __init__(self) -> None:
        self.context = z3.Context()
        self.numbers: dict[int, Number] = {}
        self.truths: dict[int, Any] = {}
        self.rules: dict[int, list[Any]] = {}

    def operands(self, term: Term) -> list[Number]:
        """Return the numbers that a term is made of."""
        return [self.numbers[arg.index] for arg in term.args]

    def rule(self, term: Term, *rules: Any) -> None:
        """Note what is known of a term."""
        self.rules[term.index].extend(rules)

    def constant(self, value: float, sort: Sort = Sort.FRACTION) -> Any:
        """Return a number that is known, maybe infinite."""
        if sort is Sort.WHOLE:
            return z3.IntVal(int(value), self.context)
        if abs(value) > DOUBLE.greatest:
            return self.real(INFINITY if value > 0 else -INFINITY)
        return self.real(Fraction(value))

    def real(self, value: Fraction) -> Any:
        """Return a real number that is known."""
        return z3.RealVal(str(value), self.context)

    def variable(self, name: str, sort: Sort) -> Any:
        """Return a new number, or the one of that name."""
        return (z3.Int if sort is Sort.WHOLE else z3.Real)(name, self.context)

    def bound(self, term: Term, value: Any) -> None:
        """Note between which ends a term is, as far as they are finite."""
        low, high = term.span.low, term.span.high
        if abs(low) <= DOUBLE.greatest:
            self.rule(term, self.constant(low, term.sort) <= value)
        if abs(high) <= DOUBLE.greatest:
            self.rule(term, value <= self.constant(high, term.sort))


def any_wild(*numbers: Number) -> Any:
    """Return where at least one of some numbers may be anything, None for nowhere."""
    found = [number.wild for number in numbers if number.wild is not None]
    return z3.Or(found) if found else None


def within(term: Term, form: Format) -> bool:
    """Return whether a fraction is a number of a format."""
    return form == DOUBLE or term.span.single
