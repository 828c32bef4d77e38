"""Who is inside whom in a diagram, and which links run through which node."""

from __future__ import annotations

from dataclasses import dataclass

from posewright.charts.drawing.diagram import Diagram, Node, walk_nodes


@dataclass(frozen=True)
class Span:
    """A link as a node sees it that it runs through.

    Attributes:
        link: its index in the diagram.
        start, end: the child that it starts or ends in; None: the border of the node, or outside it.
        inner: both its ends are in the node or its border; else it crosses the border.
    """

    link: int
    start: str | None
    end: str | None
    inner: bool


class Family:
    """Answers what is inside what.

    Attributes:
        parent: the node that a node is inside of.
        spans: the links that run through a node.
        ends: the links that start or end at a node itself.
        loops: the link that leads from a node to itself.
    """

    def __init__(self, diagram: Diagram) -> None:
        self.links = diagram.links
        self.root = diagram.root.key
        self.nodes: dict[str, Node] = {node.key: node for node in walk_nodes(diagram.root)}
        self.parent = {child.key: node.key for node in self.nodes.values() for child in node.inside}
        self.spans: dict[str, list[Span]] = {key: [] for key in self.nodes}
        self.ends: dict[str, list[int]] = {key: [] for key in self.nodes}
        self.loops: dict[str, int] = {}
        for index in range(len(self.links)):
            self._note(index)

    def around(self, key: str) -> list[str]:
        """Return everything that a node is inside of, the innermost first."""
        found = []
        while key != self.root:
            key = self.parent[key]
            found.append(key)
        return found

    def below(self, key: str) -> list[str]:
        """Return a node and all inside it that have an inside themselves."""
        return [node.key for node in walk_nodes(self.nodes[key]) if node.inside]

    def child(self, outer: str, key: str) -> str | None:
        """Return which child of `outer` a node is, or is inside of; None where it is neither."""
        while key != self.root:
            if self.parent[key] == outer:
                return key
            key = self.parent[key]
        return None

    def _note(self, index: int) -> None:
        link = self.links[index]
        if link.start == link.end:
            self.loops[link.start] = index
            return
        for key in (link.start, link.end):
            self.ends[key].append(index)
        for outer in dict.fromkeys((*self.around(link.start), *self.around(link.end))):
            start, end = self.child(outer, link.start), self.child(outer, link.end)
            if start != end:
                inner = (start is not None or link.start == outer) and (end is not None or link.end == outer)
                self.spans[outer].append(Span(index, start, end, inner))
