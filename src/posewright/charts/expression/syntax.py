"""Tokens to a tree, and a tree to text that parses to it again.

From loose to tight: `a if c else b`, `or`, `and`, `not`, comparison (which does not chain), `+ -`,
`* / %`, unary `-`. The parser is a Pratt parser and knows no names: what may be called is for the type
checker to say.
"""

from __future__ import annotations

import math
from typing import NoReturn

from posewright.charts.expression.source import WORDS, Lexeme, Source, TokenKind, tokens_of
from posewright.charts.expression.tree import (
    ARITHMETIC,
    COMPARISONS,
    Binary,
    Call,
    If,
    Inside,
    Literal,
    Name,
    Operator,
    Timed,
    Tree,
    Unary,
    height,
)
from posewright.charts.types import INT_HIGH, UNITS, unit_hint

MAX_DEPTH = 100
"""Levels of a tree: a chain of as many `and`, or as many brackets."""

NOT_POWER = 3
COMPARISON_POWER = 4
MINUS_POWER = 7
POWER = {
    Operator.OR: 1,
    Operator.AND: 2,
    **dict.fromkeys(COMPARISONS, COMPARISON_POWER),
    **dict.fromkeys(ARITHMETIC, 6),
    Operator.PLUS: 5,
    Operator.MINUS: 5,
}
_OPERATORS = {operator.value: operator for operator in POWER}
_TRUTHS = {"true": True, "false": False, "True": True, "False": False}


def parse(source: Source) -> Tree:
    """Return the tree of an expression.

    Raises:
        ExpressionError: it does not parse, or is too long or too deep.
    """
    parser = _Parser(source)
    tree = parser.expression(depth=0)
    parser.expect_end()
    if height(tree) > MAX_DEPTH:
        source.fail(0, f"more than {MAX_DEPTH} levels of operators", hint="split it up")
    return tree


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = tokens_of(source)
        self.position = 0

    @property
    def here(self) -> Lexeme:
        return self.tokens[self.position]

    def take(self) -> Lexeme:
        token = self.here
        self.position += 1
        return token

    def fail(self, token: Lexeme, message: str, hint: str | None = None) -> NoReturn:
        self.source.fail(token.at, message, hint=hint)

    def expression(self, depth: int) -> Tree:
        """Read operands and operators, and what follows in `a if c else b`."""
        then = self.joined(0, depth)
        if self.here.text != "if":
            return then
        token = self.take()
        condition = self.joined(0, depth + 1)
        if self.here.text != "else":
            self.fail(self.here, f"expected else, found {self.here.text}", "write it like a if near else b")
        self.take()
        return If(condition, then, self.expression(depth + 1), token.at)

    def joined(self, power: int, depth: int) -> Tree:
        """Read operands and the operators between them that bind tighter than `power`."""
        if depth > MAX_DEPTH:
            self.fail(self.here, f"nested deeper than {MAX_DEPTH} levels", "split it up")
        left = self.operand(depth)
        while (operator := self.operator()) is not None and POWER[operator] > power:
            token = self.take()
            right = self.joined(POWER[operator], depth + 1)
            left = Binary(operator, left, right, token.at)
            if operator in COMPARISONS:
                self.refuse_chain()
        return left

    def operator(self) -> Operator | None:
        return _OPERATORS.get(self.here.text) if self.here.kind is not TokenKind.END else None

    def refuse_chain(self) -> None:
        if self.operator() in COMPARISONS:
            self.fail(self.here, "comparisons do not chain", "write a < b and b < c")

    def operand(self, depth: int) -> Tree:
        token = self.take()
        if token.kind is TokenKind.NUMBER:
            return Literal(self.number(token), token.at, self.unit())
        if token.kind is TokenKind.STATE:
            return Inside(token.text, token.at)
        if token.text == "(":
            inner = self.expression(depth + 1)
            self.close(token)
            return inner
        if token.text == "-":
            return Unary(Operator.MINUS, self.joined(MINUS_POWER, depth + 1), token.at)
        if token.text == "not":
            return Unary(Operator.NOT, self.joined(NOT_POWER, depth + 1), token.at)
        if token.kind is not TokenKind.NAME or token.text in WORDS:
            self.fail(token, f"expected a value, found {token.text}")
        return self.word(token, depth)

    def word(self, token: Lexeme, depth: int) -> Tree:
        if token.text in _TRUTHS:
            return Literal(_TRUTHS[token.text], token.at)
        if token.text in ("AND", "OR", "NOT", "IF", "ELSE"):
            self.fail(token, f"{token.text} is not part of the language", f"write {token.text.lower()}")
        if token.text == "in":
            self.fail(token, "`in` asks for one state", "write it like in(walking)")
        return self.call(token, depth) if self.here.text == "(" else Name(token.text, token.at)

    def call(self, token: Lexeme, depth: int) -> Tree:
        bracket = self.take()
        arguments = [] if self.here.text == ")" else [self.expression(depth + 1)]
        while self.here.text == ",":
            self.take()
            arguments.append(self.expression(depth + 1))
        self.close(bracket)
        return Call(token.text, tuple(arguments), token.at)

    def close(self, opened: Lexeme) -> None:
        if self.here.text != ")":
            hint = f"to close the ( at character {opened.at + 1}"
            self.fail(self.here, f"expected ), found {self.here.text}", hint)
        self.take()

    def number(self, token: Lexeme) -> int | float:
        if token.text.isdigit():
            if int(token.text) > INT_HIGH:
                hint = f"the largest is {INT_HIGH}; write a float, as in 1e10"
                self.fail(token, "a whole number too large", hint)
            return int(token.text)
        value = float(token.text)
        if not math.isfinite(value):
            self.fail(token, "a number too large", "the largest is about 1.8e308")
        return value

    def unit(self) -> str | None:
        """Return the unit after a number, None where there is none."""
        if self.here.kind is not TokenKind.UNIT:
            return None
        token = self.take()
        if token.text not in UNITS:
            hint = f"{unit_hint(token.text)}; two values are joined with an operator, as in 2 * n"
            self.fail(token, f"there is no unit {token.text}", hint)
        return token.text

    def expect_end(self) -> None:
        if self.here.kind is TokenKind.END:
            return
        hint = "join two conditions with and, or" if self.here.kind is not TokenKind.SIGN else None
        self.fail(self.here, f"expected the end, found {self.here.text}", hint)


LONGEST = 60
"""Letters of a text that is shown in a table."""


def shortened(text: str) -> str:
    """Return a text, cut where it is too long for a table."""
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def text_of(tree: Tree) -> str:
    """Return the text of a tree.

    A tree that the type checker made ready holds plain numbers, already converted: where the scope declares
    units, its text may mean something else.
    """
    match tree:
        case Literal(bool(value)):
            text = "true" if value else "false"
        case Literal():
            text = f"{tree.value!r} {tree.unit}" if tree.unit else repr(tree.value)
        case Name():
            text = tree.name
        case Unary(Operator.MINUS, operand):
            text = f"-{_within(operand, MINUS_POWER)}"
        case Unary():
            text = f"not {_within(tree.operand, NOT_POWER)}"
        case Binary():
            power = POWER[tree.operator]
            left = COMPARISON_POWER + 1 if tree.operator in COMPARISONS else power
            text = f"{_within(tree.left, left)} {tree.operator} {_within(tree.right, power + 1)}"
        case Call():
            text = f"{tree.function}({', '.join(map(text_of, tree.arguments))})"
        case If():
            then, condition = _within(tree.then, 1), _within(tree.condition, 1)
            text = f"{then} if {condition} else {text_of(tree.otherwise)}"
        case Timed():
            condition = "" if tree.condition is None else f"{text_of(tree.condition)}, "
            text = f"{tree.timing}({condition}{tree.seconds!r} s)"
        case Inside():
            text = f"in({tree.state})"
    return text


def _within(tree: Tree, power: int) -> str:
    """Return the text of an operand, in brackets where it binds less than `power`."""
    match tree:
        case Binary():
            own = POWER[tree.operator]
        case Unary(Operator.NOT):
            own = NOT_POWER
        case Unary():
            own = MINUS_POWER
        case Literal(int() | float() as value) if value < 0:
            own = MINUS_POWER
        case _:
            own = 0 if isinstance(tree, If) else power
    return text_of(tree) if own >= power else f"({text_of(tree)})"
