"""Whole runs as columns: one array per input and event, and one per output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.charts.machine.machine import IN_STATE_PREFIX, Machine, Snapshot
from posewright.charts.model import Chart
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, convert_value
from posewright.errors import InputError, UnknownNameError

Column = NDArray[Any]
"""An array, (n,), of the values of one input or output; its dtype depends on the type in the chart."""

_DTYPES = {"bool": "?", "float32": "<f4", "float64": "<f8"}

_INTEGER_KINDS = "iu"
_NUMBER_KINDS = "iuf"
"""Kinds of NumPy's dtypes: signed and unsigned integers, and floats."""

_MAX_FLOAT_BYTES = 8
"""Bytes of a number that a float of 64 bits can represent."""


def convert_columns(chart: Chart, columns: Mapping[str, Sequence[object] | Column]) -> dict[str, Column]:
    """Return columns of all inputs and events, each value checked and clamped as by `convert_value`.

    Args:
        chart: the chart.
        columns: a column, (n,), for every input; events may be left out.

    Raises:
        InputError: a column is missing, unknown, of another length, or has a wrong value.
    """
    types: dict[str, Type] = {**chart.inputs, **dict.fromkeys(chart.events, BoolType())}
    for name in columns:
        if name not in types:
            raise UnknownNameError.among("input", name, types)
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
    n_rows = next(iter(lengths.values()), 0)
    no_events = np.zeros(n_rows, np.bool_)
    return {
        name: _convert_column(name, value_type, columns.get(name, no_events))
        for name, value_type in types.items()
    }


def snapshots_to_columns(machine: Machine, snapshots: Sequence[Snapshot]) -> dict[str, Column]:
    """Return the values of outputs and locals, and as `in.S` whether the state S is active."""
    columns: dict[str, Column] = {}
    for register_index, (name, value_type) in enumerate(machine.chart.variables.items()):
        # the registers begin with the outputs and locals
        values = [snapshot.values[register_index] for snapshot in snapshots]
        columns[name] = np.array(values, dtype_of(value_type))
    states = machine.nodes[1:]  # without the chart itself
    for node in states:
        is_active = [node.index in snapshot.active_nodes for snapshot in snapshots]
        columns[IN_STATE_PREFIX + node.name] = np.array(is_active, np.bool_)
    return columns


def dtype_of(value_type: Type) -> str:
    """Return the dtype of a column: names are text, integers as narrow as on a board."""
    if isinstance(value_type, EnumType):
        return f"<U{max(map(len, value_type.values))}"
    return _DTYPES.get(value_type.storage, value_type.storage)


def _convert_column(name: str, value_type: Type, column: Sequence[object] | Column) -> Column:
    """Return a converted column: in one step if it is an array of a fitting dtype, else value by value."""
    if isinstance(column, np.ndarray) and column.ndim == 1:
        if isinstance(value_type, BoolType) and column.dtype == np.bool_:
            return column
        if isinstance(value_type, IntType) and column.dtype.kind in _INTEGER_KINDS:
            # a large uint64 would become negative as int64, so it is limited before
            int64_safe = np.minimum(column, value_type.high) if column.dtype == np.uint64 else column
            clipped = np.clip(int64_safe.astype(np.int64), value_type.low, value_type.high)
            return clipped.astype(value_type.storage)
        is_number = column.dtype.kind in _NUMBER_KINDS and column.dtype.itemsize <= _MAX_FLOAT_BYTES
        if isinstance(value_type, FloatType) and is_number:
            floats = column.astype(np.float64)
            if np.isfinite(floats).all():
                return np.clip(floats, value_type.low, value_type.high).astype(dtype_of(value_type))
    return np.array([convert_value(name, value_type, value) for value in column], dtype_of(value_type))
