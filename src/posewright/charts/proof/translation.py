"""Translation of expressions to SMT terms: their value, and where evaluating them divides by zero."""

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

MAX_CACHED = 20_000
"""Translated expressions in the cache; a full cache is cleared to bound its memory."""


class TranslatedNode(NamedTuple):
    """The terms of one node of an expression.

    Attributes:
        value: the value of the node; it has no meaning if the node fails.
        fails: the condition under which evaluating the node divides by zero.
        unsaturated: for integers, the value before saturation; else `value`.
    """

    value: SmtTerm
    fails: SmtTerm
    unsaturated: SmtTerm


class Translator:
    """Translates expressions over names of known types.

    Attributes:
        types: the types of every name that is not a constant of the expression itself.
        term_factory: makes the terms.
    """

    def __init__(self, types: Mapping[str, Type]) -> None:
        self.types = types
        self.term_factory = TermFactory()
        # the expression is stored so that its id stays valid
        self._cache: dict[int, tuple[Expression, dict[int, TranslatedNode]]] = {}

    def translate_nodes(self, expression: Expression) -> Mapping[int, TranslatedNode]:
        """Return the terms of every node of an expression, by the node's identity (`id`).

        Raises:
            InputError: it depends on time or on states, which only a lowered chart has registers for.
            UnknownNameError: it reads a name that is neither a constant nor has a type.
        """
        if id(expression) not in self._cache:
            if len(self._cache) >= MAX_CACHED:
                self._cache.clear()
            node_by_id: dict[int, TranslatedNode] = {}
            self._cache[id(expression)] = expression, node_by_id
            _TreeTranslator(self, node_by_id, expression.constant_values).translate(expression.tree)
        _expression, nodes_of_expression = self._cache[id(expression)]
        return nodes_of_expression

    def translate_root(self, expression: Expression) -> TranslatedNode:
        """Return the terms of a whole expression: its value, and when it divides by zero.

        Raises:
            InputError: it depends on time or on states, which only a lowered chart has registers for.
            UnknownNameError: it reads a name that is neither a constant nor has a type.
        """
        return self.translate_nodes(expression)[id(expression.tree)]


class _TreeTranslator:
    """Translates the tree of one expression.

    Attributes:
        translator: has the types of all names that are not constants.
        term_factory: makes the terms.
        node_by_id: receives the terms of every node of the tree, by the node's identity (`id`).
        constant_values: the values of the constants in the expression.
    """

    def __init__(
        self,
        translator: Translator,
        node_by_id: dict[int, TranslatedNode],
        constant_values: Mapping[str, Value],
    ) -> None:
        """Prepare the translation of one tree.

        Args:
            translator: has the types of all names that are not constants.
            node_by_id: receives the terms of every node of the tree, by the node's identity (`id`).
            constant_values: the values of the constants in the expression, by name.
        """
        self.translator = translator
        self.term_factory = translator.term_factory
        self.node_by_id = node_by_id
        self.constant_values = constant_values

    def translate(self, tree: Tree) -> TranslatedNode:
        """Return the terms of a node; each node is translated only once."""
        if id(tree) not in self.node_by_id:
            self.node_by_id[id(tree)] = self._translate_new(tree)
        return self.node_by_id[id(tree)]

    def _translate_new(self, tree: Tree) -> TranslatedNode:
        """Translate a node that was not translated before."""
        if isinstance(tree, Literal):
            return self._build_safe_node(self.term_factory.constant(tree.value))
        if isinstance(tree, Name):
            return self._build_safe_node(self._translate_name(tree.name))
        if isinstance(tree, Unary):
            return self._translate_unary(tree)
        if isinstance(tree, Binary):
            return self._translate_binary(tree)
        if isinstance(tree, Call):
            return self._translate_call(tree)
        if isinstance(tree, If):
            return self._translate_if_chain(tree)
        raise InputError(
            "an expression that depends on time or on states has no register for that",
            hint="lower the chart first",
        )

    def _build_safe_node(self, value: SmtTerm) -> TranslatedNode:
        """Return the terms of a node whose evaluation cannot fail."""
        return TranslatedNode(value, fails=self.term_factory.false, unsaturated=value)

    def _translate_name(self, name: str) -> SmtTerm:
        """Return the term of a name: a constant or a variable."""
        if name in self.constant_values:
            return self.term_factory.constant(self.constant_values[name])
        if name not in self.translator.types:
            raise UnknownNameError.among("name", name, self.translator.types)
        return self.term_factory.variable(name, self.translator.types[name])

    def _build_number_node(self, unsaturated: SmtTerm, fails: SmtTerm) -> TranslatedNode:
        """Return the terms of a number, which saturates if it is an integer."""
        return TranslatedNode(self.term_factory.saturate(unsaturated), fails, unsaturated)

    def _translate_unary(self, tree: Unary) -> TranslatedNode:
        """Translate `not` or a negation; it fails where its operand fails."""
        operand = self.translate(tree.operand)
        if tree.operator is Operator.NOT:
            negation = self.term_factory.negation(operand.value)
            return TranslatedNode(negation, operand.fails, unsaturated=negation)
        return self._build_number_node(self.term_factory.negate(operand.value), operand.fails)

    def _translate_binary(self, tree: Binary) -> TranslatedNode:
        """Translate a binary operation; it fails where one of its operands fails."""
        left = self.translate(tree.left)
        right = self.translate(tree.right)
        if tree.operator in LOGIC:
            return self._translate_logic(tree.operator, left, right)
        operand_fails = self.term_factory.disjunction((left.fails, right.fails))
        if tree.operator in ARITHMETIC:
            return self._translate_arithmetic(tree.operator, left.value, right.value, operand_fails)
        build_comparison = self._comparisons[tree.operator]
        value = build_comparison(left.value, right.value)
        return TranslatedNode(value, operand_fails, unsaturated=value)

    def _translate_logic(
        self, operator: Operator, left: TranslatedNode, right: TranslatedNode
    ) -> TranslatedNode:
        """Return the terms of `and` or `or`; the right side is evaluated only if the left does not decide.

        Args:
            operator: AND or OR.
            left: the terms of the left side.
            right: the terms of the right side.
        """
        factory = self.term_factory
        if operator is Operator.AND:
            value = factory.conjunction((left.value, right.value))
            right_is_evaluated = left.value
        else:
            value = factory.disjunction((left.value, right.value))
            right_is_evaluated = factory.negation(left.value)
        right_fails = factory.conjunction((right_is_evaluated, right.fails))
        fails = factory.disjunction((left.fails, right_fails))
        return TranslatedNode(value, fails, unsaturated=value)

    @property
    def _comparisons(self) -> Mapping[Operator, Callable[[SmtTerm, SmtTerm], SmtTerm]]:
        """The functions that build the term of a comparison, by operator."""
        factory = self.term_factory
        return {
            Operator.LESS: factory.less,
            Operator.LESS_EQUAL: factory.at_most,
            Operator.GREATER: lambda left, right: factory.less(right, left),
            Operator.GREATER_EQUAL: lambda left, right: factory.at_most(right, left),
            Operator.EQUAL: factory.equal,
            Operator.UNEQUAL: lambda left, right: factory.negation(factory.equal(left, right)),
        }

    def _translate_arithmetic(
        self, operator: Operator, left: SmtTerm, right: SmtTerm, operand_fails: SmtTerm
    ) -> TranslatedNode:
        """Return the terms of an arithmetic operation, which fails where the divisor of a division is zero.

        Args:
            operator: the operator.
            left: the value of the left operand.
            right: the value of the right operand.
            operand_fails: the condition under which evaluating an operand divides by zero.
        """
        factory = self.term_factory
        fails = operand_fails
        if operator in (Operator.OVER, Operator.MODULO):
            zero = factory.number(0 if right.sort is SmtSort.INTEGER else 0.0)
            fails = factory.disjunction((operand_fails, factory.equal(right, zero)))
        if operator is Operator.OVER:
            left = factory.to_float(left)
            right = factory.to_float(right)
        return self._build_number_node(factory.arithmetic(operator, left, right), fails)

    def _translate_call(self, tree: Call) -> TranslatedNode:
        """Translate a call of abs, single, min or max; it fails where an argument divides by zero."""
        factory = self.term_factory
        arguments = [self.translate(argument) for argument in tree.arguments]
        argument_fails = factory.disjunction(argument.fails for argument in arguments)
        values = [argument.value for argument in arguments]
        if tree.function == "abs":
            value = factory.absolute(values[0])
        elif tree.function == "single":
            value = factory.to_single(values[0])
        else:
            value = factory.extreme(SmtOp.MIN if tree.function == "min" else SmtOp.MAX, values)
        return self._build_number_node(value, argument_fails)

    def _translate_if_chain(self, tree: If) -> TranslatedNode:
        """Return the terms of a chain of `if`s, without recursion, since that of a truth table is long.

        The terms are built from the last case to the first.
        """
        cases, default = split_cases(tree)
        value, fails, _unsaturated = self.translate(default)
        translated_cases = [
            (self.translate(condition), self.translate(case_value)) for condition, case_value in cases
        ]
        for condition, case in reversed(translated_cases):
            value = self.term_factory.if_then_else(condition.value, case.value, value)
            branch_fails = self.term_factory.if_then_else(condition.value, case.fails, fails)
            fails = self.term_factory.disjunction((condition.fails, branch_fails))
        return TranslatedNode(value, fails, unsaturated=value)
