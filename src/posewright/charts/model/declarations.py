"""What a chart declares, and what its names may be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from posewright.charts.expression import FUNCTIONS, TIMINGS, WORDS, Function, Scope
from posewright.charts.model.chart import scope_of
from posewright.charts.types import BoolType, Type, Value
from posewright.documents import Node

RESERVED = WORDS | FUNCTIONS.keys() | TIMINGS.keys() | {"true", "false", "in", "raise", "state", "next"}
"""Words that no input, output, event or constant may be called."""

MAX_NAME = 80
"""Letters in a name."""

CHART_NAME_HINT = "use letters, digits, blanks and _ - . :, a letter or digit first"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CHART_NAME = re.compile(r"\w[\w .:-]*")


@dataclass(frozen=True)
class Declarations:
    """Names in scope of a whole chart.

    Attributes:
        units: the unit each constant was written in, where it was written in one.
        lines: where each name stands, values of enumerations among them.
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


def chart_name(node: Node) -> str:
    """Return what a chart is called, or fail where that is no name: pictures and messages show it."""
    name = node.text()
    if not _CHART_NAME.fullmatch(name) or len(name) > MAX_NAME:
        node.fail(f"{name[:MAX_NAME]!r} is no name for a chart", hint=CHART_NAME_HINT)
    return name


def chart_named(text: str) -> str:
    """Return the name of a chart nearest to what a file or another format calls it."""
    name = re.sub(r"[^\w .:-]", "_", text.strip())[:MAX_NAME]
    return name if _CHART_NAME.fullmatch(name) else f"_{name}"[:MAX_NAME]


def file_named(path: Path | None, otherwise: str) -> str:
    """Return the name of a chart that says none: that of its file, without endings."""
    return chart_named(path.name.split(".")[0]) if path is not None else otherwise


def title_of(node: Node) -> str:
    """Return what a promise or a scenario is called, or fail where it is not one line of text."""
    name = node.text().strip()
    if not name.isprintable():
        node.fail(f"{name[:MAX_NAME]!r} is no name", hint="one line, without control characters")
    return name
