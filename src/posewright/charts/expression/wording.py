"""Trees as text: what a condition is called in a table."""

from __future__ import annotations

from posewright.charts.datatypes import Value
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

LONGEST = 60
"""Letters of a text that is shown."""

_LEVELS = {
    Operator.OR: 1,
    Operator.AND: 2,
    **dict.fromkeys(COMPARISONS, 4),
    Operator.PLUS: 5,
    Operator.MINUS: 5,
    Operator.TIMES: 6,
    Operator.OVER: 6,
    Operator.MODULO: 6,
}
_NOT, _NEGATED, _WHOLE = 3, 7, 8


def wording(tree: Tree) -> str:
    """Return a tree as an expression that means it."""
    return _text(tree)[0]


def shortened(text: str) -> str:
    """Return a text, cut where it is too long for a table."""
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _text(tree: Tree) -> tuple[str, int]:
    """Return a tree's text, and how tightly it holds together."""
    if isinstance(tree, Literal):
        return _literal(tree.value) + (f" {tree.unit}" if tree.unit else ""), _WHOLE
    if isinstance(tree, Name):
        return tree.name, _WHOLE
    if isinstance(tree, Unary):
        logical = tree.operator is Operator.NOT
        level = _NOT if logical else _NEGATED
        return f"{tree.operator}{' ' if logical else ''}{_inside(tree.operand, level)}", level
    if isinstance(tree, Binary):
        level = _LEVELS[tree.operator]
        right = _inside(tree.right, level + 1)
        return f"{_inside(tree.left, level)} {tree.operator} {right}", level
    return _longer(tree)


def _longer(tree: Call | If | Inside | Timed) -> tuple[str, int]:
    if isinstance(tree, If):
        then, condition = _inside(tree.then, 1), _inside(tree.condition, 1)
        return f"{then} if {condition} else {_inside(tree.otherwise, 0)}", 0
    if isinstance(tree, Inside):
        return f"in({tree.state})", _WHOLE
    if isinstance(tree, Timed):
        asked = f"{wording(tree.condition)}, " if tree.condition is not None else ""
        return f"{tree.timing}({asked}{tree.seconds:g} s)", _WHOLE
    return f"{tree.function}({', '.join(map(wording, tree.arguments))})", _WHOLE


def _inside(tree: Tree, level: int) -> str:
    text, own = _text(tree)
    return text if own >= level else f"({text})"


def _literal(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
