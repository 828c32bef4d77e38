"""The time that `after`, `before`, `every` and `held` ask for."""

from __future__ import annotations

import math

from posewright.charts.expression.closures import compile_tree
from posewright.charts.expression.numbers import Numbers
from posewright.charts.expression.terms import Term
from posewright.charts.expression.tree import Timing, is_timed, names_in
from posewright.charts.types import conversion

LONGEST_S = 86_400.0
"""The longest time that may be asked for [s]."""


def seconds_of(time: Term, timing: Timing, numbers: Numbers) -> float:
    """Return a time in seconds; a number without a unit is one of seconds already.

    Raises:
        ExpressionError: it is not known before the chart runs, is no time, is not above zero, or too long.
    """
    source, constants, at = numbers.source, numbers.scope.constants, time.tree.at
    if not (names_in(time.tree) <= constants.keys()) or is_timed(time.tree):
        hint = "write a number of seconds, a number with a unit such as 500 ms, or a constant"
        source.fail(at, f"`{timing}` needs a time that never changes", hint=hint)
    if time.unit and conversion(time.unit, "s") is None:
        source.fail(at, f"`{timing}` needs a time, not {time.unit}", hint="write it like 0.5 s")
    seconds = compile_tree(numbers.in_unit(time, "s").tree, constants, source)({})
    if not (math.isfinite(seconds) and 0 < seconds <= LONGEST_S):
        hint = f"a time is above 0, and {LONGEST_S:g} s at most"
        source.fail(at, f"`{timing}` cannot wait {seconds:g} s", hint=hint)
    return float(seconds)
