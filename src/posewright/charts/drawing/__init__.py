"""Pictures of charts: SVG with a layout of our own, Mermaid text, and runs over time."""

from posewright.charts.drawing.labels import Style
from posewright.charts.drawing.marks import Mark, Marks
from posewright.charts.drawing.mermaid import draw_mermaid
from posewright.charts.drawing.picture import draw_chart, style_called
from posewright.charts.drawing.svg import draw_svg
from posewright.charts.drawing.timeline import Moment, draw_timeline, timeline_svg

__all__ = [
    "Mark",
    "Marks",
    "Moment",
    "Style",
    "draw_chart",
    "draw_mermaid",
    "draw_svg",
    "draw_timeline",
    "style_called",
    "timeline_svg",
]
