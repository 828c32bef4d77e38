"""Charts compiled for this computer and run inside Python: what `Interpreter(chart, native=True)` uses."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.charts.machine import Machine, Snapshot
from posewright.charts.machine.columns import dtype_of
from posewright.charts.machine.machine import INSIDE
from posewright.charts.machine.native import Given
from posewright.charts.types import BoolType, EnumType
from posewright.codegen.c import ChartSubject
from posewright.codegen.records import ACTIVE, STATUS, RecordFormat
from posewright.codegen.targets.host import HostLibrary
from posewright.codegen.unit import Records

_LETTERS = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "i4": "i", "f4": "f", "f8": "d"}
_CHUNK = 65536


class CompiledMachine:
    """A machine in a library of its own, fed with Snapshots.

    Args:
        machine: what is compiled.

    Raises:
        UnavailableError: there is no compiler.
        InputError: C cannot keep what the chart promises.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.format = RecordFormat(machine)
        self.library = HostLibrary(ChartSubject(machine.chart, machine=machine))
        self._given = _layout(self.format.inputs)
        self._state = ctypes.create_string_buffer(self.format.states.itemsize)
        self._at: Snapshot | None = None  # where the library stands; None: nobody knows

    def step(self, state: Snapshot, given: Given) -> Snapshot | None:
        """Return where the chart stands after a tick; None where it cannot say."""
        inputs = self._given.pack(*self._values(given))
        if state is not self._at and not self._stand(state):
            return None
        self.library.step(inputs, self._state)
        self._at = None if self._state.raw[0] else self._snapshot(self._state.raw)
        return self._at

    def run(self, state: Snapshot, given: Sequence[Given]) -> list[Snapshot]:
        """Return where the chart stands after each tick, up to the first of which it cannot say."""
        if not given or not self._stand(state):
            return []
        inputs = b"".join([self._given.pack(*self._values(one)) for one in given])
        states = self.library.run(np.frombuffer(inputs, self.format.inputs))
        wrong = np.flatnonzero(states[STATUS])
        found = self.format.unpack_all(states[: wrong[0]] if len(wrong) else states)
        self._at = None if len(wrong) else found[-1]
        return found

    def run_columns(
        self, state: Snapshot, columns: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]] | None:
        """Return columns as `Interpreter.run_columns` does; None where it cannot say of some tick."""
        if not self._stand(state):
            return None
        self._at = None
        states = self.library.run(self.format.pack_columns(columns))
        return None if states[STATUS].any() else self._columns(states)

    def _stand(self, state: Snapshot) -> bool:
        """Put the library where a Snapshot stands; return whether that can be done."""
        if not state.started:
            self.library.reset()
            self._at = None
            return state == self._first
        try:
            record = self.format.pack_snapshot(state)
        except (OverflowError, KeyError):  # held by hand, beyond what its type holds
            return False
        self.library.load(record.tobytes())
        return True

    @cached_property
    def _first(self) -> Snapshot:
        machine = self.machine
        configuration = machine.moves.first().configuration
        start = machine.start(configuration)
        values = tuple(start[name] for name in machine.registers)
        return Snapshot(machine, False, configuration, values, tuple(() for _ in machine.history))

    def _values(self, given: Given) -> list[Any]:
        values, events = given
        chart = self.machine.chart
        codes = self._codes
        stored = [values[name] if name not in codes else codes[name][values[name]] for name in chart.inputs]
        return [*stored, *[event in events for event in chart.events]]

    @cached_property
    def _codes(self) -> dict[str, dict[Any, int]]:
        inputs = self.machine.chart.inputs
        return {name: dict(kind.codes) for name, kind in inputs.items() if isinstance(kind, EnumType)}

    def _snapshot(self, record: bytes) -> Snapshot:
        return self.format.unpack_all(np.frombuffer(record, self.format.states))[0]

    def _columns(self, states: Records) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for name, kind in self.machine.chart.variables.items():
            column = states[self.format.field_of[name]]
            if isinstance(kind, EnumType):
                column = np.array(kind.values, dtype_of(kind))[column]
            found[name] = column.view(np.bool_) if isinstance(kind, BoolType) else column
        for node in self.machine.nodes[1:]:
            octet = states[ACTIVE][:, node.index // 8]
            found[INSIDE + node.name] = (octet >> (node.index % 8) & 1).view(np.bool_)
        return found


def _layout(records: np.dtype[np.void]) -> struct.Struct:
    fields: Mapping[str, Any] = records.fields or {}
    return struct.Struct("<" + "".join(_LETTERS[fields[name][0].str[1:]] for name in records.names or ()))
