"""The text of an expression, its place in a document, and its tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NoReturn

from posewright.charts.types import UNITS
from posewright.errors import ExpressionError, Where

MAX_QUOTED = 60
"""Characters of an expression quoted in a message."""


@dataclass(frozen=True)
class SourceText:
    """The text of an expression as written in a document.

    Attributes:
        text: the expression.
        where: the place of its first character; its column is None if the document folds the text over
            several lines.
    """

    text: str
    where: Where = field(default_factory=Where)

    def where_at(self, offset: int) -> Where:
        """Return the place of the character at `offset`, counted from 0."""
        if self.where.line is None:
            return replace(self.where, line=1, column=offset + 1)
        if self.where.column is None:
            return self.where
        return replace(self.where, column=self.where.column + offset)

    def fail(self, offset: int, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise an ExpressionError that points at the character at `offset` and quotes the expression."""
        quoted = self.text if len(self.text) <= MAX_QUOTED else self.text[: MAX_QUOTED - 3] + "..."
        raise ExpressionError(f"{message} in `{quoted}`", where=self.where_at(offset), hint=hint)


MAX_LENGTH = 2000
"""Characters in one expression; the longest in our own charts has under 100."""


class TokenKind(Enum):
    """The kinds of tokens."""

    NUMBER = "number"
    NAME = "name"
    UNIT = "unit"
    STATE = "state"
    SIGN = "sign"
    END = "end"


@dataclass(frozen=True)
class Token:
    """A word, a number or a sign.

    `m/s` after a number is one token, and so is `in(walking)`, whose text is the name of the state.

    Attributes:
        offset: index of its first character in the expression.
    """

    kind: TokenKind
    text: str
    offset: int


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][+-]?\d{1,3})?(?![\w.]))"
    r"|in\s*\(\s*(?P<state>[A-Za-z0-9_]{1,80})\s*\)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]{0,79}(?![A-Za-z0-9_]))"
    r"|(?P<sign><=|>=|==|!=(?!=)|[-+*/%(),<>]))"
)

_UNIT = re.compile(
    r"\s+(?P<unit>[A-Za-z]+/[A-Za-z]+(?![A-Za-z0-9_(])|[A-Za-z_][A-Za-z0-9_]{0,79}(?![A-Za-z0-9_]))"
)
_TOO_MANY_DIGITS = re.compile(r"\d{19}")
KEYWORDS = frozenset({"and", "or", "not", "if", "else"})
"""Words that join operands or stand before one."""

_REPLACEMENTS = {
    "&": "and",
    "|": "or",
    "!": "not",
    "~": "not",
    "=": "==",
    "^": "multiplication: there is no power operator",
    "[": "( and )",
    "{": "( and )",
}
"""What this language has in place of signs of other languages."""


def tokenize(source: SourceText) -> list[Token]:
    """Return the tokens of an expression, followed by one END token.

    Raises:
        ExpressionError: the text has a sign that is not part of the language, or is too long.
    """
    if len(source.text) > MAX_LENGTH:
        source.fail(
            offset=0, message=f"longer than {MAX_LENGTH} characters", hint="split it over several transitions"
        )
    tokens: list[Token] = []
    text = source.text.rstrip()
    offset = 0
    while offset < len(text):
        # a word behind a number is a unit, any other word is a name
        match = _match_unit(tokens, text, offset) or _TOKEN.match(text, offset)
        if match is None:
            n_blanks = len(text[offset:]) - len(text[offset:].lstrip())
            _fail_at_character(source, offset + n_blanks)
        kind = TokenKind(match.lastgroup)
        tokens.append(Token(kind, match[kind.value], match.start(kind.value)))
        offset = match.end()
    return [*tokens, Token(TokenKind.END, "the end", len(text))]


def _match_unit(tokens: list[Token], text: str, offset: int) -> re.Match[str] | None:
    """Return the match of a unit at `offset`; None if no unit is there, or the last token is not a number.

    `m/s` matches as a whole where it is a known unit; of `m/x` only the `m` before the slash matches.

    Args:
        tokens: the tokens before `offset`.
        text: the expression.
        offset: index of a character in it.
    """
    if not tokens or tokens[-1].kind is not TokenKind.NUMBER:
        return None
    match = _UNIT.match(text, offset)
    if match is None or match["unit"] in KEYWORDS:
        return None
    if match["unit"] in UNITS or "/" not in match["unit"]:
        return match
    slash = match.start("unit") + match["unit"].index("/")
    return _UNIT.match(text, offset, slash)


def _fail_at_character(source: SourceText, offset: int) -> NoReturn:
    """Raise an ExpressionError for the character at which no token begins."""
    character = source.text[offset]
    if character.isdigit() or character == ".":
        if _TOO_MANY_DIGITS.match(source.text, offset):
            source.fail(offset, "the number has too many digits", hint="use at most 18 digits, or write 1e20")
        hint = "write it like 12, 0.5 or 1e-3, with a space before a unit: 35 cm"
        source.fail(offset, "this is not a valid number", hint=hint)
    if character.isalpha() or character == "_":
        hint = "a name has letters a-z, digits and _, and at most 80 characters"
        source.fail(offset, "this is not a valid name", hint=hint)
    if character in "\"'":
        hint = "there are no strings: write a value of an enumeration as its bare name"
        source.fail(offset, f"{character!r} is not part of the language", hint=hint)
    replacement = _REPLACEMENTS.get(character)
    hint_text = f"write {replacement}" if replacement else None
    source.fail(offset, f"{character!r} is not part of the language", hint=hint_text)
