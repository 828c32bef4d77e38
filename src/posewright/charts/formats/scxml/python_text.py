"""Our expressions in Python's words, which is how SCXML documents of ours write them for other readers.

Python calculates as we do, but for numbers that leave 32 bits or are rounded to them. It has no `after`,
`before`, `every` and `held`: a reader that evaluates them fails, which is better than that it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from posewright.charts.expression import (
    Call,
    Expression,
    Inside,
    Literal,
    Name,
    Timed,
    Tree,
    rewritten,
    text_of,
)
from posewright.charts.model import ALWAYS
from posewright.charts.types import BoolType, EnumType, Type


def python_text(tree: Tree, values: Collection[str]) -> str:
    """Return a tree as Python; `values` are names that are values of enumerations, which become texts."""
    return text_of(rewritten(tree, _in_python(values)))


def python_value(value: object) -> str:
    """Return a value as Python writes it."""
    return f"'{value}'" if isinstance(value, str) else repr(value)


def python_assigned(expression: Expression, kind: Type, values: Collection[str]) -> str:
    """Return the value of a variable as Python: kept within the variable's range where that may be needed."""
    text = python_text(expression.tree, values)
    if isinstance(kind, BoolType | EnumType) or isinstance(expression.tree, Literal) or kind == type(kind)():
        return text
    return f"max({kind.low!r}, min({kind.high!r}, {text}))"


def python_guard(when: Expression, wait_s: float, values: Collection[str]) -> str | None:
    """Return the guard of a transition as Python, None where it asks for nothing."""
    text = None if when.tree == ALWAYS.tree else python_text(when.tree, values)
    if not wait_s:
        return text
    waited = f"after({wait_s!r})"
    return waited if text is None else f"{waited} and ({text})"


def _in_python(values: Collection[str]) -> Callable[[Tree], Tree | None]:
    def change(tree: Tree) -> Tree | None:
        if isinstance(tree, Name) and tree.name in values:
            return Literal(tree.name)
        if isinstance(tree, Literal) and isinstance(tree.value, bool):
            return Name(str(tree.value))
        if isinstance(tree, Inside):
            return Call("In", (Literal(tree.state),))
        if isinstance(tree, Timed):
            asked = () if tree.condition is None else (rewritten(tree.condition, change),)
            return Call(tree.timing.value, (*asked, Literal(tree.seconds)))
        return None

    return change
