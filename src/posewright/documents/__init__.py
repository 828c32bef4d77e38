"""Native documents: YAML 1.2, read with line numbers, saved with a person's comments kept.

`read_document(path)` gives a `Node`, a cursor that knows its line and its trail
(`states.walking[0].when`), so that whoever reads a document can say precisely what is wrong with it.
`save_document` writes atomically; over an existing document it changes only the lines that must change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.documents.catalogue import Catalogue as Catalogue
    from posewright.documents.catalogue import Plugins as Plugins
    from posewright.documents.catalogue import is_path as is_path
    from posewright.documents.catalogue import plugins as plugins
    from posewright.documents.files import is_file as is_file
    from posewright.documents.files import is_folder as is_folder
    from posewright.documents.files import is_there as is_there
    from posewright.documents.files import locked as locked
    from posewright.documents.files import open_ordinary as open_ordinary
    from posewright.documents.files import read_bounded as read_bounded
    from posewright.documents.files import real_path as real_path
    from posewright.documents.files import refuse_unwritable as refuse_unwritable
    from posewright.documents.files import remove_unfinished as remove_unfinished
    from posewright.documents.files import replacing as replacing
    from posewright.documents.files import try_lock as try_lock
    from posewright.documents.files import write_atomically as write_atomically
    from posewright.documents.plain import PlainData as PlainData
    from posewright.documents.plain import PlainMapping as PlainMapping
    from posewright.documents.plain import plain_mapping as plain_mapping
    from posewright.documents.plain import plain_with_arrays as plain_with_arrays
    from posewright.documents.plain import to_plain as to_plain
    from posewright.documents.reading import MAX_DOCUMENT_BYTES as MAX_DOCUMENT_BYTES
    from posewright.documents.reading import Node as Node
    from posewright.documents.reading import decode_document as decode_document
    from posewright.documents.reading import parse_document as parse_document
    from posewright.documents.reading import read_document as read_document
    from posewright.documents.reading import read_text as read_text
    from posewright.documents.saving import one_line as one_line
    from posewright.documents.saving import render_document as render_document
    from posewright.documents.saving import revise_document as revise_document
    from posewright.documents.saving import save_document as save_document
    from posewright.documents.schema import Bounds as Bounds
    from posewright.documents.schema import Reader as Reader
    from posewright.documents.schema import read_record as read_record
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
