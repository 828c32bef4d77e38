"""Documents that no honest person writes: nested without end, or a page that aliases make a library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from posewright.errors import DocumentError, Where

MAX_NESTING = 64
"""Levels of nesting; our deepest own document has seven."""

MAX_ALIASED = 10_000
"""Entries of a document with aliases, every one written out; or twice as many as it has without them."""

_BRACKETS = re.compile(
    r"""(?:^|(?<=[\s\[{,:]))(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*)|[\[\]{}\n]""", re.MULTILINE
)
_TAG = re.compile(r"(?:^|[\s\[{,])![^\s=][^\s,\[\]{}]*", re.MULTILINE)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\U0000[dD][89a-fA-F][0-9a-fA-F]{2}")
_ALIAS = re.compile(r"(?:^|[\s\[{,])\*[^\s,\[\]{}]", re.MULTILINE)


def refuse_deep_nesting(text: str, path: Path | None) -> None:
    """Refuse brackets or indentation deeper than any honest document, before a parser recurses.

    Raises:
        DocumentError: says the line at which it becomes too deep.
    """
    line = _first_deep_line(text)
    if line is None and text.count("[") + text.count("{") > MAX_NESTING:
        line = _first_deep_bracket(text)
    if line is not None:
        hint = "no honest document is as deep"
        raise DocumentError(f"nested deeper than {MAX_NESTING} levels", where=Where(path, line), hint=hint)


def _first_deep_line(text: str) -> int | None:
    """Return the line whose indentation makes more levels than there may be."""
    columns: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        content = line.lstrip(" -") or "-" * ("-" in line)
        if not content or content[0] == "#":
            continue
        column = len(line) - len(content)
        while columns and columns[-1] >= column:
            columns.pop()
        columns.append(column)
        if len(columns) > MAX_NESTING or column > 4 * MAX_NESTING:
            return number
    return None


def _first_deep_bracket(text: str) -> int | None:
    """Return the line with a bracket inside too many others, those in quotes and comments left out."""
    depth, line = 0, 1
    for match in _BRACKETS.finditer(text):
        sign = match[0]
        line += sign == "\n"
        if sign in "[{":
            depth += 1
            if depth > MAX_NESTING:
                return line
        elif sign in "]}":
            depth = max(depth - 1, 0)
    return None


_FLOW_START = re.compile(r"(?:^|[:\-?]) *\Z|^ *\Z")


def open_bracket(text: str) -> tuple[int, int] | None:
    """Return the line and column of a bracket that is never closed, None where every one is.

    In a word outside of brackets they mean nothing: only what begins a value counts there.
    """
    stack: list[tuple[str, int, int]] = []
    line, start = 1, 0
    for match in _BRACKETS.finditer(text):
        sign = match[0]
        if sign == "\n":
            line, start = line + 1, match.end()
        elif sign in "[{" and (stack or _FLOW_START.search(text[start : match.start()])):
            stack.append((sign, line, match.start() - start + 1))
        elif sign in "]}" and stack:
            if stack[-1][0] + sign not in ("[]", "{}"):
                return stack[-1][1:]
            stack.pop()
    return stack[0][1:] if stack else None


def refuse_surrogates(tree: Any, text: str, path: Path | None) -> None:
    """Refuse half a character, as only an escape can write it: no file can hold it.

    Raises:
        DocumentError: says the line of the first one.
    """
    escape = _SURROGATE.search(text)
    if escape is None or not any(_has_surrogate(part) for node in _nodes(tree) for part in _texts(node)):
        return
    where = Where(path, text.count("\n", 0, escape.start()) + 1)
    raise DocumentError(f"{escape[0]} is half a character", where=where, hint="write the character itself")


def _texts(node: Any) -> list[str]:
    """Return a node that is a text, or the keys of one that is a mapping."""
    return [part for part in (node if isinstance(node, dict) else [node]) if isinstance(part, str)]


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= sign <= "\udfff" for sign in text)


def refuse_tags(tree: Any, text: str, path: Path | None) -> None:
    """Refuse a tree with tags: nothing in a document says of which type a thing is made.

    Raises:
        DocumentError: says the line of the first tag.
    """
    tag = _TAG.search(text)
    if tag is None or not any(_has_tag(node) for node in _nodes(tree)):
        return
    where = Where(path, text.count("\n", 0, tag.end() - 1) + 1)
    raise DocumentError(f"a tag, {tag[0].strip()[:40]}", where=where, hint="leave it out")


def _has_tag(node: Any) -> bool:
    tag = getattr(node, "tag", None)
    return tag is not None and getattr(tag, "trval", getattr(tag, "value", None)) is not None


def _nodes(tree: Any) -> Iterator[Any]:
    """Yield everything in a tree once, whatever aliases there are."""
    waiting, seen = [tree], {id(tree)}
    while waiting:
        node = waiting.pop()
        yield node
        for part in _parts(node):
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)


def refuse_endless_aliases(tree: Any, text: str, path: Path | None) -> None:
    """Refuse a tree in which aliases lead back, or stand for many times what is written.

    Raises:
        DocumentError: says the line of the first alias.
    """
    alias = _ALIAS.search(text)
    if alias is None:
        return
    where = Where(path, text.count("\n", 0, alias.end() - 1) + 1)
    sizes = _sizes(tree)
    if sizes is None:
        hint = "write out what the alias stands for"
        raise DocumentError("an alias stands inside what it stands for", where=where, hint=hint)
    if sizes[id(tree)] > max(MAX_ALIASED, 2 * len(sizes)):
        message = f"more than {MAX_ALIASED} entries once its aliases are written out"
        raise DocumentError(message, where=where, hint="no honest document is as large")


def _sizes(tree: Any) -> dict[int, int] | None:
    """Return how many entries each list and mapping has, aliases written out; None where it has no end."""
    sizes: dict[int, int] = {}
    inside: set[int] = set()
    waiting = [(tree, False)]
    while waiting:
        node, seen = waiting.pop()
        parts = _parts(node)
        if seen:
            sizes[id(node)] = 1 + sum(sizes.get(id(part), 1) for part in parts)
            inside.discard(id(node))
        elif id(node) not in sizes:
            if id(node) in inside:
                return None
            inside.add(id(node))
            waiting.append((node, True))
            waiting.extend((part, False) for part in parts if isinstance(part, dict | list))
    return sizes


def _parts(node: Any) -> list[Any]:
    return list(node.values()) if isinstance(node, dict) else list(node) if isinstance(node, list) else []
