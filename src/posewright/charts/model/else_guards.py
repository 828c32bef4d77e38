"""The guard that `when: else` stands for."""

from __future__ import annotations

from collections.abc import Iterable

from posewright.charts.expression import Binary, Expression, Operator, Source, Timed, Timing, Tree, Unary
from posewright.charts.model.transition import Transition
from posewright.charts.types import BoolType
from posewright.errors import Where

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
