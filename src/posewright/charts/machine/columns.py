"""Whole runs as columns: an array for each input and event going in, one for each output coming out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.charts.machine.machine import INSIDE, Machine, Snapshot
from posewright.charts.model import Chart
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, accept
from posewright.errors import InputError, UnknownNameError

Column = NDArray[Any]
"""An array, (n,), of whatever NumPy keeps values of a chart's type in."""

_DTYPES = {"bool": "?", "float32": "<f4", "float64": "<f8"}


def accept_columns(chart: Chart, columns: Mapping[str, Sequence[object] | Column]) -> dict[str, Column]:
    """Return columns of all inputs and events, each value checked and within its range as `accept` has it.

    Raises:
        InputError: a column is missing, unknown, of another length, or holds what does not fit.
    """
    kinds: dict[str, Type] = {**chart.inputs, **dict.fromkeys(chart.events, BoolType())}
    for name in columns:
        if name not in kinds:
            raise UnknownNameError.among("input", name, kinds)
    for name in chart.inputs:
        if name not in columns:
            raise InputError(f"the input {name!r} is missing", hint=f"inputs: {', '.join(chart.inputs)}")
    for name, column in columns.items():
        shape = np.asarray(column).shape
        if len(shape) != 1:
            raise InputError(f"the column {name!r} is not an array (n,): its shape is {shape}")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"columns of different lengths: {lengths}")
    n = next(iter(lengths.values()), 0)
    none = np.zeros(n, np.bool_)
    return {name: _accepted(name, kind, columns.get(name, none)) for name, kind in kinds.items()}


def columns_of(machine: Machine, states: Sequence[Snapshot]) -> dict[str, Column]:
    """Return what Snapshots hold: outputs and locals, and for each state whether it is active, as `in.S`."""
    kinds = machine.chart.variables
    values = zip(*(state.values for state in states), strict=True) if states else [()] * len(kinds)
    found = {
        name: np.array(column, dtype_of(kind))
        for (name, kind), column in zip(kinds.items(), values, strict=False)
    }
    for node in machine.nodes[1:]:
        found[INSIDE + node.name] = np.array([node.index in state.numbers for state in states], np.bool_)
    return found


def dtype_of(kind: Type) -> str:
    """Return the dtype of a column of a type: names are text, whole numbers as narrow as on a board."""
    if isinstance(kind, EnumType):
        return f"<U{max(map(len, kind.values))}"
    return _DTYPES.get(kind.storage, kind.storage)


def _accepted(name: str, kind: Type, column: Sequence[object] | Column) -> Column:
    """Return a column, all at once where every value fits, else one by one, so that the error names it."""
    if isinstance(column, np.ndarray) and column.ndim == 1:
        if isinstance(kind, BoolType) and column.dtype == np.bool_:
            return column
        if isinstance(kind, IntType) and column.dtype.kind in "iu":
            top = np.minimum(column, kind.high) if column.dtype == np.uint64 else column
            return np.clip(top.astype(np.int64), kind.low, kind.high).astype(kind.storage)
        if isinstance(kind, FloatType) and column.dtype.kind in "iuf" and column.dtype.itemsize <= 8:
            floats = column.astype(np.float64)
            if np.isfinite(floats).all():
                return np.clip(floats, kind.low, kind.high).astype(dtype_of(kind))
    return np.array([accept(name, kind, value) for value in column], dtype_of(kind))
