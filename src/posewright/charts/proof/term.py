"""Terms: what an expression says once names, constants and types are known; equal ones are one object.

Three sorts are left: truth values, whole numbers (values of enumerations are counted), and fractions. Whole
numbers have no bound here; where 32 bits may not do, `SATURATE` says so. Fractions round at every step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from posewright.charts.proof.rounding import Format
from posewright.charts.proof.span import TRUTH, Span


class Op(Enum):
    """What a term does with its arguments."""

    CONSTANT = "constant"
    VARIABLE = "variable"
    NOT = "not"
    AND = "and"
    OR = "or"
    IF = "if"
    LESS = "<"
    AT_MOST = "<="
    EQUAL = "=="
    ARITHMETIC = "arithmetic"
    NEGATIVE = "-"
    ABSOLUTE = "abs"
    LEAST = "min"
    GREATEST = "max"
    SATURATE = "saturate"
    FRACTION = "fraction"
    SINGLE = "single"


class Sort(Enum):
    """What a term is."""

    TRUTH = "truth"
    WHOLE = "whole"
    FRACTION = "fraction"


@dataclass(frozen=True, eq=False)
class Term:
    """One step of a computation.

    Attributes:
        index: counts terms as they are made, so arguments have smaller ones.
        value: of a constant; the name of a variable; the operator of arithmetic.
        span: between which ends it lies, of numbers.
        form: what a fraction is rounded to by this step; None where the step is exact.
        codes: of the name of an enumeration, what its values are counted as.
    """

    index: int
    op: Op
    sort: Sort
    args: tuple[Term, ...] = ()
    value: Any = None
    span: Span = TRUTH
    form: Format | None = None
    codes: tuple[int, ...] = field(default=(), repr=False)

    @property
    def is_constant(self) -> bool:
        """Whether it is known."""
        return self.op is Op.CONSTANT

    @property
    def is_true(self) -> bool:
        """Whether it is known to be true."""
        return self.value is True

    @property
    def is_false(self) -> bool:
        """Whether it is known to be false."""
        return self.value is False


def reachable(roots: Iterable[Term]) -> list[Term]:
    """Return the roots and every term they are made of, arguments first."""
    found: dict[int, Term] = {}
    waiting = list(roots)
    while waiting:
        term = waiting.pop()
        if term.index not in found:
            found[term.index] = term
            waiting.extend(term.args)
    return [found[index] for index in sorted(found)]
