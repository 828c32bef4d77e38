"""Words, numbers, quoted texts and paragraphs of plain YAML.

A text is ended by a NUL, which no document has, so that nobody need ask whether it has ended.
"""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml.scalarstring import (
    DoubleQuotedScalarString,
    FoldedScalarString,
    LiteralScalarString,
    SingleQuotedScalarString,
)

from posewright.documents.plain_tree import NotPlainError

BLOCK_WORD = re.compile(
    r"""(?:[^\s\0\-?:,\[\]{}#&*!|>'"%@`]|-(?=[^\s\0,\[\]{}]))"""
    r"""(?:[^\s\0:]|:(?=[^\s\0])| +(?=[^\s\0:#]|:[^\s\0]))*"""
)
FLOW_WORD = re.compile(
    r"""(?:[^\s\0\-?:,\[\]{}#&*!|>'"%@`]|-(?=[^\s\0,\[\]{}:]))"""
    r"""(?:[^\s\0:,\[\]{}]| +(?=[^\s\0:,\[\]{}#]))*"""
)
"""Words without quotes; within brackets, commas and brackets end them."""

_DOUBLE = re.compile(r'"((?:[^"\\\n]|\\["\\/nt])*)"')
_SINGLE = re.compile(r"'((?:[^'\n]|'')*)'")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t"}

_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,30})")
_FLOAT = re.compile(r"-?(?:[0-9]{1,40}\.[0-9]{0,40}(?:[eE][-+][0-9]{1,4})?|[0-9]{1,40}[eE][-+]?[0-9]{1,4})")
_LIKE_A_NUMBER = re.compile(r"[-+]?\.?[0-9]|[-+.]")
_NO_NUMBER = re.compile(r"-?[0-9.]+ +[^0-9:]|-[A-Za-z_(]|-?[0-9.]+\.\.-?[\w.]+\Z")
_LIKE_A_DATE = re.compile(r"[0-9]{4}-")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_SPECIAL = frozenset(("=", "<<"))

_HEAD = re.compile(r"([>|])(-?)(?:\n|(?= +#)[^\n]*\n)")
_ENDS = re.compile(r"\n+")


def is_text(word: str) -> bool:
    """Return whether a word of letters is text and not true, false or nothing."""
    return word not in _WORDS


def scalar_at(text: str, offset: int, word: re.Pattern[str], line: int) -> tuple[Any, int]:
    """Return the value that begins at `offset`, and where it ends.

    Raises:
        NotPlainError: there is none, or one that may mean something else to YAML.
    """
    match: re.Match[str] | None
    if text[offset] == '"':
        if (match := _DOUBLE.match(text, offset)) is not None:
            inner = _ESCAPE.sub(lambda sign: _ESCAPES.get(sign[1], sign[1]), match[1])
            return DoubleQuotedScalarString(inner), match.end()
    elif text[offset] == "'":
        if (match := _SINGLE.match(text, offset)) is not None:
            return SingleQuotedScalarString(match[1].replace("''", "'")), match.end()
    elif (match := word.match(text, offset)) is not None:
        return _meaning(match[0], line), match.end()
    shown = "the end" if text[offset] == "\0" else repr(text[offset])
    raise NotPlainError(f"expected a value, found {shown}", line)


def _meaning(word: str, line: int) -> Any:
    if word in _WORDS:
        return _WORDS[word]
    if not _LIKE_A_NUMBER.match(word):
        if word in _SPECIAL:
            raise NotPlainError(f"{word!r} is not plain", line)
        return word
    if _INT.fullmatch(word):
        return int(word)
    if _FLOAT.fullmatch(word):
        return float(word)
    if not _NO_NUMBER.match(word) or _LIKE_A_DATE.match(word):
        raise NotPlainError(f"{word[:40]!r} could be a number or a text: put it in quotes", line)
    return word


def paragraph_at(text: str, offset: int, column: int, line: int) -> tuple[str, int]:
    """Return a text over several lines, folded (`>`) or as it stands (`|`), and where it ends.

    Args:
        text: the document.
        offset: of the `>` or `|`.
        column: of what it belongs to; the lines are further right.
        line: of the `>` or `|`, from 1.

    Raises:
        NotPlainError: its lines do not all begin in one column, or it asks for more than plain YAML.
    """
    head = _HEAD.match(text, offset)
    lines, end = _lines(text, head.end(), column) if head is not None else ([], offset)
    if head is None or not lines or lines[0] == "":
        raise NotPlainError("a text over several lines that is not plain", line)
    body = "\n".join(lines).rstrip("\n")
    tail = "" if head[2] or text[end] == "\0" else "\n"
    if head[1] == "|":
        return LiteralScalarString(body + tail), end
    return FoldedScalarString(_ENDS.sub(lambda ends: ends[0][1:] or " ", body) + tail), end


def _lines(text: str, start: int, column: int) -> tuple[list[str], int]:
    """Return the lines of a paragraph and where the last one ends; no line where they are not plain."""
    lines: list[str] = []
    indent, end = 0, start - 1
    while text[start] != "\0":
        stop = text.find("\n", start)
        stop = len(text) - 1 if stop < 0 else stop
        line = text[start:stop]
        deep = len(line) - len(line.lstrip(" "))
        indent = indent or deep
        if line.strip(" ") and deep < max(indent, column + 1):
            break
        if deep > indent or line != line.rstrip(" "):
            return [], end
        lines.append(line[deep:])
        end, start = stop, stop + (text[stop] == "\n")
    return lines, end
