"""Claims: what a question asks of an expression, as a term to be proved and as what is seen in a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from posewright.charts.expression import Expression
from posewright.charts.proof.term import Term
from posewright.charts.proof.translation import Translator
from posewright.charts.types import Value
from posewright.errors import ExpressionError


class Claim(Protocol):
    """Something that may be so in one case and not in another, as computing it there shows."""

    @property
    def names(self) -> frozenset[str]:
        """The names that it is about."""
        ...

    def seen(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case, by computing the expression there."""
        ...

    def term(self, translator: Translator) -> Term:
        """Return the truth value that it is so."""
        ...


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
    """A truth value is computed and is `wanted`."""

    wanted: bool = True

    def term(self, translator: Translator) -> Term:
        """Return the truth value that it is so."""
        terms, (value, failing, _) = translator.terms, translator.meaning(self.expression)
        return terms.every((terms.negation(failing), value if self.wanted else terms.negation(value)))

    def seen(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case."""
        return compute(self.expression, case) is self.wanted


@dataclass(frozen=True)
class Fails(OfOne):
    """Computing it divides by zero."""

    def term(self, translator: Translator) -> Term:
        """Return the truth value that it is so."""
        return translator.meaning(self.expression).failing

    def seen(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case."""
        return compute(self.expression, case) is FAILED


@dataclass(frozen=True)
class Outside(OfOne):
    """A number is computed and is not between two ends, both of them inside."""

    low: float
    high: float

    def term(self, translator: Translator) -> Term:
        """Return the truth value that it is so."""
        terms, (value, failing, _) = translator.terms, translator.meaning(self.expression)
        low, high = terms.number(self.low), terms.number(self.high)
        inside = terms.every((terms.at_most(low, value), terms.at_most(value, high)))
        return terms.negation(terms.some((failing, inside)))

    def seen(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is so in a case."""
        value = compute(self.expression, case)
        return value is not FAILED and not self.low <= value <= self.high
