"""Saving: a document is made to say something new with as few lines changed as that takes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from posewright.documents.emitting import OneLine, emitted
from posewright.documents.files import is_file, open_ordinary, write_atomically
from posewright.documents.reading import decode_document
from posewright.errors import DocumentError, Where

BOM = "\ufeff"


def save_document(path: Path | str, data: Mapping[str, object]) -> None:
    """Write a native document atomically.

    Where `path` already holds a document, its comments, order and layout survive and only changed
    values change; if nothing changed, not a byte does.
    """
    path = Path(path)
    write_atomically(path, render_document(data, over=path if is_file(path) else None).encode())


def render_document(data: Mapping[str, object], *, over: Path | None = None) -> str:
    """Return the YAML text of `data`, laid over the document at `over` where one is given."""
    if over is None:
        return emitted(data)
    try:
        with open_ordinary(over) as file:
            raw = file.read()
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path=over)) from error
    mark = BOM if raw.startswith(BOM.encode()) else ""
    return mark + revise_document(decode_document(raw, over), data, over)


def revise_document(text: str, data: Mapping[str, object], path: Path | None = None) -> str:
    """Return the document `text` made to say `data`: a line that says the same as before is not touched.

    Comments, order and layout survive. Only where anchors are in the way is it written anew.
    """
    from posewright.documents.revision import revised  # not before there is something to keep

    return revised(text, data, path)


def one_line(entries: Mapping[str, object]) -> OneLine:
    """Return `entries` as a mapping that is written on one line: `{reach_s: 0.125, ...}`."""
    return OneLine(entries)
