"""What a check found, with the case that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from posewright.charts.datatypes import Value


class Level(Enum):
    """How bad it is: an error refuses the chart."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(Enum):
    """What was looked for."""

    OVERLAP = "overlap"
    GAP = "gap"
    UNREACHABLE = "unreachable"
    RANGE = "range"
    DIVISION = "division_by_zero"
    NEVER = "never_holds"
    SHADOWED = "shadowed"
    UNUSED_INPUT = "unused_input"
    UNUSED_OUTPUT = "unused_output"
    SAMPLED = "sampled"


@dataclass(frozen=True)
class Counterexample:
    """A case: start the chart in `state` with these outputs held, give it these inputs, and see.

    Attributes:
        outputs: held outputs that a guard or an action reads there.
    """

    state: str
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={show(value)}" for name, value in {**self.inputs, **self.outputs}.items())
        return f"in {self.state} with {shown}" if shown else f"in {self.state}"

    def data(self) -> dict[str, Any]:
        """Return the case as plain data."""
        return {"state": self.state, "inputs": dict(self.inputs), "outputs": dict(self.outputs)}


@dataclass(frozen=True)
class Finding:
    """One thing that a check found."""

    level: Level
    rule: Rule
    message: str
    state: str | None = None
    counterexample: Counterexample | None = None
    line: int | None = None

    def data(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "level": self.level.value,
            "rule": self.rule.value,
            "message": self.message,
            "state": self.state,
            "counterexample": self.counterexample.data() if self.counterexample else None,
            "line": self.line,
        }


def show(value: Value) -> str:
    """Return a value as charts write it: truth values are 0 and 1."""
    return str(int(value)) if isinstance(value, bool) else str(value)
