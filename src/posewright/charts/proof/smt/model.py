"""What the solver found, as values of a chart's types."""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import Any

import z3

from posewright.charts.proof.rounding import nearest_double
from posewright.charts.proof.term import Term
from posewright.charts.types import BoolType, EnumType, FloatType, Type, Value

PLACES = 20
"""Decimal places of what is no fraction, such as a square root; then the nearest number is tried."""


def value_found(model: Any, written: Any, term: Term, kind: Type) -> Value:
    """Return the value that a variable has in a model; a fraction as near as can be had.

    Args:
        model: as the solver gives it.
        written: what the variable is for the solver.
        term: the variable.
        kind: its type.
    """
    found = model.eval(written, model_completion=True)
    if isinstance(kind, BoolType):
        return bool(z3.is_true(found))
    if isinstance(kind, FloatType):
        return _float_of(found) if z3.is_fp(found) else nearest_double(_fraction_of(found))
    whole = int(found.as_signed_long() if z3.is_bv(found) else found.as_long())
    return kind.values[term.codes.index(whole)] if isinstance(kind, EnumType) else whole


def _fraction_of(found: Any) -> Fraction:
    rational = found.approx(PLACES) if z3.is_algebraic_value(found) else found
    return Fraction(rational.numerator_as_long(), rational.denominator_as_long())


def _float_of(found: Any) -> float:
    bits = z3.simplify(z3.fpToIEEEBV(found, found.ctx))
    number, word = (">d", ">Q") if bits.size() == 64 else (">f", ">I")
    return float(struct.unpack(number, struct.pack(word, bits.as_long()))[0])
