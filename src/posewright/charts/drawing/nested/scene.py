"""A statechart's picture with everything in its place, as x and y."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from posewright.charts.drawing.diagram import Diagram, Link, Node, Shape, walk_nodes
from posewright.charts.drawing.geometry import Box, Point
from posewright.charts.drawing.nested.blocks import Block
from posewright.charts.drawing.nested.metrics import CIRCLE, label_size
from posewright.charts.drawing.nested.siding import Ways

ROUND = {Shape.JUNCTION, Shape.HISTORY, Shape.DEEP_HISTORY, Shape.FINAL}
"""Signs that do not fill their boxes."""


@dataclass(frozen=True)
class Track:
    """A link with its corners, and the box of what is written on it."""

    link: Link
    points: tuple[Point, ...]
    label: Box | None

    @property
    def length(self) -> float:
        """Length of the way [px]."""
        return sum(math.dist(a, b) for a, b in pairwise(self.points))


@dataclass(frozen=True)
class Scene:
    """A laid out diagram; lengths in px, the top left corner of everything is (0, 0).

    Attributes:
        boxes: of every node but the root, by key.
        dividers: lines between regions.
        heads: where the names of states begin that have an inside.
        sideways: of every node with an inside, whether arrows in it mostly go to the right, not down.
    """

    diagram: Diagram
    boxes: Mapping[str, Box]
    heads: Mapping[str, Point]
    tracks: tuple[Track, ...]
    dividers: tuple[tuple[Point, Point], ...]
    width: float
    height: float
    sideways: Mapping[str, bool]
    crossings: int
    backward: int

    @property
    def bends(self) -> int:
        """Corners of all ways."""
        return sum(max(len(track.points) - 2, 0) for track in self.tracks)


def scene_of(diagram: Diagram, block: Block, ways: Ways) -> Scene:
    """Return a diagram with everything in its place.

    Args:
        diagram: what is drawn.
        block: its root, laid out.
        ways: how it was laid out.
    """
    sideways = {key: way.sideways for key, way in ways.items()}
    boxes = {}
    for key, rect in block.rects.items():
        (x, y), (width, height) = rect.corner, rect.size
        boxes[key] = Box(x + width / 2, y + height / 2, width, height)
    nodes = {node.key: node for node in walk_nodes(diagram.root)}
    tracks = []
    for i, link in enumerate(diagram.links):
        points = _plain(block.routes[i])
        points = _touching(points[::-1], nodes[link.start], boxes)[::-1]
        points = _touching(points, nodes[link.end], boxes)
        tracks.append(Track(link, points, _label(link, block.labels.get(i))))
    return Scene(
        diagram,
        boxes,
        block.heads,
        tuple(tracks),
        block.dividers,
        *block.size,
        sideways,
        block.crossings,
        block.backward,
    )


def _label(link: Link, middle: Point | None) -> Box | None:
    size = label_size(link.lines)
    return Box(*middle, *size) if size and middle else None


def _touching(points: tuple[Point, ...], node: Node, boxes: Mapping[str, Box]) -> tuple[Point, ...]:
    """Return a way that goes on from the border of a sign's box to the sign itself."""
    if node.shape not in ROUND:
        return points
    (x, y), box, last = points[-1], boxes[node.key], points[-2]
    half = min(box.width, box.height) / 2
    if node.shape is Shape.FINAL:
        half = CIRCLE / 2
        centre = (
            (box.x - box.width / 2 + half, box.y)
            if box.width > box.height
            else (box.x, box.y - box.height / 2 + half)
        )
    else:
        centre = box.x, box.y
    level = y == last[1]
    aside, ahead = (
        abs(y - centre[1] if level else x - centre[0]),
        abs(x - centre[0] if level else y - centre[1]),
    )
    if ahead > half + 1:
        return points
    deep = aside if node.shape is Shape.JUNCTION else half - math.sqrt(max(half**2 - aside**2, 0.0)) + 1
    deep = math.copysign(deep, centre[0] - x if level else centre[1] - y)
    return (*points[:-1], (x + deep, y) if level else (x, y + deep))


def _plain(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return the corners of a way: no point twice, none in the middle of a straight piece."""
    corners: list[Point] = []
    for point in points:
        if corners and point == corners[-1]:
            continue
        if len(corners) > 1 and _straight(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    return tuple(corners)


def _straight(a: Point, b: Point, c: Point) -> bool:
    return (a[0] == b[0] == c[0]) or (a[1] == b[1] == c[1])
