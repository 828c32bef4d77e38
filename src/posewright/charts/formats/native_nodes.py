"""Native documents made from other files: data that knows its lines, and one-line notation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from posewright.documents import Node, parse_document, to_plain
from posewright.documents.positions import Positioned, Positions
from posewright.errors import DocumentError, InputError, Where

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ ()+*/<>=.-]*")
_WORDS = frozenset({"true", "false", "null", "True", "False", "Null"})


class Entries(dict[str, Any], Positioned):
    """A mapping of a native document that stands in `line`; an entry that is None is left out.

    An entry stands where `lines` or itself says, else where the mapping does.
    """

    def __init__(
        self, entries: Mapping[str, object], line: int | None, lines: Mapping[str, int | None] | None = None
    ) -> None:
        super().__init__({key: value for key, value in entries.items() if value is not None})
        self.line = line
        self.lines = {key: _line_of(value, line) for key, value in self.items()} | {**(lines or {})}
        self.positions = _places(self.lines)

    def joined(self, other: Entries) -> Entries:
        """Return both in one, each entry with its line."""
        return Entries({**self, **other}, self.line, {**self.lines, **other.lines})


class Items(list[Any], Positioned):
    """A list of a native document, likewise."""

    def __init__(self, items: Iterable[object], line: int | None) -> None:
        super().__init__(items)
        self.line = line
        self.positions = _places({i: _line_of(item, line) for i, item in enumerate(self)})


def _line_of(value: object, around: int | None) -> int | None:
    """Return the line of an entry: its own, or that of what is around it."""
    return value.line if isinstance(value, Entries | Items) else around


def _places(lines: Mapping[str, int | None] | Mapping[int, int | None]) -> Positions:
    """Return lines as the native reader asks for them; no column is known."""
    return {key: (line, line, None) for key, line in lines.items() if line is not None}


def flow_text(data: object) -> str:
    """Return plain data as text; `flow_node` reads it back."""
    if isinstance(data, Mapping):
        return f"{{{', '.join(f'{key}: {flow_text(value)}' for key, value in data.items())}}}"
    if isinstance(data, list | tuple):
        return f"[{', '.join(map(flow_text, data))}]"
    if not isinstance(data, str):
        return json.dumps(data)
    plain = _PLAIN.fullmatch(data) and data not in _WORDS and not data.endswith(" ")
    return str(data) if plain else json.dumps(data, ensure_ascii=False)


def flow_node(text: str, path: Path | None, line: int | None) -> Node:
    """Return what a text says, as a part of a native document that stands in that line."""
    try:
        plain = to_plain(parse_document(f"value: {text.strip()}").fields()["value"].value)
    except InputError as error:
        raise DocumentError(error.message, where=Where(path, line), hint=error.hint) from error
    return Node(plain, path, "", line)
