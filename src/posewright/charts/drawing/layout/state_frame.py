"""A frame with a title around nodes in their places, and links led straight to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from posewright.charts.drawing.layout.edge_sides import Ported
from posewright.charts.drawing.layout.ranking import Item, Side
from posewright.charts.drawing.pen import SIDE_ROOM, TITLE_BASE

GridPoint = tuple[int, int]
Polyline = tuple[GridPoint, ...]
Mapped = Callable[[GridPoint], GridPoint]

Zones = Mapping[Side, tuple[int, int]]
"""Which part of a side is free for links that end at the border itself [px]."""


@dataclass(frozen=True)
class Rect:
    """A rectangle by its lowest corner and its size [px]."""

    corner: GridPoint
    size: GridPoint


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

    size: GridPoint
    rects: Mapping[str, Rect] = field(default_factory=dict)
    heads: Mapping[str, GridPoint] = field(default_factory=dict)
    routes: Mapping[int, Polyline] = field(default_factory=dict)
    labels: Mapping[int, GridPoint] = field(default_factory=dict)
    dividers: tuple[tuple[GridPoint, GridPoint], ...] = ()
    ports: Mapping[int, int] = field(default_factory=dict)
    zones: Zones = field(default_factory=dict)
    crossings: int = 0
    backward: int = 0

    def moved(self, by: GridPoint) -> Block:
        """Return the block with everything inside it moved."""
        return self._mapped(lambda point: (point[0] + by[0], point[1] + by[1]), lambda size: size)

    def turned(self) -> Block:
        """Return the block with both ways exchanged."""
        return replace(self._mapped(_exchanged, _exchanged), size=_exchanged(self.size))

    def _mapped(self, at: Mapped, sized: Mapped) -> Block:
        return replace(
            self,
            rects={key: Rect(at(rect.corner), sized(rect.size)) for key, rect in self.rects.items()},
            heads={key: at(point) for key, point in self.heads.items()},
            routes={key: tuple(map(at, route)) for key, route in self.routes.items()},
            labels={key: at(point) for key, point in self.labels.items()},
            dividers=tuple((at(one), at(other)) for one, other in self.dividers),
        )


def _exchanged(point: GridPoint) -> GridPoint:
    return point[1], point[0]


def merged(blocks: Sequence[Block]) -> Block:
    """Return what is inside blocks as the inside of one, of no size yet."""
    return Block(
        (0, 0),
        {key: rect for block in blocks for key, rect in block.rects.items()},
        {key: point for block in blocks for key, point in block.heads.items()},
        {key: route for block in blocks for key, route in block.routes.items()},
        {key: point for block in blocks for key, point in block.labels.items()},
        tuple(line for block in blocks for line in block.dividers),
        crossings=sum(block.crossings for block in blocks),
        backward=sum(block.backward for block in blocks),
    )


PAD = 14
"""Room between a frame and what is inside it [px]."""

OWN_STEP = 12
"""Room between links that meet a frame where others cross it [px]."""


@dataclass(frozen=True)
class Framing:
    """What a frame has to know.

    Attributes:
        sideways: whether arrows inside mostly go to the right; then the first of two numbers is x.
        turned: whether those around the frame do not go the same way.
        head: size of the title with the text below it: thickness and breadth [px].
        back, front: how many links meet the frame from outside, on the side looked back to and in front.
    """

    key: str
    sideways: bool
    turned: bool
    head: GridPoint
    back: int
    front: int
    ported: Sequence[Ported]

    @property
    def pins(self) -> set[Side]:
        """The ends of the inside at which links come out."""
        return {ported.side for ported in self.ported}

    @property
    def met(self) -> set[Side]:
        """The sides that links from inside meet, and others from outside may meet as well."""
        return set() if self.turned else self.pins

    @property
    def beside(self) -> int:
        """Breadth that links which meet the frame from outside need beside one another [px]."""
        return (max(self.back, self.front) + 1) * OWN_STEP

    def leads(self) -> list[Item]:
        """Return what keeps links away from the title, and from others that meet the frame."""
        if self.sideways:
            return []
        head = self.head[0], max(self.head[1], self.beside)
        items = [Item("head", *head, pin=Side.BACK, leads=True)]
        if Side.FRONT in self.met and self.front:
            items.append(Item("foot", 0, self.beside, pin=Side.FRONT, leads=True))
        return items


def framed(frame: Framing, inside: Block) -> Block:
    """Return what is inside with the frame around it."""
    heads = frame.head
    pins = frame.pins
    title = max(heads[1], frame.beside if frame.met else 0)
    r = PAD if frame.sideways and Side.BACK not in pins else 0
    v = title + 6 if frame.sideways else PAD
    thick = r + inside.size[0] + (0 if Side.FRONT in pins else PAD)
    broad = v + inside.size[1] + PAD
    if frame.sideways:
        thick = max(thick, heads[0])
    else:
        broad = max(broad, heads[1])
    moved = inside.moved((r, v))
    routes = dict(moved.routes)
    ports = {}
    for one in frame.ported:
        link = one.span.link
        routes[link] = to_border(routes[link], one, thick)
        ports[link] = border_end(routes[link], one)[1]
    first = title if frame.sideways else max(heads[1], frame.beside)
    last = title if frame.sideways else frame.beside
    zones = {side: (0, room) for side, room in ((Side.BACK, first), (Side.FRONT, last)) if side in frame.met}
    corner = (SIDE_ROOM, TITLE_BASE) if frame.sideways else (TITLE_BASE, SIDE_ROOM)
    return replace(
        moved,
        size=(thick, broad),
        routes=routes,
        ports=ports,
        zones=zones,
        heads={**moved.heads, frame.key: corner},
    )


def border_end(route: Polyline, one: Ported) -> GridPoint:
    """Return the end of a route that is at the border."""
    return route[0 if one.span.start is None else -1]


def to_border(route: Polyline, one: Ported, thick: int) -> Polyline:
    """Return a route made longer, straight to the border."""
    end = (thick if one.side is Side.FRONT else 0), border_end(route, one)[1]
    return (end, *route) if one.span.start is None else (*route, end)
