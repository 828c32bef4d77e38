"""Inputs that also settle what an exploration need not ask, where that says whether a condition decides.

A tick never asks about the other branch of an `a if c else b`, nor does an exploration ask for a condition
beside one that has decided. Its cases part by what is asked only: of the inputs that one of them stands for,
some may show that a condition decides, and others not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from posewright.charts.coverage.decision import Site, conditions_of, decisions_in, is_choice
from posewright.charts.coverage.goal import Goals
from posewright.charts.expression import Expression, Tree, names_in
from posewright.charts.machine import Snapshot, Tick
from posewright.charts.reachability import Answer, Exploration, PathCondition, Questions, paths
from posewright.charts.types import Type, Value
from posewright.errors import ExpressionError, PosewrightError

Inputs = Mapping[str, Value]


class BothWays:
    """Takes ticks that ask every condition of such a decision, needed or not.

    Attributes:
        choices: the numbers of those decisions.
        doubtful: whether there may be inputs that were not found.
    """

    def __init__(self, exploration: Exploration, goals: Goals) -> None:
        self.exploration = exploration
        self.looked = exploration.looked
        self.choices = frozenset(
            first + number
            for first, site in goals.sites
            for number, tree in enumerate(site.parts)
            if self.is_shortened(tree)
        )
        sites = [site for _, site in goals.sites if any(map(self.is_shortened, site.parts))]
        self.asked = {id(one): self.answers(one, site) for site in sites for one in site.lowered}
        self.doubtful = False

    def is_shortened(self, tree: Tree) -> bool:
        """Return whether an exploration may leave out some condition of a decision.

        It does with the branch not taken of an `if`, and where another condition, known in that state, has
        decided: of `near and after(1 s)` it need not ask for `near` in the first second.
        """
        conditions = list(conditions_of(tree))
        inputs = self.exploration.chart.inputs
        return is_choice(tree) or (
            len(conditions) > 1 and any(not names_in(one) & inputs.keys() for one in conditions)
        )

    def answers(self, expression: Expression, site: Site) -> tuple[Answer, ...]:
        """Return what answers every condition of such decisions that an expression holds."""
        axes = self.looked.inputs.axes
        types: dict[str, Type] = {
            **self.exploration.machine.types,
            **{name: axis.kind for name, axis in axes.items()},
        }
        trees = filter(self.is_shortened, decisions_in(expression.tree, decides=site.decides))
        questions = Questions(axes, types)
        return tuple(
            questions.condition(expression.with_tree(condition))
            for tree in trees
            for condition in conditions_of(tree)
        )

    def rows(self, state: Snapshot) -> Iterator[Inputs]:
        """Yield inputs for every way in which a tick from a state can go, and what it leaves can come to."""
        if not self.asked:
            return
        limit = self.looked.limits.cases_of_one
        for path, _ in paths(self.looked.inputs, lambda path: self.take(state, path), limit):
            self.doubtful = self.doubtful or bool(path.doubts)
            yield path.inputs()

    def take(self, state: Snapshot, path: PathCondition) -> None:
        """Take one tick along a path."""
        answers = self.looked.follower.answers

        def compute(expression: Expression, env: dict[str, Any]) -> Any:
            for answer in self.asked.get(id(expression), ()):
                try:
                    answer(env, path)
                except ExpressionError:
                    continue  # a division that the tick itself may never come to
            return answers[id(expression)](env, path)

        tick = Tick(self.exploration.machine, state, compute)
        try:
            tick.run({}, self.looked.follower.events(tick, path))
        except PosewrightError:
            return  # its inputs count all the same: of a tick that fails, what it shows before
