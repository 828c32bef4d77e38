"""Names of a chart's elements in C."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from posewright.charts import Chart
from posewright.charts.machine import Machine
from posewright.charts.types import EnumType, Type

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


def distinct(names: Iterable[str]) -> dict[str, str]:
    """Return a different identifier for each name."""
    identifiers: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        base = identifier(name)
        candidate = base
        number = 1
        while candidate in used:
            number += 1
            candidate = f"{base}_{number}"
        used.add(candidate)
        identifiers[name] = candidate
    return identifiers


def upper(names: Iterable[str], prefix: str, used: set[str] | None = None) -> dict[str, str]:
    """Return a different constant for each name, in upper case with a prefix, none of them in `used`."""
    names = tuple(names)
    constants: dict[str, str] = {}
    used = set() if used is None else used
    for name in names:
        base = f"{prefix}_{re.sub(r'[^A-Za-z0-9_]', '_', name)}".upper()
        candidate = base
        number = 1
        while candidate in used:
            number += 1
            candidate = f"{base}_{number}"
        used.add(candidate)
        constants[name] = candidate
    return constants


class ChartNames:
    """The names of one chart.

    Attributes:
        prefix: of everything that other files see: the chart's name in lower case.
        constant: the same in upper case.
        inputs: fields of the inputs.
        event_inputs: fields that say which events came.
        registers: fields of the chart: outputs stand in `out`.
        states: constants of the states, by node number.
        events: constants of the events that wait in the queue.
        types: the name of each enumeration's type.
        values: constants of each enumeration's values, by type.
        promises: constants of the promises.
        labels: what is of each enumeration's type, by type: the first thing that is.
    """

    def __init__(self, machine: Machine) -> None:
        chart = machine.chart
        self.prefix = prefix_of(chart)
        self.constant = self.prefix.upper()
        fields = distinct(
            [*chart.inputs, *(f"ev_{event} " for event in chart.events)]
        )  # no input ends in a blank
        self.inputs = {name: fields[name] for name in chart.inputs}
        self.event_inputs = {event: fields[f"ev_{event} "] for event in chart.events}
        outputs = distinct(chart.outputs)
        own = (*_OWN_FIELDS, *(f"history_{k}" for k in range(len(machine.history))))
        owed = (f"owed_{k}" for k in range(len(chart.promises)))
        internal_names = distinct([*own, *owed, *chart.locals, *(c.name for c in machine.counters)])
        self.registers = {name: f"out.{field}" for name, field in outputs.items()}
        self.registers |= {name: internal_names[name] for name in machine.registers if name not in outputs}
        self.fields = {
            **outputs,
            **{name: internal_names[name] for name in machine.registers if name not in outputs},
        }
        used = {f"{self.constant}_{name}" for name in ("H", "OK", "DIVISION_BY_ZERO", "NO_END")}
        states = upper((node.name for node in machine.nodes[1:]), f"{self.constant}_STATE", used)
        self.states: Mapping[int, str] = {node.index: states[node.name] for node in machine.nodes[1:]}
        self.events = upper(sorted(machine.handled_events), f"{self.constant}_EVENT", used)
        self.promises = upper((promise.name for promise in chart.promises), f"{self.constant}_PROMISE", used)
        self.values: dict[EnumType, dict[str, str]] = {}
        self.labels: dict[EnumType, str] = {}
        for name, kind in self._declared(chart):
            if isinstance(kind, EnumType) and kind not in self.values:
                self.labels[kind] = name
                self.values[kind] = upper(kind.values, f"{self.constant}_{name}", used)

    def _declared(self, chart: Chart) -> Iterator[tuple[str, Type]]:
        """Yield name and type of all inputs, variables, parameters and functions."""
        yield from chart.inputs.items()
        yield from chart.variables.items()
        for name, function in chart.functions.items():
            yield from ((f"{name}_{parameter}", kind) for parameter, kind in function.parameters.items())
            yield name, function.return_type


_OWN_FIELDS = (
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
    ]
)
"""Files that those of a chart must not stand in front of or be written over by."""

TYPES = re.compile(r"u?int(_fast|_least)?\d+|u?int(ptr|max)|s?size|wchar|wint|ptrdiff|l?l?div|max_align")
"""What types of C are called before their `_t`, as a chart's own type would be."""


def prefix_of(chart: Chart) -> str:
    """Return the prefix of the names of a chart's functions and types."""
    prefix = identifier(identifier(chart.name).lower()).lower()
    is_reserved = prefix in HEADERS or TYPES.fullmatch(prefix)
    return f"{prefix}_" if is_reserved else prefix if prefix.strip("_") else f"chart{prefix}"
