"""Decisions: where a chart goes one way or the other, and the conditions that decide it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from posewright.charts.expression import (
    LOGIC,
    Binary,
    Expression,
    If,
    Operator,
    Timed,
    Tree,
    Unary,
    cases_of,
    children,
    shortened,
    text_of,
)


@dataclass(frozen=True, eq=False)
class Decision:
    """A guard, the condition of a branch, of an `a if c else b`, or of a `held`.

    Attributes:
        index: among all decisions of the chart.
        text: what it asks.
        conditions: what its conditions ask, in the order in which they are evaluated.
        owner: the state that it belongs to and, where it decides on a transition, which one; None for what
            several share.
    """

    index: int
    text: str
    conditions: tuple[str, ...]
    line: int | None
    owner: tuple[str, int | None] | None


@dataclass(frozen=True, eq=False)
class Site:
    """An expression in which something is decided.

    Attributes:
        written: as in the document.
        lowered: as the machine computes it; several where several states share it.
        decides: whether the expression is a decision itself, or only has some inside.
    """

    written: Expression
    lowered: tuple[Expression, ...]
    decides: bool
    line: int | None
    owner: tuple[str, int | None] | None

    @cached_property
    def parts(self) -> tuple[Tree, ...]:
        """The trees of its decisions, in the order in which `Watch` numbers them."""
        return tuple(decisions_in(self.written.tree, decides=self.decides))

    def decisions(self, first: int) -> Iterator[Decision]:
        """Yield its decisions, numbered from `first`."""
        for number, tree in enumerate(self.parts):
            whole = number == 0 and self.decides
            text = str(self.written) if whole else text_of(tree)
            names = tuple(shortened(text_of(condition)) for condition in conditions_of(tree))
            yield Decision(first + number, shortened(text), names, self.line, self.owner)


def decisions_in(tree: Tree, *, decides: bool) -> Iterator[Tree]:
    """Yield the trees that decide something in a tree: itself, where it does, and the conditions of `if`s."""
    if decides:
        yield tree
        for condition in conditions_of(tree):
            yield from decisions_in(condition, decides=False)
    elif isinstance(tree, If):
        cases, rest = cases_of(tree)
        for condition, then in cases:
            yield from decisions_in(condition, decides=True)
            yield from decisions_in(then, decides=False)
        yield from decisions_in(rest, decides=False)
    elif not isinstance(tree, Timed):  # what is held is looked at tick by tick: a decision elsewhere
        for part in children(tree):
            yield from decisions_in(part, decides=False)


def conditions_of(tree: Tree) -> Iterator[Tree]:
    """Yield the conditions of a decision: what `and`, `or`, `not` and `if` join, from left to right."""
    if isinstance(tree, Binary) and tree.operator in LOGIC:
        yield from conditions_of(tree.left)
        yield from conditions_of(tree.right)
    elif isinstance(tree, Unary) and tree.operator is Operator.NOT:
        yield from conditions_of(tree.operand)
    elif isinstance(tree, If):
        cases, rest = cases_of(tree)
        for condition, then in cases:
            yield from conditions_of(condition)
            yield from conditions_of(then)
        yield from conditions_of(rest)
    else:
        yield tree


def is_choice(tree: Tree) -> bool:
    """Return whether a decision chooses between conditions: whether `if` is among what joins them."""
    if isinstance(tree, Binary) and tree.operator in LOGIC:
        return is_choice(tree.left) or is_choice(tree.right)
    if isinstance(tree, Unary) and tree.operator is Operator.NOT:
        return is_choice(tree.operand)
    return isinstance(tree, If)


def has_choice(tree: Tree) -> bool:
    """Return whether there is an `if` in a tree."""
    return next(decisions_in(tree, decides=False), None) is not None
