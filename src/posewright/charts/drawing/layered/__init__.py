"""Layered layout of boxes and arrows (after Sugiyama), knowing nothing of charts.

Items get layers (`rank`), and then places in them and ways between them (`arrange`).
"""

from posewright.charts.drawing.layered.arranging import arrange
from posewright.charts.drawing.layered.graph import Arrangement, Item, Pin, Ranking, Side, Wire
from posewright.charts.drawing.layered.ranking import by_breadth, by_colour, by_depth, rank, turned

__all__ = [
    "Arrangement",
    "Item",
    "Pin",
    "Ranking",
    "Side",
    "Wire",
    "arrange",
    "by_breadth",
    "by_colour",
    "by_depth",
    "rank",
    "turned",
]
