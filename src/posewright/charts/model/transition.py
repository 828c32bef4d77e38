"""A transition: from a state to another, on an event or a condition, perhaps by way of junctions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from posewright.charts.expression import Expression, constant
from posewright.charts.model.action import Actions

ALWAYS = constant(True, "true")
"""The guard of a transition that asks for nothing."""

DONE = "done."
"""What precedes a state's name in the event that says that its final child was entered."""


class Memory(Enum):
    """How much of what was active inside a state comes back: its child only, or everything below."""

    SHALLOW = "shallow"
    DEEP = "deep"


@dataclass(frozen=True)
class Target:
    """A state to go to.

    Attributes:
        state: its name.
        memory: go to what was last active inside it; None goes to the state itself.
        default: where to go while there is nothing to remember; none takes the initial child.
    """

    state: str
    memory: Memory | None = None
    default: tuple[str, ...] = ()


@dataclass(frozen=True)
class Transition:
    """One way out of a state, or one segment from a junction onwards.

    Attributes:
        when: the guard.
        do: what is done on the way.
        go: states to go to, one a region; none: the state is not left (an internal transition), unless the
            way leads on through a junction.
        on: events, any one of which lets it be taken; none: it is asked at every tick.
        after_s: least time in the state before it may be taken [s].
        local: a state inside is gone to without leaving and entering the state itself.
        then: ways on from an unnamed junction, tried in order.
        junction: name of the junction that it leads to.
        is_else: written `when: else`; its guard holds where those of its elders do not.
    """

    when: Expression = ALWAYS
    do: Actions = ()
    go: tuple[Target, ...] = ()
    on: tuple[str, ...] = ()
    after_s: float = 0.0
    local: bool = False
    then: tuple[Transition, ...] = ()
    junction: str | None = None
    is_else: bool = False
    description: str = field(default="", compare=False)
    line: int | None = field(default=None, compare=False)

    @property
    def goal(self) -> str | None:
        """The one plain state that it goes to, None where it goes to none or to several."""
        return self.go[0].state if len(self.go) == 1 and self.go[0].memory is None else None

    @property
    def leads_on(self) -> bool:
        """Whether it ends at a junction."""
        return bool(self.then) or self.junction is not None


def to(*states: str) -> tuple[Target, ...]:
    """Return plain targets."""
    return tuple(Target(state) for state in states)


def segments_of(transitions: tuple[Transition, ...]) -> Iterator[Transition]:
    """Yield transitions and the segments of their unnamed junctions, in the order they are written."""
    for transition in transitions:
        yield transition
        yield from segments_of(transition.then)
