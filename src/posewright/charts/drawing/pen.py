"""Sizes, fonts, colours and SVG elements of all pictures of charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from posewright.charts.drawing.diagram import CoverageMark, DiagramNode, NodeShape, TextLine

Point = tuple[float, float]


@dataclass(frozen=True)
class BoundingBox:
    """A rectangle by its centre and size."""

    x: float
    y: float
    width: float
    height: float

    def overlap(self, box: BoundingBox) -> float:
        """Return the area of the intersection of two boxes."""
        common_width = (self.width + box.width) / 2 - abs(self.x - box.x)
        common_height = (self.height + box.height) / 2 - abs(self.y - box.y)
        return common_width * common_height if common_width > 0 and common_height > 0 else 0.0

    def contains(self, point: Point) -> bool:
        """Return whether a point is inside or on the border."""
        x, y = point
        return abs(x - self.x) <= self.width / 2 and abs(y - self.y) <= self.height / 2

    def grown(self, margin: float) -> BoundingBox:
        """Return the box enlarged by a margin on all sides."""
        return BoundingBox(self.x, self.y, width=self.width + 2 * margin, height=self.height + 2 * margin)


def interpolate(start: Point, end: Point, share: float) -> Point:
    """Return the point at a share of the way from `start` (0) to `end` (1)."""
    start_x, start_y = start
    end_x, end_y = end
    return start_x + (end_x - start_x) * share, start_y + (end_y - start_y) * share


NODE_FONT = 15.0
LABEL_FONT = 12.0
TITLE_FONT = 17.0
"""Heights of letters [px]."""

PRIORITY_FONT = 9.5
"""Height of the small priority numbers before transitions that are tested in order [px]."""

LETTER_WIDTH_RATIO = 0.62
LINE_HEIGHT_RATIO = 1.3
"""Width of a letter of a fixed-width font, and height of a line, relative to the font size."""

ROW_HEIGHT = round(LINE_HEIGHT_RATIO * LABEL_FONT)
"""From a line of text to the next [px]."""

TITLE_BAND_HEIGHT = 26
"""Height of the band with a state's name [px]."""

TITLE_BASELINE = 18
"""From the top of a box to the line on which its name stands [px]."""

SIDE_PADDING = 12
"""Room between text and the border of its box [px]."""

LABEL_SIDE_PADDING = 5
"""Room at each side of the text on an arrow [px]."""

PRIORITY_ROOM = 4
"""Additional room at the left of a label with priority numbers [px]; with the padding, it holds one digit."""

PRIORITY_DIGIT_WIDTH = 7
"""Additional room for every further digit of a priority number [px]."""

DOT_DIAMETER = 12
JUNCTION_WIDTH = 20
CIRCLE_DIAMETER = 24
FORK_THICKNESS = 6
"""Sizes of initial dots, of junctions, and of history symbols and final states; thickness of forks [px]."""

FORK_LENGTH = 36
MIN_STATE_WIDTH = 72
MIN_STATE_HEIGHT = 38

LABEL_PADDING = 4
LINES_BOTTOM_PADDING = 8
"""Room above and below a label together, and below the lines in a state [px]."""

Size = tuple[int, int]
"""Width and height [px]."""


def text_width(text: str, font: float = LABEL_FONT) -> int:
    """Return an upper bound of the width of a text [px]."""
    return math.ceil(len(text) * LETTER_WIDTH_RATIO * font)


def lines_size(lines: Sequence[TextLine]) -> Size:
    """Return the size of lines of text without the empty ones [px]."""
    texts = [line.text for line in lines if line.text]
    return max((text_width(text) for text in texts), default=0), len(texts) * ROW_HEIGHT


def visible_lines(lines: Sequence[TextLine]) -> list[TextLine]:
    """Return the visible lines of an arrow's label.

    A line without text shows the priority number of its transition as its text: the place in the order in
    which transitions are tried. A line with neither is not visible.
    """
    visible = []
    for line in lines:
        if line.text:
            visible.append(line)
        elif line.priority_number:
            visible.append(TextLine(str(line.priority_number), line.transition_keys))
    return visible


def label_size(lines: Sequence[TextLine]) -> Size | None:
    """Return the size of an arrow's label, None if it has no visible line.

    The size includes the priority numbers that stand at the left of the lines, except for `PRIORITY_ROOM`.
    """
    shown_lines = visible_lines(lines)
    if not shown_lines:
        return None
    text_width_px, text_height_px = lines_size(shown_lines)
    n_priority_digits = max(len(str(line.priority_number)) for line in shown_lines)
    # the padding has room for the first digit
    further_digits_width = (n_priority_digits - 1) * PRIORITY_DIGIT_WIDTH
    width = text_width_px + 2 * LABEL_SIDE_PADDING + further_digits_width
    return width, text_height_px + LABEL_PADDING


def head_size(node: DiagramNode) -> Size:
    """Return the size of a state's title with the lines below it."""
    lines_width, lines_height = lines_size(node.lines)
    title_width = text_width(node.title, NODE_FONT)
    height = TITLE_BAND_HEIGHT + lines_height + (LINES_BOTTOM_PADDING if lines_height > 0 else 0)
    return max(lines_width, title_width) + 2 * SIDE_PADDING, height


def leaf_size(node: DiagramNode, arrows_go_right: bool) -> Size:
    """Return the size of a node without inner nodes.

    Args:
        node: the node.
        arrows_go_right: arrows around it mostly go to the right, not down.
    """
    if node.shape is NodeShape.STATE or node.shape is NodeShape.REGION:
        width, height = head_size(node)
        bottom_room = 2 if node.lines else 12
        return max(width, MIN_STATE_WIDTH), max(height + bottom_room, MIN_STATE_HEIGHT)
    if node.shape is NodeShape.STAY:
        return text_width(node.title) + 8, ROW_HEIGHT + 4
    if node.shape is NodeShape.FORK:  # a bar across the direction of the arrows
        return (FORK_THICKNESS, FORK_LENGTH) if arrows_go_right else (FORK_LENGTH, FORK_THICKNESS)
    diameters = {NodeShape.INITIAL: DOT_DIAMETER, NodeShape.JUNCTION: JUNCTION_WIDTH}
    diameter = diameters.get(node.shape, CIRCLE_DIAMETER)  # else a history or a final state
    return diameter, diameter


INK = "#26323f"
PAPER = "#ffffff"
FILL = "#eef3f8"
ACTIVE_FILL = "#ffd98a"
ACTIVE_INK = "#a05a00"
"""Colours with enough contrast to be printed in grey."""

OUTER_FILL = "#fff4dc"
"""Fill of a state with an active one inside it."""

MARK_INKS = {CoverageMark.COVERED: "#1d7a46", CoverageMark.PARTLY: "#a86400", CoverageMark.MISSED: "#c0322b"}
MARK_FILLS = {CoverageMark.COVERED: "#dff2e6", CoverageMark.PARTLY: "#fdf0d3", CoverageMark.MISSED: "#fbe4e1"}
MARK_DASHES = {CoverageMark.COVERED: "none", CoverageMark.PARTLY: "9 3", CoverageMark.MISSED: "3 3"}
"""Colours of marks; dashes differ as well, for printing in grey."""

_SANS = '"DejaVu Sans", Verdana, Helvetica, Arial, sans-serif'
_MONO = '"DejaVu Sans Mono", Menlo, Consolas, monospace'
_STYLE = f"""
  text {{ font-family: {_SANS}; fill: {INK}; text-anchor: middle; }}
  .name {{ font-size: {NODE_FONT:g}px; font-weight: 600; }}
  .label, .legend {{ font-family: {_MONO}; font-size: {LABEL_FONT:g}px; }}
  .left {{ text-anchor: start; }}
  .rank {{ font-size: {PRIORITY_FONT:g}px; font-weight: 700; text-anchor: end; }}
  .title {{ font-size: {TITLE_FONT:g}px; font-weight: 600; text-anchor: start; }}
  .legend {{ text-anchor: start; white-space: pre; }}
  .state {{ fill: {FILL}; stroke: {INK}; stroke-width: 1.6; }}
  .active {{ fill: {ACTIVE_FILL}; stroke: {ACTIVE_INK}; stroke-width: 2.6; }}
  .arrow {{ fill: none; stroke: {INK}; stroke-width: 1.3; marker-end: url(#head); }}
  .paper {{ fill: {PAPER}; }}
  .region {{ font-size: 13px; font-style: italic; font-weight: 600; }}
  .sign-name {{ font-size: 13px; font-weight: 600; }}
  .compound {{ fill: {INK}; fill-opacity: 0.045; stroke: {INK}; stroke-width: 1.6; }}
  .frame {{ fill: none; stroke: {INK}; stroke-width: 1.6; }}
  .outer {{ fill: {OUTER_FILL}; fill-opacity: 1; stroke: {ACTIVE_INK}; stroke-width: 1.6; }}
  .sign {{ fill: {PAPER}; stroke: {INK}; stroke-width: 1.5; }}
  .solid {{ fill: {INK}; }}
  .line {{ fill: none; stroke: {INK}; stroke-width: 1.3; }}
  .divider {{ fill: none; stroke: {INK}; stroke-width: 1.1; stroke-dasharray: 7 5; }}
""" + "".join(
    f"""\
  .{mark.css_class} {{ stroke: {MARK_INKS[mark]}; stroke-dasharray: {MARK_DASHES[mark]}; }}
  .state.{mark.css_class}, .sign.{mark.css_class}, .swatch.{mark.css_class} {{ fill: {MARK_FILLS[mark]}; }}
  .compound.{mark.css_class} {{ fill: {MARK_FILLS[mark]}; fill-opacity: 0.35; }}
  .area.{mark.css_class} {{ fill: {MARK_FILLS[mark]}; fill-opacity: 0.35; stroke-width: 1; }}
  text.{mark.css_class} {{ fill: {MARK_INKS[mark]}; stroke: none; }}
  .arrow.{mark.css_class} {{ stroke-width: 1.7; marker-end: url(#head-{mark.css_class}); }}
  .line.{mark.css_class} {{ stroke-width: 1.7; }}
"""
    for mark in CoverageMark
)


def _arrowhead(name: str, ink: str) -> str:
    """Return the SVG marker of an arrowhead, to be used by its name as `url(#name)`."""
    return (
        f'<marker id="{name}" viewBox="0 0 10 8" refX="9" refY="4" markerWidth="9" markerHeight="7.2" '
        'markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0,0 L10,4 L0,8 L2.4,4 z" fill="{ink}"/></marker>'
    )


def page(name: str, corners: tuple[float, float, float, float], parts: Iterable[str]) -> str:
    """Return a complete SVG document.

    Args:
        name: its title.
        corners: left, top, right and bottom of the page [px].
        parts: its SVG elements.
    """
    left, top, right, bottom = corners
    width = right - left
    height = bottom - top
    arrowheads = [_arrowhead("head", INK)]
    arrowheads += [_arrowhead(f"head-{mark.css_class}", MARK_INKS[mark]) for mark in CoverageMark]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}">',
            f"<title>{escape(name)}</title>",
            f"<style>{_STYLE}</style><defs>{''.join(arrowheads)}</defs>",
            f'<rect class="paper" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def rect(css_class: str, box: BoundingBox, corner: float) -> str:
    """Return a rectangle with round corners as SVG."""
    x = box.x - box.width / 2
    y = box.y - box.height / 2
    return (
        f'<rect class="{css_class}" x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="{corner:g}"/>'
    )


def text(css_class: str, x: float, y: float, content: str) -> str:
    """Return a line of text as SVG, its baseline at `y`."""
    return f'<text class="{css_class}" xml:space="preserve" x="{x:.1f}" y="{y:.1f}">{escape(content)}</text>'


def circle(css_class: str, x: float, y: float, radius: float) -> str:
    """Return a circle as SVG."""
    return f'<circle class="{css_class}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def path(css_class: str, data: str) -> str:
    """Return a path as SVG, given its path data."""
    return f'<path class="{css_class}" d="{data}"/>'
