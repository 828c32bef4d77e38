r"""Bottles as text: what a person types at `yarp rpc`, and what ports say to each other in text mode.

`3` and `3.0` are an integer and a float, `[pos]` is a vocab, `"a b"` a string (a bare word where that is
clear), `( ... )` a list, `{0 1 255}` a blob. A string has `\n`, `\r`, `\0`, `\"` and `\\` for those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from posewright.errors import FormatError
from posewright.network.yarp.bottle import DEEPEST, INT64_RANGE, Bottle, Value, Vocab

BARE = re.compile(r"[A-Za-z_][A-Za-z_0-9.-]*")
MEANT_OTHERWISE = {"true", "false", "null", "inf", "nan"}
"""Bare words that are no strings."""

WORD = re.compile(r'[ \t\r\n,]*+("(?:[^"\\]++|\\.)*+"|\{[^{}]*+\}|[()]|[^ \t\r\n,(){}"]+|(.))', re.DOTALL)
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F]{1,8}")
FLOAT = re.compile(r"[+-]?(\d++(\.\d*+)?|\.\d++)([eE][+-]?\d++)?|-?inf|nan", re.ASCII)
ESCAPED = {"\n": r"\n", "\r": r"\r", "\0": r"\0", '"': r"\"", "\\": r"\\"}
UNESCAPED = {code[1]: sign for sign, code in ESCAPED.items()}
WORDS = {"true": Vocab("1"), "false": Vocab(""), "null": Vocab("null")}


def to_text(bottle: Bottle) -> str:
    """Return a bottle as YARP prints it, on one line."""
    return " ".join(map(_shown, bottle))


def _shown(value: Value) -> str:
    if isinstance(value, Vocab):
        return {"": "false", "1": "true"}.get(value, f"[{value}]")
    if isinstance(value, str):
        bare = BARE.fullmatch(value) and value not in MEANT_OTHERWISE
        return value if bare else f'"{"".join(ESCAPED.get(sign, sign) for sign in value)}"'
    if isinstance(value, bytes):
        return "{" + " ".join(map(str, value)) + "}"
    if isinstance(value, tuple | Mapping):
        return f"({to_text(tuple(value.items()) if isinstance(value, Mapping) else value)})"
    return float.__repr__(value) if isinstance(value, float) else str(int(value))


def from_text(text: str) -> Bottle:
    """Read what `to_text` writes, or a person types; integers beyond 64 bits saturate.

    Raises:
        FormatError: a bracket or a quote is left open, or lists are too deep.
    """
    lists: list[list[Value]] = [[]]
    for word in _words(text):
        if word == "(" and len(lists) <= DEEPEST:
            lists.append([])
        elif word == ")" and len(lists) > 1:
            done = tuple(lists.pop())
            lists[-1].append(done)
        elif word in "()":
            raise FormatError(f"a {word} too many in a bottle", hint=f"at most {DEEPEST} levels, all closed")
        else:
            lists[-1].append(_read(word))
    if len(lists) > 1:
        raise FormatError("a list is left open in a bottle", hint="a ) for every (")
    return tuple(lists[0])


def _words(text: str) -> Iterator[str]:
    for found in WORD.finditer(text.rstrip(" \t\r\n,")):
        if found[2]:
            raise FormatError(f"{found[2]} stands alone in a bottle", hint='"..." and {...} are closed')
        yield found[1]


def _read(word: str) -> Value:
    if word[0] == '"':
        return _unescaped(word[1:-1])
    if word[0] == "{":
        return bytes(_byte(part) for part in word[1:-1].replace(",", " ").split())
    if word[0] == "[":
        if word[-1] != "]":
            raise FormatError(f"{word[:20]} is no vocab", hint="such as [pos]")
        return Vocab(word[1:-1][:4])
    return _word(word)


def _word(word: str) -> Value:
    if INTEGER.fullmatch(word):
        value = int(word[:25])  # 25 digits are beyond 64 bits whatever follows
        return min(max(value, INT64_RANGE[0]), INT64_RANGE[-1])
    if HEXADECIMAL.fullmatch(word):
        return int(word, 16)
    if FLOAT.fullmatch(word):
        return float(word)
    return WORDS[word] if word in WORDS else _unescaped(word)


def _byte(part: str) -> int:
    if not INTEGER.fullmatch(part) or len(part) > 4 or not -128 <= int(part) <= 255:
        raise FormatError(f"{part[:20]} is no byte of a blob", hint="such as {0 1 255}")
    return int(part) & 0xFF


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: UNESCAPED.get(found[1], found[1]), text, flags=re.DOTALL)
