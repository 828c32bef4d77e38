"""A class of C++11 around a chart in C, for sketches and programs: no heap, no exceptions, no virtuals."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.codegen.c.chart import ChartGenerator
from posewright.codegen.c.names import distinct
from posewright.codegen.c.single import SingleStateCode
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import SourceFile

OWN = ("State", "Status", "Promise", "Inputs", "Outputs")
"""Types of the class, which no enumeration of the chart may be called like."""


def cpp_wrapper(generator: ChartGenerator) -> SourceFile:
    """Return `<prefix>.hpp`: one class, in which the chart's names are enumerations."""
    names = generator.names
    writer = CWriter()
    prefix = names.prefix
    name = f"{_camel(prefix)}Chart"
    guard = f"{names.constant}_HPP"
    writer.write([f"#ifndef {guard}", f"#define {guard}", "", f'#include "{prefix}.h"', ""])
    writer.line(comment(f"{generator.chart.name} as an object of C++11; call step() every period."))
    with writer.block(f"class {name}", "};"):
        writer.depth -= 1
        writer.line("public:")
        writer.depth += 1
        _types(writer, generator)
        _functions(writer, generator, name)
        writer.depth -= 1
        writer.write(["", "private:"])
        writer.depth += 1
        writer.line(f"{prefix}_t chart_;")
    writer.write(["", f"#endif /* {guard} */"])
    return writer.file(f"{prefix}.hpp")


def _types(writer: CWriter, generator: ChartGenerator) -> None:
    names = generator.names
    machine = generator.machine
    single = isinstance(generator.form, SingleStateCode)
    states = {node.name: names.states[node.index] for node in machine.nodes[1:] if node.is_leaf or not single}
    codes = ("ok", "division_by_zero", "no_end")
    writer.write(
        [f"typedef {names.prefix}_inputs_t Inputs;", f"typedef {names.prefix}_outputs_t Outputs;", ""]
    )
    _enum(writer, "State", states)
    _enum(writer, "Status", {code: f"{names.constant}_{code.upper()}" for code in codes})
    if generator.monitors.promises:
        promises = {
            text.removeprefix(f"{names.constant}_PROMISE_").lower(): text for text in names.promises.values()
        }
        _enum(writer, "Promise", promises)
    labels = distinct([*OWN, *(f"{_camel(label)} " for label in names.labels.values())])
    for kind, label in names.labels.items():
        _enum(writer, labels[f"{_camel(label)} "], names.values[kind])


def _enum(writer: CWriter, name: str, values: Mapping[str, str]) -> None:
    """Write an enumeration over constants of the chart's header."""
    size = "uint8_t" if len(values) < 256 else "uint16_t"
    identifiers = distinct(values)
    with writer.block(f"enum class {name} : {size}", "};"):
        writer.write(f"{identifiers[value]} = {constant}," for value, constant in list(values.items())[:-1])
        value, constant = list(values.items())[-1]
        writer.line(f"{identifiers[value]} = {constant}")
    writer.line()


def _functions(writer: CWriter, generator: ChartGenerator, name: str) -> None:
    prefix = generator.names.prefix
    writer.line(f"{name}() : chart_() {{ reset(); }}")
    writer.write(["", comment("Goes back to before the first tick.")])
    writer.line(f"void reset() {{ {prefix}_init(&chart_); }}")
    writer.write(["", comment("Takes one tick.")])
    with writer.block("Status step(const Inputs &inputs)"):
        writer.line(f"return static_cast<Status>({prefix}_step(&chart_, &inputs));")
    writer.write(["", "const Outputs &outputs() const { return chart_.out; }", ""])
    if isinstance(generator.form, SingleStateCode):
        writer.write(["State state() const { return static_cast<State>(chart_.state); }", ""])
        writer.line("bool in(State state) const { return chart_.state == static_cast<unsigned>(state); }")
    else:
        with writer.block("bool in(State state) const"):
            writer.line("const unsigned node = static_cast<unsigned>(state);")
            writer.line("return ((chart_.active[node / 8U] >> (node % 8U)) & 1U) != 0U;")
    if generator.monitors.promises:
        writer.write(["", comment("Whether a promise is broken after the last tick.")])
        with writer.block("bool is_broken(Promise promise) const"):
            writer.line(f"return {prefix}_is_broken(&chart_, static_cast<uint8_t>(promise));")


def _camel(name: str) -> str:
    """Return a name as types are written: `obstacle_mealy` as `ObstacleMealy`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
