"""A fast YAML writer for documents that are written anew.

ruamel.yaml, which writes over existing documents and keeps their comments (`revision.py`), is thirty times
slower.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeGuard


class FlowMapping(dict[str, Any]):  # Any: the values of whatever mapping a caller has
    """A mapping that is written in flow style, on one line: `{reach_s: 0.125, ...}`."""


_UNQUOTED = re.compile(r"[A-Za-z_][A-Za-z0-9_./()=+%-]*(?: [A-Za-z0-9_./()=+%-]+)*")
"""Text that needs no quotes anywhere in YAML."""

_RESERVED_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
"""Words that some YAML reader takes for a boolean or null."""

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def format_yaml(data: Mapping[str, object]) -> str:
    """Return the YAML text of a mapping of texts, numbers, booleans, None, lists and mappings.

    Lists of scalars and `FlowMapping`s are written on one line.
    """
    return "".join(_block_lines(data, indent=""))


def _block_lines(data: Mapping[str, object], indent: str) -> Iterator[str]:
    """Yield a mapping as lines, with one entry a line."""
    for key, value in data.items():
        if _is_block_mapping(value):
            yield f"{indent}{_format_text(key)}:\n"
            yield from _block_lines(value, f"{indent}  ")
        elif _is_list(value) and _has_containers(value):
            yield f"{indent}{_format_text(key)}:\n"
            for element in value:
                yield from _element_lines(element, f"{indent}  ")
        else:
            yield f"{indent}{_format_text(key)}: {_format_flow(value)}\n"


def _element_lines(element: object, indent: str) -> Iterator[str]:
    """Yield an element of a list as lines, the first with a dash."""
    if not _is_block_mapping(element):
        yield f"{indent}- {_format_flow(element)}\n"
        return
    first_line, *more_lines = _block_lines(element, f"{indent}  ")
    yield f"{indent}- {first_line.lstrip(' ')}"
    yield from more_lines


def _is_block_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping) and bool(value) and not isinstance(value, FlowMapping)


def _has_containers(values: Sequence[object]) -> bool:
    return any(isinstance(element, Mapping) or _is_list(element) for element in values)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _format_flow(value: object) -> str:  # noqa: PLR0911 -- a case for each type
    """Return a value on one line, with brackets or braces."""
    if type(value) is float:  # tested first: most values of a motion are floats
        return repr(value)
    if _is_list(value):
        return "[" + ", ".join(map(_format_flow, value)) + "]"
    if isinstance(value, Mapping):
        entries = [f"{_format_text(key)}: {_format_flow(element)}" for key, element in value.items()]
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, str):
        return _format_text(value)
    if value is None:
        return "~"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


@lru_cache(maxsize=1024)
def _format_text(text: str) -> str:
    if _UNQUOTED.fullmatch(text) and text.lower() not in _RESERVED_WORDS:
        return text
    return '"' + "".join(map(_escape_character, text)) + '"'


def _escape_character(character: str) -> str:
    """Return a character as it stands between double quotes."""
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    is_printable_ascii = 0x20 <= code < 0x7F
    is_line_separator = code in (0x2028, 0x2029)
    is_other_text = 0xA0 < code < 0xD800  # after the control characters of Latin-1, before the surrogates
    if is_printable_ascii or (is_other_text and not is_line_separator):
        return character
    if code < 1 << 8:
        return f"\\x{code:02x}"
    if code < 1 << 16:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"
