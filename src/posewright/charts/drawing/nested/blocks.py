"""The inside of a node laid out: what packing hands from the inner node to the outer one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from posewright.charts.drawing.layered.graph import Side

Point = tuple[int, int]
Route = tuple[Point, ...]

Zones = Mapping[Side, tuple[int, int]]
"""Which part of a side is free for links that end at the border itself [px]."""


@dataclass(frozen=True)
class Rect:
    """A rectangle by its lowest corner and its size [px]."""

    corner: Point
    size: Point


@dataclass(frozen=True)
class Block:
    """A node and what is inside it, from its own lowest corner [px].

    Attributes:
        rects: of everything inside it.
        heads: where the titles of those inside it begin, and its own.
        routes: of all links, as far as they run inside it.
        labels: the middle of what is written on links.
        dividers: lines between regions.
        ports: where links cross its border, from the lowest corner of that side.
        zones: where other links may meet its border.
        crossings: how often links cross inside it.
        backward: how many links lead back, against the way of the others.
    """

    size: Point
    rects: Mapping[str, Rect] = field(default_factory=dict)
    heads: Mapping[str, Point] = field(default_factory=dict)
    routes: Mapping[int, Route] = field(default_factory=dict)
    labels: Mapping[int, Point] = field(default_factory=dict)
    dividers: tuple[tuple[Point, Point], ...] = ()
    ports: Mapping[int, int] = field(default_factory=dict)
    zones: Zones = field(default_factory=dict)
    crossings: int = 0
    backward: int = 0

    def moved(self, by: Point) -> Block:
        """Return the block with everything inside it moved."""
        r, v = by
        return replace(
            self,
            rects={
                k: Rect((box.corner[0] + r, box.corner[1] + v), box.size) for k, box in self.rects.items()
            },
            heads={k: (a + r, b + v) for k, (a, b) in self.heads.items()},
            routes={k: tuple((a + r, b + v) for a, b in route) for k, route in self.routes.items()},
            labels={k: (a + r, b + v) for k, (a, b) in self.labels.items()},
            dividers=tuple(((a + r, b + v), (c + r, d + v)) for (a, b), (c, d) in self.dividers),
        )

    def turned(self) -> Block:
        """Return the block with both ways exchanged."""
        return replace(
            self,
            size=self.size[::-1],
            rects={k: Rect(box.corner[::-1], box.size[::-1]) for k, box in self.rects.items()},
            heads={k: point[::-1] for k, point in self.heads.items()},
            routes={k: tuple(point[::-1] for point in route) for k, route in self.routes.items()},
            labels={k: point[::-1] for k, point in self.labels.items()},
            dividers=tuple((one[::-1], other[::-1]) for one, other in self.dividers),
        )


def merged(blocks: Iterable[Block]) -> Block:
    """Return what is inside blocks as the inside of one, of no size yet."""
    rects: dict[str, Rect] = {}
    heads: dict[str, Point] = {}
    routes: dict[int, Route] = {}
    labels: dict[int, Point] = {}
    dividers: list[tuple[Point, Point]] = []
    crossings = backward = 0
    for block in blocks:
        rects |= block.rects
        heads |= block.heads
        routes |= block.routes
        labels |= block.labels
        dividers += block.dividers
        crossings += block.crossings
        backward += block.backward
    return Block(
        (0, 0), rects, heads, routes, labels, tuple(dividers), crossings=crossings, backward=backward
    )
