"""Calls of truth tables: each becomes a chain of conditions, so that nobody later knows of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import chain, islice

from posewright.charts.expression.expression import Argument
from posewright.charts.expression.numbers import Numbers, TypedTree, sort_of
from posewright.charts.expression.scope import Function, FunctionRow
from posewright.charts.expression.tree import (
    Binary,
    Call,
    Literal,
    Name,
    Operator,
    Tree,
    chain_of,
    height,
    nodes_of,
    range_of,
    rewritten,
)
from posewright.charts.types import FloatType, IntType, Numeric, Type, conversion

MAX_NODES = 20_000
"""Operators, names and numbers in one expression once its calls are put in."""
MAX_LEVELS = 300
"""Levels of a tree once its calls are put in; a row of a truth table is one."""


class Inliner:
    """Puts calls into one expression, and sees that it does not grow without bounds.

    Attributes:
        under: conditions under which what is put in next is computed at all.
        arguments: numbers that may be cut, so far.
    """

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.source = numbers.source
        self.nodes = 0
        self.under: list[Tree] = []
        self.arguments: list[Argument] = []

    def call(self, function: Function, arguments: Sequence[TypedTree], tree: Call) -> TypedTree:
        """Return what a call means.

        Args:
            function: the truth table.
            arguments: one a parameter.
            tree: the call as parsed.
        """
        given = {
            name: self.argument(function, name, term, kind, part.at)
            for (name, kind), term, part in zip(
                function.takes.items(), arguments, tree.arguments, strict=True
            )
        }
        cases = [self.row(function, row, given, tree) for row in function.rows]
        found = chain_of(cases[:-1], cases[-1][1])
        if height(found) > MAX_LEVELS:
            message = f"more than {MAX_LEVELS} levels once {function.name} is put in"
            hint = "join rows with X, or keep what it gives in a local"
            self.source.fail(tree.at, message, hint=hint)
        return TypedTree(found, function.gives)

    def row(
        self, function: Function, row: FunctionRow, given: Mapping[str, Tree], tree: Call
    ) -> tuple[Tree, Tree]:
        """Return where a row fits, and what it gives; fail where calls have made the expression too large."""
        when, give = (
            rewritten(part, lambda node: given.get(node.name) if isinstance(node, Name) else None)
            for part in (row.when.tree, row.give.tree)
        )
        self.nodes += sum(1 for _ in islice(chain(nodes_of(when), nodes_of(give)), MAX_NODES + 1))
        if self.nodes > MAX_NODES:
            message = f"more than {MAX_NODES} parts once {function.name} is put in"
            self.source.fail(tree.at, message, hint="keep what it gives in a local, and use that")
        kind = function.gives
        if not isinstance(kind, Numeric):
            return when, give
        return when, self.clamped(self.fitted(TypedTree(give, row.give.type), kind), kind)

    def argument(self, function: Function, name: str, term: TypedTree, kind: Type, at: int) -> Tree:
        """Return an argument as the parameter `name` takes it: in its unit, of its width, in its range."""
        if not (isinstance(term.kind, Numeric) if isinstance(kind, Numeric) else term.kind == kind):
            message = f"{function.name} does not take {sort_of(term.kind)} for {name}"
            self.source.fail(at, message, hint=f"{name} is {kind}")
        if not isinstance(kind, Numeric):
            return term.tree
        if kind.unit and term.unit:
            if conversion(term.unit, kind.unit) is None:
                message = f"{function.name} takes {name} in {kind.unit}, not in {term.unit}"
                self.source.fail(at, message)
            term = self.numbers.in_unit(term, kind.unit, whole=isinstance(kind, IntType))
        if isinstance(kind, IntType) and not term.is_whole:
            self.source.fail(at, f"{function.name} takes a whole number for {name}", hint=f"{name} is {kind}")
        fitted = self.fitted(term, kind)
        value = self.numbers.known(fitted)
        if value is not None and not kind.low <= value <= kind.high:
            self.source.fail(at, f"{value:g} is out of range for {name}", hint=f"{name} is {kind}")
        cut = self.clamped(fitted, kind)
        if cut is not fitted:
            always: Tree = Literal(True)
            when = reduce(lambda one, two: Binary(Operator.AND, one, two), self.under, always)
            self.arguments.append(Argument(function.name, name, fitted, kind, when))
        return cut

    def fitted(self, term: TypedTree, kind: IntType | FloatType) -> Tree:
        """Return a number as a fraction where `kind` is one, of 32 bits where `kind` has them."""
        if isinstance(kind, IntType):
            return term.tree
        return self.numbers.as_fraction(self.numbers.in_single(term) if kind.single else term).tree

    def clamped(self, tree: Tree, kind: IntType | FloatType) -> Tree:
        """Return a number kept within the range of `kind`, where it may leave it."""
        if isinstance(kind, FloatType) and kind.open:
            return tree
        (low, high), at = range_of(tree, self.numbers.scope.constants), tree.at
        end = float if isinstance(kind, FloatType) else int
        if high > kind.high:
            tree = Call("min", (Literal(end(kind.high)), tree), at)
        if low < kind.low:
            tree = Call("max", (Literal(end(kind.low)), tree), at)
        return tree
