"""States, and the tree that they form in a chart, with its consistency checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from posewright.charts.expression import Expression
from posewright.charts.model.foreign_markup import ForeignMarkup
from posewright.charts.model.transition import Actions, StateTarget, Transition, segments_of
from posewright.errors import InputError, UnknownNameError, Where


class Priority(Enum):
    """How overlapping guards are treated: as an error, or the first transition wins."""

    EXCLUSIVE = "exclusive"
    ORDERED = "ordered"


class Otherwise(Enum):
    """How it is treated that no guard is true: as an error, or the chart stays in its state."""

    REFUSE = "refuse"
    STAY = "stay"


@dataclass(frozen=True)
class State:
    """A state and its transitions, tried in order.

    Attributes:
        entry, during, exit: actions when it is entered, at every tick it stays active, when it is left.
        do: the outputs of a Moore state.
        states: the states inside; one of them is active, or all of them if it is `parallel`.
        initial: the states inside that are entered first.
        parallel: the states inside are regions, all active in parallel.
        final: no transition leaves it; when it is entered, its parent is done.
        min_s: minimum time before the state's own transitions may leave or re-enter it [s].
        priority: how overlapping guards of this state are treated; None takes the chart's setting.
        otherwise: how gaps between guards of this state are treated; None takes the chart's setting.
        foreign_markup: what other tools keep in its element of an SCXML document; None for nothing.
    """

    name: str
    transitions: tuple[Transition, ...] = ()
    do: Mapping[str, Expression] = field(default_factory=dict)
    min_s: float = 0.0
    priority: Priority | None = None
    otherwise: Otherwise | None = None
    entry: Actions = ()
    during: Actions = ()
    exit: Actions = ()
    states: tuple[State, ...] = ()
    initial: tuple[StateTarget, ...] = ()
    parallel: bool = False
    final: bool = False
    description: str = field(default="", compare=False)
    line: int | None = field(default=None, compare=False)
    foreign_markup: ForeignMarkup | None = field(default=None, compare=False, repr=False)

    @property
    def is_compound(self) -> bool:
        """Whether it has states inside, one of which is active at a time."""
        return bool(self.states) and not self.parallel


def walk_states(states: tuple[State, ...]) -> Iterator[State]:
    """Yield the states and all states inside them, in the order in which they are written."""
    for state in states:
        yield state
        yield from walk_states(state.states)


MAX_STATES = 2000
"""States in a chart."""

MAX_LEVELS = 24
"""Levels of nested states in a chart."""


@dataclass(frozen=True, eq=False)
class StateTree:
    """The nested states of a chart, and the targets of its transitions and junctions.

    Attributes:
        name: name of the chart.
        path: file of the chart, for messages.
    """

    name: str
    states: tuple[State, ...]
    initial: tuple[StateTarget, ...]
    parallel: bool
    junctions: Mapping[str, tuple[Transition, ...]]
    path: Path | None

    @cached_property
    def every_state(self) -> tuple[State, ...]:
        """All states, each before those inside it, in the order in which they are written."""
        return tuple(walk_states(self.states))

    @cached_property
    def by_name(self) -> Mapping[str, State]:
        """The states by name."""
        return {state.name: state for state in self.every_state}

    @cached_property
    def parents(self) -> Mapping[str, str | None]:
        """The name of the parent of each state, None for the outermost states."""
        nested: dict[str, str | None] = {
            child.name: state.name for state in self.every_state for child in state.states
        }
        return {**dict.fromkeys((state.name for state in self.states), None), **nested}

    def require_consistent(self) -> None:
        """Raise an error unless names are unique and all targets exist and fit together.

        Raises:
            InputError: two states share a name, states are nested too deep, or a target does not fit; the
                error has the line, where it is known.
            UnknownNameError: a target is no state, or a junction does not exist.
        """
        if not self.states:
            self._fail(f"{self.name} has no state", line=None, hint="a chart has at least one")
        if len(self.every_state) > MAX_STATES:
            self._fail(
                f"{len(self.every_state)} states", line=None, hint=f"at most {MAX_STATES} in one chart"
            )
        self._require_unique_names()
        self._require_max_levels()
        self._require_initial(self.initial, self.states, self.parallel, parent=None)
        for state in self.every_state:
            self._require_valid_state(state)
        for segments in self.junctions.values():
            self._require_valid_targets(segments)

    def _fail(self, message: str, line: int | None, hint: str) -> NoReturn:
        """Raise an InputError that points at a line of the chart's document."""
        where = Where(self.path, line) if self.path or line else None
        raise InputError(message, where=where, hint=hint)

    def _require_unique_names(self) -> None:
        """Raise an error if two states, or a state and a junction, have one name."""
        lines_by_name: dict[str, int | None] = {}
        for state in self.every_state:
            if state.name in lines_by_name:
                first_line = lines_by_name[state.name]
                first_place = f" (first in line {first_line})" if first_line else ""
                hint = "a state's name is unique in the whole chart: rename one"
                self._fail(f"there are two states called {state.name!r}{first_place}", state.line, hint=hint)
            if state.name in self.junctions:
                self._fail(f"{state.name!r} is a state and a junction", state.line, hint="rename one")
            lines_by_name[state.name] = state.line

    def _require_max_levels(self) -> None:
        """Raise an error if states are nested deeper than MAX_LEVELS."""
        states_of_level = list(self.states)
        n_levels = 0
        while states_of_level:
            n_levels += 1
            if n_levels > MAX_LEVELS:
                line = states_of_level[0].line
                self._fail("states are nested too deep", line, hint=f"at most {MAX_LEVELS} levels")
            states_of_level = [child for state in states_of_level for child in state.states]

    def _require_valid_state(self, state: State) -> None:
        """Raise an error if a state's parts contradict each other, or a transition has an invalid target."""
        if state.final and (state.states or state.transitions):
            self._fail(
                f"{state.name} is final", state.line, hint="a final state has no states and no transitions"
            )
        if state.states:
            self._require_initial(state.initial, state.states, state.parallel, parent=state)
        elif state.initial:
            self._fail(f"{state.name} has no states inside", state.line, hint="leave `initial` out")
        if state.parallel and state.do:
            self._fail(f"{state.name} has regions", state.line, hint="set outputs in the states inside")
        self._require_valid_targets(state.transitions)

    def _require_initial(
        self,
        targets: tuple[StateTarget, ...],
        states: tuple[State, ...],
        parallel: bool,
        parent: State | None,
    ) -> None:
        """Raise an error unless the initial states exist, are inside their parent and can be active together.

        Args:
            targets: the initial states.
            states: the states directly inside the parent.
            parallel: these are regions, so that there need be no initial state.
            parent: the state that enters them; None for the chart.
        """
        line = None if parent is None else parent.line
        owner = self.name if parent is None else parent.name
        if not targets and not parallel:
            self._fail(f"{owner} has no initial state", line, hint="write `initial: <state>`")
        names_inside = {state.name for state in walk_states(states)}  # on all levels
        for target in targets:
            if target.state not in self.by_name:
                where = Where(self.path, line) if line else None
                raise UnknownNameError.among("state", target.state, sorted(names_inside), where=where)
            is_own_history = parent is not None and target.history is not None and target.state == parent.name
            if target.state not in names_inside and not is_own_history:
                message = f"the initial state {target.state} of {owner} is not inside it"
                self._fail(message, line, hint=f"choose one of {', '.join(sorted(names_inside))}")
        self._require_compatible(targets, line)

    def _require_valid_targets(self, transitions: tuple[Transition, ...]) -> None:
        """Raise an error if a transition has an unknown target, or targets that exclude each other."""
        for segment in segments_of(transitions):
            if segment.junction is not None and segment.junction not in self.junctions:
                where = Where(self.path, segment.line)
                raise UnknownNameError.among("junction", segment.junction, self.junctions, where=where)
            for target in segment.go:
                self._require_valid_target(target, segment)
            self._require_compatible(segment.go, segment.line)

    def _require_valid_target(self, target: StateTarget, segment: Transition) -> None:
        """Raise an error if a target's state is unknown, or its history is not possible."""
        for name in (target.state, *target.default):
            if name not in self.by_name:
                where = Where(self.path, segment.line)
                raise UnknownNameError.among("state", name, self.by_name, where=where)
        if target.history is None:
            return
        if not self.by_name[target.state].states:
            message = f"{target.state} has no states inside and therefore no history"
            self._fail(message, segment.line, hint="use the history of a state with states inside")
        for name in target.default:
            if target.state not in self._ancestors(name):
                message = f"{name} is not inside {target.state}"
                self._fail(message, segment.line, hint="the default of a history is inside its state")

    def _require_compatible(self, targets: tuple[StateTarget, ...], line: int | None) -> None:
        """Raise an error at a line unless the states of any two targets can be active together."""
        for i, target in enumerate(targets):
            for earlier_target in targets[:i]:
                if not self._can_be_active_together(target.state, earlier_target.state):
                    message = f"{earlier_target.state} and {target.state} are never active together"
                    hint = "several targets must be in different regions of one parallel state"
                    self._fail(message, line, hint=hint)

    def _can_be_active_together(self, name: str, other_name: str) -> bool:
        """Return whether two states can be active together: they are in different regions of a state.

        Their ancestors are compared from the outermost on. The first two that differ must be regions of one
        state. A state and one inside it are rejected, since one target is enough then.
        """
        path_from_root = reversed([name, *self._ancestors(name)])
        other_path_from_root = reversed([other_name, *self._ancestors(other_name)])
        for state, other_state in zip(path_from_root, other_path_from_root, strict=False):
            if state != other_state:
                parent = self.parents[state]
                return self.parallel if parent is None else self.by_name[parent].parallel
        return False

    def _ancestors(self, name: str) -> Iterator[str]:
        """Yield the names of the ancestors of a state, innermost first."""
        parent = self.parents[name]
        while parent is not None:
            yield parent
            parent = self.parents[parent]
