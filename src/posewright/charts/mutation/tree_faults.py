"""Faults in a tree as it was parsed: an operator, a number, a name, a condition."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.charts.expression import (
    COMPARISONS,
    LOGIC,
    Binary,
    Call,
    If,
    Literal,
    Name,
    Operator,
    Scope,
    Timing,
    Tree,
    Unary,
    children,
    text_of,
    with_children,
)
from posewright.charts.mutation.fault import Fault, Sort
from posewright.charts.types import Value

TIMED = frozenset(timing.value for timing in Timing)
"""Functions that ask for time, as they are parsed."""

NEIGHBOURS = {
    Operator.LESS: (Operator.LESS_EQUAL, Operator.UNEQUAL),
    Operator.LESS_EQUAL: (Operator.LESS, Operator.EQUAL),
    Operator.GREATER: (Operator.GREATER_EQUAL, Operator.UNEQUAL),
    Operator.GREATER_EQUAL: (Operator.GREATER, Operator.EQUAL),
    Operator.EQUAL: (Operator.UNEQUAL, Operator.LESS_EQUAL, Operator.GREATER_EQUAL),
    Operator.UNEQUAL: (Operator.EQUAL, Operator.LESS, Operator.GREATER),
}
"""What a comparison is taken for by mistake."""

SWAPPED = {
    Operator.AND: Operator.OR,
    Operator.OR: Operator.AND,
    Operator.PLUS: Operator.MINUS,
    Operator.MINUS: Operator.PLUS,
}


def tree_faults(tree: Tree, scope: Scope, *, asks: bool) -> Iterator[Fault[Tree]]:
    """Yield a tree with every single fault; some may not type any more.

    Args:
        tree: as parsed.
        scope: the names that it uses.
        asks: whether it is a condition.
    """
    if asks:
        yield from _as_condition(tree)
    if isinstance(tree, Unary) and tree.operator is Operator.NOT:
        yield _changed(Sort.NEGATION, tree, tree.operand)
    if isinstance(tree, Binary):
        yield from _operators(tree)
    if isinstance(tree, Literal | Name):
        yield from _other_values(tree, scope)
    inner = _asking(tree, asks)
    for i, part in enumerate(_parts(tree)):
        for fault in tree_faults(part, scope, asks=inner[i]):
            yield fault.of(_with_child(tree, i, fault.value))


def _as_condition(tree: Tree) -> Iterator[Fault[Tree]]:
    """Yield a condition that is left out: taken for true, and for false."""
    if isinstance(tree, Binary) and tree.operator in LOGIC:
        return
    if isinstance(tree, Literal | If) or (isinstance(tree, Unary) and tree.operator is Operator.NOT):
        return
    for value in (True, False):
        yield _changed(Sort.CONDITION, tree, Literal(value, tree.at))
    if not isinstance(tree, Binary):
        yield _changed(Sort.NEGATION, tree, Unary(Operator.NOT, tree, tree.at))


def _operators(tree: Binary) -> Iterator[Fault[Tree]]:
    sort = Sort.LOGIC if tree.operator in LOGIC else Sort.ARITHMETIC
    if tree.operator in COMPARISONS:
        sort = Sort.COMPARISON
    others = NEIGHBOURS.get(tree.operator) or filter(None, [SWAPPED.get(tree.operator)])
    for operator in others:
        yield _changed(sort, tree, Binary(operator, tree.left, tree.right, tree.at))


def _other_values(tree: Literal | Name, scope: Scope) -> Iterator[Fault[Tree]]:
    """Yield other constants in place of one."""
    if isinstance(tree, Literal):
        value, unit = tree.value, tree.unit
    elif tree.name in scope.constants:
        value, unit = scope.constants[tree.name], scope.units.get(tree.name)
    elif tree.name in scope.values:
        names = scope.values[tree.name].values
        if len(names) > 1:
            other = names[(names.index(tree.name) + 1) % len(names)]
            yield _changed(Sort.CONSTANT, tree, Name(other, tree.at))
        return
    else:
        return
    for changed in others_than(value):
        yield _changed(Sort.CONSTANT, tree, Literal(changed, tree.at, unit))


def others_than(value: Value) -> Iterator[Value]:
    """Yield the values next to a constant: numbers differ by one in the last digit that was written."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        text = repr(value).removesuffix(".0")
        digits = len(text.partition(".")[2]) if "e" not in text else 0
        for step in (1, -1):
            yield round(value + step * 10.0**-digits, digits) if "e" not in text else value * (1 + step / 10)


def _parts(tree: Tree) -> tuple[Tree, ...]:
    """Return the operands of a node, the time that it waits for left out: that is changed by whole ticks."""
    parts = children(tree)
    return parts[:-1] if isinstance(tree, Call) and tree.function in TIMED else parts


def _asking(tree: Tree, asks: bool) -> tuple[bool, ...]:
    """Return which operands are conditions."""
    if isinstance(tree, If):
        return True, asks, asks
    logical = isinstance(tree, Unary | Binary) and tree.operator in {*LOGIC, Operator.NOT}
    if isinstance(tree, Call) and tree.function == "held":
        return True, False
    return (logical,) * len(children(tree))


def _with_child(tree: Tree, number: int, child: Tree) -> Tree:
    parts = list(children(tree))
    parts[number] = child
    return with_children(tree, parts)


def _changed(sort: Sort, before: Tree, after: Tree) -> Fault[Tree]:
    return Fault(sort, f"`{text_of(before)}` becomes `{text_of(after)}`", None, after)
