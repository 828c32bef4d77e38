"""The parts of a sketch that depend on its chart: its pins, and the code between pins and records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from posewright.charts.types import EnumType, FloatType, IntType, Type
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.records import ACTIVE, bitmap_bytes
from posewright.codegen.unit import Element, SourceFile, field_offset

LED = 13
DIGITAL = (2, 4, 7, 8, 12, 3, 5, 6, 9, 10, 11, 13)
DIGITAL_OUTPUTS = (LED, 12, 8, 7, 4, 2, 11, 10, 9, 6, 5, 3)
PWM = (9, 10, 11, 3, 5, 6)
ANALOGUE = tuple(f"A{n}" for n in range(6))
"""Pins of a UNO in the order in which they are proposed; arduino-core-avr, variants/standard/pins_arduino.h.

0 and 1 are the serial line, 13 has the lamp on the board.
"""

VOLTS = 5.0
PWM_STEPS = 255

INTEGERS = {"int8": "int8_t", "uint8": "uint8_t"}
INTEGERS |= {"int16": "int16_t", "uint16": "uint16_t", "int32": "int32_t"}


@dataclass(frozen=True)
class Port:
    """An input, event or output of a chart, which the sketch connects to a pin of the board.

    Attributes:
        name: its name in the chart.
        pin: name of its pin in `board_pins.h`: `in_front`, `out_s1`, `on_start`.
        type: its type; None for an event.
        offset: offset of its bytes in its record.
        element: its element of the chart.
    """

    name: str
    pin: str
    type: Type | None
    offset: int
    element: Element

    @property
    def description(self) -> str:
        """Kind, name and type, for a comment."""
        return f"{self.element.kind} {self.name}" + ("" if self.type is None else f": {self.type}")


@dataclass(frozen=True, eq=False)
class ChartWiring:
    """Writes the parts of a sketch that depend on the chart.

    Attributes:
        unit_spec: the chart.
    """

    unit_spec: ChartUnitSpec

    @cached_property
    def inputs(self) -> tuple[Port, ...]:
        """The chart's inputs."""
        names = self.unit_spec.generator.names.inputs
        return tuple(
            self._port("input", name, pin=f"in_{names[name]}", port_type=input_type)
            for name, input_type in self.unit_spec.chart.inputs.items()
        )

    @cached_property
    def events(self) -> tuple[Port, ...]:
        """The events from outside."""
        names = self.unit_spec.generator.names.event_inputs
        return tuple(
            self._port("event", name, pin=f"on_{names[name].removeprefix('ev_')}", port_type=None)
            for name in self.unit_spec.chart.events
        )

    @cached_property
    def outputs(self) -> tuple[Port, ...]:
        """The chart's outputs."""
        registers = self.unit_spec.generator.names.registers
        return tuple(
            self._port(
                "output", name, pin=f"out_{registers[name].removeprefix('out.')}", port_type=output_type
            )
            for name, output_type in self.unit_spec.chart.outputs.items()
        )

    def _port(self, kind: str, name: str, pin: str, port_type: Type | None) -> Port:
        """Return the port of an element of the chart: its pin, and where its field is in a record.

        Args:
            kind: `input`, `event` or `output`.
            name: its name.
            pin: name of its pin in `board_pins.h`.
            port_type: its type; None for an event.
        """
        if kind == "output":
            record_dtype = self.unit_spec.state_dtype
            field_name = self.unit_spec.format.field_of[name]
        else:
            record_dtype = self.unit_spec.input_dtype
            field_name = name
        offset = field_offset(record_dtype, field_name)
        return Port(name, pin, port_type, offset, element=Element(kind, name))

    @property
    def additional_files(self) -> tuple[str, ...]:
        """Additional files of the board that this chart needs, for numbers in records."""
        storage_types = {_storage_type(port.type) for port in (*self.inputs, *self.outputs)}
        has_numbers = bool(storage_types - {"bool"})
        return ("board_records.h",) if has_numbers else ()

    def pins(self) -> SourceFile:
        """Return `board_pins.h`, a proposal for the user to change."""
        lines = _Lines()
        lines.add(
            "/*",
            f" * The pins of {self.unit_spec.name}: yours. It is written once and then left alone;",
            " * board_pins_kinds.h says what can stand here.",
            " */",
            "#ifndef BOARD_PINS_H",
            "#define BOARD_PINS_H",
            "",
            '#include "board_pins_kinds.h"',
        )
        for port, pin in _propose_pins(self.inputs, self.events, self.outputs):
            lines.add(
                "",
                f"/* {_safe_comment_text(port.description)} */",
                f"static constexpr auto {port.pin} = {pin};",
                element=port.element,
            )
        lines.add("", "#endif")
        return lines.file("board_pins.h", keep=True)

    def wiring(self) -> SourceFile:
        """Return `board_wiring.cpp`."""
        lines = _Lines()
        lines.add(
            f"/* Between the pins of board_pins.h and the records of {self.unit_spec.name}. */",
            '#include "board.h"',
            '#include "board_pins.h"',
            *(f'#include "{name}"' for name in self.additional_files),
        )
        self._write_assertions(lines)
        self._write_set_up_functions(lines)
        self._write_events(lines)
        self._write_read(lines)
        self._write_outputs(lines)
        self._write_monitor(lines)
        return lines.file("board_wiring.cpp")

    def _write_assertions(self, lines: _Lines) -> None:
        """Write assertions that make a wrong pin a compile error; two inputs may read the same pin."""
        ports = (*self.inputs, *self.events, *self.outputs)
        if ports:
            lines.add("")
        for port in ports:
            text = f"board_pins.h: {port.pin} is on a pin that a UNO does not have for it; 0 and 1 are serial"
            lines.add(f'static_assert({port.pin}.is_there(), "{text}");', element=port.element)
        if not self.outputs:
            return
        lines.add(
            "", "static constexpr int PINS[] = {", *(f"    {port.pin}.number()," for port in ports), "};"
        )
        for port in self.outputs:
            text = f"board_pins.h: {port.pin} is on a pin that is used for something else too"
            lines.add(f'static_assert(is_alone({port.pin}.number(), PINS), "{text}");', element=port.element)

    def _write_set_up_functions(self, lines: _Lines) -> None:
        """Write C++ functions: `wiring_begin` sets up all pins, `wiring_stand` makes outputs safe."""
        lines.add("", "void wiring_begin()", "{")
        for port in (*self.inputs, *self.events, *self.outputs):
            lines.add(f"    {port.pin}.begin();", element=port.element)
        lines.add("}", "", "void wiring_stand()", "{")
        for port in self.outputs:
            lines.add(f"    {port.pin}.stand();", element=port.element)
        lines.add("}")

    def _write_events(self, lines: _Lines) -> None:
        """Write the function that watches the pins of events for rising edges."""
        if self.events:
            lines.add("")
        for port in self.events:
            lines.add(f"static Edges {port.pin}_edges;", element=port.element)
        lines.add("", "void wiring_watch()", "{")
        for port in self.events:
            lines.add(f"    {port.pin}_edges.watch(is_on({port.pin}.read()));", element=port.element)
        lines.add(*(() if self.events else ("    /* the chart has no events */",)), "}")

    def _write_read(self, lines: _Lines) -> None:
        """Write the function that fills the input record from the pins."""
        lines.add("", "void wiring_read(uint8_t *input)", "{")
        for port in self.inputs:
            lines.add(f"    {_input_statement(port, f'{port.pin}.read()')}", element=port.element)
        for port in self.events:
            lines.add(f"    input[{port.offset}] = {port.pin}_edges.taken();", element=port.element)
        if not (self.inputs or self.events):
            lines.add("    (void)input;")
        lines.add("}")

    def _write_outputs(self, lines: _Lines) -> None:
        """Write the function that sets the pins of the outputs from a state record."""
        lines.add("", "void wiring_write(const uint8_t *state)", "{")
        for port in self.outputs:
            lines.add(f"    {port.pin}.write({_value_expression('state', port)});", element=port.element)
        lines.add(*(() if self.outputs else ("    (void)state;",)), "}")

    def _write_monitor(self, lines: _Lines) -> None:
        """Write the functions that print active states and outputs to the serial monitor.

        `wiring_changed` returns whether the active states have changed; `wiring_tell` prints.
        """
        nodes = self.unit_spec.lowered.nodes
        n_bytes = bitmap_bytes(len(nodes))
        active_offset = field_offset(self.unit_spec.state_dtype, ACTIVE)  # of the bitmap of active states
        lines.add(
            "",
            f"static uint8_t seen[{n_bytes}];",
            "",
            "bool wiring_changed(const uint8_t *state)",
            "{",
            f"    const bool changed = memcmp(seen, &state[{active_offset}], sizeof seen) != 0;",
            f"    memcpy(seen, &state[{active_offset}], sizeof seen);",
            "    return changed;",
            "}",
            "",
            "static void tell_active(bool is, const __FlashStringHelper *name)",
            "{",
            "    if (is) {",
            "        Serial.print(' ');",
            "        Serial.print(name);",
            "    }",
            "}",
            "",
            "void wiring_tell(const uint8_t *state)",
            "{",
        )
        for node in nodes[1:]:
            if node.is_leaf:
                byte_index, bit_index = divmod(node.index, 8)  # of the state in the bitmap
                is_active = f"(state[{active_offset + byte_index}] & {1 << bit_index}U) != 0U"
                call = f"tell_active({is_active}, F({_quoted(node.name)}));"
                lines.add(f"    {call}", element=Element("state", node.name))
        for port in self.outputs:
            lines.add(
                f"    Serial.print(F({_quoted(f' {port.name}=')}));",
                f"    Serial.print({_value_expression('state', port)});",
                element=port.element,
            )
        lines.add("}")


class _Lines:
    """Lines of a file with their elements."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.elements: list[Element | None] = []

    def add(self, *lines: str, element: Element | None = None) -> None:
        """Append lines that were generated from an element of the chart; None for none."""
        self.lines += lines
        self.elements += [element] * len(lines)

    def file(self, name: str, *, keep: bool = False) -> SourceFile:
        """Return the lines as a file; `keep` makes it the user's, which is never overwritten."""
        return SourceFile(name, lines=tuple(self.lines), elements=tuple(self.elements), keep=keep)


def _propose_pins(
    inputs: tuple[Port, ...], events: tuple[Port, ...], outputs: tuple[Port, ...]
) -> Iterator[tuple[Port, str]]:
    """Yield every port with the C++ expression of its proposed pin.

    A number gets a PWM output or an analogue input, a bool and an event a digital pin. Ports of enumerations,
    and those for which no pin is left, get none: `NoPin()`, an output that is not written, or `Held(0)`, an
    input that stays 0.
    """
    free_analogue = list(ANALOGUE)
    free_digital = list(DIGITAL)
    pin_expressions: dict[Port, str] = {}
    # numbers first, since they need the few pins with PWM
    for port in sorted(outputs, key=lambda output: output.type is not None and output.type.storage == "bool"):
        is_number = isinstance(port.type, IntType | FloatType)
        suitable_pins = PWM if is_number else DIGITAL_OUTPUTS
        pin = next((pin for pin in suitable_pins if pin in free_digital), None)
        if pin is not None and not isinstance(port.type, EnumType):
            free_digital.remove(pin)
            pin_expressions[port] = (
                f"PwmOut({pin}, {_range_to_duty(port.type)})" if is_number else f"DigitalOut({pin})"
            )
    for port in (*inputs, *events):
        if isinstance(port.type, IntType | FloatType):
            if free_analogue:
                pin_expressions[port] = f"AnalogueIn({free_analogue.pop(0)}, {_volts_to_range(port.type)})"
        elif free_digital and not isinstance(port.type, EnumType):
            pin_expressions[port] = f"DigitalIn({free_digital.pop(0)})"
    for port in (*inputs, *events, *outputs):
        without_pin = "NoPin()" if port.element.kind == "output" else "Held(0)"
        yield port, pin_expressions.get(port, without_pin)


def _declared_range(value_type: Type | None) -> tuple[float, float] | None:
    """Return the declared range of a number; None where there is none."""
    if isinstance(value_type, FloatType):
        return None if value_type.is_unbounded else value_type.written_range
    if isinstance(value_type, IntType) and value_type.high - value_type.low < 1 << 31:
        return float(value_type.low), float(value_type.high)
    return None


def _volts_to_range(value_type: Type | None) -> str:
    """Return the factor and offset that map 0 to 5 V to the declared range of a number."""
    low, high = _declared_range(value_type) or (0.0, VOLTS)
    return f"{_float((high - low) / VOLTS)}, {_float(low)}"


def _range_to_duty(value_type: Type | None) -> str:
    """Return the factor and offset that map the declared range of a number to a PWM duty."""
    low, high = _declared_range(value_type) or (0.0, 1.0 * PWM_STEPS)
    scale = PWM_STEPS / (high - low) if high > low else 1.0
    return f"{_float(scale)}, {_float(-low * scale)}"


def _float(number: float) -> str:
    """Return a number as a literal of a float of C."""
    text = f"{number + 0.0:.9g}"  # adding 0.0 makes 0.0 of -0.0
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def _input_statement(port: Port, pin_value: str) -> str:
    """Return the statement of C++ that stores what a pin reads as an input of the chart.

    The inputs lie in the C array `input` of bytes, each at its port's offset. Floats are stored by
    `put_float` or `put_double`, switches by `is_on`, and integers by `put`, which clamps them to the range of
    the port's type; an enumeration is stored as the number of its value, from 0.

    Args:
        port: the input: its type, and its offset [bytes].
        pin_value: the expression of C++ for the value of its pin.
    """
    value_type = port.type
    storage_type = _storage_type(value_type)
    address = f"&input[{port.offset}]"
    if isinstance(value_type, FloatType):
        put_function = "put_float" if value_type.single else "put_double"
        return f"{put_function}({address}, {pin_value});"
    if storage_type == "bool":
        return f"input[{port.offset}] = is_on({pin_value});"
    low = 0
    high = 0
    if isinstance(value_type, IntType):
        low = value_type.low
        high = value_type.high
    elif isinstance(value_type, EnumType):
        high = len(value_type.values) - 1
    bounds = f"{_integer_literal(low)}, {_integer_literal(high)}"
    return f"put<{INTEGERS[storage_type]}>({address}, {bounds}, {pin_value});"


def _integer_literal(number: int) -> str:
    """Return an integer as a literal of C++, in which the smallest of 32 bits cannot be written directly."""
    return f"{number}" if number > -(1 << 31) else "-2147483647L - 1L"


def _value_expression(record: str, port: Port) -> str:
    """Return the expression of C++ that reads a port's value from the C array `record`."""
    address = f"&{record}[{port.offset}]"
    if _storage_type(port.type) == "bool":
        return address.removeprefix("&")
    if isinstance(port.type, FloatType):
        return f"get<float>({address})" if port.type.single else f"get_double({address})"
    return f"get<{INTEGERS[_storage_type(port.type)]}>({address})"


def _storage_type(value_type: Type | None) -> str:
    """Return the type in which a port's value is stored; an event, without a type, is a bool."""
    return "bool" if value_type is None else value_type.storage


def _safe_comment_text(text: str) -> str:
    """Return a text that neither ends a comment of C nor leaves ASCII."""
    return text.replace("*/", "* /").encode("ascii", "replace").decode()


def _quoted(text: str) -> str:
    """Return a string of C; what is not ASCII becomes a question mark, as a serial monitor shows it."""
    return '"' + _safe_comment_text(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
