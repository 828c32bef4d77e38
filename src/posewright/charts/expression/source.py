"""The text of an expression: its place in a document, and its tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NoReturn

from posewright.charts.types import UNITS
from posewright.errors import ExpressionError, Where

SHOWN = 60
"""Characters of an expression quoted in a message."""


@dataclass(frozen=True)
class Source:
    """An expression as written.

    `where` is its first character's place: with a column where that is known, without one where the
    document folds the text over several lines.
    """

    text: str
    where: Where = field(default_factory=Where)

    def at(self, offset: int) -> Where:
        """Return the place of the character `offset` characters in."""
        if self.where.line is None:
            return replace(self.where, line=1, column=offset + 1)
        if self.where.column is None:
            return self.where
        return replace(self.where, column=self.where.column + offset)

    def fail(self, offset: int, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise an ExpressionError that points at the character `offset` characters in."""
        shown = self.text if len(self.text) <= SHOWN else self.text[: SHOWN - 3] + "..."
        raise ExpressionError(f"{message} in `{shown}`", where=self.at(offset), hint=hint)


MAX_LENGTH = 2000
"""Characters in one expression; the longest in our own charts has under 100."""


class TokenKind(Enum):
    """What kind of token it is."""

    NUMBER = "number"
    NAME = "name"
    UNIT = "unit"
    STATE = "state"
    SIGN = "sign"
    END = "end"


@dataclass(frozen=True)
class Lexeme:
    """A word, number or sign, and how many characters in it begins.

    `m/s` after a number is one token, and so is the whole of `in(walking)`: its text is the state's name.
    """

    kind: TokenKind
    text: str
    at: int


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][+-]?\d{1,3})?(?![\w.]))"
    r"|in\s*\(\s*(?P<state>[A-Za-z0-9_]{1,80})\s*\)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]{0,79}(?![A-Za-z0-9_]))"
    r"|(?P<sign><=|>=|==|!=(?!=)|[-+*/%(),<>]))"
)

_UNIT = re.compile(
    r"\s+(?P<unit>[A-Za-z]+/[A-Za-z]+(?![A-Za-z0-9_(])|[A-Za-z_][A-Za-z0-9_]{0,79}(?![A-Za-z0-9_]))"
)
_MANY_DIGITS = re.compile(r"\d{19}")
WORDS = frozenset({"and", "or", "not", "if", "else"})
"""Words that stand between or before operands."""

_INSTEAD = {
    "&": "and",
    "|": "or",
    "!": "not",
    "~": "not",
    "=": "==",
    "^": "multiplication: there is no power",
    "[": "( and )",
    "{": "( and )",
}


def tokens_of(source: Source) -> list[Lexeme]:
    """Return the tokens of an expression, with one END token last.

    Raises:
        ExpressionError: a sign that the language does not have, or too long a text.
    """
    if len(source.text) > MAX_LENGTH:
        source.fail(0, f"longer than {MAX_LENGTH} characters", hint="split it over several transitions")
    found: list[Lexeme] = []
    text, at = source.text.rstrip(), 0
    while at < len(text):
        match = _unit_after(found, text, at) or _TOKEN.match(text, at)
        if match is None:
            _refuse(source, at + len(text[at:]) - len(text[at:].lstrip()))
        else:
            kind = TokenKind(match.lastgroup)
            found.append(Lexeme(kind, match[kind.value], match.start(kind.value)))
            at = match.end()
    return [*found, Lexeme(TokenKind.END, "the end", len(text))]


def _unit_after(found: list[Lexeme], text: str, at: int) -> re.Match[str] | None:
    """Return the unit at `at`, where a number stands before it."""
    if not found or found[-1].kind is not TokenKind.NUMBER:
        return None
    match = _UNIT.match(text, at)
    if match is None or match["unit"] in WORDS:
        return None
    if match["unit"] in UNITS or "/" not in match["unit"]:
        return match
    return _UNIT.match(text, at, match.start("unit") + match["unit"].index("/"))


def _refuse(source: Source, at: int) -> None:
    sign = source.text[at]
    if sign.isdigit() or sign == ".":
        if _MANY_DIGITS.match(source.text, at):
            hint = "at most 18 digits; a large number is written as in 1e20"
            source.fail(at, "a number too large", hint=hint)
        hint = "write it like 12, 0.5 or 1e-3, with a space before a unit: 35 cm"
        source.fail(at, "a number that does not read", hint=hint)
    if sign.isalpha() or sign == "_":
        source.fail(at, "a name that does not read", hint="names have letters a-z, digits and _, up to 80")
    if sign in "\"'":
        hint = "there are no texts: a value of an enumeration is written as its bare name"
        source.fail(at, f"{sign!r} is not part of the language", hint=hint)
    instead = _INSTEAD.get(sign)
    source.fail(at, f"{sign!r} is not part of the language", hint=f"write {instead}" if instead else None)
