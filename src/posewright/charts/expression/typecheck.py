"""The type checker of expressions: it resolves names, matches types and units, and inlines truth tables.

The typed tree needs no scope any more: units are converted, calls of truth tables are chains of conditionals,
results of 32 bits are rounded by `single`, and temporal conditions have their time in seconds.
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
from posewright.charts.expression.numeric import (
    NumericConverter,
    TypedTree,
    describe_dimensions,
    describe_type,
    match_comparison_operands,
    result_type,
    type_arithmetic,
    type_call,
    type_conditional,
)
from posewright.charts.expression.scope import Scope
from posewright.charts.expression.source import SourceText
from posewright.charts.expression.syntax import parse
from posewright.charts.expression.tree import (
    ARITHMETIC,
    COMPARISONS,
    LOGIC,
    ORDER,
    Binary,
    Call,
    If,
    InState,
    Literal,
    Name,
    Operator,
    TemporalCondition,
    TemporalOperator,
    Tree,
    Unary,
    is_timed,
    names_in,
)
from posewright.charts.types import (
    BoolType,
    EnumType,
    FloatType,
    IntType,
    Numeric,
    Type,
    conversion_factor,
    type_of,
)

_MAX_WORD_LENGTH = 90
"""Characters beside a sign in which the word before or after it is searched."""

_SINGLE_EQUALS = re.compile(r"(?<![<>=!])=(?!=)")
_LAST_WORD = re.compile(r"(\w+)\s*\Z")
_FIRST_WORD = re.compile(r"\s*(\w+)")

FUNCTIONS = {
    "abs": "one value",
    "min": "two or more values",
    "max": "two or more values",
    "single": "one value",
}
"""The built-in functions and what each takes."""

TEMPORAL_OPERATORS = {operator.value: operator for operator in TemporalOperator}
EXAMPLES = {
    "after": "after(0.5 s)",
    "before": "before(2 s)",
    "every": "every(1 s)",
    "held": "held(near, 0.3 s)",
}
"""Examples of temporal conditions, for messages."""

MAX_SECONDS = 86_400.0
"""The longest time of a temporal condition [s]."""


def parse_expression(source: SourceText | str, scope: Scope, target: Type | None = None) -> Expression:
    """Parse and type check an expression.

    Args:
        source: the text, with its place in a document if it has one.
        scope: the names it may use.
        target: the type of the variable it is assigned to, BoolType for a condition; 0 and 1 are truth
            values where the target is bool.

    Raises:
        ExpressionError: it does not parse, its operands do not fit together, or it does not fit the target.
    """
    if isinstance(source, str):
        source = SourceText(source)
    _require_no_single_equals(source, scope)
    checker = _TypeChecker(scope, source)
    typed_tree = checker.check_for_target(parse(source), target)
    expression = Expression(
        typed_tree.tree,
        typed_tree.type,
        source,
        scope.constant_values,
        clamped_arguments=tuple(checker.inliner.clamped_arguments),
    )
    if target is not None:
        _require_assignable(expression, target)
    return expression


def typecheck(tree: Tree, scope: Scope, source: SourceText, target: Type | None = None) -> tuple[Tree, Type]:
    """Return the typed tree of an expression, and its type.

    Args:
        tree: the tree as parsed.
        scope: the names it may use.
        source: its text, for messages.
        target: the type of the variable it is assigned to, BoolType for a condition; None for any type.

    Raises:
        ExpressionError: a name is unknown, or the operands of an operator do not fit together.
    """
    typed_tree = _TypeChecker(scope, source).check_for_target(tree, target)
    return typed_tree.tree, typed_tree.type


def _require_no_single_equals(source: SourceText, scope: Scope) -> None:
    """Raise an error for `near = 1`, with a hint that depends on the type of `near`.

    Raises:
        ExpressionError: a single `=` stands in the text.
    """
    sign = _SINGLE_EQUALS.search(source.text)
    if sign is None:
        return
    offset = sign.start()
    text_before = source.text[max(offset - _MAX_WORD_LENGTH, 0) : offset]
    text_after = source.text[offset + 1 : offset + _MAX_WORD_LENGTH]
    word_before = _LAST_WORD.search(text_before)
    word_after = _FIRST_WORD.match(text_after)
    intended_signs = {"<": "<=", ">": ">="}  # of `=<` and `=>`, by the character after `=`
    hint = f"write {intended_signs.get(text_after[:1], '==')}"
    if word_before is not None and word_after is not None:
        name = word_before[1]
        if isinstance(scope.type_of(name), BoolType):
            hint_by_number = {"1": f"write {name}", "0": f"write not {name}"}
            hint = hint_by_number.get(word_after[1], hint)
    source.fail(offset, "'=' is not part of the language", hint=hint)


def _require_assignable(expression: Expression, target: Type) -> None:
    """Raise an ExpressionError unless a variable of the target type can hold the value."""
    value_type = expression.type
    source = expression.source
    if isinstance(target, IntType) and isinstance(value_type, FloatType):
        hint = f"it must be {target}; / always gives a float"
        source.fail(offset=0, message="a float where a whole number is needed", hint=hint)
    is_widening = isinstance(target, FloatType) and isinstance(value_type, IntType)
    fits = type(value_type) is type(target) or is_widening
    if not fits or (isinstance(target, EnumType) and value_type != target):
        message = f"{describe_type(value_type)} where {describe_type(target)} is needed"
        source.fail(offset=0, message=message, hint=f"it must be {target}")
    if not isinstance(target, Numeric):
        return
    value = expression.constant
    if value is None:
        return
    low, high = target.written_range if isinstance(target, FloatType) else (target.low, target.high)
    if not low <= value <= high:
        source.fail(offset=0, message=f"{value:g} is out of range", hint=f"the range is {low:g}..{high:g}")


def _fail_unknown_name(node: Name, scope: Scope, source: SourceText) -> NoReturn:
    """Raise the ExpressionError for a name that has no value."""
    name = node.name
    if name in TEMPORAL_OPERATORS:
        source.fail(node.offset, f"`{name}` needs a time", hint=f"as in {EXAMPLES[name]}")
    if name in FUNCTIONS or name in scope.functions:
        source.fail(node.offset, f"`{name}` is a function", hint=f"call it, as in {name}(...)")
    hint = suggest_names(name, scope.names)
    if name in scope.states:
        hint = f"to test whether a state is active, write in({name})"
    source.fail(node.offset, f"unknown input, output or constant {name!r}", hint=hint)


def suggest_names(name: str, names: Sequence[str]) -> str:
    """Return a hint for a misspelt name: the names closest to it, or else the first twelve of all names."""
    matches = difflib.get_close_matches(name, names, n=2)
    if matches:
        return f"did you mean {' or '.join(matches)}?"
    return f"the names are {', '.join(names[:12])}" if names else "no names are declared"


def as_truth_value(tree: Tree) -> Tree:
    """Return a tree in which 0 and 1 are truth values, alone or as the values of a conditional."""
    if isinstance(tree, If):
        return If(tree.condition, as_truth_value(tree.then), as_truth_value(tree.otherwise), tree.offset)
    if isinstance(tree, Literal) and tree in (Literal(0), Literal(1)):
        return Literal(bool(tree.value), tree.offset)
    return tree


class _TypeChecker:
    """Type checks one expression; every method raises ExpressionError where types do not fit together.

    Attributes:
        scope: the names that the expression may use.
        source: its text, at which errors point.
        converter: converts operands to common units and precision.
        inliner: replaces calls of truth tables.
    """

    def __init__(self, scope: Scope, source: SourceText) -> None:
        self.scope = scope
        self.source = source
        self.converter = NumericConverter(scope, source)
        self.inliner = Inliner(self.converter)

    def check_for_target(self, tree: Tree, target: Type | None) -> TypedTree:
        """Return the typed tree, in the unit of the variable it is assigned to.

        Raises:
            ExpressionError: types or units do not fit together.
        """
        typed_tree = self.check(as_truth_value(tree) if isinstance(target, BoolType) else tree)
        if not (isinstance(target, Numeric) and target.unit and typed_tree.unit):
            return typed_tree
        if conversion_factor(typed_tree.unit, target.unit) is None:
            hint = describe_dimensions(typed_tree.unit, target.unit)
            message = f"a value in {typed_tree.unit} where one in {target.unit} is needed"
            self.source.fail(offset=0, message=message, hint=hint)
        return self.converter.to_unit(typed_tree, target.unit, prefer_integer=isinstance(target, IntType))

    def check_assuming(self, condition: Tree, check_operand: Callable[[], TypedTree]) -> TypedTree:
        """Type check an operand that the chart evaluates only where a condition holds, and return it.

        Calls of truth tables in the operand, which are inlined later, are recorded with that condition.

        Args:
            condition: the condition.
            check_operand: checks the operand and returns it typed.
        """
        self.inliner.enclosing_conditions.append(condition)
        typed_tree = check_operand()
        self.inliner.enclosing_conditions.pop()
        return typed_tree

    def check(self, tree: Tree) -> TypedTree:
        """Return a parsed tree with its type, its units converted and its calls of truth tables inlined.

        Raises:
            ExpressionError: a name is unknown, or the operands of an operator do not fit together.
        """
        match tree:
            case Literal():
                typed_tree = self.check_literal(tree)
            case Name():
                typed_tree = self.check_name(tree)
            case InState():
                typed_tree = self.check_in_state(tree)
            case Unary():
                typed_tree = self.check_unary(tree)
            case Binary():
                typed_tree = self.check_binary(tree)
            case If():
                typed_tree = self.check_conditional(tree)
            case Call():
                typed_tree = self.check_call(tree)
            case TemporalCondition():
                typed_tree = TypedTree(tree, BoolType())
        return typed_tree

    def check_literal(self, tree: Literal) -> TypedTree:
        """Return a literal with its type, and its unit as part of the type."""
        value_type = type_of(tree.value)
        if isinstance(value_type, Numeric):
            value_type = replace(value_type, unit=tree.unit)
        return TypedTree(replace(tree, unit=None), value_type, is_constant=True)

    def check_name(self, tree: Name) -> TypedTree:
        """Return a name with its declared type; constants have a unit and are marked as constant."""
        value_type = self.scope.type_of(tree.name)
        if value_type is None:
            _fail_unknown_name(tree, self.scope, self.source)
        tree = replace(tree, declared_type=value_type)
        if tree.name not in self.scope.constants:
            return TypedTree(tree, value_type)
        if isinstance(value_type, Numeric):
            value_type = replace(value_type, unit=self.scope.units.get(tree.name))
        return TypedTree(tree, value_type, is_constant=True)

    def check_in_state(self, tree: InState) -> TypedTree:
        """Return the test of a state of the chart, as a truth value."""
        if tree.state not in self.scope.states:
            hint = suggest_names(tree.state, sorted(self.scope.states))
            self.source.fail(tree.offset, f"unknown state {tree.state!r}", hint=hint)
        return TypedTree(tree, BoolType())

    def check_unary(self, tree: Unary) -> TypedTree:
        """Return a typed `not`, or the negation of a number."""
        if tree.operator is Operator.NOT:
            operand = self.require_truth_value(tree.operand, "not")
            return TypedTree(Unary(Operator.NOT, operand.tree, tree.offset), BoolType())
        number = self.require_number(tree.operand, "-")
        value_type = result_type([number], is_single_precision=number.is_single_precision, unit=number.unit)
        return TypedTree(Unary(Operator.MINUS, number.tree, tree.offset), value_type, number.is_constant)

    def check_binary(self, tree: Binary) -> TypedTree:
        """Return a typed binary operation, with its operands converted to a common type and unit."""
        operator = tree.operator
        if operator in LOGIC:
            left = self.require_truth_value(tree.left, str(operator))
            # the right side of `and` is evaluated where the left one is true, that of `or` where it is false
            right_condition = left.tree if operator is Operator.AND else Unary(Operator.NOT, left.tree)
            right = self.check_assuming(
                right_condition, lambda: self.require_truth_value(tree.right, str(operator))
            )
            return TypedTree(Binary(operator, left.tree, right.tree, tree.offset), BoolType())
        if operator in COMPARISONS - ORDER:
            left = self.check(tree.left)
            right = self.check(tree.right)
            self.require_no_comparison_with_0_or_1(tree, left)
            self.require_same_sort(
                left.type, right.type, tree.offset, message=f"`{tree.operator}` compares {{}} with {{}}"
            )
        else:
            left = self.require_number(tree.left, str(operator))
            right = self.require_number(tree.right, str(operator))
        if operator in ARITHMETIC:
            return type_arithmetic(self.converter, tree, left, right)
        if isinstance(left.type, Numeric):
            left, right = match_comparison_operands(self.converter, tree, left, right)
        return TypedTree(Binary(operator, left.tree, right.tree, tree.offset), BoolType())

    def check_conditional(self, tree: If) -> TypedTree:
        """Return a typed `then if condition else otherwise`, whose two values have a common type and unit.

        Raises:
            ExpressionError: the condition is no truth value, or the values are of different sorts.
        """
        condition = self.require_truth_value(tree.condition, "if")
        negation = Unary(Operator.NOT, condition.tree)
        typed_then = self.check_assuming(condition.tree, lambda: self.check(tree.then))
        typed_otherwise = self.check_assuming(negation, lambda: self.check(tree.otherwise))
        self.require_same_sort(
            typed_then.type, typed_otherwise.type, tree.offset, message="`if` chooses between {} and {}"
        )
        if isinstance(typed_then.type, Numeric):
            return type_conditional(self.converter, tree, condition, typed_then, typed_otherwise)
        conditional = If(condition.tree, typed_then.tree, typed_otherwise.tree, tree.offset)
        return TypedTree(conditional, typed_then.type)

    def check_call(self, tree: Call) -> TypedTree:
        """Return a typed call of a temporal operator, a truth table or a built-in function."""
        if tree.function in TEMPORAL_OPERATORS:
            return self.check_temporal_condition(tree)
        if tree.function in self.scope.functions:
            return self.check_truth_table_call(tree)
        if tree.function in FUNCTIONS:
            return self.check_builtin_call(tree)
        documented = [name for name in FUNCTIONS if name != "single"]
        names = [*TEMPORAL_OPERATORS, *documented, *self.scope.functions]
        hint = suggest_names(tree.function, names)
        return self.source.fail(tree.offset, f"there is no function {tree.function}", hint=hint)

    def check_truth_table_call(self, tree: Call) -> TypedTree:
        """Return a chain of conditionals, one for each row of a truth table, in place of the table's call."""
        function = self.scope.functions[tree.function]
        n_parameters = len(function.parameters)
        if len(tree.arguments) != n_parameters:
            value_noun = "value" if n_parameters == 1 else "values"
            message = f"{tree.function} takes {n_parameters} {value_noun}, not {len(tree.arguments)}"
            self.source.fail(tree.offset, message, hint=f"it takes {', '.join(function.parameters)}")
        arguments = [
            self.check(as_truth_value(argument) if isinstance(parameter_type, BoolType) else argument)
            for argument, parameter_type in zip(tree.arguments, function.parameters.values(), strict=True)
        ]
        return self.inliner.inline(function, arguments, tree)

    def check_builtin_call(self, tree: Call) -> TypedTree:
        """Return a typed call of abs, single, min or max."""
        needed_arguments = FUNCTIONS[tree.function]
        n_arguments = len(tree.arguments)
        is_wrong_number = n_arguments != 1 if needed_arguments == "one value" else n_arguments < 2
        if is_wrong_number:
            self.source.fail(tree.offset, f"{tree.function} takes {needed_arguments}, not {n_arguments}")
        arguments = [self.require_number(argument, tree.function) for argument in tree.arguments]
        return type_call(self.converter, tree, arguments)

    def check_temporal_condition(self, tree: Call) -> TypedTree:
        """Return the condition of `after`, `before`, `every` or `held`, with its time in seconds."""
        operator = TEMPORAL_OPERATORS[tree.function]
        if not (self.scope.states and self.scope.in_state):
            hint = "temporal conditions are allowed only in the states of a chart"
            self.source.fail(tree.offset, f"`{operator}` has no meaning here", hint=hint)
        is_held = operator is TemporalOperator.HELD
        if len(tree.arguments) != (2 if is_held else 1):
            needed_arguments = "a condition and a time" if is_held else "one time"
            hint = f"as in {EXAMPLES[str(operator)]}"
            self.source.fail(tree.offset, f"{operator} takes {needed_arguments}", hint=hint)
        condition = self.require_truth_value(tree.arguments[0], str(operator)).tree if is_held else None
        time = self.require_number(tree.arguments[-1], str(operator))
        seconds = self.to_seconds(time, operator)
        return TypedTree(TemporalCondition(operator, seconds, condition, tree.offset), BoolType())

    def to_seconds(self, time: TypedTree, operator: TemporalOperator) -> float:
        """Return a constant time in seconds; a number without a unit is in seconds already.

        Args:
            time: the number that the chart's author wrote, with or without a unit of time.
            operator: the temporal operator, such as `after`, that the time belongs to, for messages.

        Raises:
            ExpressionError: it is not constant, not a time, or not in the range of times.
        """
        constants = self.scope.constants
        offset = time.tree.offset
        reads_only_constants = names_in(time.tree) <= constants.keys()
        if not reads_only_constants or is_timed(time.tree):  # timed: it holds a temporal condition itself
            hint = "write a number of seconds, a number with a unit such as 500 ms, or a constant"
            self.source.fail(offset, f"`{operator}` needs a constant time", hint=hint)
        if time.unit and conversion_factor(time.unit, "s") is None:
            message = f"`{operator}` needs a time, not a number in {time.unit}"
            self.source.fail(offset, message, hint="write it like 0.5 s")
        time_in_s = self.converter.to_unit(time, "s")
        evaluate = compile_tree(time_in_s.tree, constants, self.source)
        seconds = evaluate({})  # it reads no variables
        if not (math.isfinite(seconds) and 0 < seconds <= MAX_SECONDS):
            hint = f"a time is above 0, and {MAX_SECONDS:g} s at most"
            self.source.fail(offset, f"`{operator}` cannot wait {seconds:g} s", hint=hint)
        return float(seconds)

    def require_truth_value(self, tree: Tree, operator: str) -> TypedTree:
        """Return a typed operand of an operator; raise an ExpressionError if it is not a truth value."""
        typed_tree = self.check(tree)
        if not isinstance(typed_tree.type, BoolType):
            hint = "compare it, as in x > 0" if isinstance(typed_tree.type, Numeric) else "compare it with =="
            message = f"`{operator}` needs a truth value, not {describe_type(typed_tree.type)}"
            self.source.fail(tree.offset, message, hint=hint)
        return typed_tree

    def require_number(self, tree: Tree, operator: str) -> TypedTree:
        """Return a typed operand of an operator; raise an ExpressionError if it is not a number."""
        typed_tree = self.check(tree)
        if not isinstance(typed_tree.type, Numeric):
            hint = "join truth values with and, or, not" if isinstance(typed_tree.type, BoolType) else None
            message = f"`{operator}` needs a number, not {describe_type(typed_tree.type)}"
            self.source.fail(tree.offset, message, hint=hint)
        return typed_tree

    def require_no_comparison_with_0_or_1(self, tree: Binary, left: TypedTree) -> None:
        """Raise an ExpressionError for `near == 1`, where `near` is a truth value, with the hint `near`.

        Args:
            tree: a comparison by `==` or `!=`.
            left: its left operand, type checked.
        """
        name = tree.left
        number = tree.right
        if not (isinstance(left.type, BoolType) and isinstance(name, Name) and isinstance(number, Literal)):
            return
        if type(number.value) is int and number.unit is None and number.value in (0, 1):
            is_true_test = bool(number.value) is (tree.operator is Operator.EQUAL)
            hint = f"a truth value is a condition already: write {'' if is_true_test else 'not '}{name.name}"
            message = f"`{tree.operator}` compares a truth value with a number"
            self.source.fail(tree.offset, message, hint=hint)

    def require_same_sort(self, left: Type, right: Type, offset: int, message: str) -> None:
        """Raise an ExpressionError unless two types are both numbers, both bool, or one enumeration.

        Args:
            left: type of the left operand.
            right: type of the right operand.
            offset: the character that the error points at.
            message: a message with two placeholders, for the two types.
        """
        are_numbers = isinstance(left, Numeric) and isinstance(right, Numeric)
        if are_numbers or left == right:
            return
        hint: str | None = None
        if isinstance(left, EnumType) and isinstance(right, EnumType):
            hint = f"the left side is {left}, the right side {right}"
        elif isinstance(left, BoolType) or isinstance(right, BoolType):
            hint = "a truth value is a condition already: write x or not x"
        self.source.fail(offset, message.format(describe_type(left), describe_type(right)), hint=hint)
