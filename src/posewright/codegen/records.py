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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posewright.charts import Machine, Snapshot, Value
from posewright.charts.machine.node import ROOT
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


_STRUCT_CODES = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "i4": "i", "f4": "f", "f8": "d"}
"""The format character of `struct` for each type of a field: NumPy's kind, and the size in bytes."""


def struct_layout_of(record_dtype: np.dtype[np.void]) -> struct.Struct:
    """Return the layout of one record as a `struct.Struct`; a bitmap is packed from `bytes`."""
    fields: Mapping[str, Any] = record_dtype.fields or {}
    dtypes = [fields[name][0] for name in record_dtype.names or ()]
    format_codes = [
        f"{dtype.itemsize}s" if dtype.shape else _STRUCT_CODES[f"{dtype.kind}{dtype.itemsize}"]
        for dtype in dtypes
    ]
    return struct.Struct("<" + "".join(format_codes))


def bitmap_bytes(n: int) -> int:
    """Return the number of bytes of a bitmap of `n` bits."""
    return (n + 7) // 8


class _RecordInput(NamedTuple):
    """An input or event as it is stored in an input record.

    Attributes:
        name: its name.
        type: its type; an event is a bool.
        enum_codes: the code of each value of an enumeration, by which it is stored; None for other types.
    """

    name: str
    type: Type
    enum_codes: Mapping[str, int] | None


@dataclass(frozen=True)
class RecordFormat:
    """The format of the records of a machine's inputs and states.

    Attributes:
        machine: the machine.
        monitors: whether a state record has the broken promises.
        further_fields: names of fields that a longer record has after these.
    """

    machine: Machine
    monitors: bool = False
    further_fields: tuple[str, ...] = ()

    @cached_property
    def input_dtype(self) -> np.dtype[np.void]:
        """The dtype of an input record, packed: the inputs in the chart's order, then the events."""
        chart = self.machine.chart
        input_fields = [(name, _DTYPES[value_type.storage]) for name, value_type in chart.inputs.items()]
        event_fields = [(name, "u1") for name in chart.events]
        return np.dtype([*input_fields, *event_fields])

    @cached_property
    def state_dtype(self) -> np.dtype[np.void]:
        """The packed dtype of a record: status, active states, registers, histories, broken promises."""
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
        reserved = (STATUS, ACTIVE, BROKEN, *self.further_fields)
        return {name: f"register.{name}" if name in reserved else name for name in self.machine.registers}

    @cached_property
    def history_fields(self) -> tuple[str, ...]:
        """The fields of histories: `history.shallow.S`, `history.deep.S`."""
        nodes = self.machine.nodes
        return tuple(
            f"history.{memory.value}.{nodes[number].name}" for number, memory in self.machine.histories
        )

    def pack(self, rows: Iterable[Mapping[str, object]]) -> Records:
        """Return the input records of rows.

        Args:
            rows: for each tick, the value of every input by its name, and True for each event that occurs;
                an event that is missing does not occur.

        Raises:
            InputError: an input is missing, unknown, or of another type.
        """
        return np.array([self.input_values(row) for row in rows], self.input_dtype)

    def input_values(self, row: Mapping[str, object]) -> tuple[Any, ...]:
        """Return the values of the input record of one row, field by field.

        An event that the row does not name is False.

        Raises:
            InputError: an input is missing, unknown, or of another type.
        """
        fields = self._record_inputs
        # the full check is slow, and needless for a row with exactly the inputs and events
        if len(row) != len(fields) or any(field.name not in row for field in fields):
            self._require_inputs(row)
        values = []
        for name, value_type, enum_codes in fields:
            value = convert_value(name, value_type, row.get(name, False))  # only an event may be missing
            values.append(_encode(value, enum_codes))
        return tuple(values)

    def pack_columns(self, columns: Mapping[str, NDArray[Any]]) -> Records:
        """Return the input records of columns that `posewright.charts.accept_columns` has accepted.

        Args:
            columns: for each input and event, by its name, its value at each tick, `(n_ticks,)`.
        """
        n_ticks = len(next(iter(columns.values()), ()))
        records = np.zeros(n_ticks, self.input_dtype)
        for name, _, enum_codes in self._record_inputs:
            column = columns[name]
            records[name] = column if enum_codes is None else _encode_column(column, enum_codes)
        return records

    def unpack(self, record: np.void | bytes) -> Snapshot:
        """Return the Snapshot of a state record of a unit that has taken a tick."""
        data = record if isinstance(record, bytes) else record.tobytes()
        _status, active_bitmap, *further_fields = self._state_struct.unpack_from(data)
        n_registers = len(self.machine.registers)
        n_histories = len(self.machine.histories)
        values = further_fields[:n_registers]
        history_bitmaps = further_fields[n_registers : n_registers + n_histories]
        for register_index, enum_values in self._decoded_registers:
            stored_number = values[register_index]
            if enum_values is None:  # a bool
                values[register_index] = bool(stored_number)
            else:
                values[register_index] = enum_values[stored_number]
        leaves = self._leaves(self._node_numbers(active_bitmap))
        return Snapshot(
            self.machine,
            started=True,
            configuration=leaves,
            values=tuple(values),
            history=tuple([self._node_numbers(bitmap) for bitmap in history_bitmaps]),
        )

    def unpack_all(self, states: Records) -> list[Snapshot]:
        """Return the Snapshots of state records of a unit that has taken a tick, faster than `unpack`.

        Each field is decoded for all records at once.
        """
        machine = self.machine
        register_columns = [
            self._decode_column(states[self.field_of[name]], machine.types[name])
            for name in machine.registers
        ]
        history_columns = [self._all_node_numbers(states[name]) for name in self.history_fields]
        active_column = self._all_node_numbers(states[ACTIVE])
        # `zip` of no columns would have no rows at all
        no_values = [()] * len(states)
        value_rows: Iterable[tuple[Value, ...]] = (
            zip(*register_columns, strict=True) if register_columns else no_values
        )
        history_rows = zip(*history_columns, strict=True) if history_columns else no_values
        return [
            Snapshot(
                machine,
                started=True,
                configuration=self._leaves(active_nodes),
                values=values,
                history=history,
            )
            for active_nodes, values, history in zip(active_column, value_rows, history_rows, strict=True)
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
        n_bytes = bitmap_bytes(len(machine.nodes))
        active = list(_bitmap((ROOT, *state.active_nodes), n_bytes))
        histories = [list(_bitmap(node_numbers, n_bytes)) for node_numbers in state.history]
        # the field is there with monitors only; no promise counts as broken
        broken = [[0] * bitmap_bytes(len(machine.chart.promises))] if self.monitors else []
        status = 0
        record: np.void = np.array([(status, active, *values, *histories, *broken)], self.state_dtype)[0]
        return record

    @cached_property
    def _record_inputs(self) -> tuple[_RecordInput, ...]:
        """The inputs and events in the order of their fields."""
        chart = self.machine.chart
        types: dict[str, Type] = {**chart.inputs, **dict.fromkeys(chart.events, BoolType())}
        return tuple(
            _RecordInput(name, value_type, _enum_codes(value_type)) for name, value_type in types.items()
        )

    @cached_property
    def _register_codes(self) -> Mapping[str, Mapping[str, int] | None]:
        """The codes of the values of each register that is an enumeration; None for other registers."""
        return {name: _enum_codes(self.machine.types[name]) for name in self.machine.registers}

    @cached_property
    def _state_struct(self) -> struct.Struct:
        """The layout of a state record."""
        return struct_layout_of(self.state_dtype)

    @cached_property
    def _decoded_registers(self) -> tuple[tuple[int, tuple[str, ...] | None], ...]:
        """Index of each register that is not stored as a number, with the values of its enumeration.

        For a bool, these are None.
        """
        types = [self.machine.types[name] for name in self.machine.registers]
        return tuple(
            (index, value_type.values if isinstance(value_type, EnumType) else None)
            for index, value_type in enumerate(types)
            if isinstance(value_type, EnumType | BoolType)
        )

    @cached_property
    def _node_numbers_cache(self) -> dict[bytes, tuple[int, ...]]:
        """The numbers of the nodes in each bitmap seen so far."""
        return {}

    @cached_property
    def _leaves_cache(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        """The leaves among each set of nodes seen so far."""
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

    def _decode_column(self, column: NDArray[Any], register_type: Type) -> list[Value]:
        """Return the values of a register from its field in many state records, `(n,)`."""
        if isinstance(register_type, BoolType):
            booleans: list[Value] = column.astype(np.bool_).tolist()
            return booleans
        values: list[Any] = column.tolist()
        if isinstance(register_type, EnumType):
            return [register_type.values[code] for code in values]
        return values

    def _all_node_numbers(self, bitmaps: NDArray[np.uint8]) -> list[tuple[int, ...]]:
        """Return the numbers of the nodes in each bitmap, `(n, n_bytes)`."""
        n_bytes = bitmaps.shape[1]
        data = np.ascontiguousarray(bitmaps).tobytes()
        return [self._node_numbers(data[begin : begin + n_bytes]) for begin in range(0, len(data), n_bytes)]

    def _node_numbers(self, bitmap: bytes) -> tuple[int, ...]:
        """Return the numbers of the nodes in a bitmap."""
        cache = self._node_numbers_cache
        if bitmap not in cache:
            bits = np.unpackbits(np.frombuffer(bitmap, np.uint8), bitorder="little")
            cache[bitmap] = tuple(np.flatnonzero(bits).tolist())
        return cache[bitmap]

    def _leaves(self, node_numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Return the numbers of those nodes that are leaves (innermost states)."""
        cache = self._leaves_cache
        if node_numbers not in cache:
            nodes = self.machine.nodes
            cache[node_numbers] = tuple(number for number in node_numbers if nodes[number].is_leaf)
        return cache[node_numbers]


def _enum_codes(value_type: Type) -> Mapping[str, int] | None:
    """Return the code of each value of an enumeration; None for another type."""
    return value_type.codes if isinstance(value_type, EnumType) else None


def _encode(value: Value, enum_codes: Mapping[str, int] | None) -> Value:
    """Return a value as it is stored; `enum_codes` is None unless its type is an enumeration."""
    return value if enum_codes is None else enum_codes[str(value)]


def _encode_column(column: NDArray[Any], enum_codes: Mapping[str, int]) -> NDArray[Any]:
    """Return the codes of a column of an enumeration's values, looking each different value up once."""
    names, name_index = np.unique(column, return_inverse=True)
    return np.array([enum_codes[str(name)] for name in names], np.int64)[name_index]


def _bitmap(node_numbers: Iterable[int], n_bytes: int) -> bytes:
    """Return a set of nodes as a bitmap: bit k % 8 of byte k // 8 is 1 for node k."""
    return sum(1 << number for number in node_numbers).to_bytes(n_bytes, "little")
