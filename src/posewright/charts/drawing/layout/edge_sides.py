"""From the outside in: the layer of every node, and the side of every box on which a link crosses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from posewright.charts.drawing.diagram import Diagram, DiagramNode, Shape, walk_nodes
from posewright.charts.drawing.layout.ranking import Item, LayerOrder, Ranking, Side, Wire, rank
from posewright.charts.drawing.pen import label_size


@dataclass(frozen=True)
class LinkSpan:
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


@dataclass(frozen=True)
class Ported:
    """A link that ends at a node's border from inside or crosses it, and the side on which it does."""

    span: LinkSpan
    side: Side


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
        self.nodes: dict[str, DiagramNode] = {node.key: node for node in walk_nodes(diagram.root)}
        self.parent = {child.key: node.key for node in self.nodes.values() for child in node.inside}
        self.spans: dict[str, list[LinkSpan]] = {key: [] for key in self.nodes}
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

    def goes_along(self, key: str) -> bool:
        """Return whether arrows in a node must go as those around it: regions are stacked, or links cross."""
        return self.nodes[key].parallel or not all(span.inner for span in self.spans[key])

    def _note(self, index: int) -> None:
        link = self.links[index]
        if link.start == link.end:
            self.loops[link.start] = index
            return
        for key in (link.start, link.end):
            self.ends[key].append(index)
        for outer in dict.fromkeys((*self.around(link.start), *self.around(link.end))):
            start = self.child(outer, link.start)
            end = self.child(outer, link.end)
            if start != end:
                inner = (start is not None or link.start == outer) and (end is not None or link.end == outer)
                self.spans[outer].append(LinkSpan(index, start, end, inner))


@dataclass(frozen=True)
class NodeLayout:
    """How the inside of a node is laid out.

    Attributes:
        sideways: whether arrows mostly go to the right, not down.
        order: how to find out which of them lead back.
    """

    sideways: bool
    order: LayerOrder


NodeLayouts = Mapping[str, NodeLayout]
"""How every node with an inside is laid out."""


class Siding:
    """Layers and sides of a whole diagram.

    Attributes:
        sideways: for every node with an inside, whether arrows in it mostly go to the right, not down.
        axis: the same of what a node stands in.
        sides: on which side of a child a link leaves or enters it, by child and link.
        wires, rankings: of every node with an inside that is not parallel.
    """

    def __init__(self, family: Family, ways: NodeLayouts) -> None:
        self.family = family
        self.ways = ways
        self.sideways = {key: way.sideways for key, way in ways.items()}
        self.axis: dict[str, bool] = {family.root: self.sideways[family.root]}
        self.sides: dict[tuple[str, int], Side] = {}
        self.rankings: dict[str, Ranking] = {}
        self.wires: dict[str, list[Wire]] = {}
        self._visit(family.root)

    def own(self, key: str) -> tuple[int, int]:
        """Return how many links end at the border of a node from outside, behind and in front."""
        sides = [self.sides[key, link] for link in self.family.ends[key] if (key, link) in self.sides]
        return sides.count(Side.BACK), sides.count(Side.FRONT)

    def ports(self, key: str) -> list[Ported]:
        """Return the links that end at a node's border from inside, or cross it."""
        return [
            Ported(span, self._side(key, span))
            for span in self.family.spans[key]
            if span.start is None or span.end is None
        ]

    def _side(self, key: str, span: LinkSpan) -> Side:
        if not span.inner:
            return self.sides[key, span.link]
        return Side.BACK if span.start is None else Side.FRONT

    def _visit(self, key: str) -> None:
        node = self.family.nodes[key]
        if node.parallel:
            self._pass_on(key)
        else:
            self._rank(key)
        for child in node.inside:
            self.axis[child.key] = self.sideways[key]
            if child.inside:
                self._visit(child.key)

    def _rank(self, key: str) -> None:
        node = self.family.nodes[key]
        spans = self.family.spans[key]
        wires = self.wires[key] = [self._wire(key, span) for span in spans]
        items = [Item(child.key) for child in node.inside]
        items += [Item(port(one.span.link), pin=one.side) for one in self.ports(key)]
        ranking = self.rankings[key] = rank(items, wires, self.ways[key].order)
        for span, wire in zip(spans, wires, strict=True):
            for end in (span.start, span.end):
                if end is not None:
                    self.sides[end, span.link] = ranking.side(wire, end)

    def _pass_on(self, key: str) -> None:
        """Let links leave a region on the side on which they leave the whole; between regions in front."""
        for span in self.family.spans[key]:
            for end in (span.start, span.end):
                if end is not None:
                    self.sides[end, span.link] = self._side(key, span)

    def _wire(self, key: str, span: LinkSpan) -> Wire:
        link = self.family.links[span.link]
        dot = span.start == link.start and self.family.nodes[link.start].shape is Shape.INITIAL
        label = label_size(link.lines) if span.inner else None
        if label and not self.sideways[key]:
            label = label[::-1]
        return Wire(span.link, span.start or port(span.link), span.end or port(span.link), label, dot)


def port(link: int) -> str:
    """Return the key of the place where a link meets a border."""
    return f"port {link}"
