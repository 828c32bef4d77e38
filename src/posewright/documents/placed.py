"""Containers that know where in a text their entries stand."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

Places: TypeAlias = Mapping[object, tuple[int, int, "int | None"]]
"""Of each key of a mapping, or place in a list, the line, and the line and column of its value, from 1.

The column is None for a paragraph, whose lines are folded.
"""


class Placed:
    """A mapping or a list that knows where its entries stand.

    Attributes:
        places: where.
        in_brackets: whether it is written as `{...}` or `[...]`.
    """

    __slots__ = ()
    places: Places = MappingProxyType({})
    in_brackets: bool = False
