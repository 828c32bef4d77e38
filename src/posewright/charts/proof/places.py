"""The places of an expression at which something is computed, and what must hold for them to be reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from posewright.charts.expression import (
    ARITHMETIC,
    LOGIC,
    Binary,
    Call,
    If,
    Operator,
    Tree,
    Unary,
    children,
    split_cases,
)


class _Step(NamedTuple):
    """What is computed before a place, last; and the steps before it."""

    condition: Tree
    wanted: bool | None
    before: _Step | None


@dataclass(frozen=True, eq=False)
class ArithmeticPlace:
    """A node that computes a number, and the last step of the path to it; None where it is reached always."""

    node: Tree
    last: _Step | None

    @property
    def steps(self) -> Iterator[tuple[Tree, bool | None]]:
        """What must hold for it to be reached; None: it just is computed without a division by zero."""
        step = self.last
        while step is not None:
            yield step.condition, step.wanted
            step = step.before

    @property
    def divides(self) -> bool:
        """Whether it divides."""
        return isinstance(self.node, Binary) and self.node.operator in (Operator.OVER, Operator.MODULO)


def places_in(tree: Tree) -> Iterator[ArithmeticPlace]:
    """Yield the places at which a number is computed from others, those computed first before the others."""
    waiting: list[tuple[Tree, _Step | None, bool]] = [(tree, None, False)]
    while waiting:
        node, path, done = waiting.pop()
        if done:
            yield ArithmeticPlace(node, path)
            continue
        if _computes(node):
            waiting.append((node, path, True))
        waiting.extend((child, way, False) for child, way in reversed(list(_below(node, path))))


def _computes(node: Tree) -> bool:
    if isinstance(node, Call):
        return True
    return isinstance(node, Binary | Unary) and node.operator in ARITHMETIC


def _below(node: Tree, path: _Step | None) -> Iterator[tuple[Tree, _Step | None]]:
    if isinstance(node, If):
        yield from _along(node, path)
        return
    wanted = node.operator is Operator.AND if isinstance(node, Binary) and node.operator in LOGIC else None
    for child in children(node):
        yield child, path
        path = _Step(child, wanted, path)


def _along(chain: If, path: _Step | None) -> Iterator[tuple[Tree, _Step | None]]:
    cases, rest = split_cases(chain)
    for condition, then in cases:
        yield condition, path
        yield then, _Step(condition, True, path)
        path = _Step(condition, False, path)
    yield rest, path
