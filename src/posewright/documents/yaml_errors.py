"""Explanations of libyaml's errors: what is wrong in the text, and how to write it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from yaml import Mark

from posewright.errors import DocumentError, Where

_SAME_COLUMN = "entries that belong together begin in the same column"

_HINTS = (
    (
        "mapping values are not allowed",
        "a text with a colon in it needs quotes; `key: value` needs a line of its own",
    ),
    ("could not find expected ':'", "write `key: value`"),
    ("expected ',' or '}'", "close the { of a mapping; a text with , : [ ] { } in it needs quotes"),
    ("expected ',' or ']'", "close the [ of a list; a text with , : [ ] { } in it needs quotes"),
    ("that cannot start any token", "a text that begins with such a character needs quotes"),
    ("did not find expected key", _SAME_COLUMN),
    ("did not find expected '-'", _SAME_COLUMN),
    ("expected <document start>", _SAME_COLUMN),
    ("sequence entries are not allowed", "the - of a list begins a line of its own"),
    ("unexpected end of stream", "a quote is not closed"),
    ("expected node content", "a value is missing; a text of special characters needs quotes"),
    ("comment or line break", "a text after > or | begins on the next line; or put it in quotes"),
)
"""By a part of libyaml's message, the hint that goes with it."""

_BRACKETS = re.compile(
    r"""(?:^|(?<=[\s\[{,:]))(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*)|[\[\]{}\n]""", re.MULTILINE
)
_COLON = re.compile(r":(?:\s|$)")
_FLOW_START = re.compile(r"(?:^|[:\-?]) *\Z|^ *\Z")


def explain_yaml_error(error: Any, text: str, path: Path | None) -> DocumentError:
    """Return the error for a text that libyaml cannot parse, with a hint if the cause is recognized.

    Args:
        error: a MarkedYAMLError; `Any`, because the stubs declare its marks as optional.
        text: the text of the document.
        path: its file, for the message.
    """
    if "flow" in (error.context or ""):
        bracket_position = find_open_bracket(text)  # libyaml reports only where it gave up
        if bracket_position is not None:
            line, column = bracket_position
            bracket = text.splitlines()[line - 1][column - 1 : column]
            closing_bracket = "]" if bracket == "[" else "}"
            message = f"not valid YAML: the {bracket} is never closed"
            where = Where(path, line, column)
            return DocumentError(message, where=where, hint=f"close it with {closing_bracket}")
    mark = error.problem_mark or error.context_mark
    problem = str(error.problem)
    where = Where(path, mark.line + 1, mark.column + 1)
    escape = re.compile(r"\\\w+").match(text, max(mark.index - 2, 0))  # libyaml stops after the \u
    if "invalid Unicode" in problem and escape is not None:
        message = f"{escape[0]} is half a character, or none"
        return DocumentError(message, where=where, hint="write the character itself")
    key_line = _find_key_without_colon(error, text)
    if key_line is not None:
        return _build_missing_colon_error(key_line, text, path)
    hint = _explain_operators(text, mark)
    if hint is None:
        hint = next((advice for fragment, advice in _HINTS if fragment in problem), None)
    if "\t" in text[mark.index : mark.index + 1]:
        hint = "indent with spaces, not with tabs"
    return DocumentError(f"not valid YAML: {problem}", where=where, hint=hint)


def _explain_operators(text: str, mark: Mark) -> str | None:
    """Return how a condition such as `!near && far`, at which libyaml gave up, is written in words."""
    nearby = text[max(mark.index - 1, 0) : mark.index + 2]
    if "&&" not in nearby and "||" not in nearby:
        return None
    line = text.splitlines()[mark.line]
    negation = re.search(r"!\s*\(?\s*(\w+)", line)
    first_operand = f"not {negation[1]}" if negation is not None else "near"
    operator = "and" if "&&" in nearby else "or"
    return f"write `{first_operand} {operator} ...`, with the words not, and, or"


def _find_key_without_colon(error: Any, text: str) -> int | None:
    """Return the index of the line with a key that lacks its colon; None if that is not the error.

    libyaml reports it at the next line, where it finds another key.
    """
    problem = str(error.problem)
    mark = error.problem_mark
    if "could not find expected ':'" in problem and error.context_mark is not None:
        return int(error.context_mark.line)
    lines = text.splitlines()
    if "mapping values are not allowed" not in problem or _COLON.search(lines[mark.line][: mark.column]):
        return None
    for index in reversed(range(mark.line)):
        has_content = lines[index].split("#")[0].strip() != ""
        if has_content:  # only the nearest line with content may be the one
            return None if _COLON.search(lines[index]) else index
    return None


def _build_missing_colon_error(line_index: int, text: str, path: Path | None) -> DocumentError:
    """Return the error about a line that lacks a colon, with the line as it should be."""
    line = text.splitlines()[line_index]
    entry = line.strip().lstrip("- ")
    match entry.split():
        case [key]:
            hint = f"write `{key}:`"
        case [key, value]:
            hint = f"write `{key}: {value}`"
        case _:
            hint = "write `key: value`; a text of several lines needs quotes"
    where = Where(path, line_index + 1, line.find(entry) + 1)
    return DocumentError(f"not valid YAML: `{entry[:60]}` has no colon", where=where, hint=hint)


class _Bracket(NamedTuple):
    """An opening bracket and its line and column, from 1."""

    character: str
    line: int
    column: int


def find_open_bracket(text: str) -> tuple[int, int] | None:
    """Return the line and column of a bracket that is never closed, None if all are closed.

    Outside of brackets, only a bracket at the start of a value counts; inside a word it is text.
    """
    open_brackets: list[_Bracket] = []
    line = 1
    line_start = 0
    for match in _BRACKETS.finditer(text):
        character = match[0]
        if character == "\n":
            line += 1
            line_start = match.end()
        elif character in "[{":
            if open_brackets or _FLOW_START.search(text[line_start : match.start()]):
                open_brackets.append(_Bracket(character, line, match.start() - line_start + 1))
        elif character in "]}" and open_brackets:
            innermost = open_brackets[-1]
            if innermost.character + character not in ("[]", "{}"):
                return innermost.line, innermost.column
            open_brackets.pop()
    if not open_brackets:
        return None
    outermost = open_brackets[0]
    return outermost.line, outermost.column
