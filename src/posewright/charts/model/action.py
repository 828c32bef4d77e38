"""What a chart does on its way: set outputs and locals, raise events, choose between two ways to act."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from posewright.charts.expression import Expression


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
