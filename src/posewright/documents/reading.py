"""Reading: bytes to text to a tree, refused early where no honest document would be so."""

from __future__ import annotations

import re
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from posewright.documents.bounds import (
    open_bracket,
    refuse_deep_nesting,
    refuse_endless_aliases,
    refuse_surrogates,
    refuse_tags,
)
from posewright.documents.dialect import yaml_1_2
from posewright.documents.node import Node, describe
from posewright.documents.ordinary import open_ordinary
from posewright.documents.plain import parse_plain
from posewright.documents.plain_tree import NotPlainError
from posewright.errors import DocumentError, Where

MAX_DOCUMENT_BYTES = 4_000_000
"""No native document written by a person or by us comes near this size."""

MAX_RICH_CHARACTERS, MAX_RICH_SIGNS = 60_000, 4_000
"""Size of a document that is read with the whole of YAML where time matters: about 0.1 ms a sign."""

_HINTS = (
    (
        "mapping values are not allowed",
        "a text with a colon in it needs quotes; `key: value` a line of its own",
    ),
    ("could not find expected ':'", "write `key: value`"),
    ("expected ',' or '}'", "close the { of a mapping; a text with , : [ ] { } in it needs quotes"),
    ("expected ',' or ']'", "close the [ of a list; a text with , : [ ] { } in it needs quotes"),
    ("duplicate key", "every key once: rename one, or put both together"),
    ("undefined alias", "a text that begins with * needs quotes"),
    (r"'\t' that cannot start", "indent with blanks, not with tabs"),
    ("that cannot start any token", "a text that begins with such a sign needs quotes"),
    ("expected <block end>", "entries that belong together begin in the same column"),
    ("sequence entries are not allowed", "the - of a list begins a line of its own"),
    ("unexpected end of stream", "a quote is not closed"),
    ("another document", "one document a file"),
    ("expected the node content", "a value is missing; a text of signs only needs quotes"),
    ("comment or a line break", "a text after > or | begins on the next line; or put it in quotes"),
)
"""What will be right where the parser complains."""

_LONG_NUMBER = re.compile(r"[0-9][0-9_]{4000}")

_SIGNS = ",:[{-?&*!"


def read_document(path: Path | str) -> Node:
    """Read a native document.

    Returns:
        The root of the document, which is a mapping.

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
        raw = _read_at_most(path, MAX_DOCUMENT_BYTES)
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path=path)) from error
    return decode_document(raw, path)


def decode_document(raw: bytes, path: Path | None = None) -> str:
    """Return the text of a native document, or raise DocumentError where it is none."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(
            "not a text file", where=Where(path=path, offset=error.start), hint="documents are UTF-8 YAML"
        ) from error


def _read_at_most(path: Path, limit: int) -> bytes:
    with open_ordinary(path) as file:
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise DocumentError(f"larger than {limit} bytes", where=Where(path=path))
    return raw


def parse_document(text: str, path: Path | None = None) -> Node:
    """Parse the text of a native document; `path` is only used in messages."""
    refuse_deep_nesting(text, path)
    try:
        tree = _quiet_yaml().load(text)
    except MarkedYAMLError as error:
        if "flow" in (error.context or ""):
            _refuse_open_bracket(text, path)
        mark = error.problem_mark or error.context_mark
        where = Where(path=path, line=mark.line + 1, column=mark.column + 1) if mark else Where(path=path)
        problem = str(error.problem or error.context).split(" with value ")[0]
        hint = next((hint for sign, hint in _HINTS if sign in problem), None)
        raise DocumentError(f"not valid YAML: {problem}", where=where, hint=hint) from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"not valid YAML: {error.reason} (character {error.character:#x})"
        raise DocumentError(message, where=Where(path, line)) from error
    except ValueError as error:
        _refuse_long_number(text, path)
        raise DocumentError(f"not valid YAML: {error}", where=Where(path)) from error
    except (
        YAMLError,
        RecursionError,
        TypeError,
    ) as error:  # TypeError: a list or mapping as a key
        raise DocumentError(f"not valid YAML: {error}", where=Where(path)) from error
    root = Node(tree, path, "", 1)
    if not isinstance(tree, dict):
        root.fail(f"expected a document with named entries, found {describe(tree)}")
    refuse_tags(tree, text, path)
    refuse_endless_aliases(tree, text, path)
    refuse_surrogates(tree, text, path)
    return root


def _refuse_open_bracket(text: str, path: Path | None) -> None:
    """Fail at a bracket that is never closed: the parser only says where it gave up."""
    place = open_bracket(text)
    if place is not None:
        sign = text.splitlines()[place[0] - 1][place[1] - 1 : place[1]]
        hint = f"close it with {']' if sign == '[' else '}'}"
        raise DocumentError(
            f"not valid YAML: the {sign} is never closed", where=Where(path, *place), hint=hint
        )


def _refuse_long_number(text: str, path: Path | None) -> None:
    """Fail at a number of so many digits that Python does not read it."""
    match = _LONG_NUMBER.search(text)
    if match is not None:
        where = Where(path, text.count("\n", 0, match.start()) + 1)
        raise DocumentError("a number too large", where=where, hint="the range is -1.8e308..1.8e308")


def parse_quickly(text: str, path: Path | None = None) -> Node:
    """Parse the text of a native document that is only read: nothing is kept for saving over it.

    A large document has to be in plain YAML, for the whole of YAML takes its time.

    Raises:
        DocumentError: it is not YAML; or it is large, and not plain.
    """
    try:
        return Node(parse_plain(text), path, "", 1)
    except NotPlainError as error:
        if len(text) > MAX_RICH_CHARACTERS or sum(map(text.count, _SIGNS)) > MAX_RICH_SIGNS:
            refuse_deep_nesting(text, path)
            _refuse_open_bracket(text, path)
            hint = f"a document of {len(text)} characters is read as plain YAML"
            raise DocumentError(error.message, where=Where(path, error.line), hint=hint) from error
        line = error.line
    try:
        return parse_document(text, path)
    except DocumentError as error:
        if error.where is None or error.where.line is None:  # what was not plain will be what was wrong
            error.where = Where(path, line)
        raise


def _quiet_yaml() -> YAML:
    yaml = yaml_1_2()
    yaml.composer.warn_double_anchors = False  # it would be printed, once for each of them
    return yaml
