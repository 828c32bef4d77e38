"""Reading: bytes to text to a tree, refused early where no honest document would be so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from posewright.documents.files import open_ordinary
from posewright.documents.node import Node, describe
from posewright.errors import DocumentError, Where

MAX_DOCUMENT_BYTES = 4_000_000
"""No native document written by a person or by us comes near this size."""

_HINTS = (
    (
        "mapping values are not allowed",
        "a text with a colon in it needs quotes; `key: value` a line of its own",
    ),
    ("could not find expected ':'", "write `key: value`"),
    ("expected ',' or '}'", "close the { of a mapping; a text with , : [ ] { } in it needs quotes"),
    ("expected ',' or ']'", "close the [ of a list; a text with , : [ ] { } in it needs quotes"),
    ("that cannot start any token", "a text that begins with such a sign needs quotes"),
    ("did not find expected key", "entries that belong together begin in the same column"),
    ("did not find expected '-'", "entries that belong together begin in the same column"),
    ("expected <document start>", "entries that belong together begin in the same column"),
    ("sequence entries are not allowed", "the - of a list begins a line of its own"),
    ("unexpected end of stream", "a quote is not closed"),
    ("expected node content", "a value is missing; a text of signs only needs quotes"),
    ("comment or line break", "a text after > or | begins on the next line; or put it in quotes"),
)
"""What will be right where libyaml complains."""

_BRACKETS = re.compile(
    r"""(?:^|(?<=[\s\[{,:]))(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*)|[\[\]{}\n]""", re.MULTILINE
)
_FLOW_START = re.compile(r"(?:^|[:\-?]) *\Z|^ *\Z")


def read_document(path: Path | str) -> Node:
    """Read a native document.

    Raises:
        DocumentError: the file cannot be read, is too large or too deep, or is not YAML.
    """
    path = Path(path)
    return parse_document(read_text(path), path)


def read_text(path: Path) -> str:
    """Return the text of a native document, for whoever keeps it beside what is parsed from it.

    Raises:
        DocumentError: the file cannot be read, is too large, or is not text.
    """
    try:
        with open_ordinary(path) as file:
            raw = file.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path=path)) from error
    except ValueError as error:  # a NUL in its name
        raise DocumentError("no file can be called so", where=Where(path=path)) from error
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise DocumentError(f"larger than {MAX_DOCUMENT_BYTES} bytes", where=Where(path=path))
    return decode_document(raw, path)


def decode_document(raw: bytes, path: Path | None = None) -> str:
    """Return the text of a native document, or raise DocumentError where it is none."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(
            "not a text file", where=Where(path=path, offset=error.start), hint="documents are UTF-8 YAML"
        ) from error


def parse_document(text: str, path: Path | None = None) -> Node:
    """Parse the text of a native document; `path` is only used in messages.

    Raises:
        DocumentError: it is not YAML, or no honest document.
    """
    import yaml  # not before there is a document to read

    from posewright.documents.parsing import parse_tree

    try:
        tree = parse_tree(text, path)
    except yaml.MarkedYAMLError as error:
        raise _invalid(error, text, path) from error
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        message = f"not valid YAML: special characters are not allowed (character {error.character:#x})"
        raise DocumentError(message, where=Where(path, line)) from error
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise DocumentError("half a character", where=Where(path, line)) from error
    root = Node(tree, path, "", 1)
    if not isinstance(tree, dict):
        root.fail(f"expected a document with named entries, found {describe(tree)}")
    return root


def _invalid(error: Any, text: str, path: Path | None) -> DocumentError:
    """Return the error for what libyaml cannot read, with a hint where we know one."""
    if "flow" in (error.context or ""):
        place = open_bracket(text)  # libyaml only says where it gave up
        if place is not None:
            sign = text.splitlines()[place[0] - 1][place[1] - 1 : place[1]]
            message = f"not valid YAML: the {sign} is never closed"
            close = f"close it with {']' if sign == '[' else '}'}"
            return DocumentError(message, where=Where(path, *place), hint=close)
    mark, problem = error.problem_mark or error.context_mark, str(error.problem)
    where = Where(path, mark.line + 1, mark.column + 1)
    escape = re.compile(r"\\\w+").match(text, max(mark.index - 2, 0))
    if "invalid Unicode" in problem and escape is not None:
        message = f"{escape[0]} is half a character, or none"
        return DocumentError(message, where=where, hint="write the character itself")
    hint = next((right for sign, right in _HINTS if sign in problem), None)
    if "\t" in text[mark.index : mark.index + 1]:
        hint = "indent with blanks, not with tabs"
    return DocumentError(f"not valid YAML: {problem}", where=where, hint=hint)


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
