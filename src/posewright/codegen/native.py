"""Charts compiled for this computer and run inside Python: what `Interpreter(chart, native=True)` uses."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.charts.machine import Machine, Snapshot
from posewright.charts.machine.columns import dtype_of
from posewright.charts.machine.machine import IN_STATE_PREFIX
from posewright.charts.machine.native import TickInputs
from posewright.charts.types import BoolType, EnumType
from posewright.codegen.c import ChartSubject
from posewright.codegen.records import ACTIVE, STATUS, RecordFormat, layout_of
from posewright.codegen.targets.host import HostLibrary
from posewright.codegen.unit import Records

MAX_REMEMBERED = 20_000
"""Records of states whose Snapshots are remembered."""


class CompiledMachine:
    """A machine in a library of its own, fed with Snapshots; threads that share it take turns.

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
        self._given = layout_of(self.format.inputs)
        self._state = ctypes.create_string_buffer(self.format.states.itemsize)
        self._known: dict[bytes, Snapshot] = {}
        self._at: Snapshot | None = None  # where the library stands; None: nobody knows
        self._turn = threading.Lock()  # between putting the library somewhere and reading what came of it

    def step(self, state: Snapshot, given: TickInputs) -> Snapshot | None:
        """Return where the chart stands after a tick; None where it cannot say."""
        inputs = self._given.pack(*self._values(given))
        with self._turn:
            if state is not self._at and not self._stand(state):
                return None
            self.library.step(inputs, self._state)
            record = self._state.raw
            self._at = after = None if record[0] else self._known.get(record) or self._met(record)
        return after

    def run(self, state: Snapshot, given: Sequence[TickInputs]) -> list[Snapshot]:
        """Return where the chart stands after each tick, up to the first of which it cannot say."""
        inputs = np.zeros(len(given), self.format.inputs)
        if inputs.itemsize:
            packed = b"".join([self._given.pack(*self._values(one)) for one in given])
            inputs = np.frombuffer(packed, self.format.inputs)
        states = self._ran(state, inputs)
        if states is None:
            return []
        wrong = np.flatnonzero(states[STATUS])
        return self.format.unpack_all(states[: wrong[0]] if len(wrong) else states)

    def run_columns(
        self, state: Snapshot, columns: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]] | None:
        """Return columns as `Interpreter.run_columns` does; None where it cannot say of some tick."""
        states = self._ran(state, self.format.pack_columns(columns))
        return None if states is None or states[STATUS].any() else self._columns(states)

    def _ran(self, state: Snapshot, inputs: Records) -> Records | None:
        """Return the states after each record of inputs; None where the library cannot stand there."""
        with self._turn:
            return self.library.run(inputs) if self._stand(state) else None

    def _stand(self, state: Snapshot) -> bool:
        """Put the library where a Snapshot stands; return whether that can be done."""
        self._at = None
        if not state.is_of(self.machine):
            return False
        if not state.started:
            self.library.reset()
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
        configuration = machine.planner.enter_chart().configuration
        start = machine.start(configuration)
        values = tuple(start[name] for name in machine.registers)
        return Snapshot(machine, False, configuration, values, tuple(() for _ in machine.history))

    def _met(self, record: bytes) -> Snapshot:
        """Return the Snapshot of a record, which is remembered."""
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        return self._known.setdefault(record, self.format.unpack(record))

    def _values(self, given: TickInputs) -> list[Any]:
        values, events = given
        stored = [*values.values()]  # in the chart's order
        for at, codes in self._codes:
            stored[at] = codes[stored[at]]
        return stored + [event in events for event in self.machine.chart.events]

    @cached_property
    def _codes(self) -> list[tuple[int, dict[Any, int]]]:
        kinds = enumerate(self.machine.chart.inputs.values())
        return [(at, dict(kind.codes)) for at, kind in kinds if isinstance(kind, EnumType)]

    def _columns(self, states: Records) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for name, kind in self.machine.chart.variables.items():
            column = states[self.format.field_of[name]]
            if isinstance(kind, EnumType):
                column = np.array(kind.values, dtype_of(kind))[column]
            found[name] = column.view(np.bool_) if isinstance(kind, BoolType) else column
        for node in self.machine.nodes[1:]:
            octet = states[ACTIVE][:, node.index // 8]
            found[IN_STATE_PREFIX + node.name] = (octet >> (node.index % 8) & 1).view(np.bool_)
        return found
