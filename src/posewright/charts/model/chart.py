"""Charts: hierarchical state machines as pure logic, without a robot or a clock."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path

from posewright.charts.expression import Expression, Function, Scope
from posewright.charts.model.foreign_markup import DocumentMarkup
from posewright.charts.model.state import Otherwise, Priority, State, StateTree
from posewright.charts.model.transition import StateTarget, Transition
from posewright.charts.types import EnumType, Type, Value
from posewright.errors import UnknownNameError


class PromiseKind(Enum):
    """What a promise states about a condition."""

    NEVER = "never"
    ALWAYS = "always"
    LEADS_TO = "leads_to"


@dataclass(frozen=True)
class Promise:
    """A property of a chart, evaluated after every tick on the tick's inputs and events and the new values.

    Attributes:
        kind: never `when`; always `when`; or `when` leads to `goal`.
        goal: has to be true within `within_s` of every tick at which `when` is true, that tick included.
        within_s: the time allowed [s]; rounded down to whole ticks, so it is never longer than promised.
    """

    name: str
    kind: PromiseKind
    when: Expression
    goal: Expression | None = None
    within_s: float = 0.0
    line: int | None = field(default=None, compare=False)


NEXT_SUFFIX = "_next"
"""Suffix of the column that holds a state bit after the tick."""


@dataclass(frozen=True)
class TableForm:
    """The columns of a truth table.

    Attributes:
        input_of_column: the chart's input that each input column holds, from left to right.
        output_of_column: the chart's output that each output column holds, from left to right.
        state_bits: columns that together hold the code of the state; empty if a column `state` names it.
        code_of_state: the code of each state, as text of 0 and 1; empty without `state_bits`.
        newline: the line ending, so that a table is written with the same bytes as it was read.
    """

    input_of_column: Mapping[str, str]
    output_of_column: Mapping[str, str]
    state_bits: tuple[str, ...] = ()
    code_of_state: Mapping[str, str] = field(default_factory=dict)
    newline: str = field(default="\n", compare=False)

    @property
    def state_columns(self) -> tuple[str, ...]:
        """The columns that hold the state before the tick."""
        return self.state_bits or ("state",)

    @property
    def next_columns(self) -> tuple[str, ...]:
        """The columns that hold the state after the tick."""
        return tuple(bit + NEXT_SUFFIX for bit in self.state_bits) or ("next",)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns from left to right."""
        return (*self.state_columns, *self.input_of_column, *self.next_columns, *self.output_of_column)

    def state_cells(self, state: str) -> list[str]:
        """Return the cells that hold a state: the bits of its code, or its name."""
        return list(self.code_of_state[state]) if self.state_bits else [state]


TICK_SLACK = 1e-9
"""Rounding tolerance of times in ticks."""


class ChartKind(Enum):
    """Where outputs are set: on transitions (Mealy), by the state alone (Moore), or anywhere."""

    STATECHART = "statechart"
    MEALY = "mealy"
    MOORE = "moore"


class StepMode(Enum):
    """How often a tick tries transitions without a trigger: once, or until none is enabled."""

    ONE = "one"
    COMPLETION = "completion"


@dataclass(frozen=True, repr=False)
class Chart:
    """A state machine: typed inputs and outputs, states, ordered transitions, a sample period [s].

    Attributes:
        initial: the states entered first; may be empty if the outermost states are regions.
        parallel: the outermost states are regions, all active in parallel.
        events: events from outside; the chart may raise them, too.
        local_events: events that only the chart itself raises.
        locals: variables that are invisible outside.
        initial_values: declared values of outputs and locals before an action sets them.
        units: units of the constants that were written with one.
        junctions: the segments of each named junction, tried in order.
        otherwise_is_explicit: the document states `otherwise`, it is not the default of the kind.
        resources: outputs that occupy something while they are not zero and must return to zero.
        declared_table_form: the columns of the truth table the chart was read from or is written to; None if
            it states none.
        source: where the chart comes from, such as a publication.
        path: the file it was read from.
        lines: the line of each declared name, values of enumerations included.
        document_markup: what other tools keep in the SCXML document it was read from; None for nothing.

    Raises:
        InputError: a name occurs twice, or targets do not fit together.
        UnknownNameError: a target does not exist.
    """

    name: str
    kind: ChartKind
    period_s: float
    inputs: Mapping[str, Type]
    outputs: Mapping[str, Type]
    initial: tuple[StateTarget, ...]
    states: tuple[State, ...]
    parallel: bool = False
    events: tuple[str, ...] = ()
    local_events: tuple[str, ...] = ()
    locals: Mapping[str, Type] = field(default_factory=dict)
    constants: Mapping[str, Value] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    initial_values: Mapping[str, Value] = field(default_factory=dict)
    junctions: Mapping[str, tuple[Transition, ...]] = field(default_factory=dict)
    steps: StepMode = StepMode.ONE
    priority: Priority = Priority.EXCLUSIVE
    otherwise: Otherwise = Otherwise.REFUSE
    promises: tuple[Promise, ...] = ()
    resources: tuple[str, ...] = ()
    declared_table_form: TableForm | None = None
    otherwise_is_explicit: bool = field(default=False, compare=False)
    description: str = field(default="", compare=False)
    source: str = field(default="", compare=False)
    path: Path | None = field(default=None, compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    document_markup: DocumentMarkup | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        self.tree.require_consistent()

    def __repr__(self) -> str:
        """Return one line with its name, kind and size."""
        size = f"{len(self.every_state)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"<Chart {self.name!r}, {self.kind.value}: {size}>"

    @cached_property
    def tree(self) -> StateTree:
        """Its nested states."""
        return StateTree(self.name, self.states, self.initial, self.parallel, self.junctions, self.path)

    @property
    def every_state(self) -> tuple[State, ...]:
        """All states, each before those inside it, in the order in which they are written."""
        return self.tree.every_state

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """The names of all states, in the order in which they are written."""
        return tuple(state.name for state in self.every_state)

    @property
    def parents(self) -> Mapping[str, str | None]:
        """The name of the parent of each state, None for the outermost states."""
        return self.tree.parents

    def state(self, name: str) -> State:
        """Return the state of that name.

        Raises:
            UnknownNameError: there is no such state.
        """
        if name in self.tree.by_name:
            return self.tree.by_name[name]
        raise UnknownNameError.among("state", name, self.state_names)

    @property
    def is_flat(self) -> bool:
        """Whether no state is inside another and there are no regions."""
        return not self.parallel and not any(state.states for state in self.states)

    @cached_property
    def variables(self) -> dict[str, Type]:
        """The types of outputs and locals, which actions may set."""
        return {**self.outputs, **self.locals}

    @property
    def table_form(self) -> TableForm:
        """The columns of its truth table: as declared, else named like its inputs and outputs."""
        if self.declared_table_form is not None:
            return self.declared_table_form
        return TableForm({name: name for name in self.inputs}, {name: name for name in self.outputs})

    @cached_property
    def scope(self) -> Scope:
        """The names that guards and actions may use."""
        return scope_of(
            {**self.inputs, **self.variables},
            self.constants,
            units=self.units,
            functions=self.functions,
            states=frozenset(self.state_names),
        )

    def start_values(self) -> dict[str, Value]:
        """Return the values of outputs and locals before the first tick: declared ones or defaults."""
        return {
            name: self.initial_values.get(name, variable_type.default)
            for name, variable_type in self.variables.items()
        }

    def start_outputs(self) -> dict[str, Value]:
        """Return the values of the outputs before the first tick."""
        values = self.start_values()
        return {name: values[name] for name in self.outputs}

    def ticks(self, time_s: float) -> int:
        """Return the least number of ticks that lasts at least `time_s` [s]."""
        return math.ceil(time_s / self.period_s - TICK_SLACK)

    def ticks_within(self, time_s: float) -> int:
        """Return the greatest number of ticks that lasts at most `time_s` [s]."""
        return math.floor(time_s / self.period_s + TICK_SLACK)

    def wait_ticks(self, state: State, transition: Transition, *, leaves: bool) -> int:
        """Return how many ticks the state must have been active before a transition is enabled.

        Args:
            state: the source of the transition.
            transition: the transition, or its first segment if it leads to a junction.
            leaves: whether the transition leaves the state; only then the state's minimum time counts.
        """
        return self.ticks(max(state.min_s if leaves else 0.0, transition.after_s))

    @property
    def stays_by_default(self) -> bool:
        """Whether it stays if no guard is true, without the document stating so."""
        return self.otherwise is Otherwise.STAY and not self.otherwise_is_explicit

    def priority_in(self, state: State) -> Priority:
        """Return how overlapping guards of a state are treated."""
        return state.priority or self.priority

    def otherwise_in(self, state: State) -> Otherwise:
        """Return how gaps between the guards of a state are treated."""
        return state.otherwise or self.otherwise


def scope_of(
    variables: Mapping[str, Type],
    constants: Mapping[str, Value],
    *,
    units: Mapping[str, str] | None = None,
    functions: Mapping[str, Function] | None = None,
    states: frozenset[str] = frozenset(),
) -> Scope:
    """Return the names that an expression may use: these declarations, and the values of their enumerations.

    Args:
        variables: the types of inputs, outputs and locals by name.
        constants: values of constants by name.
        units: the units of constants that have one, by name.
        functions: truth tables that may be called.
        states: names of states that `in(...)` may test.
    """
    types = [*variables.values()]
    for function in (functions or {}).values():
        types += [*function.parameters.values(), function.return_type]
    enums = (value_type for value_type in types if isinstance(value_type, EnumType))
    enum_of_value = {value: enum for enum in enums for value in enum.values}
    return Scope(
        variables,
        constants,
        enum_of_value=enum_of_value,
        units=units or {},
        functions=functions or {},
        states=states,
    )
