"""Search for the most readable layout of a chart: small, with few crossings and bends, and short lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from posewright.charts.drawing.diagram import (
    ROUND_SHAPES,
    Diagram,
    DiagramLink,
    DiagramNode,
    NodeShape,
    walk_nodes,
)
from posewright.charts.drawing.layout.edge_sides import NodeHierarchy, NodeLayout, NodeLayouts
from posewright.charts.drawing.layout.nested_layout import BlockCache, NestedLayout
from posewright.charts.drawing.layout.ranking import (
    LayerOrder,
    LayoutItem,
    LayoutWire,
    find_back_wires,
    order_by_breadth,
    order_by_colour,
    order_by_depth,
)
from posewright.charts.drawing.layout.state_frame import NodeBlock
from posewright.charts.drawing.pen import PRIORITY_ROOM, BoundingBox, Point, label_size

PAGE = (1046.0, 718.0)
"""Width and height of a landscape A4 page with text as large as on a screen [px]."""


def size_in_pages(width: float, height: float) -> float:
    """Return the size of a picture relative to an A4 page, portrait or landscape; 1 fills the page."""
    long_side, short_side = PAGE
    landscape_share = max(width / long_side, height / short_side)
    portrait_share = max(width / short_side, height / long_side)
    return min(landscape_share, portrait_share)


@dataclass(frozen=True)
class RoutedLink:
    """A link with the corners of its route and the box of its label."""

    link: DiagramLink
    corners: tuple[Point, ...]
    label_box: BoundingBox | None

    @property
    def length(self) -> float:
        """Length of the route [px]."""
        return sum(math.dist(a, b) for a, b in pairwise(self.corners))


@dataclass(frozen=True)
class Scene:
    """A laid-out diagram; lengths in px, the top left corner is (0, 0).

    Attributes:
        diagram: the diagram that is laid out.
        boxes: the boxes of every node but the root, by key.
        title_positions: the positions of the titles of states with children.
        routed_links: the links with their routes.
        dividers: lines between regions.
        width: the width of the picture.
        height: the height of the picture.
        arrows_go_right: for every node with children, whether arrows in it mostly go to the right, not down.
        n_crossings: number of crossings of links.
        n_links_leading_back: number of links that lead back.
    """

    diagram: Diagram
    boxes: Mapping[str, BoundingBox]
    title_positions: Mapping[str, Point]
    routed_links: tuple[RoutedLink, ...]
    dividers: tuple[tuple[Point, Point], ...]
    width: float
    height: float
    arrows_go_right: Mapping[str, bool]
    n_crossings: int
    n_links_leading_back: int

    @property
    def n_bends(self) -> int:
        """Number of bends of all routes."""
        return sum(max(len(routed_link.corners) - 2, 0) for routed_link in self.routed_links)


def build_scene(diagram: Diagram, block: NodeBlock, layouts: NodeLayouts) -> Scene:
    """Return the scene of a laid-out diagram: the boxes of its nodes, and the routes of its links.

    Args:
        diagram: the diagram that was laid out.
        block: its laid-out root.
        layouts: the layout options of every node with children.
    """
    arrows_go_right = {node_key: layout.arrows_go_right for node_key, layout in layouts.items()}
    boxes = {}
    for node_key, rect in block.rects.items():
        x, y = rect.corner
        width, height = rect.size
        boxes[node_key] = BoundingBox(x + width / 2, y + height / 2, width, height)
    nodes = {node.key: node for node in walk_nodes(diagram.root)}
    routed_links = []
    for link_index, link in enumerate(diagram.links):
        corners = _find_corners(block.routes[link_index])
        # the start of the route is extended as the end of the reversed route
        reversed_corners = _extend_to_symbol(corners[::-1], nodes[link.start], boxes)
        corners = _extend_to_symbol(reversed_corners[::-1], nodes[link.end], boxes)
        label_box = _label_box(link, middle=block.label_positions.get(link_index))
        routed_links.append(RoutedLink(link, corners, label_box))
    width, height = block.size
    return Scene(
        diagram,
        boxes=boxes,
        title_positions=block.title_positions,
        routed_links=tuple(routed_links),
        dividers=block.dividers,
        width=width,
        height=height,
        arrows_go_right=arrows_go_right,
        n_crossings=block.n_crossings,
        n_links_leading_back=block.n_links_leading_back,
    )


def _label_box(link: DiagramLink, middle: Point | None) -> BoundingBox | None:
    """Return the box of a link's label, with room for priority numbers at its left; None if it has none."""
    size = label_size(link.label_lines)
    if size is None or middle is None:
        return None
    width, height = size
    middle_x, middle_y = middle
    priority_room = PRIORITY_ROOM if any(line.priority_number for line in link.label_lines) else 0
    return BoundingBox(middle_x - priority_room / 2, middle_y, width=width + priority_room, height=height)


def _extend_to_symbol(
    points: tuple[Point, ...], node: DiagramNode, boxes: Mapping[str, BoundingBox]
) -> tuple[Point, ...]:
    """Return a route whose last point is extended from the border of a symbol's box to the symbol itself.

    The symbol is a rhombus (a junction) or a circle. A route to another shape, or to the title beside the
    symbol, is returned as it is.

    Args:
        points: the corners of the route.
        node: the node at its end.
        boxes: the boxes of all nodes, by key.
    """
    if node.shape not in ROUND_SHAPES:
        return points
    x, y = points[-1]
    _, previous_y = points[-2]
    box = boxes[node.key]
    radius = min(box.width, box.height) / 2
    is_horizontal = y == previous_y
    # from the end of the route to the middle of the symbol: across the last line of the route, and along it
    across = abs(y - box.y) if is_horizontal else abs(x - box.x)
    along = box.x - x if is_horizontal else box.y - y
    leads_to_title = abs(along) > radius + 1
    if leads_to_title:
        return points
    if node.shape is NodeShape.JUNCTION:
        distance = across  # the sides of the rhombus have a slope of 1
    else:
        distance = radius - math.sqrt(max(radius**2 - across**2, 0.0)) + 1
    extension = math.copysign(distance, along)
    end = (x + extension, y) if is_horizontal else (x, y + extension)
    return (*points[:-1], end)


def _find_corners(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return the corners of a route, without repeated points and points inside straight lines."""
    corners: list[Point] = []
    for point in points:
        if corners and point == corners[-1]:
            continue
        if len(corners) > 1 and _is_axis_aligned(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    return tuple(corners)


def _is_axis_aligned(first: Point, second: Point, third: Point) -> bool:
    """Return whether three points are on one horizontal or vertical line."""
    return any(a == b == c for a, b, c in zip(first, second, third, strict=True))


MIN_COUNTED_PAGES = 0.5
"""Size in pages below which a smaller picture is no better."""

_LENGTH_OF_UNIT_COST = 12_000
"""Length of lines that costs as much as a tenth of a page [px]."""

PREFERRED_RATIO = 1.3
"""Preferred ratio of width to height."""

MAX_LAYOUTS = 60
MAX_EFFORT = 400_000
"""Greatest number of layouts tried, and their greatest total effort: a second or two."""

MIN_IMPROVEMENT = 1e-9
"""Least difference of two costs that is no rounding error."""

ORDERS: tuple[LayerOrder, ...] = (order_by_depth, order_by_breadth, order_by_colour)


@dataclass(frozen=True)
class LayoutChoice:
    """A layout with its cost, lower for better readability."""

    cost: float
    scene: Scene
    layouts: NodeLayouts


def scene_cost(scene: Scene) -> float:
    """Return the cost of a scene, lower for better readability.

    It is a weighted sum, with weights chosen by eye: the size in pages; crossings, bends and lines that lead
    back; the length of all lines; the distance of the initial dots from the top left corner; and the
    deviation from the preferred ratio of width to height.
    """
    size_cost = 10 * max(size_in_pages(scene.width, scene.height), MIN_COUNTED_PAGES)
    line_cost = 0.5 * scene.n_crossings + 0.06 * scene.n_bends + 0.25 * scene.n_links_leading_back
    length_cost = sum(routed_link.length for routed_link in scene.routed_links) / _LENGTH_OF_UNIT_COST
    ratio = max(scene.width, 1) / max(scene.height, 1)
    ratio_cost = 0.6 * abs(math.log(ratio / PREFERRED_RATIO))
    return size_cost + line_cost + length_cost + _initial_dots_cost(scene) + ratio_cost


def _initial_dots_cost(scene: Scene) -> float:
    """Return a cost for initial dots away from the top left corner."""
    dot_keys = [node.key for node in scene.diagram.root.children if node.shape is NodeShape.INITIAL]
    dot_boxes = [scene.boxes[node_key] for node_key in dot_keys]
    return 2 * sum(box.x / scene.width + box.y / scene.height for box in dot_boxes)


def find_best_scene(diagram: Diagram) -> Scene:
    """Return the most readable layout of a diagram among those tried."""
    return _LayoutSearch(diagram).solve()


class _LayoutSearch:
    """Local search: starts with the same options for all nodes, then changes those of one node at a time.

    Attributes:
        diagram: the diagram to be laid out.
        hierarchy: its nodes, and its links by node.
        compound_keys: all nodes with children, the root first.
        orders_by_node: the functions to order the children of each of them.
        n_layouts_left: number of layouts that may still be tried.
        block_cache: nodes that are laid out already, shared by all layouts.
        choice_by_options: the layouts tried so far, by their options.
    """

    def __init__(self, diagram: Diagram) -> None:
        """Prepare a search without any layout yet.

        Of a large diagram fewer layouts may be tried, as each takes longer.
        """
        self.diagram = diagram
        self.hierarchy = NodeHierarchy(diagram)
        self.compound_keys = self.hierarchy.compounds_within(self.hierarchy.root)
        self.orders_by_node = {node_key: self._distinct_orders(node_key) for node_key in self.compound_keys}
        effort_per_layout = sum(self._estimate_effort(node_key) for node_key in self.compound_keys)
        self.n_layouts_left = min(MAX_LAYOUTS, MAX_EFFORT // effort_per_layout)
        self.block_cache: BlockCache = {}
        self.choice_by_options: dict[tuple[NodeLayout, ...], LayoutChoice] = {}

    def solve(self) -> Scene:
        """Return the cheapest scene: uniform layouts are tried first, then the best two are improved.

        At least one layout is tried, however large the diagram is.
        """
        uniform_layouts = [self._uniform_layout(0, arrows_go_right=False)]
        max_orders = max(len(orders) for orders in self.orders_by_node.values())
        for order_index in range(max_orders):
            for arrows_go_right in (False, True):
                if self.n_layouts_left > 0:
                    uniform_layouts.append(self._uniform_layout(order_index, arrows_go_right=arrows_go_right))
        uniform_layouts.sort(key=lambda choice: choice.cost)
        best_two = uniform_layouts[:2]
        improved_layouts = [self._improve(choice) for choice in best_two]
        return min(improved_layouts, key=lambda choice: choice.cost).scene

    def _estimate_effort(self, node_key: str) -> int:
        """Return the effort of laying out a node's children, which grows with the square of their number."""
        return (
            len(self.hierarchy.nodes[node_key].children) + len(self.hierarchy.spans_by_node[node_key])
        ) ** 2

    def _uniform_layout(self, order_index: int, *, arrows_go_right: bool) -> LayoutChoice:
        """Return the layout with one direction for all nodes, and for each the order function at an index."""
        layouts = {}
        for node_key, orders in self.orders_by_node.items():
            order = orders[order_index % len(orders)]  # a node may have fewer order functions than others
            layouts[node_key] = NodeLayout(arrows_go_right, order)
        return self._evaluate(layouts)

    def _distinct_orders(self, node_key: str) -> list[LayerOrder]:
        """Return the order functions that make different wires between a node's children lead back.

        Of several functions with the same result, the first in `ORDERS` is returned.
        """
        items = [LayoutItem(child.key) for child in self.hierarchy.nodes[node_key].children]
        wires = [
            LayoutWire(span.link_index, span.start_child, span.end_child)
            for span in self.hierarchy.spans_by_node[node_key]
            if span.start_child is not None and span.end_child is not None
        ]
        # reversed, so that earlier functions overwrite later ones
        order_by_back_wires = {find_back_wires(items, wires, order): order for order in reversed(ORDERS)}
        return list(order_by_back_wires.values())[::-1]

    def _evaluate(self, layouts: dict[str, NodeLayout]) -> LayoutChoice:
        """Return the diagram laid out with these options, with its cost.

        Nodes that must have their parent's direction get it: `layouts` is changed. A layout that was not
        tried before counts against `n_layouts_left`.

        Args:
            layouts: for each node with children, the direction of its arrows and the order of its children.
        """
        keys_below_root = self.compound_keys[1:]
        for node_key in keys_below_root:
            if self.hierarchy.follows_parent(node_key):
                parent_layout = layouts[self.hierarchy.parent_of[node_key]]
                layouts[node_key] = replace(layouts[node_key], arrows_go_right=parent_layout.arrows_go_right)
        options = tuple(layouts.values())
        if options not in self.choice_by_options:
            self.n_layouts_left -= 1
            block = NestedLayout(self.hierarchy, layouts, self.block_cache).solve()
            scene = build_scene(self.diagram, block, layouts)
            self.choice_by_options[options] = LayoutChoice(scene_cost(scene), scene, layouts)
        return self.choice_by_options[options]

    def _improve(self, best: LayoutChoice) -> LayoutChoice:
        """Return the best layout found by changing the options of one node at a time.

        After each improvement, all single changes of the new layout are tried.
        """
        changes = self._single_changes(best.layouts)
        while self.n_layouts_left > 0 and (change := next(changes, None)):
            candidate = self._evaluate({**best.layouts, **change})
            if candidate.cost < best.cost - MIN_IMPROVEMENT:
                best = candidate
                changes = self._single_changes(candidate.layouts)
        return best

    def _single_changes(self, layouts: NodeLayouts) -> Iterator[NodeLayouts]:
        """Yield the new options of one node: another direction for each node, then another order for each."""
        for node_key, layout in layouts.items():
            yield {node_key: replace(layout, arrows_go_right=not layout.arrows_go_right)}
        for node_key, layout in layouts.items():
            for order in self.orders_by_node[node_key]:
                if order is not layout.order:
                    yield {node_key: replace(layout, order=order)}
