"""A tree as text that parses to it again, with few more brackets than it needs."""

from __future__ import annotations

from collections.abc import Callable

from posewright.charts.expression.parser import COMPARISON_POWER, MINUS_POWER, NOT_POWER, POWER
from posewright.charts.expression.tree import (
    COMPARISONS,
    Binary,
    Call,
    If,
    Inside,
    Literal,
    Name,
    Operator,
    Timed,
    Tree,
    Unary,
)

LOOSEST = 0
TIGHTEST = 9
"""Powers beside those of the operators: of a choice, and of what needs no brackets."""


LONGEST = 60
"""Letters of a text that is shown in a table."""


def shortened(text: str) -> str:
    """Return a text, cut where it is too long for a table."""
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def text_of(tree: Tree) -> str:
    """Return the text of a tree.

    A tree that the type checker made ready holds plain numbers, already converted: where the scope declares
    units, its text may mean something else.
    """
    return _WRITERS[type(tree)](tree)


def _power(tree: Tree) -> int:
    if isinstance(tree, Binary):
        return POWER[tree.operator]
    if isinstance(tree, Unary):
        return NOT_POWER if tree.operator is Operator.NOT else MINUS_POWER
    if isinstance(tree, Literal) and not isinstance(tree.value, bool | str) and tree.value < 0:
        return MINUS_POWER
    return LOOSEST if isinstance(tree, If) else TIGHTEST


def _within(tree: Tree, power: int) -> str:
    """Return the text of an operand, in brackets where it binds less than `power`."""
    text = text_of(tree)
    return text if _power(tree) >= power else f"({text})"


def _literal(tree: Literal) -> str:
    if isinstance(tree.value, bool):
        return "true" if tree.value else "false"
    return f"{tree.value!r} {tree.unit}" if tree.unit else f"{tree.value!r}"


def _unary(tree: Unary) -> str:
    if tree.operator is Operator.MINUS:
        return f"-{_within(tree.operand, MINUS_POWER)}"
    return f"not {_within(tree.operand, NOT_POWER)}"


def _binary(tree: Binary) -> str:
    power = POWER[tree.operator]
    left = COMPARISON_POWER + 1 if tree.operator in COMPARISONS else power
    return f"{_within(tree.left, left)} {tree.operator} {_within(tree.right, power + 1)}"


def _choice(tree: If) -> str:
    then, condition = _within(tree.then, LOOSEST + 1), _within(tree.condition, LOOSEST + 1)
    return f"{then} if {condition} else {text_of(tree.otherwise)}"


def _timed(tree: Timed) -> str:
    condition = "" if tree.condition is None else f"{text_of(tree.condition)}, "
    return f"{tree.timing}({condition}{tree.seconds!r} s)"


_WRITERS: dict[type, Callable[..., str]] = {
    Literal: _literal,
    Name: lambda tree: tree.name,
    Unary: _unary,
    Binary: _binary,
    Call: lambda tree: f"{tree.function}({', '.join(map(text_of, tree.arguments))})",
    If: _choice,
    Timed: _timed,
    Inside: lambda tree: f"in({tree.state})",
}
