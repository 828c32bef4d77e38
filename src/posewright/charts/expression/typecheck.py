"""Types of expressions: truth and numbers do not mix, and every name is known."""

from __future__ import annotations

import difflib

from posewright.charts.datatypes import BoolType, EnumType, FloatType, IntType, Numeric, Type, type_of
from posewright.charts.expression.scope import Scope
from posewright.charts.expression.source import Source
from posewright.charts.expression.tree import (
    ARITHMETIC,
    LOGIC,
    ORDER,
    Binary,
    Call,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
)


def typecheck(tree: Tree, scope: Scope, source: Source) -> Type:
    """Return the type of an expression.

    Raises:
        ExpressionError: an unknown name, or an operator between types that do not go together.
    """
    return _Checker(scope, source).check(tree)


def sort_of(kind: Type) -> str:
    """Return what messages call a type: its range does not matter there."""
    if isinstance(kind, BoolType):
        return "a truth value"
    return "a number" if isinstance(kind, Numeric) else "a name"


class _Checker:
    def __init__(self, scope: Scope, source: Source) -> None:
        self.scope = scope
        self.source = source

    def check(self, tree: Tree) -> Type:
        if isinstance(tree, Literal):
            return type_of(tree.value)
        if isinstance(tree, Name):
            return self.name(tree)
        if isinstance(tree, Unary):
            return self.unary(tree)
        if isinstance(tree, Binary):
            return self.binary(tree)
        return self.call(tree)

    def name(self, tree: Name) -> Type:
        kind = self.scope.type_of(tree.name)
        if kind is None:
            near = difflib.get_close_matches(tree.name, self.scope.names, n=2)
            known = ", ".join(self.scope.names[:12])
            hint = f"did you mean {' or '.join(near)}?" if near else f"there is {known or 'no name at all'}"
            self.source.fail(tree.at, f"no input, output or constant is called {tree.name!r}", hint=hint)
        return kind

    def unary(self, tree: Unary) -> Type:
        if tree.operator is Operator.NOT:
            self.truth(tree.operand, "not")
            return BoolType()
        return self.number(tree.operand, "-")

    def binary(self, tree: Binary) -> Type:
        operator = tree.operator
        if operator in LOGIC:
            self.truth(tree.left, str(operator))
            self.truth(tree.right, str(operator))
            return BoolType()
        if operator in ARITHMETIC:
            sides = self.number(tree.left, str(operator)), self.number(tree.right, str(operator))
            return FloatType() if operator is Operator.OVER else _wider(*sides)
        if operator in ORDER:
            self.number(tree.left, str(operator))
            self.number(tree.right, str(operator))
        else:
            self.same(tree)
        return BoolType()

    def call(self, tree: Call) -> Type:
        kinds = [self.number(argument, tree.function) for argument in tree.arguments]
        return _wider(*kinds)

    def truth(self, tree: Tree, operator: str) -> None:
        kind = self.check(tree)
        if not isinstance(kind, BoolType):
            hint = "compare it, as in x > 0" if isinstance(kind, Numeric) else "compare it with =="
            self.source.fail(tree.at, f"`{operator}` needs a truth value, not {sort_of(kind)}", hint=hint)

    def number(self, tree: Tree, operator: str) -> Type:
        kind = self.check(tree)
        if not isinstance(kind, Numeric):
            hint = "join truth values with and, or, not" if isinstance(kind, BoolType) else None
            self.source.fail(tree.at, f"`{operator}` needs a number, not {sort_of(kind)}", hint=hint)
        return kind

    def same(self, tree: Binary) -> None:
        left, right = self.check(tree.left), self.check(tree.right)
        numbers = isinstance(left, Numeric) and isinstance(right, Numeric)
        if numbers or left == right:
            return
        if isinstance(left, EnumType) and isinstance(right, EnumType):
            hint = f"the one is {left}, the other {right}"
        elif isinstance(left, BoolType) or isinstance(right, BoolType):
            hint = "a truth value stands for itself: write x or not x"
        else:
            hint = None
        message = f"`{tree.operator}` compares {sort_of(left)} with {sort_of(right)}"
        self.source.fail(tree.at, message, hint=hint)


def _wider(*kinds: Type) -> Type:
    return IntType() if all(isinstance(kind, IntType) for kind in kinds) else FloatType()
