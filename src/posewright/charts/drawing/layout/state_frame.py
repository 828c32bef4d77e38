"""Frames with a title around laid-out nodes, and links extended to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from posewright.charts.drawing.layout.edge_sides import BorderPort
from posewright.charts.drawing.layout.ranking import LayoutItem, PortSide
from posewright.charts.drawing.pen import SIDE_PADDING, TITLE_BASELINE

GridPoint = tuple[int, int]
"""A point or a size: along r and v of a node, or in x and y [px]."""

Polyline = tuple[GridPoint, ...]
PointMap = Callable[[GridPoint], GridPoint]

Zones = Mapping[PortSide, tuple[int, int]]
"""The part of each side that is free for links that end at the border itself [px]."""


@dataclass(frozen=True)
class Rect:
    """A rectangle by its lowest corner and its size [px]."""

    corner: GridPoint
    size: GridPoint


@dataclass(frozen=True)
class NodeBlock:
    """A laid-out node with its content, relative to its lowest corner [px].

    Attributes:
        size: the size of the node.
        rects: the rectangles of all nodes inside it.
        title_positions: the positions of the titles of the nodes inside it, and of its own.
        routes: the routes of all links, as far as they run inside it.
        label_positions: the middle of the labels of links.
        dividers: lines between regions.
        port_positions: where links cross its border, from the lowest corner of that side.
        free_zones: where other links may meet its border.
        n_crossings: number of crossings inside it.
        n_links_leading_back: number of links that lead back.
    """

    size: GridPoint
    rects: Mapping[str, Rect] = field(default_factory=dict)
    title_positions: Mapping[str, GridPoint] = field(default_factory=dict)
    routes: Mapping[int, Polyline] = field(default_factory=dict)
    label_positions: Mapping[int, GridPoint] = field(default_factory=dict)
    dividers: tuple[tuple[GridPoint, GridPoint], ...] = ()
    port_positions: Mapping[int, int] = field(default_factory=dict)
    free_zones: Zones = field(default_factory=dict)
    n_crossings: int = 0
    n_links_leading_back: int = 0

    def moved(self, offset: GridPoint) -> NodeBlock:
        """Return the block with its content moved by an offset (r, v)."""
        offset_r, offset_v = offset

        def move(point: GridPoint) -> GridPoint:
            r, v = point
            return r + offset_r, v + offset_v

        return self._map_points(move, map_size=lambda size: size)

    def transpose(self) -> NodeBlock:
        """Return the block with its two axes swapped."""
        return replace(self._map_points(_swap, map_size=_swap), size=_swap(self.size))

    def _map_points(self, map_point: PointMap, map_size: PointMap) -> NodeBlock:
        """Return the block with functions applied to all points and sizes inside it; its own size stays."""
        return replace(
            self,
            rects={
                key: Rect(map_point(rect.corner), map_size(rect.size)) for key, rect in self.rects.items()
            },
            title_positions={key: map_point(point) for key, point in self.title_positions.items()},
            routes={key: tuple(map(map_point, route)) for key, route in self.routes.items()},
            label_positions={key: map_point(point) for key, point in self.label_positions.items()},
            dividers=tuple((map_point(start), map_point(end)) for start, end in self.dividers),
        )


def _swap(point: GridPoint) -> GridPoint:
    r, v = point
    return v, r


def merge_blocks(blocks: Sequence[NodeBlock]) -> NodeBlock:
    """Return one block with the content of several: nodes, routes and labels; its size is left at zero."""
    return NodeBlock(
        (0, 0),
        rects={key: rect for block in blocks for key, rect in block.rects.items()},
        title_positions={key: point for block in blocks for key, point in block.title_positions.items()},
        routes={key: route for block in blocks for key, route in block.routes.items()},
        label_positions={key: point for block in blocks for key, point in block.label_positions.items()},
        dividers=tuple(line for block in blocks for line in block.dividers),
        n_crossings=sum(block.n_crossings for block in blocks),
        n_links_leading_back=sum(block.n_links_leading_back for block in blocks),
    )


PADDING = 14
"""Room between a frame and its content [px]."""

TITLE_PADDING = 6
"""Room between a title and the content below it [px]."""

BORDER_LINK_STEP = 12
"""Room between links that meet a frame where others cross it [px]."""


@dataclass(frozen=True)
class FrameSpec:
    """Properties of the frame around a node's content.

    Attributes:
        key: the key of the node.
        arrows_go_right: arrows inside mostly go to the right; then the first of two coordinates is x.
        has_other_direction: arrows around the frame go in another direction.
        title_size: thickness and breadth of the title with the text below it [px].
        n_back_links: number of links that meet the back of the frame from outside.
        n_front_links: number of links that meet its front from outside.
        border_ports: links that end at the frame from inside, or cross it.
    """

    key: str
    arrows_go_right: bool
    has_other_direction: bool
    title_size: GridPoint
    n_back_links: int
    n_front_links: int
    border_ports: Sequence[BorderPort]

    @property
    def port_sides(self) -> set[PortSide]:
        """The sides on which links from inside meet the frame or cross it."""
        return {border_port.side for border_port in self.border_ports}

    @property
    def shared_sides(self) -> set[PortSide]:
        """The sides that links from inside meet, and links from outside may meet as well."""
        return set() if self.has_other_direction else self.port_sides

    @property
    def link_breadth(self) -> int:
        """Breadth that the links from outside need on a side [px]."""
        return (max(self.n_back_links, self.n_front_links) + 1) * BORDER_LINK_STEP

    def placeholder_items(self) -> list[LayoutItem]:
        """Return empty items that keep inner links away from the title and from links from outside.

        They are first in the first and in the last layer. There are none if arrows go right, as the
        title then is beside the layers.
        """
        if self.arrows_go_right:
            return []
        title_thickness, title_breadth = self.title_size
        breadth = max(title_breadth, self.link_breadth)
        items = [LayoutItem("head", title_thickness, breadth, pinned_side=PortSide.BACK, is_first=True)]
        if PortSide.FRONT in self.shared_sides and self.n_front_links:
            items.append(
                LayoutItem(
                    "foot", thickness=0, breadth=self.link_breadth, pinned_side=PortSide.FRONT, is_first=True
                )
            )
        return items


def add_frame(frame: FrameSpec, inside: NodeBlock) -> NodeBlock:
    """Return the content of a node with its frame and title around it, and its links extended to the frame.

    Positions are (r, v): in the direction of the arrows, and across it; the thickness is a size along r, the
    breadth one along v. The title is before the content: along v if arrows go right, else along r, where a
    placeholder item already has the room for it.
    """
    title_thickness, title_breadth = frame.title_size
    content_thickness, content_breadth = inside.size
    back_padding = 0 if PortSide.BACK in frame.port_sides else PADDING
    front_padding = 0 if PortSide.FRONT in frame.port_sides else PADDING
    if frame.arrows_go_right:
        back_zone = max(title_breadth, frame.link_breadth if frame.shared_sides else 0)
        front_zone = back_zone
        content_r = back_padding
        content_v = back_zone + TITLE_PADDING
        thickness = max(content_r + content_thickness + front_padding, title_thickness)
        breadth = content_v + content_breadth + PADDING
        title_position = (SIDE_PADDING, TITLE_BASELINE)
    else:
        back_zone = max(title_breadth, frame.link_breadth)
        front_zone = frame.link_breadth
        content_r = 0
        content_v = PADDING
        thickness = content_thickness + front_padding
        breadth = max(content_v + content_breadth + PADDING, title_breadth)
        title_position = (TITLE_BASELINE, SIDE_PADDING)
    moved = inside.moved((content_r, content_v))
    routes = dict(moved.routes)
    port_v = {}
    for border_port in frame.border_ports:
        link_index = border_port.span.link_index
        routes[link_index] = extend_to_border(routes[link_index], border_port, thickness)
        _, port_v[link_index] = border_end(routes[link_index], border_port)
    # where links from outside may meet the frame, if links from inside meet the same side
    zones = {PortSide.BACK: (0, back_zone), PortSide.FRONT: (0, front_zone)}
    return replace(
        moved,
        size=(thickness, breadth),
        routes=routes,
        port_positions=port_v,
        free_zones={side: zone for side, zone in zones.items() if side in frame.shared_sides},
        title_positions={**moved.title_positions, frame.key: title_position},
    )


def border_end(route: Polyline, border_port: BorderPort) -> GridPoint:
    """Return the end of a route that is nearest to the border: its first point, or its last."""
    starts_at_border = border_port.span.start_child is None
    return route[0] if starts_at_border else route[-1]


def extend_to_border(route: Polyline, border_port: BorderPort, thickness: int) -> Polyline:
    """Return a route extended straight along r to the border of a node of this thickness."""
    border_r = thickness if border_port.side is PortSide.FRONT else 0
    _, v = border_end(route, border_port)
    starts_at_border = border_port.span.start_child is None
    return ((border_r, v), *route) if starts_at_border else (*route, (border_r, v))
