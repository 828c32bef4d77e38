"""The parts of a machine: its nodes, their compound transitions, and the counters of time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from posewright.charts.expression import Evaluate, Expression, Name
from posewright.charts.model import ALWAYS, Actions, HistoryKind, State, Transition
from posewright.charts.types import IntType

ROOT = 0
"""The number of the node that represents the chart itself."""

NO_PARENT = -1
"""In place of the parent of that node, which has none."""


class HistoryKey(NamedTuple):
    """Which history of which node: a node has up to two, a shallow and a deep one.

    Attributes:
        node: number of the node.
        kind: shallow or deep.
    """

    node: int
    kind: HistoryKind


@dataclass(frozen=True)
class ResolvedTarget:
    """The target of a transition: a node, or the history of one.

    Attributes:
        node: number of the node.
        history: enter the states that were last active inside; None enters the node itself.
        default: numbers of the nodes to enter while the history is empty; none enters the initial ones.
    """

    node: int
    history: HistoryKind | None = None
    default: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class CompoundTransition:
    """A transition with the segments that follow it from junction to junction, up to its targets.

    Attributes:
        source: number of the source node.
        index: its index among the compound transitions of that node.
        transition_index: index of its first segment among the transitions of the state as written.
        segments: the segments as written, from the first to the last.
        events: triggers, any one of which enables it; none: it is tried at every tick.
        wait_ticks: ticks that the source must have been active.
        guards: guards of the segments, in order; all must be true.
        guard: the conjunction of the guards.
        do: the actions of all segments.
        targets: none: the source is not left.
        domain: number of the node that stays active while everything inside it is left (the "transition
            domain" of SCXML); None without targets.
        since_register: name of the register that counts the ticks of the source.
    """

    source: int
    index: int
    transition_index: int
    segments: tuple[Transition, ...]
    events: tuple[str, ...]
    wait_ticks: int
    guards: tuple[Expression, ...]
    guard: Expression
    do: Actions
    targets: tuple[ResolvedTarget, ...]
    domain: int | None
    since_register: str = ""

    @cached_property
    def compiled_guards(self) -> tuple[Evaluate, ...]:
        """The compiled guards, without those that are always true."""
        return tuple(guard.evaluate for guard in self.guards if guard != ALWAYS)

    @property
    def line(self) -> int | None:
        """The line of its last segment."""
        return self.segments[-1].line


@dataclass(frozen=True)
class Counter:
    """A register that counts ticks while a state is active.

    Attributes:
        name: name of the register.
        limit: the value at which the temporal condition becomes true; it counts no further.
        condition: only for `held`: the counter returns to 0 when the condition is false.
        restarts: only for `every`: after the limit it continues with 1.
    """

    name: str
    limit: int
    condition: Expression | None = None
    restarts: bool = False

    @property
    def type(self) -> IntType:
        """The type of the register."""
        return IntType(0, self.limit)

    @property
    def name_tree(self) -> Name:
        """The expression tree that reads the register: its name."""
        return Name(self.name, declared_type=self.type)


@dataclass(frozen=True, eq=False)
class StateNode:
    """A state of the chart, or the chart itself.

    Attributes:
        index: its number, which is its index in `Machine.nodes`.
        name: the name of the state or the chart.
        state: the state as written; None for the chart itself.
        parent: number of the node that contains it directly, NO_PARENT for the chart itself.
        ancestors: numbers of all nodes that contain it, the nearest first, the chart itself last.
        children: numbers of the nodes directly inside it.
        descendants: numbers of all nodes inside it.
        parallel: whether its children are regions, which are all active while it is.
        final: whether it is a final state.
        initial: the targets entered with it.
        entry: the actions that run when it is entered, lowered; of a Moore state, those that set the outputs.
        during: the actions that run at each tick in which it stays active, lowered.
        exit: the actions that run when it is left, lowered.
        transitions: the transitions that leave it, in the order in which they are tried.
        counters: the counters that count while it is active.
        history_kinds: the kinds of its history that some transition enters.
    """

    index: int
    name: str
    state: State | None
    parent: int
    ancestors: tuple[int, ...]
    children: tuple[int, ...]
    descendants: frozenset[int]
    parallel: bool
    final: bool
    initial: tuple[ResolvedTarget, ...]
    entry: Actions = ()
    during: Actions = ()
    exit: Actions = ()
    transitions: tuple[CompoundTransition, ...] = ()
    counters: tuple[Counter, ...] = ()
    history_kinds: tuple[HistoryKind, ...] = ()

    @property
    def line(self) -> int | None:
        """The line of the state."""
        return self.state.line if self.state is not None else None

    @property
    def is_leaf(self) -> bool:
        """Whether there is no node inside it."""
        return not self.children

    @property
    def actions(self) -> tuple[Actions, ...]:
        """Its entry, during and exit actions."""
        return (self.entry, self.during, self.exit)
