"""Names of a chart's elements in C."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count

from posewright.charts import Chart
from posewright.charts.machine import Machine
from posewright.charts.machine.node import ROOT
from posewright.charts.types import EnumType, Type
from posewright.codegen.c.region_tree import RegionTree, has_single_state

KEYWORDS = frozenset(
    # C99 6.4.1, C++11 2.12, and what <stdbool.h>, <errno.h> and <stdio.h> define in lower case
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "alignas",
        "alignof",
        "and",
        "and_eq",
        "asm",
        "bitand",
        "bitor",
        "bool",
        "catch",
        "char16_t",
        "char32_t",
        "class",
        "compl",
        "constexpr",
        "const_cast",
        "decltype",
        "delete",
        "dynamic_cast",
        "explicit",
        "export",
        "false",
        "friend",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "not",
        "not_eq",
        "nullptr",
        "operator",
        "or",
        "or_eq",
        "private",
        "protected",
        "public",
        "reinterpret_cast",
        "static_assert",
        "static_cast",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typeid",
        "typename",
        "using",
        "virtual",
        "wchar_t",
        "xor",
        "xor_eq",
        "errno",
        "stdin",
        "stdout",
        "stderr",
        "main",
        "unit",
        "link",
        "board",
        "linux",
        "unix",
    ]
)
"""Names that a chart may use and C or C++ keep for themselves; `linux` and `unix` are macros of GNU C."""

MACROS = re.compile(
    r"""[A-Z][A-Z0-9_]+      # INT8_MAX, M_PI, PORTB, LED_BUILTIN: nearly all macros; nobody can list them
    |   _.*|[A-Z]*\d+        # what implementations keep for themselves, and B0, I1
    |   (PRI|SCN)[a-zA-Z]+\d*                    # <inttypes.h>
    |   is[a-z]+|signbit|fpclassify|signgam|math_errhandling|offsetof  # <math.h>, <stddef.h>
    |   \w+_vect(_num)?|\w+_t                    # <avr/interrupt.h>; types of <stdint.h> and <stddef.h>
    """,
    re.VERBOSE,
)
"""Names that headers of C, of AVR libc and of Arduino may define: a variable that is called so gets a `_`."""


def identifier(name: str) -> str:
    """Return an identifier of C that resembles a name."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name.strip())
    if not plain or plain[0].isdigit():
        plain = f"c{plain}"
    is_reserved = plain in KEYWORDS or MACROS.fullmatch(plain)
    return f"{plain.lstrip('_')}_" if is_reserved else plain


def choose_identifiers(names: Iterable[str]) -> dict[str, str]:
    """Return an identifier of C for each name, all different."""
    identifiers: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        identifiers[name] = take_unused(identifier(name), used)
    return identifiers


def distinct_constants(names: Iterable[str], prefix: str, used: set[str]) -> dict[str, str]:
    """Return a different constant for each name, in upper case with a prefix.

    Args:
        names: the names.
        prefix: the prefix with which every constant begins.
        used: constants that exist already; the new ones are added to it.
    """
    constants: dict[str, str] = {}
    for name in names:
        stem = f"{prefix}_{re.sub(r'[^A-Za-z0-9_]', '_', name)}".upper()
        constants[name] = take_unused(stem, used)
    return constants


def take_unused(stem: str, used: set[str]) -> str:
    """Return the stem, or the first of `stem_2`, `stem_3` ... that is not used, and add it to `used`."""
    candidates = chain([stem], (f"{stem}_{number}" for number in count(2)))
    unused = next(candidate for candidate in candidates if candidate not in used)
    used.add(unused)
    return unused


class ChartNames:
    """The names in C of one chart's elements, by their names in the chart.

    Attributes:
        prefix: the prefix of everything that other files see: the chart's name in lower case.
        constant: the same in upper case.
        inputs: the field of each input in the struct of inputs.
        event_inputs: the field of each event in the struct of inputs, which says whether it has come.
        fields: the field of each register (a variable or counter), outputs in the struct of outputs.
        registers: the same as reached from the chart's struct: `out.speed` for an output.
        states: the constant of each state, by node number.
        region_suffixes: for a chart with regions, the end of the names that belong to a region, by the number
            of its root: `_left`; empty for the chart around the regions.
        region_fields: the field with the number of the active state of each of these.
        history_fields: the field in which a history stores the state of a region, by the index of the history
            and the number of the root of the region.
        events: the constant of each event that can wait in the queue.
        values: the constants of each enumeration's values, by the enumeration.
        promises: the constant of each promise.
        labels: for each enumeration, the first input, variable, parameter or function that is of its type.
    """

    def __init__(self, machine: Machine) -> None:
        """Choose a name of C for every element of the machine's chart.

        Fields of the same struct are different, and so are all constants. A register is a variable of the
        chart or a counter of the machine.
        """
        chart = machine.chart
        self.prefix = prefix_of(chart)
        self.constant = self.prefix.upper()
        # the blank keeps an event apart from an input `ev_...`, since no input's name ends in a blank
        input_fields = choose_identifiers([*chart.inputs, *(f"ev_{event} " for event in chart.events)])
        self.inputs = {name: input_fields[name] for name in chart.inputs}
        self.event_inputs = {event: input_fields[f"ev_{event} "] for event in chart.events}
        outputs = choose_identifiers(chart.outputs)
        history_fields = (f"history_{index}" for index in range(len(machine.histories)))
        monitor_fields = (f"owed_{index}" for index in range(len(chart.promises)))
        counter_names = (counter.name for counter in machine.counters)
        region_fields = self._name_regions(machine)
        # the generator's own fields are first, so that they keep their names
        internal_fields = choose_identifiers(
            [
                *_GENERATOR_FIELDS,
                *region_fields,
                *history_fields,
                *monitor_fields,
                *chart.locals,
                *counter_names,
            ]
        )
        internal_registers = {
            name: internal_fields[name] for name in machine.registers if name not in outputs
        }
        self.fields = {**outputs, **internal_registers}
        self.registers = {name: f"out.{field}" for name, field in outputs.items()} | internal_registers
        used_constants = {f"{self.constant}_{name}" for name in ("H", "OK", "DIVISION_BY_ZERO", "NO_END")}
        state_names = (node.name for node in machine.nodes[1:])
        states = distinct_constants(state_names, f"{self.constant}_STATE", used_constants)
        self.states: Mapping[int, str] = {node.index: states[node.name] for node in machine.nodes[1:]}
        self.events = distinct_constants(
            sorted(machine.handled_events), f"{self.constant}_EVENT", used_constants
        )
        promise_names = (promise.name for promise in chart.promises)
        self.promises = distinct_constants(promise_names, f"{self.constant}_PROMISE", used_constants)
        self.values: dict[EnumType, dict[str, str]] = {}
        self.labels: dict[EnumType, str] = {}
        for name, value_type in self._typed_elements(chart):
            # the constants are named after the first element of the type
            if isinstance(value_type, EnumType) and value_type not in self.values:
                self.labels[value_type] = name
                prefix = f"{self.constant}_{name}"
                self.values[value_type] = distinct_constants(value_type.values, prefix, used_constants)

    def _name_regions(self, machine: Machine) -> list[str]:
        """Set `region_suffixes`, `region_fields` and `history_fields`, all empty for a chart without regions.

        Returns:
            The names of these fields in the chart's struct, without those that every chart has.
        """
        self.region_suffixes: dict[int, str] = {}
        self.region_fields: dict[int, str] = {}
        self.history_fields: dict[tuple[int, int], str] = {}
        if has_single_state(machine):
            return []
        tree = RegionTree(machine)
        region_names = choose_identifiers(
            region.root.name for region in tree.regions if region.root.index != ROOT
        )
        for region in tree.regions:
            is_chart = region.root.index == ROOT
            suffix = "" if is_chart else f"_{region_names[region.root.name]}"
            self.region_suffixes[region.root.index] = suffix
            self.region_fields[region.root.index] = f"state{suffix}"
        for history_index, (node_number, history_kind) in enumerate(machine.histories):
            for region in tree.regions_of_history(node_number, history_kind):
                suffix = self.region_suffixes[region.root.index]
                self.history_fields[history_index, region.root.index] = f"history_{history_index}{suffix}"
        fields = [*self.region_fields.values(), *self.history_fields.values()]
        return [field for field in fields if field not in _GENERATOR_FIELDS]

    def _typed_elements(self, chart: Chart) -> Iterator[tuple[str, Type]]:
        """Yield name and type of all inputs, variables, parameters (`function_parameter`) and functions."""
        yield from chart.inputs.items()
        yield from chart.variables.items()
        for name, function in chart.functions.items():
            for parameter, parameter_type in function.parameters.items():
                yield f"{name}_{parameter}", parameter_type
            yield name, function.return_type


_GENERATOR_FIELDS = (
    *("out", "state", "active", "history", "stayed", "broken", "came"),
    *("queue", "next", "waiting", "microsteps", "status"),
)
"""Fields of a chart in C that are nothing of its document."""

HEADERS = frozenset(
    # headers of C; the boards' own files and those of behaviours
    [
        *("stdbool", "stdint", "stddef", "stdio", "stdlib", "string", "math", "limits", "float", "arduino"),
        *("host", "pil_main", "startup", "registers", "board_hooks", "board_pins", "board_pins_kinds"),
        *("board_records", "board_wiring", "player", "sensing", "motions", "hook", "wiring"),
        *("biped", "walker", "performer", "gaits"),
    ]
)
"""Files that those of a chart must not stand in front of or be written over by."""

TYPES = re.compile(r"u?int(_fast|_least)?\d+|u?int(ptr|max)|s?size|wchar|wint|ptrdiff|l?l?div|max_align")
"""What types of C are called before their `_t`, as a chart's own type would be."""


def prefix_of(chart: Chart) -> str:
    """Return the prefix of the names of a chart's functions, types and files."""
    # again after `lower`, since the name in lower case may be a keyword
    prefix = identifier(identifier(chart.name).lower()).lower()
    if prefix in HEADERS or TYPES.fullmatch(prefix):
        return f"{prefix}_"
    is_blank = not prefix.strip("_")  # of a name without a letter or digit
    return f"chart{prefix}" if is_blank else prefix
