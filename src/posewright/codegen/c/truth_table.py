"""A tick as a table in flash, with a row for each state and its inputs: the next state and the outputs.

Each row is computed by a tick of the interpreter at generation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import product

from posewright.charts.machine import Machine, Snapshot, TickExecution
from posewright.charts.machine.node import CompoundTransition
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
    """A row of the table: what a tick does in one state with one value in each column.

    Attributes:
        state: number of the state before the tick: the index of its leaf, or the number after the last leaf
            before the first tick.
        value_indices: for each column, the index of its value in `_Column.values`.
        next_state: number of the state after the tick.
        register_values: the values of the registers that the tick sets, as integers; others are unchanged.
        element: the transition taken, else the state.
        description: the description of the tick, for a comment.
    """

    state: int
    value_indices: tuple[int, ...]
    next_state: int
    register_values: Mapping[str, int]
    element: Element
    description: str


@dataclass(frozen=True)
class _Column:
    """A column of the table: an input, event or register that a tick depends on.

    Attributes:
        name: its name.
        index_expression: the expression of C for the index of its value in `values`.
        values: all values that it may have.
    """

    name: str
    index_expression: str
    values: tuple[Value, ...]

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.values)


@dataclass(frozen=True)
class _Field:
    """The bits of a packed row that hold the new value of a register.

    Attributes:
        name: the register.
        low: the lowest value in any row, which is subtracted from the value that is stored.
        n_bits: number of bits.
        shift: number of the lowest bit.
        group_index: the group of registers that it belongs to, as an index in `TruthTable.group_flags`; None
            if all rows set it.
    """

    name: str
    low: int
    n_bits: int
    shift: int
    group_index: int | None


class TruthTable:
    """The table of the tick of a chart with one active state.

    A state is numbered by its leaf (`SingleStateCode.leaf_number`). A chart that is entered by its first tick
    has one state more, before that tick, whose number follows that of the last leaf.

    Each row is packed into 8 or 16 bits. From the lowest bit on, these are the fields of registers, a bit for
    each group, and the next state. A group has the registers that are set in the same rows, unless these are
    all rows; its bit in a row is 1 if the row sets them, and 0 if it leaves them unchanged.

    Args:
        state_code: the code of its states.

    Attributes:
        state_code: the code of its states.
        code: the code of names, actions and counters.
        machine: the machine of the chart.
        columns: what a tick depends on besides the state, in the order of the rows.
        n_states: number of states, with the one before the first tick.
        rows: the rows, by state and then by the values of the columns.
        fields: the fields of a row.
        group_flags: for each group, whether each row sets its registers, `(n_rows,)`.
        state_shift: the lowest bit of the next state.
        n_bits: number of bits of a row.

    Raises:
        NotATableError: its tick depends on more than the state and a few small values, or there
            would be too many rows.
    """

    def __init__(self, state_code: SingleStateCode) -> None:
        """Compute the rows by ticks of the interpreter, and divide the bits of a row."""
        self.state_code = state_code
        self.code: ChartCode = state_code.code
        self.machine = state_code.code.machine
        self._require_stateless_tick()
        self.columns = self._find_columns()
        self.n_states = len(state_code.leaves)
        if state_code.enters_at_first_tick:
            self.n_states += 1
        n_rows = self.n_states * math.prod(column.size for column in self.columns)
        if n_rows > MAX_ROWS:
            raise NotATableError(f"it would have {n_rows} rows, and {MAX_ROWS} are the most")
        rows = [row for state in range(self.n_states) for row in self._compute_rows(state)]
        self.rows = self._fill_known_values(rows)
        self.fields, self.group_flags = self._pack_fields()
        n_field_bits = sum(field.n_bits for field in self.fields)
        self.state_shift = n_field_bits + len(self.group_flags)
        self.n_bits = self.state_shift + (self.n_states - 1).bit_length()
        if self.n_bits > ROW_BITS:
            raise NotATableError(f"a row would take {self.n_bits} bits, and {ROW_BITS} are the most")

    def _require_stateless_tick(self) -> None:
        """Raise a NotATableError where a tick depends on more than state, inputs, events and registers."""
        machine = self.machine
        reasons = {
            "it remembers states that were left": bool(machine.histories),
            "it acts during ticks": bool(machine.during_nodes),
            "it raises events that wait": machine.queue_limit > 0,
            "a tick goes on until nothing moves": machine.runs_to_completion,
        }
        for reason, holds in reasons.items():
            if holds:
                raise NotATableError(reason)

    def _find_columns(self) -> list[_Column]:
        """Return the columns, what a tick depends on besides the state: registers, inputs, then events."""
        machine = self.machine
        names = self.code.names
        registers = {name: f"chart->{field}" for name, field in names.registers.items()}
        inputs = {name: f"in->{field}" for name, field in names.inputs.items()}
        names_read = self._find_names_read()
        columns: list[_Column] = []
        for name, c_expression in (registers | inputs).items():
            if name not in names_read:
                continue
            value_type = machine.types[name]
            index_expression = _index_expression(c_expression, value_type)
            columns.append(_Column(name, index_expression, values=_list_values(name, value_type)))
        for event in machine.events:
            if self.state_code.has_transitions(event):
                index_expression = _index_expression(f"in->{names.event_inputs[event]}", BoolType())
                columns.append(_Column(event, index_expression, values=(False, True)))
        return columns

    def _find_names_read(self) -> set[str]:
        """Return the names of all inputs and registers that a tick reads."""
        names_read = {counter.name for counter in self.machine.counters}
        for expression in self.machine.expressions:
            names_read |= expression.names
        return names_read

    # The rows

    def _compute_rows(self, state: int) -> Iterator[_TableRow]:
        """Yield the rows of a state, for all values of the columns, the last one changing fastest."""
        for value_indices in product(*(range(column.size) for column in self.columns)):
            yield self._compute_row(state, value_indices)

    def _compute_row(self, state: int, value_indices: tuple[int, ...]) -> _TableRow:
        """Return the row of a state and of a value in each column.

        The tick is taken twice. A register that is no column has a different value before each of the two
        ticks; if it has the same value after both, the tick sets it.

        Args:
            state: number of the state before the tick.
            value_indices: for each column, the index of its value in `_Column.values`.
        """
        machine = self.machine
        column_values: dict[str, Value] = {
            column.name: column.values[index]
            for column, index in zip(self.columns, value_indices, strict=True)
        }
        pairs_before = [_two_values(machine.types[name]) for name in machine.registers]
        first_after, _ = self._take_tick(state, column_values, [first for first, _ in pairs_before])
        second_after, transitions = self._take_tick(
            state, column_values, [second for _, second in pairs_before]
        )
        register_values: dict[str, int] = {}
        for name, pair_before, first_value, second_value in zip(
            machine.registers, pairs_before, first_after.values, second_after.values, strict=True
        ):
            had_different_values = pair_before[0] != pair_before[1]  # not for a type with a single value
            is_known = had_different_values or name in column_values
            if first_value == second_value and is_known:
                register_values[name] = _integer_of_value(name, machine.types[name], first_value)
        if transitions:
            transition = transitions[-1]
            place = f" (line {transition.line})" if transition.line else ""
            element = self.code.transition_element(transition)
            description = self.code.transition_name(transition) + place
        else:
            element = self.code.state_element(machine.nodes[self._leaf_of_state(state)])
            description = "stays"
        return _TableRow(
            state,
            value_indices,
            next_state=self.state_code.leaf_number[first_after.configuration[0]],
            register_values=register_values,
            element=element,
            description=description,
        )

    def _take_tick(
        self, state: int, column_values: Mapping[str, Value], register_values: Sequence[Value]
    ) -> tuple[Snapshot, Sequence[CompoundTransition]]:
        """Take a tick of the interpreter; return the Snapshot after it and the transitions taken.

        Args:
            state: number of the state before it.
            column_values: the column values by name, the value of each column of the table: an input, event
                or register that a tick depends on. Other inputs have their default.
            register_values: one value for each register of the machine; ignored for a register that is a
                column.
        """
        machine = self.machine
        default_inputs = {name: input_type.default for name, input_type in machine.inputs.items()}
        stated_inputs = {name: value for name, value in column_values.items() if name in machine.inputs}
        events = [event for event in machine.events if column_values.get(event)]
        before = Snapshot(
            machine,
            started=not self._is_before_first_tick(state),
            configuration=(self._leaf_of_state(state),),
            values=tuple(
                column_values.get(name, value)
                for name, value in zip(machine.registers, register_values, strict=True)
            ),
            history=(),
        )
        tick = TickExecution(machine, before)
        try:
            after = tick.run(default_inputs | stated_inputs, events)
        except ExpressionError as error:
            raise NotATableError("a tick of it may divide by zero") from error
        return after, tick.taken_transitions

    def _is_before_first_tick(self, state: int) -> bool:
        """Return whether a state is the one before the first tick, whose number follows the last leaf's."""
        return state == len(self.state_code.leaves)

    def _leaf_of_state(self, state: int) -> int:
        """Return the number of a state's node; before the first tick, that of the initial state's."""
        if self._is_before_first_tick(state):
            return self.state_code.initial_move.configuration[0]
        return self.state_code.leaves[state].index

    def _fill_known_values(self, rows: Sequence[_TableRow]) -> list[_TableRow]:
        """Return rows that also set registers they leave unchanged, where the state determines the value.

        A row has a bit for each group of registers that only some rows set. A register that all rows set
        needs no such bit.
        """
        values_in_state = self._find_values_in_states(rows)
        filled_rows = []
        for row in rows:
            # a state that no tick reaches has no values
            values_before = values_in_state.get(row.state, {})
            known_values = {name: value for name, value in values_before.items() if value is not None}
            filled_rows.append(replace(row, register_values={**known_values, **row.register_values}))
        return filled_rows

    def _find_values_in_states(self, rows: Sequence[_TableRow]) -> dict[int, dict[str, int | None]]:
        """Return the value of each register in each state that can be reached; None where it has several.

        The values are found by following the rows from the initial state until nothing changes. Registers
        that no row sets are left out.
        """
        machine = self.machine
        initial_configuration = self.state_code.initial_move.configuration
        start_values = machine.start_values(initial_configuration)
        if self.state_code.enters_at_first_tick:
            initial_state = len(self.state_code.leaves)
        else:
            initial_state = self.state_code.leaf_number[initial_configuration[0]]
        register_names = sorted({name for row in rows for name in row.register_values})
        values_in_state: dict[int, dict[str, int | None]] = {
            initial_state: {
                name: _integer_of_value(name, machine.types[name], start_values[name])
                for name in register_names
            }
        }
        has_changed = True
        while has_changed:
            has_changed = False
            for row in rows:
                if row.state not in values_in_state:
                    continue
                values_after: dict[str, int | None] = {**values_in_state[row.state], **row.register_values}
                known_values = values_in_state.get(row.next_state)
                if known_values is not None:  # other rows lead to this state, perhaps with other values
                    for name, value in values_after.items():
                        values_after[name] = value if known_values[name] == value else None
                if values_after != known_values:
                    values_in_state[row.next_state] = values_after
                    has_changed = True
        return values_in_state

    # How a row is packed

    def _pack_fields(self) -> tuple[list[_Field], list[tuple[bool, ...]]]:
        """Return the fields of a packed row, and for each group of registers whether each row sets them.

        Registers that are set in the same rows are a group; those that all rows set belong to none. Registers
        that no row sets have no field.
        """
        fields: list[_Field] = []
        group_flags: list[tuple[bool, ...]] = []
        shift = 0
        for name in self.machine.registers:
            values = [row.register_values[name] for row in self.rows if name in row.register_values]
            if not values:
                continue
            row_flags = tuple(name in row.register_values for row in self.rows)
            group_index = None
            if not all(row_flags):
                if row_flags not in group_flags:
                    group_flags.append(row_flags)
                group_index = group_flags.index(row_flags)
            is_bool = isinstance(self.machine.types[name], BoolType)
            fits_two_bits = 0 <= min(values) <= max(values) < 4  # then adding `low` costs more than it saves
            low = 0 if is_bool or fits_two_bits else min(values)
            n_bits = max((max(values) - low).bit_length(), 1)
            fields.append(_Field(name, low, n_bits, shift, group_index))
            shift += n_bits
        return fields, group_flags

    def _packed_row(self, index: int) -> int:
        """Return the row of an index as an integer: fields, a bit for each group, and the next state."""
        row = self.rows[index]
        packed = row.next_state << self.state_shift
        for field in self.fields:
            value = row.register_values.get(field.name, field.low)  # any value for one that is not set
            packed |= (value - field.low) << field.shift
        for group_index, sets_registers in enumerate(self.group_flags):
            packed |= sets_registers[index] << self._group_bit(group_index)
        return packed

    def _group_bit(self, group_index: int) -> int:
        """Return the number of the bit in a row that says whether the row sets the registers of a group."""
        return self.state_shift - len(self.group_flags) + group_index

    @property
    def row_type(self) -> str:
        """The type of a row."""
        return "uint8_t" if self.n_bits <= 8 else "uint16_t"

    @cached_property
    def estimated_bytes(self) -> int:
        """Estimated flash of the table and its code on an AVR (`avr-gcc -Os`, measured) [bytes]."""
        row_bytes = 1 if self.n_bits <= 8 else 2
        column_bytes = sum(8 if column.size == 2 else 16 for column in self.columns)
        unpacking_bytes = (10 * len(self.fields) + 8 * len(self.group_flags)) * row_bytes
        return len(self.rows) * row_bytes + 40 + column_bytes + unpacking_bytes

    # The C

    def write_table(self) -> None:
        """Write the table, with comments that explain its columns, the bits of a row, and each row."""
        writer = self.code.writer
        n_digits = 2 if self.n_bits <= 8 else 4
        columns = ", ".join(["state", *(column.name for column in self.columns)])
        writer.line(comment(f"What a tick does, by {columns}; the last one changes from row to row."))
        writer.line(comment("; ".join(self._describe_bits())))
        with writer.block(f"static const {self.row_type} rows[{len(self.rows)}] PW_ROM =", "};"):
            previous_state = None
            for index, row in enumerate(self.rows):
                if row.state != previous_state:
                    writer.line(comment(self._state_name(row.state)))
                previous_state = row.state
                values_text = " ".join(
                    f"{column.name}={_value_text(column.values[value_index])}"
                    for column, value_index in zip(self.columns, row.value_indices, strict=True)
                )
                with writer.traced_to(row.element):
                    meaning = f"{values_text}: {row.description}" if values_text else row.description
                    writer.line(f"0x{self._packed_row(index):0{n_digits}x}U, {comment(meaning)}")
        writer.line()

    def _describe_bits(self) -> Iterator[str]:
        """Yield the meanings of the bits of a row."""
        for field in self.fields:
            yield f"{_bit_range(field.shift, field.n_bits)}: {field.name}"
        for group_index in range(len(self.group_flags)):
            names = ", ".join(field.name for field in self.fields if field.group_index == group_index)
            yield f"bit {self._group_bit(group_index)}: {names} set, else kept"
        yield f"{_bit_range(self.state_shift, self.n_bits - self.state_shift)}: next state"

    def _state_name(self, state: int) -> str:
        """Return the name of a state for a comment."""
        if self._is_before_first_tick(state):
            return "before the first tick"
        return self.state_code.leaves[state].name

    def write_tick(self) -> None:
        """Write the body of the function that takes a tick by the table.

        It computes the index of the row, reads the row, and unpacks the registers and the next state. The
        registers of a group are set only if the row has the bit of the group.
        """
        writer = self.code.writer
        names = self.code.names
        index_type = "uint8_t" if len(self.rows) <= 256 else "uint16_t"
        writer.line(f"{index_type} index = chart->state;")
        writer.line(f"{self.row_type} row;")
        for column in self.columns:
            writer.line(f"index = ({index_type})((index * {column.size}U) + {column.index_expression});")
        writer.line(f"row = PW_READ_{8 if self.n_bits <= 8 else 16}(rows, index);")
        for group_index in (None, *range(len(self.group_flags))):
            assignments = [
                f"chart->{names.registers[field.name]} = {self._unpack_expression(field)};"
                for field in self.fields
                if field.group_index == group_index
            ]
            if group_index is None:  # the registers that all rows set
                writer.write(assignments)
                continue
            group_mask = 1 << self._group_bit(group_index)
            with writer.block(f"if ((row & {group_mask:#x}U) != 0U)"):
                writer.write(assignments)
        if self.n_states > 1:
            writer.line(f"chart->state = ({self.state_code.state_type})(row >> {self.state_shift});")

    def _unpack_expression(self, field: _Field) -> str:
        """Return the expression of C for the value of a field in the packed row `row`."""
        register_type = self.machine.types[field.name]
        mask = (1 << field.n_bits) - 1
        if isinstance(register_type, BoolType):
            return f"(row & {mask << field.shift:#x}U) != 0U"
        bits = f"(row >> {field.shift}) & {mask:#x}U" if field.shift else f"row & {mask:#x}U"
        stored_type = self.code.c_type(register_type)
        if not field.low:
            return f"({stored_type})({bits})"
        is_wide = register_type.storage in ("int32", "uint16")
        sum_type = "int32_t" if is_wide else "int16_t"  # a type that holds the sum with `low`
        return f"({stored_type})(({sum_type})({bits}) + {integer_literal(field.low)})"


def choose_table(
    machine: Machine,
    state_code: SingleStateCode | None,
    style: Style,
    switch_lines: Callable[[], Sequence[str]],
) -> TruthTable | None:
    """Return the table of a chart's tick; None for a switch.

    With `AUTO` the smaller one on an AVR is chosen, by the estimates `TruthTable.estimated_bytes` and
    `estimate_switch_bytes`.

    Args:
        machine: the machine of the chart.
        state_code: the code of its states; None for a chart with regions.
        style: the style requested.
        switch_lines: returns the lines of the tick as a switch, to estimate its size.

    Raises:
        InputError: a table is requested, and the chart cannot be one.
    """
    if style is Style.SWITCH:
        return None
    try:
        if state_code is None:
            raise NotATableError("states are active side by side")
        table = TruthTable(state_code)
    except NotATableError as error:
        if style is Style.AUTO:
            return None
        raise InputError(
            f"{machine.chart.name} cannot be a table: {error}", hint="choose the style switch or auto"
        ) from error
    return (
        table
        if style is Style.TABLE or table.estimated_bytes < estimate_switch_bytes(switch_lines())
        else None
    )


def estimate_switch_bytes(lines: Sequence[str]) -> int:
    """Return the estimated flash that a tick written as a `switch` takes on an AVR [bytes].

    28 bytes and 1.9 for each access to a variable or input, fitted to the sizes of 22 random flat charts
    under `avr-gcc -Os`, with a mean error of 16 bytes.
    """
    text = re.sub(r"/\*.*?\*/", "", "\n".join(lines))
    return round(28 + 1.9 * (text.count("chart->") + text.count("in->")))


def _list_values(name: str, value_type: Type) -> tuple[Value, ...]:
    """Return all values of a type, in the order of their indices.

    Raises:
        NotATableError: there are too many.
    """
    if isinstance(value_type, BoolType):
        return (False, True)
    if isinstance(value_type, EnumType):
        return tuple(value_type.values)
    if isinstance(value_type, IntType) and value_type.high - value_type.low < MAX_ROWS:
        return tuple(range(value_type.low, value_type.high + 1))
    raise NotATableError(f"{name} has too many values")


def _index_expression(text: str, value_type: Type) -> str:
    """Return the expression of C for the index of a value among those of `_list_values`.

    Args:
        text: the expression of C for the value.
        value_type: its type in the chart.
    """
    if isinstance(value_type, BoolType):
        return f"({text} ? 1U : 0U)"
    if not isinstance(value_type, IntType):
        return f"(uint8_t){text}"
    index_type = "uint8_t" if value_type.high - value_type.low < 256 else "uint16_t"
    if not value_type.low:
        return f"({index_type}){text}"
    sign = "-" if value_type.low > 0 else "+"
    return f"({index_type})({text} {sign} {integer_literal(abs(value_type.low))})"


def _two_values(value_type: Type) -> tuple[Value, Value]:
    """Return two different values of a type, if it has them."""
    if isinstance(value_type, BoolType):
        return False, True
    if isinstance(value_type, EnumType):
        return value_type.values[0], value_type.values[-1]
    if isinstance(value_type, IntType):
        return value_type.low, value_type.high
    return value_type.clamp(0.0), value_type.clamp(1.0)


def _integer_of_value(name: str, value_type: Type, value: Value) -> int:
    """Return the value of a register as an integer: the code of an enumeration's value, 1 for True.

    Raises:
        NotATableError: the register is a float.
    """
    if isinstance(value_type, EnumType):
        return value_type.codes[str(value)]
    if isinstance(value_type, BoolType | IntType):
        return int(value)
    raise NotATableError(f"it sets {name}, which is a fraction")


def _value_text(value: Value) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _bit_range(shift: int, bits: int) -> str:
    return f"bit {shift}" if bits <= 1 else f"bits {shift} to {shift + bits - 1}"
