"""Expressions of a chart as expressions of C that give the same answers, bit for bit.

| value | in C |
|---|---|
| truth | `bool` |
| whole number that surely fits 16 bits | `int`, computed as C does |
| other whole number | `int32_t`; where a result may leave 32 bits, a function that saturates |
| fraction of 32 bits | `float`; an operation on two of them is rounded once, as in the interpreter |
| other fraction | `double`, or where the compiler's `double` is too narrow, calls on 64 bits (`pw_f64`) |
| name of an enumeration | its code |

An operation on two floats in 64 bits, rounded to 32, is the operation in 32 bits: 53 >= 2 * 24 + 2 bits are
enough for that (Figueroa, "When is double rounding innocuous?", 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

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
from posewright.codegen.c.guard_pruning import operands_of
from posewright.codegen.c.values import (
    INT16_HIGH,
    INT16_LOW,
    CExpression,
    CKind,
    bits_of,
    exact_single,
    fraction,
    whole,
)
from posewright.errors import ExpressionError

STATUS = "&chart->status"
"""Where a division by zero is noted."""


SHORTEST_CHAIN = 2
"""Conditions of the shortest chain that is a function: a truth table of three rows has two."""

Chained = Callable[[If, str, list[str], list[str]], str]


_COMPARE = {Operator.EQUAL: "==", Operator.UNEQUAL: "!=", Operator.LESS: "<", Operator.LESS_EQUAL: "<="}
_COMPARE |= {Operator.GREATER: ">", Operator.GREATER_EQUAL: ">="}
_NATIVE = {Operator.PLUS: "+", Operator.MINUS: "-", Operator.TIMES: "*", Operator.OVER: "/"}
_SOFT = {Operator.PLUS: "add", Operator.MINUS: "sub", Operator.TIMES: "mul", Operator.OVER: "div"}
_SATURATING = {Operator.PLUS: "pw_add", Operator.MINUS: "pw_sub", Operator.TIMES: "pw_mul"}
_MIRRORED = {Operator.GREATER: Operator.LESS, Operator.GREATER_EQUAL: Operator.LESS_EQUAL}


class CExpressions:
    """Turns expressions into C.

    Args:
        read: returns the expression of C for a name.
        values: returns the constant of an enumeration's value.
        soft: whether fractions of 64 bits are computed by calls, as the compiler's `double` is shorter.
        chained: gets every long chain, the type of C of its value, its conditions and values in C; returns
            the call of a function that computes it.

    Attributes:
        used: names of the support functions that are called.
        divides: whether a divisor is checked for zero.
    """

    def __init__(
        self,
        read: Callable[[Name], str],
        values: Callable[[EnumType, str], str],
        *,
        soft: bool = False,
        chained: Chained | None = None,
    ) -> None:
        self.read = read
        self.values = values
        self.soft = soft
        self.chained = chained
        self.used: set[str] = set()
        self.divides = False
        self.fixed: Mapping[str, Value] = {}

    def condition(self, expression: Expression) -> str:
        """Return a condition, to stand in brackets."""
        return self.of(expression).text

    def all_of(self, terms: Sequence[tuple[Tree, Mapping[str, Value]]]) -> str:
        """Return the condition that all terms hold, each a tree and the names in it that are fixed."""
        parts = []
        for tree, self.fixed in terms:
            part = self.tree(tree)
            parts.append(part.text if len(terms) == 1 else part.operand)
        return " && ".join(parts)

    def of(self, expression: Expression, enumeration: Type | None = None) -> CExpression:
        """Return the value of an expression."""
        self.fixed = expression.fixed
        return self.tree(expression.tree, enumeration)

    def fitted(self, expression: Expression, kind: Type) -> str:
        """Return the expression of C for a value assigned to a variable of a type."""
        self.fixed = expression.fixed
        constant = self._folded(expression.tree)
        if constant is not None:
            return self.literal(kind.clamp(constant), kind)  # type: ignore[arg-type]  # the type checker has seen that it goes
        return self.stored(self.tree(expression.tree, kind), kind)

    def stored(self, value: CExpression, kind: Type) -> str:
        """Return the expression of C for a value clamped to the range of a type, in its storage type."""
        if isinstance(kind, IntType):
            text = value.bare or value.text
            if value.low < kind.low or value.high > kind.high:
                self.used.add("pw_clamp_i32")
                text = f"pw_clamp_i32({text}, {whole(kind.low)}, {whole(kind.high)})"
                return text if kind.storage == "int32" else f"({kind.storage}_t){text}"
            exact = value.kind is CKind.LONG and kind.storage == "int32"
            return text if exact else f"({kind.storage}_t){value.bare or value.operand}"
        if isinstance(kind, FloatType):
            return self._fraction_stored(value, kind)
        narrowed = isinstance(kind, EnumType) and not value.atom
        return f"({kind.storage}_t){value.operand}" if narrowed else value.text

    def _fraction_stored(self, value: CExpression, kind: FloatType) -> str:
        low, high, zero = (self.number(end, single=False).text for end in (kind.low, kind.high, kind.default))
        surely = value.is_whole and kind.low <= value.low and value.high <= kind.high
        wide = value if kind.single and value.kind is CKind.FLOAT else self.as_double(value)
        if surely:
            return self.as_float(value).text if kind.single else wide.text
        if kind.single and value.kind is CKind.FLOAT:
            self.used.add("pw_fit_float")
            low, high, zero = (
                self.number(end, single=True).text for end in (kind.low, kind.high, kind.default)
            )
            return f"pw_fit_float({value.text}, {low}, {high}, {zero})"
        fit = "pw_f64_fit" if self.soft else "pw_fit_double"
        self.used.add(fit)
        text = f"{fit}({wide.text}, {low}, {high}, {zero})"
        if not kind.single:
            return text
        if self.soft:
            self.used.add("pw_f64_to_f32")
            return f"pw_f64_to_f32({text})"
        return f"(float){text}"

    # Literals

    def literal(self, value: Value, kind: Type) -> str:
        """Return a value of a type."""
        if isinstance(kind, EnumType):
            return self.values(kind, str(value))
        if isinstance(kind, FloatType):
            return self.number(float(value), single=kind.single).text
        return self._constant(value).text

    def _constant(self, value: Value) -> CExpression:
        if isinstance(value, bool):
            return CExpression("true" if value else "false", CKind.BOOL, atom=True)
        if isinstance(value, int):
            kind = CKind.INT if INT16_LOW <= value <= INT16_HIGH else CKind.LONG
            return CExpression(whole(value), kind, value >= 0, value, value, value)
        return self.number(float(value), single=to_single(float(value)) == value)

    def number(self, value: float, *, single: bool) -> CExpression:
        """Return a fraction as a literal that reads back as the very same bits."""
        return bits_of(value) if self.soft and not single else fraction(value, single=single)

    # Trees

    def tree(self, tree: Tree, enumeration: Type | None = None) -> CExpression:
        """Return the value of a tree.

        Args:
            tree: the tree, with types.
            enumeration: the type of a bare name of a value.
        """
        if isinstance(tree, Name) and isinstance(self.fixed.get(tree.name), str):
            kind = enumeration if isinstance(enumeration, EnumType) else tree.type
            text = self.values(kind, str(self.fixed[tree.name]))  # type: ignore[arg-type]  # a name's type is an enumeration
            return CExpression(text, CKind.ENUM, atom=True)
        constant = self._folded(tree)
        if constant is not None and not isinstance(constant, str):
            return self._constant(constant)
        match tree:
            case Name():
                value = self._name(tree)
            case Unary():
                value = self._unary(tree)
            case Binary():
                value = self._binary(tree)
            case If():
                value = self._choice(tree, enumeration)
            case Call():
                value = self._call(tree)
            case _:
                raise TypeError(f"a machine has no {tree!r}")
        return value

    def _binary(self, tree: Binary) -> CExpression:
        if tree.operator in COMPARISONS:
            return self._comparison(tree)
        if tree.operator in ARITHMETIC:
            return self._arithmetic(tree)
        sign = " && " if tree.operator is Operator.AND else " || "
        parts = (self.tree(operand) for operand in operands_of(tree, tree.operator))
        return CExpression(sign.join(part.operand for part in parts), CKind.BOOL)

    def _folded(self, tree: Tree) -> Value | None:
        """Return the value of a tree without variables; None where it has some, or divides by zero."""
        if isinstance(tree, Literal):
            return tree.value
        if names_in(tree) - self.fixed.keys():
            return None
        try:
            value: Value = compile_tree(tree, self.fixed, Expression(tree, BoolType()).source)({})
        except ExpressionError:
            return None  # a division by zero must happen at run time
        return value

    def _name(self, tree: Name) -> CExpression:
        text, kind = self.read(tree), tree.type
        if isinstance(kind, BoolType):
            return CExpression(text, CKind.BOOL, atom=True)
        if isinstance(kind, EnumType):
            return CExpression(text, CKind.ENUM, atom=True)
        if isinstance(kind, FloatType):
            return CExpression(text, CKind.FLOAT if kind.single else CKind.DOUBLE, atom=True)
        if kind.storage == "uint16":
            return CExpression(f"(int32_t){text}", CKind.LONG, False, kind.low, kind.high)
        wide = CKind.LONG if kind.storage == "int32" else CKind.INT
        return CExpression(text, wide, True, kind.low, kind.high)

    def _unary(self, tree: Unary) -> CExpression:
        inner = self.tree(tree.operand)
        if tree.operator is Operator.NOT:
            return CExpression(f"!{inner.operand}", CKind.BOOL, atom=True)
        if not inner.is_whole:
            if inner.kind is CKind.DOUBLE and self.soft:
                return self._soft_call("pw_f64_neg", inner)
            return CExpression(f"-{inner.operand}", inner.kind)
        low, high = -inner.high, -inner.low
        if high > INT_HIGH:
            self.used.add("pw_neg")
            return CExpression(f"pw_neg({inner.text})", CKind.LONG, True, low, INT_HIGH)
        return self._integer(f"-{inner.operand}", low, high, (inner,))

    def _integer(self, text: str, low: float, high: float, parts: tuple[CExpression, ...]) -> CExpression:
        """Return an integer, computed in 16 bits where it and its parts fit."""
        small = all(part.kind is CKind.INT for part in parts) and low >= INT16_LOW and high <= INT16_HIGH
        return CExpression(text, CKind.INT if small else CKind.LONG, False, low, high)

    def _arithmetic(self, tree: Binary) -> CExpression:
        left, right = self.tree(tree.left), self.tree(tree.right)
        if left.is_whole and right.is_whole and tree.operator is not Operator.OVER:
            return self._integer_arithmetic(tree, left, right)
        return self._fraction(tree, self.as_double(left), self.as_double(right), CKind.DOUBLE)

    def _integer_arithmetic(self, tree: Binary, left: CExpression, right: CExpression) -> CExpression:
        if tree.operator is Operator.MODULO:
            return self._integer_modulo(left, right)
        corners = [
            _exact(tree.operator, a, b) for a in (left.low, left.high) for b in (right.low, right.high)
        ]
        low, high = min(corners), max(corners)
        if low < INT_LOW or high > INT_HIGH:
            function = _SATURATING[tree.operator]
            self.used.add(function)
            low, high = max(low, INT_LOW), min(high, INT_HIGH)
            return CExpression(f"{function}({left.text}, {right.text})", CKind.LONG, True, low, high)
        sign = _NATIVE[tree.operator]
        value = self._integer(f"{left.operand} {sign} {right.operand}", low, high, (left, right))
        if value.kind is CKind.LONG and CKind.LONG not in (left.kind, right.kind):
            return CExpression(
                f"(int32_t){left.operand} {sign} {right.operand}", CKind.LONG, False, low, high
            )
        return value

    def _integer_modulo(self, left: CExpression, right: CExpression) -> CExpression:
        low, high = min(right.low + 1, 0), max(right.high - 1, 0)
        if left.low >= 0 and right.low > 0:
            return self._integer(f"{left.operand} % {right.operand}", low, high, (left, right))
        self._note_division(right)
        name = "pw_mod" if not _may_be_zero(right) else "pw_checked_mod"
        self.used.add(name)
        status = f", {STATUS}" if name == "pw_checked_mod" else ""
        return CExpression(f"{name}({left.text}, {right.text}{status})", CKind.LONG, True, low, high)

    def _note_division(self, right: CExpression) -> None:
        """Note that a divisor may be zero, if it may."""
        if _may_be_zero(right):
            self.divides = True

    def _fraction(self, tree: Binary, left: CExpression, right: CExpression, kind: CKind) -> CExpression:
        """Return an operation on two fractions of one kind."""
        soft = self.soft and kind is CKind.DOUBLE
        checked = tree.operator in (Operator.OVER, Operator.MODULO) and self._divisor_may_be_zero(tree.right)
        if checked:
            self.divides = True
            right = self._checked(right, soft=soft)
        if tree.operator is Operator.MODULO:
            name = "pw_f64_mod" if soft else "pw_fmod" if kind is CKind.DOUBLE else "pw_fmodf"
            self.used.add(name)
            return CExpression(f"{name}({left.text}, {right.text})", kind, atom=True)
        if soft:
            return self._soft_call(f"pw_f64_{_SOFT[tree.operator]}", left, right)
        if self.soft and tree.operator is Operator.OVER:  # avr-libc rounds some subnormal quotients wrongly
            self.used.add("pw_f32_div")
            return CExpression(f"pw_f32_div({left.text}, {right.text})", kind, atom=True)
        return CExpression(f"{left.operand} {_NATIVE[tree.operator]} {right.operand}", kind)

    def _divisor_may_be_zero(self, tree: Tree) -> bool:
        low, high = range_of(tree, self.fixed)
        return low <= 0 <= high

    def _checked(self, divisor: CExpression, *, soft: bool) -> CExpression:
        """Return a divisor that sets the status where it is zero."""
        name = "pw_f64_divisor" if soft else f"pw_{divisor.kind.value}_divisor"
        self.used.add(name)
        return CExpression(f"{name}({divisor.text}, {STATUS})", divisor.kind, atom=True)

    def _soft_call(self, name: str, *parts: CExpression) -> CExpression:
        self.used.add(name)
        return CExpression(f"{name}({', '.join(part.text for part in parts)})", CKind.DOUBLE, atom=True)

    def as_double(self, value: CExpression) -> CExpression:
        """Return a number as a fraction of 64 bits."""
        if value.kind is CKind.DOUBLE:
            return value
        if value.value is not None:
            return self.number(float(value.value), single=False)
        if not self.soft:
            return CExpression(f"(double){value.operand}", CKind.DOUBLE)
        return self._soft_call("pw_f64_from_f32" if value.kind is CKind.FLOAT else "pw_f64_from_i32", value)

    def as_float(self, value: CExpression) -> CExpression:
        """Return a number as a fraction of 32 bits, rounded to the nearest."""
        if value.kind is CKind.FLOAT:
            return value
        if value.value is not None and to_single(value.value) == value.value:
            return self.number(float(value.value), single=True)
        if value.kind is CKind.DOUBLE and self.soft:
            self.used.add("pw_f64_to_f32")
            return CExpression(f"pw_f64_to_f32({value.text})", CKind.FLOAT, atom=True)
        return CExpression(f"(float){value.operand}", CKind.FLOAT)

    def _comparison(self, tree: Binary) -> CExpression:
        enumeration = next((k for k in map(_enumeration, (tree.left, tree.right)) if k is not None), None)
        free = next(
            (
                operand.type
                for operand in (tree.left, tree.right)
                if isinstance(operand, Name) and operand.name not in self.fixed
            ),
            None,
        )
        enumeration = free if isinstance(free, EnumType) else enumeration
        left, right = self.tree(tree.left, enumeration), self.tree(tree.right, enumeration)
        if left.kind is CKind.ENUM or left.kind is CKind.BOOL:
            return CExpression(f"{left.operand} {_COMPARE[tree.operator]} {right.operand}", CKind.BOOL)
        left, right = self.widen((left, right))
        if self.soft and left.kind is CKind.DOUBLE:
            return self._soft_comparison(tree.operator, left, right)
        return CExpression(f"{left.operand} {_COMPARE[tree.operator]} {right.operand}", CKind.BOOL)

    def _soft_comparison(self, operator: Operator, left: CExpression, right: CExpression) -> CExpression:
        if operator in _MIRRORED:
            operator, left, right = _MIRRORED[operator], right, left
        name = {Operator.LESS: "pw_f64_lt", Operator.LESS_EQUAL: "pw_f64_le"}.get(operator, "pw_f64_eq")
        call = self._soft_call(name, left, right)
        sign = "!" if operator is Operator.UNEQUAL else ""
        return CExpression(f"{sign}{call.text}", CKind.BOOL, atom=True)

    def widen(self, parts: tuple[CExpression, ...]) -> tuple[CExpression, ...]:
        """Return numbers in the narrowest kind that represents all of them exactly."""
        if all(part.is_whole for part in parts):
            return parts
        single = all(part.kind is CKind.FLOAT or exact_single(part) for part in parts)
        return tuple(self.as_float(part) if single else self.as_double(part) for part in parts)

    def _choice(self, tree: If, requested: Type | None) -> CExpression:
        cases, otherwise = split_cases(tree)
        enumeration = requested if isinstance(requested, EnumType) else _enumeration(tree)
        values = [self.tree(value, enumeration) for value in (*(then for _, then in cases), otherwise)]
        if values[0].kind not in (CKind.BOOL, CKind.ENUM):
            values = [*self.widen(tuple(values))]
        kind = CKind.LONG if any(value.kind is CKind.LONG for value in values) else values[0].kind
        low, high = min(value.low for value in values), max(value.high for value in values)
        conditions = [self.tree(condition) for condition, _ in cases]
        if self.chained is not None and len(cases) >= SHORTEST_CHAIN:
            texts = [one.text for one in conditions], [one.text for one in values]
            call = self.chained(tree, self._c_type(kind, enumeration), *texts)
            return CExpression(call, kind, True, low, high)
        pairs = zip(conditions, values, strict=False)
        text = "".join(f"{condition.operand} ? {value.operand} : " for condition, value in pairs)
        return CExpression(f"{text}{values[-1].operand}", kind, False, low, high)

    def _c_type(self, kind: CKind, enumeration: EnumType | None) -> str:
        """Return the type of C of the value of a function."""
        if kind is CKind.ENUM and enumeration is not None:
            return f"{enumeration.storage}_t"
        return "pw_f64" if kind is CKind.DOUBLE and self.soft else kind.value

    def _call(self, tree: Call) -> CExpression:
        if tree.function == "single":
            return self.single(tree.arguments[0])
        parts = tuple(self.tree(argument) for argument in tree.arguments)
        if tree.function == "abs":
            return self._absolute(parts[0])
        parts = self.widen(parts)
        value = parts[0]
        for part in parts[1:]:
            value = self._minimum_or_maximum(tree.function, value, part)
        return value

    def _minimum_or_maximum(self, function: str, first: CExpression, second: CExpression) -> CExpression:
        kind = CKind.LONG if CKind.LONG in (first.kind, second.kind) else first.kind
        bound = min if function == "min" else max
        low, high = bound(first.low, second.low), bound(first.high, second.high)
        if first.is_whole:
            name = f"pw_{function}_i32"
            self.used.add(name)
            small = kind is CKind.INT
            text = f"{name}({first.bare or first.text}, {second.bare or second.text})"
            value = CExpression(text, kind, True, low, high)
            return replace(value, text=f"(int16_t){text}", atom=False, bare=text) if small else value
        soft = self.soft and kind is CKind.DOUBLE
        name = f"pw_f64_{function}" if soft else f"pw_{function}_{kind.value}"
        self.used.add(name)
        return CExpression(f"{name}({first.text}, {second.text})", kind, atom=True)

    def _absolute(self, inner: CExpression) -> CExpression:
        if inner.is_whole:
            low = 0 if inner.low <= 0 <= inner.high else min(abs(inner.low), abs(inner.high))
            high = min(max(abs(inner.low), abs(inner.high)), INT_HIGH)
            self.used.add("pw_abs")
            small = inner.kind is CKind.INT and high <= INT16_HIGH
            text = f"pw_abs({inner.bare or inner.text})"
            value = CExpression(text, CKind.INT if small else CKind.LONG, True, low, high)
            return replace(value, text=f"(int16_t){text}", atom=False, bare=text) if small else value
        if inner.kind is CKind.DOUBLE and self.soft:
            return self._soft_call("pw_f64_abs", inner)
        return CExpression(
            f"{'fabsf' if inner.kind is CKind.FLOAT else 'fabs'}({inner.text})", inner.kind, atom=True
        )

    def single(self, inner: Tree) -> CExpression:
        """Return a number rounded to 32 bits; an operation on floats is computed in 32 bits at once."""
        if isinstance(inner, Binary) and inner.operator in _NATIVE:
            parts = self.tree(inner.left), self.tree(inner.right)
            if all(part.kind is CKind.FLOAT or exact_single(part) for part in parts) and not all(
                part.is_whole for part in parts
            ):
                left, right = map(self.as_float, parts)
                return self._fraction(inner, left, right, CKind.FLOAT)
        return self.as_float(self.tree(inner))


def _exact(operator: Operator, a: float, b: float) -> float:
    if operator is Operator.PLUS:
        return a + b
    return a - b if operator is Operator.MINUS else a * b


def _may_be_zero(value: CExpression) -> bool:
    return value.low <= 0 <= value.high


def _enumeration(tree: Tree) -> EnumType | None:
    """Return the enumeration that a tree's value is of."""
    if isinstance(tree, If):
        cases, otherwise = split_cases(tree)
        return next(filter(None, map(_enumeration, (*(then for _, then in cases), otherwise))), None)
    return tree.declared_type if isinstance(tree, Name) and isinstance(tree.declared_type, EnumType) else None
