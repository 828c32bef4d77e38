"""Mappings that nobody can write to, all the way down."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


def frozen(value: Any) -> Any:
    """Return a read-only copy of a mapping and of the mappings in it; other values as they are."""
    if not isinstance(value, Mapping):
        return value
    return MappingProxyType({key: frozen(element) for key, element in value.items()})


def thawed(value: Any) -> Any:
    """Return a `frozen` mapping as plain dictionaries, which can be pickled and copied."""
    if not isinstance(value, Mapping):
        return value
    return {key: thawed(element) for key, element in value.items()}
