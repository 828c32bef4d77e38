"""What a chart declares, and what its names may be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from posewright.charts.chart import scope_of
from posewright.charts.datatypes import BoolType, Type, Value
from posewright.charts.expression import Scope
from posewright.charts.function import Function
from posewright.documents import Node

RESERVED = frozenset(
    {
        "and",
        "or",
        "not",
        "true",
        "false",
        "if",
        "else",
        "in",
        "abs",
        "min",
        "max",
        "single",
        "after",
        "before",
        "every",
        "held",
        "raise",
        "state",
        "next",
    }
)
"""Words that no input, output, event or constant may be called."""

MAX_NAME = 80
"""Letters in a name."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Declarations:
    """Names in scope of a whole chart.

    Attributes:
        units: the unit each constant was written in, where it was written in one.
    """

    inputs: Mapping[str, Type] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    local_events: tuple[str, ...] = ()
    outputs: Mapping[str, Type] = field(default_factory=dict)
    locals: Mapping[str, Type] = field(default_factory=dict)
    constants: Mapping[str, Value] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)

    @property
    def variables(self) -> dict[str, Type]:
        """Outputs and locals: what actions may set."""
        return {**self.outputs, **self.locals}

    @property
    def every_event(self) -> tuple[str, ...]:
        """Events from outside and from inside."""
        return (*self.events, *self.local_events)

    def scope(self, states: tuple[str, ...] = (), *, events: bool = False) -> Scope:
        """Return what guards and actions may use; a promise may ask for events as well."""
        asked = dict.fromkeys(self.every_event, BoolType()) if events else {}
        return scope_of(
            {**self.inputs, **self.variables, **asked},
            self.constants,
            units=self.units,
            functions=self.functions,
            states=frozenset(states),
        )

    @property
    def fixed_scope(self) -> Scope:
        """What may be used where nothing may change: constants and names of values."""
        return Scope(constants=self.constants, values=self.scope().values, units=self.units)


def proper_name(name: str, node: Node) -> str:
    """Return `name`, or fail where it is none."""
    fault = name_fault(name)
    if fault is not None:
        node.fail(f"{name[:MAX_NAME]!r} {fault}", hint="use letters a-z, digits and _, a letter first")
    return name


def name_fault(name: str) -> str | None:
    """Return why no input, output or constant may be called `name`, or None where it may."""
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        return "is no name"
    return "is a word of the language" if name.lower() in RESERVED else None
