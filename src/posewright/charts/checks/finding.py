"""What a check found, with the case that shows it and the way there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from posewright.charts.types import Value, format_value
from posewright.documents import PlainData


class Level(Enum):
    """How bad it is: an error refuses the chart."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(Enum):
    """What was looked for."""

    OVERLAP = "overlap"
    GAP = "gap"
    FUNCTION_OVERLAP = "function_overlap"
    FUNCTION_GAP = "function_gap"
    UNREACHABLE = "unreachable"
    NEVER = "never_holds"
    ALWAYS = "always_holds"
    SHADOWED = "shadowed"
    DEAD_END = "dead_end"
    TRAP = "trap"
    CYCLE = "instantaneous_cycle"
    RANGE = "range"
    OVERFLOW = "overflow"
    DIVISION = "division_by_zero"
    UNDEFINED = "not_a_number"
    READ_BEFORE_WRITE = "read_before_write"
    OUTPUT_UNSET = "output_unset"
    LEFT_ON = "resource_left_on"
    WRITE_CONFLICT = "write_conflict"
    PROMISE = "promise_broken"
    CASE_TWINS = "case_twins"
    UNUSED_INPUT = "unused_input"
    UNUSED_OUTPUT = "unused_output"
    UNUSED_LOCAL = "unused_local"
    UNUSED_EVENT = "unused_event"
    UNUSED_CONSTANT = "unused_constant"
    UNUSED_FUNCTION = "unused_function"
    NOT_PROVED = "not_proved"


@dataclass(frozen=True)
class Counterexample:
    """A case: start the chart in `state` with these outputs held, give it these inputs, and see.

    Attributes:
        state: empty where the case is one of a truth table, which is in no state.
        inputs: of a tick, with the events that come; or what a truth table is asked for.
        outputs: held outputs and locals that are read there.
    """

    state: str
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = ", ".join(
            f"{name}={format_value(value)}" for name, value in {**self.inputs, **self.outputs}.items()
        )
        place = f"in {self.state}" if self.state else ""
        return f"{place} with {shown}".strip() if shown else place

    def data(self) -> dict[str, PlainData]:
        """Return the case as plain data."""
        return {"state": self.state, "inputs": dict(self.inputs), "outputs": dict(self.outputs)}


@dataclass(frozen=True)
class Finding:
    """One thing that a check found.

    Attributes:
        trace: inputs and events of every tick from the very start up to the one that shows it, which is the
            last; empty where no run shows it: a state that is never reached, names that are twins.
        proved: whether it is certain; what could not be excluded, though no run showed it, is not.
    """

    level: Level
    rule: Rule
    message: str
    state: str | None = None
    counterexample: Counterexample | None = None
    line: int | None = None
    trace: tuple[Mapping[str, Value], ...] = ()
    proved: bool = True

    def data(self) -> dict[str, PlainData]:
        """Return the finding as plain data."""
        return {
            "level": self.level.value,
            "rule": self.rule.value,
            "message": self.message,
            "state": self.state,
            "counterexample": self.counterexample.data() if self.counterexample else None,
            "line": self.line,
            "trace": [dict(row) for row in self.trace],
            "proved": self.proved,
        }


def not_proved(message: str, state: str | None = None, line: int | None = None) -> Finding:
    """Return the note that something was not decided."""
    return Finding(Level.NOTE, Rule.NOT_PROVED, message, state, None, line, proved=False)
