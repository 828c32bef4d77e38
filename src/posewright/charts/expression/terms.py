"""What the type checker finds: a tree made ready, and its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from posewright.charts.expression.tree import Tree
from posewright.charts.types import BoolType, FloatType, IntType, Numeric, Type


class Term(NamedTuple):
    """A typed tree; `loose` where its value comes from literals and constants only, if maybe by a choice."""

    tree: Tree
    kind: Type
    loose: bool = False

    @property
    def unit(self) -> str | None:
        """The unit of a number that has one."""
        return getattr(self.kind, "unit", None)

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number."""
        return isinstance(self.kind, IntType)

    @property
    def is_single(self) -> bool:
        """Whether it is a fraction of 32 bits."""
        return isinstance(self.kind, FloatType) and self.kind.single


def number_kind(terms: Sequence[Term], *, single: bool, unit: str | None) -> Type:
    """Return the type of a number that is made of others: whole where all are."""
    if all(term.is_whole for term in terms):
        return IntType(unit=unit)
    return FloatType(single=single, unit=unit)


def sort_of(kind: Type) -> str:
    """Return what messages call a type: its range does not matter there."""
    if isinstance(kind, BoolType):
        return "a truth value"
    return "a number" if isinstance(kind, Numeric) else "a name"
