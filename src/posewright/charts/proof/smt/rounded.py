"""Rounding in real numbers: a rounded number is a new one, of which only true things are said."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import z3

from posewright.charts.expression import Operator
from posewright.charts.proof.rounding import DOUBLE, SINGLE, Format
from posewright.charts.proof.smt.sheet import INFINITY, Number, Sheet, any_wild
from posewright.charts.proof.term import Op, Sort, Term

SLACK = Fraction(2) ** SINGLE.least
"""How far rounding may move a number that is almost zero, said of products of two variables: with 64 bits it
is far less, but constants of a thousand bits make the solver ten times as slow with products."""

SUMS = frozenset({Operator.PLUS, Operator.MINUS})


def rounded(sheet: Sheet, term: Term, exact: Any, wild: Any) -> Number:
    """Return a number rounded as its term says.

    Args:
        sheet: has the numbers that the term is made of.
        term: rounds its result.
        exact: before it is rounded.
        wild: where it may be anything, None for nowhere.
    """
    form = term.form or DOUBLE
    value = sheet.variable(f"r{term.index}", Sort.FRACTION)
    near = z3.And(list(_near(sheet, term, exact, value)))
    if term.span.finite:
        sheet.rule(term, near)
        sheet.bound(term, value)
    else:
        sheet.rule(term, *_finite_or_beyond(sheet, form, exact, value, near))
    sheet.rule(term, *_beside_operands(sheet, term, value))
    return Number(value, exact, form, wild)


def _adds(term: Term) -> bool:
    return term.op is Op.ARITHMETIC and term.value in SUMS


def _near(sheet: Sheet, term: Term, exact: Any, value: Any) -> Iterator[Any]:
    """Yield how near a rounded number is to the exact one; sums of tiny numbers are exact."""
    form = term.form or DOUBLE
    slack = sheet.real(_slack(term, form))
    less, more = sheet.real(1 - form.unit), sheet.real(1 + form.unit)
    upward = z3.And(exact * less - slack <= value, value <= exact * more + slack)
    downward = z3.And(exact * more - slack <= value, value <= exact * less + slack)
    if term.span.high > 0:
        yield upward if term.span.low >= 0 else z3.Implies(exact >= 0, upward)
    if term.span.low < 0:
        yield downward if term.span.high <= 0 else z3.Implies(exact <= 0, downward)


def _slack(term: Term, form: Format) -> Fraction:
    if _adds(term):
        return Fraction(0)
    linear = any(arg.is_constant for arg in term.args) or len(term.args) == 1
    return Fraction(2) ** form.least if linear else SLACK


def _finite_or_beyond(sheet: Sheet, form: Format, exact: Any, value: Any, near: Any) -> Iterator[Any]:
    """Yield that a number beyond the limit becomes infinite, and that one within it is finite."""
    limit, far, greatest = sheet.real(form.limit), sheet.real(INFINITY), sheet.constant(form.greatest)
    above, below = exact >= limit, exact <= -limit
    yield z3.Implies(above, value == far)
    yield z3.Implies(below, value == -far)
    yield z3.Or(above, below, z3.And(near, value <= greatest, -greatest <= value))


def _beside_operands(sheet: Sheet, term: Term, value: Any) -> Iterator[Any]:
    """Yield that adding what is not negative does not lead below the other summand, and so on."""
    if not _adds(term):
        return
    one, other = term.args
    minus = term.value is Operator.MINUS
    left, right = (number.value for number in sheet.operands(term))
    yield from _leaning(left, value, rises=not minus, by=other)
    yield from _leaning(-right if minus else right, value, rises=True, by=one)


def _leaning(start: Any, value: Any, *, rises: bool, by: Term) -> Iterator[Any]:
    if by.span.low >= 0:
        yield value >= start if rises else value <= start
    if by.span.high <= 0:
        yield value <= start if rises else value >= start


def wildness(sheet: Sheet, term: Term) -> Any:
    """Return where arithmetic may come to NaN, or starts from infinity in a way that is not followed."""
    numbers, far = sheet.operands(term), sheet.real(INFINITY)
    found = [wild for wild in (any_wild(*numbers),) if wild is not None]
    ends = [number.value for number, arg in zip(numbers, term.args, strict=True) if not arg.span.finite]
    if not _adds(term):
        found += [z3.Or(value == far, value == -far) for value in ends]
    elif len(ends) == 2:
        other = -ends[1] if term.value is Operator.PLUS else ends[1]
        found.append(z3.And(ends[0] == other, z3.Or(ends[0] == far, ends[0] == -far)))
    return z3.Or(found) if found else None
