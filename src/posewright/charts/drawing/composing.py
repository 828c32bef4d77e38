"""A statechart's picture put together: what stands on the arrows, the layout, and the key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from posewright.charts.drawing.building import Say, build
from posewright.charts.drawing.diagram import Line
from posewright.charts.drawing.keys import Key, key_lines, place_key
from posewright.charts.drawing.labels import PLENTY, Style, signs_explained, signs_of, speaks_signs
from posewright.charts.drawing.marks import Marks
from posewright.charts.drawing.nested.choosing import best_scene
from posewright.charts.drawing.nested.scene import Scene
from posewright.charts.drawing.numbering import Numbered, numbered
from posewright.charts.drawing.page_size import pages
from posewright.charts.drawing.words import transition_lines
from posewright.charts.model import Chart

WIDTH = 28
"""Letters in a line on an arrow."""

CROWDED = 2.0
"""Pages above which words are hard to read, and numbers with a key are tried."""

WORTH = 0.8
"""How much of the room numbers may take, beside words, to be worth looking them up."""

PER_LINE = 5
"""Numbers on a line on an arrow."""


@dataclass(frozen=True)
class Composition:
    """A picture and its key."""

    scene: Scene
    key: Key


def compose(chart: Chart, style: Style, marks: Marks) -> Composition:
    """Return a chart's picture; AUTO takes words, or numbers where the picture would be crowded."""
    if style in {Style.SIGNS, Style.AUTO} and _fits_signs(chart, style):
        return _composition(chart, _signs(chart), [Line(signs_explained(chart))], marks)
    if style is Style.NUMBERS:
        return _numbers(chart, marks)
    words = _composition(chart, _words, [], marks)
    size = pages(words.key.width, words.key.height)
    if style is Style.WORDS or size <= CROWDED:
        return words
    numbers = _numbers(chart, marks)
    return numbers if pages(numbers.key.width, numbers.key.height) < WORTH * size else words


def _fits_signs(chart: Chart, style: Style) -> bool:
    many = style is Style.SIGNS or len(numbered(chart)) > PLENTY
    return many and chart.is_flat and speaks_signs(chart)


def _numbers(chart: Chart, marks: Marks) -> Composition:
    return _composition(chart, _number, key_lines(chart), marks, per_line=PER_LINE)


def _composition(chart: Chart, say: Say, key: Sequence[Line], marks: Marks, per_line: int = 1) -> Composition:
    def marked(way: Numbered) -> list[str]:
        lines = list(say(way))
        sign = marks[way.way].sign if way.way in marks and way.depth == 0 else ""
        return [sign + lines[0], *lines[1:]] if lines and lines[0] else lines

    scene = best_scene(build(chart, marked, per_line))
    return Composition(scene, place_key(key, scene.width, scene.height))


def _words(way: Numbered) -> list[str]:
    return transition_lines(way.transition, WIDTH)


def _number(way: Numbered) -> list[str]:
    return [way.number]


def _signs(chart: Chart) -> Say:
    return lambda way: [signs_of(chart, way.transition)]
