"""The key that explains numbers on arrows, in columns below a picture or beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from posewright.charts.drawing.diagram import Line
from posewright.charts.drawing.nested.metrics import ROW, text_width
from posewright.charts.drawing.numbering import numbered, segments
from posewright.charts.drawing.page_size import pages
from posewright.charts.drawing.words import goal_text, transition_text, wrapped
from posewright.charts.model import Chart

WIDTH = 84
"""Letters in a line of the key."""

COLUMN_GAP, ROOM = 28, 24
"""Room between columns, and between the picture and its key [px]."""

MOST_COLUMNS = 4


def key_lines(chart: Chart) -> list[Line]:
    """Return a line for every transition, the names of states as headings."""
    lines: list[Line] = []
    heading = ""
    for way in numbered(chart):
        if way.start != heading:
            heading = way.start
            lines.append(Line(heading if heading in chart.parents else f"junction {heading}"))
        goal = goal_text(way.transition) or ", ".join(segment.number for segment in segments(way))
        said = " ".join(
            part for part in (transition_text(way.transition), f"-> {goal}" if goal else "") if part
        )
        front = f"{'  ' * way.depth}{way.number:>4}  "
        lines += [Line(text, (way.way,)) for text in wrapped(said, WIDTH, " " * (len(front) + 2), front)]
    return lines


@dataclass(frozen=True)
class Placed:
    """A line of text with the place where it begins [px]."""

    x: float
    y: float
    line: Line


@dataclass(frozen=True)
class Key:
    """A key in its place, and the size of the picture together with it [px]."""

    lines: tuple[Placed, ...]
    width: float
    height: float


def place_key(lines: Sequence[Line], width: float, height: float) -> Key:
    """Return the key of a picture where the two take the least of a page."""
    if not lines:
        return Key((), width, height)
    choices = [
        _columns(lines, count, width, height, below)
        for count in range(1, MOST_COLUMNS + 1)
        for below in (True, False)
    ]
    return min(choices, key=lambda key: pages(key.width, key.height))


def _columns(lines: Sequence[Line], count: int, width: float, height: float, below: bool) -> Key:
    each = math.ceil(len(lines) / count)
    x, y = (0.0, height + ROOM) if below else (width + ROOM, 0.0)
    placed: list[Placed] = []
    for first in range(0, len(lines), each):
        column = lines[first : first + each]
        placed += [Placed(x, y + (i + 0.8) * ROW, line) for i, line in enumerate(column)]
        x += max(text_width(line.text) for line in column) + COLUMN_GAP
    return Key(tuple(placed), max(width, x - COLUMN_GAP), max(height, y + each * ROW))
