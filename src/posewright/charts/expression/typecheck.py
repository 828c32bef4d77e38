"""Expressions parsed and typed: truth and numbers do not mix, units match, and every name is known.

What comes back is a tree that needs no more knowledge: units are converted, calls of truth tables are put
in as conditions, results of 32 bits are rounded by `single`, and questions of time know their seconds.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

from posewright.charts.expression.expression import Expression, compile_tree
from posewright.charts.expression.inlining import Inliner
from posewright.charts.expression.numbers import (
    Numbers,
    TypedTree,
    called,
    chosen,
    compared,
    difference,
    joined,
    number_kind,
    sort_of,
)
from posewright.charts.expression.scope import Scope
from posewright.charts.expression.source import Source
from posewright.charts.expression.syntax import parse
from posewright.charts.expression.tree import (
    ARITHMETIC,
    COMPARISONS,
    LOGIC,
    ORDER,
    Binary,
    Call,
    If,
    Inside,
    Literal,
    Name,
    Operator,
    Timed,
    Timing,
    Tree,
    Unary,
    is_timed,
    names_in,
)
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Numeric, Type, conversion, type_of

_SINGLE_EQUALS = re.compile(r"(?<![<>=!])=(?!=)")
_LAST_WORD, _FIRST_WORD = re.compile(r"(\w+)\s*\Z"), re.compile(r"\s*(\w+)")

FUNCTIONS = {
    "abs": "one value",
    "min": "two values or more",
    "max": "two values or more",
    "single": "one value",
}
"""What they take; truth tables of the chart come in addition."""

TIMINGS = {timing.value: timing for timing in Timing}
AS_IN = {
    "after": "after(0.5 s)",
    "before": "before(2 s)",
    "every": "every(1 s)",
    "held": "held(near, 0.3 s)",
}
"""How questions of time are written."""


def unknown_name(name: Name, scope: Scope, source: Source) -> NoReturn:
    """Raise the ExpressionError for a name that stands for no value."""
    word = name.name
    if word in TIMINGS:
        source.fail(name.at, f"`{word}` needs a time", hint=f"as in {AS_IN[word]}")
    if word in FUNCTIONS or word in scope.functions:
        source.fail(name.at, f"`{word}` is a function", hint=f"call it, as in {word}(...)")
    hint = f"ask for a state with in({word})" if word in scope.states else nearest(word, scope.names)
    source.fail(name.at, f"no input, output or constant is called {word!r}", hint=hint)


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the names that may have been meant."""
    near = difflib.get_close_matches(name, known, n=2)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"there is {', '.join(known[:12]) or 'no name at all'}"


LONGEST_S = 86_400.0
"""The longest time that may be asked for [s]."""


def seconds_of(time: TypedTree, timing: Timing, numbers: Numbers) -> float:
    """Return a time in seconds; a number without a unit is one of seconds already.

    Raises:
        ExpressionError: it is not known before the chart runs, is no time, is not above zero, or too long.
    """
    source, constants, at = numbers.source, numbers.scope.constants, time.tree.at
    if not (names_in(time.tree) <= constants.keys()) or is_timed(time.tree):
        hint = "write a number of seconds, a number with a unit such as 500 ms, or a constant"
        source.fail(at, f"`{timing}` needs a time that never changes", hint=hint)
    if time.unit and conversion(time.unit, "s") is None:
        source.fail(at, f"`{timing}` needs a time, not {time.unit}", hint="write it like 0.5 s")
    seconds = compile_tree(numbers.in_unit(time, "s").tree, constants, source)({})
    if not (math.isfinite(seconds) and 0 < seconds <= LONGEST_S):
        hint = f"a time is above 0, and {LONGEST_S:g} s at most"
        source.fail(at, f"`{timing}` cannot wait {seconds:g} s", hint=hint)
    return float(seconds)


def parse_expression(source: Source | str, scope: Scope, wanted: Type | None = None) -> Expression:
    """Parse and type an expression.

    Args:
        source: the text, with its place in a document where it has one.
        scope: the names it may use.
        wanted: the type of what it is assigned to; 0 and 1 are taken for bool.

    Raises:
        ExpressionError: it does not parse, does not type, or is not of the `wanted` type.
    """
    if isinstance(source, str):
        source = Source(source)
    _refuse_single_equals(source, scope)
    checker = _Checker(scope, source)
    term = checker.wanted(parse(source), wanted)
    expression = Expression(term.tree, term.kind, source, scope.fixed, tuple(checker.inliner.arguments))
    if wanted is not None:
        _assignable(expression, wanted)
    return expression


def _refuse_single_equals(source: Source, scope: Scope) -> None:
    """Refuse `near = 1`, and say what is written instead: it depends on what `near` is."""
    sign = _SINGLE_EQUALS.search(source.text)
    if sign is None:
        return
    at = sign.start()
    left = _LAST_WORD.search(source.text[max(at - 90, 0) : at])
    right = _FIRST_WORD.match(source.text[at + 1 : at + 90])
    turned = {"<": "<=", ">": ">="}.get(source.text[at + 1 : at + 2])
    hint = f"write {turned or '=='}"
    if left is not None and right is not None and isinstance(scope.type_of(left[1]), BoolType):
        hint = {"1": f"write {left[1]}", "0": f"write not {left[1]}"}.get(right[1], hint)
    source.fail(at, "'=' is not part of the language", hint=hint)


def _assignable(expression: Expression, wanted: Type) -> None:
    found, source = expression.type, expression.source
    if isinstance(wanted, IntType) and isinstance(found, FloatType):
        hint = f"it must be {wanted}; / gives a fraction"
        source.fail(0, "a fraction where a whole number is needed", hint=hint)
    same = type(found) is type(wanted) or (isinstance(wanted, FloatType) and isinstance(found, IntType))
    if not same or (isinstance(wanted, EnumType) and found != wanted):
        source.fail(0, f"{sort_of(found)} where {sort_of(wanted)} is needed", hint=f"it must be {wanted}")
    value = expression.constant if isinstance(wanted, Numeric) else None
    if value is None or not isinstance(wanted, Numeric):
        return
    low, high = wanted.ends if isinstance(wanted, FloatType) else (wanted.low, wanted.high)
    if not low <= value <= high:
        source.fail(0, f"{value:g} is out of range", hint=f"the range is {low:g}..{high:g}")


def typecheck(tree: Tree, scope: Scope, source: Source, wanted: Type | None = None) -> tuple[Tree, Type]:
    """Return the tree of an expression made ready, and its type.

    Args:
        tree: as parsed.
        scope: the names it may use.
        source: its text.
        wanted: the type of what it is assigned to: 0 and 1 are taken for bool, units follow.

    Raises:
        ExpressionError: an unknown name, or an operator between types that do not go together.
    """
    term = _Checker(scope, source).wanted(tree, wanted)
    return term.tree, term.kind


def truths(tree: Tree) -> Tree:
    """Return a tree with 0 and 1 read as truth values, where that is all it is, or what it chooses from."""
    if isinstance(tree, If):
        return If(tree.condition, truths(tree.then), truths(tree.otherwise), tree.at)
    if isinstance(tree, Literal) and tree in (Literal(0), Literal(1)):
        return Literal(bool(tree.value), tree.at)
    return tree


class _Checker:
    def __init__(self, scope: Scope, source: Source) -> None:
        self.scope = scope
        self.source = source
        self.numbers = Numbers(scope, source)
        self.inliner = Inliner(self.numbers)

    def wanted(self, tree: Tree, wanted: Type | None) -> TypedTree:
        """Return a tree as something of the wanted type is set to it: of its unit."""
        term = self.check(truths(tree) if isinstance(wanted, BoolType) else tree)
        if not (isinstance(wanted, Numeric) and wanted.unit and term.unit):
            return term
        if conversion(term.unit, wanted.unit) is None:
            hint = difference(term.unit, wanted.unit)
            message = f"a value in {term.unit} where one in {wanted.unit} is needed"
            self.source.fail(0, message, hint=hint)
        return self.numbers.in_unit(term, wanted.unit, whole=isinstance(wanted, IntType))

    def under(self, condition: Tree, check: Callable[[], TypedTree]) -> TypedTree:
        """Check what is computed under a condition only."""
        self.inliner.under.append(condition)
        term = check()
        self.inliner.under.pop()
        return term

    def check(self, tree: Tree) -> TypedTree:
        match tree:
            case Literal():
                term = self.literal(tree)
            case Name():
                term = self.name(tree)
            case Inside():
                term = self.inside(tree)
            case Unary():
                term = self.unary(tree)
            case Binary():
                term = self.binary(tree)
            case If():
                term = self.choice(tree)
            case Call():
                term = self.call(tree)
            case Timed():
                term = TypedTree(tree, BoolType())
        return term

    def literal(self, tree: Literal) -> TypedTree:
        kind = type_of(tree.value)
        if isinstance(kind, Numeric):
            kind = replace(kind, unit=tree.unit)
        return TypedTree(replace(tree, unit=None), kind, loose=True)

    def name(self, tree: Name) -> TypedTree:
        kind = self.scope.type_of(tree.name)
        if kind is None:
            unknown_name(tree, self.scope, self.source)
        tree = replace(tree, known=kind)
        if tree.name not in self.scope.constants:
            return TypedTree(tree, kind)
        if isinstance(kind, Numeric):
            kind = replace(kind, unit=self.scope.units.get(tree.name))
        return TypedTree(tree, kind, loose=True)

    def inside(self, tree: Inside) -> TypedTree:
        if tree.state not in self.scope.states:
            hint = nearest(tree.state, sorted(self.scope.states))
            self.source.fail(tree.at, f"no state is called {tree.state!r}", hint=hint)
        return TypedTree(tree, BoolType())

    def unary(self, tree: Unary) -> TypedTree:
        if tree.operator is Operator.NOT:
            return TypedTree(Unary(Operator.NOT, self.truth(tree.operand, "not").tree, tree.at), BoolType())
        term = self.number(tree.operand, "-")
        kind = number_kind([term], single=term.is_single, unit=term.unit)
        return TypedTree(Unary(Operator.MINUS, term.tree, tree.at), kind, term.loose)

    def binary(self, tree: Binary) -> TypedTree:
        operator = tree.operator
        if operator in LOGIC:
            left = self.truth(tree.left, str(operator))
            first = left.tree if operator is Operator.AND else Unary(Operator.NOT, left.tree)
            right = self.under(first, lambda: self.truth(tree.right, str(operator)))
            return TypedTree(Binary(operator, left.tree, right.tree, tree.at), BoolType())
        if operator in COMPARISONS - ORDER:
            left, right = self.same(tree)
        else:
            left, right = self.number(tree.left, str(operator)), self.number(tree.right, str(operator))
        if operator in ARITHMETIC:
            return joined(self.numbers, tree, left, right)
        if isinstance(left.kind, Numeric):
            left, right = compared(self.numbers, tree, left, right)
        return TypedTree(Binary(operator, left.tree, right.tree, tree.at), BoolType())

    def choice(self, tree: If) -> TypedTree:
        condition = self.truth(tree.condition, "if")
        then = self.under(condition.tree, lambda: self.check(tree.then))
        other = self.under(Unary(Operator.NOT, condition.tree), lambda: self.check(tree.otherwise))
        self.match(then.kind, other.kind, tree.at, "`if` chooses between {} and {}")
        if isinstance(then.kind, Numeric):
            return chosen(self.numbers, tree, condition, then, other)
        return TypedTree(If(condition.tree, then.tree, other.tree, tree.at), then.kind)

    def call(self, tree: Call) -> TypedTree:
        if tree.function in TIMINGS:
            return self.timed(tree)
        if tree.function in self.scope.functions:
            function = self.scope.functions[tree.function]
            self.count(tree, len(function.takes), ", ".join(function.takes))
            wanted = function.takes.values()
            arguments = [
                self.check(truths(argument) if isinstance(kind, BoolType) else argument)
                for argument, kind in zip(tree.arguments, wanted, strict=True)
            ]
            return self.inliner.call(function, arguments, tree)
        if tree.function not in FUNCTIONS:
            known = [*TIMINGS, *(name for name in FUNCTIONS if name != "single"), *self.scope.functions]
            self.source.fail(
                tree.at, f"there is no function {tree.function}", hint=nearest(tree.function, known)
            )
        return self.built_in(tree)

    def built_in(self, tree: Call) -> TypedTree:
        name, given = tree.function, len(tree.arguments)
        takes = FUNCTIONS[name]
        if (given != 1) if takes == "one value" else (given < 2):
            self.source.fail(tree.at, f"{name} takes {takes}, not {given}")
        terms = [self.number(argument, name) for argument in tree.arguments]
        return called(self.numbers, tree, terms)

    def timed(self, tree: Call) -> TypedTree:
        timing = TIMINGS[tree.function]
        if not self.scope.states:
            hint = "only in the states of a chart there is time"
            self.source.fail(tree.at, f"`{timing}` has no meaning here", hint=hint)
        given = len(tree.arguments)
        if given != (2 if timing is Timing.HELD else 1):
            takes = "a condition and a time" if timing is Timing.HELD else "one time"
            self.source.fail(tree.at, f"{timing} takes {takes}", hint=f"as in {AS_IN[str(timing)]}")
        condition = self.truth(tree.arguments[0], str(timing)).tree if timing is Timing.HELD else None
        time = self.number(tree.arguments[-1], str(timing))
        seconds = seconds_of(time, timing, self.numbers)
        return TypedTree(Timed(timing, seconds, condition, tree.at), BoolType())

    def count(self, tree: Call, wanted: int, names: str) -> None:
        if len(tree.arguments) != wanted:
            values = "value" if wanted == 1 else "values"
            message = f"{tree.function} takes {wanted} {values}, not {len(tree.arguments)}"
            self.source.fail(tree.at, message, hint=f"it takes {names}")

    def truth(self, tree: Tree, operator: str) -> TypedTree:
        term = self.check(tree)
        if not isinstance(term.kind, BoolType):
            hint = "compare it, as in x > 0" if isinstance(term.kind, Numeric) else "compare it with =="
            message = f"`{operator}` needs a truth value, not {sort_of(term.kind)}"
            self.source.fail(tree.at, message, hint=hint)
        return term

    def number(self, tree: Tree, operator: str) -> TypedTree:
        term = self.check(tree)
        if not isinstance(term.kind, Numeric):
            hint = "join truth values with and, or, not" if isinstance(term.kind, BoolType) else None
            message = f"`{operator}` needs a number, not {sort_of(term.kind)}"
            self.source.fail(tree.at, message, hint=hint)
        return term

    def same(self, tree: Binary) -> tuple[TypedTree, TypedTree]:
        left, right = self.check(tree.left), self.check(tree.right)
        self.refuse_truth_as_number(tree, left)
        self.match(left.kind, right.kind, tree.at, f"`{tree.operator}` compares {{}} with {{}}")
        return left, right

    def refuse_truth_as_number(self, tree: Binary, left: TypedTree) -> None:
        """Refuse `near == 1`, and say that `near` is meant."""
        name, number = tree.left, tree.right
        if not (isinstance(left.kind, BoolType) and isinstance(name, Name) and isinstance(number, Literal)):
            return
        if type(number.value) is int and number.unit is None and number.value in (0, 1):
            holds = bool(number.value) is (tree.operator is Operator.EQUAL)
            hint = f"a truth value stands for itself: write {'' if holds else 'not '}{name.name}"
            self.source.fail(tree.at, f"`{tree.operator}` compares a truth value with a number", hint=hint)

    def match(self, left: Type, right: Type, at: int, message: str) -> None:
        """Fail where two types are not of one sort."""
        numbers = isinstance(left, Numeric) and isinstance(right, Numeric)
        if numbers or left == right:
            return
        if isinstance(left, EnumType) and isinstance(right, EnumType):
            hint: str | None = f"the one is {left}, the other {right}"
        elif isinstance(left, BoolType) or isinstance(right, BoolType):
            hint = "a truth value stands for itself: write x or not x"
        else:
            hint = None
        self.source.fail(at, message.format(sort_of(left), sort_of(right)), hint=hint)
