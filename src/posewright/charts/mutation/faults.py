"""Faults: small things that a person may get wrong; those of expressions are made in the parsed tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product
from math import prod
from typing import Any, Generic, NamedTuple, TypeVar

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
    is_timed,
    nodes_of,
    parse,
    parse_expression,
    rewrite,
    typecheck,
    with_children,
)
from posewright.charts.model import Chart
from posewright.charts.types import BoolType, EnumType, IntType, Type, Value
from posewright.errors import ExpressionError

T_co = TypeVar("T_co", covariant=True)
Whole = TypeVar("Whole", bound=Any)
Part = TypeVar("Part")


class FaultKind(Enum):
    """What was got wrong."""

    NEGATION = "condition turned round"
    LOGIC = "and, or"
    COMPARISON = "comparison"
    ARITHMETIC = "plus, minus"
    CONSTANT = "constant"
    CONDITION = "condition left out"
    VALUE = "value set"
    ACTION = "action left out"
    TARGET = "target"
    TRANSITION = "transition left out"
    ORDER = "order"
    TIME = "time"
    EVENT = "event"
    INITIAL = "where it begins"
    HISTORY = "history"
    ROW = "row left out"


class ExpressionChange(NamedTuple):
    """One expression in place of another.

    Attributes:
        wanted: the type of what both are for.
        variables: the types of the names that they may read.
    """

    before: Expression
    after: Expression
    wanted: Type
    variables: Mapping[str, Type]

    @property
    def makes_no_difference(self) -> bool:
        """Whether both come to the same for all that their names may hold, where that is few values."""
        if is_timed(self.before.tree) or is_timed(self.after.tree):
            return False
        names = sorted(self.before.names | self.after.names)
        axes = [_values(self.variables[name]) for name in names]
        if prod(len(axis) or MAX_COMBINATIONS + 1 for axis in axes) > MAX_COMBINATIONS:
            return False
        every = (dict(zip(names, values, strict=True)) for values in product(*axes))
        return all(self._value(self.before, env) == self._value(self.after, env) for env in every)

    def _value(self, expression: Expression, env: Mapping[str, Value]) -> Value | None:
        try:
            return self.wanted.clamp(expression.evaluate(env))
        except ExpressionError:
            return None


def _values(kind: Type) -> Sequence[Value]:
    """Return every value of a small type, none of a large one."""
    if isinstance(kind, BoolType):
        return (False, True)
    if isinstance(kind, EnumType):
        return kind.values
    small = isinstance(kind, IntType) and kind.high - kind.low < MAX_COMBINATIONS
    return range(kind.low, kind.high + 1) if small and isinstance(kind, IntType) else ()


@dataclass(frozen=True)
class Fault(Generic[T_co]):
    """Something with a fault in it.

    Attributes:
        what: what was changed, in words.
        value: what became of it.
        change: the expression in it that was changed, where it is one.
    """

    kind: FaultKind
    what: str
    line: int | None
    value: T_co
    change: ExpressionChange | None = None

    def of(self, value: Whole) -> Fault[Whole]:
        """Return the same fault, seen from what is around it."""
        return Fault(self.kind, self.what, self.line, value, self.change)


def in_field(whole: Whole, field: str, faults: Iterable[Fault[Any]]) -> Iterator[Fault[Whole]]:
    """Yield faults in a field of a dataclass as faults of the whole."""
    for fault in faults:
        yield fault.of(replace(whole, **{field: fault.value}))


def in_place(parts: tuple[Part, ...], number: int, faults: Iterable[Fault[Part]]) -> Iterator[Fault[Any]]:
    """Yield faults in one of several parts as faults of all of them."""
    for fault in faults:
        yield fault.of((*parts[:number], fault.value, *parts[number + 1 :]))


@dataclass(frozen=True, eq=False)
class Mutant:
    """A chart with one fault in it.

    Attributes:
        state: where the fault is; None: not in one state.
        change: the expression that is another one, where that is all the fault.
    """

    kind: FaultKind
    description: str
    line: int | None
    chart: Chart
    state: str | None = None
    change: ExpressionChange | None = None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line is not None else ""
        return f"{place}{self.description}"


MAX_COMBINATIONS = 4096
"""Combinations of values at which two expressions are compared."""

TIMED = frozenset(timing.value for timing in TemporalOperator)
"""Functions that ask for time, as they are parsed."""

NEIGHBOURS = {
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
"""What an operator is taken for by mistake."""


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
    met = {expression.tree}
    for fault in (
        *_in_tree(tree, scope, asks=isinstance(wanted, BoolType)),
        *_in_times(tree, scope, expression.source, period_s),
        *_in_whole(tree, wanted, scope),
    ):
        found = _typed(fault.value, expression, scope, wanted)
        if found is not None and (meant := rewrite(found.tree, _plainly)) not in met:
            met.add(meant)
            change = ExpressionChange(expression, found, wanted, scope.variables)
            yield Fault(fault.kind, fault.what, expression.source.where.line, found, change)


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
    source = SourceText(format_tree(tree), expression.source.where)
    if any(isinstance(node, TemporalCondition) for node in nodes_of(tree)):  # it was typed before
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
            return rewrite(inner.operand, _plainly)
    return None


def _changed(kind: FaultKind, before: Tree, after: Tree, whole: Tree | None = None) -> Fault[Tree]:
    """Return the fault of one tree written for another, in the whole around it where there is one."""
    return Fault(kind, f"`{format_tree(before)}` becomes `{format_tree(after)}`", None, whole or after)


# Somewhere in a tree


def _in_tree(tree: Tree, scope: Scope, *, asks: bool) -> Iterator[Fault[Tree]]:
    """Yield a tree with every single fault; some may not type any more.

    Args:
        tree: as parsed.
        scope: the names that it uses.
        asks: whether it is a condition.
    """
    if asks:
        yield from _as_condition(tree)
    if isinstance(tree, Unary) and tree.operator is Operator.NOT:
        yield _changed(FaultKind.NEGATION, tree, tree.operand)
    if isinstance(tree, Binary):
        for operator in NEIGHBOURS.get(tree.operator, ()):
            yield _changed(_kind_of(operator), tree, replace(tree, operator=operator))
    if isinstance(tree, Literal | Name):
        for other in _other_constants(tree, scope):
            yield _changed(FaultKind.CONSTANT, tree, other)
    parts = list(children(tree))
    asking = _asking(tree, asks)
    if isinstance(tree, Call) and tree.function in TIMED:
        asking = asking[:-1]  # the time itself is changed by whole ticks
    for i, inner in enumerate(asking):
        for fault in _in_tree(parts[i], scope, asks=inner):
            yield fault.of(with_children(tree, [*parts[:i], fault.value, *parts[i + 1 :]]))


def _as_condition(tree: Tree) -> Iterator[Fault[Tree]]:
    """Yield a condition that is left out: taken for true, and for false."""
    if isinstance(tree, Binary) and tree.operator in LOGIC:
        return
    if isinstance(tree, Literal | If) or (isinstance(tree, Unary) and tree.operator is Operator.NOT):
        return
    for value in (True, False):
        yield _changed(FaultKind.CONDITION, tree, Literal(value, tree.offset))
    if not isinstance(tree, Binary):
        yield _changed(FaultKind.NEGATION, tree, Unary(Operator.NOT, tree, tree.offset))


def _kind_of(operator: Operator) -> FaultKind:
    if operator in LOGIC:
        return FaultKind.LOGIC
    return FaultKind.COMPARISON if operator in COMPARISONS else FaultKind.ARITHMETIC


def _other_constants(tree: Literal | Name, scope: Scope) -> Iterator[Tree]:
    if isinstance(tree, Name) and tree.name not in scope.constants:
        names = scope.values[tree.name].values if tree.name in scope.values else ()
        if len(names) > 1:
            yield Name(names[(names.index(tree.name) + 1) % len(names)], tree.offset)
        return
    if isinstance(tree, Literal):
        value, unit = tree.value, tree.unit
    else:
        value, unit = scope.constants[tree.name], scope.units.get(tree.name)
    for changed in others_than(value):
        yield Literal(changed, tree.offset, unit)


def others_than(value: Value) -> Iterator[Value]:
    """Yield the values next to a constant: numbers differ by one in the last digit that was written."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        text = repr(value).removesuffix(".0")
        digits = len(text.partition(".")[2]) if "e" not in text else 0
        for step in (1, -1):
            yield round(value + step * 10.0**-digits, digits) if "e" not in text else value * (1 + step / 10)


def _asking(tree: Tree, asks: bool) -> tuple[bool, ...]:
    """Return which operands are conditions."""
    if isinstance(tree, If):
        return True, asks, asks
    logical = isinstance(tree, Unary | Binary) and tree.operator in {*LOGIC, Operator.NOT}
    if isinstance(tree, Call) and tree.function == "held":
        return True, False
    return (logical,) * len(children(tree))


# Of times, and of the whole


def _in_times(tree: Tree, scope: Scope, source: SourceText, period_s: float) -> Iterator[Fault[Tree]]:
    """Yield a tree in which a time is one tick longer, or shorter."""
    for node in nodes_of(tree):
        if not isinstance(node, TemporalCondition) and not (
            isinstance(node, Call) and node.function in TIMED
        ):
            continue
        typed = node if isinstance(node, TemporalCondition) else typecheck(node, scope, source, BoolType())[0]
        for step in (period_s, -period_s):
            time = round(typed.seconds + step, 9) if isinstance(typed, TemporalCondition) else 0.0
            if time > 0:
                other = _lasting(node, time)
                whole = rewrite(tree, lambda one, node=node, other=other: other if one is node else None)  # type: ignore[misc]
                yield _changed(FaultKind.TIME, node, other, whole)


def _lasting(node: TemporalCondition | Call, seconds: float) -> Tree:
    """Return a question of time, as parsed or as typed, that waits for another time."""
    if isinstance(node, TemporalCondition):
        return replace(node, seconds=seconds)
    return replace(node, arguments=(*node.arguments[:-1], Literal(seconds, unit="s")))


def _in_whole(tree: Tree, wanted: Type, scope: Scope) -> Iterator[Fault[Tree]]:
    """Yield a condition turned round, or another value in place of one that is computed."""
    if isinstance(wanted, BoolType):
        if not isinstance(tree, Literal):
            what = f"`{format_tree(tree)}` becomes `not ({format_tree(tree)})`"
            yield Fault(FaultKind.NEGATION, what, None, Unary(Operator.NOT, tree, tree.offset))
    elif isinstance(wanted, EnumType):
        if not (isinstance(tree, Name) and tree.name in wanted.values):
            for name in wanted.values[:2]:
                yield _changed(FaultKind.VALUE, tree, Name(name))
    elif not isinstance(tree, Literal) and not (isinstance(tree, Name) and tree.name in scope.constants):
        step = Literal(1 if isinstance(wanted, IntType) else 1.0)
        yield _changed(FaultKind.VALUE, tree, Binary(Operator.PLUS, tree, step))
