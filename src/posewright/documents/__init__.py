"""Native documents: YAML 1.2, read with line numbers, saved with a person's comments kept.

`read_document(path)` gives a `Node`, a cursor that knows its line and its trail
(`states.walking[0].when`), so that whoever reads a document can say precisely what is wrong with it.
`save_document` writes atomically; over an existing document it changes only the lines that must change.
"""

from __future__ import annotations

from posewright.documents.catalogue import Catalogue, Plugins, is_path, plugins
from posewright.documents.files import (
    locked,
    open_ordinary,
    refuse_unwritable,
    try_lock,
    write_atomically,
)
from posewright.documents.node import Node
from posewright.documents.reading import (
    MAX_DOCUMENT_BYTES,
    decode_document,
    parse_document,
    read_document,
    read_text,
)
from posewright.documents.saving import one_line, render_document, revise_document, save_document
from posewright.documents.schema import Bounds, Reader, data_of, read_record

__all__ = [
    "MAX_DOCUMENT_BYTES",
    "Bounds",
    "Catalogue",
    "Node",
    "Plugins",
    "Reader",
    "data_of",
    "decode_document",
    "is_path",
    "locked",
    "one_line",
    "open_ordinary",
    "parse_document",
    "plugins",
    "read_document",
    "read_record",
    "read_text",
    "refuse_unwritable",
    "render_document",
    "revise_document",
    "save_document",
    "try_lock",
    "write_atomically",
]
