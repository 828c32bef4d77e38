"""A frame with a title around nodes in their places, and links led to the side on which they cross it.

Where arrows inside a box mostly go down and those around it to the right (or the other way round), links
turn the corner in a ring between the inside and the frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from posewright.charts.drawing.layered.graph import Item, Pin, Side
from posewright.charts.drawing.nested.blocks import Block, Point, Route
from posewright.charts.drawing.nested.family import Span
from posewright.charts.drawing.nested.metrics import SIDE_ROOM, TITLE_BASE

PAD = 14
"""Room between a frame and what is inside it [px]."""

OWN_STEP = 12
"""Room between links that meet a frame where others cross it [px]."""

RING_STEP = 10
"""Room between links in the ring [px]."""


@dataclass(frozen=True)
class Ported:
    """A link that ends at a frame from inside or crosses it.

    Attributes:
        side: the end of the inside at which it comes out.
        outside: the side of the frame that it crosses, seen from outside; None where it ends at the frame.
    """

    span: Span
    side: Side
    outside: Side | None


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
    head: Point
    back: int
    front: int
    ported: Sequence[Ported]

    @property
    def pins(self) -> set[Side]:
        """The ends of the inside at which links come out."""
        return {ported.side for ported in self.ported}

    @property
    def crossed(self) -> set[Side | None]:
        """The sides of the frame that links cross."""
        return {ported.outside for ported in self.ported} - {None}

    @property
    def met(self) -> set[Side]:
        """The sides, seen from outside, that links from inside meet without turning a corner."""
        return set() if self.turned else self.pins

    @property
    def beside(self) -> int:
        """Breadth that links which meet the frame from outside need beside one another [px]."""
        return (max(self.back, self.front) + 1) * OWN_STEP

    def leads(self) -> list[Item]:
        """Return what keeps links away from the title, and from others that meet the frame."""
        items = []
        if self.ringed and not self.sideways and Side.BACK in self.pins:
            items.append(Item("head", 0, self.head[1], pin=Pin.FIRST, leads=True))
        if not self.sideways and not self.ringed:
            items.append(
                Item("head", self.head[0], max(self.head[1], self.beside), pin=Pin.FIRST, leads=True)
            )
        if not self.sideways and Side.FRONT in self.met and self.front:
            items.append(Item("foot", 0, self.beside, pin=Pin.LAST, leads=True))
        return items

    @property
    def ringed(self) -> bool:
        """Whether links turn a corner."""
        return self.turned and bool(self.crossed)

    def around(self, inside: Block) -> Block:
        """Return what is inside with the frame around it."""
        return _ringed(self, inside) if self.ringed else _plain(self, inside)


def _plain(frame: Framing, inside: Block) -> Block:
    """Return a frame that links cross straight."""
    heads, pins = frame.head, frame.pins
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
    routes, ports = dict(moved.routes), {}
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


def _ringed(frame: Framing, inside: Block) -> Block:
    """Return a frame with a ring in which links turn."""
    rings = {side: _lanes(frame, inside, side) for side in Side}
    width = {side: (len(lanes) + 1) * RING_STEP if lanes else 0 for side, lanes in rings.items()}
    low, high = (width[side] or (PAD if side not in frame.pins else 0) for side in (Side.BACK, Side.FRONT))
    title = max(frame.head[1] if frame.sideways else frame.head[0], 0 if frame.sideways else frame.beside)
    r, v = (low, title + 6) if frame.sideways else (title + low, PAD)
    thick, broad = r + inside.size[0] + high, v + inside.size[1] + PAD
    if frame.sideways:
        thick = max(thick, width[Side.BACK] + max(frame.head[0], frame.beside) + width[Side.FRONT])
    else:
        broad = max(broad, frame.head[1])
    moved = inside.moved((r, v))
    routes, ports = dict(moved.routes), {}
    ends = {Side.BACK: r, Side.FRONT: r + inside.size[0]}
    for one in frame.ported:
        link = one.span.link
        if one.outside is None:
            routes[link] = to_border(routes[link], one, thick)
            continue
        lane = rings[one.side].index(link) + 1
        at = ends[one.side] + lane * RING_STEP * (1 if one.side is Side.FRONT else -1)
        border = 0 if one.outside is Side.BACK else broad
        routes[link] = _round_corner(routes[link], one, at, border)
        ports[link] = at
    zones = _ring_zones(frame, width, thick, title)
    corner = (width[Side.BACK] + SIDE_ROOM, TITLE_BASE) if frame.sideways else (TITLE_BASE, SIDE_ROOM)
    return replace(
        moved,
        size=(thick, broad),
        routes=routes,
        ports=ports,
        zones=zones,
        heads={**moved.heads, frame.key: corner},
    )


def _ring_zones(
    frame: Framing, width: Mapping[Side, int], thick: int, title: int
) -> dict[Side, tuple[int, int]]:
    zone = (width[Side.BACK], thick - width[Side.FRONT]) if frame.sideways else (0, title)
    return {side: zone for side in Side if side in frame.crossed}


def _lanes(frame: Framing, inside: Block, side: Side) -> list[int]:
    """Return the links that turn at an end of the inside, the one nearest to the inside first."""
    found: list[int] = []
    for outside, sign in ((Side.BACK, 1), (Side.FRONT, -1)):
        here = [one for one in frame.ported if one.side is side and one.outside is outside]
        here.sort(key=lambda one: sign * border_end(inside.routes[one.span.link], one)[1])
        found += [one.span.link for one in here]
    return found


def border_end(route: Route, one: Ported) -> Point:
    """Return the end of a route that is at the border."""
    return route[0 if one.span.start is None else -1]


def to_border(route: Route, one: Ported, thick: int) -> Route:
    """Return a route made longer, straight to the border."""
    return _longer(route, one, ((thick if one.side is Side.FRONT else 0, border_end(route, one)[1]),))


def _round_corner(route: Route, one: Ported, at: int, border: int) -> Route:
    return _longer(route, one, ((at, border_end(route, one)[1]), (at, border)))


def _longer(route: Route, one: Ported, more: Route) -> Route:
    return (*more[::-1], *route) if one.span.start is None else (*route, *more)
