"""An expression: its text, its tree, its type, and its value in an environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from posewright.charts.datatypes import EnumType, FloatType, IntType, Numeric, Type, Value, type_of
from posewright.charts.expression.closures import Evaluate, compile_tree
from posewright.charts.expression.parser import parse
from posewright.charts.expression.scope import Scope
from posewright.charts.expression.source import Source
from posewright.charts.expression.terms import sort_of
from posewright.charts.expression.timing import is_timed
from posewright.charts.expression.tree import Literal, Tree, names_in
from posewright.charts.expression.typecheck import typecheck


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


def parse_expression(source: Source | str, scope: Scope, wanted: Type | None = None) -> Expression:
    """Parse and type an expression.

    Args:
        source: the text, with its place in a document where it has one.
        scope: the names it may use.
        wanted: the type of what it is assigned to; 0 and 1 are taken for bool.

    Raises:
        ExpressionError: it does not parse, does not type, or is not of the `wanted` type.
    """
    if isinstance(source, str):
        source = Source(source)
    tree, kind = typecheck(parse(source), scope, source, wanted)
    expression = Expression(tree, kind, source, scope.fixed)
    if wanted is not None:
        _assignable(expression, wanted)
    return expression


def _assignable(expression: Expression, wanted: Type) -> None:
    found, source = expression.type, expression.source
    if isinstance(wanted, IntType) and isinstance(found, FloatType):
        hint = f"it must be {wanted}; / gives a fraction"
        source.fail(0, "a fraction where a whole number is needed", hint=hint)
    same = type(found) is type(wanted) or (isinstance(wanted, FloatType) and isinstance(found, IntType))
    if not same or (isinstance(wanted, EnumType) and found != wanted):
        source.fail(0, f"{sort_of(found)} where {sort_of(wanted)} is needed", hint=f"it must be {wanted}")
    value = expression.constant if isinstance(wanted, Numeric) else None
    if value is None or not isinstance(wanted, Numeric):
        return
    low, high = wanted.ends if isinstance(wanted, FloatType) else (wanted.low, wanted.high)
    if not low <= value <= high:
        source.fail(0, f"{value:g} is out of range", hint=f"the range is {low:g}..{high:g}")
