"""A tick as a table in flash: the row of a state and its inputs says the next state and the outputs.

The rows are what the interpreter does: each is one tick of it, taken while the C is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import product

from posewright.charts.machine import Machine, Snapshot, TickExecution
from posewright.charts.types import BoolType, EnumType, IntType, Type, Value
from posewright.codegen.c.code import ChartCode
from posewright.codegen.c.single import SingleStateCode
from posewright.codegen.c.values import whole
from posewright.codegen.c.writer import comment
from posewright.codegen.unit import Element
from posewright.errors import ExpressionError, InputError

MAX_ROWS = 512
"""A longer table would take more flash than any switch it stands for."""

ROW_BITS = 16


class Style(Enum):
    """How the tick of a chart of one state at a time is written: by size, as a switch, as a table."""

    AUTO = "auto"
    SWITCH = "switch"
    TABLE = "table"


class NotATableError(Exception):
    """A tick that cannot be a table; the text says why."""


@dataclass(frozen=True)
class _Row:
    """One tick: the state it begins in, the cells of its columns, where it leads, and what it sets."""

    state: int
    cells: tuple[int, ...]
    next: int
    sets: Mapping[str, int]
    element: Element
    said: str


@dataclass(frozen=True)
class _Column:
    """An input, event or register that a tick depends on; its cells count from 0."""

    name: str
    read: str
    values: tuple[Value, ...]

    @property
    def size(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class _Field:
    """Some bits of a row: a register's value, counted from `low`."""

    name: str
    low: int
    bits: int
    shift: int
    when: int | None


class TruthTable:
    """The table of a chart of one state at a time.

    Args:
        form: what is known of its states.

    Raises:
        NotATableError: its tick depends on more than the state and a few small values, or there
            would be too many rows.
    """

    def __init__(self, form: SingleStateCode) -> None:
        self.form = form
        self.code: ChartCode = form.code
        self.machine = form.code.machine
        self._refuse()
        self.columns = self._columns()
        self.states = len(form.leaves) + form.starts
        count = self.states
        for column in self.columns:
            count *= column.size
        if count > MAX_ROWS:
            raise NotATableError(f"it would have {count} rows, and {MAX_ROWS} are the most")
        self.rows = self._filled([row for state in range(self.states) for row in self._rows_of(state)])
        self.fields, self.patterns, self.state_shift = self._packed()
        self.bits = self.state_shift + (self.states - 1).bit_length()
        if self.bits > ROW_BITS:
            raise NotATableError(f"a row would take {self.bits} bits, and {ROW_BITS} are the most")

    def _refuse(self) -> None:
        machine = self.machine
        reasons = {
            "it remembers states that were left": bool(machine.history),
            "it acts during ticks": bool(machine.during_nodes),
            "it raises events that wait": machine.queue_limit > 0,
            "a tick goes on until nothing moves": machine.runs_to_completion,
        }
        found = next((reason for reason, holds in reasons.items() if holds), None)
        if found is not None:
            raise NotATableError(found)

    def _columns(self) -> list[_Column]:
        """Return what a tick depends on besides the state."""
        machine, names = self.machine, self.code.names
        read = frozenset[str]().union(*(one.names for one in machine.expressions))
        read |= {counter.name for counter in machine.counters}
        sampled = {name: f"in->{field}" for name, field in names.inputs.items()}
        kept = {name: f"chart->{field}" for name, field in names.registers.items()}
        columns = []
        for name, text in (kept | sampled).items():
            if name in read:
                kind = machine.types[name]
                columns.append(_Column(name, _cell_text(text, kind), _values(name, kind)))
        for event in machine.events:
            if self.form.asks(event):
                text = f"in->{names.event_inputs[event]}"
                columns.append(_Column(event, _cell_text(text, BoolType()), (False, True)))
        return columns

    # The rows

    def _rows_of(self, state: int) -> Iterator[_Row]:
        """Yield what a tick does that begins in a state, for all inputs, the last one changing fastest."""
        machine = self.machine
        started = state < len(self.form.leaves)
        leaf = self.form.leaves[state].index if started else self.form.first.configuration[0]
        rest = {name: kind.default for name, kind in machine.inputs.items()}
        probes = [_probe(machine.types[name]) for name in machine.registers]
        for cells in product(*(range(column.size) for column in self.columns)):
            given = {
                column.name: column.values[cell] for column, cell in zip(self.columns, cells, strict=True)
            }
            inputs = rest | {name: value for name, value in given.items() if name in machine.inputs}
            events = [event for event in machine.events if given.get(event)]
            after = []
            for side in (0, 1):
                values = tuple(
                    given.get(name, probe[side])
                    for name, probe in zip(machine.registers, probes, strict=True)
                )
                before = Snapshot(machine, started, (leaf,), values, ())
                tick = TickExecution(machine, before)
                try:
                    after.append(tick.run(inputs, events))
                except ExpressionError as error:
                    raise NotATableError("a tick of it may divide by zero") from error
            sets = {
                name: _code(name, machine.types[name], one)
                for name, one, other, probe in zip(
                    machine.registers, after[0].values, after[1].values, probes, strict=True
                )
                if one == other and (probe[0] != probe[1] or name in given)
            }
            goal = self.form.rank[after[0].configuration[0]]
            way = tick.taken_transitions[-1] if tick.taken_transitions else None
            node = machine.nodes[leaf]
            element = self.code.way_element(way) if way else self.code.state_element(node)
            said = self.code.way_name(way) + (f" (line {way.line})" if way.line else "") if way else "stays"
            yield _Row(state, cells, goal, sets, element, said)

    def _filled(self, rows: Sequence[_Row]) -> list[_Row]:
        """Return the rows with what they keep set as well, where a register has one value in that state."""
        machine = self.machine
        start = machine.start(self.form.first.configuration)
        known: dict[int, dict[str, int | None]] = {}
        first = (
            len(self.form.leaves) if self.form.starts else self.form.rank[self.form.first.configuration[0]]
        )
        packed = sorted({name for row in rows for name in row.sets})
        known[first] = {name: _code(name, machine.types[name], start[name]) for name in packed}
        changed = True
        while changed:
            changed = False
            for row in (row for row in rows if row.state in known):
                found: dict[str, int | None] = {**known[row.state], **row.sets}
                before = known.get(row.next)
                after = (
                    found if before is None else {n: v if before[n] == v else None for n, v in found.items()}
                )
                if after != before:
                    known[row.next], changed = after, True
        filled = []
        for row in rows:
            held = {name: value for name, value in known.get(row.state, {}).items() if value is not None}
            filled.append(_Row(row.state, row.cells, row.next, {**held, **row.sets}, row.element, row.said))
        return filled

    # How a row is packed

    def _packed(self) -> tuple[list[_Field], list[tuple[bool, ...]], int]:
        """Return the fields, for which rows they are set, and where the state begins."""
        fields: list[_Field] = []
        patterns: list[tuple[bool, ...]] = []
        shift = 0
        for name in self.machine.registers:
            values = [row.sets[name] for row in self.rows if name in row.sets]
            if not values:
                continue
            pattern = tuple(name in row.sets for row in self.rows)
            when = None
            if not all(pattern):
                if pattern not in patterns:
                    patterns.append(pattern)
                when = patterns.index(pattern)
            kind = self.machine.types[name]
            low = 0 if isinstance(kind, BoolType) or 0 <= min(values) <= max(values) < 4 else min(values)
            bits = max((max(values) - low).bit_length(), 1)
            fields.append(_Field(name, low, bits, shift, when))
            shift += bits
        return fields, patterns, shift + len(patterns)

    def _number(self, place: int) -> int:
        """Return a row as a number."""
        row = self.rows[place]
        number = row.next << self.state_shift
        for field in self.fields:
            number |= (row.sets.get(field.name, field.low) - field.low) << field.shift
        for k, pattern in enumerate(self.patterns):
            number |= pattern[place] << (self.state_shift - len(self.patterns) + k)
        return number

    @property
    def row_type(self) -> str:
        """The type of a row."""
        return "uint8_t" if self.bits <= 8 else "uint16_t"

    @cached_property
    def size(self) -> int:
        """About how many bytes of flash it and what reads it take on an AVR (`avr-gcc -Os`, measured)."""
        width = 1 if self.bits <= 8 else 2
        columns = sum(8 if column.size == 2 else 16 for column in self.columns)
        return (
            len(self.rows) * width + 40 + columns + (10 * len(self.fields) + 8 * len(self.patterns)) * width
        )

    # The C

    def table(self) -> None:
        """Write the table."""
        writer, width = self.code.writer, 2 if self.bits <= 8 else 4
        columns = ", ".join(["state", *(column.name for column in self.columns)])
        writer.line(comment(f"What a tick does, by {columns}; the last one changes from row to row."))
        parts = [f"{_bits_said(field.shift, field.bits)}: {field.name}" for field in self.fields]
        base = self.state_shift - len(self.patterns)
        for k in range(len(self.patterns)):
            kept = ", ".join(field.name for field in self.fields if field.when == k)
            parts.append(f"bit {base + k}: {kept} set, else kept")
        parts.append(f"{_bits_said(self.state_shift, self.bits - self.state_shift)}: next state")
        writer.line(comment("; ".join(parts)))
        with writer.block(f"static const {self.row_type} rows[{len(self.rows)}] PW_ROM =", "};"):
            state = None
            for place, row in enumerate(self.rows):
                if row.state != state:
                    state = row.state
                    writer.line(comment(self._state_said(state)))
                cells = " ".join(
                    f"{column.name}={_value_said(column.values[cell])}"
                    for column, cell in zip(self.columns, row.cells, strict=True)
                )
                with writer.about(row.element):
                    said = comment(f"{cells}: {row.said}" if cells else row.said)
                    writer.line(f"0x{self._number(place):0{width}x}U, {said}")
        writer.line()

    def _state_said(self, state: int) -> str:
        return self.form.leaves[state].name if state < len(self.form.leaves) else "before the first tick"

    def tick(self) -> None:
        """Write what takes a tick."""
        writer, names = self.code.writer, self.code.names
        index = "uint8_t" if len(self.rows) <= 256 else "uint16_t"
        writer.line(f"{index} index = chart->state;")
        writer.line(f"{self.row_type} row;")
        for column in self.columns:
            writer.line(f"index = ({index})((index * {column.size}U) + {column.read});")
        writer.line(f"row = PW_READ_{8 if self.bits <= 8 else 16}(rows, index);")
        base = self.state_shift - len(self.patterns)
        for k in (None, *range(len(self.patterns))):
            lines = [
                f"chart->{names.registers[field.name]} = {self._unpacked(field)};"
                for field in self.fields
                if field.when == k
            ]
            if k is None:
                writer.write(lines)
                continue
            with writer.block(f"if ((row & {1 << (base + k):#x}U) != 0U)"):
                writer.write(lines)
        if self.states > 1:
            writer.line(f"chart->state = ({self.form.state_type})(row >> {self.state_shift});")

    def _unpacked(self, field: _Field) -> str:
        kind = self.machine.types[field.name]
        mask = (1 << field.bits) - 1
        if isinstance(kind, BoolType):
            return f"(row & {mask << field.shift:#x}U) != 0U"
        part = f"(row >> {field.shift}) & {mask:#x}U" if field.shift else f"row & {mask:#x}U"
        stored = self.code.c_type(kind)
        if not field.low:
            return f"({stored})({part})"
        wide = "int32_t" if kind.storage in ("int32", "uint16") else "int16_t"
        return f"({stored})(({wide})({part}) + {whole(field.low)})"


def table_of(
    machine: Machine, form: SingleStateCode | None, style: Style, switch: Callable[[], Sequence[str]]
) -> TruthTable | None:
    """Return the table that a chart's tick becomes; None for a switch.

    A table is chosen where it and what reads it is smaller than the switch on an AVR, both estimated: see
    `TruthTable.size` and `switch_size`.

    Args:
        machine: of the chart.
        form: what is known of its states; None where states are active side by side.
        style: what is wanted.
        switch: returns the lines of the switch.

    Raises:
        InputError: a table is wanted, and the chart cannot be one.
    """
    if style is Style.SWITCH:
        return None
    try:
        if form is None:
            raise NotATableError("states are active side by side")
        found = TruthTable(form)
    except NotATableError as error:
        if style is Style.AUTO:
            return None
        raise InputError(
            f"{machine.chart.name} cannot be a table: {error}", hint="let it be a switch, or choose auto"
        ) from error
    return found if style is Style.TABLE or found.size < switch_size(switch()) else None


def switch_size(lines: Sequence[str]) -> int:
    """Return about how many bytes of flash a switch takes on an AVR.

    28 bytes, and 1.9 for each time that a variable or an input is read or set: fitted to what `avr-size` says
    of 22 random flat charts under `avr-gcc -Os`, which it misses by 16 bytes on the average.
    """
    text = re.sub(r"/\*.*?\*/", "", "\n".join(lines))
    return round(28 + 1.9 * (text.count("chart->") + text.count("in->")))


def _values(name: str, kind: Type) -> tuple[Value, ...]:
    if isinstance(kind, BoolType):
        return (False, True)
    if isinstance(kind, EnumType):
        return tuple(kind.values)
    if isinstance(kind, IntType) and kind.high - kind.low < MAX_ROWS:
        return tuple(range(kind.low, kind.high + 1))
    raise NotATableError(f"{name} has too many values")


def _cell_text(text: str, kind: Type) -> str:
    """Return how a value counts from 0."""
    if isinstance(kind, BoolType):
        return f"({text} ? 1U : 0U)"
    if not isinstance(kind, IntType):
        return f"(uint8_t){text}"
    wide = "uint8_t" if kind.high - kind.low < 256 else "uint16_t"
    if not kind.low:
        return f"({wide}){text}"
    return f"({wide})({text} {'-' if kind.low > 0 else '+'} {whole(abs(kind.low))})"


def _probe(kind: Type) -> tuple[Value, Value]:
    """Return two values of a type: what ends up the same from both was set."""
    if isinstance(kind, BoolType):
        return False, True
    if isinstance(kind, EnumType):
        return kind.values[0], kind.values[-1]
    if isinstance(kind, IntType):
        return kind.low, kind.high
    return kind.clamp(0.0), kind.clamp(1.0)


def _code(name: str, kind: Type, value: Value) -> int:
    """Return a value as a whole number."""
    if isinstance(kind, EnumType):
        return kind.codes[str(value)]
    if isinstance(kind, BoolType | IntType):
        return int(value)
    raise NotATableError(f"it sets {name}, which is a fraction")


def _value_said(value: Value) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _bits_said(shift: int, bits: int) -> str:
    return f"bit {shift}" if bits <= 1 else f"bits {shift} to {shift + bits - 1}"
