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
        frame: the frame around the regions.
        blocks: the regions.
        spans: links that pass through the state.
        label_sizes: sizes of the links' labels.

    Attributes:
        regions_r: lowest r of the regions.
        region_starts: lowest v of each region.
        breadth: size of all regions along v [px].
        depth: size of the longest region along r [px].
    """

    def __init__(
        self,
        frame: FrameSpec,
        blocks: Mapping[str, NodeBlock],
        spans: Sequence[LinkSpan],
        label_sizes: Mapping[int, GridPoint],
    ) -> None:
        self.frame = frame
        self.spans = spans
        self.label_sizes = label_sizes
        if frame.sideways:
            self.regions_r = 0
            next_v = max(frame.title_size[1], frame.link_breadth)
        else:
            self.regions_r = frame.title_size[0]
            next_v = 0
        self.region_starts: dict[str, int] = {}
        for key, block in blocks.items():
            self.region_starts[key] = next_v
            next_v += block.size[1]
        self.breadth = next_v
        self.depth = max(block.size[0] for block in blocks.values())
        self.blocks = {
            key: block.moved((self.regions_r, self.region_starts[key])) for key, block in blocks.items()
        }
        self.n_border_links: dict[tuple[str, PortSide], int] = {}

    def solve(self) -> NodeBlock:
        """Return the frame with the regions in it."""
        content = merge_blocks([*self.blocks.values()])
        lanes, thickness = self._front_lanes()
        front_routes = {
            span.link: self._front_route(span, lanes[span.link]) for span in self.spans if span.link in lanes
        }
        routes = {**content.routes, **front_routes}
        ports = {}
        front_ports = []
        for border_port in self.frame.border_ports:
            link = border_port.span.link
            route = self._route_inside(border_port.span, border_port.side)
            routes[link] = extend_to_border(route, border_port, thickness)
            ports[link] = border_end(routes[link], border_port)[1]
            if border_port.side is PortSide.FRONT:
                front_ports.append(ports[link])
        labels = dict(content.labels)
        for link, lane in lanes.items():
            labels[link] = (lane, self._label_v(link, lane, front_routes, front_ports))
        block = replace(content, routes=routes, labels=labels, ports=ports)
        return self._complete_block(block, thickness)

    def _front_lanes(self) -> tuple[dict[int, int], int]:
        """Return the r of each link between two regions, in front of them, and the thickness of the frame."""
        lanes: dict[int, int] = {}
        lane = self.regions_r + self.depth
        for span in self.spans:
            if span.start and span.end:
                label_thickness = self.label_sizes[span.link][0]
                lanes[span.link] = lane + OWN_STEP + label_thickness // 2
                lane += 2 * OWN_STEP + label_thickness
        return lanes, max(lane, self.frame.title_size[0] if self.frame.sideways else 0)

    def _label_v(
        self, link: int, lane: int, front_routes: Mapping[int, Polyline], front_ports: Sequence[int]
    ) -> int:
        """Return the best position of a link's label on its lane: away from lines that cross the lane."""
        ends = [v for r, v in front_routes[link] if r == lane]
        low = min(ends)
        high = max(ends)
        crossings = list(front_ports)
        for key, route in front_routes.items():
            if key != link:
                crossings += [v for r, v in route if r > lane]
        bounds = [low, *sorted(v for v in crossings if low < v < high), high]
        half_breadth = self.label_sizes[link][1] / 2
        middle = (low + high) / 2

        def gap_cost(gap: tuple[int, int]) -> tuple[float, float]:
            """Return how much the gap is too small for the label, then its distance from the middle."""
            centre = (gap[0] + gap[1]) / 2
            return max(half_breadth - (gap[1] - gap[0]) / 2, 0.0), abs(centre - middle)

        best_gap = min(pairwise(bounds), key=gap_cost)
        return (best_gap[0] + best_gap[1]) // 2

    def _complete_block(self, inside: NodeBlock, thickness: int) -> NodeBlock:
        """Return the block with the regions' rectangles, the dividing lines and the title added."""
        title_position = (SIDE_ROOM, TITLE_BASE)
        zones = self._free_zones(inside.ports)
        breadth = self.breadth
        if not self.frame.sideways:
            title_position = (TITLE_BASE, zones[PortSide.BACK][0] + SIDE_ROOM)
            breadth = max(breadth, *(high for _, high in zones.values()))
        keys = list(self.region_starts)
        ends = [*(self.region_starts[key] for key in keys[1:]), breadth]
        rects = {
            key: Rect(
                (self.regions_r, self.region_starts[key]),
                (thickness - self.regions_r, end - self.region_starts[key]),
            )
            for key, end in zip(keys, ends, strict=True)
        }
        dividers = [
            ((self.regions_r, self.region_starts[key]), (thickness, self.region_starts[key]))
            for key in keys[1:]
        ]
        lanes_r = self.regions_r + self.depth
        has_lanes = any(span.start and span.end for span in self.spans)
        if has_lanes and thickness > lanes_r:
            dividers.append(((lanes_r, self.region_starts[keys[0]]), (lanes_r, breadth)))
        return replace(
            inside,
            size=(thickness, breadth),
            rects={**rects, **inside.rects},
            title_positions={**inside.title_positions, self.frame.key: title_position},
            dividers=(*inside.dividers, *dividers),
            zones={
                border_port.side: zones[border_port.side]
                for border_port in self.frame.border_ports
                if not border_port.span.inner
            },
        )

    def _free_zones(self, ports: Mapping[int, int]) -> dict[PortSide, tuple[int, int]]:
        """Return the zones where links may meet the frame; the title is in the zone at the back."""
        if self.frame.sideways:
            title_end = next(iter(self.region_starts.values()))
            return {PortSide.BACK: (0, title_end), PortSide.FRONT: (0, title_end)}
        occupied = {
            side: [
                ports[border_port.span.link]
                for border_port in self.frame.border_ports
                if border_port.side is side
            ]
            for side in PortSide
        }
        back_breadth = max(self.frame.title_size[1], self.frame.link_breadth)
        return {
            PortSide.BACK: _first_free_stretch(occupied[PortSide.BACK], back_breadth),
            PortSide.FRONT: _first_free_stretch(occupied[PortSide.FRONT], self.frame.link_breadth),
        }

    def _route_inside(self, span: LinkSpan, side: PortSide) -> Polyline:
        """Return the part of a link inside a region, or the point of the region's border where it ends."""
        key = span.start or span.end or ""
        route = self.blocks[key].routes.get(span.link)
        if route:
            return route
        border_r = self.regions_r + (self.depth if side is PortSide.FRONT else 0)
        return ((border_r, self._next_border_v(key, side)),)

    def _next_border_v(self, key: str, side: PortSide) -> int:
        """Return the v of the next link that ends at a region's border, one step after the last."""
        low, _ = self.blocks[key].zones.get(side, (0, 0))
        n_links = self.n_border_links.get((key, side), 0) + 1
        self.n_border_links[key, side] = n_links
        return self.region_starts[key] + low + n_links * OWN_STEP

    def _front_route(self, span: LinkSpan, lane: int) -> Polyline:
        """Return the route from a region to another, in front of both."""
        first = self._route_inside(LinkSpan(span.link, span.start, end=None, inner=True), PortSide.FRONT)
        last = self._route_inside(LinkSpan(span.link, start=None, end=span.end, inner=True), PortSide.FRONT)
        return (*first, (lane, first[-1][1]), (lane, last[0][1]), *last)


def _first_free_stretch(occupied: Sequence[int], room: int) -> tuple[int, int]:
    """Return the first interval of length `room` that is free of the `occupied` positions."""
    low = 0
    for position in sorted(occupied):
        if position - TITLE_GAP - low >= room:
            break
        low = position + TITLE_GAP
    return low, low + room


LOOP_HEIGHT = 14
"""Distance of a loop's outer line from its node's border [px]."""

LOOP_HALF_WIDTH_ABOVE = 12
LOOP_HALF_WIDTH_RIGHT = 9
"""Half the width of a loop above a node, and of a loop to its right [px]."""

LOOP_CORNER_DISTANCE = 26
"""From the corner with the title to the middle of a loop [px]."""


def loop_room(label: GridPoint, exists: bool, sideways: bool) -> tuple[int, int, int]:
    """Return the room that a node's loop needs: before the node, after it, and along r [px]."""
    if not exists:
        return 0, 0, 0
    thickness, breadth = label
    if sideways:
        return LOOP_HEIGHT + 2 + breadth, 0, thickness
    return 0, LOOP_HEIGHT + 4 + breadth, thickness


def loop_route(
    rect: Rect, label: GridPoint, sideways: bool, has_children: bool
) -> tuple[Polyline, GridPoint]:
    """Return the route of a loop and the middle of its label.

    Args:
        rect: the rectangle of its node.
        label: size of the label.
        sideways: other arrows go to the right, so the loop is above the node; else it is to the right of it.
        has_children: the node has children and its title in the corner; no other link is there.
    """
    r, v = rect.corner
    thickness, breadth = rect.size
    fits = has_children and label[0] <= thickness
    if sideways:
        middle = r + (LOOP_CORNER_DISTANCE if has_children else thickness // 2)
        label_r = r + (label[0] if fits else thickness) // 2
        first = middle + LOOP_HALF_WIDTH_ABOVE
        last = middle - LOOP_HALF_WIDTH_ABOVE
        top = v - LOOP_HEIGHT
        route = (first, v), (first, top), (last, top), (last, v)
        return route, (label_r, top - 2 - label[1] // 2)
    middle = r + (max(LOOP_CORNER_DISTANCE, label[0] // 2) if fits else thickness // 2)
    first = middle - LOOP_HALF_WIDTH_RIGHT
    last = middle + LOOP_HALF_WIDTH_RIGHT
    edge = v + breadth
    outside = edge + LOOP_HEIGHT
    route = (first, edge), (first, outside), (last, outside), (last, edge)
    return route, (middle, outside + 4 + label[1] // 2)


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
            return NodeBlock(leaf_size(node, self.plan.parent_sideways[node.key]))
        cache_key = self._cache_key(node)
        if cache_key not in self.cache:
            block = self._layout_regions(node) if node.parallel else self._layout_children(node)
            self.cache[cache_key] = block if self.sideways[node.key] else block.transpose()
        return self.cache[cache_key]

    def _cache_key(self, node: DiagramNode) -> object:
        """Return a key of everything that a node's block depends on."""
        layouts = tuple(self.layouts[key] for key in self.hierarchy.compounds_within(node.key))
        sides = tuple(self.plan.border_ports(node.key))
        return node.key, layouts, self.plan.parent_sideways[node.key], sides, self.plan.end_counts(node.key)

    def _oriented_size(self, key: str, size: GridPoint) -> GridPoint:
        """Return width and height as thickness and breadth along the axes of a node."""
        return size if self.sideways[key] else size[::-1]

    def _oriented_block(self, key: str, child: DiagramNode) -> NodeBlock:
        """Return a child's block along the axes of its parent `key`."""
        block = self._layout_node(child)
        return block if self.sideways[key] else block.transpose()

    def _frame_spec(self, node: DiagramNode) -> FrameSpec:
        """Return the properties of the frame around a node's content."""
        n_back_links, n_front_links = self.plan.end_counts(node.key)
        title_size = head_size(node) if node.key != self.hierarchy.root else (0, FRAME_TOP)
        return FrameSpec(
            key=node.key,
            sideways=self.sideways[node.key],
            is_turned=self.sideways[node.key] != self.plan.parent_sideways[node.key],
            title_size=self._oriented_size(node.key, title_size),
            n_back_links=n_back_links,
            n_front_links=n_front_links,
            border_ports=self.plan.border_ports(node.key),
        )

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
        sizes = {item.key: (item.thickness, item.breadth) for item in items}
        inside = self._fill_arrangement(node.key, arrangement, blocks, sizes)
        return inside if node.key == self.hierarchy.root else add_frame(frame, inside)

    def _layout_item(self, node: DiagramNode, block: NodeBlock, sideways: bool) -> LayoutItem:
        """Return a child as an item: its size, and room for its loop or the title of a sign."""
        thickness, breadth = block.size
        before, after, min_thickness = loop_room(
            self._loop_label(node.key), node.key in self.hierarchy.loops, sideways
        )
        is_state = node.shape is NodeShape.STATE
        if is_state and not node.inside:
            breadth = max(breadth, max(self.plan.end_counts(node.key)) * STATE_PORTS + ROW)
        if node.title and node.shape in ROUND_SHAPES:
            title_width = text_width(node.title)
            if sideways:  # the title is below the sign
                after = ROW
                min_thickness = title_width
            else:  # the title is to the right of the sign
                after = title_width + SIGN_TITLE_ROOM
                min_thickness = 0
        return LayoutItem(
            node.key,
            thickness,
            breadth,
            before,
            after,
            ports=block.ports,
            zones=block.zones,
            is_point=node.shape is NodeShape.INITIAL,
            gap=STATE_GAP if is_state else SIGN_GAP,
            port_gap=STATE_PORTS if is_state else SIGN_PORTS,
            port_edge=STATE_EDGE if is_state else SIGN_EDGE,
            min_thickness=min_thickness,
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
                has_children = bool(self.hierarchy.nodes[child].inside)
                label = self._loop_label(child)
                routes[link], labels[link] = loop_route(
                    rects[child], label, sideways=self.sideways[key], has_children=has_children
                )
        for span in self.hierarchy.spans[key]:
            routes[span.link] = _join_route(span, arrangement.routes[span.link], pieces)
        return replace(
            content,
            size=(arrangement.thickness, arrangement.breadth),
            rects={**rects, **content.rects},
            routes=routes,
            labels=labels,
            crossings=content.crossings + arrangement.crossings,
            backward=content.backward + len(self.plan.rankings[key].back_wires),
        )

    def _layout_regions(self, node: DiagramNode) -> NodeBlock:
        """Return the block of a parallel state, with its regions stacked in it."""
        blocks = {child.key: self._oriented_block(node.key, child) for child in node.inside}
        labels = {
            span.link: self._oriented_size(
                node.key, label_size(self.hierarchy.links[span.link].lines) or (0, 0)
            )
            for span in self.hierarchy.spans[node.key]
        }
        return RegionStack(
            self._frame_spec(node), blocks, spans=self.hierarchy.spans[node.key], label_sizes=labels
        ).solve()


def _join_route(span: LinkSpan, middle: Polyline, pieces: Mapping[str, Mapping[int, Polyline]]) -> Polyline:
    """Return the part of a link in a node together with the parts inside its children."""
    before = pieces[span.start].get(span.link, ()) if span.start else ()
    after = pieces[span.end].get(span.link, ()) if span.end else ()
    return (*before, *middle, *after)


def _add_lead_layers(ranking: Ranking, frame: FrameSpec) -> Ranking:
    """Return a ranking with the layers of the frame's placeholder items added."""
    layers = dict(ranking.layers)
    end_layers = {PortSide.BACK: min(layers.values()), PortSide.FRONT: max(layers.values())}
    for item in frame.lead_items():
        if item.pin:
            layers[item.key] = end_layers[item.pin]
    return Ranking(layers, ranking.back_wires)
