"""Records of a chart: its inputs and states as packed bytes, as generated code reads and writes them.

An input record has each input in its storage type, then a byte for each event. A state record has the status,
a bitmap of the active nodes, every register in its storage type, a bitmap for each history and, with
monitors, a bitmap of the broken promises. Bit n % 8 of byte n // 8 of a bitmap stands for node n of the
machine; a value of an enumeration is stored as its index.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.charts import Machine, Snapshot, Value
from posewright.charts.types import BoolType, EnumType, Type, convert_value
from posewright.codegen.unit import Records
from posewright.errors import InputError, UnknownNameError

STATUS = "status"
ACTIVE = "active"
BROKEN = "broken"
"""Fields of a state record besides registers and history."""

_DTYPES = {
    "bool": "u1",
    "int8": "i1",
    "uint8": "u1",
    "int16": "<i2",
    "uint16": "<u2",
    "int32": "<i4",
    "float32": "<f4",
    "float64": "<f8",
}


_LETTERS = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "i4": "i", "f4": "f", "f8": "d"}


def layout_of(records: np.dtype[np.void]) -> struct.Struct:
    """Return the layout of one record for `struct`; a bitmap becomes bytes."""
    fields: Mapping[str, Any] = records.fields or {}
    kinds = [fields[name][0] for name in records.names or ()]
    letters = [f"{kind.itemsize}s" if kind.shape else _LETTERS[kind.str[1:]] for kind in kinds]
    return struct.Struct("<" + "".join(letters))


def bitmap_bytes(n: int) -> int:
    """Return the number of bytes of a bitmap of `n` bits."""
    return (n + 7) // 8


@dataclass(frozen=True)
class RecordFormat:
    """The format of the records of a machine's inputs and states.

    Attributes:
        machine: the machine.
        monitors: whether a state record has the broken promises.
    """

    machine: Machine
    monitors: bool = False

    @cached_property
    def inputs(self) -> np.dtype[np.void]:
        """The dtype of an input record, packed: the inputs in the chart's order, then the events."""
        chart = self.machine.chart
        kinds = [(name, _DTYPES[kind.storage]) for name, kind in chart.inputs.items()]
        return np.dtype([*kinds, *((name, "u1") for name in chart.events)])

    @cached_property
    def states(self) -> np.dtype[np.void]:
        """The dtype of a state record, packed."""
        machine = self.machine
        bitmap_shape = (bitmap_bytes(len(machine.nodes)),)
        fields: list[Any] = [(STATUS, "u1"), (ACTIVE, "u1", bitmap_shape)]
        fields += [(self.field_of[name], _DTYPES[machine.types[name].storage]) for name in machine.registers]
        fields += [(name, "u1", bitmap_shape) for name in self.history_fields]
        if self.monitors:
            fields.append((BROKEN, "u1", (bitmap_bytes(len(machine.chart.promises)),)))
        return np.dtype(fields)

    @cached_property
    def field_of(self) -> Mapping[str, str]:
        """The field of each register: its name, unless the record has another field of that name."""
        reserved = (STATUS, ACTIVE, BROKEN)
        return {name: f"register.{name}" if name in reserved else name for name in self.machine.registers}

    @cached_property
    def history_fields(self) -> tuple[str, ...]:
        """The fields of histories: `history.shallow.S`, `history.deep.S`."""
        nodes = self.machine.nodes
        return tuple(
            f"history.{memory.value}.{nodes[number].name}" for number, memory in self.machine.history
        )

    def pack(self, rows: Iterable[Mapping[str, object]]) -> Records:
        """Return input records of rows, each with every input, and True for each event that occurs.

        Raises:
            InputError: an input is missing, unknown, or of another type.
        """
        return np.array([self.input_values(row) for row in rows], self.inputs)

    def input_values(self, row: Mapping[str, object]) -> tuple[Any, ...]:
        """Return the values of the input record of one row, field by field.

        Raises:
            InputError: as for `pack`.
        """
        if len(row) != len(self._input_kinds) or any(name not in row for name, _, _ in self._input_kinds):
            self._require_inputs(row)
        return tuple(
            [
                _encode(convert_value(name, kind, row.get(name, False)), codes)
                for name, kind, codes in self._input_kinds
            ]
        )

    def pack_columns(self, columns: Mapping[str, NDArray[Any]]) -> Records:
        """Return input records of columns that `posewright.charts.accept_columns` has accepted."""
        n = len(next(iter(columns.values()), ()))
        records = np.zeros(n, self.inputs)
        for name, _, codes in self._input_kinds:
            column = columns[name]
            records[name] = column if codes is None else _encode_column(column, codes)
        return records

    def unpack(self, record: np.void | bytes) -> Snapshot:
        """Return the Snapshot of a state record of a unit that has taken a tick."""
        data = record if isinstance(record, bytes) else record.tobytes()
        _status, active_bitmap, *further_fields = self._layout.unpack_from(data)
        n_registers = len(self.machine.registers)
        values = further_fields[:n_registers]
        history_bitmaps = further_fields[n_registers : n_registers + len(self.machine.history)]
        for index, names in self._decoded_registers:
            values[index] = bool(values[index]) if names is None else names[values[index]]
        leaves = self._leaves(self._node_numbers(active_bitmap))
        return Snapshot(
            self.machine,
            started=True,
            configuration=leaves,
            values=tuple(values),
            history=tuple([self._node_numbers(bitmap) for bitmap in history_bitmaps]),
        )

    def unpack_all(self, states: Records) -> list[Snapshot]:
        """Return the Snapshots of state records of a unit that has taken a tick, faster than `unpack`."""
        machine = self.machine
        values = [
            self._decode_column(states[self.field_of[name]], machine.types[name])
            for name in machine.registers
        ]
        rows: Iterable[tuple[Value, ...]] = zip(*values, strict=True) if values else [()] * len(states)
        active = self._all_node_numbers(states[ACTIVE])
        histories = [self._all_node_numbers(states[name]) for name in self.history_fields]
        history_rows = zip(*histories, strict=True) if histories else [()] * len(states)
        leaves = self._leaves
        return [
            Snapshot(machine, started=True, configuration=leaves(numbers), values=row, history=history)
            for numbers, row, history in zip(active, rows, history_rows, strict=True)
        ]

    def pack_snapshot(self, state: Snapshot) -> np.void:
        """Return the state record of a Snapshot, with the status 0.

        Raises:
            OverflowError: the value of a register is beyond the range of its type.
        """
        machine = self.machine
        values = [
            _encode(value, self._register_codes[name])
            for name, value in zip(machine.registers, state.values, strict=True)
        ]
        size = bitmap_bytes(len(machine.nodes))
        active = list(_bitmap((0, *state.active_nodes), size))
        histories = [list(_bitmap(numbers, size)) for numbers in state.history]
        broken = [[0] * bitmap_bytes(len(machine.chart.promises))] if self.monitors else []
        record: np.void = np.array([(0, active, *values, *histories, *broken)], self.states)[0]
        return record

    @cached_property
    def _input_kinds(self) -> tuple[tuple[str, Type, Mapping[str, int] | None], ...]:
        """Name, type and codes of each input and event; codes are None but for enumerations."""
        chart = self.machine.chart
        kinds: dict[str, Type] = {**chart.inputs, **dict.fromkeys(chart.events, BoolType())}
        return tuple((name, kind, _codes_of(kind)) for name, kind in kinds.items())

    @cached_property
    def _register_codes(self) -> Mapping[str, Mapping[str, int] | None]:
        return {name: _codes_of(self.machine.types[name]) for name in self.machine.registers}

    @cached_property
    def _layout(self) -> struct.Struct:
        return layout_of(self.states)

    @cached_property
    def _decoded_registers(self) -> tuple[tuple[int, tuple[str, ...] | None], ...]:
        """Index of each register that is a bool (with None) or an enumeration (with its names)."""
        kinds = [self.machine.types[name] for name in self.machine.registers]
        return tuple(
            (index, kind.values if isinstance(kind, EnumType) else None)
            for index, kind in enumerate(kinds)
            if isinstance(kind, EnumType | BoolType)
        )

    @cached_property
    def _numbers_cache(self) -> dict[bytes, tuple[int, ...]]:
        return {}

    @cached_property
    def _leaves_cache(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        return {}

    def _require_inputs(self, row: Mapping[str, object]) -> None:
        """Raise unless a row has every input and nothing but inputs and events; events may be missing."""
        chart = self.machine.chart
        for name in row:
            if name not in (*chart.inputs, *chart.events):
                raise UnknownNameError.among("input", name, (*chart.inputs, *chart.events))
        for name in chart.inputs:
            if name not in row:
                raise InputError(f"the input {name!r} is missing", hint=f"inputs: {', '.join(chart.inputs)}")

    def _decode_column(self, column: NDArray[Any], kind: Type) -> list[Value]:
        """Return the Python values of a field of state records."""
        if isinstance(kind, BoolType):
            column = column.astype(np.bool_)
        values: list[Any] = column.tolist()
        return [kind.values[code] for code in values] if isinstance(kind, EnumType) else values

    def _all_node_numbers(self, bitmaps: NDArray[np.uint8]) -> list[tuple[int, ...]]:
        """Return the numbers of the nodes in each bitmap `(n, size)`."""
        size = bitmaps.shape[1]
        data = np.ascontiguousarray(bitmaps).tobytes()
        return [self._node_numbers(data[begin : begin + size]) for begin in range(0, len(data), size)]

    def _node_numbers(self, bitmap: bytes) -> tuple[int, ...]:
        """Return the numbers of the nodes in a bitmap."""
        cache = self._numbers_cache
        if bitmap not in cache:
            bits = np.unpackbits(np.frombuffer(bitmap, np.uint8), bitorder="little")
            cache[bitmap] = tuple(np.flatnonzero(bits).tolist())
        return cache[bitmap]

    def _leaves(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Return the numbers of those nodes that are leaves."""
        cache = self._leaves_cache
        if numbers not in cache:
            cache[numbers] = tuple(number for number in numbers if self.machine.nodes[number].is_leaf)
        return cache[numbers]


def _codes_of(kind: Type) -> Mapping[str, int] | None:
    return kind.codes if isinstance(kind, EnumType) else None


def _encode(value: Value, codes: Mapping[str, int] | None) -> Value:
    return value if codes is None else codes[str(value)]


def _encode_column(column: NDArray[Any], codes: Mapping[str, int]) -> NDArray[Any]:
    names, name_of_row = np.unique(column, return_inverse=True)
    return np.array([codes[str(name)] for name in names], np.int64)[name_of_row]


def _bitmap(numbers: Iterable[int], size: int) -> bytes:
    return sum(1 << number for number in numbers).to_bytes(size, "little")
