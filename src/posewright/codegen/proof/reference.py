"""The interpreter as an executable, with which the others are compared."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from posewright.charts.machine import Interpreter, Monitor, Snapshot
from posewright.charts.machine.node import ROOT
from posewright.charts.types import EnumType, Value
from posewright.codegen.proof.input_generation import rows_of
from posewright.codegen.records import ACTIVE, BROKEN, RecordFormat
from posewright.codegen.unit import Records
from posewright.errors import ExpressionError, InputError

OK = 0
DIVISION_BY_ZERO = 1
ENDLESS = 2
"""Values of `status` in a state record."""

MAX_CACHED_STEPS = 300_000
"""Number of steps whose results are cached; each takes some 200 bytes."""


class StateLayout:
    """Packs a Snapshot as a state record, some ten times as fast as NumPy.

    Args:
        record_format: the format of the records.

    Attributes:
        bitmap_bytes: size of a set of nodes.
        broken_bytes: size of the bitmap of broken promises; 0 without monitors.
        enum_codes_of_registers: for each register, the code of each value of its enumeration; None for
            other types.
        register_struct: layout of the values of all registers.
    """

    def __init__(self, record_format: RecordFormat) -> None:
        """Compute the layout: active states, registers, histories, a flag for each promise that is broken."""
        machine = record_format.machine
        state_dtype = record_format.state_dtype
        self.bitmap_bytes = state_dtype[ACTIVE].itemsize
        self.broken_bytes = state_dtype[BROKEN].itemsize if record_format.monitors else 0
        types = [machine.types[name] for name in machine.registers]
        self.enum_codes_of_registers = [  # None: not an enumeration
            value_type.codes if isinstance(value_type, EnumType) else None for value_type in types
        ]
        # the characters of NumPy's types are also those of `struct`
        format_characters = [state_dtype[name].char for name in record_format.field_of.values()]
        self.register_struct = struct.Struct("<" + "".join(format_characters))

    def pack(self, state: Snapshot, broken: Collection[int] = ()) -> bytes:
        """Return the state record of a Snapshot without its first byte, `status`.

        Args:
            state: the Snapshot.
            broken: numbers of the promises that are broken.
        """
        values = [
            value if codes is None else codes[value]  # type: ignore[index]
            for value, codes in zip(state.values, self.enum_codes_of_registers, strict=True)
        ]
        active = self.pack_nodes((ROOT, *state.machine.planner.active_nodes(state.configuration)))
        history = b"".join(map(self.pack_nodes, state.history))
        broken_bits = sum(1 << number for number in broken).to_bytes(self.broken_bytes, "little")
        return active + self.register_struct.pack(*values) + history + broken_bits

    def pack_nodes(self, node_numbers: Collection[int]) -> bytes:
        """Return a set of nodes as a bitmap, bit k of byte n for the node 8 n + k."""
        return sum(1 << number for number in node_numbers).to_bytes(self.bitmap_bytes, "little")


@dataclass(eq=False)
class _RunState:
    """The state of the interpreter and its monitor, with the states that follow it.

    Attributes:
        snapshot: the chart's state.
        record_tail: the state record behind its first byte, `status`.
        ticks_due: for each promise (a property of the chart that is monitored), the number of ticks for which
            its response has been due.
        broken_promises: numbers of the promises that the last tick broke.
        status: the status of the last tick.
        next_states: the state after a tick from this one, by input record, for ticks taken before.
    """

    snapshot: Snapshot
    record_tail: bytes
    ticks_due: tuple[int, ...] = ()
    broken_promises: frozenset[int] = frozenset()
    status: int = OK
    next_states: dict[bytes, _RunState] = field(default_factory=dict)


class InterpreterRun:
    """The interpreter as an executable: input records in, state records out.

    The next state is cached by state and input record, so that a chart of small types takes about a
    microsecond a step.

    Args:
        record_format: the format of the records; with monitors, promises are checked.

    Attributes:
        record_format: the format of the records.
        machine: the machine that is run.
        transitions_taken: transitions taken so far, by number of the source and number among its transitions.
    """

    def __init__(self, record_format: RecordFormat) -> None:
        """Create the interpreter, in the state before its first tick."""
        self.record_format = record_format
        self.machine = record_format.machine
        self.transitions_taken: set[tuple[int, int]] = set()
        self._state_layout = StateLayout(record_format)
        self._interpreter = Interpreter(self.machine.chart, self.machine, remember=False)
        self._run_states: dict[object, _RunState] = {}  # by content, so that equal states are one object
        self._n_cached_steps = 0  # entries in `next_states` of all states
        initial = self._interpreter.initial()
        ticks_due = (0,) * len(self.machine.chart.promises)
        self._initial = _RunState(initial, self._state_layout.pack(initial), ticks_due=ticks_due)
        self._present = self._initial

    def reset(self) -> None:
        """Return to the state before the first tick."""
        self._present = self._initial

    def run(self, inputs: Records) -> Records:
        """Take one tick for each record of inputs and return the state after each."""
        size = inputs.dtype.itemsize
        all_input_bytes = np.ascontiguousarray(inputs).tobytes()
        present_state = self._present
        state_records: list[bytes] = []
        for index in range(len(inputs)):
            input_bytes = all_input_bytes[index * size : (index + 1) * size]
            next_state = present_state.next_states.get(input_bytes)
            if next_state is None:
                next_state = self._step(present_state, input_bytes, inputs[index : index + 1])
            present_state = next_state
            state_records.append(bytes((present_state.status,)) + present_state.record_tail)
        self._present = present_state
        return np.frombuffer(b"".join(state_records), self.record_format.state_dtype)

    def _step(self, present_state: _RunState, input_bytes: bytes, inputs: Records) -> _RunState:
        """Take one tick and return the next state, which is cached; a failed state stays.

        Args:
            present_state: the state before the tick.
            input_bytes: the bytes of the input record, the key of the cache.
            inputs: the same record, `(1,)`.
        """
        if present_state.status != OK:
            return present_state
        row = next(rows_of(self.machine.chart, inputs))
        try:
            outcome = self._interpreter.outcome(present_state.snapshot, row)
        except ExpressionError:
            next_state = _failed_state(present_state, DIVISION_BY_ZERO)
        except InputError:
            next_state = _failed_state(present_state, ENDLESS)
        else:
            self.transitions_taken |= {
                (transition.source, transition.index) for transition in outcome.taken_transitions
            }
            next_state = self._check_promises(present_state, row, outcome.after)
        return self._cache_next_state(present_state, input_bytes, next_state)

    def _check_promises(
        self, present_state: _RunState, row: Mapping[str, Value], after: Snapshot
    ) -> _RunState:
        """Return the state after a tick, with the promises (properties of the chart) that it breaks.

        Without monitors, promises are not checked. Where a promise divides by zero, the state is the one
        before the tick with the status DIVISION_BY_ZERO.

        Args:
            present_state: the state before the tick.
            row: the inputs of the tick, by name.
            after: the Snapshot after it.
        """
        if not self.record_format.monitors:
            return _RunState(after, self._state_layout.pack(after))
        monitor = Monitor(self.machine.chart, present_state.snapshot)
        monitor.ticks_due = list(present_state.ticks_due)
        try:
            monitor.check_tick(row, after)
        except ExpressionError:
            return _failed_state(present_state, DIVISION_BY_ZERO)
        broken = frozenset(monitor.broken_indices)
        return _RunState(
            after,
            record_tail=self._state_layout.pack(after, broken),
            ticks_due=tuple(monitor.ticks_due),
            broken_promises=broken,
        )

    def _cache_next_state(
        self, present_state: _RunState, input_bytes: bytes, next_state: _RunState
    ) -> _RunState:
        """Store the next state in the present one, and return it, the same object for equal states.

        A cache that is full is emptied first, also in the states that stay in use, the present and the
        initial one.

        Args:
            present_state: the state before the tick.
            input_bytes: the bytes of the tick's input record.
            next_state: the state after the tick.
        """
        if self._n_cached_steps >= MAX_CACHED_STEPS:
            for run_state in (*self._run_states.values(), self._initial, present_state):
                run_state.next_states = {}
            self._run_states.clear()
            self._n_cached_steps = 0
        key = (next_state.record_tail, next_state.ticks_due, next_state.status)
        shared_state = self._run_states.setdefault(key, next_state)
        present_state.next_states[input_bytes] = shared_state
        self._n_cached_steps += 1
        return shared_state

    def close(self) -> None:
        """Clear the cache."""
        self._run_states.clear()


def _failed_state(present_state: _RunState, status: int) -> _RunState:
    """Return the state after a tick that fails: as before, but for the status."""
    return _RunState(
        present_state.snapshot,
        present_state.record_tail,
        present_state.ticks_due,
        present_state.broken_promises,
        status,
    )
