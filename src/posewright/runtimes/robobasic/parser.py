"""The parser of a line of RoboBASIC: `grammar.lark` and the transformer that builds the syntax tree."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer, v_args

from posewright.errors import FormatError
from posewright.runtimes.robobasic import tree

MAX_DIGITS = 9
BASES = {"&H": 16, "&B": 2, "&O": 8}


@v_args(inline=True)
class _SyntaxTreeBuilder(Transformer):  # type: ignore[type-arg]  # Lark's Transformer is a generic of Any
    """Builds the syntax tree; each method handles the grammar rule of its name."""

    const = tree.Const
    assignment = tree.Let
    for_ = tree.For
    next_ = tree.Next
    elseif = tree.ElseIf
    goto = tree.Goto
    gosub = tree.Gosub
    return_ = tree.Return
    end = tree.End
    endif = tree.EndIf
    command = tree.CommandStatement
    call = tree.FunctionCall

    def start(
        self, label: Token | None, statement: tree.Statement | None
    ) -> tuple[str, tree.Statement | None]:
        return "" if label is None else label.rstrip(": \t"), statement

    def dim(self, *declarations: tuple[str, str]) -> tree.Dim:
        return tree.Dim(declarations)

    def declared(self, name: Token, kind: Token) -> tuple[str, str]:
        return name, kind

    def if_(
        self,
        condition: tree.Expression,
        then: tree.Statement | None,
        otherwise: tree.Else | tree.ElseIf | None,
    ) -> tree.IfStatement:
        """Return the statement of an IF on one line or of one that begins a block."""
        if otherwise is None:
            return tree.IfStatement(condition, then, None)
        if isinstance(otherwise, tree.ElseIf):  # a block that begins behind ELSE; the compiler reports it
            return tree.IfStatement(condition, then, tree.IfStatement(otherwise.condition))
        return tree.IfStatement(condition, then, otherwise.then)

    def else_(self, then: tree.Statement | None) -> tree.Else | tree.ElseIf:
        if isinstance(then, tree.IfStatement) and then.then is None:  # ELSE IF condition THEN
            return tree.ElseIf(then.condition)
        return tree.Else(then)

    def on(self, value: tree.Expression, keyword: Token, *labels: str) -> tree.On:
        return tree.On(value, keyword.type == "GOSUB", labels)

    def target(self, label: Token) -> str:
        return label

    def arguments(self, *arguments: tree.Argument) -> tuple[tree.Argument, ...]:
        return () if arguments == (None,) else arguments

    def chain(self, *parts: Any) -> tree.Chain:  # operands and operators alternate
        return tree.Chain(parts[::2], tuple(operator.upper() for operator in parts[1::2]))

    def place(self, name: Token, bit: Token | None) -> tree.Identifier:
        return tree.Identifier(name, None if bit is None else self.number(bit).value)

    def number(self, text: Token) -> tree.Number:
        """Return a number, decimal or with a prefix for another base."""
        base = BASES.get(text[:2].upper())
        max_length = MAX_DIGITS if base is None else MAX_DIGITS + 8
        if len(text) > max_length:
            raise FormatError("the number has too many digits", hint="expected 0..65535")
        return tree.Number(int(text) if base is None else int(text[2:], base), text)

    def text(self, quoted: Token) -> tree.Text:
        return tree.Text(quoted[1:-1])


def parse(code: str) -> tuple[str, tree.Statement | None]:
    """Return the label and the statement of a line without its comment.

    Raises:
        lark.UnexpectedInput: the line does not match the grammar.
        FormatError: a number is too long.
    """
    parsed: Any = _lark_parser().parse(code)  # Lark does not know the transformer's return type
    label, statement = parsed
    return label, statement


@cache
def _lark_parser() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="ascii")
    return Lark(grammar, parser="lalr", maybe_placeholders=True, transformer=_SyntaxTreeBuilder())
