"""SVG text of a chart."""

from __future__ import annotations

from collections.abc import Iterable

from posewright.charts.drawing.geometry import Box, Curve
from posewright.charts.drawing.labels import Style, caption, edges_of, is_plain
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
from posewright.charts.drawing.marks import Marks, highlight
from posewright.charts.drawing.pen import INK, TITLE_FONT, page, path, rect, text
from posewright.charts.drawing.statechart_svg import draw_statechart
from posewright.charts.model import Chart
from posewright.errors import InputError

MOST_STATES = 250
"""States in a picture: more cannot be read, and take minutes."""

ROUND_TABLE = 10
"""States that fit on an ellipse; more are laid out in layers."""


def draw_svg(
    chart: Chart,
    *,
    active: str | Iterable[str] | None = None,
    style: Style = Style.AUTO,
    marks: Marks | None = None,
) -> str:
    """Return a picture of a chart.

    Args:
        chart: what to draw.
        active: states to be highlighted: one, several, or several in one word, joined with `+`.
        style: words, signs or numbers on the arrows.
        marks: of states by name, and of transitions by state and place, such as what a run has covered.

    Raises:
        InputError: the chart is too large.
        UnknownNameError: there is no state called as one of `active`.
    """
    if len(chart.every_state) > MOST_STATES:
        raise InputError(
            f"{len(chart.every_state)} states in one picture",
            hint=f"at most {MOST_STATES}; Mermaid takes more",
        )
    lit = highlight(chart, active)
    if marks or not is_plain(chart) or len(chart.states) > ROUND_TABLE:
        return draw_statechart(chart, lit, marks or {}, style)
    return _draw_plain(chart, lit.inner, style)


def _draw_plain(chart: Chart, active: frozenset[str], style: Style) -> str:
    """Return a picture of a flat machine, its states on an ellipse."""
    layout, notes = lay_out(chart, edges_of(chart, style)), caption(chart, style)
    left, top, right, bottom = layout.bounds()
    top, low = top - 2 * TITLE_FONT, bottom
    bottom += len(notes) * LINE * LABEL_FONT + (LABEL_FONT if notes else 0)
    widest = max([len(chart.name) * TITLE_FONT, *(len(note) * LABEL_FONT for note in notes)])
    right = max(right, left + 40 + widest * LETTER)
    parts = [
        text("title", left + 20, top + 30, chart.name),
        *_body(chart, layout, active),
        *(text("legend", left + 20, low + i * LINE * LABEL_FONT, note) for i, note in enumerate(notes, 1)),
    ]
    return page(chart.name, (left, top, right, bottom), parts, rich=False)


def _body(chart: Chart, layout: Layout, active: frozenset[str]) -> list[str]:
    start = layout.start
    return [
        *(_path(arrow.curve) for arrow in layout.arrows),
        _path(start),
        f'<circle cx="{start.a[0]:.1f}" cy="{start.a[1]:.1f}" r="5.5" fill="{INK}"/>',
        *(_state(chart, name, box, name in active) for name, box in layout.nodes.items()),
        *(_label(arrow) for arrow in layout.arrows),
    ]


def _path(curve: Curve) -> str:
    a, b, c, d = (f"{x:.1f},{y:.1f}" for x, y in (curve.a, curve.b, curve.c, curve.d))
    return path("arrow", f"M{a} C{b} {c} {d}")


def _state(chart: Chart, name: str, box: Box, active: bool) -> str:
    lines = node_lines(chart, name)
    look = "state active" if active else "state"
    below = (len(lines) - 1) * LINE * LABEL_FONT
    first = box.y - below / 2 + NODE_FONT * 0.36
    parts = [rect(look, box, 12), text("name", box.x, first, name)]
    parts += [
        text("label", box.x, first + (i + 1) * LINE * LABEL_FONT, line) for i, line in enumerate(lines[1:])
    ]
    return "".join(parts)


def _label(arrow: Arrow) -> str:
    box, lines = arrow.label, arrow.edge.lines
    first = box.y - (len(lines) - 1) * LINE * LABEL_FONT / 2 + LABEL_FONT * 0.36
    look, x = "label", box.x
    if any(line.startswith(" ") for line in lines):
        look, x = "label left", box.x - box.width / 2 + 4
    texts = [text(look, x, first + i * LINE * LABEL_FONT, line) for i, line in enumerate(lines)]
    return rect("paper", box, 4) + "".join(texts)
