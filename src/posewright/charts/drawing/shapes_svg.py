"""SVG of the nodes and links of a scene: boxes with text, statechart symbols, and arrows."""

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
    CIRCLE_DIAMETER,
    DOT_DIAMETER,
    JUNCTION_WIDTH,
    LABEL_FONT,
    LABEL_SIDE_PADDING,
    ROW_HEIGHT,
    SIDE_PADDING,
    TITLE_BAND_HEIGHT,
    TITLE_BASELINE,
    BoundingBox,
    Point,
    circle,
    interpolate,
    lines_size,
    path,
    rect,
    text,
    visible_lines,
)

TEXT_BASELINE_DROP = 4
NAME_BASELINE_DROP = 5
"""From the middle of letters to their baseline, in small texts and in names [px]."""

BOX_CORNER_RADIUS = 10
"""Radius of the corners of a state's box [px]."""

AREA_INSET = 4
"""From the border of a region to the area that colours it [px]."""

FIRST_LINE_SHARE = 0.75
"""From the title's band to the middle of the first line below it, as a share of a row's height."""

BASELINE_SHARE = 0.36
"""From the middle of a label's letters to their baseline, relative to the font size."""


class NodeDrawing:
    """Draws the nodes of a scene.

    Attributes:
        scene: the laid-out diagram.
        highlight: the active states, which are highlighted.
        marks: marks of states and transitions, which colour them.
    """

    def __init__(self, scene: Scene, highlight: Highlight, marks: DiagramMarks) -> None:
        self.scene = scene
        self.highlight = highlight
        self.marks = marks

    def draw(self, node: DiagramNode, arrows_go_right: bool) -> str:
        """Return a node as SVG, without the nodes inside it.

        Args:
            node: the node to be drawn.
            arrows_go_right: arrows around it mostly go to the right; the title of a symbol is then below it,
                else to its right, away from the arrows.
        """
        box = self.scene.boxes[node.key]
        if node.shape in {NodeShape.STATE, NodeShape.REGION}:
            return self._draw_state(node, box)
        if node.shape is NodeShape.FINAL:
            return self._draw_final_state(node, box, arrows_go_right)
        return _draw_pseudostate(node, box, arrows_go_right)

    def _extra_classes(self, node: DiagramNode) -> str:
        """Return the CSS classes of a node beyond its shape: its mark, and whether it is active."""
        mark = self.marks.get(node.key)
        classes = [mark.css_class] if mark else []
        if node.key in self.highlight.innermost_states:
            classes.append("active")
        elif node.key in self.highlight.outer_states:
            classes.append("outer")
        return "".join(f" {css_class}" for css_class in classes)

    def _draw_state(self, node: DiagramNode, box: BoundingBox) -> str:
        """Return the SVG group of a state or a region: its box, title and lines of text.

        A region fills its parallel state, so it gets a box of its own only if it has a mark or is active
        itself. The title of a simple state without lines is in its middle, all others are in the top left
        corner.
        """
        extra_classes = self._extra_classes(node)
        is_region = node.shape is NodeShape.REGION
        is_simple = not is_region and not node.children
        parts = []
        if not is_region:
            css_class = "state" if is_simple else "compound"
            parts.append(rect(f"{css_class}{extra_classes}", box, corner=BOX_CORNER_RADIUS))
        elif extra_classes and node.key not in self.highlight.outer_states:
            area = box.grown(-AREA_INSET)
            parts.append(rect(f"area{extra_classes}", area, corner=BOX_CORNER_RADIUS))
        top_left = (box.x - box.width / 2 + SIDE_PADDING, box.y - box.height / 2 + TITLE_BASELINE)
        x, title_y = self.scene.title_positions.get(node.key, top_left)
        if is_simple and not node.lines:
            parts.append(text("name", box.x, y=box.y + NAME_BASELINE_DROP, content=node.title))
        else:
            title_class = "region left" if is_region else "name left"
            parts.append(text(title_class, x, title_y, content=node.title))
        lines_y = title_y - TITLE_BASELINE + TITLE_BAND_HEIGHT  # the lower end of the title's band
        first_y = lines_y + FIRST_LINE_SHARE * ROW_HEIGHT + TEXT_BASELINE_DROP
        parts += [self._draw_line(line, x, first_y + i * ROW_HEIGHT) for i, line in enumerate(node.lines)]
        return f'<g data-state="{node.key}">{"".join(parts)}</g>'

    def _draw_line(self, line: TextLine, x: float, y: float) -> str:
        """Return a line of text in a state as SVG, in the colour of its transitions' mark."""
        mark = combined_mark(self.marks, line.transition_keys)
        return text(f"label left{f' {mark.css_class}' if mark else ''}", x, y, content=line.text)

    def _draw_final_state(self, node: DiagramNode, box: BoundingBox, arrows_go_right: bool) -> str:
        """Return the SVG group of a final state: a ring around a dot, with its title beside it."""
        radius = CIRCLE_DIAMETER / 2
        ring = circle(f"sign{self._extra_classes(node)}", box.x, box.y, radius=radius - 1)
        dot = circle("solid", box.x, box.y, radius=radius - 5)
        title = _title_beside(node, box, radius, arrows_go_right)
        return f'<g data-state="{node.key}">{ring}{dot}{title}</g>'


def _draw_pseudostate(node: DiagramNode, box: BoundingBox, arrows_go_right: bool) -> str:
    """Return the SVG of a pseudostate: initial dot, fork, "stays", or a junction or history with its title.

    Args:
        node: the pseudostate.
        box: its position and size.
        arrows_go_right: a title is below it, else to its right.
    """
    if node.shape is NodeShape.INITIAL:
        return circle("solid", box.x, box.y, radius=DOT_DIAMETER / 2)
    if node.shape is NodeShape.FORK:
        return rect("solid", box, corner=1)
    if node.shape is NodeShape.STAY:
        return text("label", box.x, y=box.y + TEXT_BASELINE_DROP, content=node.title)
    if node.shape is NodeShape.JUNCTION:
        radius = JUNCTION_WIDTH / 2
        left_corner = f"M{box.x - radius:.1f},{box.y:.1f}"
        rhombus = f"{left_corner} l{radius:g},{-radius:g} l{radius:g},{radius:g} l{-radius:g},{radius:g} z"
        return path("sign", rhombus) + _title_beside(node, box, radius, arrows_go_right)
    # else a history, shallow or deep
    radius = CIRCLE_DIAMETER / 2
    letters = "H" if node.shape is NodeShape.HISTORY else "H*"
    ring = circle("sign", box.x, box.y, radius=radius - 1)
    name = text("sign-name", box.x, y=box.y + NAME_BASELINE_DROP, content=letters)
    return ring + name + _title_beside(node, box, radius, arrows_go_right)


def _title_beside(node: DiagramNode, box: BoundingBox, radius: float, arrows_go_right: bool) -> str:
    """Return the SVG of a symbol's title, if it has one: below it if arrows go right, else to its right."""
    if not node.title:
        return ""
    if arrows_go_right:
        return text("label", box.x, y=box.y + radius + ROW_HEIGHT - 3, content=node.title)
    return text("label left", x=box.x + radius + 6, y=box.y + TEXT_BASELINE_DROP, content=node.title)


CORNER_RADIUS = 7.0
"""Radius of a corner [px]."""

HOOK_OUT = 8.0
HOOK_ALONG = 11.0
"""Extent of a hook out of a border, and along it [px]."""


def draw_link(routed_link: RoutedLink, marks: DiagramMarks) -> str:
    """Return a link with its label as SVG: a line up to the label, an arrow behind it, and the texts."""
    mark = combined_mark(marks, routed_link.link.transition_keys)
    mark_class = f" {mark.css_class}" if mark else ""
    *line_pieces, arrow_piece = _split_at_label(_add_hook(routed_link), routed_link.label_box)
    parts = [path(f"line{mark_class}", _rounded_path(piece)) for piece in line_pieces]
    parts.append(path(f"arrow{mark_class}", _rounded_path(arrow_piece)))
    return "".join([*parts, *_label_parts(routed_link, marks)])


def _label_parts(routed_link: RoutedLink, marks: DiagramMarks) -> list[str]:
    """Return the SVG texts of a link's label, with the priority numbers beside its lines."""
    box = routed_link.label_box
    if box is None:
        return []
    lines = visible_lines(routed_link.link.label_lines)
    text_block_width, _ = lines_size(lines)
    first_y = box.y - (len(lines) - 1) * ROW_HEIGHT / 2 + LABEL_FONT * BASELINE_SHARE
    left = box.x + box.width / 2 - LABEL_SIDE_PADDING - text_block_width
    is_left_aligned = any(line.priority_number or line.text.startswith(" ") for line in lines)
    label_class = "label left" if is_left_aligned else "label"
    x = left if is_left_aligned else box.x
    parts = []
    for i, line in enumerate(lines):
        mark = combined_mark(marks, line.transition_keys)
        y = first_y + i * ROW_HEIGHT
        mark_class = f" {mark.css_class}" if mark else ""
        parts.append(text(f"{label_class}{mark_class}", x, y, content=line.text))
        if line.priority_number:
            parts.append(text(f"rank{mark_class}", x=left - 2, y=y - 2, content=str(line.priority_number)))
    return parts


def _add_hook(routed_link: RoutedLink) -> list[Point]:
    """Return the route of a link, with a hook if the link leaves a state although it ends inside it.

    The hook is three more corners at the border of the state, which turn the line back to the border.
    """
    points = list(routed_link.corners)
    if routed_link.link.hook is Hook.START:
        return [*_hook_corners(points[0], points[1]), *points]
    if routed_link.link.hook is Hook.END:
        return [*points, *_hook_corners(points[-1], points[-2])[::-1]]
    return points


def _hook_corners(end: Point, previous: Point) -> list[Point]:
    """Return three more corners behind the end of a route at a border, which turn it back to the border.

    Args:
        end: the end of the route, on the border.
        previous: the corner before it, inside the state.

    Returns:
        The corners in the order from the border to `end`.
    """
    end_x, end_y = end
    previous_x, previous_y = previous
    length = math.dist(end, previous) or 1.0
    out_x = (end_x - previous_x) / length * HOOK_OUT
    out_y = (end_y - previous_y) / length * HOOK_OUT
    # along the border to the left or up; the route is horizontal or vertical
    along_x = -abs((end_y - previous_y) / length) * HOOK_ALONG
    along_y = -abs((end_x - previous_x) / length) * HOOK_ALONG
    outer_x = end_x + out_x
    outer_y = end_y + out_y
    return [(end_x + along_x, end_y + along_y), (outer_x + along_x, outer_y + along_y), (outer_x, outer_y)]


def _split_at_label(points: Sequence[Point], label: BoundingBox | None) -> list[list[Point]]:
    """Return the two parts of a route before and after its label; the whole route if no label is on it."""
    if label is None:
        return [list(points)]
    box = label.grown(-1)  # so that a route along the border of the label does not cross it
    before_label: list[Point] = []
    after_label: list[Point] = []
    for start, end in pairwise(points):
        crossing = _box_crossing(start, end, box)
        if crossing is None:
            part = after_label if after_label else before_label
            part.extend([start, end])
            continue
        entry_point, exit_point = crossing
        if not after_label:
            before_label += [start, entry_point]
        after_label = [exit_point, end]
    if not after_label:
        return [list(points)]
    return [_drop_repeated(before_label), _drop_repeated(after_label)]


def _box_crossing(start: Point, end: Point, box: BoundingBox) -> tuple[Point, Point] | None:
    """Return the points where a straight line enters and leaves a box, None if it does not meet it.

    They are searched in steps of one pixel.
    """
    length = math.dist(start, end)
    shares = [step / max(length, 1.0) for step in range(int(length) + 1)]
    shares_inside = [share for share in shares if box.contains(interpolate(start, end, share))]
    if not shares_inside:
        return None
    entry_point = interpolate(start, end, shares_inside[0])
    exit_point = interpolate(start, end, min(shares_inside[-1], 1.0))
    return entry_point, exit_point


def _drop_repeated(points: Sequence[Point]) -> list[Point]:
    """Return points without those that equal the point before."""
    return [point for i, point in enumerate(points) if not i or point != points[i - 1]]


def _rounded_path(points: Sequence[Point]) -> str:
    """Return the SVG path data of a route with rounded corners."""
    parts = [f"M{_coordinates(points[0])}"]
    for previous, corner, following in zip(points, points[1:], points[2:], strict=False):
        length_before = math.dist(previous, corner) or 1.0
        length_after = math.dist(corner, following) or 1.0
        radius = min(CORNER_RADIUS, length_before / 2, length_after / 2)
        arc_start = interpolate(corner, previous, radius / length_before)
        arc_end = interpolate(corner, following, radius / length_after)
        parts.append(f"L{_coordinates(arc_start)} Q{_coordinates(corner)} {_coordinates(arc_end)}")
    return " ".join([*parts, f"L{_coordinates(points[-1])}"])


def _coordinates(point: Point) -> str:
    """Return a point as SVG path data: `12.5,30.0`."""
    x, y = point
    return f"{x:.1f},{y:.1f}"
