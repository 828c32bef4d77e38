"""Expressions to terms: what an expression's value is, and where computing it divides by zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from posewright.charts.expression import (
    ARITHMETIC,
    LOGIC,
    Binary,
    Call,
    Expression,
    If,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    split_cases,
)
from posewright.charts.proof.terms import SmtOp, SmtSort, SmtTerm, TermFactory
from posewright.charts.types import Type, Value
from posewright.errors import InputError, UnknownNameError

KEPT = 20_000
"""Expressions whose terms are remembered; then all are forgotten, so a long walk does not fill the memory."""


class Meaning(NamedTuple):
    """What a node of an expression is.

    Attributes:
        failing: whether computing it divides by zero; then its value means nothing.
        exact: of whole numbers, the value before it is kept within 32 bits.
    """

    value: SmtTerm
    failing: SmtTerm
    exact: SmtTerm


class Translator:
    """Translates expressions over names of known types.

    Attributes:
        types: of every name that is not fixed by the expression itself.
    """

    def __init__(self, types: Mapping[str, Type]) -> None:
        self.types = types
        self.terms = TermFactory()
        self._known: dict[int, tuple[Expression, dict[int, Meaning]]] = {}

    def translate(self, expression: Expression) -> Mapping[int, Meaning]:
        """Return an expression in terms: every node of its tree, by its id.

        Raises:
            InputError: it asks for time, or for a state, and no name of a register stands for that.
            UnknownNameError: it reads a name that is neither fixed nor has a type.
        """
        if id(expression) not in self._known:
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[id(expression)] = expression, {}  # which keeps the expression, and so its id, alive
            _Walk(self, self._known[id(expression)][1], expression.fixed).meaning(expression.tree)
        return self._known[id(expression)][1]

    def meaning(self, expression: Expression) -> Meaning:
        """Return what an expression is as a whole."""
        return self.translate(expression)[id(expression.tree)]


class _Walk:
    def __init__(self, translator: Translator, found: dict[int, Meaning], fixed: Mapping[str, Value]) -> None:
        self.translator = translator
        self.terms = translator.terms
        self.found = found
        self.fixed = fixed

    def meaning(self, tree: Tree) -> Meaning:
        if id(tree) not in self.found:
            self.found[id(tree)] = self.build(tree)
        return self.found[id(tree)]

    def build(self, tree: Tree) -> Meaning:
        if isinstance(tree, Literal):
            return self.sure(self.terms.constant(tree.value))
        if isinstance(tree, Name):
            return self.sure(self.name(tree.name))
        if isinstance(tree, Unary):
            return self.unary(tree)
        if isinstance(tree, Binary):
            return self.binary(tree)
        if isinstance(tree, Call):
            return self.call(tree)
        if isinstance(tree, If):
            return self.chain(tree)
        raise InputError(
            "a question of time or of states that nothing was put in for", hint="lower the chart first"
        )

    def sure(self, value: SmtTerm) -> Meaning:
        return Meaning(value, self.terms.false, value)

    def name(self, name: str) -> SmtTerm:
        if name in self.fixed:
            return self.terms.constant(self.fixed[name])
        if name not in self.translator.types:
            raise UnknownNameError.among("name", name, self.translator.types)
        return self.terms.variable(name, self.translator.types[name])

    def kept(self, exact: SmtTerm, failing: SmtTerm) -> Meaning:
        """Return the meaning of a number that saturates, where it is a whole one."""
        return Meaning(self.terms.saturated(exact), failing, exact)

    def unary(self, tree: Unary) -> Meaning:
        inner = self.meaning(tree.operand)
        if tree.operator is Operator.NOT:
            negation = self.terms.negation(inner.value)
            return Meaning(negation, inner.failing, negation)
        return self.kept(self.terms.negative(inner.value), inner.failing)

    def binary(self, tree: Binary) -> Meaning:
        left, right = self.meaning(tree.left), self.meaning(tree.right)
        if tree.operator in LOGIC:
            return self.logic(tree.operator, left, right)
        failing = self.terms.some((left.failing, right.failing))
        if tree.operator in ARITHMETIC:
            return self.arithmetic(tree.operator, left.value, right.value, failing)
        value = self.comparisons[tree.operator](left.value, right.value)
        return Meaning(value, failing, value)

    def logic(self, sign: Operator, left: Meaning, right: Meaning) -> Meaning:
        terms = self.terms
        conjoined = sign is Operator.AND
        value = (terms.every if conjoined else terms.some)((left.value, right.value))
        asked = left.value if conjoined else terms.negation(left.value)
        failing = terms.some((left.failing, terms.every((asked, right.failing))))
        return Meaning(value, failing, value)

    @property
    def comparisons(self) -> Mapping[Operator, Callable[[SmtTerm, SmtTerm], SmtTerm]]:
        terms = self.terms
        return {
            Operator.LESS: terms.less,
            Operator.LESS_EQUAL: terms.at_most,
            Operator.GREATER: lambda left, right: terms.less(right, left),
            Operator.GREATER_EQUAL: lambda left, right: terms.at_most(right, left),
            Operator.EQUAL: terms.equal,
            Operator.UNEQUAL: lambda left, right: terms.negation(terms.equal(left, right)),
        }

    def arithmetic(self, sign: Operator, left: SmtTerm, right: SmtTerm, failing: SmtTerm) -> Meaning:
        terms = self.terms
        if sign in (Operator.OVER, Operator.MODULO):
            zero = terms.number(0 if right.sort is SmtSort.WHOLE else 0.0)
            failing = terms.some((failing, terms.equal(right, zero)))
        if sign is Operator.OVER:
            left, right = terms.fraction(left), terms.fraction(right)
        return self.kept(terms.joined(sign, left, right), failing)

    def call(self, tree: Call) -> Meaning:
        parts = [self.meaning(argument) for argument in tree.arguments]
        failing = self.terms.some(part.failing for part in parts)
        if tree.function == "abs":
            return self.kept(self.terms.absolute(parts[0].value), failing)
        if tree.function == "single":
            return self.kept(self.terms.single(parts[0].value), failing)
        op = SmtOp.LEAST if tree.function == "min" else SmtOp.GREATEST
        return self.kept(self.terms.extreme(op, [part.value for part in parts]), failing)

    def chain(self, tree: If) -> Meaning:
        """Return the meaning of a chain of choices, in a loop: one of a truth table is long."""
        cases, rest = split_cases(tree)
        value, failing, _ = self.meaning(rest)
        for condition, then in reversed([(self.meaning(c), self.meaning(t)) for c, t in cases]):
            value = self.terms.either(condition.value, then.value, value)
            inside = self.terms.either(condition.value, then.failing, failing)
            failing = self.terms.some((condition.failing, inside))
        return Meaning(value, failing, value)
