"""The names that an expression may use: variables, constants, truth tables as functions; and their ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from posewright.charts.expression.expression import Expression
from posewright.charts.expression.tree import Binary, Call, If, Literal, Name, Operator, Tree, Unary, cases_of
from posewright.charts.types import (
    INT_HIGH,
    INT_LOW,
    EnumType,
    FloatType,
    IntType,
    Type,
    Value,
    to_single,
    type_of,
)


@dataclass(frozen=True)
class FunctionRow:
    """One row.

    Attributes:
        when: over the parameters: where the row fits.
        give: what the function then is; it may read the parameters.
        cells: as written, one a parameter; `X` where it does not matter.
    """

    when: Expression
    give: Expression
    cells: tuple[str, ...] = field(default=(), compare=False)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Function:
    """A truth table that guards and actions may call.

    Every case fits just one row: a case that fits none or two is found by the checks, and given the first
    row that fits, or the last.
    """

    name: str
    takes: Mapping[str, Type]
    gives: Type
    rows: tuple[FunctionRow, ...]
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Scope:
    """Names in reach of an expression.

    Attributes:
        variables: inputs, outputs and locals by name.
        constants: values known before the chart runs.
        values: names of enumeration values, each belonging to one enumeration.
        units: the units of constants that were written with one.
        functions: truth tables that may be called.
        states: names that `in(...)` may ask for.
    """

    variables: Mapping[str, Type] = field(default_factory=dict)
    constants: Mapping[str, Value] = field(default_factory=dict)
    values: Mapping[str, EnumType] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    states: frozenset[str] = frozenset()

    def type_of(self, name: str) -> Type | None:
        """Return the type of a name, or None where there is no such name."""
        if name in self.constants:
            return type_of(self.constants[name])
        return self.variables.get(name) or self.values.get(name)

    @property
    def names(self) -> list[str]:
        """Every name in reach."""
        return [*self.variables, *self.constants, *self.values]

    @property
    def fixed(self) -> dict[str, Value]:
        """What is known before the chart runs: constants, and enumeration values standing for themselves."""
        return {**{name: name for name in self.values}, **self.constants}


Range = tuple[float, float]
ANYTHING: Range = (-math.inf, math.inf)


def range_of(tree: Tree, scope: Scope) -> Range:
    """Return the least and the greatest value that a number may have; both ends may be infinite.

    The ends are sure, yet not always reached: a name that is read twice counts as two.
    """
    if isinstance(tree, Literal):
        return _one(tree.value)
    if isinstance(tree, Name):
        return _named(tree.name, scope)
    if isinstance(tree, Unary):
        low, high = range_of(tree.operand, scope)
        return _saturated(-high, -low)
    if isinstance(tree, Binary):
        return _joined(tree.operator, range_of(tree.left, scope), range_of(tree.right, scope))
    if isinstance(tree, Call):
        return _called(tree.function, [range_of(argument, scope) for argument in tree.arguments])
    return _chosen(tree, scope) if isinstance(tree, If) else ANYTHING


def _one(value: object) -> Range:
    return (value, value) if isinstance(value, int | float) and not isinstance(value, bool) else ANYTHING


def _named(name: str, scope: Scope) -> Range:
    if name in scope.constants:
        return _one(scope.constants[name])
    kind = scope.variables.get(name)
    if isinstance(kind, FloatType):
        return float(kind.low), float(kind.high)
    return (kind.low, kind.high) if isinstance(kind, IntType) else ANYTHING


def _chosen(tree: If, scope: Scope) -> Range:
    cases, rest = cases_of(tree)
    found = [range_of(value, scope) for value in (*(then for _, then in cases), rest)]
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
