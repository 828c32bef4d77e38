"""Frames with a title around laid-out nodes, and links extended to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from posewright.charts.drawing.layout.edge_sides import BorderPort
from posewright.charts.drawing.layout.ranking import LayoutItem, PortSide
from posewright.charts.drawing.pen import SIDE_ROOM, TITLE_BASE

GridPoint = tuple[int, int]
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
        labels: the middle of the labels of links.
        dividers: lines between regions.
        ports: where links cross its border, from the lowest corner of that side.
        zones: where other links may meet its border.
        crossings: number of crossings inside it.
        backward: number of links that lead back.
    """

    size: GridPoint
    rects: Mapping[str, Rect] = field(default_factory=dict)
    title_positions: Mapping[str, GridPoint] = field(default_factory=dict)
    routes: Mapping[int, Polyline] = field(default_factory=dict)
    labels: Mapping[int, GridPoint] = field(default_factory=dict)
    dividers: tuple[tuple[GridPoint, GridPoint], ...] = ()
    ports: Mapping[int, int] = field(default_factory=dict)
    zones: Zones = field(default_factory=dict)
    crossings: int = 0
    backward: int = 0

    def moved(self, by: GridPoint) -> NodeBlock:
        """Return the block with its content moved."""
        return self._map_points(lambda point: (point[0] + by[0], point[1] + by[1]), lambda size: size)

    def transpose(self) -> NodeBlock:
        """Return the block with its two axes swapped."""
        return replace(self._map_points(_swap, _swap), size=_swap(self.size))

    def _map_points(self, map_point: PointMap, map_size: PointMap) -> NodeBlock:
        """Return the block with all points and sizes mapped."""
        return replace(
            self,
            rects={
                key: Rect(map_point(rect.corner), map_size(rect.size)) for key, rect in self.rects.items()
            },
            title_positions={key: map_point(point) for key, point in self.title_positions.items()},
            routes={key: tuple(map(map_point, route)) for key, route in self.routes.items()},
            labels={key: map_point(point) for key, point in self.labels.items()},
            dividers=tuple((map_point(start), map_point(end)) for start, end in self.dividers),
        )


def _swap(point: GridPoint) -> GridPoint:
    return point[1], point[0]


def merge_blocks(blocks: Sequence[NodeBlock]) -> NodeBlock:
    """Return one block with the content of several, of no size yet."""
    return NodeBlock(
        (0, 0),
        rects={key: rect for block in blocks for key, rect in block.rects.items()},
        title_positions={key: point for block in blocks for key, point in block.title_positions.items()},
        routes={key: route for block in blocks for key, route in block.routes.items()},
        labels={key: point for block in blocks for key, point in block.labels.items()},
        dividers=tuple(line for block in blocks for line in block.dividers),
        crossings=sum(block.crossings for block in blocks),
        backward=sum(block.backward for block in blocks),
    )


PAD = 14
"""Room between a frame and its content [px]."""

OWN_STEP = 12
"""Room between links that meet a frame where others cross it [px]."""


@dataclass(frozen=True)
class FrameSpec:
    """Properties of a frame.

    Attributes:
        key: the key of the node.
        sideways: arrows inside mostly go to the right; then the first of two coordinates is x.
        is_turned: arrows around the frame have another direction.
        title_size: thickness and breadth of the title with the text below it [px].
        n_back_links: number of links that meet the back of the frame from outside.
        n_front_links: number of links that meet its front from outside.
        border_ports: links that end at the frame from inside, or cross it.
    """

    key: str
    sideways: bool
    is_turned: bool
    title_size: GridPoint
    n_back_links: int
    n_front_links: int
    border_ports: Sequence[BorderPort]

    @property
    def pins(self) -> set[PortSide]:
        """The sides on which links leave the content."""
        return {border_port.side for border_port in self.border_ports}

    @property
    def shared_sides(self) -> set[PortSide]:
        """The sides that links from inside meet, and links from outside may meet as well."""
        return set() if self.is_turned else self.pins

    @property
    def link_breadth(self) -> int:
        """Breadth that the links from outside need on a side [px]."""
        return (max(self.n_back_links, self.n_front_links) + 1) * OWN_STEP

    def lead_items(self) -> list[LayoutItem]:
        """Return placeholder items that keep inner links away from the title and from links from outside."""
        if self.sideways:
            return []
        breadth = max(self.title_size[1], self.link_breadth)
        items = [LayoutItem("head", self.title_size[0], breadth, pin=PortSide.BACK, is_first=True)]
        if PortSide.FRONT in self.shared_sides and self.n_front_links:
            items.append(
                LayoutItem("foot", thickness=0, breadth=self.link_breadth, pin=PortSide.FRONT, is_first=True)
            )
        return items


def add_frame(frame: FrameSpec, inside: NodeBlock) -> NodeBlock:
    """Return a block of the content with the frame around it."""
    title_size = frame.title_size
    pins = frame.pins
    title_breadth = max(title_size[1], frame.link_breadth if frame.shared_sides else 0)
    content_r = PAD if frame.sideways and PortSide.BACK not in pins else 0
    content_v = title_breadth + 6 if frame.sideways else PAD
    thickness = content_r + inside.size[0] + (0 if PortSide.FRONT in pins else PAD)
    breadth = content_v + inside.size[1] + PAD
    if frame.sideways:
        thickness = max(thickness, title_size[0])
    else:
        breadth = max(breadth, title_size[1])
    moved = inside.moved((content_r, content_v))
    routes = dict(moved.routes)
    ports = {}
    for border_port in frame.border_ports:
        link = border_port.span.link
        routes[link] = extend_to_border(routes[link], border_port, thickness)
        ports[link] = border_end(routes[link], border_port)[1]
    if frame.sideways:
        back_zone = title_breadth
        front_zone = title_breadth
    else:
        back_zone = max(title_size[1], frame.link_breadth)
        front_zone = frame.link_breadth
    zones = {
        side: (0, breadth_for_links)
        for side, breadth_for_links in ((PortSide.BACK, back_zone), (PortSide.FRONT, front_zone))
        if side in frame.shared_sides
    }
    title_position = (SIDE_ROOM, TITLE_BASE) if frame.sideways else (TITLE_BASE, SIDE_ROOM)
    return replace(
        moved,
        size=(thickness, breadth),
        routes=routes,
        ports=ports,
        zones=zones,
        title_positions={**moved.title_positions, frame.key: title_position},
    )


def border_end(route: Polyline, border_port: BorderPort) -> GridPoint:
    """Return the end of a route that is nearest to the border."""
    return route[0 if border_port.span.start is None else -1]


def extend_to_border(route: Polyline, border_port: BorderPort, thickness: int) -> Polyline:
    """Return a route extended straight to the border."""
    end = (thickness if border_port.side is PortSide.FRONT else 0), border_end(route, border_port)[1]
    return (end, *route) if border_port.span.start is None else (*route, end)
