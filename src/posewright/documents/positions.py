"""The base class of containers that know the lines and columns of their entries."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

Positions: TypeAlias = Mapping[object, tuple[int, int, "int | None"]]
"""By key of a mapping or index of a list: the entry's line, its value's line and its value's column, from 1.

The column is None for a folded or literal block (`>`, `|`).
"""


class Positioned:
    """A mapping or list that knows where its entries are in the text.

    Attributes:
        positions: the position of each entry.
        in_brackets: whether the container is written in flow style, `{...}` or `[...]`.
    """

    __slots__ = ()
    positions: Positions = MappingProxyType({})
    in_brackets: bool = False
