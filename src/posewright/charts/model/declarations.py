"""The declarations of a chart, and the rules for names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from posewright.charts.expression import FUNCTIONS, KEYWORDS, TEMPORAL_OPERATORS, Function, Scope
from posewright.charts.model.chart import scope_of
from posewright.charts.types import BoolType, Type, Value
from posewright.documents import Node

RESERVED = (
    KEYWORDS
    | FUNCTIONS.keys()
    | TEMPORAL_OPERATORS.keys()
    | {"true", "false", "in", "raise", "state", "next"}
)
"""Words that cannot be the name of an input, output, event or constant."""

MAX_NAME = 80
"""Characters in a name."""

CHART_NAME_HINT = "use letters, digits, spaces and _ - . :, starting with a letter or digit"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CHART_NAME = re.compile(r"\w[\w .:-]*")


@dataclass(frozen=True)
class Declarations:
    """The names that a chart declares.

    Attributes:
        units: units of the constants that were written with one.
        lines: the line of each name, values of enumerations included.
    """

    inputs: Mapping[str, Type] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    local_events: tuple[str, ...] = ()
    outputs: Mapping[str, Type] = field(default_factory=dict)
    locals: Mapping[str, Type] = field(default_factory=dict)
    constants: Mapping[str, Value] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def variables(self) -> dict[str, Type]:
        """The types of outputs and locals, which actions may set."""
        return {**self.outputs, **self.locals}

    @property
    def every_event(self) -> tuple[str, ...]:
        """The events from outside, then those that only the chart raises."""
        return (*self.events, *self.local_events)

    def scope(self, states: tuple[str, ...] = (), *, events: bool = False) -> Scope:
        """Return the names that guards and actions may use.

        Args:
            states: names of states that `in(...)` may test.
            events: add the events as truth values, for promises.
        """
        event_types = dict.fromkeys(self.every_event, BoolType()) if events else {}
        return scope_of(
            {**self.inputs, **self.variables, **event_types},
            self.constants,
            units=self.units,
            functions=self.functions,
            states=frozenset(states),
        )

    @property
    def fixed_scope(self) -> Scope:
        """The names that a constant expression may use: constants and values of enumerations."""
        return Scope(constants=self.constants, enum_of_value=self.scope().enum_of_value, units=self.units)


def require_name(name: str, node: Node) -> str:
    """Return `name`; raise a DocumentError at `node` if an input, output or constant cannot be called so."""
    fault = find_name_fault(name)
    if fault is not None:
        node.fail(
            f"{name[:MAX_NAME]!r} {fault}", hint="use letters a-z, digits and _, starting with a letter"
        )
    return name


def find_name_fault(name: str) -> str | None:
    """Return what is wrong with the name of an input, output or constant; None if it is valid."""
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        return "is not a valid name"
    return "is a reserved word" if name.lower() in RESERVED else None


def read_chart_name(node: Node) -> str:
    """Return the name of a chart, or raise a DocumentError if it is not valid."""
    name = node.text()
    if not _CHART_NAME.fullmatch(name) or len(name) > MAX_NAME:
        node.fail(f"{name[:MAX_NAME]!r} is not a valid name for a chart", hint=CHART_NAME_HINT)
    return name


def to_chart_name(text: str) -> str:
    """Return the valid chart name closest to a text, such as a file's name."""
    name = re.sub(r"[^\w .:-]", "_", text.strip())[:MAX_NAME]
    return name if _CHART_NAME.fullmatch(name) else f"_{name}"[:MAX_NAME]


def chart_name_of_file(path: Path | None, default: str) -> str:
    """Return the name of a chart that does not state one: its file's, without suffixes, or the default."""
    return to_chart_name(path.name.split(".")[0]) if path is not None else default


def read_title(node: Node) -> str:
    """Return the name of a promise or a scenario, or raise a DocumentError if it is not one line of text."""
    name = node.text().strip()
    if not name.isprintable():
        node.fail(f"{name[:MAX_NAME]!r} is not a valid name", hint="use one line, without control characters")
    return name
