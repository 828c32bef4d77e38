"""Between which ends the value of a typed expression lies, as far as the ranges of its names tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from posewright.charts.expression.tree import Binary, Call, If, Literal, Name, Operator, Tree, Unary, cases_of
from posewright.charts.types import INT_HIGH, INT_LOW, FloatType, IntType, Value, to_single

Range = tuple[float, float]
ANYTHING: Range = (-math.inf, math.inf)


def range_of(tree: Tree, fixed: Mapping[str, Value]) -> Range:
    """Return the least and the greatest value that a number may have; both ends may be infinite.

    The ends are sure, yet not always reached: a name that is read twice counts as two.

    Args:
        tree: a typed tree.
        fixed: names whose value is known.
    """
    if isinstance(tree, Literal):
        return _one(tree.value)
    if isinstance(tree, Name):
        return _named(tree, fixed)
    if isinstance(tree, Unary):
        low, high = range_of(tree.operand, fixed)
        return _saturated(-high, -low)
    if isinstance(tree, Binary):
        return _joined(tree.operator, range_of(tree.left, fixed), range_of(tree.right, fixed))
    if isinstance(tree, Call):
        return _called(tree.function, [range_of(argument, fixed) for argument in tree.arguments])
    return _chosen(tree, fixed) if isinstance(tree, If) else ANYTHING


def _one(value: object) -> Range:
    return (value, value) if isinstance(value, int | float) and not isinstance(value, bool) else ANYTHING


def _named(tree: Name, fixed: Mapping[str, Value]) -> Range:
    if tree.name in fixed:
        return _one(fixed[tree.name])
    if isinstance(tree.type, FloatType):
        return float(tree.type.low), float(tree.type.high)
    return (tree.type.low, tree.type.high) if isinstance(tree.type, IntType) else ANYTHING


def _chosen(tree: If, fixed: Mapping[str, Value]) -> Range:
    cases, rest = cases_of(tree)
    found = [range_of(value, fixed) for value in (*(then for _, then in cases), rest)]
    return min(low for low, _ in found), max(high for _, high in found)


_CORNERS: dict[Operator, Callable[[float, float], float]] = {
    Operator.PLUS: lambda a, b: a + b,
    Operator.MINUS: lambda a, b: a - b,
    Operator.TIMES: lambda a, b: a * b,
    Operator.OVER: lambda a, b: a / b,
}


def _joined(operator: Operator, left: Range, right: Range) -> Range:
    if operator is Operator.MODULO:
        return min(right[0], 0), max(right[1], 0)
    if operator not in _CORNERS or (operator is Operator.OVER and right[0] <= 0 <= right[1]):
        return ANYTHING
    corners = [_CORNERS[operator](a, b) for a in left for b in right]
    return ANYTHING if any(map(math.isnan, corners)) else _saturated(min(corners), max(corners))


def _called(function: str, parts: list[Range]) -> Range:
    lows, highs = [low for low, _ in parts], [high for _, high in parts]
    if function == "abs":
        ends = abs(lows[0]), abs(highs[0])
        return _saturated(0 if lows[0] <= 0 <= highs[0] else min(ends), max(ends))
    if function == "single":
        return to_single(lows[0]), to_single(highs[0])
    choose = min if function == "min" else max
    low, high = choose(lows), choose(highs)
    whole = all(isinstance(end, int) for end in (*lows, *highs))
    return (low, high) if whole else (float(low), float(high))


def _saturated(low: float, high: float) -> Range:
    """Return whole ends within 32 bits, and others as they are."""
    if isinstance(low, int) and isinstance(high, int):
        return min(max(low, INT_LOW), INT_HIGH), min(max(high, INT_LOW), INT_HIGH)
    return low, high
