"""A tick as a table in flash, with a row for each state and its inputs: the next state and the outputs.

Each row is computed by a tick of the interpreter at generation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import product

from posewright.charts.machine import Machine, Snapshot, TickExecution
from posewright.charts.types import BoolType, EnumType, IntType, Type, Value
from posewright.codegen.c.code import ChartCode
from posewright.codegen.c.single import SingleStateCode
from posewright.codegen.c.values import integer_literal
from posewright.codegen.c.writer import comment
from posewright.codegen.unit import Element
from posewright.errors import ExpressionError, InputError

MAX_ROWS = 512
"""A longer table takes more flash than any switch."""

ROW_BITS = 16


class Style(Enum):
    """The form of the tick of a chart with one active state: the smaller one, a switch, a table."""

    AUTO = "auto"
    SWITCH = "switch"
    TABLE = "table"


class NotATableError(Exception):
    """A tick cannot be a table; the text gives the reason."""


@dataclass(frozen=True)
class _TableRow:
    """One tick.

    Attributes:
        state: number of the state before it.
        cells: the index of the value of each column.
        next: number of the state after it.
        sets: the registers that it sets, with their values as integers.
        element: the transition taken, else the state.
        description: of the tick, for a comment.
    """

    state: int
    cells: tuple[int, ...]
    next: int
    sets: Mapping[str, int]
    element: Element
    description: str


@dataclass(frozen=True)
class _Column:
    """An input, event or register that a tick depends on; `read` is the index of its value in C."""

    name: str
    read: str
    values: tuple[Value, ...]

    @property
    def size(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class _Field:
    """Bits of a row for a register's value less `low`.

    `pattern` is the index of the pattern of rows that set the register; None if all rows set it.
    """

    name: str
    low: int
    bits: int
    shift: int
    pattern: int | None


class TruthTable:
    """The table of a chart with one active state.

    Args:
        form: the code of its states.

    Raises:
        NotATableError: its tick depends on more than the state and a few small values, or there
            would be too many rows.
    """

    def __init__(self, form: SingleStateCode) -> None:
        self.form = form
        self.code: ChartCode = form.code
        self.machine = form.code.machine
        self._require_stateless_tick()
        self.columns = self._find_columns()
        self.n_states = len(form.leaves) + form.enters_at_first_tick
        count = self.n_states
        for column in self.columns:
            count *= column.size
        if count > MAX_ROWS:
            raise NotATableError(f"it would have {count} rows, and {MAX_ROWS} are the most")
        rows = [row for state in range(self.n_states) for row in self._compute_rows(state)]
        self.rows = self._fill_known_values(rows)
        self.fields, self.patterns, self.state_shift = self._pack_fields()
        self.bits = self.state_shift + (self.n_states - 1).bit_length()
        if self.bits > ROW_BITS:
            raise NotATableError(f"a row would take {self.bits} bits, and {ROW_BITS} are the most")

    def _require_stateless_tick(self) -> None:
        """Raise a NotATableError where a tick depends on more than the state, inputs and registers."""
        machine = self.machine
        reasons = {
            "it remembers states that were left": bool(machine.history),
            "it acts during ticks": bool(machine.during_nodes),
            "it raises events that wait": machine.queue_limit > 0,
            "a tick goes on until nothing moves": machine.runs_to_completion,
        }
        for reason, holds in reasons.items():
            if holds:
                raise NotATableError(reason)

    def _find_columns(self) -> list[_Column]:
        """Return the columns: what a tick depends on besides the state."""
        machine = self.machine
        names = self.code.names
        names_read = frozenset[str]().union(*(expression.names for expression in machine.expressions))
        names_read |= {counter.name for counter in machine.counters}
        sampled = {name: f"in->{field}" for name, field in names.inputs.items()}
        registers = {name: f"chart->{field}" for name, field in names.registers.items()}
        columns = []
        for name, text in (registers | sampled).items():
            if name in names_read:
                kind = machine.types[name]
                columns.append(_Column(name, _cell_text(text, kind), _list_values(name, kind)))
        for event in machine.events:
            if self.form.has_transitions(event):
                text = f"in->{names.event_inputs[event]}"
                columns.append(_Column(event, _cell_text(text, BoolType()), (False, True)))
        return columns

    # The rows

    def _compute_rows(self, state: int) -> Iterator[_TableRow]:
        """Yield the rows of a state, for all values of the columns, the last one changing fastest.

        Each tick is taken from two values of every register that is no column: one that ends up the same was
        set.
        """
        machine = self.machine
        started = state < len(self.form.leaves)
        leaf = self.form.leaves[state].index if started else self.form.initial_move.configuration[0]
        zero_inputs = {name: kind.default for name, kind in machine.inputs.items()}
        value_pairs = [_two_values(machine.types[name]) for name in machine.registers]
        for cells in product(*(range(column.size) for column in self.columns)):
            column_values = {
                column.name: column.values[cell] for column, cell in zip(self.columns, cells, strict=True)
            }
            inputs = zero_inputs | {
                name: value for name, value in column_values.items() if name in machine.inputs
            }
            events = [event for event in machine.events if column_values.get(event)]
            snapshots = []
            for i in (0, 1):
                values = tuple(
                    column_values.get(name, value_pair[i])
                    for name, value_pair in zip(machine.registers, value_pairs, strict=True)
                )
                before = Snapshot(machine, started, configuration=(leaf,), values=values, history=())
                tick = TickExecution(machine, before)
                try:
                    snapshots.append(tick.run(inputs, events))
                except ExpressionError as error:
                    raise NotATableError("a tick of it may divide by zero") from error
            sets = {
                name: _integer_code(name, machine.types[name], first)
                for name, first, second, value_pair in zip(
                    machine.registers, snapshots[0].values, snapshots[1].values, value_pairs, strict=True
                )
                if first == second and (value_pair[0] != value_pair[1] or name in column_values)
            }
            next_state = self.form.rank[snapshots[0].configuration[0]]
            transition = tick.taken_transitions[-1] if tick.taken_transitions else None
            node = machine.nodes[leaf]
            element = (
                self.code.transition_element(transition) if transition else self.code.state_element(node)
            )
            description = (
                self.code.transition_name(transition)
                + (f" (line {transition.line})" if transition.line else "")
                if transition
                else "stays"
            )
            yield _TableRow(
                state, cells, next=next_state, sets=sets, element=element, description=description
            )

    def _fill_known_values(self, rows: Sequence[_TableRow]) -> list[_TableRow]:
        """Return rows that also set registers they leave unchanged, where the state determines the value.

        This makes more registers set in all rows, which saves bits.
        """
        machine = self.machine
        start = machine.start(self.form.initial_move.configuration)
        values_in: dict[int, dict[str, int | None]] = {}  # of registers by state; None for several values
        first = (
            len(self.form.leaves)
            if self.form.enters_at_first_tick
            else self.form.rank[self.form.initial_move.configuration[0]]
        )
        register_names = sorted({name for row in rows for name in row.sets})
        values_in[first] = {
            name: _integer_code(name, machine.types[name], start[name]) for name in register_names
        }
        changed = True
        while changed:
            changed = False
            for row in rows:
                if row.state not in values_in:
                    continue
                values_after: dict[str, int | None] = {**values_in[row.state], **row.sets}
                before = values_in.get(row.next)
                if before is not None:
                    for name, value in values_after.items():
                        values_after[name] = value if before[name] == value else None
                if values_after != before:
                    values_in[row.next] = values_after
                    changed = True
        filled_rows = []
        for row in rows:
            state_values = values_in.get(row.state, {})
            unchanged = {name: value for name, value in state_values.items() if value is not None}
            filled_rows.append(replace(row, sets={**unchanged, **row.sets}))
        return filled_rows

    # How a row is packed

    def _pack_fields(self) -> tuple[list[_Field], list[tuple[bool, ...]], int]:
        """Return the fields, the patterns of rows in which some are set, and the first bit of the state."""
        fields: list[_Field] = []
        patterns: list[tuple[bool, ...]] = []
        shift = 0
        for name in self.machine.registers:
            values = [row.sets[name] for row in self.rows if name in row.sets]
            if not values:
                continue
            pattern = tuple(name in row.sets for row in self.rows)
            pattern_index = None
            if not all(pattern):
                if pattern not in patterns:
                    patterns.append(pattern)
                pattern_index = patterns.index(pattern)
            kind = self.machine.types[name]
            low = 0 if isinstance(kind, BoolType) or 0 <= min(values) <= max(values) < 4 else min(values)
            bits = max((max(values) - low).bit_length(), 1)
            fields.append(_Field(name, low, bits, shift, pattern=pattern_index))
            shift += bits
        return fields, patterns, shift + len(patterns)

    def _packed_row(self, index: int) -> int:
        """Return a row as an integer."""
        row = self.rows[index]
        number = row.next << self.state_shift
        for field in self.fields:
            number |= (row.sets.get(field.name, field.low) - field.low) << field.shift
        for k, pattern in enumerate(self.patterns):
            number |= pattern[index] << (self.state_shift - len(self.patterns) + k)
        return number

    @property
    def row_type(self) -> str:
        """The type of a row."""
        return "uint8_t" if self.bits <= 8 else "uint16_t"

    @cached_property
    def size(self) -> int:
        """Estimated flash of the table and its code on an AVR (`avr-gcc -Os`, measured) [bytes]."""
        width = 1 if self.bits <= 8 else 2
        columns = sum(8 if column.size == 2 else 16 for column in self.columns)
        return (
            len(self.rows) * width + 40 + columns + (10 * len(self.fields) + 8 * len(self.patterns)) * width
        )

    # The C

    def write_table(self) -> None:
        """Write the table."""
        writer = self.code.writer
        n_digits = 2 if self.bits <= 8 else 4
        columns = ", ".join(["state", *(column.name for column in self.columns)])
        writer.line(comment(f"What a tick does, by {columns}; the last one changes from row to row."))
        parts = [f"{_bit_range(field.shift, field.bits)}: {field.name}" for field in self.fields]
        base = self.state_shift - len(self.patterns)
        for k in range(len(self.patterns)):
            names = ", ".join(field.name for field in self.fields if field.pattern == k)
            parts.append(f"bit {base + k}: {names} set, else kept")
        parts.append(f"{_bit_range(self.state_shift, self.bits - self.state_shift)}: next state")
        writer.line(comment("; ".join(parts)))
        with writer.block(f"static const {self.row_type} rows[{len(self.rows)}] PW_ROM =", "};"):
            state = None
            for index, row in enumerate(self.rows):
                if row.state != state:
                    state = row.state
                    writer.line(comment(self._state_name(state)))
                cells = " ".join(
                    f"{column.name}={_value_text(column.values[cell])}"
                    for column, cell in zip(self.columns, row.cells, strict=True)
                )
                with writer.about(row.element):
                    meaning = comment(f"{cells}: {row.description}" if cells else row.description)
                    writer.line(f"0x{self._packed_row(index):0{n_digits}x}U, {meaning}")
        writer.line()

    def _state_name(self, state: int) -> str:
        return self.form.leaves[state].name if state < len(self.form.leaves) else "before the first tick"

    def write_tick(self) -> None:
        """Write the body of the function that takes a tick by the table."""
        writer = self.code.writer
        names = self.code.names
        index = "uint8_t" if len(self.rows) <= 256 else "uint16_t"
        writer.line(f"{index} index = chart->state;")
        writer.line(f"{self.row_type} row;")
        for column in self.columns:
            writer.line(f"index = ({index})((index * {column.size}U) + {column.read});")
        writer.line(f"row = PW_READ_{8 if self.bits <= 8 else 16}(rows, index);")
        base = self.state_shift - len(self.patterns)
        for k in (None, *range(len(self.patterns))):
            lines = [
                f"chart->{names.registers[field.name]} = {self._unpack_expression(field)};"
                for field in self.fields
                if field.pattern == k
            ]
            if k is None:
                writer.write(lines)
                continue
            with writer.block(f"if ((row & {1 << (base + k):#x}U) != 0U)"):
                writer.write(lines)
        if self.n_states > 1:
            writer.line(f"chart->state = ({self.form.state_type})(row >> {self.state_shift});")

    def _unpack_expression(self, field: _Field) -> str:
        """Return the expression of C for a field's value in a packed row."""
        kind = self.machine.types[field.name]
        mask = (1 << field.bits) - 1
        if isinstance(kind, BoolType):
            return f"(row & {mask << field.shift:#x}U) != 0U"
        part = f"(row >> {field.shift}) & {mask:#x}U" if field.shift else f"row & {mask:#x}U"
        stored = self.code.c_type(kind)
        if not field.low:
            return f"({stored})({part})"
        wide = "int32_t" if kind.storage in ("int32", "uint16") else "int16_t"
        return f"({stored})(({wide})({part}) + {integer_literal(field.low)})"


def choose_table(
    machine: Machine, form: SingleStateCode | None, style: Style, switch: Callable[[], Sequence[str]]
) -> TruthTable | None:
    """Return the table of a chart's tick; None for a switch.

    With `AUTO` the smaller one on an AVR is chosen, by the estimates `TruthTable.size` and `switch_size`.

    Args:
        machine: the machine of the chart.
        form: the code of its states; None for a chart with regions.
        style: the style requested.
        switch: returns the lines of the tick as a switch, to estimate its size.

    Raises:
        InputError: a table is requested, and the chart cannot be one.
    """
    if style is Style.SWITCH:
        return None
    try:
        if form is None:
            raise NotATableError("states are active side by side")
        table = TruthTable(form)
    except NotATableError as error:
        if style is Style.AUTO:
            return None
        raise InputError(
            f"{machine.chart.name} cannot be a table: {error}", hint="choose the style switch or auto"
        ) from error
    return table if style is Style.TABLE or table.size < switch_size(switch()) else None


def switch_size(lines: Sequence[str]) -> int:
    """Return the estimated flash of a switch on an AVR [bytes].

    28 bytes and 1.9 for each access to a variable or input, fitted to the sizes of 22 random flat charts
    under `avr-gcc -Os`, with a mean error of 16 bytes.
    """
    text = re.sub(r"/\*.*?\*/", "", "\n".join(lines))
    return round(28 + 1.9 * (text.count("chart->") + text.count("in->")))


def _list_values(name: str, kind: Type) -> tuple[Value, ...]:
    """Return all values of a type, in the order of their indices.

    Raises:
        NotATableError: there are too many.
    """
    if isinstance(kind, BoolType):
        return (False, True)
    if isinstance(kind, EnumType):
        return tuple(kind.values)
    if isinstance(kind, IntType) and kind.high - kind.low < MAX_ROWS:
        return tuple(range(kind.low, kind.high + 1))
    raise NotATableError(f"{name} has too many values")


def _cell_text(text: str, kind: Type) -> str:
    """Return the expression of C for the index of a value, counted from 0."""
    if isinstance(kind, BoolType):
        return f"({text} ? 1U : 0U)"
    if not isinstance(kind, IntType):
        return f"(uint8_t){text}"
    wide = "uint8_t" if kind.high - kind.low < 256 else "uint16_t"
    if not kind.low:
        return f"({wide}){text}"
    return f"({wide})({text} {'-' if kind.low > 0 else '+'} {integer_literal(abs(kind.low))})"


def _two_values(kind: Type) -> tuple[Value, Value]:
    """Return two different values of a type, if it has them."""
    if isinstance(kind, BoolType):
        return False, True
    if isinstance(kind, EnumType):
        return kind.values[0], kind.values[-1]
    if isinstance(kind, IntType):
        return kind.low, kind.high
    return kind.clamp(0.0), kind.clamp(1.0)


def _integer_code(name: str, kind: Type, value: Value) -> int:
    """Return a value as an integer."""
    if isinstance(kind, EnumType):
        return kind.codes[str(value)]
    if isinstance(kind, BoolType | IntType):
        return int(value)
    raise NotATableError(f"it sets {name}, which is a fraction")


def _value_text(value: Value) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _bit_range(shift: int, bits: int) -> str:
    return f"bit {shift}" if bits <= 1 else f"bits {shift} to {shift + bits - 1}"
