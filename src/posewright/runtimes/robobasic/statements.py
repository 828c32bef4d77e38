"""A line's code becomes label and statement: what Lark makes of it by `grammar.lark`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer, v_args

from posewright.errors import FormatError
from posewright.runtimes.robobasic import tree

MAX_DIGITS = 9


@v_args(inline=True)
class _Statements(Transformer):  # type: ignore[type-arg]  # Lark's is a class of any
    """Makes the parts of a program; each method is called as its rule of the grammar."""

    const, assignment, for_, next_, elseif = tree.Const, tree.Let, tree.For, tree.Next, tree.ElseIf
    goto, gosub, return_, end, endif = tree.Goto, tree.Gosub, tree.Return, tree.End, tree.EndIf
    command, call = tree.Command, tree.Call

    def start(
        self, label: Token | None, statement: tree.Statement | None
    ) -> tuple[str, tree.Statement | None]:
        return "" if label is None else label.rstrip(": \t"), statement

    def dim(self, *declared: tuple[str, str]) -> tree.Dim:
        return tree.Dim(declared)

    def declared(self, name: Token, kind: Token) -> tuple[str, str]:
        return name, kind

    def if_(
        self,
        condition: tree.Expression,
        then: tree.Statement | None,
        otherwise: tree.Else | tree.ElseIf | None,
    ) -> tree.If:
        if isinstance(otherwise, tree.ElseIf):  # a block that begins behind ELSE, which compiling refuses
            return tree.If(condition, then, tree.If(otherwise.condition))
        return tree.If(condition, then, None if otherwise is None else otherwise.then)

    def else_(self, then: tree.Statement | None) -> tree.Else | tree.ElseIf:
        if isinstance(then, tree.If) and then.then is None:  # ELSE IF condition THEN
            return tree.ElseIf(then.condition)
        return tree.Else(then)

    def on(self, value: tree.Expression, word: Token, *labels: str) -> tree.On:
        return tree.On(value, word.type == "GOSUB", labels)

    def target(self, label: Token) -> str:
        return label

    def arguments(self, *between: tree.Argument) -> tuple[tree.Argument, ...]:
        return () if between == (None,) else between

    def chain(self, *parts: Any) -> tree.Chain:
        return tree.Chain(parts[::2], tuple(operator.upper() for operator in parts[1::2]))

    def place(self, name: Token, bit: Token | None) -> tree.Name:
        return tree.Name(name, None if bit is None else self.number(bit).value)

    def number(self, text: Token) -> tree.Number:
        base = {"&H": 16, "&B": 2, "&O": 8}.get(text[:2].upper())
        if len(text) > (MAX_DIGITS if base is None else MAX_DIGITS + 8):
            raise FormatError("a number of too many digits", hint="0..65535")
        return tree.Number(int(text) if base is None else int(text[2:], base), text)

    def text(self, quoted: Token) -> tree.Text:
        return tree.Text(quoted[1:-1])


def parse(code: str) -> tuple[str, tree.Statement | None]:
    """Return label and statement of a line without its comment.

    Raises:
        UnexpectedInput: the grammar, which is Lark's, has no such line.
        FormatError: a number is too long.
    """
    parsed: Any = _parser().parse(code)  # what the transformer makes of it, whatever Lark's types say
    label, statement = parsed
    return label, statement


@cache
def _parser() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="ascii")
    return Lark(grammar, parser="lalr", maybe_placeholders=True, transformer=_Statements())
