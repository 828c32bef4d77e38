"""Saving: a document is made to say something new with as few lines changed as that takes."""

from __future__ import annotations

import difflib
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posewright.documents.atomic import write_atomically
from posewright.documents.dialect import BOM, yaml_1_2
from posewright.documents.emitting import emitted
from posewright.documents.merging import OneLine, merge, says
from posewright.documents.reading import decode_document, parse_document
from posewright.errors import DocumentError, Where


def save_document(path: Path | str, data: Mapping[str, Any]) -> None:
    """Write a native document atomically.

    Where `path` already holds a document, its comments, order and layout survive and only changed
    values change; if nothing changed, not a byte does.
    """
    path = Path(path)
    write_atomically(path, render_document(data, over=path if path.exists() else None).encode())


def render_document(data: Mapping[str, Any], *, over: Path | None = None) -> str:
    """Return the YAML text of `data`, laid over the document at `over` where one is given.

    Raises:
        DocumentError: what stands at `over` cannot be read or is no document.
    """
    if over is None:
        return emitted(data)
    try:
        raw = over.read_bytes()
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path=over)) from error
    mark = BOM if raw.startswith(BOM.encode()) else ""
    return mark + revise_document(decode_document(raw, over), data, over)


def revise_document(text: str, data: Mapping[str, Any], path: Path | None = None) -> str:
    """Return the document `text` made to say `data`: a line that says the same as before is not touched.

    Comments, order and layout survive. Only where anchors are in the way is it written anew.
    """
    tree = parse_document(text, path).value
    before = _dump(tree)
    if not merge(tree, data):
        return text
    after = _dump(tree)
    for revised in (_in_the_lines_of(text, before, after), after):
        if says(parse_document(revised, path).value, data):
            return revised
    return emitted(data)


def one_line(entries: Mapping[str, Any]) -> OneLine:
    """Return `entries` as a mapping that is written on one line: `{reach_s: 0.125, ...}`."""
    return OneLine(entries)


def _dump(tree: Any) -> str:
    stream = io.StringIO()
    yaml_1_2().dump(tree, stream)
    return stream.getvalue()


def _in_the_lines_of(text: str, before: str, after: str) -> str:
    """Return `after`, but every line that stands in `before` too as it stands in `text`.

    `before` is a dump of `text`. A dump puts blanks, `~` and line ends its own way, and a person's lines
    should not change for that.
    """
    lines, dumped, wanted = text.splitlines(keepends=True), before.splitlines(), after.splitlines()
    if [_squeezed(line) for line in lines] != [_squeezed(line) for line in dumped]:
        return after
    indents = {_indent(dump): _indent(line) for dump, line in zip(dumped, lines, strict=True) if dump}
    kept: list[str] = []
    for same, i, j, k, m in difflib.SequenceMatcher(None, dumped, wanted, autojunk=False).get_opcodes():
        if same == "equal":
            kept += [line.rstrip("\r\n") for line in lines[i:j]]
        else:
            kept += [
                " " * indents.get(_indent(line), _indent(line)) + line.lstrip(" ") for line in wanted[k:m]
            ]
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    return end.join(kept) + ("" if lines and not lines[-1].endswith("\n") else end)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _squeezed(line: str) -> str:
    """Return what a line says, whatever its blanks, quotes and way of saying nothing."""
    return re.sub(r"[\s\"'~]|\bnull\b", "", line)
