"""The places of an expression at which something is computed, and what must hold for them to be reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from posewright.charts.expression import (
    ARITHMETIC,
    LOGIC,
    Binary,
    Call,
    If,
    Operator,
    Tree,
    Unary,
    cases_of,
    children,
)


@dataclass(frozen=True, eq=False)
class Path:
    """What is computed before a place: the last step, and the path to it.

    Attributes:
        wanted: what `condition` must be; None: it just is computed without a division by zero.
    """

    condition: Tree
    wanted: bool | None
    before: Path | None = None

    def steps(self) -> Iterator[tuple[Tree, bool | None]]:
        """Yield the steps, the last one first."""
        path: Path | None = self
        while path is not None:
            yield path.condition, path.wanted
            path = path.before


@dataclass(frozen=True, eq=False)
class Place:
    """A node that computes a number, and the path to it; None where it is reached always."""

    node: Tree
    path: Path | None

    @property
    def steps(self) -> tuple[tuple[Tree, bool | None], ...]:
        """What must hold for it to be reached."""
        return tuple(self.path.steps()) if self.path else ()

    @property
    def divides(self) -> bool:
        """Whether it divides."""
        return isinstance(self.node, Binary) and self.node.operator in (Operator.OVER, Operator.MODULO)


def places_in(tree: Tree) -> Iterator[Place]:
    """Yield the places at which a number is computed from others, those computed first before the others."""
    waiting: list[tuple[Tree, Path | None, bool]] = [(tree, None, False)]
    while waiting:
        node, path, done = waiting.pop()
        if done:
            yield Place(node, path)
            continue
        if _computes(node):
            waiting.append((node, path, True))
        waiting.extend((child, way, False) for child, way in reversed(list(_below(node, path))))


def _computes(node: Tree) -> bool:
    if isinstance(node, Call):
        return True
    return isinstance(node, Binary | Unary) and node.operator in ARITHMETIC


def _below(node: Tree, path: Path | None) -> Iterator[tuple[Tree, Path | None]]:
    if isinstance(node, If):
        yield from _along(node, path)
        return
    wanted = node.operator is Operator.AND if isinstance(node, Binary) and node.operator in LOGIC else None
    for child in children(node):
        yield child, path
        path = Path(child, wanted, path)


def _along(chain: If, path: Path | None) -> Iterator[tuple[Tree, Path | None]]:
    cases, rest = cases_of(chain)
    for condition, then in cases:
        yield condition, path
        yield then, Path(condition, True, path)
        path = Path(condition, False, path)
    yield rest, path
