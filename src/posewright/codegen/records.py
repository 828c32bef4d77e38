"""Records of a chart: its inputs and states as packed bytes, as generated code reads and writes them.

An input record holds each input in its storage type and then a byte for each event. A state record holds a
status, a bitmap of the active nodes, every register in its storage type, a bitmap for each thing that is
remembered and, with monitors, one of the promises that are broken. Bit n % 8 of byte n // 8 of a bitmap is
node n of the machine; names are stored by their place in the enumeration.
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

STATUS, ACTIVE, BROKEN = "status", "active", "broken"
"""Fields of a state record that are no registers."""

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
    """Return how one record is packed and unpacked, without arrays; a bitmap is bytes."""
    fields: Mapping[str, Any] = records.fields or {}
    kinds = [fields[name][0] for name in records.names or ()]
    letters = [f"{kind.itemsize}s" if kind.shape else _LETTERS[kind.str[1:]] for kind in kinds]
    return struct.Struct("<" + "".join(letters))


def bitmap_bytes(n: int) -> int:
    """Return how many bytes a bitmap of `n` bits takes."""
    return (n + 7) // 8


@dataclass(frozen=True)
class RecordFormat:
    """How inputs and states of a machine stand in records.

    Attributes:
        monitors: whether a state record says which promises are broken.
    """

    machine: Machine
    monitors: bool = False

    @cached_property
    def inputs(self) -> np.dtype[np.void]:
        """One record of inputs, packed: the inputs in the chart's order, then the events."""
        chart = self.machine.chart
        kinds = [(name, _DTYPES[kind.storage]) for name, kind in chart.inputs.items()]
        return np.dtype([*kinds, *((name, "u1") for name in chart.events)])

    @cached_property
    def states(self) -> np.dtype[np.void]:
        """One record of what a tick leaves behind, packed."""
        machine, bits = self.machine, (bitmap_bytes(len(self.machine.nodes)),)
        fields: list[Any] = [(STATUS, "u1"), (ACTIVE, "u1", bits)]
        fields += [(self.field_of[name], _DTYPES[machine.types[name].storage]) for name in machine.registers]
        fields += [(name, "u1", bits) for name in self.history_fields]
        if self.monitors:
            fields.append((BROKEN, "u1", (bitmap_bytes(len(machine.chart.promises)),)))
        return np.dtype(fields)

    @cached_property
    def field_of(self) -> Mapping[str, str]:
        """The field of each register: its own name, but where the record has a field of that name."""
        own = (STATUS, ACTIVE, BROKEN)
        return {name: f"register.{name}" if name in own else name for name in self.machine.registers}

    @cached_property
    def history_fields(self) -> tuple[str, ...]:
        """The fields of what is remembered: `history.shallow.S`, `history.deep.S`."""
        nodes = self.machine.nodes
        return tuple(
            f"history.{memory.value}.{nodes[number].name}" for number, memory in self.machine.history
        )

    def pack(self, rows: Iterable[Mapping[str, object]]) -> Records:
        """Return input records of rows, each with every input, and as true the events that come.

        Raises:
            InputError: an input is missing, unknown, or of another type.
        """
        return np.array([self.input_values(row) for row in rows], self.inputs)

    def input_values(self, row: Mapping[str, object]) -> tuple[Any, ...]:
        """Return what stands in the record of one row, field by field.

        Raises:
            InputError: as `pack`.
        """
        if len(row) != len(self._readers) or any(name not in row for name, _, _ in self._readers):
            self._refuse_row(row)
        return tuple(
            [
                _stored(convert_value(name, kind, row.get(name, False)), codes)
                for name, kind, codes in self._readers
            ]
        )

    def pack_columns(self, columns: Mapping[str, NDArray[Any]]) -> Records:
        """Return input records of whole columns that `posewright.charts.accept_columns` has accepted."""
        n = len(next(iter(columns.values()), ()))
        found = np.zeros(n, self.inputs)
        for name, _, codes in self._readers:
            column = columns[name]
            found[name] = column if codes is None else _coded(column, codes)
        return found

    def unpack(self, record: np.void | bytes) -> Snapshot:
        """Return the Snapshot that a state record holds; that of a unit which has taken a tick."""
        data = record if isinstance(record, bytes) else record.tobytes()
        _, active, *stored = self._layout.unpack_from(data)
        for at, names in self._unlike:
            stored[at] = bool(stored[at]) if names is None else names[stored[at]]
        n = len(self.machine.registers)
        history = tuple([self._bits(bits) for bits in stored[n : n + len(self.machine.history)]])
        return Snapshot(self.machine, True, self._leaves(self._bits(active)), tuple(stored[:n]), history)

    def unpack_all(self, states: Records) -> list[Snapshot]:
        """Return the Snapshots that state records hold."""
        machine = self.machine
        values = [
            self._values(states[self.field_of[name]], machine.types[name]) for name in machine.registers
        ]
        rows: Iterable[tuple[Value, ...]] = zip(*values, strict=True) if values else [()] * len(states)
        active = self._numbers(states[ACTIVE])
        memories = [self._numbers(states[name]) for name in self.history_fields]
        history = zip(*memories, strict=True) if memories else [()] * len(states)
        leaves = self._leaves
        return [
            Snapshot(machine, True, leaves(numbers), row, remembered)
            for numbers, row, remembered in zip(active, rows, history, strict=True)
        ]

    def pack_snapshot(self, state: Snapshot) -> np.void:
        """Return the state record of a Snapshot in which all is well.

        Raises:
            OverflowError: a register holds what its type cannot.
        """
        machine = self.machine
        values = [
            _stored(value, self._codes[name])
            for name, value in zip(machine.registers, state.values, strict=True)
        ]
        size = bitmap_bytes(len(machine.nodes))
        maps = [list(_bitmap(numbers, size)) for numbers in ((0, *state.active_nodes), *state.history)]
        none = [[0] * bitmap_bytes(len(machine.chart.promises))] if self.monitors else []
        found: np.void = np.array([(0, maps[0], *values, *maps[1:], *none)], self.states)[0]
        return found

    @cached_property
    def _readers(self) -> tuple[tuple[str, Type, Mapping[str, int] | None], ...]:
        chart = self.machine.chart
        kinds: dict[str, Type] = {**chart.inputs, **dict.fromkeys(chart.events, BoolType())}
        return tuple((name, kind, _codes_of(kind)) for name, kind in kinds.items())

    @cached_property
    def _codes(self) -> Mapping[str, Mapping[str, int] | None]:
        return {name: _codes_of(self.machine.types[name]) for name in self.machine.registers}

    @cached_property
    def _layout(self) -> struct.Struct:
        return layout_of(self.states)

    @cached_property
    def _unlike(self) -> tuple[tuple[int, tuple[str, ...] | None], ...]:
        """Which registers Python holds otherwise: truth values (None), and names of an enumeration."""
        kinds = [self.machine.types[name] for name in self.machine.registers]
        return tuple(
            (at, kind.values if isinstance(kind, EnumType) else None)
            for at, kind in enumerate(kinds)
            if isinstance(kind, EnumType | BoolType)
        )

    @cached_property
    def _known(self) -> dict[bytes, tuple[int, ...]]:
        return {}

    @cached_property
    def _known_leaves(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        return {}

    def _refuse_row(self, row: Mapping[str, object]) -> None:
        """Refuse a row in which an input is missing or that has one too many; events may be left out."""
        chart = self.machine.chart
        for name in row:
            if name not in (*chart.inputs, *chart.events):
                raise UnknownNameError.among("input", name, (*chart.inputs, *chart.events))
        for name in chart.inputs:
            if name not in row:
                raise InputError(f"the input {name!r} is missing", hint=f"inputs: {', '.join(chart.inputs)}")

    def _values(self, column: NDArray[Any], kind: Type) -> list[Value]:
        if isinstance(kind, BoolType):
            column = column.astype(np.bool_)
        found: list[Any] = column.tolist()
        return [kind.values[code] for code in found] if isinstance(kind, EnumType) else found

    def _numbers(self, bitmaps: NDArray[np.uint8]) -> list[tuple[int, ...]]:
        """Return the numbers of the nodes in each bitmap."""
        size = bitmaps.shape[1]
        data = np.ascontiguousarray(bitmaps).tobytes()
        return [self._bits(data[begin : begin + size]) for begin in range(0, len(data), size)]

    def _bits(self, bits: bytes) -> tuple[int, ...]:
        known = self._known
        if bits not in known:
            each = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
            known[bits] = tuple(np.flatnonzero(each).tolist())
        return known[bits]

    def _leaves(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        known = self._known_leaves
        if numbers not in known:
            known[numbers] = tuple(number for number in numbers if self.machine.nodes[number].is_leaf)
        return known[numbers]


def _codes_of(kind: Type) -> Mapping[str, int] | None:
    return kind.codes if isinstance(kind, EnumType) else None


def _stored(value: Any, codes: Mapping[str, int] | None) -> Any:
    return value if codes is None else codes[value]


def _coded(column: NDArray[Any], codes: Mapping[str, int]) -> NDArray[Any]:
    names, places = np.unique(column, return_inverse=True)
    return np.array([codes[str(name)] for name in names], np.int64)[places]


def _bitmap(numbers: Iterable[int], size: int) -> bytes:
    return sum(1 << number for number in numbers).to_bytes(size, "little")
