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


class LineMapping(dict[str, Any], Positioned):
    """A mapping of a native document that knows its lines, for messages; entries of None are left out.

    Attributes:
        line: the line of the mapping.
        line_of_key: the line of each entry.
        positions: the same lines in the form that the native reader takes.
    """

    def __init__(
        self, entries: Mapping[str, object], line: int | None, lines: Mapping[str, int | None] | None = None
    ) -> None:
        """Store the entries that are not None, and their lines.

        Args:
            entries: the entries.
            line: the line of the mapping.
            lines: the lines of entries by key. An entry that is not in it has the line of its value, if that
                is a LineMapping or LineList, else the line of the mapping.
        """
        super().__init__({key: value for key, value in entries.items() if value is not None})
        self.line = line
        lines_of_values = {key: _line_of(value, default=line) for key, value in self.items()}
        self.line_of_key = {**lines_of_values, **(lines or {})}
        self.positions = _positions_of_lines(self.line_of_key)

    def merged_with(self, replacements: LineMapping) -> LineMapping:
        """Return a mapping with the entries of both; those of `replacements` replace equal keys."""
        lines = {**self.line_of_key, **replacements.line_of_key}
        return LineMapping({**self, **replacements}, self.line, lines)


class LineList(list[Any], Positioned):
    """A list of a native document that knows its lines, for messages.

    Attributes:
        line: the line of the list.
        positions: the lines of its items, in the form that the native reader takes.
    """

    def __init__(self, items: Iterable[object], line: int | None) -> None:
        super().__init__(items)
        self.line = line
        self.positions = _positions_of_lines({i: _line_of(item, line) for i, item in enumerate(self)})


def _line_of(value: object, default: int | None) -> int | None:
    """Return the line of a mapping or list; for other values, which have none, the default."""
    return value.line if isinstance(value, LineMapping | LineList) else default


def _positions_of_lines(lines: Mapping[str, int | None] | Mapping[int, int | None]) -> Positions:
    """Return the lines of entries as positions (line of the key, line of the value, no column)."""
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
    is_plain_scalar = _PLAIN_SCALAR.fullmatch(data) is not None and not data.endswith(" ")
    needs_no_quotes = is_plain_scalar and data not in _YAML_CONSTANTS
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
