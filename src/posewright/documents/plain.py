"""Plain data: what JSON and YAML can hold, made of whatever a program has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any, TypeAlias

from posewright.errors import InputError

PlainData: TypeAlias = "bool | int | float | str | Sequence[PlainData] | Mapping[str, PlainData] | None"

PlainMapping: TypeAlias = Mapping[str, Any]
"""Plain data by names that its reader knows: the name says of which type an entry is, not the checker."""

MAX_INT_BITS = 64
"""Whole numbers have at most so many bits: what is longer breaks whoever reckons with it."""

_SCALARS = frozenset({bool, str, type(None)})


def to_plain(value: object, *, decimals: int | None = None, nan_as_none: bool = False) -> PlainData:
    """Return `value` as None, truth values, numbers, texts, lists and mappings whose keys are texts.

    Dataclasses become mappings of their fields, enums their values, NumPy's scalars and arrays numbers and
    lists of them, paths texts, sets sorted lists. Angles stay in radians, under the names of their fields.

    Args:
        value: what is to be written.
        decimals: floats are rounded to so many, and -0.0 becomes 0.0; None leaves them as they are.
        nan_as_none: whether NaN and infinity become None, as JSON has neither; else they stay.

    Raises:
        InputError: something in it has no plain form, or a whole number has more than 64 bits.
    """
    plain: PlainData = _converter(decimals, nan_as_none).convert(value)
    return plain


def plain_mapping(
    value: object, *, decimals: int | None = None, nan_as_none: bool = False
) -> dict[str, PlainData]:
    """Return a dataclass or a mapping as `to_plain` does."""
    plain = to_plain(value, decimals=decimals, nan_as_none=nan_as_none)
    if not isinstance(plain, dict):
        raise InputError(f"a {type(value).__name__} is no mapping")
    return plain


def plain_with_arrays(value: object) -> Any:
    """Return `value` as `to_plain` does, but with its arrays as they are, for whoever sends them as bytes.

    `Any`, since what holds arrays is plain data no more, and only the reader knows where they stand.
    """
    return _converter(None, False, keep_arrays=True).convert(value)


class _Converter:
    def __init__(self, decimals: int | None, nan_as_none: bool, keep_arrays: bool) -> None:
        self._decimals = decimals
        self._nan_as_none = nan_as_none
        self._keep_arrays = keep_arrays
        is_exact = decimals is None and not nan_as_none
        self._unchanged = _SCALARS | {float} if is_exact else _SCALARS  # asked first: most values are these

    def convert(self, value: object) -> Any:
        """Return the plain form of a value; `Any`, since mypy cannot follow what holds of each branch."""
        if type(value) in self._unchanged:
            return value
        if isinstance(value, dict | Mapping):  # mostly a dict; asking Mapping alone takes long
            return self._mapping(value)
        if isinstance(value, list | tuple):
            return [self.convert(item) for item in value]
        if isinstance(value, Enum):
            return self.convert(value.value)
        if isinstance(value, str | int | float):  # also NumPy's float64, and a document's quoted text
            return self._scalar(value)
        parts = self._take_apart(value)
        return value if parts is value else self.convert(parts)

    def _mapping(self, value: Mapping[object, object]) -> dict[str, object]:
        plain: dict[str, object] = {}
        for key, item in value.items():
            name = key if type(key) is str else str(key.value if isinstance(key, Enum) else key)
            plain[name] = item if type(item) in self._unchanged else self.convert(item)
        return plain

    def _scalar(self, value: str | int | float) -> str | int | float | None:
        if isinstance(value, str):
            return str(value)
        if isinstance(value, float):
            if self._nan_as_none and not math.isfinite(value):
                return None
            return float(value) if self._decimals is None else round(float(value), self._decimals) + 0.0
        if value.bit_length() > MAX_INT_BITS:
            message = f"plain data cannot hold a whole number of {value.bit_length()} bits"
            raise InputError(message, hint=f"at most {MAX_INT_BITS}")
        return int(value)

    def _take_apart(self, value: object) -> object:
        """Return what a record, set, path or array is made of; an array that is kept is its own part."""
        if is_dataclass(value) and not isinstance(value, type):
            return {entry.name: getattr(value, entry.name) for entry in fields(value)}
        if isinstance(value, set | frozenset):
            return sorted(value)
        if isinstance(value, PurePath):
            return str(value)

        import numpy as np  # here: whoever reads documents alone does without it

        if isinstance(value, np.generic | np.ndarray):
            return value if self._keep_arrays and isinstance(value, np.ndarray) else value.tolist()
        hint = "numbers, texts, lists, mappings and records of these"
        raise InputError(f"plain data cannot hold a {type(value).__name__}", hint=hint)


@cache
def _converter(decimals: int | None, nan_as_none: bool, keep_arrays: bool = False) -> _Converter:
    return _Converter(decimals, nan_as_none, keep_arrays)
