"""A chart: a state machine with hierarchy. Pure logic: no robot, no clock of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path

from posewright.charts.expression import Expression, Function, Scope
from posewright.charts.model.state import Otherwise, Priority, State, StateTree
from posewright.charts.model.transition import Target, Transition
from posewright.charts.types import EnumType, Type, Value
from posewright.errors import UnknownNameError


class PropertyKind(Enum):
    """What is promised of a condition."""

    NEVER = "never"
    ALWAYS = "always"
    LEADS_TO = "leads_to"


@dataclass(frozen=True)
class Promise:
    """Asked after every tick, of the tick's inputs and events and of everything as it stands after it.

    Attributes:
        vow: never `when`; always `when`; or `when` leads to `goal`.
        goal: what has to hold within `within_s` of every tick at which `when` holds, that tick included.
        within_s: the time allowed [s]; rounded down to whole ticks, so it is never longer than promised.
    """

    name: str
    vow: PropertyKind
    when: Expression
    goal: Expression | None = None
    within_s: float = 0.0
    line: int | None = field(default=None, compare=False)


NEXT = "_next"
"""What is added to a state bit's column to name the column of the bit after the tick."""


@dataclass(frozen=True)
class TableForm:
    """Columns of a truth table.

    Attributes:
        inputs: columns of inputs, from left to right, and the input each stands for.
        outputs: columns of outputs, and the output each stands for.
        state_bits: columns that together hold the state's code; empty where a column `state` names it.
        codes: the code of every state, as text of 0 and 1.
        newline: what ends a line, so that a table which was read is written with the same bytes.
    """

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    state_bits: tuple[str, ...] = ()
    codes: Mapping[str, str] = field(default_factory=dict)
    newline: str = field(default="\n", compare=False)

    @property
    def state_columns(self) -> tuple[str, ...]:
        """The columns that hold the state before the tick."""
        return self.state_bits or ("state",)

    @property
    def next_columns(self) -> tuple[str, ...]:
        """The columns that hold the state after the tick."""
        return tuple(bit + NEXT for bit in self.state_bits) or ("next",)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns from left to right."""
        return (*self.state_columns, *self.inputs, *self.next_columns, *self.outputs)

    def cells_of(self, state: str) -> list[str]:
        """Return the cells that write a state."""
        return list(self.codes[state]) if self.state_bits else [state]


TICK_SLACK = 1e-9
"""Part of a tick by which a time may miss a whole number of ticks and still be that number."""


class Kind(Enum):
    """Where outputs are set: on transitions (Mealy), by the state alone (Moore), or anywhere."""

    STATECHART = "statechart"
    MEALY = "mealy"
    MOORE = "moore"


class Steps(Enum):
    """How far a tick goes: transitions without an event once, or again until none is left to take."""

    ONE = "one"
    COMPLETION = "completion"


@dataclass(frozen=True, repr=False)
class Chart:
    """A state machine: typed inputs and outputs, states, ordered transitions, a sample period [s].

    Attributes:
        initial: where it starts; of a chart whose states are regions, none takes each region's own.
        parallel: the chart's states are regions, all active at once.
        events: that come from outside; any event may be raised inside as well.
        local_events: that are raised inside only.
        locals: variables that nobody outside sees.
        initial_values: what outputs and locals hold before anything sets them, where that is declared.
        units: the unit each constant was written in, where it was written in one.
        junctions: named junctions and the ways on from each, tried in order.
        lines: where each declared name stands, values of enumerations among them.
        otherwise_said: the rule for gaps was written, it is not just the one that its kind has.
        resources: outputs that hold something while they are not zero: switched on, they must go off again.

    Raises:
        InputError: a name is there twice, a target does not exist or cannot be gone to.
    """

    name: str
    kind: Kind
    period_s: float
    inputs: Mapping[str, Type]
    outputs: Mapping[str, Type]
    initial: tuple[Target, ...]
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
    steps: Steps = Steps.ONE
    priority: Priority = Priority.EXCLUSIVE
    otherwise: Otherwise = Otherwise.REFUSE
    promises: tuple[Promise, ...] = ()
    resources: tuple[str, ...] = ()
    form: TableForm | None = None
    otherwise_said: bool = field(default=False, compare=False)
    description: str = field(default="", compare=False)
    source: str = field(default="", compare=False)
    path: Path | None = field(default=None, compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        self.tree.require()

    def __repr__(self) -> str:
        """Return one line: what it is called, and how large it is."""
        of = f"{len(self.every_state)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"<Chart {self.name!r}, {self.kind.value}: {of}>"

    @cached_property
    def tree(self) -> StateTree:
        """Its states, one inside another."""
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
        """The state around each state, None around the outermost ones."""
        return self.tree.parents

    def state(self, name: str) -> State:
        """Return the state of that name.

        Raises:
            UnknownNameError: there is none.
        """
        if name in self.tree.by_name:
            return self.tree.by_name[name]
        raise UnknownNameError.among("state", name, self.state_names)

    @property
    def is_flat(self) -> bool:
        """Whether it is a plain machine: no state inside another, no regions."""
        return not self.parallel and not any(state.states for state in self.states)

    @cached_property
    def variables(self) -> dict[str, Type]:
        """Outputs and locals: what actions may set."""
        return {**self.outputs, **self.locals}

    @property
    def table_form(self) -> TableForm:
        """How a truth table writes this chart: as declared, else with its own names."""
        if self.form is not None:
            return self.form
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
        """Return what outputs and locals hold before the first tick: as declared, else zero or false."""
        return {name: self.initial_values.get(name, kind.zero) for name, kind in self.variables.items()}

    def start_outputs(self) -> dict[str, Value]:
        """Return what the outputs hold before the first tick."""
        values = self.start_values()
        return {name: values[name] for name in self.outputs}

    def ticks(self, time_s: float) -> int:
        """Return the least whole number of ticks that lasts `time_s` [s]."""
        return math.ceil(time_s / self.period_s - TICK_SLACK)

    def ticks_within(self, time_s: float) -> int:
        """Return the greatest whole number of ticks that lasts no longer than `time_s` [s]."""
        return math.floor(time_s / self.period_s + TICK_SLACK)

    def wait_ticks(self, state: State, transition: Transition, *, leaves: bool) -> int:
        """Return how many ticks the state must have been active before the transition may be taken.

        Args:
            state: that it begins in.
            transition: the first segment.
            leaves: whether the state is left; only then its dwell counts.
        """
        return self.ticks(max(state.min_s if leaves else 0.0, transition.after_s))

    @property
    def just_stays(self) -> bool:
        """Whether it stays where no guard holds, and nobody wrote that it is to."""
        return self.otherwise is Otherwise.STAY and not self.otherwise_said

    def priority_in(self, state: State) -> Priority:
        """Return the rule for overlapping guards that holds in a state."""
        return state.priority or self.priority

    def otherwise_in(self, state: State) -> Otherwise:
        """Return the rule for gaps that holds in a state."""
        return state.otherwise or self.otherwise


def scope_of(
    variables: Mapping[str, Type],
    constants: Mapping[str, Value],
    *,
    units: Mapping[str, str] | None = None,
    functions: Mapping[str, Function] | None = None,
    states: frozenset[str] = frozenset(),
) -> Scope:
    """Return the scope that these declarations make."""
    kinds = [*variables.values()]
    for function in (functions or {}).values():
        kinds += [*function.takes.values(), function.gives]
    values = {value: kind for kind in kinds if isinstance(kind, EnumType) for value in kind.values}
    return Scope(variables, constants, values, units or {}, functions or {}, states)
