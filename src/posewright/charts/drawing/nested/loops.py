"""Links from a node to itself: beside it, on a side that no other link meets."""

from __future__ import annotations

from posewright.charts.drawing.nested.blocks import Point, Rect, Route

REACH = 14
"""How far a loop reaches out [px]."""

HALF_ALONG, HALF_ACROSS = 12, 9
"""Half the width of a loop above a node, and half the height of one to its right [px]."""

CORNER = 26
"""From the corner with the title to the middle of a loop [px]."""


def loop_room(label: Point, exists: bool, sideways: bool) -> tuple[int, int, int]:
    """Return the room that a node's loop needs: before the node, after it, and along it [px]."""
    if not exists:
        return 0, 0, 0
    thick, broad = label
    return (REACH + 2 + broad, 0, thick) if sideways else (0, REACH + 4 + broad, thick)


def loop(rect: Rect, label: Point, sideways: bool, compound: bool) -> tuple[Route, Point]:
    """Return the way of a loop and the middle of what is written on it.

    Args:
        rect: of its node.
        label: size of what is written.
        sideways: other arrows go to the right, so the loop is above the node; else it is to the right of it.
        compound: the node has something inside, and its title in the corner; no other link is there.
    """
    (r, v), (thick, broad) = rect.corner, rect.size
    fits = compound and label[0] <= thick
    if sideways:
        middle, words = r + (CORNER if compound else thick // 2), r + (label[0] if fits else thick) // 2
        ends = middle + HALF_ALONG, middle - HALF_ALONG
        route = (ends[0], v), (ends[0], v - REACH), (ends[1], v - REACH), (ends[1], v)
        return route, (words, v - REACH - 2 - label[1] // 2)
    middle = r + (max(CORNER, label[0] // 2) if fits else thick // 2)
    ends, edge = (middle - HALF_ACROSS, middle + HALF_ACROSS), v + broad
    route = (ends[0], edge), (ends[0], edge + REACH), (ends[1], edge + REACH), (ends[1], edge)
    return route, (middle, edge + REACH + 4 + label[1] // 2)
