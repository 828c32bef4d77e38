"""Numbers made to go together: in one unit, of one width; and what operators make of them.

A number that is written in the expression, or a constant, follows the others: it is computed anew, exactly.
Anything else is multiplied, or rounded by a call of `single`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from posewright.charts.expression.scope import Scope
from posewright.charts.expression.source import Source
from posewright.charts.expression.tree import (
    Binary,
    Call,
    If,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    cases_of,
    chain_of,
    range_of,
)
from posewright.charts.types import (
    INT_HIGH,
    INT_LOW,
    SINGLE_MAX,
    BoolType,
    FloatType,
    IntType,
    Numeric,
    Type,
    conversion,
    exactly,
    to_single,
    unit_of,
)


class TypedTree(NamedTuple):
    """A typed tree; `loose` where its value comes from literals and constants only, if maybe by a choice."""

    tree: Tree
    kind: Type
    loose: bool = False

    @property
    def unit(self) -> str | None:
        """The unit of a number that has one."""
        return self.kind.unit if isinstance(self.kind, IntType | FloatType) else None

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number."""
        return isinstance(self.kind, IntType)

    @property
    def is_single(self) -> bool:
        """Whether it is a fraction of 32 bits."""
        return isinstance(self.kind, FloatType) and self.kind.single


Pair = tuple[TypedTree, TypedTree]


def number_kind(terms: Sequence[TypedTree], *, single: bool, unit: str | None) -> Type:
    """Return the type of a number that is made of others: whole where all are."""
    if all(term.is_whole for term in terms):
        return IntType(unit=unit)
    return FloatType(single=single, unit=unit)


def sort_of(kind: Type) -> str:
    """Return what messages call a type: its range does not matter there."""
    if isinstance(kind, BoolType):
        return "a truth value"
    return "a number" if isinstance(kind, Numeric) else "a name"


EXTREMES = frozenset({"abs", "min", "max"})
SINGLE_WHOLE = 2**24
"""Up to here every whole number is one of 32 bits."""


class Numbers:
    """Makes the numbers of one expression go together."""

    def __init__(self, scope: Scope, source: Source) -> None:
        self.scope = scope
        self.source = source

    def alike(self, terms: Sequence[TypedTree], at: int, what: str) -> tuple[list[TypedTree], str | None]:
        """Return the terms in one unit, and the unit; numbers without one stay as they are.

        Args:
            terms: literals and constants follow the others, else all follow the first.
            at: where a mistake is shown.
            what: begins its message, as in "`<` compares".
        """
        measured = [term for term in terms if term.unit]
        if not measured:
            return list(terms), None
        unit = next((term for term in measured if not term.loose), measured[0]).unit or ""
        for term in measured:
            if conversion(term.unit or "", unit) is None:
                one, other = (unit, term.unit or "") if measured[0].unit == unit else (term.unit or "", unit)
                self.source.fail(at, f"{what} {one} with {other}", hint=difference(one, other))
        whole = any(term.is_whole and not term.loose for term in terms)
        return [self.in_unit(term, unit, whole=whole) for term in terms], unit

    def in_unit(self, term: TypedTree, unit: str, *, whole: bool = False) -> TypedTree:
        """Return a number in another unit of its dimension; one without a unit as it is.

        Args:
            term: the number.
            unit: the unit it is wanted in.
            whole: a fraction that is written there becomes whole where that is exact: 0.35 m is 35 cm.
        """
        factor = conversion(term.unit, unit) if term.unit else None
        if factor is None or term.unit == unit:
            return term
        value = self.known(term.tree)
        if value is not None:
            exact = exactly(value) * factor
            if exact.denominator == 1 and (term.is_whole or whole) and INT_LOW <= exact <= INT_HIGH:
                return TypedTree(Literal(int(exact), term.tree.at), IntType(unit=unit), term.loose)
        kind: IntType | FloatType = FloatType(single=term.is_single, unit=unit)
        if term.is_whole and factor.denominator == 1:
            kind = IntType(unit=unit)
        tree = self.pushed(
            term.tree,
            lambda node, value: self._scaled(node, value, factor, kind),
            lambda node: self._times(node, factor, kind),
        )
        return TypedTree(tree, kind, term.loose)

    def _scaled(self, node: Tree, value: float, factor: Fraction, kind: IntType | FloatType) -> Tree:
        exact = exactly(value) * factor
        if isinstance(kind, IntType):
            return Literal(min(max(int(exact), INT_LOW), INT_HIGH), node.at)
        if abs(exact) > (SINGLE_MAX if kind.single else sys.float_info.max):
            self.source.fail(node.at, "a number too large once its unit is converted")
        return Literal(to_single(float(exact)) if kind.single else float(exact), node.at)

    def _times(self, node: Tree, factor: Fraction, kind: IntType | FloatType) -> Tree:
        if isinstance(kind, IntType):
            return Binary(Operator.TIMES, node, Literal(int(factor)), node.at)
        if not kind.single:
            return Binary(Operator.TIMES, node, Literal(float(factor)), node.at)
        product = Binary(Operator.TIMES, node, Literal(to_single(float(factor))), node.at)
        return Call("single", (product,), node.at)

    def same_width(self, terms: Sequence[TypedTree]) -> tuple[list[TypedTree], bool]:
        """Return the terms, and whether their result has 32 bits: where no fraction but literals has more."""
        fractions = [term for term in terms if not term.is_whole]
        single = any(term.is_single for term in fractions)
        if not single or any(not (term.is_single or term.loose) for term in fractions):
            return list(terms), False
        return [self.in_single(term) for term in terms], True

    def in_single(self, term: TypedTree) -> TypedTree:
        """Return a number rounded to 32 bits; a whole one stays whole where it has as few."""
        if term.is_single or (term.is_whole and self._is_small(term.tree)):
            return term
        tree = self.pushed(term.tree, self._rounded, lambda node: Call("single", (node,), node.at))
        return TypedTree(tree, FloatType(single=True, unit=term.unit), term.loose)

    def _is_small(self, tree: Tree) -> bool:
        low, high = range_of(tree, self.scope.constants)
        return low >= -SINGLE_WHOLE and high <= SINGLE_WHOLE

    def _rounded(self, node: Tree, value: float) -> Tree:
        if abs(value) > SINGLE_MAX:
            self.source.fail(
                node.at, f"{value:g} is too large for 32 bits", hint="declare the other one as float"
            )
        near = to_single(value)
        return node if near == value and isinstance(value, float) else Literal(near, node.at)

    def as_fraction(self, term: TypedTree) -> TypedTree:
        """Return a whole number as a fraction of the same value; a fraction as it is."""
        if not term.is_whole:
            return term
        tree = self.pushed(
            term.tree,
            lambda node, value: Literal(float(value), node.at),
            lambda node: Binary(Operator.TIMES, node, Literal(1.0), node.at),
        )
        return TypedTree(tree, FloatType(unit=term.unit), term.loose)

    def known(self, tree: Tree) -> int | float | None:
        """Return the value of a literal, a constant, or one of these with a minus; else None."""
        if isinstance(tree, Unary) and tree.operator is Operator.MINUS:
            operand = self.known(tree.operand)
            return None if operand is None else -operand
        named = self.scope.constants.get(tree.name) if isinstance(tree, Name) else None
        value = tree.value if isinstance(tree, Literal) else named
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def pushed(self, tree: Tree, known: Callable[[Tree, float], Tree], other: Callable[[Tree], Tree]) -> Tree:
        """Return a tree with `known` done to its literals and constants, `other` to all that is not one.

        What is done keeps the order of numbers, so that it may be done behind a minus, and within a choice.
        """
        if isinstance(tree, If):
            cases, rest = cases_of(tree)
            done = [(condition, self.pushed(then, known, other)) for condition, then in cases]
            return chain_of(done, self.pushed(rest, known, other))
        if isinstance(tree, Unary):
            return replace(tree, operand=self.pushed(tree.operand, known, other))
        if isinstance(tree, Call) and tree.function in EXTREMES:
            parts = tuple(self.pushed(part, known, other) for part in tree.arguments)
            return replace(tree, arguments=parts)
        value = self.known(tree)
        return other(tree) if value is None else known(tree, value)


def difference(one: str, other: str) -> str:
    """Return why two units do not mix."""
    return f"{one} measures {unit_of(one).dimension}, {other} {unit_of(other).dimension}"


def compared(numbers: Numbers, tree: Binary, left: TypedTree, right: TypedTree) -> Pair:
    """Return numbers to be compared: in one unit, and what is written there of the width of what it meets.

    Two that vary are compared as they are: every number of 32 bits, whole or not, is also one of 64.
    """
    alike, _ = numbers.alike((left, right), tree.at, f"`{tree.operator}` compares")
    matched, _ = numbers.same_width(alike)
    left, right = (new if old.loose else old for old, new in zip(alike, matched, strict=True))
    return left, right


def joined(numbers: Numbers, tree: Binary, left: TypedTree, right: TypedTree) -> TypedTree:
    """Return the result of an arithmetic operator."""
    left, right, unit = _measured(numbers, tree, left, right)
    (left, right), single = numbers.same_width((left, right))
    kind = number_kind((left, right), single=single, unit=unit)
    if tree.operator is Operator.OVER:
        kind = FloatType(single=single, unit=unit)
    found: Tree = Binary(tree.operator, left.tree, right.tree, tree.at)
    return TypedTree(Call("single", (found,), tree.at) if single else found, kind, left.loose and right.loose)


def _measured(numbers: Numbers, tree: Binary, left: TypedTree, right: TypedTree) -> tuple[*Pair, str | None]:
    """Return both sides and the unit of the result.

    What is added has one unit. A product or a quotient has one where it merely scales a number that has
    one; of two lengths, the quotient is taken in one unit, and is a plain number.
    """
    if tree.operator is Operator.TIMES:
        return left, right, None if left.unit and right.unit else left.unit or right.unit
    ratio = tree.operator is Operator.OVER
    if ratio and not (left.unit and right.unit and conversion(left.unit, right.unit)):
        return left, right, None if right.unit else left.unit
    (left, right), unit = numbers.alike((left, right), tree.at, f"`{tree.operator}` mixes")
    return left, right, None if ratio else unit


def chosen(numbers: Numbers, tree: If, condition: TypedTree, then: TypedTree, other: TypedTree) -> TypedTree:
    """Return the choice between two numbers."""
    (then, other), unit = numbers.alike((then, other), tree.at, "`if` mixes")
    (then, other), single = numbers.same_width((then, other))
    kind = number_kind((then, other), single=single, unit=unit)
    if isinstance(kind, FloatType):
        then, other = numbers.as_fraction(then), numbers.as_fraction(other)
    return TypedTree(If(condition.tree, then.tree, other.tree, tree.at), kind, then.loose and other.loose)


def called(numbers: Numbers, tree: Call, terms: Sequence[TypedTree]) -> TypedTree:
    """Return what `abs`, `min`, `max` or `single` makes of numbers."""
    terms, unit = numbers.alike(terms, tree.at, f"`{tree.function}` mixes")
    if tree.function == "single":
        kind = FloatType(single=True, unit=unit)
        return terms[0] if terms[0].is_single else TypedTree(Call("single", (terms[0].tree,), tree.at), kind)
    terms, single = numbers.same_width(terms)
    parts = tuple(term.tree for term in terms)
    kind_of_all = number_kind(terms, single=single, unit=unit)
    return TypedTree(Call(tree.function, parts, tree.at), kind_of_all, all(term.loose for term in terms))
