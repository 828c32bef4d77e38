"""What plain YAML becomes: mappings and lists that know where their entries stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class NotPlainError(Exception):
    """There is more than plain YAML in a document, or something wrong: what, in which line (from 1)."""

    message: str
    line: int


class PlainMap(dict[str, Any]):
    """A mapping that answers as ruamel's do.

    Attributes:
        data: line and column of each key and of its value, counted from 0.
        flow: whether it stands in brackets.
    """

    __slots__ = ("data", "flow")

    def __init__(self, flow: bool) -> None:
        super().__init__()
        self.data: dict[str, tuple[int, int, int, int]] = {}
        self.flow = flow

    @property
    def lc(self) -> PlainMap:
        """What has `data`."""
        return self

    @property
    def fa(self) -> PlainMap:
        """What has `flow_style`."""
        return self

    def flow_style(self) -> bool:
        """Return whether it stands in brackets."""
        return self.flow


class PlainList(list[Any]):
    """A list that answers as ruamel's do.

    Attributes:
        data: line and column of each element, counted from 0.
        flow: whether it stands in brackets.
    """

    __slots__ = ("data", "flow")

    def __init__(self, flow: bool) -> None:
        super().__init__()
        self.data: dict[int, tuple[int, int]] = {}
        self.flow = flow

    @property
    def lc(self) -> PlainList:
        """What has `data`."""
        return self

    @property
    def fa(self) -> PlainList:
        """What has `flow_style`."""
        return self

    def flow_style(self) -> bool:
        """Return whether it stands in brackets."""
        return self.flow
