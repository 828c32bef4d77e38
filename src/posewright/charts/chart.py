"""A chart: a flat Mealy or Moore machine. Pure logic: no robot, no clock of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path

from posewright.charts.datatypes import EnumType, Type, Value
from posewright.charts.expression import Expression, Scope
from posewright.charts.table_form import TableForm
from posewright.errors import InputError, UnknownNameError

TICK_SLACK = 1e-9
"""Part of a tick by which a time may miss a whole number of ticks and still be that number."""


class Kind(Enum):
    """Where the outputs are set: on transitions (Mealy) or by the state alone (Moore)."""

    MEALY = "mealy"
    MOORE = "moore"


class Priority(Enum):
    """What it means that two guards hold at once: a mistake, or that the first one wins."""

    EXCLUSIVE = "exclusive"
    ORDERED = "ordered"


class Otherwise(Enum):
    """What it means that no guard holds: a mistake, or that the chart stays."""

    REFUSE = "refuse"
    STAY = "stay"


@dataclass(frozen=True)
class Transition:
    """One way out of a state.

    Attributes:
        when: the guard.
        do: values for outputs; the others keep theirs.
        go: the state to go to; None stays in the state without entering it again.
        after_s: least time in the state before it may be taken [s].
    """

    when: Expression
    do: Mapping[str, Expression] = field(default_factory=dict)
    go: str | None = None
    after_s: float = 0.0
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class State:
    """A state and its transitions, tried in order.

    Attributes:
        do: what a Moore state's outputs are.
        min_s: least time before the state may be left or entered again [s].
        priority: the state's own rule for overlapping guards; None takes the chart's.
        otherwise: the state's own rule for gaps; None takes the chart's.
    """

    name: str
    transitions: tuple[Transition, ...] = ()
    do: Mapping[str, Expression] = field(default_factory=dict)
    min_s: float = 0.0
    priority: Priority | None = None
    otherwise: Otherwise | None = None
    description: str = field(default="", compare=False)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Chart:
    """A flat machine: typed inputs and outputs, states, ordered transitions, a sample period [s].

    Raises:
        InputError: a state is named twice, or the initial state or one gone to does not exist.
    """

    name: str
    kind: Kind
    period_s: float
    inputs: Mapping[str, Type]
    outputs: Mapping[str, Type]
    initial: str
    states: tuple[State, ...]
    constants: Mapping[str, Value] = field(default_factory=dict)
    initial_outputs: Mapping[str, Value] = field(default_factory=dict)
    priority: Priority = Priority.EXCLUSIVE
    otherwise: Otherwise = Otherwise.REFUSE
    form: TableForm | None = None
    description: str = field(default="", compare=False)
    source: str = field(default="", compare=False)
    path: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        names = self._by_name
        if len(names) < len(self.states):
            raise InputError(f"a state of {self.name} is there twice", hint="a state's name is its own")
        goals = [
            self.initial,
            *(t.go for state in self.states for t in state.transitions if t.go is not None),
        ]
        for goal in goals:
            if goal not in names:
                raise UnknownNameError.among("state", goal, names)

    @cached_property
    def _by_name(self) -> dict[str, State]:
        return {state.name: state for state in self.states}

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """The names of the states in the chart's order."""
        return tuple(state.name for state in self.states)

    def state(self, name: str) -> State:
        """Return the state of that name.

        Raises:
            UnknownNameError: there is none.
        """
        if name in self._by_name:
            return self._by_name[name]
        raise UnknownNameError.among("state", name, self.state_names)

    @property
    def table_form(self) -> TableForm:
        """How a truth table writes this chart: as declared, else with its own names."""
        if self.form is not None:
            return self.form
        return TableForm({name: name for name in self.inputs}, {name: name for name in self.outputs})

    @property
    def scope(self) -> Scope:
        """The names that guards and actions may use."""
        return scope_of(self.inputs, self.outputs, self.constants)

    def start_outputs(self) -> dict[str, Value]:
        """Return what the outputs hold before the first tick: as declared, else zero or false."""
        return {name: self.initial_outputs.get(name, kind.zero) for name, kind in self.outputs.items()}

    def ticks(self, time_s: float) -> int:
        """Return the least whole number of ticks that lasts `time_s` [s]."""
        return math.ceil(time_s / self.period_s - TICK_SLACK)

    def wait_ticks(self, state: State, transition: Transition) -> int:
        """Return how many ticks the state must have been active before the transition may be taken."""
        least_s = state.min_s if transition.go is not None else 0.0
        return self.ticks(max(least_s, transition.after_s))

    def priority_in(self, state: State) -> Priority:
        """Return the rule for overlapping guards that holds in a state."""
        return state.priority or self.priority

    def otherwise_in(self, state: State) -> Otherwise:
        """Return the rule for gaps that holds in a state."""
        return state.otherwise or self.otherwise


def scope_of(
    inputs: Mapping[str, Type], outputs: Mapping[str, Type], constants: Mapping[str, Value]
) -> Scope:
    """Return the scope that these declarations make."""
    variables = {**inputs, **outputs}
    values = {
        value: kind for kind in variables.values() if isinstance(kind, EnumType) for value in kind.values
    }
    return Scope(variables, constants, values)
