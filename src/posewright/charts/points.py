"""The points at which a state is looked at: a grid over what its guards and actions read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.charts.datatypes import BoolType, EnumType, FloatType, IntType, Type, Value
from posewright.charts.expression import Expression
from posewright.charts.expression.critical import critical_values

MAX_POINTS = 1_000_000
"""Points in one grid; where a grid would be larger, points are drawn from it."""

MAX_SAMPLED = 20_000
"""Points where they prove nothing anyway."""

MAX_WHOLE = 64
"""Whole numbers up to so many are tried one and all; of a longer range, those that stand for the others."""

FAR = 1e9
"""What stands for the end of a range that was left open."""

SEED = 20130518
"""Of the draw, so that the same chart is always checked at the same points."""


@dataclass(frozen=True)
class Points:
    """Values of several names, point by point.

    Attributes:
        axes: the values tried of every name; the grid's axes, the last one fastest.
        columns: one value of every name per point, each `(count,)`.
        exact: whether the points stand for every combination of values there is.
        grid: whether the points are the whole grid over the axes.
    """

    axes: Mapping[str, NDArray[Any]]
    columns: Mapping[str, NDArray[Any]]
    count: int
    exact: bool
    grid: bool

    def at(self, index: int) -> dict[str, Value]:
        """Return the values at one point."""
        return {name: column[index].item() for name, column in self.columns.items()}


def points_over(
    types: Mapping[str, Type], expressions: Sequence[Expression], *, limit: int = MAX_POINTS
) -> Points:
    """Return points over the names in `types` that stand for every combination of their values.

    Truth values, enumerations and short ranges are tried one and all; longer ranges at the critical values
    of the expressions, beside them and between them.
    """
    few = {name: values for name, kind in types.items() if (values := _whole(kind)) is not None}
    critical, exact = critical_values(expressions, frozenset(types.keys() - few.keys()))
    axes = {
        name: np.array(few[name] if name in few else _region_values(kind, critical[name]))
        for name, kind in types.items()
    }
    sizes = [len(axis) for axis in axes.values()]
    if not exact:
        limit = min(limit, MAX_SAMPLED)
    if math.prod(sizes) <= limit:
        columns = _grid(axes)
        return Points(axes, columns, math.prod(sizes), exact, grid=True)
    draw = np.random.default_rng(SEED)
    columns = {name: draw.choice(axis, size=MAX_SAMPLED) for name, axis in axes.items()}
    return Points(axes, columns, MAX_SAMPLED, exact=False, grid=False)


def _grid(axes: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    meshes = np.meshgrid(*axes.values(), indexing="ij")
    return {name: mesh.ravel() for name, mesh in zip(axes, meshes, strict=True)}


def _whole(kind: Type) -> list[Value] | None:
    """Return every value of a type, or None where they are too many."""
    if isinstance(kind, BoolType):
        return [False, True]
    if isinstance(kind, EnumType):
        return list(kind.values)
    if isinstance(kind, IntType) and kind.high - kind.low < MAX_WHOLE:
        return list(range(kind.low, kind.high + 1))
    return None


def _region_values(kind: Type, critical: Iterable[Fraction]) -> list[Any]:
    """Return values of a number that stand for all: critical ones, their neighbours, ends and middles."""
    if isinstance(kind, IntType):
        near = {math.floor(value) + step for value in critical for step in (-1, 0, 1, 2)}
        return sorted(value for value in {kind.low, 0, kind.high, *near} if kind.holds(value))
    low, high = (kind.low, kind.high) if isinstance(kind, FloatType) and not kind.open else (-FAR, FAR)
    exact = [float(value) for value in critical if abs(value) < FAR]
    near_by = {math.nextafter(value, side) for value in exact for side in (-math.inf, math.inf)}
    inside = sorted(
        {0.0, low, high, *exact, *near_by, *(value + step for value in exact for step in (-1, 1))}
    )
    middles = {a + (b - a) / 2 for a, b in pairwise(inside)}
    return sorted(value for value in {*inside, *middles} if low <= value <= high)
