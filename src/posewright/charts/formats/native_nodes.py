"""Native documents built from files of other formats: data with line numbers, and one-line YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from posewright.documents import Node, parse_document, to_plain
from posewright.documents.positions import Positioned, Positions
from posewright.errors import DocumentError, InputError, Where

_PLAIN_SCALAR = re.compile(r"[A-Za-z_][A-Za-z0-9_ ()+*/<>=.-]*")
_YAML_CONSTANTS = frozenset({"true", "false", "null", "True", "False", "Null"})


class Entries(dict[str, Any], Positioned):
    """A mapping of a native document with line numbers; entries that are None are left out.

    Args:
        entries: the entries.
        line: the line of the mapping.
        lines: the lines of its entries; an entry without one has its own line, or else that of the mapping.
    """

    def __init__(
        self, entries: Mapping[str, object], line: int | None, lines: Mapping[str, int | None] | None = None
    ) -> None:
        """Store the entries and their lines; arguments as in the class."""
        super().__init__({key: value for key, value in entries.items() if value is not None})
        self.line = line
        own_lines = {key: _line_of(value, default=line) for key, value in self.items()}
        self.lines = {**own_lines, **(lines or {})}
        self.positions = _places(self.lines)

    def merge(self, replacements: Entries) -> Entries:
        """Return a mapping with the entries of both; those of `replacements` replace equal keys."""
        return Entries({**self, **replacements}, self.line, {**self.lines, **replacements.lines})


class Items(list[Any], Positioned):
    """A list of a native document with line numbers."""

    def __init__(self, items: Iterable[object], line: int | None) -> None:
        super().__init__(items)
        self.line = line
        self.positions = _places({i: _line_of(item, line) for i, item in enumerate(self)})


def _line_of(value: object, default: int | None) -> int | None:
    """Return the line of an entry, or the default if it has none."""
    return value.line if isinstance(value, Entries | Items) else default


def _places(lines: Mapping[str, int | None] | Mapping[int, int | None]) -> Positions:
    """Return lines as positions without columns, for the native reader."""
    return {key: (line, line, None) for key, line in lines.items() if line is not None}


def flow_text(data: object) -> str:
    """Return plain data as one line of YAML in flow style, such as `{go: [a, b], min_s: 0.5}`.

    A text that YAML would read as something else is quoted.
    """
    if isinstance(data, Mapping):
        entries = [f"{key}: {flow_text(value)}" for key, value in data.items()]
        return "{" + ", ".join(entries) + "}"
    if isinstance(data, list | tuple):
        return "[" + ", ".join(flow_text(item) for item in data) + "]"
    if not isinstance(data, str):
        return json.dumps(data)
    needs_no_quotes = _PLAIN_SCALAR.fullmatch(data) and data not in _YAML_CONSTANTS and not data.endswith(" ")
    # str() turns texts of documents, which know their lines, into plain ones
    return str(data) if needs_no_quotes else json.dumps(data, ensure_ascii=False)


def flow_node(text: str, path: Path | None, line: int | None) -> Node:
    """Parse one line of YAML to a node of a native document.

    Args:
        text: the YAML.
        path: the file, for messages.
        line: the line in the file.

    Raises:
        DocumentError: the text is not YAML.
    """
    try:
        plain = to_plain(parse_document(f"value: {text.strip()}").fields()["value"].value)
    except InputError as error:
        raise DocumentError(error.message, where=Where(path, line), hint=error.hint) from error
    return Node(plain, path, trail="", line=line)
