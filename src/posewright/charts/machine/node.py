"""What a machine consists of: its nodes, the ways out of them, and the counters that run in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from posewright.charts.expression import Evaluate, Expression, Name
from posewright.charts.model import ALWAYS, Actions, Memory, State, Transition
from posewright.charts.types import IntType

ROOT = 0
"""The number of the node that stands for the chart itself."""


@dataclass(frozen=True)
class ResolvedTarget:
    """A node to go to, or what was last active inside it.

    Attributes:
        default: where to go while there is nothing to remember; none takes the initial ones.
    """

    node: int
    memory: Memory | None = None
    default: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class CompoundTransition:
    """A whole way out of a state: a transition with the segments that follow it, junction by junction.

    Attributes:
        source: number of the state.
        index: among the ways of that state.
        transition: which of the state's transitions it begins with.
        segments: as written, from the transition to the last segment.
        events: any one of which lets it be taken; none: it is asked at every tick.
        wait: ticks that the state must have been active.
        guards: of its segments, in order; all must hold.
        guard: all of them in one, for whoever reasons about the way as a whole.
        do: actions of all segments.
        goals: where it leads; none: the state is not left.
        domain: number of the node that stays active while everything in it is left; None for no goals.
        since: the register that counts the ticks of the state.
    """

    source: int
    index: int
    transition: int
    segments: tuple[Transition, ...]
    events: tuple[str, ...]
    wait: int
    guards: tuple[Expression, ...]
    guard: Expression
    do: Actions
    goals: tuple[ResolvedTarget, ...]
    domain: int | None

    since: str = ""

    @cached_property
    def tests(self) -> tuple[Evaluate, ...]:
        """What computes its guards, those left out that always hold."""
        return tuple(guard.evaluate for guard in self.guards if guard != ALWAYS)

    @property
    def line(self) -> int | None:
        """The line of its last segment."""
        return self.segments[-1].line


@dataclass(frozen=True)
class Counter:
    """A register that counts ticks of a state that is active.

    Attributes:
        name: of the register.
        limit: the value at which its question is answered with yes.
        condition: of `held`: where it does not hold, counting begins again; None for `every` and `since`.
        again: of `every`: after the limit comes 1.
    """

    name: str
    limit: int
    condition: Expression | None = None
    again: bool = False

    @property
    def type(self) -> IntType:
        """Its type."""
        return IntType(0, self.limit)

    @property
    def read(self) -> Name:
        """The expression that reads it."""
        return Name(self.name, known=self.type)


@dataclass(frozen=True, eq=False)
class StateNode:
    """A state, or the chart itself.

    Attributes:
        state: as written; None for the chart itself.
        around: numbers of the nodes around it, the nearest first, the chart itself last.
        within: numbers of all nodes inside it, itself not among them.
        counters: that run while it is active.
        remembers: which of its history some way asks for.
    """

    index: int
    name: str
    state: State | None
    parent: int
    around: tuple[int, ...]
    children: tuple[int, ...]
    within: frozenset[int]
    parallel: bool
    final: bool
    initial: tuple[ResolvedTarget, ...]
    entry: Actions = ()
    during: Actions = ()
    exit: Actions = ()
    ways: tuple[CompoundTransition, ...] = ()
    counters: tuple[Counter, ...] = ()
    remembers: tuple[Memory, ...] = ()

    @property
    def line(self) -> int | None:
        """The line of the state."""
        return self.state.line if self.state is not None else None

    @property
    def is_leaf(self) -> bool:
        """Whether there is nothing inside it."""
        return not self.children

    @property
    def actions(self) -> tuple[Actions, ...]:
        """All its actions but those on ways."""
        return (self.entry, self.during, self.exit)
