"""Calls of truth tables: each becomes a chain of conditions, so that nobody later knows of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

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
            name: self.argument(function, name, term, kind, part.at).tree
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
        """Return where a row fits, and what it gives."""
        when, give = substituted(row.when.tree, given), substituted(row.give.tree, given)
        self.count((when, give), function, tree)
        return when, self.kept(TypedTree(give, row.give.type), function.gives).tree

    def argument(self, function: Function, name: str, term: TypedTree, kind: Type, at: int) -> TypedTree:
        """Return an argument as the parameter `name` takes it: in its unit, of its width, in its range."""
        if not _of_one_sort(term.kind, kind):
            message = f"{function.name} does not take {sort_of(term.kind)} for {name}"
            self.source.fail(at, message, hint=f"{name} is {kind}")
        if not isinstance(kind, Numeric):
            return term
        if kind.unit and term.unit:
            if conversion(term.unit, kind.unit) is None:
                message = f"{function.name} takes {name} in {kind.unit}, not in {term.unit}"
                self.source.fail(at, message)
            term = self.numbers.in_unit(term, kind.unit, whole=isinstance(kind, IntType))
        if isinstance(kind, IntType) and not term.is_whole:
            self.source.fail(at, f"{function.name} takes a whole number for {name}", hint=f"{name} is {kind}")
        value = self.numbers.known(self.fitted(term, kind).tree)
        if value is not None and not kind.low <= value <= kind.high:
            self.source.fail(at, f"{value:g} is out of range for {name}", hint=f"{name} is {kind}")
        fitted = self.fitted(term, kind)
        cut = self.clamped(fitted, kind)
        if cut.tree is not fitted.tree:
            always: Tree = Literal(True)
            when = reduce(lambda one, two: Binary(Operator.AND, one, two), self.under, always)
            self.arguments.append(Argument(function.name, name, fitted.tree, kind, when))
        return cut

    def kept(self, term: TypedTree, kind: Type) -> TypedTree:
        """Return a value as one of `kind`: numbers follow its width and its range."""
        return self.clamped(self.fitted(term, kind), kind) if isinstance(kind, Numeric) else term

    def fitted(self, term: TypedTree, kind: Type) -> TypedTree:
        """Return a number as a fraction where `kind` is one, of 32 bits where `kind` has them."""
        if not isinstance(kind, FloatType):
            return term
        return self.numbers.as_fraction(self.numbers.in_single(term) if kind.single else term)

    def clamped(self, term: TypedTree, kind: Type) -> TypedTree:
        """Return a number kept within the range of `kind`, where it may leave it."""
        if not isinstance(kind, Numeric) or (isinstance(kind, FloatType) and kind.open):
            return term
        low, high = range_of(term.tree, self.numbers.scope.constants)
        tree, at = term.tree, term.tree.at
        end = float if isinstance(kind, FloatType) else int
        if high > kind.high:
            tree = Call("min", (Literal(end(kind.high)), tree), at)
        if low < kind.low:
            tree = Call("max", (Literal(end(kind.low)), tree), at)
        return term._replace(tree=tree)

    def count(self, parts: Sequence[Tree], function: Function, tree: Call) -> None:
        """Fail where calls have made the expression too large."""
        for part in parts:
            for _ in nodes_of(part):
                self.nodes += 1
                if self.nodes > MAX_NODES:
                    message = f"more than {MAX_NODES} parts once {function.name} is put in"
                    self.source.fail(tree.at, message, hint="keep what it gives in a local, and use that")


def substituted(tree: Tree, given: Mapping[str, Tree]) -> Tree:
    """Return a tree with names replaced by other trees."""
    return rewritten(tree, lambda node: given.get(node.name) if isinstance(node, Name) else None)


def _of_one_sort(found: Type, wanted: Type) -> bool:
    if isinstance(wanted, Numeric):
        return isinstance(found, Numeric)
    return found == wanted
