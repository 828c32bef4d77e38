"""Text to tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from posewright.charts.expression.source import Source

MAX_LENGTH = 2000
"""Characters in one expression; the longest in our own charts has under 100."""


class Sort(Enum):
    """What kind of token it is."""

    NUMBER = "number"
    NAME = "name"
    SIGN = "sign"
    END = "end"


@dataclass(frozen=True)
class Token:
    """A word, number or sign, and how many characters in it begins."""

    sort: Sort
    text: str
    at: int


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][+-]?\d{1,3})?(?![\w.]))"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]{0,79}(?![A-Za-z0-9_]))"
    r"|(?P<sign><=|>=|==|!=(?!=)|[-+*/%(),<>]))"
)

_INSTEAD = {
    "&": "and",
    "|": "or",
    "!": "not",
    "~": "not",
    "=": "==",
    "^": "multiplication: there is no power",
    "[": "( and )",
    "{": "( and )",
    '"': "the bare name of the value",
    "'": "the bare name of the value",
}


def tokens_of(source: Source) -> list[Token]:
    """Return the tokens of an expression, with one END token last.

    Raises:
        ExpressionError: a sign that the language does not have, or too long a text.
    """
    if len(source.text) > MAX_LENGTH:
        source.fail(0, f"longer than {MAX_LENGTH} characters", hint="split it over several transitions")
    found: list[Token] = []
    text, at = source.text.rstrip(), 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            _refuse(source, at + len(text[at:]) - len(text[at:].lstrip()))
        else:
            sort = Sort(match.lastgroup)
            found.append(Token(sort, match[sort.value], match.start(sort.value)))
            at = match.end()
    return [*found, Token(Sort.END, "the end", len(text))]


def _refuse(source: Source, at: int) -> None:
    sign = source.text[at]
    if sign.isdigit() or sign == ".":
        source.fail(at, "a number that does not read", hint="write it like 12, 0.5 or 1e-3")
    if sign.isalpha() or sign == "_":
        source.fail(at, "a name that does not read", hint="names have letters a-z, digits and _, up to 80")
    instead = _INSTEAD.get(sign)
    source.fail(at, f"{sign!r} is not part of the language", hint=f"write {instead}" if instead else None)
