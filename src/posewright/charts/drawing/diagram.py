"""What a chart's picture is made of, before anything has a place: nodes inside nodes, and links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

Way = tuple[str, int]
"""A transition: the name of the state (or junction) that it leaves, and its place among those."""


class Shape(Enum):
    """What a node looks like."""

    STATE = "state"
    REGION = "region"
    INITIAL = "initial"
    FINAL = "final"
    HISTORY = "history"
    DEEP_HISTORY = "deep history"
    JUNCTION = "junction"
    FORK = "fork"
    STAY = "stay"


class Hook(Enum):
    """Which end of a link reaches round the border of the state it is inside of, for it leaves that state."""

    START = "start"
    END = "end"


@dataclass(frozen=True)
class Line:
    """A line of text, and the transitions that it speaks of."""

    text: str
    ways: tuple[Way, ...] = ()


@dataclass(frozen=True)
class Node:
    """A state or a sign.

    Attributes:
        key: the state's name; a sign has a key that is no name.
        title: what is written in it, or beside it where it is a sign.
        lines: what is written below the title.
        inside: nodes inside it; regions where it is `parallel`.
    """

    key: str
    shape: Shape
    title: str = ""
    lines: tuple[Line, ...] = ()
    inside: tuple[Node, ...] = ()
    parallel: bool = False


@dataclass(frozen=True)
class Link:
    """All transitions from one node to another, drawn as one arrow."""

    start: str
    end: str
    lines: tuple[Line, ...] = ()
    hook: Hook | None = None

    @property
    def ways(self) -> tuple[Way, ...]:
        """The transitions that it stands for."""
        return tuple(dict.fromkeys(way for line in self.lines for way in line.ways))


@dataclass(frozen=True)
class Diagram:
    """A root node, which is the chart, and links between the nodes inside it."""

    root: Node
    links: tuple[Link, ...]


def walk_nodes(node: Node) -> Iterator[Node]:
    """Yield a node and all inside it, the outer ones first."""
    yield node
    for child in node.inside:
        yield from walk_nodes(child)
