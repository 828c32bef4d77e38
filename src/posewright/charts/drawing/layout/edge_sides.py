"""The layer of every node, and the side on which each link meets it, computed from the outside in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from posewright.charts.drawing.diagram import Diagram, DiagramNode, NodeShape, walk_nodes
from posewright.charts.drawing.layout.ranking import (
    LayerOrder,
    LayoutItem,
    LayoutWire,
    PortSide,
    Ranking,
    rank_items,
)
from posewright.charts.drawing.pen import label_size


@dataclass(frozen=True)
class LinkSpan:
    """The part of a link inside a node that it passes through.

    Attributes:
        link: its index in the diagram.
        start: the child that it starts in; None if at the border of the node, or outside it.
        end: the child that it ends in, likewise.
        inner: both its ends are in the node or at its border; else it crosses the border.
    """

    link: int
    start: str | None
    end: str | None
    inner: bool


@dataclass(frozen=True)
class BorderPort:
    """A link that ends at a node's border from inside or crosses it, with the side."""

    span: LinkSpan
    side: PortSide


class NodeHierarchy:
    """The tree of nodes, and the links by node.

    Attributes:
        parent: the node that contains a node.
        spans: the links that pass through a node.
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
            self._add_link(index)

    def ancestors(self, key: str) -> list[str]:
        """Return the ancestors of a node, the innermost first."""
        ancestors = []
        while key != self.root:
            key = self.parent[key]
            ancestors.append(key)
        return ancestors

    def compounds_within(self, key: str) -> list[str]:
        """Return the keys of all nodes with children in the subtree of a node, including itself."""
        return [node.key for node in walk_nodes(self.nodes[key]) if node.inside]

    def child(self, outer: str, key: str) -> str | None:
        """Return the child of `outer` that is, or contains, a node; None if there is none."""
        while key != self.root:
            if self.parent[key] == outer:
                return key
            key = self.parent[key]
        return None

    def follows_parent(self, key: str) -> bool:
        """Return whether arrows in a node must have its parent's direction: regions, or crossing links."""
        return self.nodes[key].parallel or not all(span.inner for span in self.spans[key])

    def _add_link(self, index: int) -> None:
        """Record a link as a loop, or in every node where its ends are in different children."""
        link = self.links[index]
        if link.start == link.end:
            self.loops[link.start] = index
            return
        for key in (link.start, link.end):
            self.ends[key].append(index)
        for outer in dict.fromkeys((*self.ancestors(link.start), *self.ancestors(link.end))):
            start = self.child(outer, link.start)
            end = self.child(outer, link.end)
            if start != end:
                starts_inside = start is not None or link.start == outer
                ends_inside = end is not None or link.end == outer
                self.spans[outer].append(LinkSpan(index, start, end, inner=starts_inside and ends_inside))


@dataclass(frozen=True)
class NodeLayout:
    """Options for the layout of a node's children.

    Attributes:
        sideways: arrows mostly go to the right, not down.
        order: orders the children, so that arrows against the order lead back.
    """

    sideways: bool
    order: LayerOrder


NodeLayouts = Mapping[str, NodeLayout]
"""Layout options of every node with children."""


class LayerPlan:
    """Layers and link sides of a whole diagram.

    Attributes:
        sideways: for every node with children, whether arrows in it mostly go to the right, not down.
        parent_sideways: for every node, `sideways` of its parent.
        sides: the side on which a link leaves or enters a child, by child and link.
        wires: the wires between the children of every node that is not parallel.
        rankings: the layers of the children of every node that is not parallel.
    """

    def __init__(self, hierarchy: NodeHierarchy, layouts: NodeLayouts) -> None:
        self.hierarchy = hierarchy
        self.layouts = layouts
        self.sideways = {key: layout.sideways for key, layout in layouts.items()}
        self.parent_sideways: dict[str, bool] = {hierarchy.root: self.sideways[hierarchy.root]}
        self.sides: dict[tuple[str, int], PortSide] = {}
        self.rankings: dict[str, Ranking] = {}
        self.wires: dict[str, list[LayoutWire]] = {}
        self._plan_node(hierarchy.root)

    def end_counts(self, key: str) -> tuple[int, int]:
        """Return the numbers of links that end at the back and at the front of a node from outside."""
        sides = [self.sides[key, link] for link in self.hierarchy.ends[key] if (key, link) in self.sides]
        return sides.count(PortSide.BACK), sides.count(PortSide.FRONT)

    def border_ports(self, key: str) -> list[BorderPort]:
        """Return the links that end at a node's border from inside, or cross it."""
        return [
            BorderPort(span, self._side(key, span))
            for span in self.hierarchy.spans[key]
            if span.start is None or span.end is None
        ]

    def _side(self, key: str, span: LinkSpan) -> PortSide:
        if not span.inner:
            return self.sides[key, span.link]
        return PortSide.BACK if span.start is None else PortSide.FRONT

    def _plan_node(self, key: str) -> None:
        """Choose the sides of links in a node, then in the nodes inside it."""
        node = self.hierarchy.nodes[key]
        if node.parallel:
            self._pass_sides_on(key)
        else:
            self._rank_children(key)
        for child in node.inside:
            self.parent_sideways[child.key] = self.sideways[key]
            if child.inside:
                self._plan_node(child.key)

    def _rank_children(self, key: str) -> None:
        """Assign layers to the children of a node, and record on which side each link meets them."""
        node = self.hierarchy.nodes[key]
        spans = self.hierarchy.spans[key]
        wires = self.wires[key] = [self._build_wire(key, span) for span in spans]
        items = [LayoutItem(child.key) for child in node.inside]
        items += [
            LayoutItem(port_key(border_port.span.link), pin=border_port.side)
            for border_port in self.border_ports(key)
        ]
        ranking = self.rankings[key] = rank_items(items, wires, self.layouts[key].order)
        for span, wire in zip(spans, wires, strict=True):
            for end in (span.start, span.end):
                if end is not None:
                    self.sides[end, span.link] = ranking.side(wire, end)

    def _pass_sides_on(self, key: str) -> None:
        """Set the sides of links in regions: those of the parallel node; between regions, the front."""
        for span in self.hierarchy.spans[key]:
            for end in (span.start, span.end):
                if end is not None:
                    self.sides[end, span.link] = self._side(key, span)

    def _build_wire(self, key: str, span: LinkSpan) -> LayoutWire:
        """Return the wire of a link in node `key`; it has a label only if the link is inside the node."""
        link = self.hierarchy.links[span.link]
        dot = span.start == link.start and self.hierarchy.nodes[link.start].shape is NodeShape.INITIAL
        label = label_size(link.lines) if span.inner else None
        if label and not self.sideways[key]:
            label = label[::-1]
        return LayoutWire(
            span.link,
            start=span.start or port_key(span.link),
            end=span.end or port_key(span.link),
            label=label,
            is_short=dot,
        )


def port_key(link: int) -> str:
    """Return the key of the item at which a link meets a border."""
    return f"port {link}"
