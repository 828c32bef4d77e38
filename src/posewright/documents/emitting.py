"""Emitting: a document written anew, in the layout that a person would choose.

ruamel.yaml lays documents over documents and keeps comments, at a thirtieth of this speed; where there is
nothing to keep, and two thousand motions come out of an archive, this is the road.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeGuard


class OneLine(dict[str, Any]):  # Any: it stands for whatever mapping a writer has
    """A mapping that is written on one line: `{reach_s: 0.125, ...}`."""


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./()=+%-]*(?: [A-Za-z0-9_./()=+%-]+)*")
"""Text that needs no quotes anywhere in YAML."""

_OTHER_THINGS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
"""Words that some reader or other takes for something else than text."""

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def emitted(data: Mapping[str, object]) -> str:
    """Return the YAML text of a mapping of texts, numbers, truths, nothings, lists and mappings.

    Lists of plain values, and mappings made with `one_line`, stand on one line.
    """
    return "".join(_block(data, ""))


def _block(data: Mapping[str, object], indent: str) -> Iterator[str]:
    for key, value in data.items():
        if _is_block_mapping(value):
            yield f"{indent}{_text(key)}:\n"
            yield from _block(value, f"{indent}  ")
        elif _is_list(value) and _has_containers(value):
            yield f"{indent}{_text(key)}:\n"
            for element in value:
                yield from _element(element, f"{indent}  ")
        else:
            yield f"{indent}{_text(key)}: {_flow(value)}\n"


def _element(element: object, indent: str) -> Iterator[str]:
    if not _is_block_mapping(element):
        yield f"{indent}- {_flow(element)}\n"
        return
    first, *others = _block(element, f"{indent}  ")
    yield f"{indent}- {first.lstrip(' ')}"
    yield from others


def _is_block_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping) and bool(value) and not isinstance(value, OneLine)


def _has_containers(values: Sequence[object]) -> bool:
    return any(isinstance(element, Mapping) or _is_list(element) for element in values)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _flow(value: object) -> str:
    if type(value) is float:  # most of a motion is numbers
        return repr(value)
    if _is_list(value):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(key)}: {_flow(element)}" for key, element in value.items()) + "}"
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return "~"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


@lru_cache(maxsize=1024)
def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _OTHER_THINGS:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(sign: str) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    code = ord(sign)
    if 32 <= code < 127 or (160 < code < 0xD800 and code not in (0x2028, 0x2029)):
        return sign
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
