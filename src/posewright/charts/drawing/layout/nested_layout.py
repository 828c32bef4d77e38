"""Layout of nested nodes: each node is laid out with its children as boxes of known size.

First, from the outside in, every child gets its layer, which gives the side on which each link leaves a box
(`edge_sides`). Then, from the inside out, children get their positions and boxes their sizes. A link that
crosses borders is laid out in pieces that meet at the borders. Regions are stacked across the direction of
the arrows, divided by lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from posewright.charts.drawing.diagram import ROUND_SHAPES, DiagramNode, NodeShape
from posewright.charts.drawing.layout.arranging import arrange_items
from posewright.charts.drawing.layout.edge_sides import (
    LayerPlan,
    LinkSpan,
    NodeHierarchy,
    NodeLayouts,
    port_key,
)
from posewright.charts.drawing.layout.ranking import Arrangement, LayoutItem, PortSide, Ranking
from posewright.charts.drawing.layout.state_frame import (
    OWN_STEP,
    FrameSpec,
    GridPoint,
    NodeBlock,
    Polyline,
    Rect,
    add_frame,
    border_end,
    extend_to_border,
    merge_blocks,
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

TITLE_GAP = 8
"""Room between a link and a title beside it [px]."""


class RegionStack:
    """Lays out the regions of a parallel state.

    Args:
        frame: around the regions.
        blocks: the regions.
        spans: links that pass through the state.
        labels: sizes of the links' labels.
    """

    def __init__(
        self,
        frame: FrameSpec,
        blocks: Mapping[str, NodeBlock],
        spans: Sequence[LinkSpan],
        labels: Mapping[int, GridPoint],
    ) -> None:
        self.frame = frame
        self.spans = spans
        self.labels = labels
        head = frame.head
        self.r, v = (0, max(head[1], frame.link_breadth)) if frame.sideways else (head[0], 0)
        self.starts: dict[str, int] = {}
        for key, block in blocks.items():
            self.starts[key] = v
            v += block.size[1]
        self.broad = v
        self.deep = max(block.size[0] for block in blocks.values())
        self.blocks = {key: block.moved((self.r, self.starts[key])) for key, block in blocks.items()}
        self.meeting_counts: dict[tuple[str, PortSide], int] = {}

    def solve(self) -> NodeBlock:
        """Return the frame with the regions in it."""
        content = merge_blocks([*self.blocks.values()])
        lanes, thick = self._front_lanes()
        fronts = {
            span.link: self._front_route(span, lanes[span.link]) for span in self.spans if span.link in lanes
        }
        routes = {**content.routes, **fronts}
        ports = {}
        for border_port in self.frame.ported:
            link = border_port.span.link
            routes[link] = extend_to_border(
                self._piece_of(border_port.span, border_port.side), border_port, thick
            )
            ports[link] = border_end(routes[link], border_port)[1]
        passing = [
            ports[border_port.span.link]
            for border_port in self.frame.ported
            if border_port.side is PortSide.FRONT
        ]
        labels = {
            link: (lane, self._label_place(link, lane, fronts, passing)) for link, lane in lanes.items()
        }
        return self._complete_block(
            replace(content, routes=routes, labels={**content.labels, **labels}, ports=ports), thick
        )

    def _front_lanes(self) -> tuple[dict[int, int], int]:
        """Return the lanes, in front of the regions, of links between two of them, and the r at their end."""
        lanes: dict[int, int] = {}
        lane = self.r + self.deep
        for span in self.spans:
            if span.start and span.end:
                size = self.labels[span.link][0]
                lanes[span.link] = lane + OWN_STEP + size // 2
                lane += 2 * OWN_STEP + size
        return lanes, max(lane, self.frame.head[0] if self.frame.sideways else 0)

    def _label_place(
        self, link: int, lane: int, fronts: Mapping[int, Polyline], passing: Sequence[int]
    ) -> int:
        """Return the best position of a link's label on its lane: away from other lines."""
        ends = [v for r, v in fronts[link] if r == lane]
        low = min(ends)
        high = max(ends)
        other_lines = [v for key, route in fronts.items() if key != link for r, v in route if r > lane]
        places = [low, *sorted(v for v in (*other_lines, *passing) if low < v < high), high]
        half = self.labels[link][1] / 2
        middle = (low + high) / 2

        def badness(gap: tuple[int, int]) -> tuple[float, float]:
            centre = (gap[0] + gap[1]) / 2
            return max(half - (gap[1] - gap[0]) / 2, 0.0), abs(centre - middle)

        best = min(pairwise(places), key=badness)
        return (best[0] + best[1]) // 2

    def _complete_block(self, inside: NodeBlock, thick: int) -> NodeBlock:
        head = (SIDE_ROOM, TITLE_BASE)
        zones = self._free_zones(inside.ports)
        broad = self.broad
        if not self.frame.sideways:
            head = TITLE_BASE, zones[PortSide.BACK][0] + SIDE_ROOM
            broad = max(broad, *(high for _, high in zones.values()))
        keys = list(self.starts)
        ends = [*(self.starts[key] for key in keys[1:]), broad]
        rects = {
            key: Rect((self.r, self.starts[key]), (thick - self.r, end - self.starts[key]))
            for key, end in zip(keys, ends, strict=True)
        }
        dividers = [((self.r, self.starts[key]), (thick, self.starts[key])) for key in keys[1:]]
        lanes_r = self.r + self.deep
        has_lanes = any(span.start and span.end for span in self.spans)
        if has_lanes and thick > lanes_r:
            dividers.append(((lanes_r, self.starts[keys[0]]), (lanes_r, broad)))
        return replace(
            inside,
            size=(thick, broad),
            rects={**rects, **inside.rects},
            heads={**inside.heads, self.frame.key: head},
            dividers=(*inside.dividers, *dividers),
            zones={
                border_port.side: zones[border_port.side]
                for border_port in self.frame.ported
                if not border_port.span.inner
            },
        )

    def _free_zones(self, ports: Mapping[int, int]) -> dict[PortSide, tuple[int, int]]:
        """Return the zones where links may meet the frame, and, on the back, where the title is."""
        if self.frame.sideways:
            title = next(iter(self.starts.values()))
            return {PortSide.BACK: (0, title), PortSide.FRONT: (0, title)}
        occupied = {
            side: [
                ports[border_port.span.link] for border_port in self.frame.ported if border_port.side is side
            ]
            for side in PortSide
        }
        first = max(self.frame.head[1], self.frame.link_breadth)
        return {
            PortSide.BACK: _first_free_stretch(occupied[PortSide.BACK], first),
            PortSide.FRONT: _first_free_stretch(occupied[PortSide.FRONT], self.frame.link_breadth),
        }

    def _piece_of(self, span: LinkSpan, side: PortSide) -> Polyline:
        """Return the part of a link inside a region, or the point of the region's border where it ends."""
        key = span.start or span.end or ""
        route = self.blocks[key].routes.get(span.link)
        return route or (
            (self.r + (self.deep if side is PortSide.FRONT else 0), self._next_meeting_v(key, side)),
        )

    def _next_meeting_v(self, key: str, side: PortSide) -> int:
        """Return the v where the next link that ends at a region's border meets it."""
        low, _ = self.blocks[key].zones.get(side, (0, 0))
        count = self.meeting_counts[key, side] = self.meeting_counts.get((key, side), 0) + 1
        return self.starts[key] + low + count * OWN_STEP

    def _front_route(self, span: LinkSpan, lane: int) -> Polyline:
        """Return the route from a region to another, in front of both."""
        ends = LinkSpan(span.link, span.start, None, True), LinkSpan(span.link, None, span.end, True)
        first, last = (self._piece_of(end, PortSide.FRONT) for end in ends)
        return (*first, (lane, first[-1][1]), (lane, last[0][1]), *last)


def _first_free_stretch(occupied: Sequence[int], room: int) -> tuple[int, int]:
    """Return the first interval of length `room` that is free of the `occupied` positions."""
    low = 0
    for position in sorted(occupied):
        if position - TITLE_GAP - low >= room:
            break
        low = position + TITLE_GAP
    return low, low + room


REACH = 14
"""Height of a loop over its node's border [px]."""

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


def loop_route(rect: Rect, label: GridPoint, sideways: bool, compound: bool) -> tuple[Polyline, GridPoint]:
    """Return the route of a loop and the middle of its label.

    Args:
        rect: of its node.
        label: size of the label.
        sideways: other arrows go to the right, so the loop is above the node; else it is to the right of it.
        compound: the node has children, and its title in the corner; no other link is there.
    """
    r, v = rect.corner
    thick, broad = rect.size
    fits = compound and label[0] <= thick
    if sideways:
        middle = r + (CORNER if compound else thick // 2)
        label_r = r + (label[0] if fits else thick) // 2
        ends = middle + HALF_ALONG, middle - HALF_ALONG
        route = (ends[0], v), (ends[0], v - REACH), (ends[1], v - REACH), (ends[1], v)
        return route, (label_r, v - REACH - 2 - label[1] // 2)
    middle = r + (max(CORNER, label[0] // 2) if fits else thick // 2)
    ends = (middle - HALF_ACROSS, middle + HALF_ACROSS)
    edge = v + broad
    route = (ends[0], edge), (ends[0], edge + REACH), (ends[1], edge + REACH), (ends[1], edge)
    return route, (middle, edge + REACH + 4 + label[1] // 2)


STATE_GAP = 22
SIGN_GAP = 14
PORT_GAP = 12
"""Room beside states, signs, and links that cross a border [px]."""

SIGN_TITLE_ROOM = 10
"""Room between a sign's title and its neighbour [px]."""

STATE_PORTS = 14
SIGN_PORTS = 6
STATE_EDGE = 9
SIGN_EDGE = 3
"""Room between links where they meet a state or a sign, and between them and its corners [px]."""

FRAME_TOP = 4
"""Room above the regions of a parallel chart, whose name is on the page [px]."""

BlockCache = dict[object, NodeBlock]
"""Blocks by all that they depend on: most are equal in many layouts of a diagram."""


class NestedLayout:
    """Lays out a diagram with given options for each node."""

    def __init__(self, hierarchy: NodeHierarchy, layouts: NodeLayouts, cache: BlockCache) -> None:
        self.hierarchy = hierarchy
        self.layouts = layouts
        self.cache = cache
        self.plan = LayerPlan(hierarchy, layouts)
        self.sideways = self.plan.sideways

    def solve(self) -> NodeBlock:
        """Return the laid-out root, in x and y."""
        return self._layout_node(self.hierarchy.nodes[self.hierarchy.root])

    def _layout_node(self, node: DiagramNode) -> NodeBlock:
        """Return a laid-out node, in x and y, from the cache if possible."""
        if not node.inside:
            return NodeBlock(leaf_size(node, self.plan.axis[node.key]))
        cache_key = self._cache_key(node)
        if cache_key not in self.cache:
            block = self._layout_regions(node) if node.parallel else self._layout_children(node)
            self.cache[cache_key] = block if self.sideways[node.key] else block.transpose()
        return self.cache[cache_key]

    def _cache_key(self, node: DiagramNode) -> object:
        """Return a key of everything that a node's block depends on."""
        layouts = tuple(self.layouts[key] for key in self.hierarchy.compounds_within(node.key))
        sides = tuple(self.plan.border_ports(node.key))
        return node.key, layouts, self.plan.axis[node.key], sides, self.plan.end_counts(node.key)

    def _oriented_size(self, key: str, size: GridPoint) -> GridPoint:
        """Return width and height as thickness and breadth along the axes of a node."""
        return size if self.sideways[key] else size[::-1]

    def _oriented_block(self, key: str, child: DiagramNode) -> NodeBlock:
        """Return a child's block along the axes of its parent `key`."""
        block = self._layout_node(child)
        return block if self.sideways[key] else block.transpose()

    def _frame_spec(self, node: DiagramNode) -> FrameSpec:
        back, front = self.plan.end_counts(node.key)
        turned = self.sideways[node.key] != self.plan.axis[node.key]
        size = head_size(node) if node.key != self.hierarchy.root else (0, FRAME_TOP)
        head = self._oriented_size(node.key, size)
        ported = self.plan.border_ports(node.key)
        return FrameSpec(node.key, self.sideways[node.key], turned, head, back, front, ported)

    def _layout_children(self, node: DiagramNode) -> NodeBlock:
        """Lay out children, and put a frame with a title around them."""
        blocks = {child.key: self._oriented_block(node.key, child) for child in node.inside}
        items = [
            self._layout_item(child, blocks[child.key], self.sideways[node.key]) for child in node.inside
        ]
        items += [
            LayoutItem(port_key(border_port.span.link), pin=border_port.side, gap=PORT_GAP)
            for border_port in self.plan.border_ports(node.key)
        ]
        frame = self._frame_spec(node)
        ranking = _add_lead_layers(self.plan.rankings[node.key], frame)
        arrangement = arrange_items([*items, *frame.lead_items()], self.plan.wires[node.key], ranking)
        sizes = {item.key: (item.thick, item.broad) for item in items}
        inside = self._fill_arrangement(node.key, arrangement, blocks, sizes)
        return inside if node.key == self.hierarchy.root else add_frame(frame, inside)

    def _layout_item(self, node: DiagramNode, block: NodeBlock, sideways: bool) -> LayoutItem:
        """Return a child as an item: its size, and room for its loop or the title of a sign."""
        thick, broad = block.size
        before, after, reach = loop_room(
            self._loop_label(node.key), node.key in self.hierarchy.loops, sideways
        )
        is_state = node.shape is NodeShape.STATE
        if is_state and not node.inside:
            broad = max(broad, max(self.plan.end_counts(node.key)) * STATE_PORTS + ROW)
        if node.title and node.shape in ROUND_SHAPES:
            title_width = text_width(node.title)
            if sideways:  # the title is below the sign
                after = ROW
                reach = title_width
            else:  # the title is to the right of the sign
                after = title_width + SIGN_TITLE_ROOM
                reach = 0
        return LayoutItem(
            node.key,
            thick,
            broad,
            before,
            after,
            ports=block.ports,
            zones=block.zones,
            point=node.shape is NodeShape.INITIAL,
            gap=STATE_GAP if is_state else SIGN_GAP,
            port_gap=STATE_PORTS if is_state else SIGN_PORTS,
            port_edge=STATE_EDGE if is_state else SIGN_EDGE,
            reach=reach,
        )

    def _loop_label(self, key: str) -> GridPoint:
        """Return thickness and breadth of the label of a node's loop."""
        link = self.hierarchy.loops.get(key)
        size = label_size(self.hierarchy.links[link].lines) if link is not None else None
        return self._oriented_size(self.hierarchy.parent[key], size) if size else (0, 0)

    def _fill_arrangement(
        self,
        key: str,
        arrangement: Arrangement,
        blocks: Mapping[str, NodeBlock],
        sizes: Mapping[str, GridPoint],
    ) -> NodeBlock:
        """Return a block of an arrangement with the content of its items."""
        content = merge_blocks([block.moved(arrangement.places[child]) for child, block in blocks.items()])
        pieces = {child: block.moved(arrangement.places[child]).routes for child, block in blocks.items()}
        rects = {child: Rect(arrangement.places[child], sizes[child]) for child in blocks}
        routes = dict(content.routes)
        labels = {**content.labels, **arrangement.labels}
        for child in blocks:
            if child in self.hierarchy.loops:
                link = self.hierarchy.loops[child]
                compound = bool(self.hierarchy.nodes[child].inside)
                size = self._loop_label(child)
                routes[link], labels[link] = loop_route(rects[child], size, self.sideways[key], compound)
        for span in self.hierarchy.spans[key]:
            routes[span.link] = _join_route(span, arrangement.routes[span.link], pieces)
        return replace(
            content,
            size=(arrangement.thick, arrangement.broad),
            rects={**rects, **content.rects},
            routes=routes,
            labels=labels,
            crossings=content.crossings + arrangement.crossings,
            backward=content.backward + len(self.plan.rankings[key].back_wires),
        )

    def _layout_regions(self, node: DiagramNode) -> NodeBlock:
        blocks = {child.key: self._oriented_block(node.key, child) for child in node.inside}
        labels = {
            span.link: self._oriented_size(
                node.key, label_size(self.hierarchy.links[span.link].lines) or (0, 0)
            )
            for span in self.hierarchy.spans[node.key]
        }
        return RegionStack(self._frame_spec(node), blocks, self.hierarchy.spans[node.key], labels).solve()


def _join_route(span: LinkSpan, middle: Polyline, pieces: Mapping[str, Mapping[int, Polyline]]) -> Polyline:
    """Return the part of a link in a node together with the parts inside its children."""
    before = pieces[span.start].get(span.link, ()) if span.start else ()
    after = pieces[span.end].get(span.link, ()) if span.end else ()
    return (*before, *middle, *after)


def _add_lead_layers(ranking: Ranking, frame: FrameSpec) -> Ranking:
    """Return a ranking with the layers of the frame's placeholder items added."""
    layers = dict(ranking.layers)
    ends = {PortSide.BACK: min(layers.values()), PortSide.FRONT: max(layers.values())}
    leads = {item.key: ends[item.pin] for item in frame.lead_items() if item.pin}
    return Ranking({**layers, **leads}, ranking.back_wires)
