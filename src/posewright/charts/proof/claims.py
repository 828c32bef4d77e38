"""Claims: what a question asks of an expression, as a term to be proved and as what is seen in a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from posewright.charts.expression import Binary, Call, Expression, Operator, Tree, Unary, children
from posewright.charts.proof.places import ArithmeticPlace
from posewright.charts.proof.terms import SmtSort, SmtTerm
from posewright.charts.proof.translation import Translator
from posewright.charts.types import INT_HIGH, INT_LOW, BoolType, Value
from posewright.errors import ExpressionError


class ProofClaim(Protocol):
    """Something that may be so in one case and not in another, as computing it there shows."""

    @property
    def names(self) -> frozenset[str]:
        """The names that it is about."""

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case, by computing the expression there."""

    def term(self, translator: Translator) -> SmtTerm:
        """Return the truth value that it is so."""


FAILED = object()
"""What computing comes to where it divides by zero."""


def compute(expression: Expression, case: Mapping[str, Value]) -> Any:
    """Return the value of an expression in a case, FAILED where that divides by zero."""
    try:
        return expression.evaluate(case)
    except ExpressionError:
        return FAILED


@dataclass(frozen=True)
class OfOne:
    """What claims about one expression have in common."""

    expression: Expression

    @property
    def names(self) -> frozenset[str]:
        """The names that the expression reads."""
        return self.expression.names


@dataclass(frozen=True)
class Holds(OfOne):
    """A truth value is computed and is `expected`."""

    expected: bool = True

    def term(self, translator: Translator) -> SmtTerm:
        """Return the truth value that it is so."""
        terms, (value, failing, _) = translator.terms, translator.meaning(self.expression)
        return terms.every((terms.negation(failing), value if self.expected else terms.negation(value)))

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case."""
        return compute(self.expression, case) is self.expected


@dataclass(frozen=True)
class Fails(OfOne):
    """Computing it divides by zero."""

    def term(self, translator: Translator) -> SmtTerm:
        """Return the truth value that it is so."""
        return translator.meaning(self.expression).failing

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case."""
        return compute(self.expression, case) is FAILED


@dataclass(frozen=True)
class OutOfRange(OfOne):
    """A number is computed and is not between two ends, both of them inside."""

    low: float
    high: float

    def term(self, translator: Translator) -> SmtTerm:
        """Return the truth value that it is so."""
        terms, (value, failing, _) = translator.terms, translator.meaning(self.expression)
        low, high = terms.number(self.low), terms.number(self.high)
        inside = terms.every((terms.at_most(low, value), terms.at_most(value, high)))
        return terms.negation(terms.some((failing, inside)))

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case."""
        value = compute(self.expression, case)
        return value is not FAILED and not self.low <= value <= self.high


@dataclass(frozen=True)
class _AtPlace(OfOne):
    """Something at one place of an expression, which is reached."""

    place: ArithmeticPlace

    def computed(self, tree: Tree, case: Mapping[str, Value]) -> Any:
        """Return what a part of the expression comes to in a case."""
        part = Expression(tree, BoolType(), self.expression.source, self.expression.fixed)
        return compute(part, case)

    def reached(self, translator: Translator) -> SmtTerm:
        """Return the truth value that the place is reached."""
        terms, nodes = translator.terms, translator.translate(self.expression)
        found = []
        for tree, wanted in self.place.steps:
            value, failing, _ = nodes[id(tree)]
            found.append(terms.negation(failing))
            if wanted is not None:
                found.append(value if wanted else terms.negation(value))
        return terms.every(found)

    def seen_reached(self, case: Mapping[str, Value]) -> bool:
        """Return whether the place is reached in a case."""
        for tree, wanted in self.place.steps:
            value = self.computed(tree, case)
            if value is FAILED or (wanted is not None and value is not wanted):
                return False
        return True

    def operands(self, case: Mapping[str, Value]) -> list[Any]:
        """Return what the operands of the place are in a case."""
        return [self.computed(child, case) for child in children(self.place.node)]


@dataclass(frozen=True)
class DividesByZero(_AtPlace):
    """The division at the place, which must be one, is reached, and its divisor is zero."""

    def term(self, translator: Translator) -> SmtTerm:
        """Return the truth value that it is so."""
        terms, nodes = translator.terms, translator.translate(self.expression)
        top, bottom = (nodes[id(child)] for child in children(self.place.node))
        zero = terms.equal(bottom.value, terms.number(0))
        failing = terms.some((top.failing, bottom.failing))
        return terms.every((self.reached(translator), terms.negation(failing), zero))

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case."""
        if not self.seen_reached(case) or compute(self.expression, case) is not FAILED:
            return False
        top, bottom = self.operands(case)
        return top is not FAILED and bottom is not FAILED and bottom == 0


def _exactly(node: Tree, values: list[Any]) -> Any:
    """Return the value of a node whose operands have these, without a bound."""
    if isinstance(node, Call):
        return abs(values[0]) if node.function == "abs" else 0
    if isinstance(node, Unary):
        return -values[0]
    if not isinstance(node, Binary):
        return 0
    if node.operator is Operator.PLUS:
        return values[0] + values[1]
    if node.operator is Operator.MINUS:
        return values[0] - values[1]
    return values[0] * values[1] if node.operator is Operator.TIMES else 0


@dataclass(frozen=True)
class Saturates(_AtPlace):
    """What is computed at the place is a whole number of more than 32 bits; nothing divides by zero."""

    def term(self, translator: Translator) -> SmtTerm:
        """Return the truth value that it is so."""
        terms, nodes = translator.terms, translator.translate(self.expression)
        exact = nodes[id(self.place.node)].exact
        if exact.sort is not SmtSort.WHOLE:
            return terms.false
        low, high = terms.less(exact, terms.number(INT_LOW)), terms.less(terms.number(INT_HIGH), exact)
        failing = translator.meaning(self.expression).failing
        return terms.every((self.reached(translator), terms.negation(failing), terms.some((low, high))))

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case."""
        if not self.seen_reached(case) or compute(self.expression, case) is FAILED:
            return False
        exact = _exactly(self.place.node, self.operands(case))
        return type(exact) is int and not INT_LOW <= exact <= INT_HIGH
