"""SVG of the nodes and links of a scene: boxes with text, statechart signs, and arrows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from posewright.charts.drawing.diagram import (
    DiagramMarks,
    DiagramNode,
    Highlight,
    Hook,
    NodeShape,
    TextLine,
    combined_mark,
)
from posewright.charts.drawing.layout.layout_search import RoutedLink, Scene
from posewright.charts.drawing.pen import (
    CIRCLE,
    DIAMOND,
    DOT,
    LABEL_FONT,
    LABEL_SIDE,
    ROW,
    SIDE_ROOM,
    TITLE_BASE,
    TITLE_ROW,
    BoundingBox,
    Point,
    between,
    circle,
    lines_size,
    path,
    rect,
    text,
    visible_lines,
)

BASE = 4
"""From the middle of small letters to their baseline [px]."""


class NodeDrawing:
    """Draws the nodes of a scene."""

    def __init__(self, scene: Scene, active: Highlight, marks: DiagramMarks) -> None:
        self.scene = scene
        self.active = active
        self.marks = marks

    def draw(self, node: DiagramNode, sideways: bool) -> str:
        """Return a node as SVG, without the nodes inside it.

        Args:
            node: the node to be drawn.
            sideways: arrows around it mostly go to the right; the title of a sign is then below it, else to
                its right, away from the arrows.
        """
        box = self.scene.boxes[node.key]
        if node.shape in {NodeShape.STATE, NodeShape.REGION}:
            return self._state(node, box)
        if node.shape is NodeShape.FINAL:
            return self._final(node, box, sideways)
        return _sign(node, box, sideways)

    def _extra_classes(self, node: DiagramNode) -> str:
        """Return the CSS classes of a node beyond its shape: its mark, and whether it is active."""
        mark = self.marks.get(node.key)
        classes = [mark.css_class] if mark else []
        if node.key in self.active.inner:
            classes.append("active")
        elif node.key in self.active.outer:
            classes.append("outer")
        return "".join(f" {css_class}" for css_class in classes)

    def _state(self, node: DiagramNode, box: BoundingBox) -> str:
        """Return the SVG group of a state or a region: its box, title and lines of text."""
        left = box.x - box.width / 2
        top = box.y - box.height / 2
        extra_classes = self._extra_classes(node)
        shape = "area" if node.shape is NodeShape.REGION else "compound" if node.inside else "state"
        parts = [rect(f"{shape}{extra_classes}", box.grown(-4) if shape == "area" else box, corner=10)]
        if shape == "area" and (not extra_classes or node.key in self.active.outer):
            parts = []
        x, y = self.scene.title_positions.get(node.key, (left + SIDE_ROOM, top + TITLE_BASE))
        if shape == "state" and not node.lines:
            parts.append(text("name", box.x, y=box.y + 5, content=node.title))
        else:
            parts.append(text("region left" if shape == "area" else "name left", x, y, content=node.title))
        below = y - TITLE_BASE + TITLE_ROW + 0.75 * ROW + BASE
        parts += [self._text_line(line, x, below + i * ROW) for i, line in enumerate(node.lines)]
        return f'<g data-state="{node.key}">{"".join(parts)}</g>'

    def _text_line(self, line: TextLine, x: float, y: float) -> str:
        mark = combined_mark(self.marks, line.transitions)
        return text(f"label left{f' {mark.css_class}' if mark else ''}", x, y, content=line.text)

    def _final(self, node: DiagramNode, box: BoundingBox, sideways: bool) -> str:
        half = CIRCLE / 2
        ring = circle(f"sign{self._extra_classes(node)}", box.x, box.y, radius=half - 1)
        title = _title_beside(node, box, half, sideways)
        return f'<g data-state="{node.key}">{ring}{circle("solid", box.x, box.y, radius=half - 5)}{title}</g>'


def _sign(node: DiagramNode, box: BoundingBox, sideways: bool) -> str:
    """Return the SVG of a pseudostate: initial, fork, stay, junction or history."""
    if node.shape is NodeShape.INITIAL:
        return circle("solid", box.x, box.y, radius=DOT / 2)
    if node.shape is NodeShape.FORK:
        return rect("solid", box, corner=1)
    if node.shape is NodeShape.STAY:
        return text("label", box.x, y=box.y + BASE, content=node.title)
    half = DIAMOND / 2 if node.shape is NodeShape.JUNCTION else CIRCLE / 2
    title = _title_beside(node, box, half, sideways)
    if node.shape is NodeShape.JUNCTION:
        corners = (
            f"M{box.x - half:.1f},{box.y:.1f} l{half:g},{-half:g} l{half:g},{half:g} l{-half:g},{half:g} z"
        )
        return path("sign", corners) + title
    letters = "H" if node.shape is NodeShape.HISTORY else "H*"
    return (
        circle("sign", box.x, box.y, radius=half - 1)
        + text("sign-name", box.x, y=box.y + 5, content=letters)
        + title
    )


def _title_beside(node: DiagramNode, box: BoundingBox, half: float, sideways: bool) -> str:
    """Return the title of a sign, below it or to its right."""
    if not node.title:
        return ""
    if sideways:
        return text("label", box.x, y=box.y + half + ROW - 3, content=node.title)
    return text("label left", x=box.x + half + 6, y=box.y + BASE, content=node.title)


CORNER = 7.0
"""Radius of a corner [px]."""

HOOK_OUT = 8.0
HOOK_ALONG = 11.0
"""Extent of a hook out of a border, and along it [px]."""


def draw_link(track: RoutedLink, marks: DiagramMarks) -> str:
    """Return a link with its label as SVG."""
    mark = combined_mark(marks, track.link.transitions)
    mark_class = f" {mark.css_class}" if mark else ""
    pieces = _split_at_label(_add_hook(track), track.label)
    parts = [path(f"line{mark_class}", _rounded_path(piece)) for piece in pieces[:-1]]
    parts.append(path(f"arrow{mark_class}", _rounded_path(pieces[-1])))
    return "".join([*parts, *_label_parts(track, marks)])


def _label_parts(track: RoutedLink, marks: DiagramMarks) -> list[str]:
    """Return the SVG texts of a link's label, with ranks beside its lines."""
    box = track.label
    if box is None:
        return []
    lines = visible_lines(track.link.lines)
    first_y = box.y - (len(lines) - 1) * ROW / 2 + LABEL_FONT * 0.36
    left = box.x + box.width / 2 - LABEL_SIDE - lines_size(lines)[0]
    is_left_aligned = any(line.rank or line.text.startswith(" ") for line in lines)
    label_class = "label left" if is_left_aligned else "label"
    x = left if is_left_aligned else box.x
    parts = []
    for i, line in enumerate(lines):
        mark = combined_mark(marks, line.transitions)
        y = first_y + i * ROW
        mark_class = f" {mark.css_class}" if mark else ""
        parts.append(text(f"{label_class}{mark_class}", x, y, content=line.text))
        if line.rank:
            parts.append(text(f"rank{mark_class}", x=left - 2, y=y - 2, content=str(line.rank)))
    return parts


def _add_hook(track: RoutedLink) -> list[Point]:
    """Return the route with a hook at the border of the state that the link leaves, if it has one."""
    points = list(track.points)
    if track.link.hook is Hook.START:
        return [*_hook(points[0], points[1]), *points]
    if track.link.hook is Hook.END:
        return [*points, *_hook(points[-1], points[-2])[::-1]]
    return points


def _hook(end: Point, inside: Point) -> list[Point]:
    """Return the corners of a hook, from the border to `end`."""
    length = math.dist(end, inside) or 1.0
    along = (end[0] - inside[0]) / length, (end[1] - inside[1]) / length
    out = end[0] + along[0] * HOOK_OUT, end[1] + along[1] * HOOK_OUT
    aside = -abs(along[1]) * HOOK_ALONG, -abs(along[0]) * HOOK_ALONG
    return [(end[0] + aside[0], end[1] + aside[1]), (out[0] + aside[0], out[1] + aside[1]), out]


def _split_at_label(points: Sequence[Point], label: BoundingBox | None) -> list[list[Point]]:
    """Return the parts of a route before and after a label."""
    if label is None:
        return [list(points)]
    box = label.grown(-1)
    before: list[Point] = []
    after: list[Point] = []
    for a, b in pairwise(points):
        cut = _crossing(a, b, box)
        if cut is None:
            (after if after else before).extend([a, b])
            continue
        before += [a, cut[0]] if not after else []
        after = [cut[1], b]
    if not after:
        return [list(points)]
    return [_drop_repeated(before), _drop_repeated(after)]


def _crossing(a: Point, b: Point, box: BoundingBox) -> tuple[Point, Point] | None:
    """Return the points where a straight line enters and leaves a box, None if it does not meet it."""
    length = math.dist(a, b)
    inside = [i for i in range(int(length) + 1) if box.holds(between(a, b, i / max(length, 1.0)))]
    if not inside:
        return None
    return between(a, b, inside[0] / max(length, 1.0)), between(a, b, min(inside[-1] / max(length, 1.0), 1.0))


def _drop_repeated(points: Sequence[Point]) -> list[Point]:
    return [point for i, point in enumerate(points) if not i or point != points[i - 1]]


def _rounded_path(points: Sequence[Point]) -> str:
    """Return the SVG path data of a route with rounded corners."""
    parts = [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
    for a, b, c in zip(points, points[1:], points[2:], strict=False):
        before = math.dist(a, b) or 1.0
        after = math.dist(b, c) or 1.0
        radius = min(CORNER, before / 2, after / 2)
        start = between(b, a, radius / before)
        end = between(b, c, radius / after)
        parts.append(f"L{start[0]:.1f},{start[1]:.1f} Q{b[0]:.1f},{b[1]:.1f} {end[0]:.1f},{end[1]:.1f}")
    return " ".join([*parts, f"L{points[-1][0]:.1f},{points[-1][1]:.1f}"])
