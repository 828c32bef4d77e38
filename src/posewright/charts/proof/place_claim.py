"""Claims about one place of an expression: a division by zero, a number that needs more than 32 bits."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from posewright.charts.expression import Binary, Call, Expression, Operator, Tree, Unary, children
from posewright.charts.proof.claim import FAILED, OfOne, compute
from posewright.charts.proof.place import Place
from posewright.charts.proof.term import Sort, Term
from posewright.charts.proof.translation import Translator
from posewright.charts.types import INT_HIGH, INT_LOW, BoolType, Value


@dataclass(frozen=True)
class _AtPlace(OfOne):
    """Something at one place of an expression, which is reached."""

    place: Place

    def part(self, tree: Tree) -> Expression:
        """Return a part of the expression as one of its own."""
        return Expression(tree, BoolType(), self.expression.source, self.expression.fixed)

    def reached(self, translator: Translator) -> Term:
        """Return the truth value that the place is reached."""
        terms, nodes = translator.terms, translator.translate(self.expression).nodes
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
            value = compute(self.part(tree), case)
            if value is FAILED or (wanted is not None and value is not wanted):
                return False
        return True

    def operands(self, case: Mapping[str, Value]) -> list[Any]:
        """Return what the operands of the place are in a case."""
        return [compute(self.part(child), case) for child in children(self.place.node)]


@dataclass(frozen=True)
class DividesByZero(_AtPlace):
    """The division at the place, which must be one, is reached, and its divisor is zero."""

    def term(self, translator: Translator) -> Term:
        """Return the truth value that it is so."""
        terms, nodes = translator.terms, translator.translate(self.expression).nodes
        top, bottom = (nodes[id(child)] for child in children(self.place.node))
        zero = terms.equal(bottom.value, terms.number(0))
        failing = terms.some((top.failing, bottom.failing))
        return terms.every((self.reached(translator), terms.negation(failing), zero))

    def seen(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case."""
        if not self.seen_reached(case) or compute(self.expression, case) is not FAILED:
            return False
        top, bottom = self.operands(case)
        return top is not FAILED and bottom is not FAILED and bottom == 0


_EXACT: dict[Operator, Callable[..., Any]] = {
    Operator.PLUS: operator.add,
    Operator.MINUS: operator.sub,
    Operator.TIMES: operator.mul,
}


def _exactly(node: Tree, values: list[Any]) -> Any:
    """Return the value of a node whose operands have these, without a bound."""
    if isinstance(node, Call):
        return abs(values[0]) if node.function == "abs" else 0
    if isinstance(node, Unary):
        return -values[0]
    return _EXACT[node.operator](*values) if isinstance(node, Binary) and node.operator in _EXACT else 0


@dataclass(frozen=True)
class Saturates(_AtPlace):
    """What is computed at the place is a whole number of more than 32 bits; nothing divides by zero."""

    def term(self, translator: Translator) -> Term:
        """Return the truth value that it is so."""
        terms, nodes = translator.terms, translator.translate(self.expression).nodes
        exact = nodes[id(self.place.node)].exact
        if exact.sort is not Sort.WHOLE:
            return terms.false
        low, high = terms.less(exact, terms.number(INT_LOW)), terms.less(terms.number(INT_HIGH), exact)
        failing = translator.meaning(self.expression).failing
        return terms.every((self.reached(translator), terms.negation(failing), terms.some((low, high))))

    def seen(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case."""
        if not self.seen_reached(case) or compute(self.expression, case) is FAILED:
            return False
        exact = _exactly(self.place.node, self.operands(case))
        return type(exact) is int and not INT_LOW <= exact <= INT_HIGH
