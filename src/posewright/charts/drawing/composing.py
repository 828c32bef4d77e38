"""A picture put together: what stands on the arrows, the layout, and the key that explains numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from posewright.charts.drawing.building import Labeller, NumberedTransition, build, numbered, segments
from posewright.charts.drawing.diagram import DiagramMarks, TextLine
from posewright.charts.drawing.layout.choosing import Scene, best_scene, pages
from posewright.charts.drawing.pen import ROW, text_width
from posewright.charts.drawing.words import (
    Style,
    goal_text,
    signs_explained,
    signs_of,
    transition_lines,
    transition_text,
    uses_signs,
    wrapped,
)
from posewright.charts.model import Chart

ARROW_LETTERS, KEY_LETTERS = 28, 84
"""Letters in a line on an arrow, and in a line of the key."""

CROWDED = 2.0
"""Pages above which words are hard to read, and numbers with a key are tried."""

WORTH = 0.8
"""How much of the room numbers may take, beside words, to be worth looking them up."""

NUMBERS_PER_LINE = 5

COLUMN_GAP, ROOM = 28, 24
"""Room between columns of the key, and between the picture and its key [px]."""

MOST_COLUMNS = 4


@dataclass(frozen=True)
class PlacedLine:
    """A line of text with the place where it begins [px]."""

    x: float
    y: float
    line: TextLine


@dataclass(frozen=True)
class Composition:
    """A picture, the key below or beside it, and the size of both together [px]."""

    scene: Scene
    key: tuple[PlacedLine, ...]
    width: float
    height: float


def compose(chart: Chart, style: Style, marks: DiagramMarks) -> Composition:
    """Return a chart's picture; AUTO takes words, or numbers where the picture would be crowded."""
    if uses_signs(chart, style):
        explained = [TextLine(signs_explained(chart))]
        return _composition(chart, lambda one: [signs_of(chart, one.transition)], explained, marks)
    if style is Style.NUMBERS:
        return _numbers(chart, marks)
    words = _composition(chart, _words, [], marks)
    size = pages(words.width, words.height)
    if style is Style.WORDS or size <= CROWDED:
        return words
    numbers = _numbers(chart, marks)
    return numbers if pages(numbers.width, numbers.height) < WORTH * size else words


def _numbers(chart: Chart, marks: DiagramMarks) -> Composition:
    return _composition(chart, lambda one: [one.number], key_lines(chart), marks, NUMBERS_PER_LINE)


def _words(one: NumberedTransition) -> list[str]:
    return transition_lines(one.transition, ARROW_LETTERS)


def _composition(
    chart: Chart, say: Labeller, key: Sequence[TextLine], marks: DiagramMarks, per_line: int = 1
) -> Composition:
    def marked(one: NumberedTransition) -> list[str]:
        lines = list(say(one))
        sign = marks[one.key].sign if one.key in marks and one.depth == 0 else ""
        return [sign + lines[0], *lines[1:]] if lines and lines[0] else lines

    return _with_key(best_scene(build(chart, marked, per_line)), key)


def key_lines(chart: Chart) -> list[TextLine]:
    """Return a line for every transition, the names of states as headings."""
    lines: list[TextLine] = []
    heading = ""
    for one in numbered(chart):
        if one.start != heading:
            heading = one.start
            lines.append(TextLine(heading if heading in chart.parents else f"junction {heading}"))
        goal = goal_text(one.transition) or ", ".join(segment.number for segment in segments(one))
        said = " ".join(
            part for part in (transition_text(one.transition), f"-> {goal}" if goal else "") if part
        )
        front = f"{'  ' * one.depth}{one.number:>4}  "
        indent = " " * (len(front) + 2)
        lines += [TextLine(text, (one.key,)) for text in wrapped(said, KEY_LETTERS, indent, front)]
    return lines


def _with_key(scene: Scene, lines: Sequence[TextLine]) -> Composition:
    """Return a picture with its key where the two take the least of a page."""
    if not lines:
        return Composition(scene, (), scene.width, scene.height)
    choices = [
        _in_columns(scene, lines, count, below)
        for count in range(1, MOST_COLUMNS + 1)
        for below in (True, False)
    ]
    return min(choices, key=lambda choice: pages(choice.width, choice.height))


def _in_columns(scene: Scene, lines: Sequence[TextLine], count: int, below: bool) -> Composition:
    each = math.ceil(len(lines) / count)
    x, y = (0.0, scene.height + ROOM) if below else (scene.width + ROOM, 0.0)
    placed: list[PlacedLine] = []
    for first in range(0, len(lines), each):
        column = lines[first : first + each]
        placed += [PlacedLine(x, y + (i + 0.8) * ROW, line) for i, line in enumerate(column)]
        x += max(text_width(line.text) for line in column) + COLUMN_GAP
    width, height = max(scene.width, x - COLUMN_GAP), max(scene.height, y + each * ROW)
    return Composition(scene, tuple(placed), width, height)
