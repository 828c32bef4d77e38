"""Nodes inside nodes put in their places: each is laid out with its children as boxes of known size.

First, from the outside in, every child gets its layer, so that it is known on which side a link leaves a
box (`siding`). Then, from the inside out, children get their places and boxes their sizes. A link that
crosses borders is laid out in pieces that meet at the borders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from posewright.charts.drawing.diagram import Node, Shape
from posewright.charts.drawing.layered.arranging import arrange
from posewright.charts.drawing.layered.graph import Arrangement, Item, Pin, Ranking, Side
from posewright.charts.drawing.nested.blocks import Block, Point, Rect, Route, merged
from posewright.charts.drawing.nested.family import Family, Span
from posewright.charts.drawing.nested.framing import Framing, Ported
from posewright.charts.drawing.nested.loops import loop, loop_room
from posewright.charts.drawing.nested.metrics import CIRCLE, ROW, head_size, label_size, leaf_size, text_width
from posewright.charts.drawing.nested.regions import stack
from posewright.charts.drawing.nested.siding import PINS, Siding, Ways, port

STATE_GAP, SIGN_GAP, PORT_GAP = 22, 14, 12
"""Room beside states, signs, and links that cross a border [px]."""

STATE_PORTS, SIGN_PORTS, STATE_EDGE, SIGN_EDGE = 14, 6, 9, 3
"""Room between links where they meet a state or a sign, and between them and its corners [px]."""

FRAME_TOP = 4
"""Height above regions of a chart that consists of them: its name is on the page [px]."""

Cache = dict[object, Block]
"""Blocks by all that they depend on: of a diagram laid out in many ways, most boxes come out the same."""


class Packing:
    """Lays out one diagram, with arrows that go to the right in some nodes and down in others."""

    def __init__(self, family: Family, ways: Ways, cache: Cache) -> None:
        self.family, self.ways, self.cache = family, ways, cache
        self.siding = Siding(family, ways)
        self.sideways = self.siding.sideways

    def solve(self) -> Block:
        """Return the root with all inside it in their places, as x and y."""
        return self._block(self.family.nodes[self.family.root])

    def _block(self, node: Node) -> Block:
        """Return a node and what is inside it, as x and y."""
        if not node.inside:
            return Block(leaf_size(node, self.siding.axis[node.key]))
        wanted = self._wanted(node)
        if wanted not in self.cache:
            block = self._regions(node) if node.parallel else self._framed(node)
            self.cache[wanted] = block if self.sideways[node.key] else block.turned()
        return self.cache[wanted]

    def _wanted(self, node: Node) -> object:
        """Return all that a node's block depends on."""
        ways = tuple(self.ways[key] for key in self.family.below(node.key))
        sides = tuple(self._ported(node.key))
        return node.key, ways, self.siding.axis[node.key], sides, self.siding.own(node.key)

    def _turned(self, key: str, size: Point) -> Point:
        """Return width and height as the thickness and breadth they are inside a node."""
        return size if self.sideways[key] else size[::-1]

    def _inner(self, key: str, child: Node) -> Block:
        """Return a child's block in the ways of the node that it is in."""
        block = self._block(child)
        return block if self.sideways[key] else block.turned()

    def _ported(self, key: str) -> list[Ported]:
        return [
            Ported(span, side, None if span.inner else self.siding.sides[key, span.link])
            for span, side in self.siding.ports(key)
        ]

    def _framing(self, node: Node) -> Framing:
        own = self.siding.own(node.key)
        turned = self.sideways[node.key] != self.siding.axis[node.key]
        size = head_size(node) if node.key != self.family.root else (0, FRAME_TOP)
        head = self._turned(node.key, size)
        ported = self._ported(node.key)
        return Framing(node.key, self.sideways[node.key], turned, head, own.back, own.front, ported)

    def _framed(self, node: Node) -> Block:
        """Lay out children, and put a frame with a title around them."""
        blocks = {child.key: self._inner(node.key, child) for child in node.inside}
        items = [self._item(child, blocks[child.key], self.sideways[node.key]) for child in node.inside]
        items += [
            Item(port(span.link), pin=PINS[side], gap=PORT_GAP) for span, side in self.siding.ports(node.key)
        ]
        frame = self._framing(node)
        ranking = _with_leads(self.siding.rankings[node.key], frame)
        found = arrange([*items, *frame.leads()], self.siding.wires[node.key], ranking)
        sizes = {item.key: (item.thick, item.broad) for item in items}
        inside = self._filled(node.key, found, blocks, sizes)
        return inside if node.key == self.family.root else frame.around(inside)

    def _item(self, node: Node, block: Block, sideways: bool) -> Item:
        """Return a child as what is arranged: its size, and room for what is drawn beside it."""
        (thick, broad), own = block.size, self.siding.own(node.key)
        before, after, reach = loop_room(self._loop_label(node.key), node.key in self.family.loops, sideways)
        is_state = node.shape is Shape.STATE
        if is_state and not node.inside:
            broad = max(broad, own.most * STATE_PORTS + ROW)
        if node.title and node.shape in {Shape.JUNCTION, Shape.HISTORY, Shape.DEEP_HISTORY}:
            name = text_width(node.title)
            after, reach = (ROW, name) if sideways else (name + 10, 0)
        zones = dict(block.zones)
        if node.shape is Shape.FINAL and not sideways:
            zones = dict.fromkeys(Side, ((broad - CIRCLE) // 2, (broad + CIRCLE) // 2))
        return Item(
            node.key,
            thick,
            broad,
            before,
            after,
            ports=block.ports,
            zones=zones,
            point=node.shape is Shape.INITIAL,
            gap=STATE_GAP if is_state else SIGN_GAP,
            port_gap=STATE_PORTS if is_state else SIGN_PORTS,
            port_edge=STATE_EDGE if is_state else SIGN_EDGE,
            reach=reach,
        )

    def _loop_label(self, key: str) -> Point:
        """Return thickness and breadth of what is written on a node's loop."""
        link = self.family.loops.get(key)
        size = label_size(self.family.links[link].lines) if link is not None else None
        return self._turned(self.family.parent[key], size) if size else (0, 0)

    def _filled(
        self, key: str, found: Arrangement, blocks: Mapping[str, Block], sizes: Mapping[str, Point]
    ) -> Block:
        """Return an arrangement with what is inside its items."""
        whole = merged([block.moved(found.places[child]) for child, block in blocks.items()])
        pieces = {child: block.moved(found.places[child]).routes for child, block in blocks.items()}
        rects = {child: Rect(found.places[child], sizes[child]) for child in blocks}
        routes, labels = dict(whole.routes), {**whole.labels, **found.labels}
        for child in blocks:
            if child in self.family.loops:
                link, compound = self.family.loops[child], bool(self.family.nodes[child].inside)
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

    def _regions(self, node: Node) -> Block:
        blocks = {child.key: self._inner(node.key, child) for child in node.inside}
        labels = {
            span.link: self._turned(node.key, label_size(self.family.links[span.link].lines) or (0, 0))
            for span in self.family.spans[node.key]
        }
        return stack(self._framing(node), blocks, self.family.spans[node.key], labels)


def _joined(span: Span, middle: Route, pieces: Mapping[str, Mapping[int, Route]]) -> Route:
    """Return the piece of a link in a node together with the pieces inside its children."""
    before = pieces[span.start].get(span.link, ()) if span.start else ()
    after = pieces[span.end].get(span.link, ()) if span.end else ()
    return (*before, *middle, *after)


def _with_leads(ranking: Ranking, frame: Framing) -> Ranking:
    """Return a ranking with the layers of what keeps links away from titles."""
    layers = dict(ranking.layers)
    ends = {Pin.FIRST: min(layers.values()), Pin.LAST: max(layers.values())}
    leads = {item.key: ends[item.pin] for item in frame.leads() if item.pin}
    return Ranking({**layers, **leads}, ranking.turned)
