"""An expression: its text, its tree, its type, and its value in an environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from posewright.charts.expression.closures import Evaluate, compile_tree
from posewright.charts.expression.source import Source
from posewright.charts.expression.tree import Literal, Tree, is_timed, names_in
from posewright.charts.types import Type, Value, type_of


@dataclass(frozen=True)
class Expression:
    """A guard or an action's value: parsed, typed and safe.

    Two expressions are equal where their trees are, whatever spaces or brackets they were written with.
    """

    tree: Tree
    type: Type
    source: Source = field(default_factory=lambda: Source(""), compare=False, repr=False)
    fixed: Mapping[str, Value] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        return self.source.text

    @cached_property
    def names(self) -> frozenset[str]:
        """The inputs, outputs and locals that it reads."""
        return names_in(self.tree) - self.fixed.keys()

    @cached_property
    def evaluate(self) -> Evaluate:
        """The function from an environment to the value; raises ExpressionError on division by zero."""
        return compile_tree(self.tree, self.fixed, self.source)

    @cached_property
    def constant(self) -> Any:
        """The value where nothing is read that may change, nor time or states; else None."""
        return None if self.names or is_timed(self.tree) else self.evaluate({})

    def with_tree(self, tree: Tree) -> Expression:
        """Return the expression of another tree, of the same text and type."""
        return replace(self, tree=tree)


def constant(value: Value, text: str | None = None) -> Expression:
    """Return the expression that is always `value`; a truth value is written 0 or 1, or as `text` says."""
    written = str(int(value)) if isinstance(value, bool) else str(value)
    return Expression(Literal(value), type_of(value), Source(text or written))
