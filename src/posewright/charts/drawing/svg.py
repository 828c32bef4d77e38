"""SVG text of a chart."""

from __future__ import annotations

from xml.sax.saxutils import escape

from posewright.charts.chart import Chart
from posewright.charts.drawing.geometry import Box, Curve
from posewright.charts.drawing.labels import Style, caption, edges_of
from posewright.charts.drawing.layout import (
    LABEL_FONT,
    LETTER,
    LINE,
    NODE_FONT,
    Arrow,
    Layout,
    lay_out,
    node_lines,
)

INK, PAPER, FILL, ACTIVE_FILL, ACTIVE_INK = "#26323f", "#ffffff", "#eef3f8", "#ffd98a", "#a05a00"
"""Colours, dark enough on white to be printed in grey."""

TITLE_FONT = 17.0
_SANS = '"DejaVu Sans", Verdana, Helvetica, Arial, sans-serif'
_MONO = '"DejaVu Sans Mono", Menlo, Consolas, monospace'
_STYLE = f"""
  text {{ font-family: {_SANS}; fill: {INK}; text-anchor: middle; }}
  .name {{ font-size: {NODE_FONT:g}px; font-weight: 600; }}
  .label, .legend {{ font-family: {_MONO}; font-size: {LABEL_FONT:g}px; }}
  .left {{ text-anchor: start; }}
  .title {{ font-size: {TITLE_FONT:g}px; font-weight: 600; text-anchor: start; }}
  .legend {{ text-anchor: start; white-space: pre; }}
  .state {{ fill: {FILL}; stroke: {INK}; stroke-width: 1.6; }}
  .active {{ fill: {ACTIVE_FILL}; stroke: {ACTIVE_INK}; stroke-width: 2.6; }}
  .arrow {{ fill: none; stroke: {INK}; stroke-width: 1.3; marker-end: url(#head); }}
  .paper {{ fill: {PAPER}; }}
"""
_HEAD = (
    '<marker id="head" viewBox="0 0 10 8" refX="9" refY="4" markerWidth="9" markerHeight="7.2" '
    f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L10,4 L0,8 L2.4,4 z" fill="{INK}"/></marker>'
)


def draw_svg(chart: Chart, *, active: str | None = None, style: Style = Style.AUTO) -> str:
    """Return a picture of a chart.

    Args:
        chart: what to draw.
        active: a state to be highlighted.
        style: words or signs on the arrows.

    Raises:
        UnknownNameError: there is no state called `active`.
    """
    if active is not None:
        chart.state(active)
    layout, notes = lay_out(chart, edges_of(chart, style)), caption(chart, style)
    left, top, right, bottom = layout.bounds()
    top, low = top - 2 * TITLE_FONT, bottom
    bottom += len(notes) * LINE * LABEL_FONT + (LABEL_FONT if notes else 0)
    widest = max([len(chart.name) * TITLE_FONT, *(len(note) * LABEL_FONT for note in notes)])
    right = max(right, left + 40 + widest * LETTER)
    width, height = right - left, bottom - top
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}">',
        f"<title>{escape(chart.name)}</title>",
        f"<style>{_STYLE}</style><defs>{_HEAD}</defs>",
        f'<rect class="paper" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"/>',
        _text("title", left + 20, top + 30, chart.name),
        *_body(chart, layout, active),
        *(_text("legend", left + 20, low + i * LINE * LABEL_FONT, note) for i, note in enumerate(notes, 1)),
    ]
    return "\n".join([*parts, "</svg>\n"])


def _body(chart: Chart, layout: Layout, active: str | None) -> list[str]:
    start = layout.start
    return [
        *(_path(arrow.curve) for arrow in layout.arrows),
        _path(start),
        f'<circle cx="{start.a[0]:.1f}" cy="{start.a[1]:.1f}" r="5.5" fill="{INK}"/>',
        *(_state(chart, name, box, name == active) for name, box in layout.nodes.items()),
        *(_label(arrow) for arrow in layout.arrows),
    ]


def _path(curve: Curve) -> str:
    a, b, c, d = (f"{x:.1f},{y:.1f}" for x, y in (curve.a, curve.b, curve.c, curve.d))
    return f'<path class="arrow" d="M{a} C{b} {c} {d}"/>'


def _state(chart: Chart, name: str, box: Box, active: bool) -> str:
    lines = node_lines(chart, name)
    look = "state active" if active else "state"
    below = (len(lines) - 1) * LINE * LABEL_FONT
    first = box.y - below / 2 + NODE_FONT * 0.36
    parts = [_rect(look, box, 12), _text("name", box.x, first, name)]
    parts += [
        _text("label", box.x, first + (i + 1) * LINE * LABEL_FONT, line) for i, line in enumerate(lines[1:])
    ]
    return "".join(parts)


def _label(arrow: Arrow) -> str:
    box, lines = arrow.label, arrow.edge.lines
    first = box.y - (len(lines) - 1) * LINE * LABEL_FONT / 2 + LABEL_FONT * 0.36
    look, x = "label", box.x
    if any(line.startswith(" ") for line in lines):
        look, x = "label left", box.x - box.width / 2 + 4
    texts = [_text(look, x, first + i * LINE * LABEL_FONT, line) for i, line in enumerate(lines)]
    return _rect("paper", box, 4) + "".join(texts)


def _rect(look: str, box: Box, corner: float) -> str:
    x, y = box.x - box.width / 2, box.y - box.height / 2
    return (
        f'<rect class="{look}" x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="{corner:g}"/>'
    )


def _text(look: str, x: float, y: float, text: str) -> str:
    return f'<text class="{look}" xml:space="preserve" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
