"""Transitions and actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from posewright.charts.expression import (
    Binary,
    Expression,
    Operator,
    SourceText,
    TemporalCondition,
    TemporalOperator,
    Tree,
    Unary,
    constant,
)
from posewright.charts.model.foreign_markup import ForeignMarkup
from posewright.charts.types import BoolType
from posewright.errors import Where


@dataclass(frozen=True)
class Assign:
    """Sets outputs and locals simultaneously: all values are computed before the first is set."""

    values: Mapping[str, Expression]
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Raise:
    """Puts an event into the queue; it is processed before the tick ends."""

    event: str
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Branch:
    """Runs one list of actions if a condition is true, and another if it is not."""

    when: Expression
    then: Actions
    otherwise: Actions = ()
    line: int | None = field(default=None, compare=False)


Action = Assign | Raise | Branch
Actions = tuple[Action, ...]
"""Actions in sequence: each sees the values that earlier ones have set."""


def assign(values: Mapping[str, Expression]) -> Actions:
    """Return the action that sets these values simultaneously; no action if there are no values."""
    return (Assign(values),) if values else ()


def iterate_actions(actions: Actions) -> Iterator[Action]:
    """Yield the actions, including those inside branches, in the order in which they are written."""
    for action in actions:
        yield action
        if isinstance(action, Branch):
            yield from iterate_actions(action.then)
            yield from iterate_actions(action.otherwise)


def expressions_in(actions: Actions) -> Iterator[Expression]:
    """Yield the values and conditions of the actions."""
    for action in iterate_actions(actions):
        if isinstance(action, Assign):
            yield from action.values.values()
        elif isinstance(action, Branch):
            yield action.when


def names_set(actions: Actions) -> frozenset[str]:
    """Return the outputs and locals that the actions may set."""
    return frozenset(
        name for action in iterate_actions(actions) if isinstance(action, Assign) for name in action.values
    )


def events_raised(actions: Actions) -> frozenset[str]:
    """Return the events that the actions may raise."""
    return frozenset(action.event for action in iterate_actions(actions) if isinstance(action, Raise))


ALWAYS = constant(True, "true")
"""The guard of a transition without a condition."""

DONE_PREFIX = "done."
"""Prefix of the event `done.S`, raised when the state S is done: a final state in it was entered."""


class HistoryKind(Enum):
    """What a history restores: the last active child of a state, or the whole configuration inside it."""

    SHALLOW = "shallow"
    DEEP = "deep"


@dataclass(frozen=True)
class StateTarget:
    """The target of a transition: a state, or the history of one.

    Attributes:
        state: name of the state.
        history: enter the states that were last active inside; None enters the state itself.
        default: states to enter while the history is empty; none enters the initial child.
    """

    state: str
    history: HistoryKind | None = None
    default: tuple[str, ...] = ()


@dataclass(frozen=True)
class Transition:
    """A transition out of a state, or a segment that starts at a junction.

    Attributes:
        when: the guard.
        do: the actions.
        go: the targets, one per region; none is an internal transition, which does not leave the state, or a
            transition that leads to a junction.
        on: triggers, any one of which enables it; none: it is tried at every tick.
        after_s: minimum time in the state before it is enabled [s].
        local: it enters a state inside without leaving and entering the state itself.
        then: the segments of an unnamed junction, tried in order.
        junction: name of the junction that it leads to.
        is_else: written `when: else`; its guard is true where those of the transitions before it are not.
        foreign_markup: what other tools keep in its element of an SCXML document; None for nothing.
    """

    when: Expression = ALWAYS
    do: Actions = ()
    go: tuple[StateTarget, ...] = ()
    on: tuple[str, ...] = ()
    after_s: float = 0.0
    local: bool = False
    then: tuple[Transition, ...] = ()
    junction: str | None = None
    is_else: bool = False
    description: str = field(default="", compare=False)
    line: int | None = field(default=None, compare=False)
    foreign_markup: ForeignMarkup | None = field(default=None, compare=False, repr=False)

    @property
    def goal(self) -> str | None:
        """The name of its only target, None if it has no target, several, or a history."""
        return self.go[0].state if len(self.go) == 1 and self.go[0].history is None else None

    @property
    def leads_to_junction(self) -> bool:
        """Whether it leads to a named or unnamed junction."""
        return bool(self.then) or self.junction is not None


def to(*states: str) -> tuple[StateTarget, ...]:
    """Return the targets that are these states."""
    return tuple(StateTarget(state) for state in states)


def segments_of(transitions: tuple[Transition, ...]) -> Iterator[Transition]:
    """Yield transitions and the segments of their unnamed junctions, as they are written."""
    for transition in transitions:
        yield transition
        yield from segments_of(transition.then)


ELSE = "else"
"""How a document writes the guard of a transition that is taken where no earlier one is."""


def else_guard(
    earlier: Iterable[Transition], triggers: tuple[str, ...] = (), where: Where | None = None
) -> Expression:
    """Return the guard of an `else`: true where the transitions before it are not enabled.

    Args:
        earlier: the transitions before it. Those with other triggers are ignored; the minimum time of a
            transition is part of its condition.
        triggers: the events that trigger the `else`.
        where: its place in a document.
    """
    alternatives = [transition for transition in earlier if _share_trigger(transition.on, triggers)]
    conditions = [_enabling_condition(transition) for transition in alternatives]
    tree: Tree = Unary(Operator.NOT, _join_by_or(conditions))
    # the values of all named constants that the earlier guards read
    constant_values = {
        name: value for transition in alternatives for name, value in transition.when.constant_values.items()
    }
    return Expression(
        tree, type=BoolType(), source=SourceText(ELSE, where or Where()), constant_values=constant_values
    )


def has_alternatives(earlier: Iterable[Transition], triggers: tuple[str, ...] = ()) -> bool:
    """Return whether an `else` with these triggers has any transition before it that it is the `else` of.

    Args:
        earlier: the transitions before the `else`.
        triggers: the events that trigger the `else`.
    """
    return any(_share_trigger(transition.on, triggers) for transition in earlier)


def _share_trigger(events: tuple[str, ...], other_events: tuple[str, ...]) -> bool:
    """Return whether one event enables both of two transitions, or neither waits for an event."""
    if not events and not other_events:
        return True
    return bool({*events} & {*other_events})


def _enabling_condition(transition: Transition) -> Tree:
    """Return the guard of a transition, joined with its minimum time if it has one."""
    if not transition.after_s:
        return transition.when.tree
    elapsed = TemporalCondition(TemporalOperator.AFTER, transition.after_s)
    return Binary(Operator.AND, transition.when.tree, elapsed)


def _join_by_or(trees: list[Tree]) -> Tree:
    """Return trees joined by `or`, as a balanced tree, whose height is small."""
    if len(trees) == 1:
        return trees[0]
    middle = len(trees) // 2
    return Binary(Operator.OR, _join_by_or(trees[:middle]), _join_by_or(trees[middle:]))
