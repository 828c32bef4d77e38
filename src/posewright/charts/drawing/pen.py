"""Strokes, letters and colours that every picture of a chart is drawn with."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

from posewright.charts.drawing.geometry import Box
from posewright.charts.drawing.layout import LABEL_FONT, NODE_FONT
from posewright.charts.drawing.marks import Mark

INK, PAPER, FILL, ACTIVE_FILL, ACTIVE_INK = "#26323f", "#ffffff", "#eef3f8", "#ffd98a", "#a05a00"
"""Colours, dark enough on white to be printed in grey."""

OUTER_FILL = "#fff4dc"
"""Fill of a state with an active one inside it."""

MARK_INKS = {Mark.COVERED: "#1d7a46", Mark.PARTLY: "#a86400", Mark.MISSED: "#c0322b"}
MARK_FILLS = {Mark.COVERED: "#dff2e6", Mark.PARTLY: "#fdf0d3", Mark.MISSED: "#fbe4e1"}
MARK_DASHES = {Mark.COVERED: "none", Mark.PARTLY: "9 3", Mark.MISSED: "3 3"}
"""Colours of marks; lines differ as well, for those who print in grey."""

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
_MORE_STYLE = f"""
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
  .{mark.look} {{ stroke: {MARK_INKS[mark]}; stroke-dasharray: {MARK_DASHES[mark]}; }}
  .state.{mark.look}, .sign.{mark.look}, .swatch.{mark.look} {{ fill: {MARK_FILLS[mark]}; }}
  .compound.{mark.look} {{ fill: {MARK_FILLS[mark]}; fill-opacity: 0.35; }}
  .area.{mark.look} {{ fill: {MARK_FILLS[mark]}; fill-opacity: 0.35; stroke-width: 1; }}
  text.{mark.look} {{ fill: {MARK_INKS[mark]}; stroke: none; }}
  .arrow.{mark.look} {{ stroke-width: 1.7; marker-end: url(#head-{mark.look}); }}
  .line.{mark.look} {{ stroke-width: 1.7; }}
"""
    for mark in Mark
)


def _head(name: str, ink: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 10 8" refX="9" refY="4" markerWidth="9" markerHeight="7.2" '
        'markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0,0 L10,4 L0,8 L2.4,4 z" fill="{ink}"/></marker>'
    )


def page(name: str, corners: tuple[float, float, float, float], parts: Iterable[str], *, rich: bool) -> str:
    """Return a whole picture.

    Args:
        name: what is drawn.
        corners: left, top, right and bottom of the page [px].
        parts: what is on it.
        rich: whether it uses more than boxes, arrows and text.
    """
    left, top, right, bottom = corners
    width, height = right - left, bottom - top
    heads = [_head("head", INK)]
    if rich:
        heads += [_head(f"head-{mark.look}", MARK_INKS[mark]) for mark in Mark]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}">',
            f"<title>{escape(name)}</title>",
            f"<style>{_STYLE}{_MORE_STYLE if rich else ''}</style><defs>{''.join(heads)}</defs>",
            f'<rect class="paper" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def rect(look: str, box: Box, corner: float) -> str:
    """Return a rectangle with round corners."""
    x, y = box.x - box.width / 2, box.y - box.height / 2
    return (
        f'<rect class="{look}" x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="{corner:g}"/>'
    )


def text(look: str, x: float, y: float, words: str) -> str:
    """Return a line of text that stands on `y`."""
    return f'<text class="{look}" xml:space="preserve" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def circle(look: str, x: float, y: float, radius: float) -> str:
    """Return a circle."""
    return f'<circle class="{look}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def path(look: str, way: str) -> str:
    """Return a path."""
    return f'<path class="{look}" d="{way}"/>'
