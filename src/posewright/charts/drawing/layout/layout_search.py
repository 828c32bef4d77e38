"""Which of many ways to lay out a chart reads best: small on a page, few crossings, few bends, short."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from posewright.charts.drawing.diagram import ROUND, Diagram, DiagramNode, Link, Shape, walk_nodes
from posewright.charts.drawing.layout.edge_sides import Family, NodeLayout, NodeLayouts
from posewright.charts.drawing.layout.nested_layout import BlockCache, Packing
from posewright.charts.drawing.layout.ranking import (
    Item,
    LayerOrder,
    Wire,
    by_breadth,
    by_colour,
    by_depth,
    turned,
)
from posewright.charts.drawing.layout.state_frame import Block
from posewright.charts.drawing.pen import RANK_ROOM, Box, Point, label_size

PAGE = (1046.0, 718.0)
"""Width and height of what an A4 page shows across, with letters as large as on a screen [px]."""


def pages(width: float, height: float) -> float:
    """Return how much larger than an A4 page, upright or across, something is; 1 fills it."""
    return min(max(width / a, height / b) for a, b in (PAGE, PAGE[::-1]))


@dataclass(frozen=True)
class Track:
    """A link with its corners, and the box of what is written on it."""

    link: Link
    points: tuple[Point, ...]
    label: Box | None

    @property
    def length(self) -> float:
        """Length of the way [px]."""
        return sum(math.dist(a, b) for a, b in pairwise(self.points))


@dataclass(frozen=True)
class Scene:
    """A laid out diagram; lengths in px, the top left corner of everything is (0, 0).

    Attributes:
        boxes: of every node but the root, by key.
        dividers: lines between regions.
        heads: where the names of states begin that have an inside.
        sideways: of every node with an inside, whether arrows in it mostly go to the right, not down.
    """

    diagram: Diagram
    boxes: Mapping[str, Box]
    heads: Mapping[str, Point]
    tracks: tuple[Track, ...]
    dividers: tuple[tuple[Point, Point], ...]
    width: float
    height: float
    sideways: Mapping[str, bool]
    crossings: int
    backward: int

    @property
    def bends(self) -> int:
        """Corners of all ways."""
        return sum(max(len(track.points) - 2, 0) for track in self.tracks)


def scene_of(diagram: Diagram, block: Block, ways: NodeLayouts) -> Scene:
    """Return a diagram with everything in its place.

    Args:
        diagram: what is drawn.
        block: its root, laid out.
        ways: how it was laid out.
    """
    sideways = {key: way.sideways for key, way in ways.items()}
    boxes = {}
    for key, rect in block.rects.items():
        (x, y), (width, height) = rect.corner, rect.size
        boxes[key] = Box(x + width / 2, y + height / 2, width, height)
    nodes = {node.key: node for node in walk_nodes(diagram.root)}
    tracks = []
    for i, link in enumerate(diagram.links):
        points = _plain(block.routes[i])
        points = _touching(points[::-1], nodes[link.start], boxes)[::-1]
        points = _touching(points, nodes[link.end], boxes)
        tracks.append(Track(link, points, _label(link, block.labels.get(i))))
    return Scene(
        diagram,
        boxes,
        block.heads,
        tuple(tracks),
        block.dividers,
        *block.size,
        sideways,
        block.crossings,
        block.backward,
    )


def _label(link: Link, middle: Point | None) -> Box | None:
    size = label_size(link.lines)
    if size is None or middle is None:
        return None
    room = RANK_ROOM if any(line.rank for line in link.lines) else 0
    return Box(middle[0] - room / 2, middle[1], size[0] + room, size[1])


def _touching(points: tuple[Point, ...], node: DiagramNode, boxes: Mapping[str, Box]) -> tuple[Point, ...]:
    """Return a way that goes on from the border of a sign's box to the sign itself."""
    if node.shape not in ROUND:
        return points
    (x, y), box, last = points[-1], boxes[node.key], points[-2]
    half = min(box.width, box.height) / 2
    level = y == last[1]
    aside = abs(y - box.y if level else x - box.x)
    ahead = abs(x - box.x if level else y - box.y)
    if ahead > half + 1:
        return points
    deep = aside if node.shape is Shape.JUNCTION else half - math.sqrt(max(half**2 - aside**2, 0.0)) + 1
    deep = math.copysign(deep, box.x - x if level else box.y - y)
    return (*points[:-1], (x + deep, y) if level else (x, y + deep))


def _plain(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return the corners of a way: no point twice, none in the middle of a straight piece."""
    corners: list[Point] = []
    for point in points:
        if corners and point == corners[-1]:
            continue
        if len(corners) > 1 and any(a == b == c for a, b, c in zip(*corners[-2:], point, strict=True)):
            corners.pop()
        corners.append(point)
    return tuple(corners)


SMALL = 0.5
"""Part of a page below which a picture need not be any smaller."""

SHAPELY = 1.3
"""Width by height of a picture that fits in with a text."""

PLENTY = 60
EFFORT = 400_000
"""Layouts that are tried at most, and what they may cost together: a second or two."""

ORDERS: tuple[LayerOrder, ...] = (by_depth, by_breadth, by_colour)


@dataclass(frozen=True)
class LayoutChoice:
    """A layout and how badly it reads."""

    cost: float
    scene: Scene
    ways: NodeLayouts


def cost_of(scene: Scene) -> float:
    """Return how badly a scene reads."""
    size = max(pages(scene.width, scene.height), SMALL)
    lines = 0.5 * scene.crossings + 0.06 * scene.bends + 0.25 * scene.backward
    length = sum(track.length for track in scene.tracks) / 12_000
    return (
        10 * size
        + lines
        + length
        + _begins_late(scene)
        + 0.6 * abs(math.log(max(scene.width, 1) / max(scene.height, 1) / SHAPELY))
    )


def _begins_late(scene: Scene) -> float:
    """Return how badly far from the top left corner reading begins."""
    dots = [node.key for node in scene.diagram.root.inside if node.shape is Shape.INITIAL]
    return 2 * sum(scene.boxes[key].x / scene.width + scene.boxes[key].y / scene.height for key in dots)


def best_scene(diagram: Diagram) -> Scene:
    """Return the layout of a diagram that reads best of those tried."""
    return _Choosing(diagram).solve()


class _Choosing:
    """Starts with one way for all nodes, and changes that of one as long as that helps."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.family = Family(diagram)
        self.keys = self.family.below(self.family.root)
        self.orders = {key: self._orders(key) for key in self.keys}
        self.left = min(PLENTY, EFFORT // sum(self._effort(key) for key in self.keys))
        self.cache: BlockCache = {}
        self.seen: dict[tuple[NodeLayout, ...], LayoutChoice] = {}

    def solve(self) -> Scene:
        starts = [self._start(0, sideways=False)]
        for i in range(max(len(orders) for orders in self.orders.values())):
            for sideways in (False, True):
                if self.left > 0:
                    starts.append(self._start(i, sideways=sideways))
        starts.sort(key=lambda choice: choice.cost)
        return min(map(self._improved, starts[:2]), key=lambda choice: choice.cost).scene

    def _effort(self, key: str) -> int:
        """Return what it costs to lay out the inside of a node."""
        return (len(self.family.nodes[key].inside) + len(self.family.spans[key])) ** 2

    def _start(self, order: int, *, sideways: bool) -> LayoutChoice:
        """Return the layout with one way for all nodes, and one order as far as they have several."""
        return self._try(
            {key: NodeLayout(sideways, orders[order % len(orders)]) for key, orders in self.orders.items()}
        )

    def _orders(self, key: str) -> list[LayerOrder]:
        """Return the orders of a node's children that are not the same."""
        items = [Item(child.key) for child in self.family.nodes[key].inside]
        wires = [
            Wire(span.link, span.start, span.end)
            for span in self.family.spans[key]
            if span.start is not None and span.end is not None
        ]
        found = {turned(items, wires, order): order for order in reversed(ORDERS)}
        return list(found.values())[::-1]

    def _try(self, ways: dict[str, NodeLayout]) -> LayoutChoice:
        """Return the layout with these ways, as far as nodes may go another way than what is around them."""
        for key in self.keys[1:]:
            if self.family.goes_along(key):
                ways[key] = replace(ways[key], sideways=ways[self.family.parent[key]].sideways)
        known = tuple(ways.values())
        if known not in self.seen:
            self.left -= 1
            scene = scene_of(self.diagram, Packing(self.family, ways, self.cache).solve(), ways)
            self.seen[known] = LayoutChoice(cost_of(scene), scene, ways)
        return self.seen[known]

    def _improved(self, best: LayoutChoice) -> LayoutChoice:
        """Return the best layout found by changing the way of one node after another."""
        waiting = self._changes(best.ways)
        while self.left > 0 and (change := next(waiting, None)):
            found = self._try({**best.ways, **change})
            if found.cost < best.cost - 1e-9:
                best = found
                waiting = self._changes(found.ways)
        return best

    def _changes(self, ways: NodeLayouts) -> Iterator[NodeLayouts]:
        """Yield another way for one node."""
        for key, way in ways.items():
            yield {key: replace(way, sideways=not way.sideways)}
        for key, way in ways.items():
            for order in self.orders[key]:
                if order is not way.order:
                    yield {key: replace(way, order=order)}
