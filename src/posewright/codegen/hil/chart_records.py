"""A chart's records: inputs as a board takes them, and where the chart stands as a board tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.charts import BoolType, EnumType, FloatType, Type, Value
from posewright.charts.machine import Machine, Snapshot
from posewright.charts.types import accept

Record = np.void
"""One record of a structured dtype."""


class ChartRecords:
    """Packs inputs of a chart, and unpacks its states.

    Args:
        machine: the chart's.
        inputs: of a record of inputs: every input, then every event, in the chart's order.
        states: of a record of states: status, active nodes, registers, history, in the machine's order.
    """

    def __init__(self, machine: Machine, inputs: np.dtype[np.void], states: np.dtype[np.void]) -> None:
        self._machine, self._inputs, self._states = machine, inputs, states
        chart = machine.chart
        self._types: dict[str, Type] = {**chart.inputs, **dict.fromkeys(chart.events, BoolType())}

    def packed(self, values: Mapping[str, Value]) -> Record:
        """Return a record of inputs; events that are not among the values did not come."""
        told = (
            _code(kind, accept(name, kind, values.get(name, False))) for name, kind in self._types.items()
        )
        return np.array([tuple(told)], self._inputs)[0]

    def snapshot(self, record: Record) -> Snapshot:
        """Return where the chart stands after the tick of which this is the record of states."""
        machine, fields = self._machine, [record[name] for name in self._states.names or ()]
        registers = machine.registers
        values = fields[2 : 2 + len(registers)]
        history = fields[2 + len(registers) : 2 + len(registers) + len(machine.history)]
        return Snapshot(
            machine,
            started=True,
            configuration=tuple(n for n in _numbers(fields[1]) if machine.nodes[n].is_leaf),
            values=tuple(
                _value(machine.types[name], value) for name, value in zip(registers, values, strict=True)
            ),
            history=tuple(_numbers(bits) for bits in history),
        )


def _code(kind: Type, value: Value) -> Any:
    return kind.values.index(str(value)) if isinstance(kind, EnumType) else value


def _value(kind: Type, stored: Any) -> Value:
    if isinstance(kind, EnumType):
        return kind.values[int(stored)]
    if isinstance(kind, BoolType):
        return bool(stored)
    return float(stored) if isinstance(kind, FloatType) else int(stored)


def _numbers(bitmap: NDArray[np.uint8]) -> tuple[int, ...]:
    """Return the numbers of the nodes of which the bit is set."""
    bits = np.unpackbits(np.atleast_1d(bitmap).astype(np.uint8), bitorder="little")
    return tuple(int(n) for n in np.flatnonzero(bits))
