"""The exact JSON of plain data, and checks of what is read from it.

JSON has no NaN and no infinity; they travel as `{"$float": "nan"}`. Every other float comes back to
the last bit, since Python writes the shortest digits that do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from posewright.documents.plain import PlainData
from posewright.errors import InputError

_TAG = "$float"
_WRITER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))  # made once for hundreds of decisions
_MOST_DIGITS = 20  # those of a number of 64 bits
_NOT_IN_JSON = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_json(value: PlainData) -> str:
    """Return the JSON of plain data, without a NaN in it."""
    try:
        return _WRITER.encode(value)
    except ValueError:
        return _WRITER.encode(_tagged(value))


def from_json(text: str | bytes, subject: str = "") -> Any:
    """Return what `to_json` wrote; an error says the `subject`, what the text is of.

    `Any`, as of `json.loads`: whoever reads it checks its shape first, with `check_shape`.
    """
    try:
        return json.loads(text, object_hook=_untagged, parse_int=_read_whole, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{subject}: not JSON: {error}" if subject else f"not JSON: {error}") from error


def _tagged(value: PlainData) -> PlainData:
    if isinstance(value, float) and not math.isfinite(value):
        return {_TAG: repr(value)}
    if isinstance(value, dict):
        return {key: _tagged(element) for key, element in value.items()}
    return [_tagged(element) for element in value] if isinstance(value, list) else value


def _untagged(mapping: dict[str, PlainData]) -> PlainData:
    if mapping.keys() == {_TAG}:
        return _NOT_IN_JSON.get(str(mapping[_TAG]), mapping)
    return mapping


def _read_whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return int(digits)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} stands in it")


Shape: TypeAlias = "type | list[Shape] | tuple[Shape, ...] | Mapping[str | type, Shape]"
"""What a value should be: a type; a list of one shape; a tuple of so many; a mapping by its names.

A mapping with the name `str` has any names, all of that shape. A float may be a whole number, and is finite.
"""


def check_shape(subject: str, value: object, shape: Shape) -> None:
    """Raise an InputError where a value that was read has another shape; `subject` says what it is."""
    if isinstance(shape, Mapping) and isinstance(value, dict):
        for name in value if str in shape else shape:
            check_shape(f"a name in {subject}", name, str)
            check_shape(f"{name} of {subject}", value.get(name), shape.get(name, shape.get(str, object)))
    elif isinstance(shape, list | tuple) and isinstance(value, list):
        for item in value:
            check_shape(subject, item, shape[0])
        if isinstance(shape, tuple) and len(value) != len(shape):
            raise InputError(
                f"the recording is damaged: {subject} has {len(value)} numbers", hint=f"{len(shape)}"
            )
    elif not _is_of_type(value, shape):
        raise InputError(f"the recording is damaged: {subject} is {value!r:.40}")


def _is_of_type(value: object, shape: Shape) -> bool:
    if shape is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if shape is str:
        return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)
    return type(value) is shape
