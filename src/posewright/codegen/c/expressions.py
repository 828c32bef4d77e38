"""Expressions of a chart as expressions of C with the same results, bit for bit.

| value | in C |
|---|---|
| bool | `bool` |
| integer that always fits 16 bits | `int` |
| other integer | `int32_t`; if a result may exceed 32 bits, a function that saturates |
| float of 32 bits | `float`; an operation on two of them is rounded once, as in the interpreter |
| other float | `double`; if the compiler's `double` has 32 bits, calls of functions on 64 bits (`pw_f64`) |
| value of an enumeration | its code |

An operation on two floats in 64 bits, rounded to 32, equals the operation in 32 bits, because 53 bits are
at least 2 * 24 + 2 (Figueroa, "When is double rounding innocuous?", 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from posewright.charts.expression import (
    ARITHMETIC,
    COMPARISONS,
    Binary,
    Call,
    Expression,
    If,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    compile_tree,
    names_in,
    split_cases,
)
from posewright.charts.expression.tree import range_of
from posewright.charts.types import (
    INT_HIGH,
    INT_LOW,
    BoolType,
    EnumType,
    FloatType,
    IntType,
    Type,
    Value,
    to_single,
)
from posewright.codegen.c.guard_pruning import find_operands
from posewright.codegen.c.values import (
    INT16_HIGH,
    INT16_LOW,
    CExpression,
    CKind,
    bits_literal,
    decimal_literal,
    exact_single,
    integer_literal,
)
from posewright.errors import ExpressionError

STATUS = "&chart->status"
"""The address of the status in C, which a division by zero sets."""

MIN_CHAIN_CONDITIONS = 2
"""Fewest conditions of a chain that becomes a function: a truth table of three rows has two."""

ChainWriter = Callable[[If, str, list[str], list[str]], str]
"""Returns the call of a function for a chain; see `ChainFunctions.call`."""

_COMPARISON_SIGNS = {
    Operator.EQUAL: "==",
    Operator.UNEQUAL: "!=",
    Operator.LESS: "<",
    Operator.LESS_EQUAL: "<=",
}
_COMPARISON_SIGNS |= {Operator.GREATER: ">", Operator.GREATER_EQUAL: ">="}
_ARITHMETIC_SIGNS = {Operator.PLUS: "+", Operator.MINUS: "-", Operator.TIMES: "*", Operator.OVER: "/"}
_EMULATED_NAMES = {Operator.PLUS: "add", Operator.MINUS: "sub", Operator.TIMES: "mul", Operator.OVER: "div"}
_SATURATING_FUNCTIONS = {Operator.PLUS: "pw_add", Operator.MINUS: "pw_sub", Operator.TIMES: "pw_mul"}
_MIRRORED_OPERATORS = {Operator.GREATER: Operator.LESS, Operator.GREATER_EQUAL: Operator.LESS_EQUAL}


class ConditionTerm(NamedTuple):
    """A term of a condition, and the values of the names that are constant in it."""

    tree: Tree
    constant_values: Mapping[str, Value]


class CExpressions:
    """Translates expressions to C.

    Args:
        format_name: returns the expression of C for a name.
        enum_constant: returns the constant of an enumeration's value.
        soft_doubles: whether floats of 64 bits are computed by support functions, because the compiler's
            `double` has 32.
        write_chain_function: writes a function for a chain with `MIN_CHAIN_CONDITIONS` or more, and returns
            its call; None to write chains as they are.

    Attributes:
        support_functions: names of the support functions that are called.
        checks_divisor: whether a divisor is checked for zero.
        constant_values: the values of names that are constant in the present expression.
    """

    def __init__(
        self,
        format_name: Callable[[Name], str],
        enum_constant: Callable[[EnumType, str], str],
        *,
        soft_doubles: bool = False,
        write_chain_function: ChainWriter | None = None,
    ) -> None:
        """Store the options; nothing is translated yet."""
        self.format_name = format_name
        self.enum_constant = enum_constant
        self.soft_doubles = soft_doubles
        self.write_chain_function = write_chain_function
        self.support_functions: set[str] = set()  # grows as expressions are translated
        self.checks_divisor = False  # set when a divisor is translated that may be zero
        self.constant_values: Mapping[str, Value] = {}  # of the expression that is translated now

    def translate_condition(self, expression: Expression) -> str:
        """Return a condition, without brackets."""
        return self.translate(expression).text

    def translate_all(self, terms: Sequence[ConditionTerm]) -> str:
        """Return the condition of C that all terms hold; empty for no terms."""
        texts: list[str] = []
        for term in terms:
            self.constant_values = term.constant_values
            value = self.translate_tree(term.tree)
            texts.append(value.text if len(terms) == 1 else value.as_operand)
        return " && ".join(texts)

    def translate(self, expression: Expression, enumeration: Type | None = None) -> CExpression:
        """Return an expression in C; `enumeration` is as for `translate_tree`."""
        self.constant_values = expression.constant_values
        return self.translate_tree(expression.tree, enumeration)

    def translate_assigned(self, expression: Expression, value_type: Type) -> str:
        """Return the expression of C for a value assigned to a variable of a type."""
        self.constant_values = expression.constant_values
        constant = self._constant_value(expression.tree)
        if constant is not None:
            clamped = value_type.clamp(constant)  # type: ignore[arg-type]  # the chart was type-checked
            return self.literal(clamped, value_type)
        return self.clamp_to_type(self.translate_tree(expression.tree, value_type), value_type)

    def clamp_to_type(self, value: CExpression, value_type: Type) -> str:
        """Return the expression of C for a value clamped to the range of a type, in its storage type."""
        if isinstance(value_type, IntType):
            return self._clamp_integer(value, value_type)
        if isinstance(value_type, FloatType):
            return self._clamp_float(value, value_type)
        needs_cast = isinstance(value_type, EnumType) and not value.is_atom
        return f"({value_type.storage}_t){value.as_operand}" if needs_cast else value.text

    def _clamp_integer(self, value: CExpression, int_type: IntType) -> str:
        """Return the expression of C for an integer clamped to the range of a type, in its storage type.

        It is clamped only if its value may be outside of the range.
        """
        text = value.uncast_text or value.text
        may_exceed = value.low < int_type.low or value.high > int_type.high
        if may_exceed:
            self.support_functions.add("pw_clamp_i32")
            bounds = f"{integer_literal(int_type.low)}, {integer_literal(int_type.high)}"
            call = f"pw_clamp_i32({text}, {bounds})"  # an int32_t
            return call if int_type.storage == "int32" else f"({int_type.storage}_t){call}"
        needs_no_cast = value.kind is CKind.LONG and int_type.storage == "int32"
        return text if needs_no_cast else f"({int_type.storage}_t){value.uncast_text or value.as_operand}"

    def _clamp_float(self, value: CExpression, float_type: FloatType) -> str:
        """Return the expression of C for a number clamped to a float type; NaN becomes the type's default.

        A float of 32 bits is clamped as it is. Other numbers are clamped in 64 bits, then rounded to 32 if
        the type has these. An integer that is always in the range is only converted.
        """
        is_single = float_type.single and value.kind is CKind.FLOAT
        computed_value = value if is_single else self.as_double(value)
        always_fits = value.is_integer and float_type.low <= value.low and value.high <= float_type.high
        if always_fits:
            return self.as_float(value).text if float_type.single else computed_value.text
        numbers = (float_type.low, float_type.high, float_type.default)
        literals = ", ".join(self.float_literal(number, single=is_single).text for number in numbers)
        double_function = "pw_f64_fit" if self.soft_doubles else "pw_fit_double"
        function = "pw_fit_float" if is_single else double_function
        self.support_functions.add(function)
        call = f"{function}({computed_value.text}, {literals})"
        if is_single or not float_type.single:
            return call
        if self.soft_doubles:
            self.support_functions.add("pw_f64_to_f32")
            return f"pw_f64_to_f32({call})"
        return f"(float){call}"

    # Literals

    def literal(self, value: Value, value_type: Type) -> str:
        """Return a value of a type as a literal or constant of C."""
        if isinstance(value_type, EnumType):
            return self.enum_constant(value_type, str(value))
        if isinstance(value_type, FloatType):
            return self.float_literal(float(value), single=value_type.single).text
        return self._constant_literal(value).text

    def _constant_literal(self, value: Value) -> CExpression:
        """Return a bool or number as a literal of C, in the narrowest kind that represents it exactly."""
        if isinstance(value, bool):
            return CExpression("true" if value else "false", CKind.BOOL, is_atom=True)
        if isinstance(value, int):
            kind = CKind.INT if INT16_LOW <= value <= INT16_HIGH else CKind.LONG
            return CExpression(
                integer_literal(value), kind, is_atom=value >= 0, low=value, high=value, literal_value=value
            )
        return self.float_literal(float(value), single=to_single(float(value)) == value)

    def float_literal(self, value: float, *, single: bool) -> CExpression:
        """Return a float as a literal of C with exactly the same bits."""
        return (
            bits_literal(value) if self.soft_doubles and not single else decimal_literal(value, single=single)
        )

    # Trees

    def translate_tree(self, tree: Tree, enumeration: Type | None = None) -> CExpression:
        """Return a tree in C.

        Args:
            tree: the tree, with types.
            enumeration: the enumeration to which a name such as `red` belongs that is one of its values; None
                for the type that the name has in the tree.
        """
        if isinstance(tree, Name) and isinstance(self.constant_values.get(tree.name), str):
            enum_type = enumeration if isinstance(enumeration, EnumType) else tree.type
            enum_value = str(self.constant_values[tree.name])
            text = self.enum_constant(enum_type, enum_value)  # type: ignore[arg-type]  # it is an enumeration
            return CExpression(text, CKind.ENUM, is_atom=True)
        constant = self._constant_value(tree)
        if constant is not None and not isinstance(constant, str):
            return self._constant_literal(constant)
        match tree:
            case Name():
                value = self._translate_name(tree)
            case Unary():
                value = self._translate_unary(tree)
            case Binary():
                value = self._translate_binary(tree)
            case If():
                value = self._translate_if(tree, enumeration)
            case Call():
                value = self._translate_call(tree)
            case _:
                raise TypeError(f"there is no C for {tree!r}")
        return value

    def _translate_binary(self, tree: Binary) -> CExpression:
        """Return a binary operation in C; chains of `and` or `or` are joined without inner brackets."""
        if tree.operator in COMPARISONS:
            return self._translate_comparison(tree)
        if tree.operator in ARITHMETIC:
            return self._translate_arithmetic(tree)
        c_operator = " && " if tree.operator is Operator.AND else " || "
        operands = (self.translate_tree(operand) for operand in find_operands(tree, tree.operator))
        return CExpression(c_operator.join(operand.as_operand for operand in operands), CKind.BOOL)

    def _constant_value(self, tree: Tree) -> Value | None:
        """Return the value of a tree without variables; None if it has variables or divides by zero."""
        if isinstance(tree, Literal):
            return tree.value
        if names_in(tree) - self.constant_values.keys():
            return None
        try:
            value: Value = compile_tree(tree, self.constant_values, Expression(tree, BoolType()).source)({})
        except ExpressionError:
            return None  # a division by zero must happen at run time
        return value

    def _translate_name(self, tree: Name) -> CExpression:
        """Return a variable, input or event in C, with the CKind and range of its type."""
        text = self.format_name(tree)
        value_type = tree.type
        if isinstance(value_type, BoolType):
            return CExpression(text, CKind.BOOL, is_atom=True)
        if isinstance(value_type, EnumType):
            return CExpression(text, CKind.ENUM, is_atom=True)
        if isinstance(value_type, FloatType):
            return CExpression(text, CKind.FLOAT if value_type.single else CKind.DOUBLE, is_atom=True)
        if value_type.storage == "uint16":
            return CExpression(f"(int32_t){text}", CKind.LONG, low=value_type.low, high=value_type.high)
        c_kind = CKind.LONG if value_type.storage == "int32" else CKind.INT
        return CExpression(text, c_kind, is_atom=True, low=value_type.low, high=value_type.high)

    def _translate_unary(self, tree: Unary) -> CExpression:
        """Return `not x` or `-x` in C; the negation of an integer saturates at 32 bits."""
        operand = self.translate_tree(tree.operand)
        if tree.operator is Operator.NOT:
            return CExpression(f"!{operand.as_operand}", CKind.BOOL, is_atom=True)
        if not operand.is_integer:
            if operand.kind is CKind.DOUBLE and self.soft_doubles:
                return self._emulated_call("pw_f64_neg", operand)
            return CExpression(f"-{operand.as_operand}", operand.kind)
        low = -operand.high  # negation swaps the bounds
        high = -operand.low
        if high > INT_HIGH:  # only the negation of the smallest 32-bit integer is
            self.support_functions.add("pw_neg")
            return CExpression(f"pw_neg({operand.text})", CKind.LONG, is_atom=True, low=low, high=INT_HIGH)
        return self._build_integer(f"-{operand.as_operand}", low, high, operands=(operand,))

    def _build_integer(
        self, text: str, low: float, high: float, operands: tuple[CExpression, ...]
    ) -> CExpression:
        """Return an operation on integers, which C computes in 16 bits if its result and operands fit.

        Args:
            text: the operation in C.
            low: the smallest result.
            high: the largest result.
            operands: the operands.
        """
        are_operands_small = all(operand.kind is CKind.INT for operand in operands)
        fits = low >= INT16_LOW and high <= INT16_HIGH
        kind = CKind.INT if are_operands_small and fits else CKind.LONG
        return CExpression(text, kind, low=low, high=high)

    def _translate_arithmetic(self, tree: Binary) -> CExpression:
        """Return `+`, `-`, `*`, `/` or `%` in C: of integers, except for `/`, or of 64-bit floats."""
        left = self.translate_tree(tree.left)
        right = self.translate_tree(tree.right)
        if left.is_integer and right.is_integer and tree.operator is not Operator.OVER:
            return self._integer_arithmetic(tree, left, right)
        return self._float_arithmetic(
            tree, left=self.as_double(left), right=self.as_double(right), kind=CKind.DOUBLE
        )

    def _integer_arithmetic(self, tree: Binary, left: CExpression, right: CExpression) -> CExpression:
        """Return `+`, `-`, `*` or `%` of two integers in C, without overflow.

        The result saturates if it may exceed 32 bits, and is computed in 32 bits if it may exceed 16.

        Args:
            tree: the operation.
            left: its left operand in C.
            right: its right operand in C.
        """
        if tree.operator is Operator.MODULO:
            return self._integer_modulo(left, right)
        results_at_bounds = [
            _compute(tree.operator, a, b) for a in (left.low, left.high) for b in (right.low, right.high)
        ]
        low = min(results_at_bounds)
        high = max(results_at_bounds)
        if low < INT_LOW or high > INT_HIGH:
            function = _SATURATING_FUNCTIONS[tree.operator]
            self.support_functions.add(function)
            text = f"{function}({left.text}, {right.text})"
            return CExpression(
                text, CKind.LONG, is_atom=True, low=max(low, INT_LOW), high=min(high, INT_HIGH)
            )
        c_operator = _ARITHMETIC_SIGNS[tree.operator]
        value = self._build_integer(
            f"{left.as_operand} {c_operator} {right.as_operand}", low, high, operands=(left, right)
        )
        if value.kind is CKind.LONG and CKind.LONG not in (left.kind, right.kind):
            text = f"(int32_t){left.as_operand} {c_operator} {right.as_operand}"
            return CExpression(text, CKind.LONG, low=low, high=high)
        return value

    def _integer_modulo(self, left: CExpression, right: CExpression) -> CExpression:
        """Return the remainder of two integers, with the sign of the divisor as in Python.

        C's `%` is used if no operand can be negative; otherwise a function, which reports a divisor of zero.
        """
        low = min(right.low + 1, 0)
        high = max(right.high - 1, 0)
        if left.low >= 0 and right.low > 0:
            return self._build_integer(
                f"{left.as_operand} % {right.as_operand}", low, high, operands=(left, right)
            )
        if right.low <= 0 <= right.high:
            self.checks_divisor = True
            self.support_functions.add("pw_checked_mod")
            text = f"pw_checked_mod({left.text}, {right.text}, {STATUS})"
        else:
            self.support_functions.add("pw_mod")
            text = f"pw_mod({left.text}, {right.text})"
        return CExpression(text, CKind.LONG, is_atom=True, low=low, high=high)

    def _float_arithmetic(
        self, tree: Binary, left: CExpression, right: CExpression, kind: CKind
    ) -> CExpression:
        """Return `+`, `-`, `*`, `/` or `%` of two floats of one kind in C.

        A divisor that may be zero is put into a call that sets the status of the chart. 64-bit floats are
        computed by functions if the compiler has none.

        Args:
            tree: the operation.
            left: its left operand in C.
            right: its right operand in C.
            kind: the kind of both operands and of the result, FLOAT or DOUBLE.
        """
        is_emulated = self.soft_doubles and kind is CKind.DOUBLE
        is_division = tree.operator in (Operator.OVER, Operator.MODULO)
        if is_division and self._may_be_zero(tree.right):
            self.checks_divisor = True
            right = self._checked_divisor(right, is_emulated=is_emulated)
        if tree.operator is Operator.MODULO:
            native_name = "pw_fmod" if kind is CKind.DOUBLE else "pw_fmodf"
            name = "pw_f64_mod" if is_emulated else native_name
            self.support_functions.add(name)
            return CExpression(f"{name}({left.text}, {right.text})", kind, is_atom=True)
        if is_emulated:
            return self._emulated_call(f"pw_f64_{_EMULATED_NAMES[tree.operator]}", left, right)
        # avr-libc rounds some subnormal quotients wrongly
        if self.soft_doubles and tree.operator is Operator.OVER:
            self.support_functions.add("pw_f32_div")
            return CExpression(f"pw_f32_div({left.text}, {right.text})", kind, is_atom=True)
        return CExpression(f"{left.as_operand} {_ARITHMETIC_SIGNS[tree.operator]} {right.as_operand}", kind)

    def _may_be_zero(self, tree: Tree) -> bool:
        """Return whether 0 is in the range of a tree's values."""
        low, high = range_of(tree, self.constant_values)
        return low <= 0 <= high

    def _checked_divisor(self, divisor: CExpression, *, is_emulated: bool) -> CExpression:
        """Return a divisor in a call that sets the status of the chart if it is zero."""
        name = "pw_f64_divisor" if is_emulated else f"pw_{divisor.kind.value}_divisor"
        self.support_functions.add(name)
        return CExpression(f"{name}({divisor.text}, {STATUS})", divisor.kind, is_atom=True)

    def _emulated_call(self, name: str, *arguments: CExpression) -> CExpression:
        """Return the call of a support function that computes a 64-bit float from its bits."""
        self.support_functions.add(name)
        text = f"{name}({', '.join(argument.text for argument in arguments)})"
        return CExpression(text, CKind.DOUBLE, is_atom=True)

    def as_double(self, number: CExpression) -> CExpression:
        """Return a number as a float of 64 bits."""
        if number.kind is CKind.DOUBLE:
            return number
        if number.literal_value is not None:
            return self.float_literal(float(number.literal_value), single=False)
        if not self.soft_doubles:
            return CExpression(f"(double){number.as_operand}", CKind.DOUBLE)
        return self._emulated_call(
            "pw_f64_from_f32" if number.kind is CKind.FLOAT else "pw_f64_from_i32", number
        )

    def as_float(self, number: CExpression) -> CExpression:
        """Return a number as a float of 32 bits, rounded to the nearest."""
        if number.kind is CKind.FLOAT:
            return number
        if number.literal_value is not None and to_single(number.literal_value) == number.literal_value:
            return self.float_literal(float(number.literal_value), single=True)
        if number.kind is CKind.DOUBLE and self.soft_doubles:
            self.support_functions.add("pw_f64_to_f32")
            return CExpression(f"pw_f64_to_f32({number.text})", CKind.FLOAT, is_atom=True)
        return CExpression(f"(float){number.as_operand}", CKind.FLOAT)

    def _translate_comparison(self, tree: Binary) -> CExpression:
        """Return a comparison in C; numbers are first converted to a kind that represents both exactly."""
        enumeration = self._find_compared_enumeration((tree.left, tree.right))
        left = self.translate_tree(tree.left, enumeration)
        right = self.translate_tree(tree.right, enumeration)
        if left.kind not in (CKind.ENUM, CKind.BOOL):
            left, right = self.convert_to_common_kind((left, right))
        if self.soft_doubles and left.kind is CKind.DOUBLE:
            return self._emulated_comparison(tree.operator, left, right)
        return CExpression(
            f"{left.as_operand} {_COMPARISON_SIGNS[tree.operator]} {right.as_operand}", CKind.BOOL
        )

    def _find_compared_enumeration(self, operands: tuple[Tree, Tree]) -> EnumType | None:
        """Return the enumeration whose values are compared; None where other values are.

        Several enumerations may have a value of the same name, so the type of the first variable decides.
        """
        first_variable = next(
            (
                operand
                for operand in operands
                if isinstance(operand, Name) and operand.name not in self.constant_values
            ),
            None,
        )
        if first_variable is not None and isinstance(first_variable.type, EnumType):
            return first_variable.type
        return next(filter(None, map(_find_enumeration, operands)), None)

    def _emulated_comparison(self, operator: Operator, left: CExpression, right: CExpression) -> CExpression:
        """Return a comparison of two 64-bit floats by a support function.

        There are functions for `<`, `<=` and `==` only. So `>` and `>=` exchange the operands, and `!=` is
        the negation of `==`.
        """
        if operator in _MIRRORED_OPERATORS:
            return self._emulated_comparison(_MIRRORED_OPERATORS[operator], left=right, right=left)
        name = {Operator.LESS: "pw_f64_lt", Operator.LESS_EQUAL: "pw_f64_le"}.get(operator, "pw_f64_eq")
        call = self._emulated_call(name, left, right)
        negation = "!" if operator is Operator.UNEQUAL else ""
        return CExpression(f"{negation}{call.text}", CKind.BOOL, is_atom=True)

    def convert_to_common_kind(self, numbers: tuple[CExpression, ...]) -> tuple[CExpression, ...]:
        """Return numbers in the narrowest kind that represents all of them exactly."""
        if all(number.is_integer for number in numbers):
            return numbers
        fit_single = all(number.kind is CKind.FLOAT or exact_single(number) for number in numbers)
        return tuple(self.as_float(number) if fit_single else self.as_double(number) for number in numbers)

    def _translate_if(self, tree: If, expected_type: Type | None) -> CExpression:
        """Return `a if c else b if d else e` in C: as `?:`, or a long one as the call of a function.

        Args:
            tree: the conditional, whose `else` may be another one.
            expected_type: the type of a variable to which the value is assigned; None if it is not known.
        """
        cases, otherwise = split_cases(tree)
        enumeration = expected_type if isinstance(expected_type, EnumType) else _find_enumeration(tree)
        values = [
            self.translate_tree(value, enumeration) for value in (*(then for _, then in cases), otherwise)
        ]
        if values[0].kind not in (CKind.BOOL, CKind.ENUM):
            values = [*self.convert_to_common_kind(tuple(values))]
        # after `convert_to_common_kind`, kinds differ only where some integers have 16 bits and others 32
        kind = CKind.LONG if any(value.kind is CKind.LONG for value in values) else values[0].kind
        low = min(value.low for value in values)
        high = max(value.high for value in values)
        conditions = [self.translate_tree(condition) for condition, _ in cases]
        if self.write_chain_function is not None and len(cases) >= MIN_CHAIN_CONDITIONS:
            condition_texts = [condition.text for condition in conditions]
            value_texts = [value.text for value in values]
            call = self.write_chain_function(
                tree, self._c_type(kind, enumeration), condition_texts, value_texts
            )
            return CExpression(call, kind, is_atom=True, low=low, high=high)
        pairs = zip(conditions, values[:-1], strict=True)
        text = "".join(f"{condition.as_operand} ? {value.as_operand} : " for condition, value in pairs)
        return CExpression(f"{text}{values[-1].as_operand}", kind, low=low, high=high)

    def _c_type(self, kind: CKind, enumeration: EnumType | None) -> str:
        """Return the type in C of a function that returns a value; `enumeration` is that of an ENUM."""
        if kind is CKind.ENUM and enumeration is not None:
            return f"{enumeration.storage}_t"
        return "pw_f64" if kind is CKind.DOUBLE and self.soft_doubles else kind.value

    def _translate_call(self, tree: Call) -> CExpression:
        """Return a call of `single`, `abs`, `min` or `max` in C."""
        if tree.function == "single":
            return self.translate_single(tree.arguments[0])
        arguments = tuple(self.translate_tree(argument) for argument in tree.arguments)
        if tree.function == "abs":
            return self._absolute(arguments[0])
        arguments = self.convert_to_common_kind(arguments)
        value = arguments[0]
        for argument in arguments[1:]:
            value = self._minimum_or_maximum(tree.function, value, argument)
        return value

    def _minimum_or_maximum(self, function: str, first: CExpression, second: CExpression) -> CExpression:
        """Return the minimum or maximum of two numbers in C, by a support function.

        Args:
            function: `min` or `max`.
            first: a number.
            second: a number of the same kind, or another integer.
        """
        kind = CKind.LONG if CKind.LONG in (first.kind, second.kind) else first.kind
        bound = min if function == "min" else max
        low = bound(first.low, second.low)
        high = bound(first.high, second.high)
        if first.is_integer:
            name = f"pw_{function}_i32"
            self.support_functions.add(name)
            text = f"{name}({first.uncast_text or first.text}, {second.uncast_text or second.text})"
            value = CExpression(text, kind, is_atom=True, low=low, high=high)
            return _with_int_cast(value) if kind is CKind.INT else value
        is_emulated = self.soft_doubles and kind is CKind.DOUBLE
        name = f"pw_f64_{function}" if is_emulated else f"pw_{function}_{kind.value}"
        self.support_functions.add(name)
        return CExpression(f"{name}({first.text}, {second.text})", kind, is_atom=True)

    def _absolute(self, number: CExpression) -> CExpression:
        """Return the absolute value of a number; that of the smallest 32-bit integer saturates."""
        if number.is_integer:
            may_be_zero = number.low <= 0 <= number.high
            low = 0 if may_be_zero else min(abs(number.low), abs(number.high))
            high = min(max(abs(number.low), abs(number.high)), INT_HIGH)
            self.support_functions.add("pw_abs")
            is_small = number.kind is CKind.INT and high <= INT16_HIGH
            text = f"pw_abs({number.uncast_text or number.text})"
            value = CExpression(text, CKind.INT if is_small else CKind.LONG, is_atom=True, low=low, high=high)
            return _with_int_cast(value) if is_small else value
        if number.kind is CKind.DOUBLE and self.soft_doubles:
            return self._emulated_call("pw_f64_abs", number)
        function = "fabsf" if number.kind is CKind.FLOAT else "fabs"
        return CExpression(f"{function}({number.text})", number.kind, is_atom=True)

    def translate_single(self, tree: Tree) -> CExpression:
        """Return a number rounded to 32 bits; an operation on floats is computed in 32 bits at once."""
        if isinstance(tree, Binary) and tree.operator in _ARITHMETIC_SIGNS:
            operands = (self.translate_tree(tree.left), self.translate_tree(tree.right))
            fit_single = all(operand.kind is CKind.FLOAT or exact_single(operand) for operand in operands)
            if fit_single and not all(operand.is_integer for operand in operands):
                left, right = map(self.as_float, operands)
                return self._float_arithmetic(tree, left, right, kind=CKind.FLOAT)
        return self.as_float(self.translate_tree(tree))


def _with_int_cast(value: CExpression) -> CExpression:
    """Return the call of a function that returns an `int32_t`, cast to 16 bits."""
    return replace(value, text=f"(int16_t){value.text}", is_atom=False, uncast_text=value.text)


def _compute(operator: Operator, a: float, b: float) -> float:
    """Return `a + b`, `a - b` or `a * b`."""
    if operator is Operator.PLUS:
        return a + b
    return a - b if operator is Operator.MINUS else a * b


def _find_enumeration(tree: Tree) -> EnumType | None:
    """Return the enumeration of a tree's value; None if it has another type."""
    if isinstance(tree, If):
        cases, otherwise = split_cases(tree)
        return next(filter(None, map(_find_enumeration, (*(then for _, then in cases), otherwise))), None)
    return tree.declared_type if isinstance(tree, Name) and isinstance(tree.declared_type, EnumType) else None
