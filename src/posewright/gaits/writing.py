"""Writing of gaits as documents, preserving the layout of a document that is overwritten."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from posewright.documents import parse_document, path_exists, read_text, render_document, save_document
from posewright.gaits.gait import Gait


def write_gait(gait: Gait, path: Path | str) -> None:
    """Write a gait as a `*.gait.yaml`.

    In an existing document comments, order and notation are preserved; only lines with changed values
    change.

    Raises:
        DocumentError: the existing document cannot be read.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    old_document = parse_document(read_text(path), path).value if path_exists(path) else {}
    if not isinstance(old_document, Mapping):
        old_document = {}
    save_document(path, gait.document(old_document, path))


def gait_text(gait: Gait) -> str:
    """Return the document that `write_gait` writes to a new file."""
    return render_document(gait.document({}, None))
