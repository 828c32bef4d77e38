"""Pictures of charts: SVG with a layout of our own, Mermaid text, and runs over time."""

from __future__ import annotations

from posewright.charts.drawing.diagram import ROUND, Link, Mark, Shape
from posewright.charts.drawing.layout.arranging import CLOSE, Jog, Obstacle, arrange, assign, compact
from posewright.charts.drawing.layout.edge_sides import Family
from posewright.charts.drawing.layout.layout_search import Scene
from posewright.charts.drawing.layout.ordering import ObstacleKind
from posewright.charts.drawing.layout.ranking import Item, Side, Wire, by_breadth, by_colour, by_depth, rank
from posewright.charts.drawing.layout.spacing import Spacing, solve_spacings
from posewright.charts.drawing.mermaid import draw_mermaid
from posewright.charts.drawing.pen import Box, Point, text_width
from posewright.charts.drawing.svg import compose, draw_chart, draw_svg, style_called
from posewright.charts.drawing.timeline import draw_timeline, envelope, levels_of, runs_of, timeline_svg
from posewright.charts.drawing.words import Style

__all__ = [
    "CLOSE",
    "ROUND",
    "Box",
    "Family",
    "Item",
    "Jog",
    "Link",
    "Mark",
    "Obstacle",
    "ObstacleKind",
    "Point",
    "Scene",
    "Shape",
    "Side",
    "Spacing",
    "Style",
    "Wire",
    "arrange",
    "assign",
    "by_breadth",
    "by_colour",
    "by_depth",
    "compact",
    "compose",
    "draw_chart",
    "draw_mermaid",
    "draw_svg",
    "draw_timeline",
    "envelope",
    "levels_of",
    "rank",
    "runs_of",
    "solve_spacings",
    "style_called",
    "text_width",
    "timeline_svg",
]
