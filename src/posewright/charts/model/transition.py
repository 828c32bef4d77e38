"""A transition: from a state to another, on an event or a condition, with what is done on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from posewright.charts.expression import (
    Binary,
    Expression,
    Operator,
    Source,
    Timed,
    Timing,
    Tree,
    Unary,
    constant,
)
from posewright.charts.types import BoolType
from posewright.errors import Where


@dataclass(frozen=True)
class Assign:
    """Sets outputs and locals, all at once: every value is computed before the first is set."""

    values: Mapping[str, Expression]
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Raise:
    """Puts an event into the queue; it is dealt with before the tick ends."""

    event: str
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Branch:
    """Acts one way where a condition holds, another way where it does not."""

    when: Expression
    then: Actions
    otherwise: Actions = ()
    line: int | None = field(default=None, compare=False)


Action = Assign | Raise | Branch
Actions = tuple[Action, ...]
"""One after the other: each sees what those before it have set."""


def assign(values: Mapping[str, Expression]) -> Actions:
    """Return the actions that set these values at once; none where there are none."""
    return (Assign(values),) if values else ()


def every_action(actions: Actions) -> Iterator[Action]:
    """Yield the actions and those inside branches, in the order in which they are written."""
    for action in actions:
        yield action
        if isinstance(action, Branch):
            yield from every_action(action.then)
            yield from every_action(action.otherwise)


def expressions_in(actions: Actions) -> Iterator[Expression]:
    """Yield the values and conditions of actions."""
    for action in every_action(actions):
        if isinstance(action, Assign):
            yield from action.values.values()
        elif isinstance(action, Branch):
            yield action.when


def names_set(actions: Actions) -> frozenset[str]:
    """Return the outputs and locals that actions may set."""
    return frozenset(
        name for action in every_action(actions) if isinstance(action, Assign) for name in action.values
    )


def events_raised(actions: Actions) -> frozenset[str]:
    """Return the events that actions may raise."""
    return frozenset(action.event for action in every_action(actions) if isinstance(action, Raise))


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


ELSE = "else"


def else_guard(
    elders: Iterable[Transition], on: tuple[str, ...] = (), where: Where | None = None
) -> Expression:
    """Return the guard that holds where those of its elders do not.

    Elders that wait for other events do not count; of one that has to wait, the time counts as well.
    """
    met = [elder for elder in elders if _meets(elder.on, on)]
    tree: Tree = Unary(Operator.NOT, _any([_condition(elder) for elder in met]))
    fixed = {name: value for elder in met for name, value in elder.when.fixed.items()}
    return Expression(tree, BoolType(), Source(ELSE, where or Where()), fixed)


def has_elders(elders: Iterable[Transition], on: tuple[str, ...] = ()) -> bool:
    """Return whether there is a transition whose guard an `else` would deny."""
    return any(_meets(elder.on, on) for elder in elders)


def _meets(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return bool({*one} & {*other}) if one or other else True


def _condition(elder: Transition) -> Tree:
    if not elder.after_s:
        return elder.when.tree
    return Binary(Operator.AND, elder.when.tree, Timed(Timing.AFTER, elder.after_s))


def _any(trees: list[Tree]) -> Tree:
    """Join trees by `or`, halves first, so that many make no tall tree."""
    if len(trees) == 1:
        return trees[0]
    middle = len(trees) // 2
    return Binary(Operator.OR, _any(trees[:middle]), _any(trees[middle:]))
