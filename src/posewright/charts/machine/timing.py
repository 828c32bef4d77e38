"""Time in a machine: what expressions ask of time becomes questions to counters of ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from posewright.charts.expression import (
    Binary,
    Expression,
    Inside,
    Literal,
    Name,
    Operator,
    Timed,
    Timing,
    Tree,
    rewritten,
)
from posewright.charts.machine.machine import INSIDE
from posewright.charts.machine.node import Counter
from posewright.charts.model import ALWAYS, Action, Actions, Assign, Branch, Chart, Raise


class Clock:
    """Lowers what is written in one state, and collects the counters that this takes."""

    def __init__(self, chart: Chart, state: str) -> None:
        self.chart = chart
        self.state = state
        self.furthest = 0
        self.held: dict[tuple[Tree, int], Counter] = {}
        self.every: dict[int, Counter] = {}

    def counters(self) -> tuple[Counter, ...]:
        """Return the counters of what was lowered so far."""
        since = (Counter(f"since.{self.state}", self.furthest),) if self.furthest else ()
        return (*since, *self.every.values(), *self.held.values())  # a condition may ask the others

    def wait(self, ticks: int) -> int:
        """Return `ticks`, having made sure that the state's time is counted so far."""
        self.furthest = max(self.furthest, ticks)
        return ticks

    def lowered(self, expression: Expression) -> Expression:
        """Return an expression that reads counters and `in.S` where it asked for time and states."""
        tree = rewritten(expression.tree, lambda node: self._asked(node, expression))
        return expression if tree is expression.tree else expression.with_tree(tree)

    def all_of(self, guards: Sequence[Expression]) -> Expression:
        """Return the one guard that holds where all of these hold."""
        if len(guards) == 1:
            return guards[0]
        asked = [guard for guard in guards if guard != ALWAYS] or [ALWAYS]
        tree = reduce(lambda one, other: Binary(Operator.AND, one, other), (guard.tree for guard in asked))
        fixed = {name: value for guard in asked for name, value in guard.fixed.items()}
        return replace(asked[0].with_tree(tree), fixed=fixed)

    def actions(self, actions: Actions) -> Actions:
        """Return actions with all their expressions lowered."""
        return tuple(self._action(action) for action in actions)

    def _action(self, action: Action) -> Action:
        if isinstance(action, Assign):
            return replace(action, values={name: self.lowered(one) for name, one in action.values.items()})
        if isinstance(action, Raise):
            return action
        return Branch(
            self.lowered(action.when), self.actions(action.then), self.actions(action.otherwise), action.line
        )

    def _asked(self, node: Tree, within: Expression) -> Tree | None:
        if isinstance(node, Inside):
            return Name(INSIDE + node.state, node.at)
        return self._timed(node, within) if isinstance(node, Timed) else None

    def _timed(self, tree: Timed, within: Expression) -> Tree:
        ticks = max(self.chart.ticks(tree.seconds), 1)
        if tree.timing is Timing.EVERY:
            counter = self.every.setdefault(
                ticks, Counter(f"every.{self.state}.{len(self.every)}", ticks, again=True)
            )
            return Binary(Operator.EQUAL, Name(counter.name), Literal(ticks), tree.at)
        if tree.timing is Timing.HELD and tree.condition is not None:
            return self._held_for(tree, ticks + 1, within)
        asked = Operator.LESS if tree.timing is Timing.BEFORE else Operator.GREATER_EQUAL
        return Binary(asked, Name(f"since.{self.state}"), Literal(self.wait(ticks)), tree.at)

    def _held_for(self, tree: Timed, samples: int, within: Expression) -> Tree:
        asked = ALWAYS.tree if tree.condition is None else tree.condition
        condition = self.lowered(replace(within.with_tree(asked), type=ALWAYS.type))
        key = (condition.tree, samples)
        if key not in self.held:
            self.held[key] = Counter(f"held.{self.state}.{len(self.held)}", samples, condition)
        return Binary(Operator.EQUAL, Name(self.held[key].name), Literal(samples), tree.at)
