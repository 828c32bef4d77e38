"""Sizes of text and of the signs of a statechart [px]."""

from __future__ import annotations

import math
from collections.abc import Sequence

from posewright.charts.drawing.diagram import Line, Node, Shape
from posewright.charts.drawing.layout import LABEL_FONT, LETTER, LINE, NODE_FONT

ROW = round(LINE * LABEL_FONT)
"""From a line of text to the next [px]."""

TITLE_ROW = 26
"""Height of the band with a state's name [px]."""

TITLE_BASE = 18
"""From the top of a box to the line on which its name stands [px]."""

SIDE_ROOM = 12
"""Room between text and the border of its box [px]."""

DOT, DIAMOND, CIRCLE, BAR = 12, 20, 24, 6
"""Sizes of initial dots, junctions, history signs and final states, and the thickness of forks [px]."""

Size = tuple[int, int]
"""Width and height [px]."""


def text_width(text: str, font: float = LABEL_FONT) -> int:
    """Return the width of a text, never less than it needs [px]."""
    return math.ceil(len(text) * LETTER * font)


def lines_size(lines: Sequence[Line]) -> Size:
    """Return the size of lines of text [px]."""
    written = [line.text for line in lines if line.text]
    return max((text_width(text) for text in written), default=0), len(written) * ROW


def label_size(lines: Sequence[Line]) -> Size | None:
    """Return the size of what is written on an arrow, None where nothing is."""
    width, height = lines_size(lines)
    return (width + 10, height + 4) if height else None


def head_size(node: Node) -> Size:
    """Return the size of a state's name with what is written below it."""
    width, height = lines_size(node.lines)
    title = text_width(node.title, NODE_FONT)
    return max(width, title) + 2 * SIDE_ROOM, TITLE_ROW + (height + 8 if height else 0)


def leaf_size(node: Node, sideways: bool) -> Size:
    """Return the size of a node that has nothing inside it.

    Args:
        node: the node.
        sideways: whether arrows mostly go to the right, not down.
    """
    name = text_width(node.title)
    if node.shape is Shape.STATE or node.shape is Shape.REGION:
        width, height = head_size(node)
        return max(width, 72), max(height + (2 if node.lines else 12), 38)
    if node.shape is Shape.FINAL:
        return (CIRCLE + 6 + name, CIRCLE) if sideways else (max(CIRCLE, name), CIRCLE + ROW + 2)
    if node.shape is Shape.STAY:
        return name + 8, ROW + 4
    if node.shape is Shape.FORK:
        return (BAR, 36) if sideways else (36, BAR)
    side = {Shape.INITIAL: DOT, Shape.JUNCTION: DIAMOND}.get(node.shape, CIRCLE)
    return side, side
