"""Keeping a person's words: `500 ms` stays where `0.5 s` would say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """Return a document's tree as plain data."""
    if isinstance(value, Mapping):
        return {str(key): plain(element) for key, element in value.items()}
    if isinstance(value, list):
        return [plain(element) for element in value]
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def kept(found: Any, before: Any, data: Any) -> Any:
    """Return `data`, but as it was found wherever it says what was said before.

    Args:
        found: the document as it stands.
        before: what we would write for what the document says.
        data: what we would write for what it should say.
    """
    if repr(before) == repr(data):  # 1, 1.0 and true are equal, and not the same
        return found
    if all(isinstance(each, dict) for each in (found, before, data)):
        return _kept_mapping(found, before, data)
    if all(isinstance(each, list) for each in (found, before, data)) and len(found) == len(before):
        pairs = list(zip(found, before, data, strict=False))
        return [*(kept(*each) for each in pairs), *data[len(pairs) :]]
    return data


def _kept_mapping(found: dict[str, Any], before: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key in [*data, *(key for key in found if key not in data)]:
        if key not in data:
            if key not in before:  # written out, though it goes without saying
                result[key] = found[key]
        elif key not in before:
            result[key] = data[key]
        elif key in found:
            result[key] = kept(found[key], before[key], data[key])
        elif repr(before[key]) != repr(data[key]):
            result[key] = data[key]
    return result
