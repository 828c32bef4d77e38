"""Writes down how variables are set in a tick, where their values alone would not tell.

An exploration does not tell all values of all variables apart: one that nothing reads has no value there.
Two charts that set such a variable by the same expressions, one after the other, with the same values of all
that these read, hold the same in it, whatever that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from posewright.charts.expression import Expression, Tree
from posewright.charts.machine import Machine, Snapshot, Tick, every_actions
from posewright.charts.model import Assign, every_action
from posewright.charts.reachability import Follower, PathCondition
from posewright.errors import PosewrightError

Words = tuple[tuple[str, Tree, tuple[Any, ...]], ...]
"""What was set, by which expression, and what the registers held that it reads."""


class Written(NamedTuple):
    """Where a tick came to, None where it failed, and what was written down."""

    after: Snapshot | None
    words: Words


class Scribe:
    """Follows ticks, and writes down how some variables are set.

    Args:
        follower: of the machine.
        names: the variables.
    """

    def __init__(self, follower: Follower, names: frozenset[str]) -> None:
        self.follower = follower
        self.watched = _setting(follower.machine, names)

    def follow(self, state: Snapshot, path: PathCondition) -> Written:
        """Take one tick along a path."""
        answers, watched = self.follower.answers, self.watched
        words: list[tuple[str, Tree, tuple[Any, ...]]] = []

        def compute(expression: Expression, env: dict[str, Any]) -> Any:
            found = watched.get(id(expression))
            if found is not None:
                name, reads = found
                words.append((name, expression.tree, tuple([env[one] for one in reads])))
            return answers[id(expression)](env, path)

        tick = Tick(self.follower.machine, state, compute)
        try:
            after = tick.run({}, self.follower.events(tick, path))
        except PosewrightError:
            return Written(None, tuple(words))
        return Written(after, tuple(words))


def _setting(machine: Machine, names: frozenset[str]) -> Mapping[int, tuple[str, tuple[str, ...]]]:
    """Return which variable an expression sets, by its identity, and the registers it reads besides those."""
    known = frozenset(machine.registers) - names
    return {
        id(value): (name, tuple(sorted(value.names & known)))
        for actions in every_actions(machine)
        for action in every_action(actions)
        if isinstance(action, Assign)
        for name, value in action.values.items()
        if name in names
    }
