"""An expression over many environments at once, for the checks: same answers as the closures, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posewright.charts.datatypes import INT_HIGH, INT_LOW
from posewright.charts.expression.closures import PLAIN
from posewright.charts.expression.expression import Expression
from posewright.charts.expression.tree import (
    ARITHMETIC,
    COMPARISONS,
    Binary,
    Call,
    If,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    cases_of,
)
from posewright.errors import InputError

Column = NDArray[Any]
DIVISIONS = frozenset({Operator.OVER, Operator.MODULO})


class Columns(NamedTuple):
    """Values, and where computing them divides by zero; both broadcast to the environments."""

    values: Any
    failed: Any


def evaluate_columns(expression: Expression, env: Mapping[str, Any], count: int) -> Columns:
    """Return the values of an expression in `count` environments.

    Args:
        expression: a typed expression.
        env: a column `(count,)` or a single value for every name it reads.
        count: how many environments.

    Returns:
        values `(count,)`, and failed `(count,)`: where it divides by zero, and the value means nothing.
    """
    with np.errstate(all="ignore"):
        found = _columns(expression.tree, {**env, **expression.fixed})
    return Columns(np.broadcast_to(found.values, (count,)), np.broadcast_to(found.failed, (count,)))


def _columns(tree: Tree, env: Mapping[str, Any]) -> Columns:
    if isinstance(tree, Literal):
        return Columns(tree.value, False)
    if isinstance(tree, Name):
        return Columns(env[tree.name], False)
    if isinstance(tree, Unary):
        inner = _columns(tree.operand, env)
        if tree.operator is Operator.NOT:
            return Columns(np.logical_not(inner.values), inner.failed)
        return Columns(_saturated(np.negative(inner.values)), inner.failed)
    if isinstance(tree, Binary):
        return _binary(tree, env)
    return _choice(tree, env) if isinstance(tree, If) else _call(tree, env)


def _choice(tree: If, env: Mapping[str, Any]) -> Columns:
    cases, rest = cases_of(tree)
    values, failed = _columns(rest, env)
    for condition, then in reversed(cases):
        holds, one = _columns(condition, env), _columns(then, env)
        values = np.where(holds.values, one.values, values)
        failed = np.where(holds.values, one.failed, failed) | holds.failed
    return Columns(values, failed)


def _binary(tree: Binary, env: Mapping[str, Any]) -> Columns:
    left, right = _columns(tree.left, env), _columns(tree.right, env)
    if tree.operator in COMPARISONS or tree.operator in ARITHMETIC - DIVISIONS:
        return Columns(_apply(tree.operator, left.values, right.values), left.failed | right.failed)
    if tree.operator in DIVISIONS:
        zero = np.equal(right.values, 0)
        safe = np.where(zero, 1, right.values)
        return Columns(_apply(tree.operator, left.values, safe), left.failed | right.failed | zero)
    decided = np.logical_not(left.values) if tree.operator is Operator.AND else left.values
    both = np.logical_and if tree.operator is Operator.AND else np.logical_or
    failed = left.failed | (np.logical_not(decided) & right.failed)
    return Columns(both(left.values, right.values), failed)


_ARRAYS: dict[Operator, Any] = {
    Operator.PLUS: np.add,
    Operator.MINUS: np.subtract,
    Operator.TIMES: np.multiply,
    Operator.OVER: np.true_divide,
    Operator.MODULO: np.mod,
}


def _apply(operator: Operator, left: Any, right: Any) -> Any:
    if operator in COMPARISONS:
        return PLAIN[operator](np.asarray(left), np.asarray(right))
    return _saturated(_ARRAYS[operator](left, right))


def _saturated(values: Any) -> Any:
    if np.asarray(values).dtype.kind == "i":
        return np.clip(values, INT_LOW, INT_HIGH)
    return values


def _call(tree: Tree, env: Mapping[str, Any]) -> Columns:
    if not isinstance(tree, Call):
        raise InputError(
            "time and states have no columns", hint="take expressions from the machine of the chart"
        )
    parts = [_columns(argument, env) for argument in tree.arguments]
    values, failed = parts[0].values, parts[0].failed
    if tree.function == "abs":
        return Columns(_saturated(np.abs(values)), failed)
    if tree.function == "single":
        return Columns(np.asarray(values).astype(np.float32).astype(np.float64), failed)
    better = np.less if tree.function == "min" else np.greater
    for part in parts[1:]:  # as Python's own min and max: the first of equals
        values = np.where(better(part.values, values), part.values, values)
        failed = failed | part.failed
    return Columns(values, failed)
