"""What Lark makes of a line becomes a statement: a method for each rule of `grammar.lark`."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer, v_args

from posewright.errors import FormatError
from posewright.runtimes.robobasic.tree import (
    Argument,
    Call,
    Chain,
    Command,
    Const,
    Dim,
    Else,
    ElseIf,
    End,
    EndIf,
    Expression,
    For,
    Gosub,
    Goto,
    If,
    Let,
    Name,
    Next,
    Number,
    On,
    Return,
    Statement,
    Text,
)

MOST_DIGITS = 9


def _number(token: Token) -> Number:
    text = str(token)
    base = {"&H": 16, "&B": 2, "&O": 8}.get(text[:2].upper())
    if len(text) > (MOST_DIGITS if base is None else MOST_DIGITS + 8):
        raise FormatError("a number of too many digits", hint="0..65535")
    return Number(int(text) if base is None else int(text[2:], base), text)


def _between_commas(pieces: tuple[Any, ...]) -> tuple[Argument, ...]:
    """Return what stands between the commas."""
    found: list[Argument] = []
    after_comma = True
    for piece in pieces:
        if getattr(piece, "type", "") == "COMMA":
            if after_comma:
                found.append(None)
            after_comma = True
        else:
            found.append(Text(str(piece)[1:-1]) if getattr(piece, "type", "") == "TEXT" else piece)
            after_comma = False
    if after_comma and pieces:
        found.append(None)
    return tuple(found)


@v_args(inline=True)
class _Reading(Transformer):  # type: ignore[type-arg]  # Lark's is a class of any
    """Label and statement of a parsed line; each method is called as its rule of the grammar."""

    def start(self, *pieces: Any) -> tuple[str, Statement | None]:
        label, statement = "", None
        for piece in pieces:
            if getattr(piece, "type", "") == "LABEL":
                label = str(piece)[:-1].strip()
            elif piece is not None:
                statement = piece
        return label, statement

    def dim(self, *declared: tuple[str, str]) -> Dim:
        return Dim(declared)

    def declared(self, name: Token, kind: Token) -> tuple[str, str]:
        return str(name), str(kind)

    def const(self, name: Token, _: Token, value: Expression) -> Const:
        return Const(str(name), value)

    def assignment(self, place: Name, _: Token, value: Expression) -> Let:
        return Let(place, value)

    def if_(self, condition: Expression, then: Statement | None, otherwise: Else | ElseIf | None) -> If:
        if isinstance(otherwise, ElseIf):  # a block that begins behind ELSE, which compiling refuses
            return If(condition, then, If(otherwise.condition))
        return If(condition, then, None if otherwise is None else otherwise.then)

    def elseif(self, condition: Expression, then: Statement | None) -> ElseIf:
        return ElseIf(condition, then)

    def else_(self, then: Statement | None) -> Else | ElseIf:
        if isinstance(then, If) and then.then is None:  # ELSE IF condition THEN
            return ElseIf(then.condition)
        return Else(then)

    def endif(self) -> EndIf:
        return EndIf()

    def for_(self, name: Token, _: Token, first: Expression, last: Expression) -> For:
        return For(str(name), first, last)

    def next_(self, name: Token | None) -> Next:
        return Next(None if name is None else str(name))

    def goto(self, label: str) -> Goto:
        return Goto(label)

    def gosub(self, label: str) -> Gosub:
        return Gosub(label)

    def return_(self) -> Return:
        return Return()

    def end(self) -> End:
        return End()

    def on(self, value: Expression, word: Token, *labels: str) -> On:
        return On(value, word.type == "GOSUB", labels)

    def target(self, label: Token) -> str:
        return str(label)

    def command(self, name: Token, *pieces: Any) -> Command:
        return Command(str(name), _between_commas(tuple(one for one in pieces if one is not None)))

    def expression(self, *pieces: Any) -> Expression:
        if len(pieces) == 1:
            only: Expression = pieces[0]
            return only
        return Chain(tuple(pieces[::2]), tuple(str(one).upper() for one in pieces[1::2]))

    def call(self, name: Token, *pieces: Any) -> Call:
        return Call(str(name), _between_commas(tuple(one for one in pieces if one is not None)))

    def place(self, name: Token, bit: Token | None) -> Name:
        return Name(str(name), None if bit is None else _number(bit).value)

    def number(self, token: Token) -> Number:
        return _number(token)

    def text(self, token: Token) -> Text:
        return Text(str(token)[1:-1])


def statement_reading() -> Transformer[Token, tuple[str, Statement | None]]:
    """Return what makes label and statement of a parsed line."""
    return _Reading()
