"""Plain values (bool, int, float, text, None, lists, mappings) and their exact JSON.

JSON has no NaN and no infinity; they travel as `{"$float": "nan"}`. Every other float comes back to
the last bit, since Python writes the shortest digits that do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from posewright.errors import InputError

_TAG = "$float"
_WRITER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))  # made once for hundreds of decisions
_MOST_DIGITS = 20
_BITS = 64
"""Whole numbers have at most so many bits: what is longer breaks whoever reckons with it."""

_LEAVES = frozenset({bool, float, str, type(None)})
_NOT_IN_JSON = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def plain(value: Any) -> Any:
    """Return `value` with NumPy's scalars and arrays, tuples and mappings made plain."""
    if type(value) in _LEAVES:
        return value
    if type(value) is int:
        return _whole(value)
    if isinstance(value, dict | Mapping):  # mostly a dict; asking Mapping alone takes long
        return {str(key): one if type(one) in _LEAVES else plain(one) for key, one in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in (sorted(value) if isinstance(value, set | frozenset) else value)]
    for base in (str, int, float):  # subclasses: enums with a value, NumPy's float64
        if isinstance(value, base):
            return plain(base(value))
    raise InputError(
        f"a recording cannot hold a {type(value).__name__}", hint="numbers, text, lists and mappings"
    )


def _whole(value: int) -> int:
    if value.bit_length() > _BITS:
        raise InputError(
            f"a recording cannot hold a whole number of {value.bit_length()} bits", hint="at most 64"
        )
    return value


def to_json(value: Any) -> str:
    """Return the JSON of a plain value, without a NaN in it."""
    try:
        return _WRITER.encode(value)
    except ValueError:
        return _WRITER.encode(_tagged(value))


def from_json(text: str | bytes, what: str = "") -> Any:
    """Return what `to_json` wrote; `what` it is of, an error says."""
    try:
        return json.loads(text, object_hook=_untagged, parse_int=_read_whole, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{what}: not JSON: {error}" if what else f"not JSON: {error}") from error


def _tagged(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {_TAG: repr(value)}
    if isinstance(value, dict):
        return {key: _tagged(element) for key, element in value.items()}
    return [_tagged(element) for element in value] if isinstance(value, list) else value


def _untagged(mapping: dict[str, Any]) -> Any:
    if mapping.keys() == {_TAG}:
        return _NOT_IN_JSON.get(str(mapping[_TAG]), mapping)
    return mapping


def _read_whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return int(digits)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} stands in it")


def check(what: str, value: Any, right: Any) -> None:
    """Check a value against a pattern of its shape: kinds, lists of one pattern, tuples, mappings."""
    if isinstance(right, dict) and isinstance(value, dict):
        for name in value if str in right else right:
            check(f"a name in {what}", name, str)
            check(f"{name} of {what}", value.get(name), right.get(name, right.get(str)))
    elif isinstance(right, list | tuple) and isinstance(value, list):
        for one in value:
            check(what, one, right[0])
        if isinstance(right, tuple) and len(value) != len(right):
            raise InputError(
                f"the recording is damaged: {what} has {len(value)} numbers", hint=f"{len(right)}"
            )
    elif not _is(value, right):
        raise InputError(f"the recording is damaged: {what} is {value!r:.40}")


def _is(value: Any, kind: Any) -> bool:
    if kind is float:
        return type(value) in {int, float} and math.isfinite(value)
    return type(value) is kind and (kind is not str or not any("\ud800" <= one <= "\udfff" for one in value))
