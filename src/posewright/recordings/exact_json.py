"""Lossless JSON of plain data, and checks of the shape of what is read from it.

JSON has no NaN and no infinity; they are written as `{"$float": "nan"}`. Every other float is read back to
the last bit, as Python writes the shortest digits that identify it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from posewright.documents.plain import PlainData
from posewright.errors import InputError

_TAG = "$float"
_WRITER = json.JSONEncoder(
    allow_nan=False, separators=(",", ":")
)  # created once, as it is used hundreds of times
_MAX_DIGITS = 20  # of a number of 64 bits
_NOT_IN_JSON = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_json(value: PlainData) -> str:
    """Return the JSON of plain data, with tags in place of NaN and infinity."""
    try:
        return _WRITER.encode(value)
    except ValueError:
        return _WRITER.encode(_tag_non_finite(value))


def from_json(text: str | bytes, subject: str = "") -> Any:
    """Return the value that `to_json` wrote.

    The type is `Any`, as of `json.loads`: callers check its shape first, with `require_shape`.

    Args:
        text: the JSON.
        subject: what the text is, for error messages.

    Raises:
        InputError: the text is not JSON.
    """
    try:
        return json.loads(text, object_hook=_untag, parse_int=_parse_integer, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{subject}: not JSON: {error}" if subject else f"not JSON: {error}") from error


def _tag_non_finite(value: PlainData) -> PlainData:
    if isinstance(value, float) and not math.isfinite(value):
        return {_TAG: repr(value)}
    if isinstance(value, dict):
        return {key: _tag_non_finite(element) for key, element in value.items()}
    return [_tag_non_finite(element) for element in value] if isinstance(value, list) else value


def _untag(mapping: dict[str, PlainData]) -> PlainData:
    if mapping.keys() == {_TAG}:
        return _NOT_IN_JSON.get(str(mapping[_TAG]), mapping)
    return mapping


def _parse_integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits, more than {_MAX_DIGITS}")
    return int(digits)


def _reject_constant(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


Shape: TypeAlias = "type | list[Shape] | tuple[Shape, ...] | Mapping[str | type, Shape]"
"""The expected shape of a value: a type; a list of one shape; a tuple for a list of fixed length; or a
mapping.

A mapping with the key `str` allows any keys with values of that shape. A float must be finite and may be an
integer.
"""


def require_shape(subject: str, value: object, shape: Shape) -> None:
    """Raise InputError unless a value that was read from JSON has a shape.

    A mapping must have the entries that the shape names; further entries are allowed and not checked. With
    the key `str` in the shape, every entry is checked. The items of a list all have the list's first shape.

    Args:
        subject: names the value in the error message.
        value: what was read.
        shape: what it must be.
    """
    if isinstance(shape, Mapping) and isinstance(value, dict):
        for name in value if str in shape else shape:
            require_shape(f"a name in {subject}", name, str)
            require_shape(f"{name} of {subject}", value.get(name), shape.get(name, shape.get(str, object)))
    elif isinstance(shape, list | tuple) and isinstance(value, list):
        for item in value:
            require_shape(subject, item, shape[0])
        if isinstance(shape, tuple) and len(value) != len(shape):
            raise InputError(
                f"the recording is damaged: {subject} has {len(value)} numbers", hint=f"expected {len(shape)}"
            )
    elif not _is_of_type(value, shape):
        raise InputError(f"the recording is damaged: {subject} is {value!r:.40}")


def _is_of_type(value: object, shape: Shape) -> bool:
    if shape is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if shape is str:
        return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)
    return type(value) is shape
