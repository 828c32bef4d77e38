"""Findings of the checks: level, rule, message, counterexample and the run that leads to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from posewright.charts.types import Value, format_value
from posewright.documents import PlainData


class Level(Enum):
    """Severity of a finding. A chart with an error is not run, tabulated or compiled."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(Enum):
    """The rule that a finding belongs to."""

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
    """A case that shows a finding: a state, the values of its variables, and the inputs of one tick.

    Attributes:
        state: active state; empty for a row of a function's truth table, which has no state.
        inputs: values of the inputs, and the events that occur; for a truth table, its arguments.
        outputs: values of the outputs and locals that are read there.
    """

    state: str
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        values = {**self.inputs, **self.outputs}
        assignments = ", ".join(f"{name}={format_value(value)}" for name, value in values.items())
        location = f"in {self.state}" if self.state else ""
        return f"{location} with {assignments}".strip() if assignments else location

    def data(self) -> dict[str, PlainData]:
        """Return the case as plain data for JSON."""
        return {"state": self.state, "inputs": dict(self.inputs), "outputs": dict(self.outputs)}


@dataclass(frozen=True)
class Finding:
    """One result of a check.

    Attributes:
        trace: inputs and events of every tick from the start to the tick that shows the finding; empty where
            no run can show it, as for an unreachable state or two names that differ only in case.
        proved: whether the finding is certain; False for what could not be excluded but no run has shown.
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
        """Return the finding as plain data for JSON."""
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
    """Return a note that a question could not be decided."""
    return Finding(Level.NOTE, Rule.NOT_PROVED, message, state, line=line, proved=False)
