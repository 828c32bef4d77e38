"""Pictures of charts: SVG with a layout of our own, and Mermaid text."""

from posewright.charts.drawing.mermaid import draw_mermaid
from posewright.charts.drawing.picture import draw_chart, style_called
from posewright.charts.drawing.svg import draw_svg

__all__ = ["draw_chart", "draw_mermaid", "draw_svg", "style_called"]
