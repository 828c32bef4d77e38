"""Faults in expressions: what was parsed is changed, and typed again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from posewright.charts.expression import (
    Binary,
    Call,
    Expression,
    Literal,
    Name,
    Operator,
    Scope,
    Source,
    Timed,
    Tree,
    Unary,
    nodes_of,
    parse,
    parse_expression,
    rewritten,
    text_of,
    typecheck,
)
from posewright.charts.mutation.fault import Fault, Sort
from posewright.charts.mutation.tree_faults import TIMED, tree_faults
from posewright.charts.types import BoolType, EnumType, IntType, Type
from posewright.errors import ExpressionError


def expression_faults(
    expression: Expression, scope: Scope, wanted: Type, period_s: float
) -> Iterator[Fault[Expression]]:
    """Yield an expression with every single fault with which it is still one, each once.

    Args:
        expression: a guard, or a value that is set.
        scope: the names that it may use.
        wanted: the type of what it is for.
        period_s: of the chart: how much a time is changed by [s].
    """
    tree = _parsed(expression, scope, wanted)
    asks = isinstance(wanted, BoolType)
    met = {expression.tree}
    for fault in (
        *tree_faults(tree, scope, asks=asks),
        *_timed(tree, scope, expression.source, period_s),
        *_whole(tree, wanted, scope),
    ):
        found = _typed(fault.value, expression, scope, wanted)
        if found is not None and (meant := rewritten(found.tree, _plainly)) not in met:
            met.add(meant)
            yield Fault(fault.sort, fault.what, expression.source.where.line, found)


def retyped(expression: Expression, scope: Scope, wanted: Type) -> Expression:
    """Return an expression as it reads in another scope."""
    return parse_expression(expression.source, scope, wanted)


def _parsed(expression: Expression, scope: Scope, wanted: Type) -> Tree:
    """Return the tree as it was written; the typed one where the text does not say it."""
    try:
        tree = parse(expression.source)
        typed, _kind = typecheck(tree, scope, expression.source, wanted)
    except ExpressionError:
        return expression.tree
    return tree if typed == expression.tree else expression.tree


def _typed(tree: Tree, expression: Expression, scope: Scope, wanted: Type) -> Expression | None:
    """Return a tree as an expression, None where it does not type."""
    source = Source(text_of(tree), expression.source.where)
    if any(isinstance(node, Timed) for node in nodes_of(tree)):  # it was typed before
        return Expression(tree, expression.type, source, expression.fixed)
    try:
        return parse_expression(source, scope, wanted)
    except ExpressionError:
        return None


def _plainly(tree: Tree) -> Tree | None:
    """Return what is denied twice as what it says."""
    if isinstance(tree, Unary) and tree.operator is Operator.NOT:
        inner = tree.operand
        if isinstance(inner, Unary) and inner.operator is Operator.NOT:
            return rewritten(inner.operand, _plainly)
    return None


def _timed(tree: Tree, scope: Scope, source: Source, period_s: float) -> Iterator[Fault[Tree]]:
    """Yield a tree in which a time is one tick longer, or shorter."""
    for node in nodes_of(tree):
        if not isinstance(node, Timed) and not (isinstance(node, Call) and node.function in TIMED):
            continue
        typed = node if isinstance(node, Timed) else typecheck(node, scope, source, BoolType())[0]
        for step in (period_s, -period_s):
            time = round(typed.seconds + step, 9) if isinstance(typed, Timed) else 0.0
            if time > 0:
                changed = _lasting(node, time)
                what = f"`{text_of(node)}` becomes `{text_of(changed)}`"
                yield Fault(Sort.TIME, what, None, _replaced(tree, node, changed))


def _lasting(node: Timed | Call, seconds: float) -> Tree:
    """Return a question of time, as parsed or as typed, that waits for another time."""
    if isinstance(node, Timed):
        return Timed(node.timing, seconds, node.condition, node.at)
    return replace(node, arguments=(*node.arguments[:-1], Literal(seconds, unit="s")))


def _replaced(tree: Tree, node: Tree, other: Tree) -> Tree:
    return rewritten(tree, lambda one: other if one is node else None)


def _whole(tree: Tree, wanted: Type, scope: Scope) -> Iterator[Fault[Tree]]:
    """Yield a condition turned round, or another value in place of one that is computed."""
    if isinstance(wanted, BoolType):
        if not isinstance(tree, Literal):
            what = f"`{text_of(tree)}` becomes `not ({text_of(tree)})`"
            yield Fault(Sort.NEGATION, what, None, Unary(Operator.NOT, tree, tree.at))
    elif isinstance(wanted, EnumType):
        yield from _names(tree, wanted)
    elif not _is_constant(tree, scope):
        step = Literal(1 if isinstance(wanted, IntType) else 1.0)
        more = Binary(Operator.PLUS, tree, step)
        yield Fault(Sort.VALUE, f"`{text_of(tree)}` becomes `{text_of(more)}`", None, more)


def _names(tree: Tree, wanted: EnumType) -> Iterator[Fault[Tree]]:
    """Yield a name in place of a value that is computed."""
    if isinstance(tree, Name) and tree.name in wanted.values:
        return
    for name in wanted.values[:2]:
        yield Fault(Sort.VALUE, f"`{text_of(tree)}` becomes `{name}`", None, Name(name))


def _is_constant(tree: Tree, scope: Scope) -> bool:
    return isinstance(tree, Literal) or (isinstance(tree, Name) and tree.name in scope.constants)
