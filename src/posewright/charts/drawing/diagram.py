"""What a chart's picture is made of, before anything has a place: nodes inside nodes, links, and marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from posewright.charts.model import Chart

TransitionKey = tuple[str, int]
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


ROUND = frozenset({Shape.JUNCTION, Shape.HISTORY, Shape.DEEP_HISTORY, Shape.FINAL})
"""Signs that do not fill their boxes, and have their names beside them."""


class Hook(Enum):
    """Which end of a link reaches round the border of the state it is inside of, for it leaves that state."""

    START = "start"
    END = "end"


@dataclass(frozen=True)
class TextLine:
    """A line of text, and the transitions that it speaks of.

    Attributes:
        rank: place of the transition among those that are asked in order, from 1; 0 where there is no order.
    """

    text: str
    transitions: tuple[TransitionKey, ...] = ()
    rank: int = 0

    @property
    def ranked(self) -> str:
        """The text with the place in front of it: `2: go`."""
        return f"{self.rank}: {self.text}".removesuffix(": ") if self.rank else self.text


@dataclass(frozen=True)
class DiagramNode:
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
    lines: tuple[TextLine, ...] = ()
    inside: tuple[DiagramNode, ...] = ()
    parallel: bool = False


@dataclass(frozen=True)
class Link:
    """All transitions from one node to another, drawn as one arrow."""

    start: str
    end: str
    lines: tuple[TextLine, ...] = ()
    hook: Hook | None = None

    @property
    def transitions(self) -> tuple[TransitionKey, ...]:
        """The transitions that it stands for."""
        return tuple(dict.fromkeys(key for line in self.lines for key in line.transitions))


@dataclass(frozen=True)
class Diagram:
    """A root node, which is the chart, and links between the nodes inside it."""

    root: DiagramNode
    links: tuple[Link, ...]


def walk_nodes(node: DiagramNode) -> Iterator[DiagramNode]:
    """Yield a node and all inside it, the outer ones first."""
    yield node
    for child in node.inside:
        yield from walk_nodes(child)


class Mark(Enum):
    """How far a state or a transition has been tried."""

    COVERED = "covered"
    PARTLY = "partly covered"
    MISSED = "not covered"

    @property
    def sign(self) -> str:
        """What stands before a transition with the mark, so that colour is not needed to tell."""
        return {Mark.COVERED: "", Mark.PARTLY: "~ ", Mark.MISSED: "✗ "}[self]

    @property
    def look(self) -> str:
        """The name of its look in a picture."""
        return self.name.lower()


DiagramMarks = Mapping[TransitionKey | str, Mark]
"""Marks of states by name, and of transitions by state (or junction) and place among its transitions."""


@dataclass(frozen=True)
class Highlight:
    """Active states: the innermost ones, and those around them."""

    inner: frozenset[str] = frozenset()
    outer: frozenset[str] = frozenset()


def mark_of(marks: DiagramMarks, keys: Iterable[TransitionKey]) -> Mark | None:
    """Return the mark of several transitions together; partly where they differ."""
    found = {marks[key] for key in keys if key in marks}
    return next(iter(found)) if len(found) == 1 else Mark.PARTLY if found else None


def highlight(chart: Chart, active: str | Iterable[str] | None) -> Highlight:
    """Return which states of a chart are to be highlighted: one, several joined with `+`, or a list of such.

    Raises:
        UnknownNameError: there is no state of one of the names.
    """
    parts = [active] if isinstance(active, str) else active or ()
    names = [chart.state(name.strip()).name for part in parts for name in part.split("+")]
    outer: set[str] = set()
    for name in names:
        parent = chart.parents[name]
        while parent is not None:
            outer.add(parent)
            parent = chart.parents[parent]
    return Highlight(frozenset(names) - outer, frozenset(outer))
