"""Plain data in one line, in the notation of native documents: `{motion: walk, tries: tries + 1}`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posewright.documents import Node, parse_document
from posewright.errors import DocumentError, Where

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ ()+*/<>=.-]*")
_WORDS = frozenset({"true", "false", "null", "True", "False", "Null"})


class LinedMapping(dict[str, Any]):
    """A mapping that knows the lines of its entries, as those of documents do."""

    def __init__(self, entries: Mapping[str, Any], lines: Mapping[str, int | None]) -> None:
        super().__init__(entries)
        self.places = _places(lines)


class LinedList(list[Any]):
    """A list that knows the lines of its elements, as those of documents do."""

    def __init__(self, found: list[tuple[Any, int | None]]) -> None:
        super().__init__(element for element, _ in found)
        self.places = _places({i: line for i, (_, line) in enumerate(found)})


def _places(lines: Mapping[Any, int | None]) -> dict[Any, tuple[int, int, int]]:
    """Return lines as documents note them: of a key, and of its value with its column."""
    return {key: (line, line, 1) for key, line in lines.items() if line is not None}


def flow_text(data: Any) -> str:
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
    """Return what a text says, as a part of a native document that stands in that line.

    Raises:
        DocumentError: it is not in the notation of native documents.
    """
    try:
        node = parse_document(f"value: {text.strip()}").fields()["value"]
    except DocumentError as error:
        raise DocumentError(error.message, where=Where(path, line), hint=error.hint) from error
    return Node(plain_data(node.value), path, "", line)


def plain_data(value: Any) -> Any:
    """Return data without the lines of the text that it came from."""
    if isinstance(value, Mapping):
        return {str(key): plain_data(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain_data(inner) for inner in value]
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value
