r"""Bottles as text: as typed at `yarp rpc`, and as exchanged by ports in text mode.

`3` and `3.0` are an integer and a float, `[pos]` is a vocab, `"a b"` a string (a bare word where that is
clear), `( ... )` a list, `{0 1 255}` a blob. A string has `\n`, `\r`, `\0`, `\"` and `\\` for those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from posewright.errors import FormatError
from posewright.network.yarp.bottle import INT64_RANGE, MAX_DEPTH, Bottle, Value, Vocab

BARE = re.compile(r"[A-Za-z_][A-Za-z_0-9.-]*")
RESERVED_WORDS = {"true", "false", "null", "inf", "nan"}
"""Bare words that are no strings."""

WORD = re.compile(
    r'[ \t\r\n,]*+(?P<word>"(?:[^"\\]++|\\.)*+"|\{[^{}]*+\}|[()]|[^ \t\r\n,(){}"]+|(?P<unclosed>.))',
    re.DOTALL,
)
"""A text in quotes, a blob, a bracket, or a bare word; `unclosed` is a quote or brace without its end."""

VOCAB_LETTERS = 4
MAX_DIGITS = 25
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F]{1,8}")
FLOAT = re.compile(r"[+-]?(\d++(\.\d*+)?|\.\d++)([eE][+-]?\d++)?|-?inf|nan", re.ASCII)
ESCAPED = {"\n": r"\n", "\r": r"\r", "\0": r"\0", '"': r"\"", "\\": r"\\"}
UNESCAPED = {code[1]: sign for sign, code in ESCAPED.items()}
WORDS = {"true": Vocab("1"), "false": Vocab(""), "null": Vocab("null")}


def to_text(bottle: Bottle) -> str:
    """Return a bottle as YARP prints it, on one line."""
    return " ".join(map(_format_value, bottle))


def _format_value(value: Value) -> str:
    """Return a value as YARP prints it."""
    if isinstance(value, Vocab):
        return {"": "false", "1": "true"}.get(value, f"[{value}]")
    if isinstance(value, str):
        is_bare = BARE.fullmatch(value) and value not in RESERVED_WORDS
        return value if is_bare else f'"{"".join(ESCAPED.get(sign, sign) for sign in value)}"'
    if isinstance(value, bytes):
        return "{" + " ".join(map(str, value)) + "}"
    if isinstance(value, tuple | Mapping):
        return f"({to_text(tuple(value.items()) if isinstance(value, Mapping) else value)})"
    return float.__repr__(value) if isinstance(value, float) else str(int(value))


def from_text(text: str) -> Bottle:
    """Parse the text of a bottle; integers beyond 64 bits saturate.

    Raises:
        FormatError: a bracket or a quote is left open, or lists are too deep.
    """
    lists: list[list[Value]] = [[]]  # that are open, the innermost last; the first is the bottle
    for word in _split_words(text):
        if word == "(" and len(lists) <= MAX_DEPTH:
            lists.append([])
        elif word == ")" and len(lists) > 1:
            closed = tuple(lists.pop())
            lists[-1].append(closed)
        elif word in {"(", ")"}:  # too deep, or nothing to close
            hint = f"at most {MAX_DEPTH} levels, all closed"
            raise FormatError(f"the bottle has one {word} too many", hint=hint)
        else:
            lists[-1].append(_parse_value(word))
    if len(lists) > 1:
        raise FormatError("a list of the bottle is not closed", hint="write a ) for every (")
    return tuple(lists[0])


def _split_words(text: str) -> Iterator[str]:
    """Yield the words of a bottle's text; brackets are words of their own."""
    for match in WORD.finditer(text.rstrip(" \t\r\n,")):
        if match["unclosed"]:
            raise FormatError(f"a {match['unclosed']} is not closed", hint='close "..." and {...}')
        yield match["word"]


def _parse_value(word: str) -> Value:
    """Return the value of a word: a quoted text, a blob, a vocab, or a bare word."""
    if word[0] == '"':
        return _unescape(word[1:-1])
    if word[0] == "{":
        return bytes(_parse_byte(part) for part in word[1:-1].replace(",", " ").split())
    if word[0] == "[":
        if word[-1] != "]":
            raise FormatError(f"{word[:20]} is not a vocab", hint="write one such as [pos]")
        return Vocab(word[1:-1][:VOCAB_LETTERS])
    return _parse_bare_word(word)


def _parse_bare_word(word: str) -> Value:
    """Return a number, true, false or null where a word is one; otherwise the word as a text."""
    if INTEGER.fullmatch(word):
        value = int(word[:MAX_DIGITS])  # so many digits are beyond 64 bits whatever follows
        return min(max(value, INT64_RANGE[0]), INT64_RANGE[-1])
    if HEXADECIMAL.fullmatch(word):
        return int(word, 16)
    if FLOAT.fullmatch(word):
        return float(word)
    return WORDS[word] if word in WORDS else _unescape(word)


def _parse_byte(part: str) -> int:
    if not INTEGER.fullmatch(part) or len(part) > 4 or not -128 <= int(part) <= 255:
        raise FormatError(f"{part[:20]} is not a byte of a blob", hint="write a blob such as {0 1 255}")
    return int(part) & 0xFF


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: UNESCAPED.get(match[1], match[1]), text, flags=re.DOTALL)
