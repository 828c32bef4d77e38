"""What becomes of typed numbers that are compared, joined, chosen from, or handed to a function."""

from __future__ import annotations

from collections.abc import Sequence

from posewright.charts.expression.numbers import Numbers
from posewright.charts.expression.terms import Term, number_kind
from posewright.charts.expression.tree import Binary, Call, If, Operator, Tree
from posewright.charts.types import FloatType, conversion


def compared(numbers: Numbers, tree: Binary, left: Term, right: Term) -> tuple[Term, Term]:
    """Return numbers to be compared: in one unit, and what is written there of the width of what it meets.

    Two that vary are compared as they are: every number of 32 bits, whole or not, is also one of 64.
    """
    alike, _ = numbers.alike((left, right), tree.at, f"`{tree.operator}` compares")
    matched, _ = numbers.same_width(alike)
    left, right = (new if old.loose else old for old, new in zip(alike, matched, strict=True))
    return left, right


def joined(numbers: Numbers, tree: Binary, left: Term, right: Term) -> Term:
    """Return the result of an arithmetic operator."""
    left, right, unit = _measured(numbers, tree, left, right)
    (left, right), single = numbers.same_width((left, right))
    kind = number_kind((left, right), single=single, unit=unit)
    if tree.operator is Operator.OVER:
        kind = FloatType(single=single, unit=unit)
    found: Tree = Binary(tree.operator, left.tree, right.tree, tree.at)
    return Term(Call("single", (found,), tree.at) if single else found, kind, left.loose and right.loose)


def _measured(numbers: Numbers, tree: Binary, left: Term, right: Term) -> tuple[Term, Term, str | None]:
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


def chosen(numbers: Numbers, tree: If, condition: Term, then: Term, other: Term) -> Term:
    """Return the choice between two numbers."""
    (then, other), unit = numbers.alike((then, other), tree.at, "`if` mixes")
    (then, other), single = numbers.same_width((then, other))
    kind = number_kind((then, other), single=single, unit=unit)
    if isinstance(kind, FloatType):
        then, other = numbers.as_fraction(then), numbers.as_fraction(other)
    return Term(If(condition.tree, then.tree, other.tree, tree.at), kind, then.loose and other.loose)


def called(numbers: Numbers, tree: Call, terms: Sequence[Term]) -> Term:
    """Return what `abs`, `min`, `max` or `single` makes of numbers."""
    terms, unit = numbers.alike(terms, tree.at, f"`{tree.function}` mixes")
    if tree.function == "single":
        kind = FloatType(single=True, unit=unit)
        return terms[0] if terms[0].is_single else Term(Call("single", (terms[0].tree,), tree.at), kind)
    terms, single = numbers.same_width(terms)
    parts = tuple(term.tree for term in terms)
    kind_of_all = number_kind(terms, single=single, unit=unit)
    return Term(Call(tree.function, parts, tree.at), kind_of_all, all(term.loose for term in terms))
