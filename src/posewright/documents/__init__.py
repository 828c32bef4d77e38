"""Native documents: YAML 1.2, read with line numbers, and saved without losing the user's comments.

`read_document(path)` returns a `Node`, a cursor that knows its line and its path in the document
(`states.walking[0].when`), so that readers of documents report errors precisely.
`save_document` writes atomically; over an existing document it changes only the lines that differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.documents.catalogue import Catalogue as Catalogue
    from posewright.documents.catalogue import Plugins as Plugins
    from posewright.documents.catalogue import is_path as is_path
    from posewright.documents.catalogue import plugins as plugins
    from posewright.documents.files import atomic_replacement as atomic_replacement
    from posewright.documents.files import back_up as back_up
    from posewright.documents.files import create_folder as create_folder
    from posewright.documents.files import is_file as is_file
    from posewright.documents.files import is_folder as is_folder
    from posewright.documents.files import lock_folders as lock_folders
    from posewright.documents.files import open_regular_file as open_regular_file
    from posewright.documents.files import path_exists as path_exists
    from posewright.documents.files import read_bounded as read_bounded
    from posewright.documents.files import real_path as real_path
    from posewright.documents.files import remove_unfinished_files as remove_unfinished_files
    from posewright.documents.files import require_writable as require_writable
    from posewright.documents.files import try_lock as try_lock
    from posewright.documents.files import write_atomically as write_atomically
    from posewright.documents.kinds import DOCUMENT_KINDS as DOCUMENT_KINDS
    from posewright.documents.kinds import DocumentKind as DocumentKind
    from posewright.documents.node import Node as Node
    from posewright.documents.output_names import build_ending_error as build_ending_error
    from posewright.documents.output_names import is_device_name as is_device_name
    from posewright.documents.output_names import require_ending as require_ending
    from posewright.documents.output_names import require_portable_name as require_portable_name
    from posewright.documents.plain import PlainData as PlainData
    from posewright.documents.plain import PlainMapping as PlainMapping
    from posewright.documents.plain import plain_mapping as plain_mapping
    from posewright.documents.plain import plain_with_arrays as plain_with_arrays
    from posewright.documents.plain import to_plain as to_plain
    from posewright.documents.reading import MAX_DOCUMENT_BYTES as MAX_DOCUMENT_BYTES
    from posewright.documents.reading import decode_document as decode_document
    from posewright.documents.reading import parse_document as parse_document
    from posewright.documents.reading import read_document as read_document
    from posewright.documents.reading import read_text as read_text
    from posewright.documents.saving import flow_mapping as flow_mapping
    from posewright.documents.saving import render_document as render_document
    from posewright.documents.saving import revise_document as revise_document
    from posewright.documents.saving import save_document as save_document
    from posewright.documents.schema import Bounds as Bounds
    from posewright.documents.schema import FieldReader as FieldReader
    from posewright.documents.schema import read_record as read_record
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
