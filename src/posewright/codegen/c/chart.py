"""C99 of a chart: its header and its source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from posewright.charts.machine import MAX_MICROSTEPS, Machine
from posewright.charts.types import INT_RANGES, BoolType, EnumType, FloatType, IntType, Type
from posewright.codegen.c.arithmetic import fragment, with_called_fragments
from posewright.codegen.c.code import MAX_QUEUE, ChartCode, queue_bound
from posewright.codegen.c.monitors import MonitorCode
from posewright.codegen.c.region_tree import has_single_state
from posewright.codegen.c.regions import RegionsCode
from posewright.codegen.c.single import SingleStateCode
from posewright.codegen.c.truth_table import Style, TruthTable, choose_table
from posewright.codegen.c.values import integer_literal
from posewright.codegen.c.writer import CWriter, comment, without_unused
from posewright.codegen.unit import Element, SourceFile

ROM = """\
#if defined(__AVR__) /* tables stay in flash */
#include <avr/pgmspace.h>
#define PW_ROM PROGMEM
#define PW_READ_8(table, index) pgm_read_byte(&(table)[index])
#define PW_READ_16(table, index) pgm_read_word(&(table)[index])
#else
#define PW_ROM
#define PW_READ_8(table, index) ((table)[index])
#define PW_READ_16(table, index) ((table)[index])
#endif"""


@dataclass(frozen=True)
class Options:
    """Options of the C of a chart.

    Attributes:
        soft_doubles: whether floats of 64 bits are computed by functions, for compilers whose `double` has
            32 bits.
        max_queued_events: largest number of waiting events; None for the chart's bound, or that of the
            interpreter.
        monitors: whether the chart's promises are monitored.
        style: whether the tick of a chart with one active state becomes a switch or a table.
    """

    soft_doubles: bool = False
    max_queued_events: int | None = None
    monitors: bool = False
    style: Style = Style.AUTO


class ChartGenerator:
    """Writes the files of one chart.

    Args:
        machine: the machine of the chart.
        options: options of the C.

    Attributes:
        machine: the machine of the chart.
        chart: the chart itself.
        options: options of the C.
        code: writes names, actions and counters.
        names: the chart's names in C.
        monitors: writes the functions that check the chart's promises at run time.
        has_single_state: whether one innermost state is active at a time; else the chart has regions.
        state_code: writes the states of either.
    """

    def __init__(self, machine: Machine, options: Options) -> None:
        """Create the writers of names, states and monitors; nothing is written yet."""
        self.machine = machine
        self.chart = machine.chart
        self.options = options
        self.code = ChartCode(
            machine, soft_doubles=options.soft_doubles, max_queued_events=options.max_queued_events
        )
        self.names = self.code.names
        self.monitors = MonitorCode(self.code, self.chart.promises if options.monitors else ())
        self.has_single_state = has_single_state(machine)
        self.state_code = SingleStateCode(self.code) if self.has_single_state else RegionsCode(self.code)

    @cached_property
    def table(self) -> TruthTable | None:
        """The table by which a tick is taken; None for a tick written as a `switch`.

        A `switch` is written for comparison only where the style is `AUTO`, which takes the smaller one.

        Raises:
            InputError: a table is requested, and the chart cannot be one.
        """
        style = self.monitors.resolve_style(self.options.style)
        switch_generator = ChartGenerator(self.machine, replace(self.options, style=Style.SWITCH))
        single_state_code = self.state_code if isinstance(self.state_code, SingleStateCode) else None
        return choose_table(
            self.machine, single_state_code, style, switch_lines=lambda: switch_generator.body.lines
        )

    @cached_property
    def body(self) -> CWriter:
        """The functions of a tick; writing them collects the support functions that they call."""
        writer = CWriter()
        self.code.writer = writer
        self._write_functions()
        self.monitors.write_functions()
        return writer

    @cached_property
    def uses_queue(self) -> bool:
        """Whether raised events are queued."""
        return self.code.queue_size > 0

    @cached_property
    def counts_microsteps(self) -> bool:
        """Whether microsteps are counted, because a tick may never end."""
        return self.machine.runs_to_completion or (self.uses_queue and queue_bound(self.machine) >= MAX_QUEUE)

    @cached_property
    def may_overflow(self) -> bool:
        """Whether more events may be raised than the queue holds."""
        bound = queue_bound(self.machine)
        return self.uses_queue and (bound >= MAX_QUEUE or self.code.queue_size < bound)

    @cached_property
    def can_fail(self) -> bool:
        """Whether a tick can fail: division by zero, no end, too many events."""
        return bool(self.body) and (
            self.code.expressions.checks_divisor or self.counts_microsteps or self.may_overflow
        )

    # The functions

    def _write_functions(self) -> None:
        """Write the function `tick` and, before it, those that it calls.

        A tick is a lookup in a table, or else microsteps: one function for the transitions on each event.
        Where microsteps raise events or go on until none is left, a function `settle` takes them.
        """
        machine = self.machine
        code = self.code
        if self.table is not None:
            self.table.write_table()
            with code.function(f"static void tick({self._parameters})"):
                self.table.write_tick()
            return
        for event in (None, *sorted(machine.handled_events)):  # None: the transitions without an event
            if self.state_code.has_transitions(event):
                self.state_code.write_microstep(self.transitions_function(event), event)
        if self.uses_queue:
            self._write_process_event()
        if self.uses_queue or machine.runs_to_completion:
            self._write_run_to_completion()
        with code.function(f"static void tick({self._parameters})"):
            self._write_tick()

    @property
    def _parameters(self) -> str:
        prefix = self.names.prefix
        return f"{prefix}_t *chart, const {prefix}_inputs_t *in"

    def transitions_function(self, event: str | None) -> str:
        """Return the name of the function that takes the transitions on an event; None: those without one."""
        if event is None:
            return "sampled"
        return "on_" + self.names.events[event].removeprefix(f"{self.names.constant}_EVENT_").lower()

    def _write_process_event(self) -> None:
        """Write the C function that takes the transitions on an event from the queue.

        It returns whether it has taken one.
        """
        with self.code.function(f"static bool deal_with({self._parameters}, uint8_t event)") as writer:
            with writer.block("switch (event)"):
                for event in sorted(self.machine.handled_events):
                    if self.state_code.has_transitions(event):
                        writer.line(f"case {self.names.events[event]}:")
                        writer.line(f"    return {self.transitions_function(event)}(chart, in);")
                writer.write(["default:", "    return false;"])

    def _write_run_to_completion(self) -> None:
        """Write the function `settle`, which takes microsteps until none is left to take.

        Each turn of its loop takes a transition without an event, if the chart takes these until none is
        enabled; else it processes the next event of the queue.
        """
        has_eventless = self.machine.runs_to_completion and self.state_code.has_transitions(None)
        condition = "(chart->status == 0U)" if self.counts_microsteps else "true"
        call = self._counted_call("sampled(chart, in)" if has_eventless else "false")
        with self.code.function(f"static void settle({self._parameters})") as writer:
            with writer.block(f"while ({condition})"):
                if self.uses_queue:
                    with writer.block(f"if (!{call})" if has_eventless else ""):
                        self._write_take_from_queue()
                elif has_eventless:
                    with writer.block(f"if (!{call})"):
                        writer.line("return;")
                else:
                    writer.line("return;")

    @property
    def _queue_count_type(self) -> str:
        """The type in C of a number of events in the queue."""
        return "uint8_t" if self.code.queue_size < 256 else "uint16_t"

    def _counted_call(self, call: str) -> str:
        """Return the C call of a microstep, wrapped in one of `counted` if microsteps are counted."""
        return f"counted(chart, {call})" if self.counts_microsteps else call

    def _write_take_from_queue(self) -> None:
        """Write lines of `settle` that process the next event of the queue, and return if there is none."""
        writer = self.code.writer
        size = self.code.queue_size
        writer.line("uint8_t event;")
        with writer.block("if (chart->waiting == 0U)"):
            writer.line("return;")
        writer.line("event = chart->queue[chart->next];")
        writer.line(f"chart->next = ({self._queue_count_type})((chart->next + 1U) % {size}U);")
        writer.line("chart->waiting--;")
        writer.line(f"(void){self._counted_call('deal_with(chart, in, event)')};")

    def _write_tick(self) -> None:
        """Write the body of the C function that takes a tick.

        A tick enters the chart or counts time, takes transitions without an event, then those on each event
        that has come, and does the `during` actions of the states that were not left. After each of these,
        the C function `settle` takes the microsteps that follow, if the chart has any.
        """
        code = self.code
        writer = code.writer
        machine = self.machine
        has_settle = self.uses_queue or machine.runs_to_completion  # whether there is a function `settle`
        self.state_code.write_begin()
        self.state_code.write_stayed_flags()
        if not machine.runs_to_completion and self.state_code.has_transitions(None):
            writer.line(f"(void){self._counted_call('sampled(chart, in)')};")
        if has_settle:
            writer.line("settle(chart, in);")
        for event in machine.events:
            if self.state_code.has_transitions(event):
                with (
                    writer.traced_to(Element("event", event, self.chart.lines.get(event))),
                    writer.block(f"if (in->{self.names.event_inputs[event]})"),
                ):
                    call = f"{self.transitions_function(event)}(chart, in)"
                    writer.line(f"(void){self._counted_call(call)};")
                    if has_settle:
                        writer.line("settle(chart, in);")
        if machine.during_nodes:
            code.write_during_actions()
            if self.uses_queue and machine.runs_to_completion:
                # transitions without an event are tried again only before and after a raised event
                with writer.block("if (chart->waiting != 0U)"):
                    writer.line("settle(chart, in);")
            elif self.uses_queue:
                writer.line("settle(chart, in);")

    # The header

    def header(self) -> SourceFile:
        """Return `<prefix>.h`: constants, the structs of inputs, outputs and chart, and the functions."""
        names = self.names
        writer = CWriter()
        guard = f"{names.constant}_H"
        writer.write(
            [f"#ifndef {guard}", f"#define {guard}", "", "#include <stdbool.h>", "#include <stdint.h>", ""]
        )
        if self._uses_soft_doubles:
            writer.write(["typedef uint64_t pw_f64; /* the bits of an IEEE 754 number of 64 bits */", ""])
        writer.line(comment("What a step returns."))
        writer.write([f"#define {names.constant}_OK 0U", f"#define {names.constant}_DIVISION_BY_ZERO 1U"])
        writer.write([f"#define {names.constant}_NO_END 2U", ""])
        self._write_constants(writer)
        writer.write(self.monitors.constants())
        self._write_inputs(writer)
        self._write_outputs(writer)
        self._write_struct(writer)
        self._write_prototypes(writer)
        writer.line(f"#endif /* {guard} */")
        return writer.file(f"{names.prefix}.h")

    @property
    def _uses_soft_doubles(self) -> bool:
        """Whether the header declares the type of floats of 64 bits that are computed by functions."""
        if not self.options.soft_doubles:
            return False
        types = (*self.chart.inputs.values(), *self.chart.variables.values())
        if any(isinstance(value_type, FloatType) and not value_type.single for value_type in types):
            return True
        is_called = any(name.startswith("pw_f64") for name in self.code.expressions.support_functions)
        return bool(self.body) and is_called

    def _write_constants(self, writer: CWriter) -> None:
        """Write the constants of states, queued events and enumeration values."""
        writer.line(comment("The innermost states." if self.has_single_state else "The states."))
        writer.write([*self.state_code.constants(), ""])
        if self.uses_queue:
            writer.line(comment("Events that are raised inside and waited for."))
            events = sorted(self.machine.handled_events)
            writer.write(f"#define {self.names.events[event]} {k}U" for k, event in enumerate(events))
            writer.line()
        for enum_type, constants in self.names.values.items():
            writer.line(comment(f"The values of {enum_type}."))
            writer.write(f"#define {constants[name]} {code}" for name, code in enum_type.codes.items())
            writer.line()

    def _write_field(self, writer: CWriter, name: str, value_type: Type, field_name: str) -> None:
        """Write the declaration of the field of a struct for an input or variable of the chart."""
        with writer.traced_to(Element("variable", name, self.chart.lines.get(name))):
            meaning = "" if isinstance(value_type, BoolType) else f" {comment(str(value_type))}"
            writer.line(f"{self.code.c_type(value_type)} {field_name};{meaning}")

    def _write_inputs(self, writer: CWriter) -> None:
        """Write the struct of inputs and events."""
        writer.line(
            comment(
                "What is sampled when a tick begins; a number outside its range counts as the nearest in it."
            )
        )
        with writer.block("typedef struct", f"}} {self.names.prefix}_inputs_t;"):
            for name, input_type in self.chart.inputs.items():
                self._write_field(writer, name, input_type, field_name=self.names.inputs[name])
            for event in self.chart.events:
                with writer.traced_to(Element("event", event, self.chart.lines.get(event))):
                    writer.line(
                        f"bool {self.names.event_inputs[event]}; {comment('came since the last tick')}"
                    )
            if not self.chart.inputs and not self.chart.events:
                writer.line(f"bool unused; {comment('C has no empty struct')}")
        writer.line()

    def _write_outputs(self, writer: CWriter) -> None:
        """Write the struct of outputs."""
        with writer.block("typedef struct", f"}} {self.names.prefix}_outputs_t;"):
            for name, output_type in self.chart.outputs.items():
                self._write_field(writer, name, output_type, field_name=self.names.fields[name])
            if not self.chart.outputs:
                writer.line(f"bool unused; {comment('C has no empty struct')}")
        writer.line()

    def _write_struct(self, writer: CWriter) -> None:
        """Write the struct of the chart: outputs, state, registers and internal fields."""
        readable = "Only `out` is" if self.has_single_state else "Only `out` and the states are"
        writer.line(comment(f"Outputs, and what is kept from tick to tick. {readable} for others to read."))
        with writer.block("typedef struct", f"}} {self.names.prefix}_t;"):
            writer.line(f"{self.names.prefix}_outputs_t out;")
            writer.write(self.state_code.fields())
            for name in self.machine.registers:
                if name not in self.chart.outputs:
                    field_name = self.names.fields[name]
                    self._write_field(writer, name, self.register_type(name), field_name)
            writer.write(self._internal_fields())
        writer.line()

    def register_type(self, name: str) -> Type:
        """Return the type of a register."""
        return self.machine.types[name]

    def _internal_fields(self) -> list[str]:
        """Return the declarations of the fields that only the generated code uses.

        They are those of the monitors, the event queue, the count of microsteps, and the status.
        """
        fields = self.monitors.fields()
        if self.uses_queue:
            count_type = self._queue_count_type
            fields.append(f"uint8_t queue[{self.code.queue_size}];")
            fields += [f"{count_type} next;", f"{count_type} waiting;"]
        if self.counts_microsteps:
            fields.append(f"uint16_t microsteps; {comment('of this tick')}")
        if self.can_fail:
            fields.append("uint8_t status;")
        return fields

    def _write_prototypes(self, writer: CWriter) -> None:
        """Write the declarations of the init and step functions and of the monitors."""
        prefix = self.names.prefix
        writer.write(["#ifdef __cplusplus", 'extern "C" {', "#endif", ""])
        writer.line(comment("Goes back to before the first tick."))
        writer.line(f"void {prefix}_init({prefix}_t *chart);")
        writer.line()
        meaning_of_failure = (
            "after any other the chart stands still until it is initialised"
            if self.can_fail
            else "it cannot fail"
        )
        usage = f"Takes one tick; call it every {self.chart.period_s * 1000:g} ms."
        writer.line(comment(f"{usage} Returns {self.names.constant}_OK; {meaning_of_failure}."))
        writer.line(f"uint8_t {prefix}_step({prefix}_t *chart, const {prefix}_inputs_t *in);")
        writer.write(self.monitors.prototypes())
        writer.write(["", "#ifdef __cplusplus", "}", "#endif", ""])

    # The source

    def source(self) -> SourceFile:
        """Return the source: headers and constants, support functions, then the chart's own functions."""
        names = self.names
        # writing the functions collects the support functions that they call, so it comes first
        body = self.body
        init = self._capture_lines(self._write_init)
        step = self._capture_lines(self._write_step)
        all_functions = CWriter()
        for name in with_called_fragments(sorted(self.code.expressions.support_functions)):
            if name == "pw_f64":  # the header has it
                continue
            all_functions.write([*fragment(name), ""])
        self._write_support(all_functions)
        for part in (self.code.chains.writer, body, init, step):
            all_functions.include(part)
        functions = without_unused(all_functions)
        functions.remove_last_line()  # the empty one after the last function
        writer = CWriter()
        writer.write([f'#include "{names.prefix}.h"', ""])
        self._write_includes(writer, "\n".join(functions.lines))
        if isinstance(self.state_code, SingleStateCode) and self.state_code.enters_at_first_tick:
            writer.write([f"#define NOT_STARTED {len(self.state_code.leaves)}U", ""])
        if self.counts_microsteps:
            writer.write([f"#define MAX_MICROSTEPS {MAX_MICROSTEPS}U", ""])
        writer.include(functions)
        return writer.file(f"{names.prefix}.c")

    def _write_includes(self, writer: CWriter, text: str) -> None:
        """Write the standard headers that a text needs, and the macros of tables in flash if it uses them."""
        names_in_headers = {
            "math.h": ("NAN", "INFINITY", "fabs(", "fabsf(", "fmod"),
            "string.h": ("memset(", "memcpy("),
        }
        headers = [
            header for header, names in names_in_headers.items() if any(name in text for name in names)
        ]
        writer.write(f"#include <{header}>" for header in headers)
        if headers:
            writer.line()
        if "PW_ROM" in text:
            writer.write([*ROM.splitlines(), ""])

    def _capture_lines(self, write: Callable[[], None]) -> CWriter:
        """Call `write`, which writes to `code.writer`, and return a writer with the lines it has written."""
        self.code.writer = CWriter()
        write()
        return self.code.writer

    def _write_support(self, writer: CWriter) -> None:
        """Write the function `counted`, which counts a microstep if it took a transition, and `put`.

        `put` queues an event. Each is written only if the chart calls it.
        """
        prefix = self.names.prefix
        if self.counts_microsteps:
            writer.line(comment("Counts a microstep, so that a tick that would go round for ever ends."))
            with writer.function(f"static bool counted({prefix}_t *chart, bool taken)"):
                with writer.block("if (taken)"):
                    writer.line("chart->microsteps++;")
                    with writer.block("if ((chart->microsteps > MAX_MICROSTEPS) && (chart->status == 0U))"):
                        writer.line(f"chart->status = {self.names.constant}_NO_END;")
                writer.line("return taken;")
        body_queues_events = "put(chart" in "\n".join(self.body.lines)  # else C warns of an unused function
        if self.uses_queue and body_queues_events:
            self._write_put(writer)

    def _write_put(self, writer: CWriter) -> None:
        """Write the function `put`, which appends an event to the queue; if that is full, the tick fails."""
        size = self.code.queue_size
        prefix = self.names.prefix
        note = "" if self.may_overflow else " There is always room."
        writer.line(comment(f"Puts an event into the queue, first in, first out.{note}"))
        with writer.function(f"static void put({prefix}_t *chart, uint8_t event)"):
            block_end = "} else if (chart->status == 0U) {" if self.may_overflow else "}"
            with writer.block(f"if (chart->waiting < {size}U)", block_end):
                writer.line(f"chart->queue[(uint16_t)(chart->next + chart->waiting) % {size}U] = event;")
                writer.line(f"chart->waiting = ({self._queue_count_type})(chart->waiting + 1U);")
            if self.may_overflow:
                with writer.indented_block():
                    writer.line(f"chart->status = {self.names.constant}_NO_END;")

    def _write_init(self) -> None:
        """Write the init function, which sets every field to its value before the first tick."""
        machine = self.machine
        with self.code.function(f"void {self.names.prefix}_init({self.names.prefix}_t *chart)") as writer:
            start_values = machine.start_values(machine.planner.enter_chart().configuration)
            for name in machine.registers:
                with writer.traced_to(Element("variable", name, self.chart.lines.get(name))):
                    literal = self.code.expressions.literal(start_values[name], self.register_type(name))
                    writer.line(f"chart->{self.names.registers[name]} = {literal};")
            if not self.chart.outputs:
                writer.line("chart->out.unused = false;")
            self.state_code.write_init()
            self.monitors.write_init()
            if self.uses_queue:
                writer.write(["chart->next = 0U;", "chart->waiting = 0U;"])
            if self.counts_microsteps:
                writer.line("chart->microsteps = 0U;")
            if self.can_fail:
                writer.line(f"chart->status = {self.names.constant}_OK;")

    def _write_step(self) -> None:
        """Write the step function, which clamps the inputs and takes a tick.

        A tick that can fail is taken by a copy of the chart, which replaces the chart if the tick succeeds;
        so a failed tick changes nothing but the status.
        """
        prefix = self.names.prefix
        clamp_lines = self._input_clamp_lines()
        inputs = "&clamped" if clamp_lines else "in"
        with self.code.function(f"uint8_t {prefix}_step({self._parameters})") as writer:
            # the declarations, at the top of the function
            if self.can_fail:
                writer.line(f"{prefix}_t after;")
            if clamp_lines:
                writer.line(f"{prefix}_inputs_t clamped;")
            if self.can_fail:
                with writer.block(f"if (chart->status != {self.names.constant}_OK)"):
                    writer.line("return chart->status;")
            if clamp_lines:
                writer.line("clamped = *in;")
                writer.write(clamp_lines)
            if not self.can_fail:
                writer.line(f"tick(chart, {inputs});")
                writer.write(self.monitors.call("chart", inputs))
                writer.line(f"return {self.names.constant}_OK;")
                return
            writer.line("after = *chart; /* a tick that fails changes nothing */")
            if self.counts_microsteps:
                writer.line("after.microsteps = 0U;")
            writer.line(f"tick(&after, {inputs});")
            writer.write(self.monitors.call("&after", inputs))
            with writer.block(f"if (after.status == {self.names.constant}_OK)", "} else {"):
                writer.line("*chart = after;")
            with writer.indented_block():
                writer.line("chart->status = after.status;")
            writer.line("return chart->status;")

    def _input_clamp_lines(self) -> list[str]:
        """Return lines of C that make every input a value of its type; see `_clamp_lines`."""
        lines = []
        for name, input_type in self.chart.inputs.items():
            lines += self._clamp_lines(f"clamped.{self.names.inputs[name]}", input_type)
        return lines

    def _clamp_lines(self, field: str, value_type: Type) -> list[str]:
        """Return lines of C that make a field a value of its type.

        A number outside of its range becomes the nearest in it, and NaN the default. A code that is none of
        an enumeration becomes that of its default. A bool needs no line.

        Args:
            field: the expression of C for the field, such as `clamped.distance`.
            value_type: the type in the chart.
        """
        if isinstance(value_type, EnumType):
            last_code = len(value_type.values) - 1
            default_code = value_type.codes[value_type.default]
            return [f"if ({field} > {last_code}) {{", f"    {field} = {default_code};", "}"]
        if isinstance(value_type, FloatType):
            return [self._float_clamp_line(field, value_type)]
        if isinstance(value_type, IntType):
            return _integer_clamp_lines(field, value_type)
        return []

    def _float_clamp_line(self, field: str, float_type: FloatType) -> str:
        """Return the line of C that clamps a float by a support function, which also replaces NaN."""
        if float_type.single:
            function = "pw_fit_float"
        elif self.options.soft_doubles:
            function = "pw_f64_fit"
        else:
            function = "pw_fit_double"
        expressions = self.code.expressions
        expressions.support_functions.add(function)
        numbers = (float_type.low, float_type.high, float_type.default)
        literals = [expressions.float_literal(number, single=float_type.single).text for number in numbers]
        return f"{field} = {function}({field}, {', '.join(literals)});"

    def generate(self) -> tuple[SourceFile, SourceFile]:
        """Return the header and the source."""
        source = self.source()  # first, since the header declares what writing the source collects
        return self.header(), source


def _integer_clamp_lines(field: str, int_type: IntType) -> list[str]:
    """Return lines of C that clamp an integer to its range, for each bound that its storage type exceeds."""
    storage_low, storage_high = INT_RANGES[int_type.storage]
    lines = []
    if int_type.high < storage_high:
        high = integer_literal(int_type.high)
        lines += [f"if ({field} > {high}) {{", f"    {field} = {high};", "}"]
    if int_type.low > storage_low:
        low = integer_literal(int_type.low)
        lines += [f"if ({field} < {low}) {{", f"    {field} = {low};", "}"]
    return lines
