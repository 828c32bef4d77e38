"""Expressions of C with their types and ranges, and literals with exactly the same bits."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from posewright.charts.types import INT_LOW

INT16_LOW = -(2**15)
INT16_HIGH = 2**15 - 1
MAX_EXACT_SINGLE = 2**24
"""Every integer up to this one is exact as a float of 32 bits."""


class CKind(Enum):
    """The type in which an expression of C is computed."""

    BOOL = "bool"
    INT = "int"
    LONG = "int32_t"
    FLOAT = "float"
    DOUBLE = "double"
    ENUM = "enum"


@dataclass(frozen=True)
class CExpression:
    """An expression of C.

    Attributes:
        text: the expression.
        kind: the type in which C computes it.
        is_atom: whether it can be an operand without brackets.
        low: its smallest value; minus infinity unless it is an integer.
        high: its largest value; infinity unless it is an integer.
        literal_value: its value, if it is a literal number; else None.
        uncast_text: its text without the cast to 16 bits; empty if it has no cast.
    """

    text: str
    kind: CKind
    is_atom: bool = False
    low: float = -math.inf
    high: float = math.inf
    literal_value: float | None = None
    uncast_text: str = ""

    @property
    def as_operand(self) -> str:
        """Its text as an operand, in brackets if it needs them."""
        return self.text if self.is_atom else f"({self.text})"

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer."""
        return self.kind in (CKind.INT, CKind.LONG)


def integer_literal(value: float) -> str:
    """Return an integer as a literal."""
    number = int(value)
    if number == INT_LOW:
        return "INT32_MIN"
    return str(number) if INT16_LOW < number <= INT16_HIGH else f"INT32_C({number})"


def bits_literal(value: float) -> CExpression:
    """Return a float of 64 bits as a literal of its bits."""
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    return CExpression(f"UINT64_C(0x{bits:016x})", CKind.DOUBLE, is_atom=True, literal_value=value)


def decimal_literal(value: float, *, single: bool) -> CExpression:
    """Return a float of 32 or 64 bits as a literal."""
    kind = CKind.FLOAT if single else CKind.DOUBLE
    if math.isnan(value):
        return CExpression("NAN" if single else "(double)NAN", kind)
    if math.isinf(value):
        text = "INFINITY" if single else "(double)INFINITY"
        return CExpression(f"-{text}" if value < 0 else text, kind)
    text = f"{value:.9g}" if single else repr(value)
    if not any(sign in text for sign in ".e"):
        text += ".0"
    return CExpression(
        text + ("f" if single else ""), kind, is_atom=not text.startswith("-"), literal_value=value
    )


def exact_single(number: CExpression) -> bool:
    """Return whether a number is an integer that is always exact as a float of 32 bits."""
    return number.is_integer and number.low >= -MAX_EXACT_SINGLE and number.high <= MAX_EXACT_SINGLE


def number_condition(field: str, inside: Mapping[int, str], lowest: int, highest: int) -> str:
    """Return the condition of C, without brackets, that a field has one of several neighbouring numbers.

    Args:
        field: the expression of C for the field.
        inside: the constants of these numbers, by number.
        lowest: the least number that the field may have.
        highest: the greatest number that the field may have.
    """
    first = min(inside)
    last = max(inside)
    if first == last:
        return f"{field} == {inside[first]}"
    bounds = []
    if lowest < first:
        bounds.append(f"{field} >= {inside[first]}")
    if highest > last:
        bounds.append(f"{field} <= {inside[last]}")
    return " && ".join(bounds)


def join_conditions(conditions: Sequence[str]) -> str:
    """Return the condition of C that one of several holds; empty without any."""
    if len(conditions) > 1:
        conditions = [f"({condition})" for condition in conditions]
    return " || ".join(conditions)
