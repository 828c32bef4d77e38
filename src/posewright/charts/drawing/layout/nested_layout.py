"""Nodes inside nodes put in their places: each is laid out with its children as boxes of known size.

First, from the outside in, every child gets its layer, so that it is known on which side a link leaves a
box (`siding`). Then, from the inside out, children get their places and boxes their sizes. A link that
crosses borders is laid out in pieces that meet at the borders. Regions are stacked across the way of the
arrows, divided by lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from posewright.charts.drawing.diagram import ROUND, DiagramNode, Shape
from posewright.charts.drawing.layout.arranging import arrange
from posewright.charts.drawing.layout.edge_sides import Family, LinkSpan, NodeLayouts, Siding, port
from posewright.charts.drawing.layout.ranking import Arrangement, Item, Ranking, Side
from posewright.charts.drawing.layout.state_frame import (
    OWN_STEP,
    Block,
    Framing,
    GridPoint,
    Polyline,
    Rect,
    border_end,
    framed,
    merged,
    to_border,
)
from posewright.charts.drawing.pen import (
    ROW,
    SIDE_ROOM,
    TITLE_BASE,
    head_size,
    label_size,
    leaf_size,
    text_width,
)

APART = 8
"""Room between a link and the title that it passes [px]."""


class RegionStack:
    """Regions in a frame: of the links that run through their state, it gets the sizes of what is written."""

    def __init__(
        self,
        frame: Framing,
        blocks: Mapping[str, Block],
        spans: Sequence[LinkSpan],
        labels: Mapping[int, GridPoint],
    ) -> None:
        self.frame = frame
        self.spans = spans
        self.labels = labels
        head = frame.head
        self.r, v = (0, max(head[1], frame.beside)) if frame.sideways else (head[0], 0)
        self.starts: dict[str, int] = {}
        for key, block in blocks.items():
            self.starts[key] = v
            v += block.size[1]
        self.broad = v
        self.deep = max(block.size[0] for block in blocks.values())
        self.blocks = {key: block.moved((self.r, self.starts[key])) for key, block in blocks.items()}
        self.met: dict[tuple[str, Side], int] = {}

    def solve(self) -> Block:
        """Return the frame with the regions in it."""
        whole = merged([*self.blocks.values()])
        lanes, thick = self._lanes()
        fronts = {
            span.link: self._in_front(span, lanes[span.link]) for span in self.spans if span.link in lanes
        }
        routes = {**whole.routes, **fronts}
        ports = {}
        for one in self.frame.ported:
            link = one.span.link
            routes[link] = to_border(self._piece(one.span, one.side), one, thick)
            ports[link] = border_end(routes[link], one)[1]
        passing = [ports[one.span.link] for one in self.frame.ported if one.side is Side.FRONT]
        labels = {link: (lane, self._free(link, lane, fronts, passing)) for link, lane in lanes.items()}
        return self._whole(
            replace(whole, routes=routes, labels={**whole.labels, **labels}, ports=ports), thick
        )

    def _lanes(self) -> tuple[dict[int, int], int]:
        """Return where in front of the regions each link between two of them runs, and where all end."""
        lanes: dict[int, int] = {}
        lane = self.r + self.deep
        for span in self.spans:
            if span.start and span.end:
                size = self.labels[span.link][0]
                lanes[span.link] = lane + OWN_STEP + size // 2
                lane += 2 * OWN_STEP + size
        return lanes, max(lane, self.frame.head[0] if self.frame.sideways else 0)

    def _free(self, link: int, lane: int, fronts: Mapping[int, Polyline], passing: Sequence[int]) -> int:
        """Return where on its lane the label of a link is best: where no other line is."""
        ends = [v for r, v in fronts[link] if r == lane]
        low = min(ends)
        high = max(ends)
        others = [v for key, route in fronts.items() if key != link for r, v in route if r > lane]
        places = [low, *sorted(v for v in (*others, *passing) if low < v < high), high]
        half = self.labels[link][1] / 2
        middle = (low + high) / 2

        def badness(gap: tuple[int, int]) -> tuple[float, float]:
            centre = (gap[0] + gap[1]) / 2
            return max(half - (gap[1] - gap[0]) / 2, 0.0), abs(centre - middle)

        best = min(pairwise(places), key=badness)
        return (best[0] + best[1]) // 2

    def _whole(self, inside: Block, thick: int) -> Block:
        head = (SIDE_ROOM, TITLE_BASE)
        zones = self._zones(inside.ports)
        broad = self.broad
        if not self.frame.sideways:
            head = TITLE_BASE, zones[Side.BACK][0] + SIDE_ROOM
            broad = max(broad, *(high for _, high in zones.values()))
        keys = list(self.starts)
        ends = [*(self.starts[key] for key in keys[1:]), broad]
        rects = {
            key: Rect((self.r, self.starts[key]), (thick - self.r, end - self.starts[key]))
            for key, end in zip(keys, ends, strict=True)
        }
        dividers = [((self.r, self.starts[key]), (thick, self.starts[key])) for key in keys[1:]]
        if thick > self.r + self.deep and any(span.start and span.end for span in self.spans):
            dividers.append(((self.r + self.deep, self.starts[keys[0]]), (self.r + self.deep, broad)))
        return replace(
            inside,
            size=(thick, broad),
            rects={**rects, **inside.rects},
            heads={**inside.heads, self.frame.key: head},
            dividers=(*inside.dividers, *dividers),
            zones={one.side: zones[one.side] for one in self.frame.ported if not one.span.inner},
        )

    def _zones(self, ports: Mapping[int, int]) -> dict[Side, tuple[int, int]]:
        """Return where links may meet the frame, and, on the side with the title, where the title is."""
        if self.frame.sideways:
            title = next(iter(self.starts.values()))
            return {Side.BACK: (0, title), Side.FRONT: (0, title)}
        taken = {
            side: [ports[one.span.link] for one in self.frame.ported if one.side is side] for side in Side
        }
        first = max(self.frame.head[1], self.frame.beside)
        return {
            Side.BACK: _gap(taken[Side.BACK], first),
            Side.FRONT: _gap(taken[Side.FRONT], self.frame.beside),
        }

    def _piece(self, span: LinkSpan, side: Side) -> Polyline:
        """Return the piece of a link inside a region, or the point of the region's border where it ends."""
        key = span.start or span.end or ""
        route = self.blocks[key].routes.get(span.link)
        return route or ((self.r + (self.deep if side is Side.FRONT else 0), self._meeting(key, side)),)

    def _meeting(self, key: str, side: Side) -> int:
        """Return where the next link that ends at a region's border meets it."""
        low, _ = self.blocks[key].zones.get(side, (0, 0))
        count = self.met[key, side] = self.met.get((key, side), 0) + 1
        return self.starts[key] + low + count * OWN_STEP

    def _in_front(self, span: LinkSpan, lane: int) -> Polyline:
        """Return the way from a region to another, in front of both."""
        ends = LinkSpan(span.link, span.start, None, True), LinkSpan(span.link, None, span.end, True)
        first, last = (self._piece(end, Side.FRONT) for end in ends)
        return (*first, (lane, first[-1][1]), (lane, last[0][1]), *last)


def _gap(taken: Sequence[int], room: int) -> tuple[int, int]:
    """Return the first stretch of at least `room` without any of the places that are taken."""
    low = 0
    for place in sorted(taken):
        if place - APART - low >= room:
            break
        low = place + APART
    return low, low + room


REACH = 14
"""How far a loop reaches out [px]."""

HALF_ALONG = 12
HALF_ACROSS = 9
"""Half the width of a loop above a node, and half the height of one to its right [px]."""

CORNER = 26
"""From the corner with the title to the middle of a loop [px]."""


def loop_room(label: GridPoint, exists: bool, sideways: bool) -> tuple[int, int, int]:
    """Return the room that a node's loop needs: before the node, after it, and along it [px]."""
    if not exists:
        return 0, 0, 0
    thick, broad = label
    return (REACH + 2 + broad, 0, thick) if sideways else (0, REACH + 4 + broad, thick)


def loop(rect: Rect, label: GridPoint, sideways: bool, compound: bool) -> tuple[Polyline, GridPoint]:
    """Return the way of a loop and the middle of what is written on it.

    Args:
        rect: of its node.
        label: size of what is written.
        sideways: other arrows go to the right, so the loop is above the node; else it is to the right of it.
        compound: the node has something inside, and its title in the corner; no other link is there.
    """
    (r, v), (thick, broad) = rect.corner, rect.size
    fits = compound and label[0] <= thick
    if sideways:
        middle = r + (CORNER if compound else thick // 2)
        words = r + (label[0] if fits else thick) // 2
        ends = middle + HALF_ALONG, middle - HALF_ALONG
        route = (ends[0], v), (ends[0], v - REACH), (ends[1], v - REACH), (ends[1], v)
        return route, (words, v - REACH - 2 - label[1] // 2)
    middle = r + (max(CORNER, label[0] // 2) if fits else thick // 2)
    ends = (middle - HALF_ACROSS, middle + HALF_ACROSS)
    edge = v + broad
    route = (ends[0], edge), (ends[0], edge + REACH), (ends[1], edge + REACH), (ends[1], edge)
    return route, (middle, edge + REACH + 4 + label[1] // 2)


STATE_GAP = 22
SIGN_GAP = 14
PORT_GAP = 12
"""Room beside states, signs, and links that cross a border [px]."""

STATE_PORTS = 14
SIGN_PORTS = 6
STATE_EDGE = 9
SIGN_EDGE = 3
"""Room between links where they meet a state or a sign, and between them and its corners [px]."""

FRAME_TOP = 4
"""Height above regions of a chart that consists of them: its name is on the page [px]."""

BlockCache = dict[object, Block]
"""Blocks by all that they depend on: of a diagram laid out in many ways, most boxes come out the same."""


class Packing:
    """Lays out one diagram, with arrows that go to the right in some nodes and down in others."""

    def __init__(self, family: Family, ways: NodeLayouts, cache: BlockCache) -> None:
        self.family = family
        self.ways = ways
        self.cache = cache
        self.siding = Siding(family, ways)
        self.sideways = self.siding.sideways

    def solve(self) -> Block:
        """Return the root with all inside it in their places, as x and y."""
        return self._block(self.family.nodes[self.family.root])

    def _block(self, node: DiagramNode) -> Block:
        """Return a node and what is inside it, as x and y."""
        if not node.inside:
            return Block(leaf_size(node, self.siding.axis[node.key]))
        wanted = self._wanted(node)
        if wanted not in self.cache:
            block = self._regions(node) if node.parallel else self._framed(node)
            self.cache[wanted] = block if self.sideways[node.key] else block.turned()
        return self.cache[wanted]

    def _wanted(self, node: DiagramNode) -> object:
        """Return all that a node's block depends on."""
        ways = tuple(self.ways[key] for key in self.family.below(node.key))
        sides = tuple(self.siding.ports(node.key))
        return node.key, ways, self.siding.axis[node.key], sides, self.siding.own(node.key)

    def _turned(self, key: str, size: GridPoint) -> GridPoint:
        """Return width and height as the thickness and breadth they are inside a node."""
        return size if self.sideways[key] else size[::-1]

    def _inner(self, key: str, child: DiagramNode) -> Block:
        """Return a child's block in the ways of the node that it is in."""
        block = self._block(child)
        return block if self.sideways[key] else block.turned()

    def _framing(self, node: DiagramNode) -> Framing:
        back, front = self.siding.own(node.key)
        turned = self.sideways[node.key] != self.siding.axis[node.key]
        size = head_size(node) if node.key != self.family.root else (0, FRAME_TOP)
        head = self._turned(node.key, size)
        ported = self.siding.ports(node.key)
        return Framing(node.key, self.sideways[node.key], turned, head, back, front, ported)

    def _framed(self, node: DiagramNode) -> Block:
        """Lay out children, and put a frame with a title around them."""
        blocks = {child.key: self._inner(node.key, child) for child in node.inside}
        items = [self._item(child, blocks[child.key], self.sideways[node.key]) for child in node.inside]
        items += [
            Item(port(one.span.link), pin=one.side, gap=PORT_GAP) for one in self.siding.ports(node.key)
        ]
        frame = self._framing(node)
        ranking = _with_leads(self.siding.rankings[node.key], frame)
        found = arrange([*items, *frame.leads()], self.siding.wires[node.key], ranking)
        sizes = {item.key: (item.thick, item.broad) for item in items}
        inside = self._filled(node.key, found, blocks, sizes)
        return inside if node.key == self.family.root else framed(frame, inside)

    def _item(self, node: DiagramNode, block: Block, sideways: bool) -> Item:
        """Return a child as what is arranged: its size, and room for what is drawn beside it."""
        thick, broad = block.size
        before, after, reach = loop_room(self._loop_label(node.key), node.key in self.family.loops, sideways)
        is_state = node.shape is Shape.STATE
        if is_state and not node.inside:
            broad = max(broad, max(self.siding.own(node.key)) * STATE_PORTS + ROW)
        if node.title and node.shape in ROUND:
            name = text_width(node.title)
            after, reach = (ROW, name) if sideways else (name + 10, 0)
        return Item(
            node.key,
            thick,
            broad,
            before,
            after,
            ports=block.ports,
            zones=block.zones,
            point=node.shape is Shape.INITIAL,
            gap=STATE_GAP if is_state else SIGN_GAP,
            port_gap=STATE_PORTS if is_state else SIGN_PORTS,
            port_edge=STATE_EDGE if is_state else SIGN_EDGE,
            reach=reach,
        )

    def _loop_label(self, key: str) -> GridPoint:
        """Return thickness and breadth of what is written on a node's loop."""
        link = self.family.loops.get(key)
        size = label_size(self.family.links[link].lines) if link is not None else None
        return self._turned(self.family.parent[key], size) if size else (0, 0)

    def _filled(
        self, key: str, found: Arrangement, blocks: Mapping[str, Block], sizes: Mapping[str, GridPoint]
    ) -> Block:
        """Return an arrangement with what is inside its items."""
        whole = merged([block.moved(found.places[child]) for child, block in blocks.items()])
        pieces = {child: block.moved(found.places[child]).routes for child, block in blocks.items()}
        rects = {child: Rect(found.places[child], sizes[child]) for child in blocks}
        routes = dict(whole.routes)
        labels = {**whole.labels, **found.labels}
        for child in blocks:
            if child in self.family.loops:
                link = self.family.loops[child]
                compound = bool(self.family.nodes[child].inside)
                size = self._loop_label(child)
                routes[link], labels[link] = loop(rects[child], size, self.sideways[key], compound)
        for span in self.family.spans[key]:
            routes[span.link] = _joined(span, found.routes[span.link], pieces)
        return replace(
            whole,
            size=(found.thick, found.broad),
            rects={**rects, **whole.rects},
            routes=routes,
            labels=labels,
            crossings=whole.crossings + found.crossings,
            backward=whole.backward + len(self.siding.rankings[key].turned),
        )

    def _regions(self, node: DiagramNode) -> Block:
        blocks = {child.key: self._inner(node.key, child) for child in node.inside}
        labels = {
            span.link: self._turned(node.key, label_size(self.family.links[span.link].lines) or (0, 0))
            for span in self.family.spans[node.key]
        }
        return RegionStack(self._framing(node), blocks, self.family.spans[node.key], labels).solve()


def _joined(span: LinkSpan, middle: Polyline, pieces: Mapping[str, Mapping[int, Polyline]]) -> Polyline:
    """Return the piece of a link in a node together with the pieces inside its children."""
    before = pieces[span.start].get(span.link, ()) if span.start else ()
    after = pieces[span.end].get(span.link, ()) if span.end else ()
    return (*before, *middle, *after)


def _with_leads(ranking: Ranking, frame: Framing) -> Ranking:
    """Return a ranking with the layers of what keeps links away from titles."""
    layers = dict(ranking.layers)
    ends = {Side.BACK: min(layers.values()), Side.FRONT: max(layers.values())}
    leads = {item.key: ends[item.pin] for item in frame.leads() if item.pin}
    return Ranking({**layers, **leads}, ranking.turned)
