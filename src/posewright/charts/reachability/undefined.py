"""Terms that may be infinite, or not a number: a register that is given such a term holds something else."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.charts.expression import Binary, Call, Expression, If, Literal, Operator, Tree
from posewright.charts.proof import Translator
from posewright.charts.types import FloatType, IntType, Type


def is_defined(tree: Tree) -> Tree:
    """Return the condition that a term is a number: nothing else differs from itself."""
    return Binary(Operator.EQUAL, tree, tree)


def may_be_undefined(expression: Expression, types: Mapping[str, Type]) -> bool:
    """Return whether some term of an expression may be not a number, as far as the types tell."""
    nodes = Translator(types).translate(expression).nodes
    return any(meaning.value.interval.nan for meaning in nodes.values())


def may_overflow(expression: Expression, types: Mapping[str, Type]) -> bool:
    """Return whether an expression as a whole may be infinite, or not a number."""
    return not Translator(types).meaning(expression).value.interval.finite


def held(kind: Type, expression: Expression, types: Mapping[str, Type]) -> Tree:
    """Return a term as a register of that type holds it.

    Args:
        kind: of the register.
        expression: the term.
        types: of all names that it reads.
    """
    tree = expression.tree
    if isinstance(tree, Literal):
        return Literal(kind.fit(tree.value))  # type: ignore[arg-type]  # of the kind's own sort
    if isinstance(kind, FloatType):
        number = Expression(tree, kind, expression.source, expression.fixed)
        cut = not kind.open or may_overflow(number, types)
        nearest = _between(tree, kind.low, kind.high) if cut else tree
        nearest = Call("single", (nearest,)) if kind.single else nearest
        if not may_be_undefined(number, types):
            return nearest
        return If(is_defined(tree), nearest, Literal(kind.zero))
    return _between(tree, kind.low, kind.high) if isinstance(kind, IntType) else tree


def _between(tree: Tree, low: float, high: float) -> Tree:
    return Call("max", (Call("min", (tree, Literal(high))), Literal(low)))
