"""The parser of expressions, and the formatter whose text parses to the same tree.

Operators from loose to tight: `a if c else b`, `or`, `and`, `not`, comparison (which does not chain), `+ -`,
`* / %`, unary `-`. The parser is a Pratt parser; it accepts any name, which the type checker resolves.
"""

from __future__ import annotations

import math
from typing import NoReturn

from posewright.charts.expression.source import KEYWORDS, SourceText, Token, TokenKind, tokenize
from posewright.charts.expression.tree import (
    ARITHMETIC,
    COMPARISONS,
    Binary,
    Call,
    If,
    InState,
    Literal,
    Name,
    Operator,
    TemporalCondition,
    Tree,
    Unary,
    height,
)
from posewright.charts.types import INT_HIGH, UNITS, unit_hint

MAX_DEPTH = 100
"""Levels of a tree: a chain of as many `and`, or as many nested parentheses."""

NOT_POWER = 3
COMPARISON_POWER = 4
MINUS_POWER = 7
BINDING_POWER = {
    Operator.OR: 1,
    Operator.AND: 2,
    **dict.fromkeys(COMPARISONS, COMPARISON_POWER),
    **dict.fromkeys(ARITHMETIC, 6),
    Operator.PLUS: 5,
    Operator.MINUS: 5,
}
"""Binding powers: an operator of a higher one binds tighter."""

_OPERATORS = {operator.value: operator for operator in BINDING_POWER}
_TRUTH_VALUES = {"true": True, "false": False, "True": True, "False": False}


def parse(source: SourceText) -> Tree:
    """Return the syntax tree of an expression.

    Raises:
        ExpressionError: the text does not parse, or is too long or nested too deep.
    """
    parser = _ExpressionParser(source)
    tree = parser.parse_expression(depth=0)
    parser.require_end()
    if height(tree) > MAX_DEPTH:
        source.fail(offset=0, message=f"more than {MAX_DEPTH} levels of operators", hint="split it up")
    return tree


class _ExpressionParser:
    """Parses one expression by precedence climbing: `parse_binary` consumes operators that bind tighter.

    Attributes:
        source: the text, for messages.
        tokens: its tokens, of which the last is the end.
        position: index of the next token.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.tokens = tokenize(source)
        self.position = 0

    @property
    def next_token(self) -> Token:
        """The token at the current position."""
        return self.tokens[self.position]

    @property
    def next_operator(self) -> Operator | None:
        """The binary operator that comes next, None if the next token is something else."""
        if self.next_token.kind is TokenKind.END:
            return None
        return _OPERATORS.get(self.next_token.text)

    def consume(self) -> Token:
        """Return the next token and go on to the one after it."""
        token = self.next_token
        self.position += 1
        return token

    def fail(self, token: Token, message: str, hint: str | None = None) -> NoReturn:
        """Raise an ExpressionError that points at a token."""
        self.source.fail(token.offset, message, hint=hint)

    def parse_expression(self, depth: int) -> Tree:
        """Parse a chain of binary operators, and the rest of `a if c else b` where it follows.

        Args:
            depth: number of brackets, operators and conditionals around it, which is limited.
        """
        value = self.parse_binary(power=0, depth=depth)
        if self.next_token.text != "if":
            return value
        if_token = self.consume()
        condition = self.parse_binary(power=0, depth=depth + 1)
        if self.next_token.text != "else":
            hint = "write it like a if near else b"
            self.fail(self.next_token, f"expected else, found {self.next_token.text}", hint)
        self.consume()
        return If(condition, value, self.parse_expression(depth + 1), if_token.offset)

    def parse_binary(self, power: int, depth: int) -> Tree:
        """Parse an operand and the binary operators after it that bind tighter than the operator before it.

        Args:
            power: binding power of the operator before it; 0 for none.
            depth: number of brackets, operators and conditionals around it.
        """
        if depth > MAX_DEPTH:
            self.fail(self.next_token, f"nested deeper than {MAX_DEPTH} levels", "split it up")
        left = self.parse_operand(depth)
        while (operator := self.next_operator) is not None and BINDING_POWER[operator] > power:
            token = self.consume()
            right = self.parse_binary(BINDING_POWER[operator], depth + 1)
            left = Binary(operator, left, right, token.offset)
            if operator in COMPARISONS and self.next_operator in COMPARISONS:
                self.fail(self.next_token, "comparisons do not chain", "write a < b and b < c")
        return left

    def parse_operand(self, depth: int) -> Tree:
        """Return the tree of an operand: a value, a call, a bracket, or an operand after `-` or `not`."""
        token = self.consume()
        if token.kind is TokenKind.NUMBER:
            return Literal(self.parse_number(token), token.offset, self.parse_unit())
        if token.kind is TokenKind.STATE:
            return InState(token.text, token.offset)
        if token.text == "(":
            inner = self.parse_expression(depth + 1)
            self.require_closing(token)
            return inner
        if token.text == "-":
            return Unary(Operator.MINUS, self.parse_binary(MINUS_POWER, depth + 1), token.offset)
        if token.text == "not":
            return Unary(Operator.NOT, self.parse_binary(NOT_POWER, depth + 1), token.offset)
        if token.kind is not TokenKind.NAME or token.text in KEYWORDS:
            self.fail(token, f"expected a value, found {token.text}")
        return self.parse_name(token, depth)

    def parse_name(self, token: Token, depth: int) -> Tree:
        """Parse a truth value, a name, or a call of the function with this name."""
        if token.text in _TRUTH_VALUES:
            return Literal(_TRUTH_VALUES[token.text], token.offset)
        if token.text in ("AND", "OR", "NOT", "IF", "ELSE"):
            self.fail(token, f"{token.text} is not part of the language", f"write {token.text.lower()}")
        if token.text == "in":
            self.fail(token, "`in` needs the name of one state", "write it like in(walking)")
        if self.next_token.text != "(":
            return Name(token.text, token.offset)
        bracket = self.consume()
        arguments = [] if self.next_token.text == ")" else [self.parse_expression(depth + 1)]
        while self.next_token.text == ",":
            self.consume()
            arguments.append(self.parse_expression(depth + 1))
        self.require_closing(bracket)
        return Call(token.text, tuple(arguments), token.offset)

    def require_closing(self, bracket: Token) -> None:
        """Consume the `)` that closes a bracket; raise an ExpressionError if another token follows."""
        if self.next_token.text != ")":
            hint = f"to close the ( at character {bracket.offset + 1}"
            self.fail(self.next_token, f"expected ), found {self.next_token.text}", hint)
        self.consume()

    def parse_number(self, token: Token) -> int | float:
        """Return the value of a number token; raise an error if it is too large."""
        if token.text.isdigit():
            if int(token.text) > INT_HIGH:
                hint = f"the largest integer is {INT_HIGH}; write a float, as in 1e10"
                self.fail(token, "this integer is too large", hint)
            return int(token.text)
        value = float(token.text)
        if not math.isfinite(value):
            self.fail(token, "this number is too large", "the largest is about 1.8e308")
        return value

    def parse_unit(self) -> str | None:
        """Return the unit after a number, None if there is none."""
        if self.next_token.kind is not TokenKind.UNIT:
            return None
        token = self.consume()
        if token.text not in UNITS:
            # in `2 n` the name is taken for a unit
            hint = f"{unit_hint(token.text)}; two values are joined with an operator, as in 2 * n"
            self.fail(token, f"there is no unit {token.text}", hint)
        return token.text

    def require_end(self) -> None:
        """Raise an ExpressionError if a token follows the expression."""
        if self.next_token.kind is TokenKind.END:
            return
        hint = "join two conditions with and, or" if self.next_token.kind is not TokenKind.SIGN else None
        self.fail(self.next_token, f"expected the end, found {self.next_token.text}", hint)


MAX_CELL_LENGTH = 60
"""Characters of a text shown in a table."""


def shorten(text: str) -> str:
    """Return a text, cut if it is too long for a table."""
    return text if len(text) <= MAX_CELL_LENGTH else text[: MAX_CELL_LENGTH - 3] + "..."


def format_tree(tree: Tree) -> str:
    """Return the text of a tree.

    The numbers of a type checked tree are already converted and have no unit: in a scope that declares units
    the text may mean something else.
    """
    match tree:
        case Literal(bool(value)):
            text = "true" if value else "false"
        case Literal():
            text = f"{tree.value!r} {tree.unit}" if tree.unit else repr(tree.value)
        case Name():
            text = tree.name
        case Unary(Operator.MINUS, operand):
            text = f"-{_format_operand(operand, MINUS_POWER)}"
        case Unary():
            text = f"not {_format_operand(tree.operand, NOT_POWER)}"
        case Binary():
            power = BINDING_POWER[tree.operator]
            # a left operand of the same power needs no parentheses, but comparisons do not chain
            left_power = power + 1 if tree.operator in COMPARISONS else power
            left = _format_operand(tree.left, left_power)
            right = _format_operand(tree.right, power + 1)
            text = f"{left} {tree.operator} {right}"
        case Call():
            text = f"{tree.function}({', '.join(map(format_tree, tree.arguments))})"
        case If():
            value_text = _format_operand(tree.then, 1)
            condition_text = _format_operand(tree.condition, 1)
            text = f"{value_text} if {condition_text} else {format_tree(tree.otherwise)}"
        case TemporalCondition():
            condition = "" if tree.condition is None else f"{format_tree(tree.condition)}, "
            text = f"{tree.operator}({condition}{tree.seconds!r} s)"
        case InState():
            text = f"in({tree.state})"
    return text


def _format_operand(tree: Tree, power: int) -> str:
    """Return the text of an operand, in parentheses if its operator binds less tightly than `power`.

    Args:
        tree: the operand.
        power: the binding power of the operator that it belongs to.
    """
    match tree:
        case Binary():
            own_power = BINDING_POWER[tree.operator]
        case Unary(Operator.NOT):
            own_power = NOT_POWER
        case Unary():
            own_power = MINUS_POWER
        case Literal(int() | float() as value) if value < 0:  # written with a minus
            own_power = MINUS_POWER
        case If():
            own_power = 0
        case _:  # a single word, or a call: never in parentheses
            own_power = power
    return format_tree(tree) if own_power >= power else f"({format_tree(tree)})"
