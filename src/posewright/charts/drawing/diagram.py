"""The content of a chart's picture before layout: nested nodes, links, and coverage marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from posewright.charts.model import Chart

TransitionKey = tuple[str, int]
"""A transition: the name of the state (or junction) that it leaves, and its index among those."""


class NodeShape(Enum):
    """The shape of a node."""

    STATE = "state"
    REGION = "region"
    INITIAL = "initial"
    FINAL = "final"
    HISTORY = "history"
    DEEP_HISTORY = "deep history"
    JUNCTION = "junction"
    FORK = "fork"
    STAY = "stay"


ROUND_SHAPES = frozenset({NodeShape.JUNCTION, NodeShape.HISTORY, NodeShape.DEEP_HISTORY, NodeShape.FINAL})
"""Shapes that do not fill their boxes; their titles are written beside them."""


class Hook(Enum):
    """The end of a link that has a hook around the border of its state: the link is inside, but leaves it."""

    START = "start"
    END = "end"


@dataclass(frozen=True)
class TextLine:
    """A line of text, and the transitions that it describes.

    Attributes:
        transition_keys: the transitions, each by the state or junction that it leaves, and its index there.
        priority_number: place of the transition among those tested in order, from 1; 0 if there is no order.
    """

    text: str
    transition_keys: tuple[TransitionKey, ...] = ()
    priority_number: int = 0

    @property
    def text_with_priority(self) -> str:
        """The text with its priority number as a prefix: `2: go`."""
        return (
            f"{self.priority_number}: {self.text}".removesuffix(": ") if self.priority_number else self.text
        )


@dataclass(frozen=True)
class DiagramNode:
    """A state or a pseudostate (initial dot, junction, history, fork, ...).

    Attributes:
        key: the state's name; the key of a pseudostate contains a space, so that it is no state's name.
        title: text in it; beside it if it is drawn as a small symbol: a pseudostate or a final state.
        lines: text below the title.
        children: nodes directly inside it; regions if it is `parallel`.
    """

    key: str
    shape: NodeShape
    title: str = ""
    lines: tuple[TextLine, ...] = ()
    children: tuple[DiagramNode, ...] = ()
    parallel: bool = False


@dataclass(frozen=True)
class DiagramLink:
    """All transitions from one node to another, drawn as one arrow."""

    start: str
    end: str
    label_lines: tuple[TextLine, ...] = ()
    hook: Hook | None = None

    @property
    def transition_keys(self) -> tuple[TransitionKey, ...]:
        """The transitions that it represents."""
        return tuple(dict.fromkeys(key for line in self.label_lines for key in line.transition_keys))


@dataclass(frozen=True)
class Diagram:
    """A root node, which is the chart, and links between the nodes inside it."""

    root: DiagramNode
    links: tuple[DiagramLink, ...]


def walk_nodes(node: DiagramNode) -> Iterator[DiagramNode]:
    """Yield a node and all nodes inside it, outer ones first."""
    yield node
    for child in node.children:
        yield from walk_nodes(child)


class CoverageMark(Enum):
    """Coverage of a state or a transition."""

    COVERED = "covered"
    PARTLY = "partly covered"
    MISSED = "not covered"

    @property
    def label_prefix(self) -> str:
        """Prefix of a transition with the mark, so that it can be recognised without colour."""
        return {CoverageMark.COVERED: "", CoverageMark.PARTLY: "~ ", CoverageMark.MISSED: "✗ "}[self]

    @property
    def css_class(self) -> str:
        """The CSS class of the mark."""
        return self.name.lower()


DiagramMarks = Mapping[TransitionKey | str, CoverageMark]
"""Marks of states by name, and of transitions by state (or junction) and index among its transitions."""


@dataclass(frozen=True)
class Highlight:
    """The active states: the innermost ones, and those that contain them."""

    innermost_states: frozenset[str] = frozenset()
    outer_states: frozenset[str] = frozenset()


def combined_mark(marks: DiagramMarks, keys: Iterable[TransitionKey]) -> CoverageMark | None:
    """Return the common mark of several transitions, `PARTLY` if they differ, None if none has one."""
    distinct_marks = {marks[key] for key in keys if key in marks}
    if len(distinct_marks) > 1:
        return CoverageMark.PARTLY
    return next(iter(distinct_marks), None)


def highlight_states(chart: Chart, active: str | Iterable[str] | None) -> Highlight:
    """Return the states to highlight.

    Args:
        chart: the chart that has the states.
        active: a state's name, several joined with `+`, or a list of such.

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
