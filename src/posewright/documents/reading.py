"""Reading documents: bytes to text to a tree of `Node`s."""

from __future__ import annotations

from pathlib import Path

from posewright.documents.files import open_regular_file
from posewright.documents.node import Node, describe
from posewright.errors import DocumentError, Where

MAX_DOCUMENT_BYTES = 4_000_000
"""Largest size of a document; real ones are far smaller."""


def read_document(path: Path | str) -> Node:
    """Read a native document; raise DocumentError if it cannot be read or is not valid."""
    path = Path(path)
    return parse_document(read_text(path), path)


def read_text(path: Path) -> str:
    """Return the text of a native document, for callers that need it beside the parsed tree.

    Raises:
        DocumentError: the file cannot be read, is too large, or is not text.
    """
    try:
        with open_regular_file(path) as file:
            raw = file.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path=path)) from error
    except ValueError as error:  # a NUL in its name
        raise DocumentError("no file can have this name", where=Where(path=path)) from error
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise DocumentError(f"larger than {MAX_DOCUMENT_BYTES} bytes", where=Where(path=path))
    return decode_document(raw, path)


def decode_document(raw: bytes, path: Path | None = None) -> str:
    """Return the text of a native document; raise DocumentError if it is not UTF-8."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = Where(path=path, offset=error.start)
        raise DocumentError("not a text file", where=where, hint="save it as UTF-8") from error


def parse_document(text: str, path: Path | None = None) -> Node:
    """Parse the text of a native document (`path` is used in messages only).

    Raises:
        DocumentError: it is not valid YAML, exceeds a limit, or is not a mapping.
    """
    import yaml  # here, because importing it takes time

    from posewright.documents.yaml_tree import parse_tree

    try:
        tree = parse_tree(text, path)
    except yaml.MarkedYAMLError as error:
        from posewright.documents.yaml_errors import explain_yaml_error

        raise explain_yaml_error(error, text, path) from error
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        message = f"not valid YAML: special characters are not allowed (character {error.character:#x})"
        raise DocumentError(message, where=Where(path, line)) from error
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise DocumentError(
            "half a character (a lone surrogate) cannot be read", where=Where(path, line)
        ) from error
    root = Node(tree, path, trail="", line=1)
    if not isinstance(tree, dict):
        root.fail(f"expected a document with named entries, found {describe(tree)}")
    return root
