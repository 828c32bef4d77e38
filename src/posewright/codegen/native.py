"""Charts compiled for this computer and run inside Python, for `Interpreter(chart, native=True)`."""

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
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.records import ACTIVE, STATUS, RecordFormat, struct_layout_of
from posewright.codegen.targets.host import HostLibrary
from posewright.codegen.unit import Records

STATUS_BYTE = 0
"""Offset of the status in a state record; 0 means success."""

MAX_CACHED_SNAPSHOTS = 20_000
"""Number of state records whose Snapshots are cached."""


class CompiledMachine:
    """A machine compiled into a library, which can be shared between threads.

    Args:
        machine: the machine.

    Raises:
        UnavailableError: there is no compiler.
        InputError: C cannot do what the chart requires.
    """

    def __init__(self, machine: Machine) -> None:
        """Compile the library, or load it from the cache."""
        self.machine = machine
        self.format = RecordFormat(machine)
        self.library = HostLibrary(ChartUnitSpec(machine.chart, machine=machine))
        self._input_struct = struct_layout_of(self.format.input_dtype)
        self._state_buffer = ctypes.create_string_buffer(self.format.state_dtype.itemsize)
        self._snapshots: dict[bytes, Snapshot] = {}
        self._library_state: Snapshot | None = None  # None where it is not known
        self._lock = threading.Lock()  # held from loading a state into the library to reading its results

    def step(self, state: Snapshot, inputs: TickInputs) -> Snapshot | None:
        """Return the state after a tick; None where the tick fails or the library cannot load the state."""
        record = self._input_struct.pack(*self._input_values(inputs))
        with self._lock:
            if state is not self._library_state and not self._load_state(state):
                return None
            self.library.step(record, self._state_buffer)
            state_record = self._state_buffer.raw
            next_state = None if state_record[STATUS_BYTE] else self._unpack_cached(state_record)
            self._library_state = next_state
        return next_state

    def run(self, state: Snapshot, inputs: Sequence[TickInputs]) -> list[Snapshot]:
        """Return the states after each tick, up to the first one that fails."""
        records = np.zeros(len(inputs), self.format.input_dtype)
        if records.itemsize:
            all_record_bytes = b"".join(
                [self._input_struct.pack(*self._input_values(tick)) for tick in inputs]
            )
            records = np.frombuffer(all_record_bytes, self.format.input_dtype)
        states = self._run_records(state, records)
        if states is None:
            return []
        failed_ticks = np.flatnonzero(states[STATUS])
        return self.format.unpack_all(states[: failed_ticks[0]] if len(failed_ticks) else states)

    def run_columns(
        self, state: Snapshot, columns: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]] | None:
        """Return columns as `Interpreter.run_columns` does; None where a tick fails."""
        states = self._run_records(state, self.format.pack_columns(columns))
        return None if states is None or states[STATUS].any() else self._unpack_columns(states)

    def _run_records(self, state: Snapshot, records: Records) -> Records | None:
        """Return the states after each record of inputs; None where the library cannot load the state."""
        with self._lock:
            return self.library.run(records) if self._load_state(state) else None

    def _load_state(self, state: Snapshot) -> bool:
        """Load a state into the library and return whether that is possible."""
        self._library_state = None
        if not state.is_of(self.machine):
            return False
        if not state.started:
            self.library.reset()
            return state == self._initial
        try:
            record = self.format.pack_snapshot(state)
        except (OverflowError, KeyError):  # a user's Snapshot with a value beyond the range of its type
            return False
        self.library.load(record.tobytes())
        return True

    @cached_property
    def _initial(self) -> Snapshot:
        """The Snapshot before the first tick.

        Of all Snapshots that are not started, the library can load this one only, by a reset.
        """
        machine = self.machine
        configuration = machine.planner.enter_chart().configuration
        start_values = machine.start_values(configuration)
        values = tuple(start_values[name] for name in machine.registers)
        return Snapshot(
            machine,
            started=False,
            configuration=configuration,
            values=values,
            history=tuple(() for _ in machine.histories),
        )

    def _unpack_cached(self, record: bytes) -> Snapshot:
        """Return the Snapshot of a state record, which is cached."""
        snapshot = self._snapshots.get(record)
        if snapshot is None:
            if len(self._snapshots) >= MAX_CACHED_SNAPSHOTS:
                self._snapshots.clear()
            snapshot = self.format.unpack(record)
            self._snapshots[record] = snapshot
        return snapshot

    def _input_values(self, inputs: TickInputs) -> list[Any]:
        """Return the values of an input record: inputs in the chart's order, then a bool for each event."""
        values, events = inputs
        input_values = [*values.values()]
        for index, codes in self._enum_codes:
            input_values[index] = codes[input_values[index]]
        return input_values + [event in events for event in self.machine.chart.events]

    @cached_property
    def _enum_codes(self) -> list[tuple[int, dict[Any, int]]]:
        """The index of each input that is an enumeration, and the codes of its values."""
        return [
            (index, dict(input_type.codes))
            for index, input_type in enumerate(self.machine.chart.inputs.values())
            if isinstance(input_type, EnumType)
        ]

    def _unpack_columns(self, states: Records) -> dict[str, NDArray[Any]]:
        """Return columns of the chart's variables, and for each state whether it is active."""
        columns: dict[str, NDArray[Any]] = {}
        for name, value_type in self.machine.chart.variables.items():
            stored_column = states[self.format.field_of[name]]
            if isinstance(value_type, EnumType):
                columns[name] = np.array(value_type.values, dtype_of(value_type))[stored_column]
            elif isinstance(value_type, BoolType):
                columns[name] = stored_column.view(np.bool_)
            else:
                columns[name] = stored_column
        for node in self.machine.nodes[1:]:
            byte_index, bit_index = divmod(node.index, 8)  # of the node in the bitmap of active nodes
            active_bits = states[ACTIVE][:, byte_index] >> bit_index & 1
            columns[IN_STATE_PREFIX + node.name] = active_bits.view(np.bool_)
        return columns
