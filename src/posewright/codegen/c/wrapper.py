"""A C++11 class around a chart in C, without heap, exceptions and virtual functions."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.codegen.c.chart import ChartGenerator
from posewright.codegen.c.names import choose_identifiers
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import SourceFile

RESERVED_TYPES = ("State", "Status", "Promise", "Inputs", "Outputs")
"""Types of the class; an enumeration of the chart with such a name gets another one."""


def cpp_wrapper(generator: ChartGenerator) -> SourceFile:
    """Return `<prefix>.hpp`, a class that has the chart's states, promises and values as enumerations."""
    names = generator.names
    writer = CWriter()
    prefix = names.prefix
    class_name = f"{_camel_case(prefix)}Chart"
    guard = f"{names.constant}_HPP"
    writer.write([f"#ifndef {guard}", f"#define {guard}", "", f'#include "{prefix}.h"', ""])
    writer.line(comment(f"{generator.chart.name} as an object of C++11; call step() every period."))
    with writer.block(f"class {class_name}", "};"):
        writer.depth -= 1
        writer.line("public:")
        writer.depth += 1
        _write_types(writer, generator)
        _write_functions(writer, generator, class_name)
        writer.depth -= 1
        writer.write(["", "private:"])
        writer.depth += 1
        writer.line(f"{prefix}_t chart_;")
    writer.write(["", f"#endif /* {guard} */"])
    return writer.file(f"{prefix}.hpp")


def _write_types(writer: CWriter, generator: ChartGenerator) -> None:
    """Write the enumerations of the class, and its names for the chart's structs."""
    names = generator.names
    state_constants = {node.name: names.states[node.index] for node in generator.state_code.named_nodes}
    status_codes = ("ok", "division_by_zero", "no_end")
    writer.line(f"typedef {names.prefix}_inputs_t Inputs;")
    writer.line(f"typedef {names.prefix}_outputs_t Outputs;")
    writer.line()
    _write_enum(writer, "State", state_constants)
    _write_enum(writer, "Status", {code: f"{names.constant}_{code.upper()}" for code in status_codes})
    if generator.monitors.promises:
        prefix = f"{names.constant}_PROMISE_"
        constants = names.promises.values()
        promises = {constant.removeprefix(prefix).lower(): constant for constant in constants}
        _write_enum(writer, "Promise", promises)
    # the blank keeps a name apart from an equal reserved one, so that `choose_identifiers` changes it
    requested_names = {enum_type: f"{_camel_case(label)} " for enum_type, label in names.labels.items()}
    type_names = choose_identifiers([*RESERVED_TYPES, *requested_names.values()])
    for enum_type, requested_name in requested_names.items():
        _write_enum(writer, type_names[requested_name], names.values[enum_type])


def _write_enum(writer: CWriter, name: str, constants: Mapping[str, str]) -> None:
    """Write an enumeration of C++.

    Args:
        writer: receives the lines.
        name: its name.
        constants: for the name of each member, the constant of C that is its value.
    """
    size = "uint8_t" if len(constants) < 256 else "uint16_t"
    identifiers = choose_identifiers(constants)
    members = [f"{identifiers[member]} = {constant}" for member, constant in constants.items()]
    with writer.block(f"enum class {name} : {size}", "};"):
        writer.write(f"{member}," for member in members[:-1])
        writer.line(members[-1])
    writer.line()


def _write_functions(writer: CWriter, generator: ChartGenerator, class_name: str) -> None:
    """Write the member functions of the class: construct, reset, step, outputs, states and promises."""
    names = generator.names
    prefix = names.prefix
    writer.line(f"{class_name}() : chart_() {{ reset(); }}")
    writer.write(["", comment("Goes back to before the first tick.")])
    writer.line(f"void reset() {{ {prefix}_init(&chart_); }}")
    writer.write(["", comment("Takes one tick.")])
    with writer.block("Status step(const Inputs &inputs)"):
        writer.line(f"return static_cast<Status>({prefix}_step(&chart_, &inputs));")
    writer.write(["", "const Outputs &outputs() const { return chart_.out; }", ""])
    if generator.has_single_state:
        writer.write(["State state() const { return static_cast<State>(chart_.state); }", ""])
        writer.line("bool in(State state) const { return chart_.state == static_cast<unsigned>(state); }")
    else:
        state_code = generator.state_code
        with (
            writer.block("bool in(State state) const"),
            writer.block("switch (static_cast<unsigned>(state))"),
        ):
            for node in state_code.named_nodes:
                condition = state_code.active_condition(node.index).replace("chart->", "chart_.")
                writer.line(f"case {names.states[node.index]}: return {condition};")
            writer.line("default: return false;")
    if generator.monitors.promises:
        writer.write(["", comment("Whether a promise is broken after the last tick.")])
        with writer.block("bool is_broken(Promise promise) const"):
            writer.line(f"return {prefix}_is_broken(&chart_, static_cast<uint8_t>(promise));")


def _camel_case(name: str) -> str:
    """Return a name in the style of types: `obstacle_mealy` as `ObstacleMealy`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
