"""Claims about an expression: as a term for the prover, and by evaluating the expression in a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from posewright.charts.expression import Binary, Call, Expression, Operator, Tree, Unary, children
from posewright.charts.proof.operations import ArithmeticOperation
from posewright.charts.proof.terms import SmtSort, SmtTerm
from posewright.charts.proof.translation import Translator
from posewright.charts.types import INT_HIGH, INT_LOW, BoolType, Value
from posewright.errors import ExpressionError


class ProofClaim(Protocol):
    """A claim that is true in some cases and false in others."""

    @property
    def names(self) -> frozenset[str]:
        """The names that it reads."""

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether it is true in a case, by evaluating the expression."""

    def build_term(self, translator: Translator) -> SmtTerm:
        """Return the term that is true in exactly the cases in which the claim is true."""


def compute_value(expression: Expression, case: Mapping[str, Value]) -> Value | None:
    """Return the value of an expression in a case, None if it divides by zero."""
    try:
        value: Value = expression.evaluate(case)
    except ExpressionError:
        return None
    return value


@dataclass(frozen=True)
class ExpressionClaim:
    """Base class of claims about one expression."""

    expression: Expression

    @property
    def names(self) -> frozenset[str]:
        """The names that the expression reads."""
        return self.expression.names


@dataclass(frozen=True)
class Holds(ExpressionClaim):
    """The condition can be evaluated, and its value is `expected`."""

    expected: bool = True

    def build_term(self, translator: Translator) -> SmtTerm:
        """Return the term that is true in exactly the cases in which the claim is true."""
        factory = translator.term_factory
        root = translator.translate_root(self.expression)
        value = root.value if self.expected else factory.negation(root.value)
        return factory.conjunction((factory.negation(root.fails), value))

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether the claim is true in a case."""
        return compute_value(self.expression, case) is self.expected


@dataclass(frozen=True)
class Fails(ExpressionClaim):
    """Evaluating the expression divides by zero."""

    def build_term(self, translator: Translator) -> SmtTerm:
        """Return the term that is true in exactly the cases in which the claim is true."""
        return translator.translate_root(self.expression).fails

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether the claim is true in a case."""
        return compute_value(self.expression, case) is None


@dataclass(frozen=True)
class OutOfRange(ExpressionClaim):
    """The value of a number is outside a range; both bounds are inside."""

    low: float
    high: float

    def build_term(self, translator: Translator) -> SmtTerm:
        """Return the term that is true in exactly the cases in which the claim is true."""
        factory = translator.term_factory
        root = translator.translate_root(self.expression)
        low = factory.number(self.low)
        high = factory.number(self.high)
        is_inside = factory.conjunction((factory.at_most(low, root.value), factory.at_most(root.value, high)))
        return factory.negation(factory.disjunction((root.fails, is_inside)))

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether the claim is true in a case."""
        value = compute_value(self.expression, case)
        return isinstance(value, int | float) and not self.low <= value <= self.high


@dataclass(frozen=True)
class OperationClaim(ExpressionClaim):
    """Base class of claims about one operation within an expression."""

    operation: ArithmeticOperation

    def _compute_part_value(self, tree: Tree, case: Mapping[str, Value]) -> Value | None:
        """Return the value of a part of the expression in a case, None if it divides by zero."""
        # the type, whatever it is, makes no difference to the value
        part = Expression(tree, BoolType(), self.expression.source, self.expression.constant_values)
        return compute_value(part, case)

    def _build_reached_term(self, translator: Translator) -> SmtTerm:
        """Return the term that is true where the operation is evaluated.

        Each part before it must not divide by zero, and must have the value, if any, without which `and`,
        `or` or `if` would skip the operation.
        """
        factory = translator.term_factory
        translated_nodes = translator.translate_nodes(self.expression)
        conditions = []
        for step in self.operation.steps_before:
            node = translated_nodes[id(step.tree)]
            conditions.append(factory.negation(node.fails))
            if step.required_value is not None:
                conditions.append(node.value if step.required_value else factory.negation(node.value))
        return factory.conjunction(conditions)

    def _is_reached(self, case: Mapping[str, Value]) -> bool:
        """Return whether the operation is evaluated in a case."""
        for step in self.operation.steps_before:
            value = self._compute_part_value(step.tree, case)
            divides_by_zero = value is None
            has_other_value = step.required_value is not None and value is not step.required_value
            if divides_by_zero or has_other_value:
                return False
        return True

    def _compute_operands(self, case: Mapping[str, Value]) -> list[Value | None]:
        """Return the values of the operation's operands in a case; None for one that divides by zero."""
        return [self._compute_part_value(operand, case) for operand in children(self.operation.tree)]


@dataclass(frozen=True)
class DividesByZero(OperationClaim):
    """The division is evaluated, and its divisor is zero."""

    def build_term(self, translator: Translator) -> SmtTerm:
        """Return the term that is true in exactly the cases in which the claim is true."""
        factory = translator.term_factory
        translated_nodes = translator.translate_nodes(self.expression)
        dividend, divisor = (translated_nodes[id(operand)] for operand in children(self.operation.tree))
        divisor_is_zero = factory.equal(divisor.value, factory.number(0))
        operand_fails = factory.disjunction((dividend.fails, divisor.fails))
        is_reached = self._build_reached_term(translator)
        return factory.conjunction((is_reached, factory.negation(operand_fails), divisor_is_zero))

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether the claim is true in a case."""
        if not self._is_reached(case) or compute_value(self.expression, case) is not None:
            return False
        dividend, divisor = self._compute_operands(case)
        return dividend is not None and divisor is not None and divisor == 0


@dataclass(frozen=True)
class Saturates(OperationClaim):
    """The operation yields an integer of more than 32 bits, and nothing divides by zero."""

    def build_term(self, translator: Translator) -> SmtTerm:
        """Return the term that is true in exactly the cases in which the claim is true."""
        factory = translator.term_factory
        translated_nodes = translator.translate_nodes(self.expression)
        result = translated_nodes[id(self.operation.tree)].unsaturated  # before it is clamped to 32 bits
        if result.sort is not SmtSort.INTEGER:
            return factory.false
        is_too_low = factory.less(result, factory.number(INT_LOW))
        is_too_high = factory.less(factory.number(INT_HIGH), result)
        expression_fails = translator.translate_root(self.expression).fails
        return factory.conjunction(
            (
                self._build_reached_term(translator),
                factory.negation(expression_fails),
                factory.disjunction((is_too_low, is_too_high)),
            )
        )

    def holds_in(self, case: Mapping[str, Value]) -> bool:
        """Return whether the claim is true in a case."""
        if not self._is_reached(case) or compute_value(self.expression, case) is None:
            return False
        operands = [operand for operand in self._compute_operands(case) if isinstance(operand, int | float)]
        result = _compute_unsaturated(self.operation.tree, operands)
        return type(result) is int and not INT_LOW <= result <= INT_HIGH


def _compute_unsaturated(operation: Tree, operands: list[float]) -> float:
    """Return the result of an operation before it is clamped to 32 bits.

    It is 0, in place of the result, for operations that cannot leave 32 bits.
    """
    if isinstance(operation, Call):
        return abs(operands[0]) if operation.function == "abs" else 0
    if isinstance(operation, Unary):
        return -operands[0]
    if not isinstance(operation, Binary):
        return 0
    left, right = operands
    if operation.operator is Operator.PLUS:
        return left + right
    if operation.operator is Operator.MINUS:
        return left - right
    return left * right if operation.operator is Operator.TIMES else 0
