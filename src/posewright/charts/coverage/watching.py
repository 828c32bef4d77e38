"""Watches an expression while it is computed: how every decision in it went, and because of what.

Each evaluation of a decision is noted as four numbers: which decision, what came out, which conditions were
evaluated, and which of them brought it about. A condition is two bits, one for either value. It brought the
outcome about where the other conditions do not mask it. What `and` and `or` never evaluated masks nothing;
the condition of an `if` brings about only what the branch not taken would have made otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from posewright.charts.coverage.branches import Branches
from posewright.charts.coverage.decision import has_choice
from posewright.charts.expression import (
    LOGIC,
    Binary,
    Expression,
    If,
    Operator,
    Tree,
    Unary,
    cases_of,
    children,
    compile_tree,
)

Env = Mapping[str, Any]
Evaluation = tuple[int, bool, int, int]
"""A decision's index, its outcome, the conditions evaluated, those that brought the outcome about."""

Looked = tuple[bool, int, int]
Look = Callable[[Env], Looked]
Observe = Callable[[Env], object]
Note = Callable[[Evaluation], object]


def bit_of(condition: int, value: bool) -> int:
    """Return the bit that stands for a condition having had a value."""
    return 1 << (2 * condition + value)


def watched(expression: Expression, first: int, note: Note, *, decides: bool) -> Callable[[Env], Any]:
    """Return the function that computes an expression and notes how its decisions went.

    Args:
        expression: of a machine.
        first: the index of its first decision.
        note: is told of every evaluation.
        decides: whether the expression is a decision itself.
    """
    watch = _Watch(expression, first, note)
    if decides:
        return watch.decision(expression.tree)
    observe, compute = watch.observer(expression.tree), expression.evaluate

    def both(env: Env) -> Any:
        observe(env)
        return compute(env)

    return both


class _Watch:
    """Compiles a tree; numbers decisions in the order of `decisions_in`."""

    def __init__(self, expression: Expression, first: int, note: Note) -> None:
        self.expression = expression
        self.numbers = count(first)
        self.note = note

    def decision(self, tree: Tree) -> Callable[[Env], bool]:
        number, note = next(self.numbers), self.note
        look = self.look(tree, count())

        def decide(env: Env) -> bool:
            value, seen, brought = look(env)
            note((number, value, seen, brought))
            return value

        return decide

    def look(self, tree: Tree, conditions: count[int]) -> Look:
        """Return what looks at a part of a decision: its value, conditions evaluated, those that matter."""
        if isinstance(tree, Binary) and tree.operator in LOGIC:
            left, right = self.look(tree.left, conditions), self.look(tree.right, conditions)
            return _joined(left, right, tree.operator is Operator.OR)
        if isinstance(tree, Unary) and tree.operator is Operator.NOT:
            return _denied(self.look(tree.operand, conditions))
        if isinstance(tree, If):
            cases, rest = cases_of(tree)
            looks = [(self.look(one, conditions), self.look(then, conditions)) for one, then in cases]
            return _chosen(looks, self.look(rest, conditions), self.branches(tree))
        return self.condition(tree, next(conditions))

    def condition(self, tree: Tree, number: int) -> Look:
        compute = self.computed(tree)
        true = (True, bit_of(number, True), bit_of(number, True))
        false = (False, bit_of(number, False), bit_of(number, False))
        if not has_choice(tree):
            return lambda env: true if compute(env) else false
        observe = self.observer(tree)

        def look(env: Env) -> Looked:
            observe(env)
            return true if compute(env) else false

        return look

    def branches(self, tree: If) -> Branches:
        cases, rest = cases_of(tree)
        computed = [(self.computed(condition), self.computed(then)) for condition, then in cases]
        return Branches(computed, self.computed(rest))

    def computed(self, tree: Tree) -> Callable[[Env], Any]:
        return compile_tree(tree, self.expression.fixed, self.expression.source)

    def observer(self, tree: Tree) -> Observe:
        """Return what looks at the decisions inside a tree that is none itself."""
        if isinstance(tree, If):
            return self.chain(tree)
        inner = [self.observer(part) for part in children(tree) if has_choice(part)]

        def observe(env: Env) -> None:
            for one in inner:
                one(env)

        return inner[0] if len(inner) == 1 else observe

    def chain(self, tree: If) -> Observe:
        cases, rest = cases_of(tree)
        links = [(self.decision(condition), self.observer(then)) for condition, then in cases]
        last = self.observer(rest)

        def observe(env: Env) -> object:
            for condition, then in links:
                if condition(env):
                    return then(env)
            return last(env)

        return observe


def _joined(left: Look, right: Look, decisive: bool) -> Look:
    """Return `left or right` (decided by a true side), or `left and right` (by a false one)."""

    def look(env: Env) -> Looked:
        one = left(env)
        if one[0] is decisive:
            return one
        value, seen, brought = right(env)
        return value, one[1] | seen, brought if value is decisive else one[2] | brought

    return look


def _denied(inner: Look) -> Look:
    def look(env: Env) -> Looked:
        value, seen, brought = inner(env)
        return not value, seen, brought

    return look


def _chosen(cases: list[tuple[Look, Look]], rest: Look, branches: Branches) -> Look:
    def look(env: Env) -> Looked:
        asked: list[Looked] = []
        taken = rest
        for condition, then in cases:
            asked.append(condition(env))
            if asked[-1][0]:
                taken = then
                break
        value, seen, brought = taken(env)
        for number, (held, evaluated, mattered) in enumerate(asked):
            seen |= evaluated
            if branches.turned(number, env, held=held) is (not value):
                brought |= mattered
        return value, seen, brought

    return look
