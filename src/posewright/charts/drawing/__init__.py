"""Pictures of charts: SVG with its own layout, Mermaid text, and timelines of runs."""

from __future__ import annotations

from posewright.charts.drawing.diagram import ROUND_SHAPES, CoverageMark, DiagramLink, NodeShape
from posewright.charts.drawing.layout.arranging import (
    MIN_LINE_DISTANCE,
    Jog,
    Obstacle,
    arrange_items,
    assign_lanes,
    compact_layout,
)
from posewright.charts.drawing.layout.edge_sides import NodeHierarchy
from posewright.charts.drawing.layout.layout_search import Scene
from posewright.charts.drawing.layout.ordering import ObstacleKind
from posewright.charts.drawing.layout.ranking import (
    LayoutItem,
    LayoutWire,
    PortSide,
    order_by_breadth,
    order_by_colour,
    order_by_depth,
    rank_items,
)
from posewright.charts.drawing.layout.spacing import Spacing, solve_spacings
from posewright.charts.drawing.mermaid import draw_mermaid
from posewright.charts.drawing.pen import BoundingBox, Point, text_width
from posewright.charts.drawing.svg import compose_picture, draw_chart, draw_svg, label_style
from posewright.charts.drawing.timeline import draw_timeline, envelope, state_levels, timeline_svg, value_runs
from posewright.charts.drawing.words import LabelStyle

__all__ = [
    "MIN_LINE_DISTANCE",
    "ROUND_SHAPES",
    "BoundingBox",
    "CoverageMark",
    "DiagramLink",
    "Jog",
    "LabelStyle",
    "LayoutItem",
    "LayoutWire",
    "NodeHierarchy",
    "NodeShape",
    "Obstacle",
    "ObstacleKind",
    "Point",
    "PortSide",
    "Scene",
    "Spacing",
    "arrange_items",
    "assign_lanes",
    "compact_layout",
    "compose_picture",
    "draw_chart",
    "draw_mermaid",
    "draw_svg",
    "draw_timeline",
    "envelope",
    "label_style",
    "order_by_breadth",
    "order_by_colour",
    "order_by_depth",
    "rank_items",
    "solve_spacings",
    "state_levels",
    "text_width",
    "timeline_svg",
    "value_runs",
]
