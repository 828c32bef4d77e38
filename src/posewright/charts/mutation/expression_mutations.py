"""Mutations of expressions: small mistakes that people make, applied to the syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from posewright.charts.expression import (
    COMPARISONS,
    LOGIC,
    Binary,
    Call,
    Expression,
    If,
    Literal,
    Name,
    Operator,
    Scope,
    SourceText,
    TemporalCondition,
    TemporalOperator,
    Tree,
    Unary,
    children,
    format_tree,
    nodes_of,
    parse,
    parse_expression,
    rewrite,
    typecheck,
    with_children,
)
from posewright.charts.mutation.mutation import ExpressionChange, Mutation, MutationKind
from posewright.charts.types import BoolType, EnumType, IntType, Type, Value
from posewright.errors import ExpressionError

TEMPORAL_FUNCTIONS = frozenset(operator.value for operator in TemporalOperator)
"""Functions of time, as they are parsed."""

TIME_DECIMALS = 9
"""Decimals to which times are rounded: to nanoseconds."""

CONFUSED_OPERATORS = {
    Operator.LESS: (Operator.LESS_EQUAL, Operator.UNEQUAL),
    Operator.LESS_EQUAL: (Operator.LESS, Operator.EQUAL),
    Operator.GREATER: (Operator.GREATER_EQUAL, Operator.UNEQUAL),
    Operator.GREATER_EQUAL: (Operator.GREATER, Operator.EQUAL),
    Operator.EQUAL: (Operator.UNEQUAL, Operator.LESS_EQUAL, Operator.GREATER_EQUAL),
    Operator.UNEQUAL: (Operator.EQUAL, Operator.LESS, Operator.GREATER),
    Operator.AND: (Operator.OR,),
    Operator.OR: (Operator.AND,),
    Operator.PLUS: (Operator.MINUS,),
    Operator.MINUS: (Operator.PLUS,),
}
"""The operators that each operator is confused with."""


def mutate_expression(
    expression: Expression, scope: Scope, result_type: Type, period_s: float
) -> Iterator[Mutation[Expression]]:
    """Yield every mutation of an expression that is still valid, each only once.

    A mutation is a copy with one mistake: another operator or constant, a condition negated or left out, a
    time that is one tick longer or shorter.

    Args:
        expression: a guard, or a value that is assigned.
        scope: names that it may use.
        result_type: type of the variable or condition that it is for.
        period_s: the sample period of the chart, by which times are changed [s].
    """
    tree = _parse_as_written(expression, scope, result_type)
    yielded_trees = {expression.tree}  # simplified, so that two negations cancel out
    for mutation in (
        *_mutate_tree(tree, scope, is_condition=isinstance(result_type, BoolType)),
        *_mutate_times(tree, scope, expression.source, period_s),
        *_mutate_result(tree, result_type, scope),
    ):
        mutated = _build_expression(mutation.mutated_part, expression, scope, result_type)
        if mutated is None:
            continue
        simplified_tree = rewrite(mutated.tree, _remove_double_negation)
        if simplified_tree in yielded_trees:
            continue
        yielded_trees.add(simplified_tree)
        change = ExpressionChange(expression, mutated, result_type, scope.variables)
        line = expression.source.where.line
        yield Mutation(mutation.kind, mutation.description, line, mutated_part=mutated, change=change)


def _parse_as_written(expression: Expression, scope: Scope, result_type: Type) -> Tree:
    """Return the tree of an expression as written, without what type checking adds to it.

    Where the source text does not give the same expression again, as for an expression that was built by a
    program, the result is the typed tree.
    """
    try:
        tree = parse(expression.source)
        typed_tree, _type = typecheck(tree, scope, expression.source, target=result_type)
    except ExpressionError:
        return expression.tree
    return tree if typed_tree == expression.tree else expression.tree


def _build_expression(tree: Tree, original: Expression, scope: Scope, result_type: Type) -> Expression | None:
    """Return a mutated tree as an expression, None if its types do not match.

    Args:
        tree: the mutated tree.
        original: the expression before the mutation.
        scope: the names that the expression may use.
        result_type: type of the variable or condition that it is for.
    """
    source = SourceText(format_tree(tree), original.source.where)
    has_temporal_condition = any(isinstance(node, TemporalCondition) for node in nodes_of(tree))
    if has_temporal_condition:  # such nodes come from type checking, so this tree has its types already
        return Expression(tree, original.type, source, original.constant_values)
    try:
        return parse_expression(source, scope, result_type)
    except ExpressionError:
        return None


def _remove_double_negation(tree: Tree) -> Tree | None:
    """Return the operand of a double negation; None for other trees."""
    if isinstance(tree, Unary) and tree.operator is Operator.NOT:
        operand = tree.operand
        if isinstance(operand, Unary) and operand.operator is Operator.NOT:
            return rewrite(operand.operand, _remove_double_negation)
    return None


def _replacement(kind: MutationKind, before: Tree, after: Tree, root: Tree | None = None) -> Mutation[Tree]:
    """Return the mutation that puts one tree in the place of another, with a description of the two.

    Args:
        kind: the kind of the mutation.
        before: the original tree.
        after: the tree in its place.
        root: the changed tree that contains `after`; None if `after` is the whole tree.
    """
    description = f"`{format_tree(before)}` becomes `{format_tree(after)}`"
    return Mutation(kind, description, line=None, mutated_part=root or after)


# Mutations anywhere in a tree


def _mutate_tree(tree: Tree, scope: Scope, *, is_condition: bool) -> Iterator[Mutation[Tree]]:
    """Yield every mutation of a tree, then those of its operands.

    The results are not type checked; in some, types do not match.

    Args:
        tree: the tree as parsed.
        scope: declarations of the names that it uses.
        is_condition: whether it is a condition.
    """
    if is_condition:
        yield from _replace_condition(tree)
    if isinstance(tree, Unary) and tree.operator is Operator.NOT:
        yield _replacement(MutationKind.NEGATION, tree, tree.operand)
    if isinstance(tree, Binary):
        for operator in CONFUSED_OPERATORS.get(tree.operator, ()):
            yield _replacement(_kind_of(operator), tree, replace(tree, operator=operator))
    if isinstance(tree, Literal | Name):
        for constant in _neighbouring_constants(tree, scope):
            yield _replacement(MutationKind.CONSTANT, tree, constant)
    operands = list(children(tree))
    has_time = isinstance(tree, Call) and tree.function in TEMPORAL_FUNCTIONS
    n_mutable = len(operands) - 1 if has_time else len(operands)  # `_mutate_times` changes the time, the last
    condition_flags = _which_operands_are_conditions(tree, is_condition=is_condition)
    for i, operand_is_condition in enumerate(condition_flags[:n_mutable]):
        for mutation in _mutate_tree(operands[i], scope, is_condition=operand_is_condition):
            mutated_operands = [*operands[:i], mutation.mutated_part, *operands[i + 1 :]]
            yield mutation.with_mutated_part(with_children(tree, mutated_operands))


def _replace_condition(tree: Tree) -> Iterator[Mutation[Tree]]:
    """Yield the mutations of a condition into true, into false, and into its negation.

    There are none of `true` and `false`, and of `and`, `or`, `not` and `if`, whose operands are replaced
    instead. A comparison is not negated, since another operator does the same.
    """
    is_logical = isinstance(tree, Unary | Binary) and tree.operator in {*LOGIC, Operator.NOT}
    if is_logical or isinstance(tree, Literal | If):
        return
    for value in (True, False):
        yield _replacement(MutationKind.CONDITION, tree, Literal(value, tree.offset))
    if not isinstance(tree, Binary):
        yield _replacement(MutationKind.NEGATION, tree, Unary(Operator.NOT, tree, tree.offset))


def _kind_of(operator: Operator) -> MutationKind:
    """Return the kind of a mutation that puts in this operator."""
    if operator in LOGIC:
        return MutationKind.LOGIC
    return MutationKind.COMPARISON if operator in COMPARISONS else MutationKind.ARITHMETIC


def _neighbouring_constants(tree: Literal | Name, scope: Scope) -> Iterator[Tree]:
    """Yield constants near another: of an enumeration, the next value; of a number, one on each side.

    Args:
        tree: a literal or a name; a name that is no constant has none near it.
        scope: the constants, and the values of enumerations.
    """
    if isinstance(tree, Name) and tree.name not in scope.constants:
        enum_values = scope.enum_of_value[tree.name].values if tree.name in scope.enum_of_value else ()
        if len(enum_values) > 1:
            next_index = (enum_values.index(tree.name) + 1) % len(enum_values)
            yield Name(enum_values[next_index], tree.offset)
        return
    if isinstance(tree, Literal):
        value = tree.value
        unit = tree.unit
    else:
        value = scope.constants[tree.name]
        unit = scope.units.get(tree.name)
    for neighbour in neighbouring_values(value):
        yield Literal(neighbour, tree.offset, unit)


def neighbouring_values(value: Value) -> Iterator[Value]:
    """Yield the values next to a constant: numbers differ by one in the last digit that was written."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        text = repr(value).removesuffix(".0")
        if "e" in text:  # written with an exponent: 10 % more or less
            yield from (value * 1.1, value * 0.9)
        else:
            _integer, _point, decimals = text.partition(".")
            n_decimals = len(decimals)
            last_digit = 10.0**-n_decimals
            for change in (last_digit, -last_digit):
                yield round(value + change, n_decimals)


def _which_operands_are_conditions(tree: Tree, *, is_condition: bool) -> tuple[bool, ...]:
    """Return for each operand of a tree whether it is a condition.

    Args:
        tree: the tree.
        is_condition: whether the tree itself is a condition; then so are the values of an `if`.
    """
    if isinstance(tree, If):
        return True, is_condition, is_condition
    if isinstance(tree, Call) and tree.function == "held":
        return True, False  # a condition and a time
    is_logical = isinstance(tree, Unary | Binary) and tree.operator in {*LOGIC, Operator.NOT}
    return (is_logical,) * len(children(tree))


# Mutations of times, and of a whole expression


def _mutate_times(tree: Tree, scope: Scope, source: SourceText, period_s: float) -> Iterator[Mutation[Tree]]:
    """Yield a tree in which a time is one tick longer, or one tick shorter.

    Args:
        tree: the tree, typed or only parsed.
        scope: names that it uses.
        source: its text.
        period_s: the duration of a tick [s].
    """
    for node in nodes_of(tree):
        if isinstance(node, TemporalCondition):
            typed_node: Tree = node
        elif isinstance(node, Call) and node.function in TEMPORAL_FUNCTIONS:
            typed_node, _type = typecheck(node, scope, source, target=BoolType())
        else:
            continue
        if not isinstance(typed_node, TemporalCondition):  # for mypy: the node's function is a temporal one
            continue
        for change_s in (period_s, -period_s):
            seconds = round(typed_node.seconds + change_s, TIME_DECIMALS)
            if seconds > 0:
                replacement = _with_seconds(node, seconds)
                root = _replace_node(tree, node, replacement)
                yield _replacement(MutationKind.TIME, before=node, after=replacement, root=root)


def _replace_node(tree: Tree, node: Tree, replacement: Tree) -> Tree:
    """Return a tree in which one node is replaced."""
    return rewrite(tree, lambda candidate: replacement if candidate is node else None)


def _with_seconds(node: TemporalCondition | Call, seconds: float) -> Tree:
    """Return a temporal condition, typed or only parsed, with another time [s]."""
    if isinstance(node, TemporalCondition):
        return replace(node, seconds=seconds)
    return replace(node, arguments=(*node.arguments[:-1], Literal(seconds, unit="s")))


def _mutate_result(tree: Tree, result_type: Type, scope: Scope) -> Iterator[Mutation[Tree]]:
    """Yield mutations of a whole expression: the negation of a condition, or another value.

    Of an enumeration it becomes each of the first two values in turn, a number is increased by one. Literals
    and constants are left to `_mutate_tree`.

    Args:
        tree: the tree of the expression.
        result_type: type of the variable or condition that it is for.
        scope: the names that it uses.
    """
    if isinstance(result_type, BoolType):
        if not isinstance(tree, Literal):
            description = f"`{format_tree(tree)}` becomes `not ({format_tree(tree)})`"
            negation = Unary(Operator.NOT, tree, tree.offset)
            yield Mutation(MutationKind.NEGATION, description, line=None, mutated_part=negation)
    elif isinstance(result_type, EnumType):
        if not (isinstance(tree, Name) and tree.name in result_type.values):
            for name in result_type.values[:2]:
                yield _replacement(MutationKind.VALUE, tree, Name(name))
    elif not isinstance(tree, Literal) and not (isinstance(tree, Name) and tree.name in scope.constants):
        increment = Literal(1 if isinstance(result_type, IntType) else 1.0)
        yield _replacement(MutationKind.VALUE, tree, Binary(Operator.PLUS, tree, increment))
