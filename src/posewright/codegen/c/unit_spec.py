"""A chart to generate code from: its C, `unit.c` around it, and its reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from posewright.charts import Chart
from posewright.charts.machine import Machine, lower
from posewright.charts.machine.node import ROOT
from posewright.charts.types import BoolType, EnumType, FloatType, Type
from posewright.codegen.c.chart import ChartGenerator, Options
from posewright.codegen.c.differences import CodeDifference, find_differences, format_differences
from posewright.codegen.c.offsets import IN, OUT, STATE, offset_constants, offset_lines
from posewright.codegen.c.state_text import state_text_header
from posewright.codegen.c.wrapper import cpp_wrapper
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.proof.reference import InterpreterRun
from posewright.codegen.records import ACTIVE, BROKEN, STATUS, RecordFormat
from posewright.codegen.unit import Executable, SourceFile


@dataclass(frozen=True, eq=False)
class ChartUnitSpec:
    """A chart for which a unit is generated and verified.

    Attributes:
        chart: the chart.
        options: options of its C.
        machine: the machine to generate; None for the chart's own.
        further_fields: names of the fields that a behaviour's record of states has after those of its chart.
    """

    chart: Chart
    options: Options = field(default_factory=Options)
    machine: Machine | None = None
    further_fields: tuple[str, ...] = ()

    @cached_property
    def lowered(self) -> Machine:
        """The machine to generate."""
        return self.machine or lower(self.chart)

    @cached_property
    def generator(self) -> ChartGenerator:
        """The generator of its C."""
        return ChartGenerator(self.lowered, self.options)

    @property
    def name(self) -> str:
        """The prefix of its names in C."""
        return self.generator.names.prefix

    @cached_property
    def differences(self) -> tuple[CodeDifference, ...]:
        """The differences of its C from the interpreter.

        Raises:
            InputError: C cannot do what the chart requires.
        """
        return find_differences(self.generator)

    @cached_property
    def format(self) -> RecordFormat:
        """The format of the records of its unit."""
        return RecordFormat(self.lowered, monitors=self.options.monitors, further_fields=self.further_fields)

    @property
    def input_dtype(self) -> np.dtype[np.void]:
        """The dtype of a record of inputs."""
        return self.format.input_dtype

    @property
    def state_dtype(self) -> np.dtype[np.void]:
        """The dtype of a record of states."""
        return self.format.state_dtype

    @property
    def documents(self) -> Mapping[str, str]:
        """The text of the chart, if it was read from a file."""
        path = self.chart.path
        return {path.name: path.read_text(encoding="utf-8")} if path is not None else {}

    def reference(self) -> Executable:
        """Return the interpreter of the chart itself, even where another machine is generated."""
        return InterpreterRun(RecordFormat(lower(self.chart), monitors=self.options.monitors))

    def sources(self) -> tuple[SourceFile, ...]:
        """Return the chart's header, source, C++ class and texts of states, and the unit's header and source.

        Raises:
            InputError: C cannot do what the chart requires.
        """
        comment_lines = format_differences(self.differences)
        header, source = self.generator.generate()
        header = replace(
            header,
            lines=(*comment_lines, *header.lines),
            elements=(*(None for _ in comment_lines), *header.elements),
        )
        wrapper = cpp_wrapper(self.generator)
        texts = state_text_header(self.generator)
        return header, source, wrapper, texts, self._unit_header(), self._unit_source()

    def _unit_header(self) -> SourceFile:
        """Return `unit.h`: sizes and offsets of the records, and the unit's functions."""
        writer = CWriter()
        writer.write(["#ifndef UNIT_H", "#define UNIT_H", "", "#include <stdint.h>", ""])
        writer.line(f'#define UNIT_NAME "{self.name}"')
        writer.line(f"#define UNIT_PERIOD_US {round(self.chart.period_s * 1e6)}UL")
        writer.line(f"#define UNIT_INPUT_BYTES {self.input_dtype.itemsize}U")
        writer.line(f"#define UNIT_STATE_BYTES {self.state_dtype.itemsize}U")
        writer.write(self.offsets())
        writer.write(["", comment("Goes back to before the first tick.")])
        writer.line("void unit_reset(void);")
        writer.write(["", comment("Goes on from a record of states.")])
        writer.line("void unit_load(const uint8_t *state);")
        writer.write(["", comment("Takes one tick: a record of inputs in, a record of states out.")])
        writer.line("void unit_step(const uint8_t *input, uint8_t *state);")
        writer.write(["", "#endif /* UNIT_H */"])
        return writer.file("unit.h")

    def offsets(self) -> Iterator[str]:
        """Yield the lines of `unit.h` that define the offsets of inputs and states in their records."""
        meanings = {name: _describe_type(input_type) for name, input_type in self.chart.inputs.items()}
        meanings |= dict.fromkeys(self.chart.events, "event: 1 at a tick at which it comes")
        if meanings:
            yield from ("", comment("Where each input begins in a record of inputs."))
            yield from offset_lines(self.input_dtype, offset_constants(self.input_dtype, IN), meanings)
        yield from self.state_offsets(self.state_dtype)

    def state_offsets(
        self, states: np.dtype[np.void], behaviour_meanings: Mapping[str, str] | None = None
    ) -> Iterator[str]:
        """Yield the lines of `unit.h` that define the offsets in a record of states.

        Args:
            states: dtype of the record; for a behaviour, it has fields besides those of the chart.
            behaviour_meanings: for these fields, the text of the comment, by name; None without them.
        """
        machine = self.lowered
        field_of = self.format.field_of
        meanings = {
            field_of[name]: _describe_type(self.generator.register_type(name)) for name in machine.registers
        }
        numbered_nodes = ", ".join(f"{node.index} {node.name}" for node in machine.nodes)
        meanings[STATUS] = "0 while all is well"
        meanings[ACTIVE] = f"active states, bit n % 8 of byte n / 8: {numbered_nodes}"
        meanings |= behaviour_meanings or {}
        output_prefixes = {field_of[name]: OUT for name in self.chart.outputs}
        yield from ("", comment("Where each value begins in a record of states."))
        yield from offset_lines(states, offset_constants(states, STATE, output_prefixes), meanings)

    def _unit_source(self) -> SourceFile:
        """Return `unit.c`, which converts between records and the chart's structs."""
        generator = self.generator
        writer = CWriter()
        prefix = generator.names.prefix
        writer.write(['#include "unit.h"', "", "#include <string.h>", "", f'#include "{prefix}.h"', ""])
        state_code = generator.state_code
        active_lines = (*state_code.lines_loading_active(), *state_code.lines_storing_active())
        if any("NOT_STARTED" in line for line in active_lines):
            n_states = len(state_code.constants())
            writer.write([f"#define NOT_STARTED {n_states}U", ""])  # the number after the last state's
        writer.write([f"static {prefix}_t chart;", ""])
        self.write_bit_functions(writer)
        with writer.function("void unit_reset(void)"):
            writer.line(f"{prefix}_init(&chart);")
        self._write_unit_load(writer)
        self._write_unit_step(writer)
        writer.remove_last_line()  # the empty one after the last function
        return writer.file("unit.c")

    def write_bit_functions(self, writer: CWriter, *, has_unit_load: bool = True) -> None:
        """Write the functions `set_bit` and `has_bit`, as far as the unit calls them.

        They convert between the state numbers of the chart and the bitmaps of a state record.

        Args:
            writer: receives the functions.
            has_unit_load: whether the unit has the function `unit_load`, which alone calls `has_bit`.
        """
        with writer.function("static void set_bit(uint8_t *set, uint16_t bit)"):
            writer.line("set[bit / 8U] = (uint8_t)((unsigned)set[bit / 8U] | (1U << (bit % 8U)));")
        if has_unit_load:
            with writer.function("static uint8_t has_bit(const uint8_t *set, uint16_t bit)"):
                writer.line("return (uint8_t)(((unsigned)set[bit / 8U] >> (bit % 8U)) & 1U);")

    def _field_spans(self) -> dict[str, _FieldSpan]:
        """Return the offset and size of each field of a state record."""
        spans: dict[str, _FieldSpan] = {}
        for name in self.state_dtype.names or ():
            dtype, offset = self.state_dtype.fields[name][:2]  # type: ignore[index]  # there is a field for each name
            spans[name] = _FieldSpan(int(offset), int(dtype.itemsize))
        return spans

    def _write_unit_load(self, writer: CWriter) -> None:
        """Write `unit_load`, which sets the chart from a record of states."""
        generator = self.generator
        spans = self._field_spans()
        with writer.function("void unit_load(const uint8_t *state)"):
            writer.line(f"const uint8_t *active = &state[{spans['active'].offset}];")
            writer.line(f"{generator.names.prefix}_init(&chart);")
            writer.write(generator.state_code.lines_loading_active())
            if generator.can_fail:
                writer.line("chart.status = state[0];")
            for register in self.lowered.registers:
                variable = f"chart.{generator.names.registers[register]}"
                span = spans[self.format.field_of[register]]
                register_type = generator.register_type(register)
                writer.write(_lines_reading_value(variable, register_type, record="state", span=span))
            for history_index, field_name in enumerate(self.format.history_fields):
                pointer = f"&state[{spans[field_name].offset}]"
                writer.write(generator.state_code.lines_loading_history(history_index, pointer))

    def _lines_for_failed_first_tick(self, active_offset: int) -> list[str]:
        """Return lines that store the initial states as active if the first tick has failed.

        A failed tick changes nothing, so after a failed first one the chart has no active state yet, and all
        bytes of the bitmap are 0; else the first byte has the bit of the chart itself. The interpreter then
        reports the initial states.

        Args:
            active_offset: offset of the bitmap of the active states in a state record.
        """
        planner = self.lowered.planner
        active_nodes = (ROOT, *planner.active_nodes(planner.enter_chart().configuration))
        bitmap = sum(1 << node_number for node_number in active_nodes)
        n_bytes = self.state_dtype[ACTIVE].itemsize
        assignments = [
            f"    state[{active_offset + index}] = {byte}U;"
            for index, byte in enumerate(bitmap.to_bytes(n_bytes, "little"))
        ]
        condition = f"state[{active_offset}] == 0U"
        return [f"if ({condition}) {{ {comment('it was never entered')}", *assignments, "}"]

    def _write_unit_step(self, writer: CWriter) -> None:
        """Write `unit_step`, which reads a record of inputs, takes a tick and writes a record of states."""
        spans = self._field_spans()
        names = self.generator.names
        prefix = names.prefix
        with writer.function("void unit_step(const uint8_t *input, uint8_t *state)"):
            writer.line(f"uint8_t *active = &state[{spans['active'].offset}];")
            writer.line(f"{prefix}_inputs_t in;")
            writer.line("uint8_t status;")
            offset = 0  # of the next input in the record
            for name, input_type in self.chart.inputs.items():
                variable = f"in.{names.inputs[name]}"
                span = _FieldSpan(offset, _stored_size(input_type))
                writer.write(_lines_reading_value(variable, input_type, record="input", span=span))
                offset += span.size
            for event in self.chart.events:
                writer.line(f"in.{names.event_inputs[event]} = input[{offset}] != 0U;")
                offset += 1
            has_inputs = offset > 0
            if not has_inputs:
                writer.write(["(void)input;", "in.unused = false;"])
            writer.line(f"status = {prefix}_step(&chart, &in);")
            writer.line("(void)memset(state, 0, UNIT_STATE_BYTES);")
            writer.line("state[0] = status;")
            self.write_state(writer)

    def write_state(self, writer: CWriter) -> None:
        """Write lines that store the C variable `chart` in the C array `state`, a state record of zeros.

        They store, in this order, the bitmap of the active states (to which the C variable `active` points),
        the registers, the histories and, with monitors, the bitmap of the broken promises. The status is
        stored elsewhere.
        """
        generator = self.generator
        spans = self._field_spans()
        writer.write(generator.state_code.lines_storing_active())
        if generator.can_fail:
            writer.write(self._lines_for_failed_first_tick(spans[ACTIVE].offset))
        for register in self.lowered.registers:
            variable = f"chart.{generator.names.registers[register]}"
            span = spans[self.format.field_of[register]]
            writer.write(_lines_storing_value(variable, generator.register_type(register), span))
        for history_index, field_name in enumerate(self.format.history_fields):
            pointer = f"&state[{spans[field_name].offset}]"
            writer.write(generator.state_code.lines_storing_history(history_index, pointer))
        if generator.monitors.promises:
            offset, size = spans[BROKEN]
            writer.line(f"(void)memcpy(&state[{offset}], chart.broken, {size}U);")


class _FieldSpan(NamedTuple):
    """The offset and size of a field in a record [bytes]."""

    offset: int
    size: int


def _stored_size(value_type: Type) -> int:
    """Return the size of a value of a type in a record [bytes]."""
    if isinstance(value_type, FloatType):
        return 4 if value_type.single else 8
    return {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4}[value_type.storage]


def _describe_type(value_type: Type) -> str:
    """Return a description of a type for a comment, such as `uint8: 0 off, 1 on` for an enumeration."""
    if isinstance(value_type, BoolType):
        return "bool"
    if isinstance(value_type, EnumType):
        codes = ", ".join(f"{code} {name}" for name, code in value_type.codes.items())
        return f"{value_type.storage}: {codes}"
    return f"{value_type}, as {value_type.storage}"


def _lines_reading_value(variable: str, value_type: Type, record: str, span: _FieldSpan) -> list[str]:
    """Return lines of C that set a variable to a value in a record.

    Bytes are copied as they are, since all processors are little-endian, like records.

    Args:
        variable: the expression of C for the variable.
        value_type: its type in the chart.
        record: name in C of the array with the record.
        span: the offset and size of the value in it.
    """
    if isinstance(value_type, BoolType):
        return [f"{variable} = {record}[{span.offset}] != 0U;"]
    if span.size == 1 and value_type.storage == "uint8":
        return [f"{variable} = {record}[{span.offset}];"]
    return [f"(void)memcpy(&{variable}, &{record}[{span.offset}], {span.size}U);"]


def _lines_storing_value(variable: str, value_type: Type, span: _FieldSpan) -> list[str]:
    """Return lines of C that store a variable in the record `state`; see `_lines_reading_value`."""
    if isinstance(value_type, BoolType):
        return [f"state[{span.offset}] = {variable} ? 1U : 0U;"]
    if span.size == 1 and value_type.storage == "uint8":
        return [f"state[{span.offset}] = {variable};"]
    return [f"(void)memcpy(&state[{span.offset}], &{variable}, {span.size}U);"]
