"""Cubes: conditions on truth values where each must be true, must be false, or does not matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from posewright.charts.expression import Binary, Expression, Literal, Name, Operator, Source, Tree, Unary
from posewright.charts.types import BoolType

Cube = tuple[bool | None, ...]
"""One entry per input, in the table's order; None does not matter."""

SIGNS = {True: "1", False: "0", None: "X"}


def cube_text(cube: Cube) -> str:
    """Return a cube as the UC3M thesis prints it, such as 01X."""
    return "".join(SIGNS[sign] for sign in cube)


def covers(cube: Cube, point: Sequence[bool]) -> bool:
    """Return whether a point lies in a cube."""
    return all(sign is None or sign == value for sign, value in zip(cube, point, strict=True))


def points(count: int) -> Iterator[tuple[bool, ...]]:
    """Yield every combination of `count` truth values, counting upwards."""
    return product((False, True), repeat=count)


def cube_guard(cube: Cube, names: Sequence[str]) -> Expression:
    """Return the guard that holds inside a cube: `not front and left`."""
    tree: Tree | None = None
    words = []
    for sign, name in zip(cube, names, strict=True):
        if sign is None:
            continue
        literal: Tree = Name(name) if sign else Unary(Operator.NOT, Name(name))
        words.append(name if sign else f"not {name}")
        tree = literal if tree is None else Binary(Operator.AND, tree, literal)
    return Expression(tree or Literal(True), BoolType(), Source(" and ".join(words) or "true"))


def guard_cube(guard: Expression, names: Sequence[str]) -> Cube | None:
    """Return the cube of a guard that is a plain conjunction of the named inputs, else None."""
    signs: dict[str, bool] = {}
    for literal in _conjuncts(guard.tree):
        wanted = not (isinstance(literal, Unary) and literal.operator is Operator.NOT)
        name = literal.operand if isinstance(literal, Unary) and not wanted else literal
        if name == Literal(True) and wanted:
            continue
        if not isinstance(name, Name) or name.name not in names or signs.get(name.name, wanted) != wanted:
            return None
        signs[name.name] = wanted
    return tuple(signs.get(name) for name in names)


def _conjuncts(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree, Binary) and tree.operator is Operator.AND:
        yield from _conjuncts(tree.left)
        yield from _conjuncts(tree.right)
    else:
        yield tree
