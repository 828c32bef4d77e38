"""States, and what must be so for them to make a chart: names are their own, targets exist and fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from posewright.charts.expression import Expression
from posewright.charts.model.transition import Actions, Target, Transition, segments_of
from posewright.errors import InputError, UnknownNameError, Where


class Priority(Enum):
    """What it means that two guards hold at once: a mistake, or that the first one wins."""

    EXCLUSIVE = "exclusive"
    ORDERED = "ordered"


class Otherwise(Enum):
    """What it means that no guard holds: a mistake, or that the chart stays."""

    REFUSE = "refuse"
    STAY = "stay"


@dataclass(frozen=True)
class State:
    """A state and its transitions, tried in order.

    Attributes:
        entry, during, exit: what is done when it is entered, at every tick it stays, when it is left.
        do: what a Moore state's outputs are.
        states: the states inside; one of them is active, or all of them where it is `parallel`.
        initial: which are entered first, where the state is entered as a whole.
        parallel: the states inside are regions, all active at once.
        final: it is an end: nothing leaves it, and the state around it is done.
        min_s: least time before the state may be left or entered again by its own transitions [s].
        priority: the state's own rule for overlapping guards; None takes the chart's.
        otherwise: the state's own rule for gaps; None takes the chart's.
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
    initial: tuple[Target, ...] = ()
    parallel: bool = False
    final: bool = False
    description: str = field(default="", compare=False)
    line: int | None = field(default=None, compare=False)

    @property
    def is_compound(self) -> bool:
        """Whether there are states inside of which one is active."""
        return bool(self.states) and not self.parallel


def walk(states: tuple[State, ...]) -> Iterator[State]:
    """Yield states and all that is inside them, in the order in which they are written."""
    for state in states:
        yield state
        yield from walk(state.states)


MAX_STATES = 2000
MAX_LEVELS = 24
"""States in a chart and levels of them: more than any person keeps in view."""


@dataclass(frozen=True, eq=False)
class StateTree:
    """The states of a chart, one inside another, and where transitions and junctions lead among them.

    Attributes:
        name: of the chart.
        path: of its document.
    """

    name: str
    states: tuple[State, ...]
    initial: tuple[Target, ...]
    parallel: bool
    junctions: Mapping[str, tuple[Transition, ...]]
    path: Path | None

    @cached_property
    def every_state(self) -> tuple[State, ...]:
        """All states, each before those inside it, in the order in which they are written."""
        return tuple(walk(self.states))

    @cached_property
    def by_name(self) -> Mapping[str, State]:
        """The states by name."""
        return {state.name: state for state in self.every_state}

    @cached_property
    def parents(self) -> Mapping[str, str | None]:
        """The state around each state, None around the outermost ones."""
        inner: dict[str, str | None] = {
            child.name: state.name for state in self.every_state for child in state.states
        }
        return {**dict.fromkeys((state.name for state in self.states), None), **inner}

    def require(self) -> None:
        """Refuse states and targets that do not fit together.

        Raises:
            InputError: says what is wrong, and the line where it is known.
        """
        if not self.states:
            self._fail(f"{self.name} has no state", None, "a chart has at least one")
        if len(self.every_state) > MAX_STATES:
            self._fail(f"{len(self.every_state)} states", None, f"at most {MAX_STATES} in one chart")
        seen: dict[str, int | None] = {}
        for state in self.every_state:
            if state.name in seen:
                first = f" (first in line {seen[state.name]})" if seen[state.name] else ""
                hint = "a state's name is its own, wherever it stands: rename one"
                self._fail(f"a state {state.name!r} is there twice{first}", state.line, hint)
            if state.name in self.junctions:
                self._fail(f"{state.name!r} is a state and a junction", state.line, "rename one")
            seen[state.name] = state.line
        self._levels()
        self._require_initial(self.initial, self.states, self.parallel, None)
        for state in self.every_state:
            self._state(state)
        for segments in self.junctions.values():
            self._transitions(segments)

    def _fail(self, message: str, line: int | None, hint: str) -> NoReturn:
        where = Where(self.path, line) if self.path or line else None
        raise InputError(message, where=where, hint=hint)

    def _levels(self) -> None:
        level, count = list(self.states), 0
        while level:
            count += 1
            if count > MAX_LEVELS:
                self._fail("states nested too deep", level[0].line, f"at most {MAX_LEVELS} levels")
            level = [child for state in level for child in state.states]

    def _state(self, state: State) -> None:
        if state.final and (state.states or state.transitions):
            self._fail(f"{state.name} is final", state.line, "a final state has no states and no transitions")
        if not state.states:
            if state.initial:
                self._fail(f"{state.name} has no states inside", state.line, "leave `initial` out")
        else:
            self._require_initial(state.initial, state.states, state.parallel, state)
        if state.parallel and state.do:
            self._fail(f"{state.name} has regions", state.line, "set outputs in the states inside")
        self._transitions(state.transitions)

    def _require_initial(
        self, targets: tuple[Target, ...], states: tuple[State, ...], parallel: bool, around: State | None
    ) -> None:
        line, who = (None, self.name) if around is None else (around.line, around.name)
        if not targets and not parallel:
            self._fail(f"{who} does not say where it begins", line, "write `initial: <state>`")
        inside = {state.name for state in walk(states)}
        for target in targets:
            if target.state not in self.by_name:
                where = Where(self.path, line) if line else None
                raise UnknownNameError.among("state", target.state, sorted(inside), where=where)
            outer = around is not None and target.memory is not None and target.state == around.name
            if target.state not in inside and not outer:
                self._fail(
                    f"{who} begins in {target.state}, which is not inside it", line, ", ".join(sorted(inside))
                )
        self._regions_apart(targets, line)

    def _transitions(self, transitions: tuple[Transition, ...]) -> None:
        for segment in segments_of(transitions):
            if segment.junction is not None and segment.junction not in self.junctions:
                where = Where(self.path, segment.line)
                raise UnknownNameError.among("junction", segment.junction, self.junctions, where=where)
            for target in segment.go:
                self._target(target, segment)
            self._regions_apart(segment.go, segment.line)

    def _target(self, target: Target, segment: Transition) -> None:
        for name in (target.state, *target.default):
            if name not in self.by_name:
                where = Where(self.path, segment.line)
                raise UnknownNameError.among("state", name, self.by_name, where=where)
        if target.memory is None:
            return
        state = self.by_name[target.state]
        if not state.states:
            self._fail(
                f"{target.state} has no states inside to remember",
                segment.line,
                "history is of a state with states inside",
            )
        for name in target.default:
            if target.state not in self._around(name):
                self._fail(
                    f"{name} is not inside {target.state}",
                    segment.line,
                    "the default of a history is inside the state",
                )

    def _regions_apart(self, targets: tuple[Target, ...], line: int | None) -> None:
        """Refuse targets of which no two could be active together."""
        for i, one in enumerate(targets):
            for other in targets[:i]:
                if not self._together(one.state, other.state):
                    hint = "several targets stand in different regions of one parallel state"
                    self._fail(f"{other.state} and {one.state} are never active together", line, hint)

    def _together(self, one: str, other: str) -> bool:
        ways = [list(reversed([name, *self._around(name)])) for name in (one, other)]
        for a, b in zip(*ways, strict=False):
            if a != b:
                parent = self.parents[a]
                return self.parallel if parent is None else self.by_name[parent].parallel
        return False

    def _around(self, name: str) -> Iterator[str]:
        parent = self.parents[name]
        while parent is not None:
            yield parent
            parent = self.parents[parent]
