"""Pictures of charts: SVG with a layout of our own, Mermaid text, and runs over time."""

from __future__ import annotations

from posewright.charts.drawing.composing import compose
from posewright.charts.drawing.geometry import Box, Point
from posewright.charts.drawing.labels import Style, edges_of
from posewright.charts.drawing.layered.arranging import arrange
from posewright.charts.drawing.layered.compaction import Sort, Thing, compact
from posewright.charts.drawing.layered.graph import Item, Pin, Side, Wire
from posewright.charts.drawing.layered.ranking import by_breadth, by_colour, by_depth, rank
from posewright.charts.drawing.layered.simplex import Gap, shortest
from posewright.charts.drawing.layered.tracks import CLOSE, Jog, assign
from posewright.charts.drawing.layout import lay_out
from posewright.charts.drawing.levels import levels_of
from posewright.charts.drawing.marks import Mark
from posewright.charts.drawing.mermaid import draw_mermaid
from posewright.charts.drawing.nested.family import Family
from posewright.charts.drawing.nested.metrics import text_width
from posewright.charts.drawing.nested.scene import Scene
from posewright.charts.drawing.picture import draw_chart, style_called
from posewright.charts.drawing.runs import envelope, runs_of
from posewright.charts.drawing.svg import draw_svg
from posewright.charts.drawing.timeline import draw_timeline, timeline_svg

__all__ = [
    "CLOSE",
    "Box",
    "Family",
    "Gap",
    "Item",
    "Jog",
    "Mark",
    "Pin",
    "Point",
    "Scene",
    "Side",
    "Sort",
    "Style",
    "Thing",
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
    "edges_of",
    "envelope",
    "lay_out",
    "levels_of",
    "rank",
    "runs_of",
    "shortest",
    "style_called",
    "text_width",
    "timeline_svg",
]
