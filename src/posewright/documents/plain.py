"""Plain data: conversion of any value to what JSON and YAML can hold."""

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
"""Plain data by names that its reader knows; `Any`, because the type of an entry depends on its name."""

MAX_INT_BITS = 64
"""Longest integer, in bits: many programs cannot read longer ones."""

_SCALARS = frozenset({bool, str, type(None)})


def to_plain(value: object, *, decimals: int | None = None, nan_as_none: bool = False) -> PlainData:
    """Return `value` as None, booleans, numbers, texts, lists and mappings with text keys.

    Dataclasses become mappings of their fields, enums their values, NumPy's scalars and arrays numbers and
    lists of them, paths texts, sets sorted lists. Angles stay in radians, under the names of their fields.

    Args:
        value: the value to convert.
        decimals: number of decimals to which floats are rounded, with -0.0 as 0.0; None does not round.
        nan_as_none: whether NaN and infinity become None, because JSON has neither.

    Raises:
        InputError: a part of it has no plain form, or an integer has more than 64 bits.
    """
    plain: PlainData = _converter(decimals, nan_as_none).convert(value)
    return plain


def plain_mapping(
    value: object, *, decimals: int | None = None, nan_as_none: bool = False
) -> dict[str, PlainData]:
    """Return a dataclass or a mapping as `to_plain` does; raise InputError for anything else."""
    plain = to_plain(value, decimals=decimals, nan_as_none=nan_as_none)
    if not isinstance(plain, dict):
        raise InputError(f"a {type(value).__name__} is not a mapping")
    return plain


def plain_with_arrays(value: object) -> Any:
    """Return `value` as `to_plain` does, but leave NumPy arrays as they are, for callers that send bytes.

    The return type is `Any`, because data with arrays is no `PlainData`.
    """
    return _converter(None, nan_as_none=False, keep_arrays=True).convert(value)


class _PlainConverter:
    """Converts values to plain data.

    Args:
        decimals: number of decimals to which floats are rounded; None does not round.
        nan_as_none: whether NaN and infinity become None.
        keep_arrays: whether NumPy arrays stay arrays, rather than becoming lists.
    """

    def __init__(self, decimals: int | None, nan_as_none: bool, keep_arrays: bool) -> None:
        """Store the arguments, and which types of values need no conversion."""
        self._decimals = decimals
        self._nan_as_none = nan_as_none
        self._keep_arrays = keep_arrays
        is_exact = decimals is None and not nan_as_none
        self._unchanged_types = _SCALARS | {float} if is_exact else _SCALARS  # most values have one of these

    def convert(self, value: object) -> Any:
        """Return the plain form of a value; `Any`, because mypy cannot follow the type of each branch."""
        if type(value) in self._unchanged_types:
            return value
        if isinstance(value, dict | Mapping):  # dict first: the test for Mapping alone is slow
            return self._convert_mapping(value)
        if isinstance(value, list | tuple):
            return [self.convert(element) for element in value]
        if isinstance(value, Enum):
            return self.convert(value.value)
        if isinstance(value, str | int | float):  # subclasses, such as NumPy's float64 and QuotedText
            return self._convert_scalar(value)
        content = self._unwrap(value)
        return value if content is value else self.convert(content)

    def _convert_mapping(self, value: Mapping[object, object]) -> dict[str, object]:
        """Return a mapping with its keys as texts and its values in plain form."""
        plain: dict[str, object] = {}
        for key, element in value.items():
            name = key if type(key) is str else _key_text(key)  # tested here, since nearly all are texts
            plain[name] = element if type(element) in self._unchanged_types else self.convert(element)
        return plain

    def _convert_scalar(self, value: str | int | float) -> str | int | float | None:
        """Return a text or number of Python's own type, rounded as configured."""
        if isinstance(value, str):
            return str(value)
        if isinstance(value, float):
            if self._nan_as_none and not math.isfinite(value):
                return None
            if self._decimals is None:
                return float(value)
            return round(float(value), self._decimals) + 0.0  # turns -0.0 into 0.0
        if value.bit_length() > MAX_INT_BITS:
            message = f"plain data cannot hold an integer of {value.bit_length()} bits"
            raise InputError(message, hint=f"at most {MAX_INT_BITS} bits")
        return int(value)

    def _unwrap(self, value: object) -> object:
        """Return the content of a dataclass, set, path or array; an array that is kept is returned itself."""
        if is_dataclass(value) and not isinstance(value, type):
            return {entry.name: getattr(value, entry.name) for entry in fields(value)}
        if isinstance(value, set | frozenset):
            return sorted(value)
        if isinstance(value, PurePath):
            return str(value)

        import numpy as np  # here, so that reading documents does not load NumPy

        if isinstance(value, np.ndarray):
            return value if self._keep_arrays else value.tolist()
        if isinstance(value, np.generic):
            return value.tolist()
        hint = "use numbers, texts, lists, mappings and dataclasses of these"
        raise InputError(f"plain data cannot hold a {type(value).__name__}", hint=hint)


def _key_text(key: object) -> str:
    return str(key.value if isinstance(key, Enum) else key)


@cache
def _converter(decimals: int | None, nan_as_none: bool, keep_arrays: bool = False) -> _PlainConverter:
    return _PlainConverter(decimals, nan_as_none, keep_arrays)
