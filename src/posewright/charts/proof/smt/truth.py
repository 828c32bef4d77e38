"""Truth values for the solver, the same in real numbers and bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import z3

from posewright.charts.proof.term import Op, Term


def truth_of(term: Term, written: Mapping[int, Any], context: Any, compare: Callable[[Term], Any]) -> Any:
    """Return the truth value of a term.

    Args:
        term: of truth.
        written: what its arguments are for the solver, by index.
        context: the solver's.
        compare: returns the truth value of a comparison.
    """
    if term.is_constant:
        return z3.BoolVal(term.value, context)
    if term.op is Op.VARIABLE:
        return z3.Bool(variable_name(term), context)
    if term.op in (Op.LESS, Op.AT_MOST, Op.EQUAL):
        return compare(term)
    parts = [written[arg.index] for arg in term.args]
    if term.op is Op.NOT:
        return z3.Not(parts[0])
    if term.op is Op.IF:
        return z3.If(*parts)
    return z3.And(parts) if term.op is Op.AND else z3.Or(parts)


def variable_name(term: Term) -> str:
    """Return what the solver calls a variable; no helping variable has such a name."""
    return f"v:{term.value}"
