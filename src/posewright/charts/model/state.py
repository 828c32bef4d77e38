"""A state: what may follow it, what is done in it, and the states inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from posewright.charts.expression import Expression
from posewright.charts.model.action import Actions
from posewright.charts.model.transition import Target, Transition


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
