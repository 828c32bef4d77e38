"""The layer of every node, and the side on which each link meets it, computed from the outside in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

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

    A link has a span in each node that contains one of its ends, up to the innermost node that contains both.

    Attributes:
        link: index of the link in the diagram.
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
    """The point at which a link meets a node's border from inside: it ends there, or crosses the border.

    Attributes:
        span: the part of the link inside the node.
        side: the side of the node.
    """

    span: LinkSpan
    side: PortSide


class EndCounts(NamedTuple):
    """The numbers of links that end at a node from outside, by side."""

    n_back_links: int
    n_front_links: int


class NodeHierarchy:
    """The tree of nodes, and the links by node.

    Attributes:
        links: the links of the diagram; elsewhere a link is named by its index here.
        root: key of the outermost node.
        nodes: all nodes by key.
        parent: the node that contains a node, by key; the root has none.
        spans: for each node, the links that pass through it.
        ends: for each node, the links that start or end at the node itself.
        loops: the link that leads from a node to itself, for the nodes that have one.
    """

    def __init__(self, diagram: Diagram) -> None:
        """Record the parent of every node, and the nodes that every link passes through or ends at."""
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
        """Return the child of `outer` that is or contains the node `key`; None if it is not in `outer`."""
        while key != self.root:
            if self.parent[key] == outer:
                return key
            key = self.parent[key]
        return None

    def follows_parent(self, key: str) -> bool:
        """Return whether arrows in a node must have its parent's direction: regions, or crossing links."""
        return self.nodes[key].parallel or not all(span.inner for span in self.spans[key])

    def _add_link(self, index: int) -> None:
        """Record a link in `loops`, or in `ends` and in the `spans` of every node that it passes through.

        It passes through a node if its ends are in different children, or only one is in a child.
        """
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

    A node is given by its key, a link by its index in the diagram. A wire is the part of a link inside one
    node, as an arrow between two of its children, or between a child and the border.

    Attributes:
        hierarchy: the nodes and the links by node.
        layouts: the options of every node with children.
        sideways: for every node with children, whether arrows in it mostly go to the right, not down.
        parent_sideways: for every node, `sideways` of its parent; the root has its own.
        sides: the side on which a link leaves or enters a child, by child and link.
        wires: the wires between the children of every node that is not parallel.
        rankings: the layers of the children of every node that is not parallel.
    """

    def __init__(self, hierarchy: NodeHierarchy, layouts: NodeLayouts) -> None:
        """Plan all nodes of a diagram, the root first."""
        self.hierarchy = hierarchy
        self.layouts = layouts
        self.sideways = {key: layout.sideways for key, layout in layouts.items()}
        self.parent_sideways: dict[str, bool] = {hierarchy.root: self.sideways[hierarchy.root]}
        self.sides: dict[tuple[str, int], PortSide] = {}
        self.rankings: dict[str, Ranking] = {}
        self.wires: dict[str, list[LayoutWire]] = {}
        self._plan_node(hierarchy.root)

    def end_counts(self, key: str) -> EndCounts:
        """Return the numbers of links that end at the back and at the front of a node from outside."""
        links = self.hierarchy.ends[key]
        # links that come from inside the node have no side here
        sides = [self.sides[key, link] for link in links if (key, link) in self.sides]
        return EndCounts(sides.count(PortSide.BACK), sides.count(PortSide.FRONT))

    def border_ports(self, key: str) -> list[BorderPort]:
        """Return the links that end at a node's border from inside, or cross it."""
        return [
            BorderPort(span, self._border_side(key, span))
            for span in self.hierarchy.spans[key]
            if span.start is None or span.end is None
        ]

    def _border_side(self, key: str, span: LinkSpan) -> PortSide:
        """Return the side of a node on which a link meets its border.

        A link that crosses the border does so where it meets the node from outside. Of the links inside,
        those that start at the border do so at the back, and the others are at the front.
        """
        if not span.inner:
            return self.sides[key, span.link]
        return PortSide.BACK if span.start is None else PortSide.FRONT

    def _plan_node(self, key: str) -> None:
        """Fill `sides`, `wires`, `rankings` and `parent_sideways` for a node, then for those inside it."""
        node = self.hierarchy.nodes[key]
        if node.parallel:
            self._set_region_sides(key)
        else:
            self._rank_children(key)
        for child in node.inside:
            self.parent_sideways[child.key] = self.sideways[key]
            if child.inside:
                self._plan_node(child.key)

    def _rank_children(self, key: str) -> None:
        """Assign layers to the children of a node, and record on which side each link meets them.

        Layers are rows or columns through which arrows lead forward. Fills `wires`, `rankings` and `sides`.
        """
        node = self.hierarchy.nodes[key]
        spans = self.hierarchy.spans[key]
        wires = [self._build_wire(key, span) for span in spans]
        items = [LayoutItem(child.key) for child in node.inside]
        items += [
            LayoutItem(port_key(border_port.span.link), pinned_side=border_port.side)
            for border_port in self.border_ports(key)
        ]
        ranking = rank_items(items, wires, self.layouts[key].order)
        self.wires[key] = wires
        self.rankings[key] = ranking
        for span, wire in zip(spans, wires, strict=True):
            for child in (span.start, span.end):
                if child is not None:  # else the link meets the border of the node
                    self.sides[child, span.link] = ranking.side(wire, child)

    def _set_region_sides(self, key: str) -> None:
        """Set the side on which each link meets a region of a parallel node.

        It is the side on which the link meets the border of the parallel node; for a link between two
        regions, the front. Fills `sides`.
        """
        for span in self.hierarchy.spans[key]:
            for region in (span.start, span.end):
                if region is not None:  # else the link ends at the border of the parallel node, or outside it
                    self.sides[region, span.link] = self._border_side(key, span)

    def _build_wire(self, key: str, span: LinkSpan) -> LayoutWire:
        """Return the wire of a link in node `key`, between two children or from a child to the border.

        It has a label only if the whole link is in the node; else the label is drawn in an outer node.
        """
        link = self.hierarchy.links[span.link]
        starts_at_dot = (
            span.start == link.start and self.hierarchy.nodes[link.start].shape is NodeShape.INITIAL
        )
        size = label_size(link.lines) if span.inner else None
        label: tuple[int, int] | None = None  # thickness and breadth: across the layers, and along them
        if size is not None:
            width, height = size
            label = (width, height) if self.sideways[key] else (height, width)
        return LayoutWire(
            span.link,
            start=span.start or port_key(span.link),
            end=span.end or port_key(span.link),
            label=label,
            starts_at_dot=starts_at_dot,
        )


def port_key(link: int) -> str:
    """Return the key of the item at which a link meets a border."""
    return f"port {link}"
