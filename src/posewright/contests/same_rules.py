"""Whether two documents of rules say the same, whatever their comments and sources."""

from __future__ import annotations

from typing import Any

from posewright.documents import parse_document
from posewright.errors import DocumentError

_SOURCES = "sources"


def first_difference(told: str, right: str) -> str:
    """Return in words what the rules `told` say otherwise than those that are `right`; nothing if nothing."""
    if told == right:
        return ""
    try:
        values = [parse_document(text).value for text in (told, right)]
    except DocumentError:  # of a contest whose rules are no document
        return "another text"
    for value in values:
        value.pop(_SOURCES, None)
    return _difference(values[0], values[1], "")


def _difference(told: Any, right: Any, trail: str) -> str:
    if isinstance(told, dict) and isinstance(right, dict):
        for key in {**right, **told}:
            below = f"{trail}.{key}" if trail else str(key)
            if key not in right or key not in told:
                return f"{below:.60} is {'missing' if key in right else 'not one of its keys'}"
            if found := _difference(told[key], right[key], below):
                return found
        return ""
    return "" if told == right else f"{trail:.60} is {told!r:.40}, not {right!r:.40}"
