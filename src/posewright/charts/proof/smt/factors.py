"""Products of two whole numbers that are to come to a constant: gone through divisor by divisor."""

from __future__ import annotations

from math import isqrt
from typing import Any

import z3

from posewright.charts.expression import Operator
from posewright.charts.proof.smt.sheet import Sheet
from posewright.charts.proof.term import Op, Sort, Term
from posewright.charts.types import INT_HIGH, INT_LOW


def factored(sheet: Sheet, one: Term, value: float) -> Any | None:
    """Return whether a product is a constant as what its factors are; None where it is no such product.

    The solver finds the factors of a number only by trying, and may try for ever.
    """
    product = one.args[0] if one.op is Op.SATURATE and INT_LOW < value < INT_HIGH else one
    if not _is_product(product) or abs(value) > INT_HIGH:
        return None
    left, right = (number.value for number in sheet.operands(product))
    if value == 0:
        return z3.Or(left == 0, right == 0)
    pairs = [(a, b) for a, b in _factors(int(value)) if _has(product.args[0], a) and _has(product.args[1], b)]
    return z3.Or([z3.And(left == a, right == b) for a, b in pairs] or [z3.BoolVal(False, sheet.context)])


def _is_product(term: Term) -> bool:
    if term.op is not Op.ARITHMETIC or term.sort is not Sort.WHOLE or term.value is not Operator.TIMES:
        return False
    return not any(arg.is_constant for arg in term.args)


def _has(term: Term, value: int) -> bool:
    return term.span.low <= value <= term.span.high


def _factors(value: int) -> list[tuple[int, int]]:
    """Return every pair of whole numbers with this product, which is not zero."""
    small = [number for number in range(1, isqrt(abs(value)) + 1) if value % number == 0]
    pairs = [(number, value // number) for number in small]
    pairs += [(b, a) for a, b in pairs if a != b]
    return pairs + [(-a, -b) for a, b in pairs]
