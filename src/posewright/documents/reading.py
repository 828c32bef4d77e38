"""Reading: bytes to text to a tree, refused early where no honest document would be so."""

from __future__ import annotations

from pathlib import Path

from ruamel.yaml.error import MarkedYAMLError, YAMLError

from posewright.documents.dialect import yaml_1_2
from posewright.documents.node import Node, describe
from posewright.documents.ordinary import open_ordinary
from posewright.errors import DocumentError, Where

MAX_DOCUMENT_BYTES = 4_000_000
"""No native document written by a person or by us comes near this size."""

MAX_NESTING = 64
"""Levels of nesting; our deepest own document has seven."""


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
    _refuse_deep_nesting(text, path)
    try:
        tree = yaml_1_2().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Where(path=path, line=mark.line + 1, column=mark.column + 1) if mark else Where(path=path)
        raise DocumentError(f"not valid YAML: {error.problem or error.context}", where=where) from error
    except (
        YAMLError,
        RecursionError,
        ValueError,
        TypeError,
    ) as error:  # TypeError: a list or mapping as a key
        raise DocumentError(f"not valid YAML: {error}", where=Where(path=path)) from error
    root = Node(tree, path, "", 1)
    if not isinstance(tree, dict):
        root.fail(f"expected a document with named entries, found {describe(tree)}")
    return root


def _refuse_deep_nesting(text: str, path: Path | None) -> None:
    """Refuse brackets or indentation deeper than any honest document, before a parser recurses."""
    for number, line in enumerate(text.splitlines(), 1):
        indent = len(line) - len(line.lstrip(" -"))
        depth = max(line.count("["), line.count("{"))
        if (depth > MAX_NESTING and _bracket_depth(line) > MAX_NESTING) or indent > 4 * MAX_NESTING:
            raise DocumentError(
                f"nested deeper than {MAX_NESTING} levels", where=Where(path=path, line=number)
            )


def _bracket_depth(line: str) -> int:
    depth = deepest = 0
    for sign in line:
        depth += (sign in "[{") - (sign in "]}")
        deepest = max(deepest, depth)
    return deepest
