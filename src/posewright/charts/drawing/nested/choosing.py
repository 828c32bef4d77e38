"""Which of many ways to lay out a chart reads best: small on a page, few crossings, few bends, short."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from posewright.charts.drawing.diagram import Diagram, Shape
from posewright.charts.drawing.layered.graph import Item, Wire
from posewright.charts.drawing.layered.ranking import Order, by_breadth, by_colour, by_depth, turned
from posewright.charts.drawing.nested.family import Family
from posewright.charts.drawing.nested.packing import Cache, Packing
from posewright.charts.drawing.nested.scene import Scene, scene_of
from posewright.charts.drawing.nested.siding import Way, Ways
from posewright.charts.drawing.page_size import pages

SMALL = 0.5
"""Part of a page below which a picture need not be any smaller."""

SHAPELY = 1.3
"""Width by height of a picture that fits in with a text."""

PLENTY, EFFORT = 60, 400_000
"""Layouts that are tried at most, and what they may cost together: a second or two."""

ORDERS: tuple[Order, ...] = (by_depth, by_breadth, by_colour)


@dataclass(frozen=True)
class Choice:
    """A layout and how badly it reads."""

    cost: float
    scene: Scene
    ways: Ways


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
    """Starts with one way for all nodes, and changes that of one or two as long as that helps."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram, self.family = diagram, Family(diagram)
        self.keys = self.family.below(self.family.root)
        self.orders = {key: self._orders(key) for key in self.keys}
        self.left = min(PLENTY, EFFORT // sum(self._effort(key) for key in self.keys))
        self.cache: Cache = {}
        self.seen: dict[tuple[Way, ...], Choice] = {}

    def solve(self) -> Scene:
        starts = [self._start(0, sideways=False)]
        for i in range(max(len(orders) for orders in self.orders.values())):
            for sideways in (False, True):
                if self.left > 0:
                    starts.append(self._start(i, sideways=sideways))
        starts.sort(key=lambda choice: choice.cost)
        found = min(
            (self._improved(choice, self._singles) for choice in starts[:2]), key=lambda one: one.cost
        )
        return self._improved(found, self._pairs).scene

    def _effort(self, key: str) -> int:
        """Return what it costs to lay out the inside of a node."""
        return (len(self.family.nodes[key].inside) + len(self.family.spans[key])) ** 2

    def _start(self, order: int, *, sideways: bool) -> Choice:
        """Return the layout with one way for all nodes, and one order as far as they have several."""
        return self._try(
            {key: Way(sideways, orders[order % len(orders)]) for key, orders in self.orders.items()}
        )

    def _orders(self, key: str) -> list[Order]:
        """Return the orders of a node's children that are not the same."""
        items = [Item(child.key) for child in self.family.nodes[key].inside]
        wires = [
            Wire(span.link, span.start, span.end)
            for span in self.family.spans[key]
            if span.start is not None and span.end is not None
        ]
        found = {turned(items, wires, order): order for order in reversed(ORDERS)}
        return list(found.values())[::-1]

    def _try(self, ways: dict[str, Way]) -> Choice:
        """Return the layout with these ways; regions are stacked like what is around their state."""
        for key in self.keys:
            if self.family.nodes[key].parallel and key != self.family.root:
                ways[key] = replace(ways[key], sideways=ways[self.family.parent[key]].sideways)
        known = tuple(ways.values())
        if known not in self.seen:
            self.left -= 1
            scene = scene_of(self.diagram, Packing(self.family, ways, self.cache).solve(), ways)
            self.seen[known] = Choice(cost_of(scene), scene, ways)
        return self.seen[known]

    def _improved(self, best: Choice, moves: Callable[[Ways], Iterator[Ways]]) -> Choice:
        """Return the best layout found by changing ways, step by step."""
        waiting = moves(best.ways)
        while self.left > 0 and (change := next(waiting, None)):
            found = self._try({**best.ways, **change})
            if found.cost < best.cost - 1e-9:
                best, waiting = found, moves(found.ways)
        return best

    def _singles(self, ways: Ways) -> Iterator[Ways]:
        """Yield another way for one node."""
        for key, way in ways.items():
            yield {key: replace(way, sideways=not way.sideways)}
        for key, way in ways.items():
            for order in self.orders[key]:
                if order is not way.order:
                    yield {key: replace(way, order=order)}

    def _pairs(self, ways: Ways) -> Iterator[Ways]:
        """Yield another way for two nodes."""
        yield from self._singles(ways)
        for pair in combinations(ways, 2):
            yield {key: replace(ways[key], sideways=not ways[key].sideways) for key in pair}
