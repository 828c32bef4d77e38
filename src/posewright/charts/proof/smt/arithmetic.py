"""Sums, products, quotients and remainders in whole and real numbers, before anything is rounded."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import z3

from posewright.charts.expression import Operator
from posewright.charts.proof.smt.sheet import Sheet
from posewright.charts.proof.term import Op, Sort, Term

SPLIT = 16
"""A factor or divisor with at most so many values is gone through value by value: products stay linear."""


def joined(sheet: Sheet, term: Term) -> Any:
    """Return what two numbers that are on the sheet are joined to; with a divisor of zero, anything."""
    left, right = (number.value for number in sheet.operands(term))
    if term.value is Operator.PLUS:
        return left + right
    if term.value is Operator.MINUS:
        return left - right
    if term.value is Operator.TIMES:
        return _product(term, left, right)
    return _divided(sheet, term, left, right)


def _product(term: Term, left: Any, right: Any) -> Any:
    one, other = term.args
    if not (one.is_constant or other.is_constant):
        if (values := _few(other)) is not None:
            return _split(right, [(value, left * value) for value in values])
        if (values := _few(one)) is not None:
            return _split(left, [(value, right * value) for value in values])
    return left * right


def _divided(sheet: Sheet, term: Term, left: Any, right: Any) -> Any:
    values = [term.args[1].value] if term.args[1].is_constant else _few(term.args[1])
    if values is not None and any(values):
        return _split(
            right, [(value, _by_constant(sheet, term, left, value)) for value in values if value != 0]
        )
    if term.value is Operator.OVER:
        return _quotient(sheet, term, left, right)
    return _remainder(sheet, term, left, right)


def _by_constant(sheet: Sheet, term: Term, left: Any, value: float) -> Any:
    if term.sort is Sort.WHOLE:
        return left % int(value) if value > 0 else -((-left) % -int(value))
    quotient = left * sheet.real(1 / Fraction(value))
    if term.value is Operator.OVER:
        return quotient
    return left - sheet.constant(value) * z3.ToReal(z3.ToInt(quotient))


def _quotient(sheet: Sheet, term: Term, left: Any, right: Any) -> Any:
    found = sheet.variable(f"q{term.index}", Sort.FRACTION)
    sheet.rule(term, z3.Or(right == 0, found * right == left))
    return found


def _remainder(sheet: Sheet, term: Term, left: Any, right: Any) -> Any:
    """Return the remainder, which is between zero and the divisor."""
    found = sheet.variable(f"q{term.index}", term.sort)
    times = sheet.variable(f"k{term.index}", Sort.WHOLE)
    counted = times if term.sort is Sort.WHOLE else z3.ToReal(times)
    above = z3.And(found >= 0, found < right)
    below = z3.And(found <= 0, found > right)
    sheet.rule(term, z3.Or(right == 0, z3.And(found == left - right * counted, z3.Or(above, below))))
    return found


def _few(term: Term) -> list[int] | None:
    """Return the values of a term that is a whole number with few of them."""
    inner = term.args[0] if term.op is Op.FRACTION else term
    if inner.sort is not Sort.WHOLE or inner.span.high - inner.span.low >= SPLIT:
        return None
    return list(range(int(inner.span.low), int(inner.span.high) + 1))


def _split(chosen: Any, cases: list[tuple[float, Any]]) -> Any:
    """Return the result that belongs to the value of `chosen`; the last one for any other value."""
    result = cases[-1][1]
    for value, found in reversed(cases[:-1]):
        result = z3.If(chosen == value, found, result)
    return result
