"""Saving documents: over an existing document, only the lines that differ are changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from posewright.documents.files import is_file, open_regular_file, write_atomically
from posewright.documents.reading import decode_document
from posewright.documents.yaml_writer import FlowMapping, format_yaml
from posewright.errors import DocumentError, Where

BOM = "\ufeff"


def save_document(path: Path | str, data: Mapping[str, object]) -> None:
    """Write a native document atomically.

    If `path` already holds a document, its comments, order and layout stay and only changed values are
    written; without a change, the file stays the same byte for byte.
    """
    path = Path(path)
    write_atomically(path, render_document(data, over=path if is_file(path) else None).encode())


def render_document(data: Mapping[str, object], *, over: Path | None = None) -> str:
    """Return the YAML text of `data`.

    Args:
        data: the content of the document.
        over: an existing document whose comments, order and layout are kept.

    Raises:
        DocumentError: the existing document cannot be read.
    """
    if over is None:
        return format_yaml(data)
    try:
        with open_regular_file(over) as file:
            raw = file.read()
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path=over)) from error
    bom = BOM if raw.startswith(BOM.encode()) else ""
    return bom + revise_document(decode_document(raw, over), data, over)


def revise_document(text: str, data: Mapping[str, object], path: Path | None = None) -> str:
    """Return the text of a document changed so that it holds `data`.

    Lines whose values stay are not changed, and comments, order and layout are kept. A document whose anchors
    prevent this is written anew.
    """
    from posewright.documents.revision import revise_text  # here, because ruamel.yaml takes time to import

    return revise_text(text, data, path)


def flow_mapping(entries: Mapping[str, object]) -> FlowMapping:
    """Return a mapping that is written on one line: `{reach_s: 0.125, ...}`."""
    return FlowMapping(entries)
