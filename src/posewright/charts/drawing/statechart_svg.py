"""SVG text of a statechart, with states inside states."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.charts.drawing.composing import compose
from posewright.charts.drawing.diagram import walk_nodes
from posewright.charts.drawing.geometry import Box
from posewright.charts.drawing.keys import Placed
from posewright.charts.drawing.labels import Style
from posewright.charts.drawing.layout import LETTER
from posewright.charts.drawing.links_svg import draw_link
from posewright.charts.drawing.marks import Highlight, Mark, Marks, mark_of
from posewright.charts.drawing.nested.metrics import text_width
from posewright.charts.drawing.nested.scene import Scene
from posewright.charts.drawing.nodes_svg import NodeDrawing
from posewright.charts.drawing.pen import TITLE_FONT, page, path, rect, text
from posewright.charts.model import Chart

MARGIN, HEAD = 20.0, 48.0
"""Room around the picture, and above it for the title [px]."""

LEGEND = 34.0
"""Height of the legend of marks [px]."""


def draw_statechart(chart: Chart, active: Highlight, marks: Marks, style: Style) -> str:
    """Return a picture of any chart."""
    found = compose(chart, style, marks)
    width, height = found.key.width, found.key.height + (LEGEND if marks else 0)
    width = max(width, len(chart.name) * TITLE_FONT * LETTER)
    parts = [
        text("title", 0, -HEAD + 30, chart.name),
        *_body(found.scene, active, marks),
        *(_key_line(placed, marks) for placed in found.key.lines),
        *(_legend(height) if marks else ()),
    ]
    return page(chart.name, (-MARGIN, -HEAD, width + MARGIN, height + MARGIN), parts, rich=True)


def _body(scene: Scene, active: Highlight, marks: Marks) -> Iterator[str]:
    drawing = NodeDrawing(scene, active, marks)
    if scene.diagram.root.parallel:
        yield rect("frame", Box(scene.width / 2, scene.height / 2, scene.width, scene.height), 10)
    for outer in walk_nodes(scene.diagram.root):
        for node in outer.inside:
            yield drawing.draw(node, scene.sideways[outer.key])
    for (ax, ay), (bx, by) in scene.dividers:
        yield path("divider", f"M{ax:.1f},{ay:.1f} L{bx:.1f},{by:.1f}")
    for track in scene.tracks:
        yield draw_link(track, marks)


def _key_line(placed: Placed, marks: Marks) -> str:
    mark = mark_of(marks, placed.line.ways)
    return text(f"legend {mark.look}" if mark else "legend", placed.x, placed.y, placed.line.text)


def _legend(bottom: float) -> Iterator[str]:
    """Yield what the marks mean."""
    x, y = 0.0, bottom - LEGEND / 2 + 8
    for mark in Mark:
        yield rect(f"state {mark.look}", Box(x + 15, y, 30, 16), 4)
        yield path(f"line {mark.look}", f"M{x + 38:.1f},{y:.1f} h30")
        words = f"{mark.sign}{mark.value}"
        yield text("legend", x + 76, y + 4, words)
        x += 76 + text_width(words) + 28
