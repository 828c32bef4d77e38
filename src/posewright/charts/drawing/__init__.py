"""Pictures of charts: SVG with a layout of our own, Mermaid text, and runs over time."""

from __future__ import annotations

from posewright.charts.drawing.diagram import Mark
from posewright.charts.drawing.mermaid import draw_mermaid
from posewright.charts.drawing.svg import draw_chart, draw_svg, style_called
from posewright.charts.drawing.timeline import draw_timeline, timeline_svg
from posewright.charts.drawing.words import Style

__all__ = [
    "Mark",
    "Style",
    "draw_chart",
    "draw_mermaid",
    "draw_svg",
    "draw_timeline",
    "style_called",
    "timeline_svg",
]
