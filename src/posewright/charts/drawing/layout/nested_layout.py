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
from typing import NamedTuple

from posewright.charts.drawing.diagram import ROUND_SHAPES, DiagramNode, NodeShape
from posewright.charts.drawing.layout.arranging import arrange_items
from posewright.charts.drawing.layout.edge_sides import (
    LayerPlan,
    LinkSpan,
    NodeHierarchy,
    NodeLayouts,
    port_item_key,
)
from posewright.charts.drawing.layout.ranking import Arrangement, LayoutItem, PortSide, Ranking
from posewright.charts.drawing.layout.state_frame import (
    BORDER_LINK_STEP,
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
    ROW_HEIGHT,
    SIDE_PADDING,
    TITLE_BASELINE,
    head_size,
    label_size,
    leaf_size,
    text_width,
)

TITLE_GAP = 8
"""Room between a link and a title beside it [px]."""


class RegionStack:
    """Lays out the regions of a parallel state: stacked along v, with links between them at higher r.

    Args:
        frame: the frame around the regions.
        blocks: the laid-out regions by key, along the axes of the state.
        spans: links that pass through the state.
        label_sizes: thickness and breadth of the links' labels.

    Attributes:
        lowest_region_r: lowest r of the regions.
        region_start_v: lowest v of each region.
        regions_breadth: size of all regions along v [px].
        regions_thickness: size of the longest region along r [px].
        region_blocks: the regions, moved to their places.
        n_border_links: number of links placed so far that end at a region's own border, by region and side.
    """

    def __init__(
        self,
        frame: FrameSpec,
        blocks: Mapping[str, NodeBlock],
        spans: Sequence[LinkSpan],
        label_sizes: Mapping[int, GridPoint],
    ) -> None:
        """Place the regions one after the other along v, across the arrows.

        r is the axis in the direction of the arrows; a thickness is a size along r, a breadth one along v.
        """
        self.frame = frame
        self.spans = spans
        self.label_sizes = label_sizes
        title_thickness, title_breadth = frame.title_size
        if (
            frame.arrows_go_right
        ):  # the title is before the first region along v, else before all regions along r
            self.lowest_region_r = 0
            next_v = max(title_breadth, frame.link_breadth)
        else:
            self.lowest_region_r = title_thickness
            next_v = 0
        self.region_start_v: dict[str, int] = {}
        self.regions_thickness = 0
        for node_key, block in blocks.items():
            thickness, breadth = block.size
            self.region_start_v[node_key] = next_v
            next_v += breadth
            self.regions_thickness = max(self.regions_thickness, thickness)
        self.regions_breadth = next_v
        self.region_blocks = {
            node_key: block.moved((self.lowest_region_r, self.region_start_v[node_key]))
            for node_key, block in blocks.items()
        }
        self.n_border_links: dict[tuple[str, PortSide], int] = {}

    def solve(self) -> NodeBlock:
        """Return the frame with the regions in it, and with the routes and labels of all links.

        Links between regions run along lanes in front of the regions: on the side that arrows lead to. Links
        that end at the frame, or cross it, are extended to its border; the point where they meet it is their
        port. Positions are (r, v): in the direction of the arrows, and across it.
        """
        content = merge_blocks([*self.region_blocks.values()])
        lane_r, thickness = self._choose_lanes()
        front_routes = {
            span.link_index: self._front_route(span, lane_r[span.link_index])
            for span in self.spans
            if span.link_index in lane_r
        }
        routes = {**content.routes, **front_routes}
        port_v = {}
        front_port_v = []
        for border_port in self.frame.border_ports:
            link_index = border_port.span.link_index
            route = self._route_inside(border_port.span, border_port.side)
            routes[link_index] = extend_to_border(route, border_port, thickness)
            _, port_v[link_index] = border_end(routes[link_index], border_port)
            if border_port.side is PortSide.FRONT:
                front_port_v.append(port_v[link_index])
        label_positions = dict(content.label_positions)
        for link_index, r in lane_r.items():
            label_positions[link_index] = (r, self._choose_label_v(link_index, r, front_routes, front_port_v))
        block = replace(content, routes=routes, label_positions=label_positions, port_positions=port_v)
        return self._complete_block(block, thickness)

    def _choose_lanes(self) -> tuple[dict[int, int], int]:
        """Return the r of the lane of each link between two regions, and the thickness of the frame.

        r is the axis in the direction of the arrows. Each such link has a lane of its own in front of the
        regions: a line across the arrows, with room for its label.
        """
        lane_r: dict[int, int] = {}
        end_r = self.lowest_region_r + self.regions_thickness
        for span in self.spans:
            is_between_regions = span.start_child is not None and span.end_child is not None
            if is_between_regions:
                label_thickness, _ = self.label_sizes[span.link_index]
                lane_r[span.link_index] = end_r + BORDER_LINK_STEP + label_thickness // 2
                end_r += 2 * BORDER_LINK_STEP + label_thickness
        title_thickness, _ = self.frame.title_size
        # if arrows go right, the title is beside the regions, and may be longer than they are
        return lane_r, max(end_r, title_thickness if self.frame.arrows_go_right else 0)

    def _choose_label_v(
        self, link_index: int, lane_r: int, front_routes: Mapping[int, Polyline], front_port_v: Sequence[int]
    ) -> int:
        """Return the v of a link's label on its lane: in the best gap between lines that cross the lane.

        v is the position along the lane. The best gap is the one in which the label fits best, then the one
        nearest to the middle of the lane.

        Args:
            link_index: index of the link in the diagram.
            lane_r: the r of its lane.
            front_routes: the routes of all links between regions.
            front_port_v: the v of the links that cross all lanes on their way to the frame.
        """
        lane_ends = [v for r, v in front_routes[link_index] if r == lane_r]
        low = min(lane_ends)
        high = max(lane_ends)
        crossing_v = list(front_port_v)
        for other_link, route in front_routes.items():
            if other_link != link_index:
                crossing_v += [v for r, v in route if r > lane_r]
        gap_bounds = [low, *sorted(v for v in crossing_v if low < v < high), high]
        _, label_breadth = self.label_sizes[link_index]
        lane_middle = (low + high) / 2

        def gap_cost(gap: tuple[int, int]) -> tuple[float, float]:
            """Return how much the gap is too small for the label, then its distance from the middle."""
            gap_low, gap_high = gap
            shortage = max(label_breadth / 2 - (gap_high - gap_low) / 2, 0.0)
            return shortage, abs((gap_low + gap_high) / 2 - lane_middle)

        best_low, best_high = min(pairwise(gap_bounds), key=gap_cost)
        return (best_low + best_high) // 2

    def _complete_block(self, inside: NodeBlock, thickness: int) -> NodeBlock:
        """Return the block with the regions' rectangles, the dividing lines and the title added.

        Args:
            inside: the content of the regions, the routes and the ports.
            thickness: size of the frame along r [px].
        """
        title_position = (SIDE_PADDING, TITLE_BASELINE)
        zones = self._find_free_zones(inside.port_positions)  # where links from outside may meet the frame
        breadth = self.regions_breadth
        if not self.frame.arrows_go_right:
            back_zone_low, _ = zones[PortSide.BACK]
            title_position = (TITLE_BASELINE, back_zone_low + SIDE_PADDING)
            breadth = max(breadth, *(zone_high for _, zone_high in zones.values()))
        keys = list(self.region_start_v)
        starts = list(self.region_start_v.values())
        ends = [*starts[1:], breadth]  # each region ends where the next begins
        rects = {
            node_key: Rect((self.lowest_region_r, start), (thickness - self.lowest_region_r, end - start))
            for node_key, start, end in zip(keys, starts, ends, strict=True)
        }
        dividers = [((self.lowest_region_r, start), (thickness, start)) for start in starts[1:]]
        lowest_lane_r = self.lowest_region_r + self.regions_thickness
        has_lanes = any(span.start_child and span.end_child for span in self.spans)
        if has_lanes and thickness > lowest_lane_r:  # a line between the regions and the lanes
            dividers.append(((lowest_lane_r, starts[0]), (lowest_lane_r, breadth)))
        return replace(
            inside,
            size=(thickness, breadth),
            rects={**rects, **inside.rects},
            title_positions={**inside.title_positions, self.frame.key: title_position},
            dividers=(*inside.dividers, *dividers),
            free_zones={
                border_port.side: zones[border_port.side]
                for border_port in self.frame.border_ports
                if not border_port.span.stays_inside
            },
        )

    def _find_free_zones(self, port_v: Mapping[int, int]) -> dict[PortSide, tuple[int, int]]:
        """Return the range of v on each side where links from outside may meet the frame.

        v is the position along the side, across the arrows. The range keeps away from the links that meet the
        side from inside. The title is in the range at the back, where arrows come from.

        Args:
            port_v: the v of the links that cross the frame, or meet it from inside, by link.
        """
        if self.frame.arrows_go_right:
            title_end = next(iter(self.region_start_v.values()))
            return {PortSide.BACK: (0, title_end), PortSide.FRONT: (0, title_end)}
        occupied_v: dict[PortSide, list[int]] = {side: [] for side in PortSide}
        for border_port in self.frame.border_ports:
            occupied_v[border_port.side].append(port_v[border_port.span.link_index])
        _, title_breadth = self.frame.title_size
        back_room = max(title_breadth, self.frame.link_breadth)
        front_room = self.frame.link_breadth
        return {
            PortSide.BACK: _first_free_interval(occupied_v[PortSide.BACK], back_room),
            PortSide.FRONT: _first_free_interval(occupied_v[PortSide.FRONT], front_room),
        }

    def _route_inside(self, span: LinkSpan, side: PortSide) -> Polyline:
        """Return the part of a link inside a region; if it ends at the region, the point on its border.

        Points are (r, v): their positions in the direction of the arrows, and across it.

        Args:
            span: the link, of which one end is in or at a region, the other outside.
            side: the side of the region that it meets.
        """
        # one of them is a region; "" is for the type checker
        region_key = span.start_child or span.end_child or ""
        route = self.region_blocks[region_key].routes.get(span.link_index)
        if route:
            return route
        border_r = self.lowest_region_r + (self.regions_thickness if side is PortSide.FRONT else 0)
        return ((border_r, self._next_border_v(region_key, side)),)

    def _next_border_v(self, region_key: str, side: PortSide) -> int:
        """Return the v of one more link that ends at a region's border, a step after the last; count it."""
        zone_low, _ = self.region_blocks[region_key].free_zones.get(side, (0, 0))
        n_links = self.n_border_links.get((region_key, side), 0) + 1
        self.n_border_links[region_key, side] = n_links
        return self.region_start_v[region_key] + zone_low + n_links * BORDER_LINK_STEP

    def _front_route(self, span: LinkSpan, lane_r: int) -> Polyline:
        """Return the route of a link from a region to another: out of one, along its lane, into the other.

        Args:
            span: the link, with the regions in which it starts and ends.
            lane_r: the position of its lane in front of the regions. Points are (r, v).
        """
        # its parts inside the two regions, which the lane connects
        start_span = LinkSpan(
            span.link_index, start_child=span.start_child, end_child=None, stays_inside=True
        )
        end_span = LinkSpan(span.link_index, start_child=None, end_child=span.end_child, stays_inside=True)
        start_route = self._route_inside(start_span, PortSide.FRONT)
        end_route = self._route_inside(end_span, PortSide.FRONT)
        _, start_v = start_route[-1]
        _, end_v = end_route[0]
        return (*start_route, (lane_r, start_v), (lane_r, end_v), *end_route)


def _first_free_interval(occupied: Sequence[int], length: int) -> tuple[int, int]:
    """Return the first interval of a length that stays `TITLE_GAP` away from all occupied positions."""
    low = 0
    for position in sorted(occupied):
        if position - TITLE_GAP - low >= length:
            break
        low = position + TITLE_GAP
    return low, low + length


LOOP_HEIGHT = 14
"""Distance of a loop's outer line from its node's border [px]."""

LOOP_HALF_WIDTH_ABOVE = 12
LOOP_HALF_WIDTH_RIGHT = 9
"""Half the width of a loop above a node, and of a loop to its right [px]."""

LOOP_CORNER_DISTANCE = 26
"""From the corner with the title to the middle of a loop [px]."""

LOOP_LABEL_GAP_ABOVE = 2
LOOP_LABEL_GAP_RIGHT = 4
"""Room between a loop and its label, above a node and to its right [px]."""


class LoopRoom(NamedTuple):
    """Room that a loop needs beside its node [px].

    Attributes:
        room_before: along v, before the node.
        room_after: along v, after the node.
        min_thickness: along r.
    """

    room_before: int
    room_after: int
    min_thickness: int


def loop_room(label_size: GridPoint, has_loop: bool, arrows_go_right: bool) -> LoopRoom:
    """Return the room that a node needs for its loop and the loop's label, if it has a loop.

    Args:
        label_size: thickness and breadth of the label.
        has_loop: whether the node has a loop.
        arrows_go_right: the loop is above the node, else to its right.
    """
    if not has_loop:
        return LoopRoom(room_before=0, room_after=0, min_thickness=0)
    label_thickness, label_breadth = label_size
    if arrows_go_right:
        return LoopRoom(LOOP_HEIGHT + LOOP_LABEL_GAP_ABOVE + label_breadth, 0, label_thickness)
    return LoopRoom(0, LOOP_HEIGHT + LOOP_LABEL_GAP_RIGHT + label_breadth, label_thickness)


def loop_route(
    rect: Rect, label_size: GridPoint, arrows_go_right: bool, has_children: bool
) -> tuple[Polyline, GridPoint]:
    """Return the route of a loop (four corners) and the middle of its label, as r and v.

    A loop is a link from a node to itself.

    Args:
        rect: the rectangle of its node.
        label_size: thickness and breadth of the label.
        arrows_go_right: other arrows go to the right, so the loop is above the node, else to its right.
        has_children: the node has children and its title in the corner; no other link is there.
    """
    r, v = rect.corner
    thickness, breadth = rect.size
    label_thickness, label_breadth = label_size
    fits_at_corner = has_children and label_thickness <= thickness
    if arrows_go_right:
        middle_r = r + (LOOP_CORNER_DISTANCE if has_children else thickness // 2)
        label_r = r + (label_thickness if fits_at_corner else thickness) // 2
        start_r = middle_r + LOOP_HALF_WIDTH_ABOVE
        end_r = middle_r - LOOP_HALF_WIDTH_ABOVE
        top = v - LOOP_HEIGHT
        route = (start_r, v), (start_r, top), (end_r, top), (end_r, v)
        return route, (label_r, top - LOOP_LABEL_GAP_ABOVE - label_breadth // 2)
    corner_distance = max(LOOP_CORNER_DISTANCE, label_thickness // 2)
    middle_r = r + (corner_distance if fits_at_corner else thickness // 2)
    start_r = middle_r - LOOP_HALF_WIDTH_RIGHT
    end_r = middle_r + LOOP_HALF_WIDTH_RIGHT
    edge = v + breadth
    outside = edge + LOOP_HEIGHT
    route = (start_r, edge), (start_r, outside), (end_r, outside), (end_r, edge)
    return route, (middle_r, outside + LOOP_LABEL_GAP_RIGHT + label_breadth // 2)


STATE_GAP = 22
SYMBOL_GAP = 14
PORT_GAP = 12
"""Room beside states, symbols, and links that cross a border [px]."""

SYMBOL_TITLE_ROOM = 10
"""Room between a symbol's title and its neighbour [px]."""

STATE_PORT_GAP = 14
SYMBOL_PORT_GAP = 6
STATE_EDGE = 9
SYMBOL_EDGE = 3
"""Room between links where they meet a state or a symbol, and between them and its corners [px]."""

FRAME_TOP = 4
"""Room above the regions of a parallel chart, whose name is on the page [px]."""

BlockCache = dict[object, NodeBlock]
"""Blocks by all that they depend on: most are equal in many layouts of a diagram."""


class NestedLayout:
    """Lays out a diagram with given options for each node.

    Attributes:
        hierarchy: the nodes and the links by node.
        layouts: the options of every node with children.
        cache: laid-out nodes, shared by many layouts.
        layer_plan: the layers of the nodes, and the sides on which links meet them.
        arrows_go_right: for every node with children, whether arrows in it mostly go to the right; then its
            axis r is x, and v is y; else they are swapped.
    """

    def __init__(self, hierarchy: NodeHierarchy, layouts: NodeLayouts, cache: BlockCache) -> None:
        """Assign the layers of all nodes; `solve` computes positions."""
        self.hierarchy = hierarchy
        self.layouts = layouts
        self.cache = cache
        self.layer_plan = LayerPlan(hierarchy, layouts)
        self.arrows_go_right = self.layer_plan.arrows_go_right

    def solve(self) -> NodeBlock:
        """Return the laid-out root, in x and y."""
        return self._layout_node(self.hierarchy.nodes[self.hierarchy.root])

    def _layout_node(self, node: DiagramNode) -> NodeBlock:
        """Return the block (size and positions) of a node with all nodes inside it, in x and y.

        It is taken from the cache if the same node was laid out with the same options before.
        """
        if not node.children:
            return NodeBlock(leaf_size(node, self.layer_plan.arrows_around_go_right[node.key]))
        cache_key = self._cache_key(node)
        if cache_key not in self.cache:
            block = self._layout_regions(node) if node.parallel else self._layout_children(node)
            self.cache[cache_key] = block if self.arrows_go_right[node.key] else block.transpose()
        return self.cache[cache_key]

    def _cache_key(self, node: DiagramNode) -> object:
        """Return a key of everything that a node's block depends on."""
        layouts = tuple(self.layouts[node_key] for node_key in self.hierarchy.compounds_within(node.key))
        border_ports = tuple(self.layer_plan.border_ports(node.key))
        arrows_around_go_right = self.layer_plan.arrows_around_go_right[node.key]
        return (
            node.key,
            layouts,
            arrows_around_go_right,
            border_ports,
            self.layer_plan.count_links_from_outside(node.key),
        )

    def _oriented_size(self, node_key: str, size: GridPoint) -> GridPoint:
        """Return width and height as thickness and breadth: along a node's arrows, and across them."""
        width, height = size
        return (width, height) if self.arrows_go_right[node_key] else (height, width)

    def _oriented_block(self, node_key: str, child: DiagramNode) -> NodeBlock:
        """Return the block of a child along the axes of its parent, which is given by its key."""
        block = self._layout_node(child)
        return block if self.arrows_go_right[node_key] else block.transpose()

    def _frame_spec(self, node: DiagramNode) -> FrameSpec:
        """Return the properties of the frame around a node's content; that of the root has no title."""
        n_back_links, n_front_links = self.layer_plan.count_links_from_outside(node.key)
        title_size = head_size(node) if node.key != self.hierarchy.root else (0, FRAME_TOP)
        return FrameSpec(
            key=node.key,
            arrows_go_right=self.arrows_go_right[node.key],
            has_other_direction=self.arrows_go_right[node.key]
            != self.layer_plan.arrows_around_go_right[node.key],
            title_size=self._oriented_size(node.key, title_size),
            n_back_links=n_back_links,
            n_front_links=n_front_links,
            border_ports=self.layer_plan.border_ports(node.key),
        )

    def _layout_children(self, node: DiagramNode) -> NodeBlock:
        """Return the block (size and positions) of a node that is not parallel: its children in a frame.

        The root has no frame. A link that crosses the frame, or ends at it, meets it at an item of its own.
        """
        arrows_go_right = self.arrows_go_right[node.key]
        blocks = {child.key: self._oriented_block(node.key, child) for child in node.children}
        items = [self._layout_item(child, blocks[child.key], arrows_go_right) for child in node.children]
        items += [
            LayoutItem(port_item_key(border_port.span.link_index), pinned_side=border_port.side, gap=PORT_GAP)
            for border_port in self.layer_plan.border_ports(node.key)
        ]
        frame = self._frame_spec(node)
        ranking = _add_placeholder_layers(self.layer_plan.ranking_by_node[node.key], frame)
        arrangement = arrange_items(
            [*items, *frame.placeholder_items()], self.layer_plan.wires_by_node[node.key], ranking
        )
        sizes = {item.key: (item.thickness, item.breadth) for item in items}
        inside = self._fill_arrangement(node.key, arrangement, blocks, sizes)
        return inside if node.key == self.hierarchy.root else add_frame(frame, inside)

    def _layout_item(self, node: DiagramNode, block: NodeBlock, arrows_go_right: bool) -> LayoutItem:
        """Return a child as an item to be arranged: its size, and room for its loop or the title of a symbol.

        Args:
            node: the child, a state or a symbol.
            block: the child laid out along the axes of its parent.
            arrows_go_right: arrows around it mostly go to the right.
        """
        thickness, breadth = block.size
        room_before, room_after, min_thickness = loop_room(
            self._loop_label_size(node.key), node.key in self.hierarchy.loop_by_node, arrows_go_right
        )
        is_state = node.shape is NodeShape.STATE
        if is_state and not node.children:
            links_breadth = (
                max(self.layer_plan.count_links_from_outside(node.key)) * STATE_PORT_GAP + ROW_HEIGHT
            )
            breadth = max(breadth, links_breadth)
        has_title_beside = bool(node.title) and node.shape in ROUND_SHAPES
        if has_title_beside:
            title_width = text_width(node.title)
            if arrows_go_right:  # the title is below the symbol
                room_after = ROW_HEIGHT
                min_thickness = title_width
            else:  # the title is to the right of the symbol
                room_after = title_width + SYMBOL_TITLE_ROOM
                min_thickness = 0
        return LayoutItem(
            node.key,
            thickness,
            breadth,
            room_before,
            room_after,
            port_positions=block.port_positions,
            free_zones=block.free_zones,
            is_point=node.shape is NodeShape.INITIAL,
            gap=STATE_GAP if is_state else SYMBOL_GAP,
            port_gap=STATE_PORT_GAP if is_state else SYMBOL_PORT_GAP,
            port_edge=STATE_EDGE if is_state else SYMBOL_EDGE,
            min_thickness=min_thickness,
        )

    def _loop_label_size(self, node_key: str) -> GridPoint:
        """Return thickness and breadth of the label of a node's loop; zeros if it has no loop or label."""
        link_index = self.hierarchy.loop_by_node.get(node_key)
        size = label_size(self.hierarchy.links[link_index].label_lines) if link_index is not None else None
        return self._oriented_size(self.hierarchy.parent_of[node_key], size) if size else (0, 0)

    def _fill_arrangement(
        self,
        node_key: str,
        arrangement: Arrangement,
        blocks: Mapping[str, NodeBlock],
        sizes: Mapping[str, GridPoint],
    ) -> NodeBlock:
        """Return the block of a node's content: its children at their positions, and the routes of all links.

        A block holds rectangles, routes and labels by their positions. A link may run through several
        children; its route here joins the parts inside them.

        Args:
            node_key: the key of the node.
            arrangement: the positions of its children, and the routes of links between them.
            blocks: the laid-out children, along the axes of the node.
            sizes: thickness and breadth of each child as arranged, which may be larger than its block.
        """
        moved_blocks = {
            child: block.moved(arrangement.item_positions[child]) for child, block in blocks.items()
        }
        content = merge_blocks([*moved_blocks.values()])
        routes_inside = {child: block.routes for child, block in moved_blocks.items()}
        rects = {child: Rect(arrangement.item_positions[child], sizes[child]) for child in blocks}
        routes = dict(content.routes)
        label_positions = {**content.label_positions, **arrangement.label_positions}
        for child in blocks:
            if child in self.hierarchy.loop_by_node:  # a link leads from the child to itself
                link_index = self.hierarchy.loop_by_node[child]
                routes[link_index], label_positions[link_index] = loop_route(
                    rects[child],
                    self._loop_label_size(child),
                    arrows_go_right=self.arrows_go_right[node_key],
                    has_children=bool(self.hierarchy.nodes[child].children),
                )
        for span in self.hierarchy.spans_by_node[node_key]:
            routes[span.link_index] = _join_route(span, arrangement.routes[span.link_index], routes_inside)
        return replace(
            content,
            size=(arrangement.thickness, arrangement.breadth),
            rects={**rects, **content.rects},
            routes=routes,
            label_positions=label_positions,
            n_crossings=content.n_crossings + arrangement.n_crossings,
            n_links_leading_back=content.n_links_leading_back
            + len(self.layer_plan.ranking_by_node[node_key].back_wires),
        )

    def _layout_regions(self, node: DiagramNode) -> NodeBlock:
        """Return the block of a parallel state, with its regions stacked in it."""
        blocks = {child.key: self._oriented_block(node.key, child) for child in node.children}
        spans = self.hierarchy.spans_by_node[node.key]
        label_sizes = {}
        for span in spans:
            size = label_size(self.hierarchy.links[span.link_index].label_lines) or (0, 0)
            label_sizes[span.link_index] = self._oriented_size(node.key, size)
        return RegionStack(self._frame_spec(node), blocks, spans, label_sizes).solve()


def _join_route(
    span: LinkSpan, middle_route: Polyline, routes_inside: Mapping[str, Mapping[int, Polyline]]
) -> Polyline:
    """Return the route of a link in a node: its part in one child, between two children, and in the other.

    Args:
        span: the link, with the children in which it starts and ends.
        middle_route: the part between the children.
        routes_inside: the parts inside each child, by child and link.
    """
    start_route = routes_inside[span.start_child].get(span.link_index, ()) if span.start_child else ()
    end_route = routes_inside[span.end_child].get(span.link_index, ()) if span.end_child else ()
    return (*start_route, *middle_route, *end_route)


def _add_placeholder_layers(ranking: Ranking, frame: FrameSpec) -> Ranking:
    """Return a ranking with the frame's placeholder items added: in the first or the last layer.

    Placeholders are empty items that keep links away from the title and from links from outside.
    """
    layers = dict(ranking.layers)
    end_layers = {PortSide.BACK: min(layers.values()), PortSide.FRONT: max(layers.values())}
    for item in frame.placeholder_items():
        if item.pinned_side:
            layers[item.key] = end_layers[item.pinned_side]
    return Ranking(layers, ranking.back_wires)
