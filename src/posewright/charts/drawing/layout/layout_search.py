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
from posewright.charts.drawing.pen import RANK_ROOM, BoundingBox, Point, label_size

PAGE = (1046.0, 718.0)
"""Width and height of a landscape A4 page with text as large as on a screen [px]."""


def page_share(width: float, height: float) -> float:
    """Return the size relative to an A4 page, portrait or landscape; 1 fills it."""
    return min(max(width / a, height / b) for a, b in (PAGE, PAGE[::-1]))


@dataclass(frozen=True)
class RoutedLink:
    """A link with the corners of its route and the box of its label."""

    link: DiagramLink
    points: tuple[Point, ...]
    label: BoundingBox | None

    @property
    def length(self) -> float:
        """Length of the route [px]."""
        return sum(math.dist(a, b) for a, b in pairwise(self.points))


@dataclass(frozen=True)
class Scene:
    """A laid-out diagram; lengths in px, the top left corner is (0, 0).

    Attributes:
        diagram: the diagram that is laid out.
        boxes: the boxes of every node but the root, by key.
        title_positions: the positions of the titles of states with children.
        tracks: the links with their routes.
        dividers: lines between regions.
        width: the width of the picture.
        height: the height of the picture.
        sideways: for every node with children, whether arrows in it mostly go to the right, not down.
        crossings: number of crossings of links.
        backward: number of links that lead back.
    """

    diagram: Diagram
    boxes: Mapping[str, BoundingBox]
    title_positions: Mapping[str, Point]
    tracks: tuple[RoutedLink, ...]
    dividers: tuple[tuple[Point, Point], ...]
    width: float
    height: float
    sideways: Mapping[str, bool]
    crossings: int
    backward: int

    @property
    def bends(self) -> int:
        """Number of bends of all routes."""
        return sum(max(len(track.points) - 2, 0) for track in self.tracks)


def build_scene(diagram: Diagram, block: NodeBlock, layouts: NodeLayouts) -> Scene:
    """Return the scene of a laid-out diagram.

    Args:
        diagram: the diagram that was laid out.
        block: its laid-out root.
        layouts: the layout options.
    """
    sideways = {key: layout.sideways for key, layout in layouts.items()}
    boxes = {}
    for key, rect in block.rects.items():
        x, y = rect.corner
        width, height = rect.size
        boxes[key] = BoundingBox(x + width / 2, y + height / 2, width, height)
    nodes = {node.key: node for node in walk_nodes(diagram.root)}
    tracks = []
    for i, link in enumerate(diagram.links):
        points = _corners(block.routes[i])
        points = _extend_to_sign(points[::-1], nodes[link.start], boxes)[::-1]
        points = _extend_to_sign(points, nodes[link.end], boxes)
        tracks.append(RoutedLink(link, points, _label(link, block.labels.get(i))))
    return Scene(
        diagram,
        boxes,
        block.title_positions,
        tuple(tracks),
        block.dividers,
        *block.size,
        sideways,
        block.crossings,
        block.backward,
    )


def _label(link: DiagramLink, middle: Point | None) -> BoundingBox | None:
    """Return the box of a link's label, None if it has none."""
    size = label_size(link.lines)
    if size is None or middle is None:
        return None
    room = RANK_ROOM if any(line.rank for line in link.lines) else 0
    return BoundingBox(middle[0] - room / 2, y=middle[1], width=size[0] + room, height=size[1])


def _extend_to_sign(
    points: tuple[Point, ...], node: DiagramNode, boxes: Mapping[str, BoundingBox]
) -> tuple[Point, ...]:
    """Return a route extended from the border of a sign's box to the sign itself."""
    if node.shape not in ROUND_SHAPES:
        return points
    x, y = points[-1]
    box = boxes[node.key]
    half = min(box.width, box.height) / 2
    is_horizontal = y == points[-2][1]
    offset = abs(y - box.y if is_horizontal else x - box.x)
    ahead = abs(x - box.x if is_horizontal else y - box.y)
    if ahead > half + 1:
        return points
    extension = (
        offset if node.shape is NodeShape.JUNCTION else half - math.sqrt(max(half**2 - offset**2, 0.0)) + 1
    )
    extension = math.copysign(extension, box.x - x if is_horizontal else box.y - y)
    return (*points[:-1], (x + extension, y) if is_horizontal else (x, y + extension))


def _corners(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return the corners of a route, without repeated points and points inside straight lines."""
    corners: list[Point] = []
    for point in points:
        if corners and point == corners[-1]:
            continue
        if len(corners) > 1 and any(a == b == c for a, b, c in zip(*corners[-2:], point, strict=True)):
            corners.pop()
        corners.append(point)
    return tuple(corners)


SMALL_SHARE = 0.5
"""Size in pages below which a smaller picture is no better."""

PREFERRED_RATIO = 1.3
"""Preferred ratio of width to height."""

MAX_LAYOUTS = 60
MAX_EFFORT = 400_000
"""Greatest number of layouts tried, and their greatest total effort: a second or two."""

ORDERS: tuple[LayerOrder, ...] = (order_by_depth, order_by_breadth, order_by_colour)


@dataclass(frozen=True)
class LayoutChoice:
    """A layout with its cost, lower for better readability."""

    cost: float
    scene: Scene
    layouts: NodeLayouts


def scene_cost(scene: Scene) -> float:
    """Return the cost of a scene, lower for better readability."""
    size = max(page_share(scene.width, scene.height), SMALL_SHARE)
    lines = 0.5 * scene.crossings + 0.06 * scene.bends + 0.25 * scene.backward
    length = sum(track.length for track in scene.tracks) / 12_000
    return (
        10 * size
        + lines
        + length
        + _start_distance(scene)
        + 0.6 * abs(math.log(max(scene.width, 1) / max(scene.height, 1) / PREFERRED_RATIO))
    )


def _start_distance(scene: Scene) -> float:
    """Return a cost for initial states away from the top left corner."""
    dots = [node.key for node in scene.diagram.root.inside if node.shape is NodeShape.INITIAL]
    return 2 * sum(scene.boxes[key].x / scene.width + scene.boxes[key].y / scene.height for key in dots)


def find_best_scene(diagram: Diagram) -> Scene:
    """Return the most readable layout of a diagram among those tried."""
    return _LayoutSearch(diagram).solve()


class _LayoutSearch:
    """Local search: starts with the same options for all nodes, then changes those of one node at a time."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.hierarchy = NodeHierarchy(diagram)
        self.keys = self.hierarchy.compounds_within(self.hierarchy.root)
        self.orders = {key: self._distinct_orders(key) for key in self.keys}
        self.remaining = min(MAX_LAYOUTS, MAX_EFFORT // sum(self._effort(key) for key in self.keys))
        self.cache: BlockCache = {}
        self.evaluated: dict[tuple[NodeLayout, ...], LayoutChoice] = {}

    def solve(self) -> Scene:
        """Return the cheapest scene: uniform layouts are tried first, then the best two are improved."""
        starts = [self._uniform_layout(0, sideways=False)]
        for i in range(max(len(orders) for orders in self.orders.values())):
            for sideways in (False, True):
                if self.remaining > 0:
                    starts.append(self._uniform_layout(i, sideways=sideways))
        starts.sort(key=lambda choice: choice.cost)
        return min(map(self._improve, starts[:2]), key=lambda choice: choice.cost).scene

    def _effort(self, key: str) -> int:
        """Return the effort of laying out the children of a node."""
        return (len(self.hierarchy.nodes[key].inside) + len(self.hierarchy.spans[key])) ** 2

    def _uniform_layout(self, order: int, *, sideways: bool) -> LayoutChoice:
        """Return the layout with the same direction for all nodes, and their n-th order."""
        return self._evaluate(
            {key: NodeLayout(sideways, orders[order % len(orders)]) for key, orders in self.orders.items()}
        )

    def _distinct_orders(self, key: str) -> list[LayerOrder]:
        """Return the order functions that differ in the wires that lead back in a node."""
        items = [LayoutItem(child.key) for child in self.hierarchy.nodes[key].inside]
        wires = [
            LayoutWire(span.link, span.start, span.end)
            for span in self.hierarchy.spans[key]
            if span.start is not None and span.end is not None
        ]
        distinct = {find_back_wires(items, wires, order): order for order in reversed(ORDERS)}
        return list(distinct.values())[::-1]

    def _evaluate(self, layouts: dict[str, NodeLayout]) -> LayoutChoice:
        """Return the layout with these options; nodes that must follow their parent's direction do so."""
        for key in self.keys[1:]:
            if self.hierarchy.follows_parent(key):
                parent_layout = layouts[self.hierarchy.parent[key]]
                layouts[key] = replace(layouts[key], sideways=parent_layout.sideways)
        cache_key = tuple(layouts.values())
        if cache_key not in self.evaluated:
            self.remaining -= 1
            block = NestedLayout(self.hierarchy, layouts, self.cache).solve()
            scene = build_scene(self.diagram, block, layouts)
            self.evaluated[cache_key] = LayoutChoice(scene_cost(scene), scene, layouts)
        return self.evaluated[cache_key]

    def _improve(self, best: LayoutChoice) -> LayoutChoice:
        """Return the best layout found by changing the options of one node at a time."""
        changes = self._single_changes(best.layouts)
        while self.remaining > 0 and (change := next(changes, None)):
            candidate = self._evaluate({**best.layouts, **change})
            if candidate.cost < best.cost - 1e-9:
                best = candidate
                changes = self._single_changes(candidate.layouts)
        return best

    def _single_changes(self, layouts: NodeLayouts) -> Iterator[NodeLayouts]:
        """Yield changes of the options of one node."""
        for key, layout in layouts.items():
            yield {key: replace(layout, sideways=not layout.sideways)}
        for key, layout in layouts.items():
            for order in self.orders[key]:
                if order is not layout.order:
                    yield {key: replace(layout, order=order)}
