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
        link_index: index of the link in the diagram.
        start_child: the child that it starts in; None if at the border of the node, or outside it.
        end_child: the child that it ends in, likewise.
        stays_inside: both its ends are in the node or at its border; else it crosses the border.
    """

    link_index: int
    start_child: str | None
    end_child: str | None
    stays_inside: bool


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
        parent_of: the node that contains a node, by key; the root has none.
        spans_by_node: for each node, the links that pass through it.
        links_ending_at: for each node, the links that start or end at the node itself.
        loop_by_node: the link that leads from a node to itself, for the nodes that have one.
    """

    def __init__(self, diagram: Diagram) -> None:
        """Record the parent of every node, and for every link the nodes that it passes through or ends at."""
        self.links = diagram.links
        self.root = diagram.root.key
        self.nodes: dict[str, DiagramNode] = {node.key: node for node in walk_nodes(diagram.root)}
        self.parent_of = {child.key: node.key for node in self.nodes.values() for child in node.children}
        self.spans_by_node: dict[str, list[LinkSpan]] = {node_key: [] for node_key in self.nodes}
        self.links_ending_at: dict[str, list[int]] = {node_key: [] for node_key in self.nodes}
        self.loop_by_node: dict[str, int] = {}
        for index in range(len(self.links)):
            self._add_link(index)

    def ancestors(self, node_key: str) -> list[str]:
        """Return the ancestors of a node, the innermost first."""
        ancestors = []
        while node_key != self.root:
            node_key = self.parent_of[node_key]
            ancestors.append(node_key)
        return ancestors

    def compounds_within(self, node_key: str) -> list[str]:
        """Return the keys of all nodes with children in the subtree of a node, including itself."""
        return [node.key for node in walk_nodes(self.nodes[node_key]) if node.children]

    def child(self, outer: str, node_key: str) -> str | None:
        """Return the child of `outer` that is or contains a node; None if the node is not in `outer`."""
        while node_key != self.root:
            if self.parent_of[node_key] == outer:
                return node_key
            node_key = self.parent_of[node_key]
        return None

    def follows_parent(self, node_key: str) -> bool:
        """Return whether arrows in a node must have its parent's direction: regions, or crossing links."""
        return self.nodes[node_key].parallel or not all(
            span.stays_inside for span in self.spans_by_node[node_key]
        )

    def _add_link(self, index: int) -> None:
        """Record a link in `loop_by_node`, or in `links_ending_at` and `spans_by_node`.

        A link from a node to itself is a loop. Any other has a span in every node that it passes through: its
        ends are in different children of the node, or only one is in a child.

        Args:
            index: index of the link in the diagram.
        """
        link = self.links[index]
        if link.start == link.end:
            self.loop_by_node[link.start] = index
            return
        for node_key in (link.start, link.end):
            self.links_ending_at[node_key].append(index)
        for outer in dict.fromkeys((*self.ancestors(link.start), *self.ancestors(link.end))):
            start_child = self.child(outer, link.start)
            end_child = self.child(outer, link.end)
            if start_child != end_child:
                starts_inside = start_child is not None or link.start == outer
                ends_inside = end_child is not None or link.end == outer
                stays_inside = starts_inside and ends_inside
                self.spans_by_node[outer].append(LinkSpan(index, start_child, end_child, stays_inside))


@dataclass(frozen=True)
class NodeLayout:
    """Options for the layout of a node's children.

    Attributes:
        arrows_go_right: arrows mostly go to the right, not down.
        order: orders the children, so that arrows against the order lead back.
    """

    arrows_go_right: bool
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
        arrows_go_right: for every node with children, whether arrows in it mostly go to the right, not down.
        arrows_around_go_right: for every node, the same of its parent; the root has its own.
        link_sides: the side on which a link leaves or enters a child, by child and link.
        wires_by_node: the wires between the children of every node that is not parallel.
        ranking_by_node: the layers of the children of every node that is not parallel.
    """

    def __init__(self, hierarchy: NodeHierarchy, layouts: NodeLayouts) -> None:
        """Assign layers to the nodes and sides to the links of a diagram, from the root inwards."""
        self.hierarchy = hierarchy
        self.layouts = layouts
        self.arrows_go_right = {node_key: layout.arrows_go_right for node_key, layout in layouts.items()}
        self.arrows_around_go_right: dict[str, bool] = {hierarchy.root: self.arrows_go_right[hierarchy.root]}
        self.link_sides: dict[tuple[str, int], PortSide] = {}
        self.ranking_by_node: dict[str, Ranking] = {}
        self.wires_by_node: dict[str, list[LayoutWire]] = {}
        self._plan_node(hierarchy.root)

    def count_links_from_outside(self, node_key: str) -> EndCounts:
        """Return the numbers of links that end at the back and at the front of a node from outside."""
        links = self.hierarchy.links_ending_at[node_key]
        # links that come from inside the node have no side here
        sides = [self.link_sides[node_key, link] for link in links if (node_key, link) in self.link_sides]
        return EndCounts(sides.count(PortSide.BACK), sides.count(PortSide.FRONT))

    def border_ports(self, node_key: str) -> list[BorderPort]:
        """Return the links that end at a node's border from inside, or cross it."""
        return [
            BorderPort(span, self._border_side(node_key, span))
            for span in self.hierarchy.spans_by_node[node_key]
            if span.start_child is None or span.end_child is None
        ]

    def _border_side(self, node_key: str, span: LinkSpan) -> PortSide:
        """Return the side of a node on which a link meets its border from inside.

        A link that crosses the border does so where it meets the node from outside. Of the links that stay
        inside, those that start at the border do so at the back, and those that end at it at the front.
        """
        if not span.stays_inside:
            return self.link_sides[node_key, span.link_index]
        return PortSide.BACK if span.start_child is None else PortSide.FRONT

    def _plan_node(self, node_key: str) -> None:
        """Plan a node, then those inside it.

        Fills `link_sides`, `wires_by_node`, `ranking_by_node` and `arrows_around_go_right`.
        """
        node = self.hierarchy.nodes[node_key]
        if node.parallel:
            self._set_region_sides(node_key)
        else:
            self._rank_children(node_key)
        for child in node.children:
            self.arrows_around_go_right[child.key] = self.arrows_go_right[node_key]
            if child.children:
                self._plan_node(child.key)

    def _rank_children(self, node_key: str) -> None:
        """Assign layers to the children of a node, and record on which side each link meets them.

        Layers are rows or columns through which arrows lead forward. Fills `wires_by_node`, `ranking_by_node`
        and `link_sides`.
        """
        node = self.hierarchy.nodes[node_key]
        spans = self.hierarchy.spans_by_node[node_key]
        wires = [self._build_wire(node_key, span) for span in spans]
        items = [LayoutItem(child.key) for child in node.children]
        # a link that meets the border of the node ends at an item there, before or after all others
        items += [
            LayoutItem(port_item_key(border_port.span.link_index), pinned_side=border_port.side)
            for border_port in self.border_ports(node_key)
        ]
        ranking = rank_items(items, wires, self.layouts[node_key].order)
        self.wires_by_node[node_key] = wires
        self.ranking_by_node[node_key] = ranking
        for span, wire in zip(spans, wires, strict=True):
            for child in (span.start_child, span.end_child):
                if child is not None:  # else the link meets the border of the node
                    self.link_sides[child, span.link_index] = ranking.side(wire, child)

    def _set_region_sides(self, node_key: str) -> None:
        """Set the side on which each link meets a region of a parallel node.

        It is the side on which the link meets the border of the parallel node; for a link between two
        regions, the front. Fills `link_sides`.
        """
        for span in self.hierarchy.spans_by_node[node_key]:
            for region in (span.start_child, span.end_child):
                if region is not None:  # else the link ends at the border of the parallel node, or outside it
                    self.link_sides[region, span.link_index] = self._border_side(node_key, span)

    def _build_wire(self, node_key: str, span: LinkSpan) -> LayoutWire:
        """Return the wire of a link in a node: an arrow between two children, or a child and the border.

        It has a label only if the whole link is in the node; else the label is drawn in an outer node.

        Args:
            node_key: the key of the node.
            span: the part of the link in the node.
        """
        link = self.hierarchy.links[span.link_index]
        starts_at_dot = (
            span.start_child == link.start and self.hierarchy.nodes[link.start].shape is NodeShape.INITIAL
        )
        size = label_size(link.label_lines) if span.stays_inside else None
        thickness_and_breadth: tuple[int, int] | None = None  # sizes across the layers, and along them
        if size is not None:
            width, height = size
            layers_are_columns = self.arrows_go_right[node_key]
            thickness_and_breadth = (width, height) if layers_are_columns else (height, width)
        return LayoutWire(
            span.link_index,
            start=span.start_child or port_item_key(span.link_index),
            end=span.end_child or port_item_key(span.link_index),
            label_size=thickness_and_breadth,
            starts_at_dot=starts_at_dot,
        )


def port_item_key(link_index: int) -> str:
    """Return the key of the item at which a link meets a border."""
    return f"port {link_index}"
