"""Where a number makes a condition change: the critical values of its comparisons.

A comparison of one number with constants, through + - * by constants, abs, min and max, is piecewise
linear in it. Its roots are found exactly, in fractions. Between two neighbouring critical values no such
comparison changes, so one value from every gap, and the critical values themselves, stand for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import pairwise, product

from posewright.charts.expression.expression import Expression
from posewright.charts.expression.tree import (
    COMPARISONS,
    Binary,
    Call,
    If,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    names_in,
    nodes_of,
    rewritten,
)
from posewright.charts.types import Value

BEYOND = Fraction(1)
"""How far beyond the outermost critical value the slope is measured."""


MAX_CHOICES = 64
"""Ways in which the conditions inside one term may turn out, beyond which its roots are only guessed."""


class NotPiecewiseLinearError(ValueError):
    """Raised inside this module: a term is not piecewise linear in just one number."""


def critical_values(
    expressions: Iterable[Expression], numbers: frozenset[str]
) -> tuple[dict[str, set[Fraction]], bool]:
    """Return the critical values of every number, and whether they are all there are.

    Args:
        expressions: guards and actions.
        numbers: the names that stand for numbers which vary.

    Returns:
        values by name, and False where a comparison depends on two numbers, or on one in a way that is not
        piecewise linear, or where it is rounded to 32 bits: then the values are only a good guess.
    """
    found: dict[str, set[Fraction]] = {name: set() for name in numbers}
    complete = True
    for expression in expressions:
        for term, fixed in _terms(expression):
            complete = complete and not _is_rounded(term, fixed)
            names = [name.name for name in nodes_of(term) if isinstance(name, Name) and name.name in numbers]
            for name in dict.fromkeys(names):
                try:
                    found[name] |= _roots(term, name, fixed)
                except NotPiecewiseLinearError:
                    complete = False
                    found[name] |= _mentioned(term, fixed)
    return found, complete


def _terms(expression: Expression) -> Iterable[tuple[Tree, Mapping[str, Value]]]:
    """Yield the terms whose sign matters: sides of a comparison, and divisors."""
    for node in nodes_of(expression.tree):
        if not isinstance(node, Binary):
            continue
        if node.operator in COMPARISONS:
            sides = product(_choices(node.left), _choices(node.right))
            yield from ((Binary(Operator.MINUS, *both), expression.fixed) for both in sides)
        elif node.operator in (Operator.OVER, Operator.MODULO):
            yield from ((one, expression.fixed) for one in _choices(node.right))


def _choices(tree: Tree) -> list[Tree]:
    """Return a term for every way its conditions may turn out; the term as it is where these are too many."""
    found: list[Tree] = []
    waiting = [tree]
    while waiting and len(found) + len(waiting) <= MAX_CHOICES:
        term = waiting.pop()
        choice = next((node for node in nodes_of(term) if isinstance(node, If)), None)
        if choice is None:
            found.append(term)
        else:
            waiting += [_with(term, choice, one) for one in (choice.then, choice.otherwise)]
    return [tree] if waiting else found


def _with(term: Tree, choice: If, one: Tree) -> Tree:
    return rewritten(term, lambda node: one if node is choice else None)


def _is_rounded(term: Tree, fixed: Mapping[str, Value]) -> bool:
    calls = [node for node in nodes_of(term) if isinstance(node, Call) and node.function == "single"]
    return any(names_in(call) - fixed.keys() for call in calls)


def _roots(term: Tree, name: str, fixed: Mapping[str, Value]) -> set[Fraction]:
    """Return the values of `name` at which a piecewise linear term is zero."""
    kinks = sorted(_kinks(term, name, fixed))
    if not kinks:
        kinks = [Fraction(0)]
    edges = [kinks[0] - BEYOND, *kinks, kinks[-1] + BEYOND]
    heights = [_at(term, name, edge, fixed) for edge in edges]
    found = {edge for edge, height in zip(edges[1:-1], heights[1:-1], strict=True) if height == 0}
    for i, ((a, b), (fa, fb)) in enumerate(zip(pairwise(edges), pairwise(heights), strict=True)):
        if fa == fb:
            continue
        root = a - fa * (b - a) / (fb - fa)
        below, above = i == 0, i == len(edges) - 2
        if (below or root >= a) and (above or root <= b):
            found.add(root)
    return found


def _kinks(tree: Tree, name: str, fixed: Mapping[str, Value]) -> set[Fraction]:
    """Return where a term may change its slope: the roots inside abs, min and max."""
    found: set[Fraction] = set()
    for node in nodes_of(tree):
        if not isinstance(node, Call):
            continue
        if node.function == "abs":
            found |= _roots(node.arguments[0], name, fixed)
        for i, one in enumerate(node.arguments):
            for other in node.arguments[i + 1 :]:
                found |= _roots(Binary(Operator.MINUS, one, other), name, fixed)
    return found


_CHOOSE: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "abs": lambda values: abs(values[0]),
    "min": min,
    "max": max,
    "single": lambda values: values[0],
}


def _at(tree: Tree, name: str, value: Fraction, fixed: Mapping[str, Value]) -> Fraction:
    """Return a term's exact value; raises NotPiecewiseLinearError where it is not linear in `name` alone."""
    if isinstance(tree, Literal):
        return _fraction(tree.value)
    if isinstance(tree, Name):
        if tree.name == name:
            return value
        if tree.name not in fixed:
            raise NotPiecewiseLinearError(tree.name)
        return _fraction(fixed[tree.name])
    if isinstance(tree, Unary) and tree.operator is Operator.MINUS:
        return -_at(tree.operand, name, value, fixed)
    if isinstance(tree, Binary):
        return _joined(tree, name, value, fixed)
    if isinstance(tree, Call):
        return _CHOOSE[tree.function]([_at(argument, name, value, fixed) for argument in tree.arguments])
    raise NotPiecewiseLinearError("not a number")


def _joined(tree: Binary, name: str, value: Fraction, fixed: Mapping[str, Value]) -> Fraction:
    left, right = _at(tree.left, name, value, fixed), _at(tree.right, name, value, fixed)
    if tree.operator is Operator.PLUS:
        return left + right
    if tree.operator is Operator.MINUS:
        return left - right
    moves = [_mentions(side, name) for side in (tree.left, tree.right)]
    if tree.operator is Operator.TIMES and not all(moves):
        return left * right
    if tree.operator is Operator.OVER and not moves[1] and right != 0:
        return left / right
    raise NotPiecewiseLinearError(str(tree.operator))


def _mentions(tree: Tree, name: str) -> bool:
    return any(node == Name(name) for node in nodes_of(tree))


def _mentioned(term: Tree, fixed: Mapping[str, Value]) -> set[Fraction]:
    """Return the constants of a term: a guess at where something may change."""
    found = set()
    for node in nodes_of(term):
        value = node.value if isinstance(node, Literal) else fixed.get(getattr(node, "name", ""))
        if isinstance(value, int | float) and not isinstance(value, bool):
            found |= {Fraction(value), -Fraction(value)}
    return found


def _fraction(value: Value) -> Fraction:
    if isinstance(value, bool | str):
        raise NotPiecewiseLinearError("not a number")
    return Fraction(value)
